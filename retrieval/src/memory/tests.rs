//! Tests of what the model reads, and that nothing is shown twice.

use super::Memory;
use crate::{Answer, Context, Miss, Query, Snippet, Tier};
use patchwright_source::{Text, TreePath};

fn query(kind: &str, body: &str) -> Query {
    Query::read(kind, body, &[]).unwrap()
}

fn answer(query: &Query, ranges: &[(u32, u32)], total: usize) -> Answer {
    let content: String = (1..=90).fold(String::new(), |all, n| all + &format!("code {n}\n"));
    let path = TreePath::new("src/a.c").unwrap();
    let snippet = Snippet::cut(&path, &Text::new(content.into()), ranges, Tier::High)
        .unwrap()
        .with_symbols(["f".to_owned()])
        .with_note("function");
    Answer {
        snippets: vec![snippet],
        total,
        shown: 1,
        ..Answer::new(query)
    }
}

#[test]
fn shows_hits_with_place_and_numbers() {
    let mut memory = Memory::default();
    let text = memory.render(1, &[answer(&query("symbol", "f"), &[(9, 11)], 3)]);
    assert_eq!(
        text,
        "### query 1 symbol: f\nsrc/a.c:9-11 [f] (function)\n 9: code 9\n10: code 10\n11: code 11\n\
         2 more of 3 hits: <more query=\"1\"/>\n\n"
    );
}

#[test]
fn refers_to_what_was_shown() {
    let mut memory = Memory::default();
    let f = query("symbol", "f");
    memory.render(1, &[answer(&f, &[(9, 11)], 1)]);
    let again = memory.render(2, &[answer(&query("symbol", "g"), &[(10, 11)], 1)]);
    assert!(
        again.contains("src/a.c:10-11 [f] (function): shown in round 1"),
        "{again}"
    );
    assert!(!again.contains("code 10"));
    let same_round = memory.render(2, &[answer(&f, &[(40, 80)], 1), answer(&f, &[(41, 70)], 1)]);
    assert!(
        same_round.contains("shown above in this round"),
        "{same_round}"
    );
    let part = memory.render(3, &[answer(&f, &[(35, 85)], 1)]);
    assert!(
        part.contains("the lines missing here were shown in round 2"),
        "{part}"
    );
    assert!(
        part.contains("35: code 35") && !part.contains("code 50"),
        "{part}"
    );
    memory.forget(3);
    let forgotten = memory.render(4, &[answer(&f, &[(9, 11)], 1)]);
    assert!(forgotten.contains("10: code 10"), "{forgotten}");
}

#[test]
fn a_failure_is_told_once_and_then_by_its_round() {
    let mut memory = Memory::default();
    let nowhere = query("symbol", "nowhere");
    let miss = Miss::NotFound {
        what: "no symbol nowhere".to_owned(),
        nearest: vec!["now_here".to_owned()],
    };
    let missed = Answer::missed(&nowhere, miss);
    let first = memory.render(1, std::slice::from_ref(&missed));
    assert!(
        first.contains("nothing found: no symbol nowhere; nearest: now_here"),
        "{first}"
    );
    let known = memory.known_failure(&nowhere).unwrap();
    let second = memory.render(2, &[known]);
    assert!(
        second.contains("it failed in round 1: nothing found"),
        "{second}"
    );
    assert!(memory.known_failure(&query("symbol", "f")).is_none());
    let third = memory.render(3, &[missed]);
    assert!(third.contains("it failed in round 1"), "{third}");
}

#[test]
fn more_goes_on_where_the_earlier_query_stopped() {
    let mut memory = Memory::default();
    memory.render(1, &[answer(&query("text", "x"), &[(1, 2)], 3)]);
    let next = memory.expand(&query("more", "1"));
    assert_eq!(next.to_string(), "text: x (after the first 1)");
    memory.render(2, &[answer(&next, &[(5, 6)], 3)]);
    let last = memory.expand(&query("more", "1"));
    assert_eq!(last.to_string(), "text: x (after the first 2)");
    let unknown = memory.expand(&query("more", "77"));
    assert_eq!(unknown, query("more", "77"));
}

#[test]
fn survives_being_saved() {
    let mut memory = Memory::default();
    memory.render(1, &[answer(&query("symbol", "f"), &[(9, 11)], 1)]);
    let saved = serde_json::to_string(&memory).unwrap();
    assert_eq!(serde_json::from_str::<Memory>(&saved).unwrap(), memory);
}

#[test]
fn a_second_context_refers_to_the_first() {
    let context = Context {
        snippets: answer(&query("symbol", "f"), &[(9, 60)], 1).snippets,
        ..Context::default()
    };
    let mut memory = Memory::default();
    let first = memory.render_context(0, &context);
    assert!(first.contains("30: code 30"), "{first}");
    let second = memory.render_context(2, &context);
    assert!(second.contains("shown with the issue"), "{second}");
    assert!(!second.contains("30: code 30"), "{second}");
}
