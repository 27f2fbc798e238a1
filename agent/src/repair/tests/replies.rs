//! Tests of replies: queries, and text that cannot be used.

use super::{QUERIES, begun, finished, kind, last_message, play, reply};
use crate::record::{EndingKind, Outcome, Retrieved, Step};
use patchwright_model::Finish;

#[test]
fn rounds_have_three_to_five_queries() {
    for (count, good) in [(1, false), (2, false), (3, true), (5, true), (6, false)] {
        let text = format!("<queries>{}</queries>", "<symbol>f</symbol>".repeat(count));
        let run = play(begun(), [reply(&text)]);
        let retrieves = matches!(run.ready().as_slice(), [(_, Step::Retrieve { .. })]);
        assert_eq!(retrieves, good, "{count} queries");
        if !good {
            assert!(last_message(&run).contains("a round has 3 to 5 queries"));
            assert_eq!(run.spent().format_retries, 1);
        }
    }
}

#[test]
fn unusable_replies_are_answered_and_then_end_the_run() {
    for (text, finish, expected) in [
        ("I am not sure.", Finish::Stop, "neither <queries>"),
        ("<patch><edit", Finish::Length, "cut off"),
        ("", Finish::Refused, "declined"),
        (
            "<queries><file></file><symbol>f</symbol><symbol>g</symbol></queries>",
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
