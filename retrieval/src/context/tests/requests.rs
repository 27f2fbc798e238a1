//! Tests of what makes a request find its code, one thing at a time: each test fails
//! when that one is gone.

use super::tree_of;
use crate::ranking::RequestWeights;
use crate::words::meaningful;
use crate::{Context, Engine, Ranking, Request};
use std::collections::BTreeSet;

fn context(engine: &Engine, text: &str) -> Context {
    engine
        .context(&Request {
            text: text.to_owned(),
            ..Request::default()
        })
        .unwrap()
}

/// The functions that are shown, each with why.
fn shown(context: &Context) -> Vec<(String, String)> {
    let snippets = context.snippets.iter();
    let named = snippets.filter_map(|one| Some((one.symbols.first()?.clone(), one.note.clone()?)));
    named.collect()
}

fn pair(name: &str, why: &str) -> (String, String) {
    (name.to_owned(), why.to_owned())
}

fn by_words(engine: &Engine, text: &str) -> Vec<String> {
    let scored = engine
        .words
        .search(&engine.index, &meaningful(text), 5)
        .unwrap();
    let symbols = scored
        .iter()
        .filter_map(|one| engine.index.symbol(one.id).unwrap());
    symbols.map(|symbol| symbol.name).collect()
}

#[test]
fn an_intent_is_surer_the_less_speaks_for_others() {
    let (_folder, engine) = tree_of(&[("a.c", "int f(void) { return 0; }\n")]);
    let sure = |text: &str| context(&engine, text).confidence;
    let (clear, mixed) = (
        sure("fix the bug, it crashes"),
        sure("fix the bug and rename the function"),
    );
    assert!(clear > mixed, "{clear} {mixed}");
}

#[test]
fn names_are_found_as_written_misspelt_and_by_their_place() {
    // No word of these names says anything by itself.
    let (_folder, engine) = tree_of(&[
        (
            "src/a.c",
            "int first(int n)\n{\n    return n;\n}\n\nint make_use(int n)\n{\n    return n;\n}\n",
        ),
        ("src/b.c", "int zzyzx_quux(int n)\n{\n    return n;\n}\n"),
    ]);
    for (text, expected) in [
        (
            "`make_use` is wrong",
            pair("make_use", "named by the request"),
        ),
        (
            "`zzyzx_qux` is wrong",
            pair("zzyzx_quux", "named like zzyzx_qux"),
        ),
        (
            "it is wrong in src/a.c:8",
            pair("make_use", "at a place that the request names"),
        ),
    ] {
        let found = shown(&context(&engine, text));
        assert_eq!(found.first(), Some(&expected), "{text}: {found:?}");
    }
}

#[test]
fn files_that_define_what_is_named_are_alone() {
    let (_folder, engine) = tree_of(&[
        ("src/rows.c", "int parse_row(int n)\n{\n    return n;\n}\n"),
        (
            "src/colours.c",
            "/* The colour of a table in its palette. */\nint colour_of_table(int palette)\n{\n    return palette;\n}\n",
        ),
    ]);
    let files = |text: &str| -> BTreeSet<String> {
        let context = context(&engine, text);
        let snippets = context.snippets.iter();
        snippets.map(|one| one.path.to_string()).collect()
    };
    let spoken = "the colour of a table in its palette is lost";
    assert!(files(spoken).contains("src/colours.c"));
    assert_eq!(
        files(&format!("{spoken} in `parse_row`")),
        BTreeSet::from(["src/rows.c".to_owned()])
    );
}

#[test]
fn a_file_that_is_named_comes_before_others_like_it() {
    let body = "int read_row(int n)\n{\n    return n;\n}\n";
    let (_folder, engine) = tree_of(&[("one/rows.c", body), ("two/rows.c", body)]);
    let first = |text: &str| context(&engine, text).snippets[0].path.to_string();
    assert_eq!(first("reading of a row is wrong"), "one/rows.c");
    assert_eq!(
        first("reading of a row is wrong in two/rows.c"),
        "two/rows.c"
    );
}

