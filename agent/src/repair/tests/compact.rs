//! The conversation nears the model's window.

use super::{QUERIES, begun, finished, kind, last_message, patch, placed, play, reply, rung};
use crate::record::{ContextText, EndingKind, Full, Outcome, Purpose, Retrieved, Step, Unanswered};
use crate::repair::Run;
use patchwright_model::{Finish, Role};
use patchwright_verdict::RungName;

fn full() -> Outcome {
    Outcome::Full(Full {
        tokens: 9,
        fits: 8,
        reason: String::new(),
    })
}

/// An attempt that failed, a round, and a request that does not fit.
fn grown() -> Run {
    let run = play(
        begun(),
        [
            reply(&patch("y")),
            placed("p"),
            rung(RungName::Applies, Some(false)),
        ],
    );
    let answers = Retrieved {
        text: "LAST ANSWERS".into(),
        ..Retrieved::default()
    };
    play(
        run,
        [
            Outcome::Context(ContextText::default()),
            reply(QUERIES),
            Outcome::Retrieved(answers),
        ],
    )
}

fn messages(run: &Run) -> (Purpose, Vec<(Role, String)>) {
    match run.ready().pop() {
        Some((_, Step::Ask { purpose, messages })) => (
            purpose,
            messages
                .into_iter()
                .map(|message| (message.role, message.text))
                .collect(),
        ),
        other => panic!("not asking: {other:?}"),
    }
}

fn in_short(run: &Run, words: &[&str]) {
    let (purpose, messages) = messages(run);
    let roles: Vec<Role> = messages.iter().map(|(role, _)| *role).collect();
    assert_eq!(
        (purpose, roles),
        (Purpose::Repair, vec![Role::System, Role::User])
    );
    let text = &messages[1].1;
    for word in words {
        assert!(text.contains(word), "{word}: {text}");
    }
}

const KEPT: [&str; 5] = [
    "heap-buffer-overflow in f",
    "Your attempt 1 failed: it could not be applied",
    "diff of p",
    "LAST ANSWERS",
    "What happened so far, in short",
];

#[test]
fn what_matters_is_kept_and_the_code_shown_again() {
    let before = messages(&grown()).1;
    let run = play(grown(), [full()]);
    let (purpose, asked) = messages(&run);
    assert_eq!(purpose, Purpose::Compact);
    // All of it but what waits for an answer, and the question.
    assert_eq!(asked[..asked.len() - 1], before[..before.len() - 1]);
    assert!(asked.last().unwrap().1.contains("told in short"));

    let notes = "<analysis>NOTES</analysis><queries><file>a.c:1-9</file><bad>x</bad></queries>";
    let run = play(run, [reply(notes)]);
    let ready = run.ready();
    let [(_, Step::Retrieve { queries, .. })] = ready.as_slice() else {
        panic!("{ready:?}");
    };
    assert_eq!(queries.len(), 1, "what is no query is left out");
    let rounds = run.spent().rounds;
    let code = Retrieved {
        text: "CODE AGAIN".into(),
        ..Retrieved::default()
    };
    let run = play(run, [Outcome::Retrieved(code)]);
    assert_eq!(run.spent().rounds, rounds, "it is no round");
    in_short(&run, &KEPT);
    in_short(&run, &["NOTES", "CODE AGAIN"]);
    let run = play(run, [reply(&patch("z")), placed("q")]);
    assert!(matches!(run.ready().as_slice(), [(_, Step::Climb { .. })]));
}

#[test]
fn a_model_that_says_nothing_of_use_costs_the_findings_only() {
    let unanswered = Outcome::Unanswered(Unanswered {
        reason: "gone".into(),
        usage: patchwright_model::Usage::default(),
        usd: 0.0,
        seconds: 0.0,
    });
    for outcome in [full(), unanswered, finished("", Finish::Refused), reply("")] {
        in_short(&play(grown(), [full(), outcome]), &KEPT);
    }
    let run = play(grown(), [full(), reply("no tags at all")]);
    in_short(&run, &["no tags at all"]);
}

#[test]
fn what_cannot_be_shorter_ends_the_lane() {
    let alone = play(begun(), [full()]);
    let again = play(grown(), [full(), reply("notes"), full()]);
    for run in [alone, again] {
        assert_eq!(kind(&run), EndingKind::BudgetExhausted);
        assert!(
            run.ending()
                .unwrap()
                .detail
                .contains("model.context_window")
        );
    }
    // Whoever was answered since may be shortened again.
    let run = play(grown(), [full(), reply("notes"), reply("nonsense"), full()]);
    assert_eq!(messages(&run).0, Purpose::Compact);
    assert!(!last_message(&run).is_empty());
}
