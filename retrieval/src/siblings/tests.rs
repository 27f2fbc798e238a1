//! Siblings of a fix in a small tree.

use crate::Sibling;
use crate::context::tests::tree_of;
use patchwright_source::FileDiff;

const READERS: &str = "
int read_name(struct input *in, struct entry *out)
{
    int count = input_get_u16(in);
    input_copy_bytes(in, out->name, count);
    out->size = count;
    return 0;
}

int read_title(struct input *from, struct entry *out)
{
    if (from->left == 0) return -1;
    int length = input_get_u16(from);
    input_copy_bytes(from, out->name, length);
    out->size = length;
    return 0;
}

int read_comment(struct input *in, struct entry *out)
{
    int count = input_get_u16(in);
    if (count > MOST_NAME) return input_refuse(in);
    input_copy_bytes(in, out->name, count);
    out->size = count;
    return 0;
}

int skip_name(struct input *in)
{
    int count = input_get_u16(in);
    in->left -= count;
    return count;
}
";

const FIX: &str = "--- a/src/read.c
+++ b/src/read.c
@@ -4,4 +4,5 @@ int read_name(struct input *in, struct entry *out)
     int count = input_get_u16(in);
+    if (count > MOST_NAME) return input_refuse(in);
     input_copy_bytes(in, out->name, count);
     out->size = count;
     return 0;
";

/// Looks for the siblings of a fix in a tree of some files.
fn siblings(files: &[(&str, &str)], fix: &str) -> Vec<Sibling> {
    let (_folder, engine) = tree_of(files);
    engine.siblings(&FileDiff::read(fix).unwrap()).unwrap()
}

fn told(found: &[Sibling]) -> Vec<String> {
    let told = found.iter().map(|one| {
        let (path, name) = (&one.symbol.path, &one.symbol.name);
        format!("{path}:{}-{} {name}", one.first, one.last)
    });
    told.collect()
}

#[test]
fn a_place_that_does_the_same_without_the_check_is_found() {
    let found = siblings(&[("src/read.c", READERS)], FIX);
    assert_eq!(told(&found), ["src/read.c:13-16 read_title"]);
    let title = &found[0];
    assert!(!title.is_called && title.like.1 == 4, "{title:#?}");
    assert_eq!(
        title.code[1].text.trim(),
        "input_copy_bytes(from, out->name, length);"
    );
    assert_eq!(
        title.checks[0].text.trim(),
        "if (from->left == 0) return -1;"
    );
}

#[test]
fn the_place_of_the_fix_is_none_before_and_after_it() {
    let check = "    if (count > MOST_NAME) return input_refuse(in);\n    input_copy_bytes";
    let fixed = READERS.replacen("    input_copy_bytes", check, 1);
    for code in [READERS, &fixed] {
        let found = siblings(&[("src/read.c", code)], FIX);
        let names: Vec<&str> = found.iter().map(|one| one.symbol.name.as_str()).collect();
        assert_eq!(names, ["read_title"]);
    }
}

#[test]
fn what_another_part_of_the_fix_repairs_is_none() {
    let other = FIX.replace("src/read.c", "lib/read.c");
    let files = [("src/read.c", READERS), ("lib/read.c", READERS)];
    let both = siblings(&files, &format!("{FIX}{other}"));
    let found = ["lib/read.c:13-16 read_title", "src/read.c:13-16 read_title"];
    assert_eq!(told(&both), found);
    // A copy of the place hides what is less like it.
    let one = siblings(&files, FIX);
    assert_eq!(told(&one), ["lib/read.c:4-7 read_name"]);
}

#[test]
fn tests_and_other_languages_and_what_is_no_code_have_none() {
    let shown = |path: &str| siblings(&[(path, READERS)], FIX).len();
    assert_eq!(
        (
            shown("lib/other.c"),
            shown("tests/other.c"),
            shown("Other.java")
        ),
        (1, 0, 0)
    );
    for fix in [
        FIX.replace("src/read.c", "README"),
        FIX.replace("src/read.c", "tests/read.c"),
        FIX.replace(
            "+    if (count > MOST_NAME) return input_refuse(in);",
            "+    /* Short. */",
        ),
    ] {
        assert_eq!(told(&siblings(&[("src/read.c", READERS)], &fix)), [""; 0]);
    }
}