#[test]
fn words_count_by_place_length_and_how_often_once() {
    let many = |count: usize| "    ribbon(n);\n".repeat(count);
    let long: String = (0..60).map(|n| format!("    other{n}(n);\n")).collect();
    for (files, text, expected) in [
        // The shorter of two that say it once.
        (
            format!(
                "int first(int n)\n{{\n{}{long}    return n;\n}}\n\nint second(int n)\n{{\n{}    return n;\n}}\n",
                many(1),
                many(1)
            ),
            "ribbon",
            "second",
        ),
        // All that was asked for, not one word again and again.
        (
            format!(
                "int first(int n)\n{{\n{}    return n;\n}}\n\nint second(int n)\n{{\n{}    cable(n);\n    return n;\n}}\n",
                many(30),
                many(1)
            ),
            "ribbon cable",
            "second",
        ),
        // The name says more than the body.
        (
            format!(
                "int first(int n)\n{{\n{}    return n;\n}}\n\nint ribbon(int n)\n{{\n    return n;\n}}\n",
                many(3)
            ),
            "ribbon",
            "ribbon",
        ),
        // A comment says more than the body.
        (
            format!(
                "int first(int n)\n{{\n{}    return n;\n}}\n\n/* Of the ribbon. */\nint second(int n)\n{{\n    return n;\n}}\n",
                many(1)
            ),
            "ribbon",
            "second",
        ),
    ] {
        let (_folder, engine) = tree_of(&[("src/a.c", &files)]);
        let found = by_words(&engine, text);
        assert_eq!(
            found.first().map(String::as_str),
            Some(expected),
            "{found:?}"
        );
    }
}

#[test]
fn a_rare_word_says_more_than_one_that_is_everywhere() {
    let common: String = (0..6)
        .map(|n| format!("int usual_{n}(int n)\n{{\n    return ribbon(n);\n}}\n\n"))
        .collect();
    let text = format!("{common}int special(int n)\n{{\n    return cable(n);\n}}\n");
    let (_folder, engine) = tree_of(&[("src/a.c", &text)]);
    let found = by_words(&engine, "ribbon cable");
    assert_eq!(
        found.first().map(String::as_str),
        Some("special"),
        "{found:?}"
    );
}

/// The first of what a request finds when the signals have these weights.
fn first_by(files: &[(&str, &str)], weights: RequestWeights, text: &str) -> String {
    let (_folder, mut engine) = tree_of(files);
    engine.rank_by(Ranking {
        request: weights,
        ..Ranking::shipped()
    });
    shown(&context(&engine, text)).remove(0).0
}

/// The weights that are shipped, with 0 for each signal.
fn no_signals() -> RequestWeights {
    RequestWeights {
        semantic: 0.0,
        keyword: 0.0,
        in_degree: 0.0,
        recency: 0.0,
        popularity: 0.0,
        ..Ranking::shipped().request
    }
}

const HEADER: &str = "the parsing of a header is wrong";

#[test]
fn what_is_called_more_and_from_more_files_counts_by_its_weight() {
    let body = |name: &str| format!("int parse_header_{name}(int n)\n{{\n    return n;\n}}\n");
    let (one, two, three) = (body("x"), body("y"), body("z"));
    let user = |name: &str| format!("int {name}(int n)\n{{\n    return parse_header_y(n);\n}}\n");
    let (a, b, c) = (user("ua"), user("ub"), user("uc"));
    let together = format!("{a}\n{b}\n{c}");
    let alone = [
        ("src/a.c", one.as_str()),
        ("src/b.c", two.as_str()),
        ("src/c.c", three.as_str()),
    ];
    let of_one_file = [&alone[..], &[("src/u.c", together.as_str())]].concat();
    let of_three = [("src/u.c", a.as_str()), ("src/v.c", &b), ("src/w.c", &c)];
    let of_three = [&alone[..], &of_three].concat();
    let words = RequestWeights {
        semantic: 1.0,
        ..no_signals()
    };
    let popular = RequestWeights {
        popularity: 1.0,
        ..words
    };
    let central = RequestWeights {
        in_degree: 1.0,
        ..words
    };
    for (files, weights, expected) in [
        (&of_one_file, words, "parse_header_x"),
        (&of_one_file, popular, "parse_header_y"),
        (&of_three, words, "parse_header_x"),
        (&of_three, central, "parse_header_y"),
    ] {
        assert_eq!(first_by(files, weights, HEADER), expected, "{weights:?}");
    }
}

