//! Changes of a program's interface, which its other users have to know: lines of headers, heads of
//! functions that other files can call, and what is public in Java.
//!
//! Read from the diff alone: a change of a value that a function returns is not seen here.

use patchwright_source::{DiffHunk, FileDiff, Language, Side, TreePath, code_of_piece, regex};

/// The most changes that are told.
const MOST: usize = 4;

/// Returns the changes of the interface that a patch makes, each as `FILE: OLD -> NEW`.
pub(super) fn changes(files: &[FileDiff]) -> Vec<String> {
    let changed = files.iter().flat_map(|file| {
        let hunks = file.hunks.iter();
        hunks.flat_map(|hunk| of_hunk(file.path(), hunk))
    });
    changed.take(MOST).collect()
}

fn of_hunk(path: &str, hunk: &DiffHunk) -> Vec<String> {
    let Some(file) = TreePath::new(path).ok().filter(|file| !file.is_test()) else {
        return Vec::new();
    };
    let language = Language::of_path(&file);
    let is_public = match path.rsplit('.').next() {
        Some("h" | "hh" | "hpp" | "hxx") => is_declared,
        Some("c" | "cc" | "cpp" | "cxx") => is_callable,
        Some("java" | "kt") => is_public_in_java,
        _ => return Vec::new(),
    };
    let of = |side: Side| {
        let lines = hunk.lines.iter();
        let lines = lines.filter(|line| line.side == side || line.side == Side::Both);
        let code = code_of_piece(language, lines.clone().map(|line| line.text.as_str()));
        let changed = lines.zip(code).filter(|(line, _)| line.side == side);
        let code = changed.map(|(_, code)| code.split_whitespace().collect::<Vec<_>>().join(" "));
        code.filter(|code| is_public(code)).collect::<Vec<_>>()
    };
    let (old, new) = (of(Side::Old), of(Side::New));
    let mut come = new.iter().filter(|line| !old.contains(line));
    let mut changes = Vec::new();
    for line in old.iter().filter(|line| !new.contains(line)) {
        changes.push(match come.next() {
            Some(new) => format!("{path}: {line} -> {new}"),
            None => format!("{path}: {line} is gone"),
        });
    }
    // A member more changes the size of what holds it; a function more changes nothing.
    let is_member = |line: &str| is_declared(line) && line.ends_with(';') && !line.contains('(');
    let members = come.filter(|line| is_member(line));
    changes.extend(members.map(|line| format!("{path}: {line} is new")));
    changes
}

/// Tells whether a line of a header declares something.
fn is_declared(line: &str) -> bool {
    let starts = |part: &&str| line.starts_with(*part);
    let other = ["#include", "#if", "#endif", "#else", "static ", "}", "{"];
    !line.is_empty() && !other.iter().any(starts)
}

/// Tells whether a line is the head of a function that other files can call.
fn is_callable(line: &str) -> bool {
    let head = regex!(r"^(?:[A-Za-z_][\w:<>*&]*\s+)+[*&]*[A-Za-z_][\w:~]*\s?\([^;]*$");
    let words = ["static ", "return ", "else ", "case ", "goto "];
    head.is_match(line) && !words.iter().any(|word| line.starts_with(word))
}

fn is_public_in_java(line: &str) -> bool {
    let ends = line.ends_with(['{', ';', ',', ')']);
    ends && (line.starts_with("public ") || line.starts_with("protected "))
}

#[cfg(test)]
mod tests {
    use super::changes;
    use patchwright_source::FileDiff;

    #[test]
    fn what_other_users_see_is_told() {
        for (path, hunk, expected) in [
            (
                "a.h",
                "-int f(int n);\n+int f(int n, int m);",
                "a.h: int f(int n); -> int f(int n, int m);",
            ),
            (
                "a.h",
                " struct s {\n+  int extra;\n",
                "a.h: int extra; is new",
            ),
            (
                "a.h",
                "-#define LIMIT 4\n+#define LIMIT 8",
                "a.h: #define LIMIT 4 -> #define LIMIT 8",
            ),
            ("a.h", "-// the limit\n+// its limit\n+int g(void);", ""),
            (
                "a.c",
                "-int f(int n)\n+int f(int n, int m)",
                "a.c: int f(int n) -> int f(int n, int m)",
            ),
            (
                "a.c",
                "-static int f(int n)\n+static int f(int n, int m)",
                "",
            ),
            ("a.c", "-  if (n > 2) {\n+  if (n > 3) {", ""),
            (
                "A.java",
                "-  public int f() {\n+  public int f() throws IOException {",
                "A.java: public int f() { -> public int f() throws IOException {",
            ),
            ("A.java", "-  int f() {\n+  long f() {", ""),
            ("a.h", "-  int a; // one\n+  int a; // two", ""),
            ("tests/a.h", "-int f(int n);\n+int f(void);", ""),
        ] {
            let diff = format!("--- a/{path}\n+++ b/{path}\n@@ -1,2 +1,2 @@\n{hunk}\n x\n");
            let told = changes(&FileDiff::read(&diff).unwrap()).join("\n");
            assert_eq!(told, expected, "{hunk}");
        }
    }
}
