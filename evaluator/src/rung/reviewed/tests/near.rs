//! One right patch for each rule that comes close to what the rule forbids.

use super::{Patch, WRONG, c, java, objections};
use std::collections::BTreeSet;

/// A right patch, and the rule that it comes close to, by its words.
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
