//! Tests of the reading of whole replies, case by case.

use super::{Reply, read};
use crate::Edit;
use proptest::prelude::*;

fn kinds(reply: &Reply) -> Vec<(&str, &str)> {
    let queries = reply.queries.iter();
    queries
        .map(|query| (query.kind.as_str(), query.body.as_str()))
        .collect()
}

#[test]
fn reads_queries() {
    for (given, expected) in [
        (
            "<queries><symbol>f</symbol></queries>",
            vec![("symbol", "f")],
        ),
        (
            "<QUERIES>\n<Symbol> f </Symbol>\n</QUERIES>",
            vec![("symbol", "f")],
        ),
        ("<queries>\n<symbol>`f`</symbol>\n", vec![("symbol", "f")]),
        (
            "- <symbol>f</symbol>\n- <text>a b</text>",
            vec![("symbol", "f"), ("text", "a b")],
        ),
        (
            "```xml\n<queries><symbol>f</symbol></queries>\n```",
            vec![("symbol", "f")],
        ),
        (
            "<queries>\n<symbol>f\n<text>x</text>\n</queries>",
            vec![("symbol", "f"), ("text", "x")],
        ),
        (
            "<queries><pattern>a < b && f(&x)</pattern></queries>",
            vec![("pattern", "a < b && f(&x)")],
        ),
        (
            "<queries><text>a &lt; b</text></queries>",
            vec![("text", "a < b")],
        ),
        (
            "<queries><query type=\"symbol\">f</query></queries>",
            vec![("symbol", "f")],
        ),
        ("<queries><guess>f</guess></queries>", vec![("guess", "f")]),
        (
            "<queries><rule>\n```yaml\nall: x\n```\n</rule></queries>",
            vec![("rule", "all: x")],
        ),
        ("Ask `<symbol>f</symbol>` later.", vec![]),
    ] {
        assert_eq!(kinds(&read(given, false)), expected, "{given}");
    }
    let reply = read(
        "<queries><callers depth='3'>f</callers><more query=2/></queries>",
        false,
    );
    let attributes: Vec<_> = reply
        .queries
        .iter()
        .map(|query| query.attributes.clone())
        .collect();
    let pair = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
    assert_eq!(attributes, [pair("depth", "3"), pair("query", "2")]);
}

#[test]
fn a_probe_names_the_build_that_it_asks() {
    for (given, build) in [
        (
            "<probe file=\"a.c\" line=\"12\" build=\"attempt\">p</probe>",
            Some("attempt"),
        ),
        (
            "<probe file=\"a.c\" line=\"12\" on='Baseline'>p</probe>",
            Some("baseline"),
        ),
        ("<probe file=\"a.c\" line=\"12\">p</probe>", None),
    ] {
        let probes = read(given, false).probes;
        assert_eq!(probes[0].build.as_deref(), build, "{given}");
    }
}

#[test]
fn reads_probes() {
    for given in [
        "<probe file=\"a.c\" line=\"12\">p->n</probe>",
        "<queries>\n<probe file=a.c:12>p->n</probe>\n</queries>",
        "<queries><probe file='a.c' line='L12'>p-&gt;n</probe></queries>",
    ] {
        let probes = read(given, false).probes;
        let [probe] = probes.as_slice() else {
            panic!("{given}: {probes:?}");
        };
        assert_eq!(
            (probe.file.as_str(), probe.line, probe.expression.as_str()),
            ("a.c", 12, "p->n"),
            "{given}"
        );
    }
}

#[test]
fn reads_the_analysis() {
    for (given, expected) in [
        ("<analysis> a </analysis><queries/>", Some("a")),
        (
            "<analysis>a\n<queries><symbol>f</symbol></queries>",
            Some("a"),
        ),
        (
            "<think>no</think>\nThe bug is here now.\n<queries><symbol>f</symbol></queries>",
            Some("The bug is here now."),
        ),
        ("Here:\n<queries><symbol>f</symbol></queries>", None),
        (
            "<analysis>a</analysis> <analysis>b</analysis>",
            Some("a\n\nb"),
        ),
    ] {
        assert_eq!(read(given, false).analysis.as_deref(), expected, "{given}");
    }
}