#[test]
fn names_and_words_count_by_their_weights() {
    let said = "/* Parses the header. Parses a header. The header. */\nint other(int n)\n{\n    parse(n);\n    return header(n);\n}\n";
    // In one line: a long definition is likelier by its lines.
    let filler: String = (0..80).map(|n| format!("other{n}(n); ")).collect();
    let named = format!("int parse_header(int n)\n{{\n    {filler}\n    return n;\n}}\n");
    // Of many short functions the long one says it in more words than most.
    let short: String = (0..60)
        .map(|n| format!("int f{n}(int n)\n{{\n    return n;\n}}\n"))
        .collect();
    let files = [
        ("src/a.c", said),
        ("src/b.c", named.as_str()),
        ("src/c.c", short.as_str()),
    ];
    let semantic = RequestWeights {
        semantic: 1.0,
        ..no_signals()
    };
    let keyword = RequestWeights {
        keyword: 1.0,
        ..no_signals()
    };
    assert_eq!(first_by(&files, semantic, HEADER), "other");
    assert_eq!(first_by(&files, keyword, HEADER), "parse_header");
}

#[test]
fn a_name_means_the_project_before_its_copies_of_others() {
    let code = "int chars(int n)\n{\n    return n;\n}\n";
    let places = |files: &[(&str, &str)]| {
        let (_folder, engine) = tree_of(files);
        let found = context(&engine, "fix chars()").snippets.into_iter();
        found.map(|one| one.path.to_string()).collect::<Vec<_>>()
    };
    let (own, copied) = (("src/text.c", code), ("js/vendor/select.c", code));
    assert_eq!(places(&[own, copied]), ["src/text.c"]);
    // A package that is nothing but the copy.
    assert_eq!(places(&[copied]), ["js/vendor/select.c"]);
}

#[test]
fn of_overloads_all_are_shown_and_the_one_with_the_work_first() {
    let text = "int read_all(int a)\n{\n    return read_all(a, 1);\n}\n\nint read_all(long a)\n{\n    return read_all(a, 2);\n}\n\nint read_all(int a, int b)\n{\n    int n = 0;\n    while (n < b)\n        n += next(a);\n    return n;\n}\n";
    let (_folder, engine) = tree_of(&[("src/read.cpp", text)]);
    let found = context(&engine, "`read_all` never ends").snippets;
    let lines: Vec<u32> = found.iter().map(|one| one.start_line).collect();
    assert_eq!(lines, [11, 1, 6], "{found:?}");
}

#[test]
fn a_constant_leads_to_the_functions_that_use_it() {
    let header = "#define MAX_NAMES 16\nenum mode { MODE_FAST, MODE_SLOW };\n";
    let text = "int put(int at)\n{\n    return at > MAX_NAMES;\n}\n\nint run(int mode)\n{\n    return mode == MODE_SLOW;\n}\n";
    let (_folder, engine) = tree_of(&[("src/a.h", header), ("src/a.c", text)]);
    for (name, function) in [("MAX_NAMES", "put"), ("MODE_SLOW", "run")] {
        let found = shown(&context(&engine, &format!("{name} is taken wrongly")));
        let expected = pair(function, &format!("uses {name}"));
        assert!(found.contains(&expected), "{found:?}");
    }
}

#[test]
fn a_name_of_a_standard_library_is_none_of_the_project() {
    let code = "namespace tester {\nstruct map {\n  int begin() { return 1; }\n  int only() { return 2; }\n};\n}\n";
    let (_folder, engine) = tree_of(&[
        ("vendor/tester.hpp", code),
        (
            "src/leaf.h",
            "namespace tract { struct Leaf { int text; }; }\n",
        ),
    ]);
    let text = "#0 std::map<int, std::pair<int, tract::Leaf> >::begin() stl_map.h:9";
    let found = shown(&context(&engine, text));
    assert_eq!(found, [pair("tract::Leaf", "named by the request")]);
    let found = shown(&context(&engine, "in tester::map<int>::only()"));
    let member = pair("tester::map::only", "named by the request");
    assert!(found.contains(&member), "{found:?}");
}

#[test]
fn who_asks_for_more_gets_what_comes_next_by_weight() {
    let one = |n: usize| format!("int parse_header_{n}(int n)\n{{\n    return n;\n}}\n\n");
    let text: String = (0..30).map(one).collect();
    let (_folder, engine) = tree_of(&[("src/parse.c", &text)]);
    let lines = |budget| {
        let request = Request {
            text: "parsing of a header fails".to_owned(),
            budget,
            ..Request::default()
        };
        let snippets = engine.context(&request).unwrap().snippets.into_iter();
        let code = snippets.filter(|one| !one.sparse);
        code.map(|one| one.line_count()).sum::<usize>()
    };
    assert!(lines(8_000) > 2 * lines(0), "{} {}", lines(8_000), lines(0));
}
