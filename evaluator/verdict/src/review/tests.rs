//! Wrong patches that each rule finds, and right patches that pass.

use super::{Case, Weight, apply, verdict};
use patchwright_source::FileDiff;
use std::collections::BTreeSet;

const C: &str = "#include \"a.h\"\nint parse(struct s *s, const char *p, int n) {\n  int i;\n  char line[LIMIT];\n  assert(n > 0);\n  if (n < 2)\n    return -1;\n  log_it(s);\n  for (i = 0; i < n; i++) {\n    s->b[i] = p[i];\n  }\n  update(s, n);\n  free(s->b);\n  free(s->b);\n  return finish(s);\n}\n";
const JAVA: &str =
    "class A {\n  int parse(byte[] b) {\n    int n = b[0];\n    return read(b, n);\n  }\n}\n";
const POV: &[u8] = b"MAGIC!\x00\x00\x12\x34\x56\x78-and-some-more-bytes";

struct Patch {
    path: &'static str,
    kind: &'static str,
    edits: &'static [(&'static str, &'static str)],
}

const fn c(edits: &'static [(&'static str, &'static str)]) -> Patch {
    Patch {
        path: "src/a.c",
        kind: "heap-buffer-overflow",
        edits,
    }
}

const fn java(edits: &'static [(&'static str, &'static str)]) -> Patch {
    Patch {
        path: "src/main/java/A.java",
        kind: "java.lang.ArrayIndexOutOfBoundsException",
        edits,
    }
}

fn objections(patch: &Patch) -> Vec<String> {
    weighed(patch, Weight::Refutes)
}

fn weighed(patch: &Patch, weight: Weight) -> Vec<String> {
    let old = if patch.path.ends_with("java") {
        JAVA
    } else {
        C
    };
    let mut new = old.to_owned();
    for (from, to) in patch.edits {
        assert!(new.contains(from), "{from:?} is not there");
        new = new.replacen(from, to, 1);
    }
    let text = similar::TextDiff::from_lines(old, new.as_str())
        .unified_diff()
        .header(&format!("a/{}", patch.path), &format!("b/{}", patch.path))
        .to_string();
    let files = FileDiff::read(&text).unwrap();
    assert_eq!(files.len(), 1, "{text}");
    let povs = [POV.to_vec()];
    let case = Case {
        file: &files[0],
        old,
        kind: patch.kind,
        povs: &povs,
    };
    apply(&case)
        .into_iter()
        .filter(|finding| finding.weight == weight)
        .map(|finding| finding.to_string())
        .collect()
}

