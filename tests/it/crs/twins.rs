//! A program with two overflows that have one cause, and the patches of both.

use std::fs;
use std::path::Path;

/// `left` writes past a name on the left, `rite` on the right; both trust
/// `size_of`. No few changed bytes make one of the other: what mutates inputs of
/// the left does not come upon the right.
const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t size_of(const char *text) {
  return (size_t)(text[4] - '0');
}

static int left(const char *text) {
  char *name = malloc(4);
  memset(name, 'x', size_of(text));
  int last = name[3];
  free(name);
  return last;
}

static int right(const char *text) {
  char *name = malloc(4);
  memset(name, 'y', size_of(text));
  int last = name[3];
  free(name);
  return last;
}

int main(int count, char **arguments) {
  char text[16] = "left4";
  if (count > 1) {
    FILE *file = fopen(arguments[count - 1], "rb");
    if (file == NULL) return 2;
    size_t got = fread(text, 1, sizeof text - 1, file);
    text[got] = 0;
    fclose(file);
  }
  fprintf(stderr, "Running: %s\n", count > 1 ? "an input" : "none");
  if (text[4] < '4' || text[4] > '9') return 0;
  if (memcmp(text, "left", 4) == 0) printf("%d\n", left(text));
  if (memcmp(text, "rite", 4) == 0) printf("%d\n", right(text));
  return 0;
}
"#;

/// Reads the code that both patches need.
pub(super) const QUERIES: &str = "<analysis>The size may be larger than the name.</analysis>
<queries>
<symbol>size_of</symbol>
<symbol>left</symbol>
<symbol>right</symbol>
</queries>";

/// Stops what happens on the left, and nothing else.
pub(super) const LEFT_ONLY: &str = r#"<patch>
<explanation>The name on the left has four bytes.</explanation>
<edit file="main.c" lines="10-11">
<original>
  char *name = malloc(4);
  memset(name, 'x', size_of(text));
</original>
<replacement>
  char *name = malloc(4);
  if (size_of(text) > 4) { free(name); return 0; }
  memset(name, 'x', size_of(text));
</replacement>
</edit>
</patch>"#;

/// Stops both at their cause.
pub(super) const BOTH: &str = r#"<patch>
<explanation>No name is longer than four bytes.</explanation>
<edit file="main.c" lines="6-6">
<original>
  return (size_t)(text[4] - '0');
</original>
<replacement>
  size_t size = (size_t)(text[4] - '0');
  return size > 4 ? 4 : size;
</replacement>
</edit>
</patch>"#;

/// Writes the program.
pub(super) fn write(folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    fs::write(folder.join("main.c"), PROGRAM).expect("a file");
}

/// Writes the PoVs: two of the left, one of the right, and one that does nothing.
pub(super) fn write_povs(folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    for (name, content) in [
        ("a", "left9"),
        ("b", "left8"),
        ("c", "rite9"),
        ("d", "left4"),
    ] {
        fs::write(folder.join(name), content).expect("a file");
    }
}

/// Writes inputs that are fine before and after.
pub(super) fn write_seeds(folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    for (name, content) in [("e", "left4"), ("f", "left3"), ("g", "x1")] {
        fs::write(folder.join(name), content).expect("a file");
    }
}

/// The command that builds it.
pub(super) const COMPILE: &str =
    "gcc -g -O1 -fno-inline -fsanitize=address -fno-omit-frame-pointer -o";
