//! Rule on what a patch brings that the checks cannot see through: attributes, pragmas and
//! assembly, and questions about the surroundings of the process. A table (`brought.toml`) names
//! them; what the file had before is no finding.

use super::{Case, Finding, Weight};
use crate::review::code::bare;
use patchwright_source::Side;
use regex::RegexSet;
use serde::Deserialize;
use std::sync::LazyLock;

/// The table as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    brought: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    what: String,
    weight: Weight,
    #[serde(default)]
    text: bool,
    patterns: Vec<String>,
}

struct Entry {
    row: Row,
    signs: RegexSet,
}

#[expect(
    clippy::expect_used,
    reason = "the table is compiled in, and a test reads it"
)]
static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let table: Table = toml::from_str(include_str!("brought.toml")).expect("the table is TOML");
    let entry = |row: Row| Entry {
        signs: RegexSet::new(&row.patterns).expect("the patterns are regular expressions"),
        row,
    };
    table.brought.into_iter().map(entry).collect()
});

/// Finds what the table names in added lines.
pub(super) fn brought(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entry in ENTRIES.iter() {
        let Row { what, weight, .. } = &entry.row;
        let had = case.old.lines().any(|line| entry.is_in(line));
        if had && *weight != Weight::Refutes {
            continue;
        }
        let found = case.find(Side::New, what, |line| entry.is_in(&line.text));
        findings.extend(found.into_iter().map(|one| one.weighing(*weight)));
    }
    findings
}

impl Entry {
    /// Tells whether a line of code has one of the signs.
    fn is_in(&self, line: &str) -> bool {
        let code = bare(line);
        let looked_at = if self.row.text { line } else { code.as_str() };
        !code.is_empty() && self.signs.is_match(looked_at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Case, Weight, apply};
    use patchwright_source::FileDiff;

    fn weights(path: &str, old: &str, line: &str) -> Vec<Weight> {
        let text = format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1,2 @@\n int f(void);\n+{line}\n");
        let case = Case {
            file: &FileDiff::read(&text).unwrap()[0],
            old,
            kind: "heap-buffer-overflow",
            povs: &[],
        };
        apply(&case).iter().map(|finding| finding.weight).collect()
    }

    #[test]
    fn what_the_checks_cannot_see_through_is_found() {
        for (path, line, expected) in [
            ("x.c", "#define NAME(a, b) a##b", Some(Weight::HoldsBack)),
            (
                "x.c",
                "  __asm__ volatile(\"rep movsb\");",
                Some(Weight::HoldsBack),
            ),
            ("x.c", "  no_sani\\", Some(Weight::HoldsBack)),
            ("x.c", "  log_it(\"# ## asm\"); // asm", None),
            (
                "x.c",
                "__attribute__((no_address_safety_analysis)) int g;",
                Some(Weight::Refutes),
            ),
            (
                "x.c",
                "int g(void) __attribute__((alias(\"f\")));",
                Some(Weight::HoldsBack),
            ),
            (
                "x.c",
                "  if (getenv(\"HOME\")) return 0;",
                Some(Weight::HoldsBack),
            ),
            (
                "x.c",
                "  if (access(\"/a\", 0) == 0) return 0;",
                Some(Weight::HoldsBack),
            ),
            (
                "x.c",
                "  if (getpid() < 40) return 0;",
                Some(Weight::HoldsBack),
            ),
            (
                "x.c",
                "  if (time(0) & 1) return 0;",
                Some(Weight::HoldsBack),
            ),
            ("x.c", "  if (s->time < s->access) return 0;", None),
            ("x.c", "  if (runtime(s)) return 0;", None),
            ("x.c", "  if (setjmp(b)) return 0;", Some(Weight::HoldsBack)),
            (
                "X.java",
                "  long now = System.nanoTime();",
                Some(Weight::HoldsBack),
            ),
            (
                "X.java",
                "  new Thread(this::parse).start();",
                Some(Weight::HoldsBack),
            ),
            ("X.java", "  return new ThreadSafeMap();", None),
        ] {
            let found = weights(path, "int f(void);\n", line);
            assert_eq!(found.first().copied(), expected, "{line}: {found:?}");
        }
    }

    #[test]
    fn a_patch_that_reaches_for_what_is_noted_of_it_waits_for_a_look() {
        let java = "  Object own = getClass().getClassLoader().loadClass(name);";
        let c = "extern char __bss_start; char *at = &__bss_start;";
        for (path, line) in [
            ("x.c", "void __gcov_reset(void);"),
            ("x.c", c),
            ("X.java", java),
        ] {
            let found = weights(path, "int f(void);\n", line);
            assert_eq!(found, [Weight::HoldsBack], "{line}");
        }
        let own = "  return getClass().getName();";
        assert_eq!(weights("X.java", "int f(void);\n", own), []);
    }

    #[test]
    fn a_patch_that_opens_a_file_waits_for_a_look() {
        let line = "  int own = open(\"/proc/self/mem\", O_RDWR);";
        assert_eq!(weights("x.c", "int f(void);\n", line), [Weight::HoldsBack]);
        assert_eq!(weights("x.c", "int f(void);\n", "  is_open(own);"), []);
    }

    #[test]
    fn what_the_file_had_before_is_no_finding() {
        let old = "int f(void);\nint now(void) { return time(0); }\n";
        assert_eq!(weights("x.c", old, "  if (time(0) > end) return -1;"), []);
    }
}