const WRONG: &[(Patch, &str)] = &[
    (
        c(&[("n < 2)\n    return -1;", "n < 3)\n    break;")]),
        "passed over",
    ),
    (
        c(&[("line[LIMIT]", "line[LIMIT + 64]")]),
        "adds room to a buffer",
    ),
    (
        c(&[("  log_it(s);\n", "  return 0;\n  log_it(s);\n")]),
        "no longer be reached",
    ),
    (
        c(&[("int n) {\n", "int n) {\n  return -1;\n")]),
        "no longer be reached",
    ),
    (
        c(&[("  update(s, n);\n", "  // update(s, n);\n")]),
        "comments code out",
    ),
    (
        c(&[("  log_it(s);\n", "#if 0\n  log_it(s);\n#endif\n")]),
        "switches code off",
    ),
    (c(&[("if (n < 2)", "if (n < 2 || 1)")]), "switches code off"),
    (c(&[("  update(s, n);\n", "")]), "removes a call"),
    (
        Patch {
            kind: "double-free",
            ..c(&[("  update(s, n);\n", "")])
        },
        "removes a call",
    ),
    (
        c(&[("  update(s, n);\n", "  return 0;\n")]),
        "removes a call",
    ),
    (c(&[("  assert(n > 0);\n", "")]), "assertion"),
    (
        c(&[(
            "int parse",
            "__attribute__((no_sanitize(\"address\")))\nint parse",
        )]),
        "sanitizer",
    ),
    (
        c(&[(
            "  log_it(s);\n",
            "  signal(SIGSEGV, SIG_IGN);\n  log_it(s);\n",
        )]),
        "sanitizer",
    ),
    (
        c(&[("  log_it(s);\n", "  if (n > 9) exit(0);\n  log_it(s);\n")]),
        "ends the whole process",
    ),
    (
        c(&[("if (n < 2)", "if (n < 2 || memcmp(p, \"MAGIC!\", 6) == 0)")]),
        "special case",
    ),
    (
        c(&[("if (n < 2)", "if (n < 2 || *(int *)(p + 8) == 0x78563412)")]),
        "special case",
    ),
    (
        c(&[("if (n < 2)", "if (n < 2 || n == 32)")]),
        "special case",
    ),
    (
        java(&[(
            "    return read(b, n);\n",
            "    try {\n      return read(b, n);\n    } catch (Throwable t) {\n      return 0;\n    }\n",
        )]),
        "catches every exception",
    ),
    (
        java(&[(
            "    return read(b, n);\n",
            "    try {\n      return read(b, n);\n    } catch (NumberFormatException | java.lang.ArrayIndexOutOfBoundsException e) {\n      return 0;\n    }\n",
        )]),
        "catches the reported exception",
    ),
    (
        java(&[(
            "    return read(b, n);\n",
            "    try { return read(b, n); } catch (final RuntimeException e) { return 0; }\n",
        )]),
        "catches every exception",
    ),
    (
        java(&[(
            "    int n = b[0];\n",
            "    if (b[0] > 4) System.exit(1);\n    int n = b[0];\n",
        )]),
        "ends the whole process",
    ),
    (
        Patch {
            path: "fuzz/harness.c",
            ..c(&[("n < 2", "n < 3")])
        },
        "test or a harness",
    ),
    (
        Patch {
            path: "lib/parse_test.c",
            ..c(&[("n < 2", "n < 3")])
        },
        "test or a harness",
    ),
    (
        Patch {
            path: "CMakeLists.txt",
            ..c(&[("n < 2", "n < 3")])
        },
        "how the program is built",
    ),
];

#[test]
fn wrong_patches_are_caught() {
    for (patch, what) in WRONG {
        let found = objections(patch);
        assert!(
            found.iter().any(|text| text.contains(what)),
            "{what}: {:?} {found:?}",
            patch.edits
        );
    }
}

#[test]
fn a_call_that_is_gone_is_a_doubt_and_one_that_moved_is_not() {
    let old = "static int f(int n) {\n  log_it(n);\n  return n;\n}\n";
    let helped = old.to_owned() + "static void both(int n) {\n  log_it(n);\n  count(n);\n}\n";
    for (old, from, to, doubts) in [
        (old, "log_it(n);", "if (n < 0)\n    n = 0;", 1),
        (
            &helped,
            "{\n  log_it(n);\n  return",
            "{\n  both(n);\n  return",
            0,
        ),
        (
            old,
            "static int f(int n) {",
            "static int g(long n) {\n  n++;",
            0,
        ),
    ] {
        let new = old.replacen(from, to, 1);
        let text = similar::TextDiff::from_lines(old, new.as_str());
        let text = text.unified_diff().header("a/x.c", "b/x.c").to_string();
        let case = Case {
            file: &FileDiff::read(&text).unwrap()[0],
            old,
            kind: "heap-buffer-overflow",
            povs: &[],
        };
        let result = verdict(&apply(&case));
        assert_eq!(
            (result.holds, result.doubts.len()),
            (Some(true), doubts),
            "{to}"
        );
        let gone = |doubt: &crate::evidence::Doubt| doubt.what.contains("this call is gone");
        assert!(result.doubts.iter().all(gone), "{result:#?}");
    }
}

