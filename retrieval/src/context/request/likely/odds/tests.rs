//! Each signal alone, and what the shares add up to.

use super::{area_of, of_files, shares};
use crate::context::tests::tree_of;
use crate::engine::Engine;
use crate::intent::Intent;
use crate::symbol::Symbol;
use crate::words::meaningful;
use patchwright_source::TreePath;

fn ranked(engine: &Engine, text: &str, intent: Intent) -> Vec<(f64, Symbol)> {
    let stems = meaningful(text);
    let scored = engine.by_words(&stems, 60);
    shares(engine, text, (&stems, intent), &scored)
}

fn likeliest(engine: &Engine, text: &str) -> String {
    let ranked = ranked(engine, text, Intent::BugFix);
    let first = ranked.first().map(|(_, symbol)| symbol);
    first.map_or(String::new(), |symbol| {
        format!("{} {}", symbol.path, symbol.name)
    })
}

const SUM: &str = "int total(int n)\n{\n    /* the sum of a list */\n    return n;\n}\n";

/// Two files that differ in one thing, and a request that tells them apart.
#[test]
fn each_signal_decides_between_what_is_alike() {
    let long = SUM.replace("return n;", &("n += 1;\n    ".repeat(40) + "return n;"));
    let inside = SUM.replace("total", "mylist");
    let type_of = "struct sum_list {\n    int sum;\n    int list;\n};\n";
    for (signal, files, text, expected) in [
        (
            "the file's name at the beginning",
            [("src/a.c", SUM), ("src/use.c", SUM)],
            "use: the sum of a list is wrong",
            "src/use.c total",
        ),
        (
            "the words of the path",
            [("alpha/a.c", SUM), ("tables/a.c", SUM)],
            "the sum of a list of a table is wrong",
            "tables/a.c total",
        ),
        (
            "a file that is named",
            [("src/a.c", SUM), ("src/q-1.c", SUM)],
            "in q-1.c, the sum of a list is wrong",
            "src/q-1.c total",
        ),
        (
            "tests come after the product",
            [("test/a.c", SUM), ("zlib/a.c", SUM)],
            "the sum of a list is wrong",
            "zlib/a.c total",
        ),
        (
            "what is long comes first",
            [("src/a.c", SUM), ("src/z.c", &long)],
            "n of a list is wrong",
            "src/z.c total",
        ),
        (
            "a word inside a name",
            [("src/a.c", SUM), ("src/z.c", &inside)],
            "the sum of a list is wrong",
            "src/z.c mylist",
        ),
        (
            "a function before a type",
            [
                ("src/a.c", type_of),
                ("src/z.c", "int sum(int list)\n{\n    return list;\n}\n"),
            ],
            "the sum of a list is wrong",
            "src/z.c sum",
        ),
    ] {
        let (_folder, engine) = tree_of(&files);
        assert_eq!(likeliest(&engine, text), expected, "{signal}");
    }
}

#[test]
fn shares_are_parts_of_one_and_files_gather_them() {
    let (_folder, engine) = tree_of(&[("src/a.c", SUM), ("test/b.c", SUM)]);
    let text = "the sum of a list";
    let ranked = ranked(&engine, text, Intent::BugFix);
    let sum: f64 = ranked.iter().map(|(share, _)| share).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{ranked:?}");
    let files = of_files(&ranked);
    assert_eq!(files.len(), 2);
    assert!(files[0].0 > 0.8 && files[0].1 == TreePath::new("src/a.c").unwrap());
    // Who wants tests is shown what is there.
    let tests = super::tests::ranked(&engine, text, Intent::TestWriting);
    assert!(tests[1].0 > ranked[1].0);
}

#[test]
fn an_area_is_what_stands_before_a_colon() {
    for (text, area) in [
        ("pbap: check it", vec!["pbap"]),
        (
            "IMG_xcf.c (read_string): check",
            vec!["img", "xcf", "read", "string"],
        ),
        ("no area here", vec![]),
        ("it said \"no\": why", vec![]),
        (&format!("{}: x", "long ".repeat(20)), vec![]),
    ] {
        assert_eq!(area_of(text), area, "{text}");
    }
}