const EDIT: &str =
    "<edit file='a.c' lines='1'><original>a</original><replacement>b</replacement></edit>";

#[test]
fn knows_what_is_meant_and_what_is_quoted() {
    for (given, edits) in [
        (format!("<patch>{EDIT}</patch>"), 1),
        (format!("{EDIT}\n"), 1),
        (format!("<think><patch>{EDIT}</patch></think>"), 0),
        (format!("<think>x\n<patch>{EDIT}</patch>"), 1),
        (format!("x <patch>\n</think>\n<patch>{EDIT}</patch>"), 1),
        (format!("```\n<patch>{EDIT}</patch>\n```"), 1),
        (
            format!("```\n<patch>{EDIT}</patch>\n```\n<queries><symbol>f</symbol></queries>"),
            0,
        ),
        (format!("For example:\n```\n<patch>{EDIT}</patch>\n```"), 0),
        (format!("<example><patch>{EDIT}</patch></example>"), 0),
        (format!("<!-- <patch>{EDIT}</patch> -->"), 0),
        (format!("`<patch>{EDIT}</patch>`"), 0),
        (format!("I send a <patch> now.\n<patch>{EDIT}</patch>"), 1),
    ] {
        let patch = read(&given, false).patch;
        assert_eq!(patch.map_or(0, |patch| patch.edits.len()), edits, "{given}");
    }
}

#[test]
fn sees_what_is_cut_off() {
    for (given, told, cut_off, whole) in [
        (format!("<patch>{EDIT}</patch>"), true, true, true),
        (format!("<patch>{EDIT}"), false, false, true),
        (format!("<patch>{EDIT}"), true, true, false),
        (
            "<patch><edit file=a.c>\n<original>\na".to_owned(),
            false,
            true,
            false,
        ),
        (
            "<patch><insert file=a.c after=1>\nx".to_owned(),
            false,
            true,
            false,
        ),
        (
            "a.c\n<<<<<<< SEARCH\na\n=======\nb".to_owned(),
            false,
            true,
            false,
        ),
    ] {
        let reply = read(&given, told);
        assert_eq!(
            (reply.cut_off, reply.patch.is_some()),
            (cut_off, whole),
            "{given}"
        );
        assert_eq!(
            reply.problems.is_empty(),
            whole,
            "{given}: {:?}",
            reply.problems
        );
    }
}

#[test]
fn falls_back_to_other_formats() {
    let diff = "Fix:\n```diff\n--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-a\n+b\n```\n";
    let patch = read(diff, false).patch.unwrap();
    assert!(matches!(patch.edits.as_slice(), [Edit::Hunk(hunk)] if hunk.file == "a.c"));
    let beside_queries = format!("{diff}<queries><symbol>f</symbol></queries>");
    assert!(read(&beside_queries, false).patch.is_none());
}

proptest! {
    #[test]
    fn never_panics(text in any::<String>(), cut_off in any::<bool>()) {
        read(&text, cut_off);
    }
}

#[test]
fn a_contest_is_read_where_there_is_no_patch() {
    for (text, expected) in [
        (
            "<analysis>a</analysis>\n<contest>the old one is wrong: `a < b`</contest>",
            Some("the old one is wrong: `a < b`"),
        ),
        ("<contest>\nnot closed\n", Some("not closed")),
        (
            "<think><contest>no</contest></think><contest>yes</contest>",
            Some("yes"),
        ),
        ("<contest></contest>", None),
        (
            "<contest>x</contest><patch><edit file=\"a.c\" lines=\"1\"><original>x</original><replacement>y</replacement></edit></patch>",
            None,
        ),
        ("<queries><symbol>f</symbol></queries>", None),
    ] {
        let reply = read(text, false);
        assert_eq!(reply.contest.as_deref(), expected, "{text}");
        assert_eq!(
            reply.contest.is_some(),
            reply.patch.is_none() && reply.queries.is_empty() && reply.problems.is_empty(),
            "{text}"
        );
    }
}
