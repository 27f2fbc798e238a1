//! Tests of the order of the rules, and of what is found nowhere.

use super::{Located, Quote, locate};
use crate::PlacementKind as Kind;
use crate::pristine::Pristine;
use crate::script::Change;
use patchwright_source::{Text, TreePath};

fn file(text: &str) -> Pristine {
    Pristine::new(TreePath::new("a.c").unwrap(), Text::new(text.into()))
}

fn check(
    text: &str,
    lines: &str,
    hint: Option<usize>,
    expected: Result<(usize, usize, Kind), &[usize]>,
) {
    let file = file(text);
    let lines: Vec<String> = lines.split('\n').map(str::to_owned).collect();
    let quote = Quote {
        lines: &lines,
        hint,
        slack: 0,
        heading: None,
        changes: &[],
    };
    let found = match locate(&file, quote) {
        Located::At(place) => Ok((place.range.start, place.range.end, place.kind)),
        Located::Several(starts) => Err(starts),
        Located::Tied(_) | Located::Differs(_) | Located::Nowhere => Err(Vec::new()),
    };
    assert_eq!(
        found,
        expected.map_err(<[usize]>::to_vec),
        "{lines:?} at {hint:?} in {text:?}"
    );
}

#[test]
fn follows_the_order() {
    let text = "a\nb\ncc\ndd\ne\nf\ng\nh\nb\n";
    check(text, "b", Some(1), Ok((1, 2, Kind::Exact)));
    check(text, "dd", Some(5), Ok((3, 4, Kind::Shifted)));
    check(text, "  dd ", Some(3), Ok((3, 4, Kind::Whitespace)));
    check(text, "cc\ndd", Some(7), Ok((2, 4, Kind::Moved)));
    check(text, "cc\n dd", Some(7), Ok((2, 4, Kind::Moved)));
    check(text, "cc\ndd", None, Ok((2, 4, Kind::Exact)));
    check(text, "cc\n dd", None, Ok((2, 4, Kind::Whitespace)));
    check(text, "b", None, Err(&[1, 8]));
    check(text, "x", Some(1), Err(&[]));
}

#[test]
fn finds_braces_only_where_they_are_named() {
    check("a;\n}\n\nb;\n", "}\n", Some(1), Ok((1, 3, Kind::Exact)));
    check("a;\n}\n\nb;\nc;\nd;\n", "}\n", Some(9), Err(&[]));
}

#[test]
fn counts_places_that_differ_in_blank_lines() {
    let text = "alpha();\nbeta();\nx;\nalpha();\n\nbeta();\n";
    check(text, "alpha();\nbeta();", None, Err(&[0, 3]));
    check(text, "alpha();\nbeta();", Some(0), Ok((0, 2, Kind::Exact)));
}

#[test]
fn refuses_two_near_places() {
    check("a\nx\na\nx\n", "a", Some(1), Err(&[0, 2]));
    check(" a\nx\n  a\nx\n", "a", Some(1), Err(&[0, 2]));
    check("a\nx\na\nx\n", "a", Some(0), Ok((0, 1, Kind::Exact)));
}

#[test]
fn a_number_that_is_not_exact_does_not_decide_among_near_places() {
    let text = "b\n1\n2\n3\n4\n5\nb\n7\n8\n";
    check(text, "b", Some(0), Ok((0, 1, Kind::Exact)));
    check(text, "b", Some(1), Err(&[0, 6]));
    let far = text.replace("3\n", "3\na\nc\nd\ne\nf\n");
    check(&far, "b", Some(1), Ok((0, 1, Kind::Shifted)));
}

#[test]
fn indentation_alone_does_not_tell_short_lines_apart() {
    let text = "{\n  x(1);\n    {\n    y(2);\n";
    check(text, "{", None, Err(&[0, 2]));
    let long = "call_of(alpha, beta, gamma, delta);";
    let text = format!("{long}\nx;\n    {long}\n");
    check(&text, long, None, Ok((0, 1, Kind::Exact)));
}

#[test]
fn a_place_must_beat_those_with_lines_left_out() {
    let file = file(
        "if (a) {\n  return bad;\n}\nsize = tell(f);\nclose(f);\nother(1);\n\
         if (b) {\n  return bad;\n}\nclose(f);\n",
    );
    let lines = ["  return bad;", "}", "    close(f);"].map(str::to_owned);
    let old = 2..2;
    let new = ["check(f);".to_owned()];
    let changes = [Change { old, new: &new }];
    let quote = Quote {
        lines: &lines,
        hint: None,
        slack: 0,
        heading: None,
        changes: &changes,
    };
    let located = locate(&file, quote);
    assert!(matches!(located, Located::Tied(_)), "{located:?}");
}

#[test]
fn compares_the_middle_too() {
    check("a\nb\nc\n", "a\nX\nc", Some(0), Err(&[]));
}

#[test]
fn finds_reflowed_lines() {
    check(
        "a(b,\n  c);\nd;\n",
        "a(b, c);",
        None,
        Ok((0, 2, Kind::Whitespace)),
    );
    check(
        "a;\n\nb;\n",
        "a;\nb;",
        Some(0),
        Ok((0, 3, Kind::Whitespace)),
    );
    check(
        "a;\nb;\n",
        "a;\n\nb;",
        Some(0),
        Ok((0, 2, Kind::Whitespace)),
    );
    check("a; // b;\nc;\n", "a; //\nb;", None, Err(&[]));
    check("xa;\n", "a;", None, Err(&[]));
}

#[test]
fn finds_blank_lines_only_where_they_are_named() {
    check("a\n\nb\n\n", "", Some(1), Ok((1, 2, Kind::Exact)));
    check("a\n\nb\n\n", "", Some(0), Err(&[]));
    check("a\n\nb\n", "", None, Err(&[]));
}

#[test]
fn does_not_mind_a_byte_order_mark() {
    check("\u{feff}a\nb\n", "a", Some(0), Ok((0, 1, Kind::Exact)));
}
