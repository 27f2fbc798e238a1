//! Tests of replies: queries, and text that cannot be used.

use super::{QUERIES, begun, finished, kind, last_message, play, reply};
use crate::record::{EndingKind, Outcome, Retrieved, Step};
use patchwright_model::Finish;

#[test]
fn rounds_have_up_to_five_queries() {
    for (count, kept) in [(1, 1), (2, 2), (5, 5), (7, 5)] {
        let text = format!("<queries>{}</queries>", "<symbol>f</symbol>".repeat(count));
        let run = play(begun(), [reply(&text)]);
        let ready = run.ready();
        let [(_, Step::Retrieve { queries, .. })] = ready.as_slice() else {
            panic!("{ready:?}");
        };
        assert_eq!(queries.len(), kept, "{count} queries");
        assert_eq!(run.spent().format_retries, 0);
        let run = play(run, [Outcome::Retrieved(Retrieved::default())]);
        let told = last_message(&run).contains("you sent 7: the first 5 were answered");
        assert_eq!(told, count > 5, "{}", last_message(&run));
    }
}

#[test]
fn what_is_no_query_is_told_beside_the_answers() {
    let text = "<queries>\n<file></file>\n<symbol>f</symbol>\n<frobnicate>memcpy</frobnicate>\n<rule>\n<kind>call_expression</kind>\n</rule>\n</queries>";
    let run = play(begun(), [reply(text)]);
    let answers = Retrieved {
        text: "the answers".into(),
        ..Retrieved::default()
    };
    let run = play(run, [Outcome::Retrieved(answers)]);
    let told = last_message(&run);
    for words in [
        "### Not answered",
        "<file></file>: ",
        "<frobnicate>",
        "the answers",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(!told.contains("<kind> is"), "{told}");
    assert_eq!((run.spent().format_retries, run.spent().rounds), (0, 1));
}

#[test]
fn unusable_replies_are_answered_and_then_end_the_run() {
    for (text, finish, expected) in [
        ("I am not sure.", Finish::Stop, "neither <queries>"),
        ("<patch><edit", Finish::Length, "cut off"),
        ("", Finish::Refused, "declined"),
        (
            "<queries><file></file></queries>",
            Finish::Stop,
            "could not be",
        ),
    ] {
        let mut run = play(begun(), [finished(text, finish)]);
        assert!(
            last_message(&run).contains(expected),
            "{text}: {}",
            last_message(&run)
        );
        run = play(run, [finished(text, finish), finished(text, finish)]);
        assert_eq!(kind(&run), EndingKind::BudgetExhausted);
        assert!(run.ending().unwrap().detail.contains("format retries"));
    }
}

#[test]
fn used_up_rounds_leave_the_patch() {
    let rounds = [
        reply(QUERIES),
        Outcome::Retrieved(Retrieved::default()),
        reply(QUERIES),
        Outcome::Retrieved(Retrieved::default()),
    ];
    let run = play(begun(), rounds);
    assert!(last_message(&run).contains("No rounds of queries are left"));
    let run = play(run, [reply(QUERIES), reply(QUERIES), reply(QUERIES)]);
    assert_eq!(
        (kind(&run), run.spent().rounds),
        (EndingKind::BudgetExhausted, 2)
    );
    assert!(run.ending().unwrap().detail.starts_with("rounds"));
}
