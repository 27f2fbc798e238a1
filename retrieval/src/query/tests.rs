//! Tables of queries as models write them, and a property: reading never panics.

use super::Query;
use proptest::prelude::*;

fn read(kind: &str, body: &str) -> String {
    match Query::read(kind, body, &[]) {
        Ok(query) => query.to_string(),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn reads_file_ranges_in_every_form() {
    for (body, expected) in [
        ("src/a.c", "file: src/a.c"),
        ("src/a.c:12", "file: src/a.c:12"),
        ("src/a.c:10-20", "file: src/a.c:10-20"),
        ("src/a.c:L10-L20", "file: src/a.c:10-20"),
        ("src/a.c#L10-L20", "file: src/a.c:10-20"),
        ("src/a.c:10:20", "file: src/a.c:10-20"),
        ("src/a.c:120:7", "file: src/a.c:120"),
        ("src/a.c:10\u{2013}20", "file: src/a.c:10-20"),
        ("src/a.c: 10 - 20", "file: src/a.c:10-20"),
        ("src/a.c 10-20", "file: src/a.c:10-20"),
        ("src/a.c lines 10-20", "file: src/a.c:10-20"),
        ("src/a.c:10 to 20", "file: src/a.c:10-20"),
        ("src/a.c:10,20", "file: src/a.c:10-20"),
        ("src/a.c:1-5,9-12", "file: src/a.c:1-5,9-12"),
        ("src/a.c:20-10", "file: src/a.c:10-20"),
        ("src/a.c:0-3", "file: src/a.c:1-3"),
        ("src/a.c:1-2-3", "file: src/a.c:1-3"),
        ("src/a.c:10..20", "file: src/a.c:10-20"),
        ("`src/a.c:7`", "file: src/a.c:7"),
        ("/src/x/a b.c:7", "file: /src/x/a b.c:7"),
        ("lib-2.0/1.2:5", "file: lib-2.0/1.2:5"),
        ("C:\\w\\a.c:5", "file: C:\\w\\a.c:5"),
        ("Makefile", "file: Makefile"),
        ("a.c:99999999999999", "file: a.c:4294967295"),
    ] {
        assert_eq!(read("file", body), expected, "{body:?}");
    }
}

#[test]
fn reads_names_as_written() {
    for (body, expected) in [
        (" `foo` ", "symbol: foo"),
        ("foo()", "symbol: foo"),
        ("foo(int a, char *b)", "symbol: foo"),
        ("struct foo", "symbol: foo"),
        ("A::b", "symbol: A::b"),
        ("a.b.C.d", "symbol: a.b.C.d"),
        ("C#m", "symbol: C#m"),
        ("Map&lt;K&gt;", "symbol: Map<K>"),
        ("Inspect::operator()", "symbol: Inspect::operator()"),
        ("#define MAX", "symbol: MAX"),
        ("-rf; $(id)", "symbol: -rf; $"),
    ] {
        assert_eq!(read("symbol", body), expected, "{body:?}");
    }
}

#[test]
fn reads_every_kind() {
    for (kind, body, expected) in [
        ("Symbol", "f", "symbol: f"),
        ("function", "f", "symbol: f"),
        ("grep", "a  b", "text: a  b"),
        ("callers", "f()", "callers: f"),
        ("path", "a -> b", "path: a -> b"),
        ("path", "a() \u{2192} b()", "path: a -> b"),
        ("path", "a b", "path: a -> b"),
        ("more", "2", "more: query 2"),
        ("sql", "SELECT 1", "sql: SELECT 1"),
        ("rule", "<not/>", "rule: <not/>"),
    ] {
        assert_eq!(read(kind, body), expected, "{kind} {body:?}");
    }
}

#[test]
fn reads_attributes() {
    let attribute = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    for (kind, body, attributes, expected) in [
        (
            "callers",
            "f",
            attribute("depth", "3"),
            "callers: f (depth 3)",
        ),
        (
            "callers",
            "f",
            attribute("depth", "99"),
            "callers: f (depth 5)",
        ),
        ("callers", "f", attribute("depth", "x"), "callers: f"),
        ("more", "", attribute("query", "4"), "more: query 4"),
        ("file", "a.c", attribute("lines", "3-9"), "file: a.c:3-9"),
        ("text", "x", attribute("path", "src/"), "text: x (in src/)"),
    ] {
        let query = Query::read(kind, body, &attributes).unwrap();
        assert_eq!(query.to_string(), expected);
    }
    let query = Query::read("text", "a.*b", &attribute("regex", "true")).unwrap();
    assert!(matches!(query, Query::Text { regex: true, .. }));
}

#[test]
fn says_what_was_wrong() {
    for (kind, body, expected) in [
        ("symbol", "  ", "<symbol> is empty"),
        ("banana", "x", "there is no query <banana>"),
        ("path", "a", "caller -> callee"),
        ("more", "x", "by its number"),
        ("text", "a\0b", "NUL"),
        ("file", ":5", "write one path"),
    ] {
        assert!(read(kind, body).contains(expected), "{}", read(kind, body));
    }
    assert_eq!(
        Query::read("text", &"x".repeat(10_000_000), &[]),
        Err("<text> holds 10000000 bytes; ask with at most 4000".to_owned())
    );
}

proptest! {
    #[test]
    fn never_panics(kind in 0..super::KINDS.len(), body in ".{0,80}", attribute in ".{0,20}") {
        let attributes = [("depth".to_owned(), attribute.clone()), ("lines".to_owned(), attribute)];
        if let Ok(query) = Query::read(super::KINDS[kind], &body, &attributes) {
            prop_assert!(query.to_string().starts_with(query.kind()));
        }
    }

    #[test]
    fn a_range_survives_being_written(first in 1u32..9999, length in 0u32..999) {
        let written = format!("src/a.c:{first}-{}", first + length);
        let query = Query::read("file", &written, &[]).unwrap();
        let Query::File { lines, .. } = query else { panic!("not a file query") };
        prop_assert_eq!(lines, vec![super::LineRange::new(first, first + length)]);
    }
}
