//! Tests of slices.

use super::slice;
use crate::context::tests::tree_of;
use crate::engine::Engine;
use crate::symbol::Symbol;
use std::collections::BTreeSet;

fn function(engine: &Engine, name: &str) -> Symbol {
    engine.named(name).unwrap().into_iter().next().unwrap()
}

/// The line of a text that holds a mark.
fn at(text: &str, mark: &str) -> u32 {
    let before = text.lines().position(|line| line.contains(mark)).unwrap();
    u32::try_from(before).unwrap() + 1
}

const C: &str = "int last(struct bag *b, int n)
{
    int other = n * 2;
    int from = b->used;
    int count = from - 1;
    if (count > 9) {
        report(other);
        other = 3;
    }
    if (n == 0)
        return 0;
    note(other);
    return b->items[count];
}
";
const JAVA: &str = "class Bag {
    int last(int n) {
        int other = n * 2;
        int from = this.used;
        int count = from - 1;
        if (count > 9) {
            report(other);
            other = 3;
        }
        if (n == 0)
            return 0;
        note(other);
        return this.items[count];
    }
}
";
const PYTHON: &str = "def last(b, n):
    other = n * 2
    from_ = b.used
    count = from_ - 1
    if count > 9:
        report(other)
        other = 3
    if n == 0:
        return 0
    note(other)
    return b.items[count]
";

#[test]
fn a_slice_follows_values_back_and_takes_the_conditions_with_it_in_every_language() {
    for (path, text) in [("a.c", C), ("Bag.java", JAVA), ("a.py", PYTHON)] {
        let (_folder, engine) = tree_of(&[(path, text)]);
        let crash = at(text, "items[count]");
        let slice = slice(&engine, &function(&engine, "last"), &[crash]);
        let lines: BTreeSet<u32> = slice.keys().copied().collect();
        for mark in ["items[count]", "count = from", "used", "n == 0"] {
            assert!(lines.contains(&at(text, mark)), "{path}: {mark}: {lines:?}");
        }
        for mark in ["n * 2", "report(other)", "other = 3", "note(other)"] {
            assert!(
                !lines.contains(&at(text, mark)),
                "{path}: {mark}: {lines:?}"
            );
        }
    }
}

#[test]
fn a_loop_brings_what_is_written_behind_the_line() {
    let text = "int sum(int n)\n{\n    int at = 0;\n    while (n > 0) {\n        n -= table[at];\n        at = step(n);\n    }\n    at = 7;\n    return n;\n}\n";
    let (_folder, engine) = tree_of(&[("a.c", text)]);
    let slice = slice(&engine, &function(&engine, "sum"), &[5]);
    assert!(slice.contains_key(&6), "{slice:?}");
    assert!(!slice.contains_key(&8), "{slice:?}");
}