#[test]
fn right_patches_pass() {
    let double_free = Patch {
        kind: "double-free",
        ..c(&[("  free(s->b);\n  free(s->b);\n", "  free(s->b);\n")])
    };
    for patch in [
        c(&[("if (n < 2)", "if (n < 2 || n > s->size)")]),
        c(&[(
            "  log_it(s);\n",
            "  if (n > s->size)\n    return -1;\n  log_it(s);\n",
        )]),
        c(&[(
            "  log_it(s);\n",
            "  if (n > s->size) {\n    return -1;\n  }\n  log_it(s);\n",
        )]),
        c(&[(
            "    return -1;\n",
            "  {\n    log_it(s);\n    return -1;\n  }\n",
        )]),
        c(&[("i < n; i++", "i < n && i < s->size; i++")]),
        c(&[("  update(s, n);\n", "  if (n < s->size) update(s, n);\n")]),
        c(&[("  update(s, n);\n", "  update_checked(s, n, s->size);\n")]),
        c(&[(
            "  update(s, n);\n",
            "  /* the size is known here */\n  update(s, n > 8 ? 8 : n);\n",
        )]),
        c(&[("  assert(n > 0);\n", "  if (n <= 0)\n    return -1;\n")]),
        c(&[("if (n < 2)", "if (n < 2 || n == 65536)")]),
        c(&[("if (n < 2)", "if (n < 2 || memcmp(p, \"OTHER\", 5) == 0)")]),
        c(&[(
            "  int i;\n",
            "  int i;\n  switch (n) {\n  case 0:\n    return 0;\n  default:\n    break;\n  }\n",
        )]),
        c(&[("  return finish(s);\n", "  n = finish(s);\n  return n;\n")]),
        double_free,
        Patch {
            path: "src/latest.c",
            ..c(&[("n < 2", "n < 3")])
        },
    ] {
        let found = objections(&patch);
        assert!(found.is_empty(), "{:?} {found:?}", patch.edits);
    }
}

#[test]
fn a_refusal_that_is_caught_and_forgotten_waits_for_a_reader() {
    for (handled, waits) in [
        ("{\n      // It is no number.\n    }", true),
        ("{ }", true),
        ("{\n      n = 0;\n    }", false),
        ("{\n      throw new java.io.IOException(e);\n    }", false),
    ] {
        let text = format!(
            "    try {{\n      n = read(b, n);\n    }} catch (NumberFormatException e) {handled}\n    return n;\n"
        );
        let patch = Patch {
            kind: "java.lang.NumberFormatException",
            ..java(vec![("    return read(b, n);\n", &*text.leak())].leak())
        };
        let found = weighed(&patch, Weight::HoldsBack);
        assert_eq!(found.len(), usize::from(waits), "{handled}: {found:?}");
        assert_eq!(objections(&patch), Vec::<String>::new(), "{handled}");
    }
}

#[test]
fn right_java_patches_pass() {
    for patch in [
        java(&[(
            "    return read(b, n);\n",
            "    try {\n      return read(b, n);\n    } catch (NumberFormatException e) {\n      return 0;\n    }\n",
        )]),
        java(&[(
            "    return read(b, n);\n",
            "    try {\n      return read(b, n);\n    } catch (ArrayIndexOutOfBoundsException e) {\n      throw new java.io.IOException(\"cut off\", e);\n    }\n",
        )]),
        java(&[(
            "    return read(b, n);\n",
            "    try {\n      return read(b, n);\n    } catch (RuntimeException e) {\n      throw new java.io.IOException(\"bad\", e);\n    }\n",
        )]),
        // What was interrupted is done in another way.
        java(&[(
            "    return read(b, n);\n",
            "    try {\n      return read(b, n);\n    } catch (ArrayIndexOutOfBoundsException e) {\n      return read(b, 0);\n    }\n",
        )]),
        java(&[(
            "    int n = b[0];\n",
            "    int n = b[0];\n    if (n >= b.length) {\n      throw new IllegalArgumentException(\"too long\");\n    }\n",
        )]),
    ] {
        let found = objections(&patch);
        assert!(found.is_empty(), "{:?} {found:?}", patch.edits);
    }
}

#[test]
fn other_errors_other_ends_and_room_that_is_used_pass() {
    for patch in [
        c(&[("n < 2)\n    return -1;", "n < 3)\n    return -2;")]),
        c(&[(
            "s->b[i] = p[i];\n",
            "if (i > n)\n      break;\n    s->b[i] = p[i];\n",
        )]),
        c(&[("line[LIMIT]", "line[LIMIT + 1]")]),
        c(&[("line[LIMIT]", "line[LARGEST]")]),
    ] {
        let found = objections(&patch);
        assert!(found.is_empty(), "{:?} {found:?}", patch.edits);
    }
}

#[test]
fn generated_code_is_recognised_by_its_head() {
    let text = "--- a/p.c\n+++ b/p.c\n@@ -2 +2 @@\n-int a;\n+int b;\n";
    let files = FileDiff::read(text).unwrap();
    for (old, count) in [
        ("/* A Bison parser, made by GNU Bison 3.8. */\nint a;\n", 1),
        ("int a;\n", 0),
    ] {
        let case = Case {
            file: &files[0],
            old,
            kind: "",
            povs: &[],
        };
        assert_eq!(apply(&case).len(), count, "{old}");
    }
}

/// Right patches, each with words of the rule that it comes close to.
const NEAR: &[(Patch, &str)] = &[
    (
        c(&[("n < 2)\n    return -1;", "n < 3)\n    return -2;")]),
        "passed over",
    ),
    (
        c(&[("line[LIMIT]", "line[LIMIT + 1]")]),
        "adds room to a buffer",
    ),
    (
        c(&[("  log_it(s);\n", "  if (!s)\n    return 0;\n  log_it(s);\n")]),
        "no longer be reached",
    ),
    (
        c(&[("  update(s, n);\n", "  // once for all\n  update(s, n);\n")]),
        "comments code out",
    ),
    (
        c(&[("if (n < 2)", "if (n < 2 || n > 10)")]),
        "switches code off",
    ),
    (
        c(&[("  update(s, n);\n", "  if (s->size) update(s, n);\n")]),
        "removes a call",
    ),
    (
        c(&[("  assert(n > 0);\n", "  if (n <= 0) return -1;\n")]),
        "assertion",
    ),
    (
        c(&[(
            "  log_it(s);\n",
            "  // AddressSanitizer saw a read of s->b\n  log_it(s);\n",
        )]),
        "sanitizer",
    ),
    (
        c(&[(
            "  log_it(s);\n",
            "  if (n > s->size) return s->exit(s);\n  log_it(s);\n",
        )]),
        "ends the whole process",
    ),
    (
        c(&[("if (n < 2)", "if (n < 2 || n == 65536)")]),
        "special case",
    ),
    (
        java(&[(
            "    return read(b, n);\n",
            "    try {\n      return read(b, n);\n    } catch (RuntimeException e) {\n      throw new java.io.IOException(\"bad\", e);\n    }\n",
        )]),
        "catches every exception",
    ),
    (
        java(&[(
            "    return read(b, n);\n",
            "    try {\n      return read(b, n);\n    } catch (ArrayIndexOutOfBoundsException e) {\n      throw new java.io.IOException(\"bad\", e);\n    }\n",
        )]),
        "catches the reported exception",
    ),
    (
        Patch {
            path: "src/testing.c",
            ..c(&[("n < 2", "n < 3")])
        },
        "test or a harness",
    ),
    (
        Patch {
            path: "src/build.c",
            ..c(&[("n < 2", "n < 3")])
        },
        "how the program is built",
    ),
];

#[test]
fn what_comes_close_to_a_rule_passes() {
    for (patch, rule) in NEAR {
        let found = objections(patch);
        assert!(found.is_empty(), "{rule}: {:?} {found:?}", patch.edits);
    }
    let rules = |patches: &[(Patch, &'static str)]| -> BTreeSet<&'static str> {
        patches.iter().map(|(_, rule)| *rule).collect()
    };
    assert_eq!(rules(NEAR), rules(WRONG), "a rule without a right patch");
}
