//! A critic looks at what nothing refuted.

use super::{baseline, finished, kind, last_message, patch, placed, plan, play, reply, rung};
use crate::plan::Plan;
use crate::record::{
    Blob, ChallengedRecord, ContextText, Doubt, DoubtedInput, EndingKind, Full, Outcome, Purpose,
    Rung, Step, Unanswered,
};
use crate::repair::Run;
use patchwright_model::{Finish, Usage};
use patchwright_verdict::{OPEN_FOR_DIFFERENCES, RungName};

const ACCEPT: &str = "<verdict>accept</verdict><reason>fine</reason>";
const OBJECT: &str = "<verdict>object</verdict><reason>LEAKS AT A.C:3\nand more</reason>\n<challenge>abc</challenge>";

/// The same, upheld with an input that shows it.
const UPHELD: &str = "<verdict>object</verdict><shown>objection 1.1</shown><reason>LEAKS AT A.C:3\nand more</reason>";

/// An attempt that holds every rung that can be run.
fn climbed(calls: u32) -> Run {
    let plan = Plan {
        critic_calls: calls,
        ..plan()
    };
    let run = play(
        Run::new(plan),
        [
            baseline(),
            Outcome::Context(ContextText {
                text: "THE CODE".into(),
                ..ContextText::default()
            }),
            reply(&patch("y")),
            placed("p"),
        ],
    );
    let rungs = RungName::ALL.map(|name| match rung(name, Some(true)) {
        Outcome::Climbed(record) if name == RungName::SameElsewhere => Outcome::Climbed(Rung {
            doubts: vec![Doubt {
                what: "SURVIVED BEFORE".into(),
                ..Doubt::default()
            }],
            ..record
        }),
        other => other,
    });
    play(run, rungs)
}

fn asks_critic(run: &Run) -> bool {
    let critic = Purpose::Critic;
    matches!(run.ready().as_slice(), [(_, Step::Ask { purpose, .. })] if *purpose == critic)
}

#[test]
fn it_is_told_everything_and_may_agree() {
    let run = climbed(9);
    assert!(asks_critic(&run));
    let question = last_message(&run);
    for part in [
        "heap-buffer-overflow in f",
        "diff of p",
        "around p",
        "THE CODE",
        "robust holds: because",
        "reviewed holds: because",
        "SURVIVED BEFORE",
    ] {
        assert!(question.contains(part), "{part}: {question}");
    }
    let run = play(run, [reply(ACCEPT)]);
    assert_eq!(kind(&run), EndingKind::Verified);
    let last = run.attempts()[0].rungs.last().unwrap();
    assert_eq!((last.holds, last.counts["critic calls"]), (Some(true), 1));
    assert_eq!((run.spent().cost.calls, run.spent().format_retries), (2, 0));
}

/// The result of the inputs of an objection: a rung with as many variants, and inputs of
/// differences.
fn examined(holds: Option<bool>, variants: u64, differences: usize) -> Outcome {
    let Outcome::Climbed(record) = compared(RungName::SameElsewhere, differences) else {
        unreachable!()
    };
    Outcome::Challenged(ChallengedRecord {
        rung: Rung {
            holds,
            reason: "objection 1.1 fails".into(),
            counts: [("challenges: variants".to_owned(), variants)].into(),
            ..record
        },
        kept: Vec::new(),
        lines: vec!["objection 1.1 IS ACCEPTED".into()],
    })
}

#[test]
fn the_inputs_of_an_objection_are_run_and_it_decides_again() {
    let run = play(climbed(9), [reply(OBJECT)]);
    let step = run.ready().into_iter().next().map(|(_, step)| step);
    let Some(Step::Challenge { inputs, .. }) = step else {
        panic!("not run: {step:?}")
    };
    assert_eq!(inputs[0].name, "objection 1.1");
    let asked = play(run.clone(), [examined(Some(true), 0, 1)]);
    assert!(asks_critic(&asked));
    for part in ["objection 1.1 IS ACCEPTED", "DIFFERENCE 0"] {
        assert!(last_message(&asked).contains(part), "{part}");
    }
    // What it was shown and accepts is settled.
    let accepted = play(asked.clone(), [reply(ACCEPT)]);
    assert_eq!(kind(&accepted), EndingKind::Verified);
    let reviewed = accepted.attempts()[0].rung(RungName::Reviewed).unwrap();
    assert!(reviewed.doubts.iter().all(|doubt| doubt.settled.is_some()));
    // Upheld with something to show, or shown by a failure, it refutes.
    for (run, reason) in [
        (
            play(asked, [reply(UPHELD)]),
            "the critic objects: LEAKS AT A.C:3",
        ),
        (
            play(run.clone(), [examined(Some(true), 1, 2), reply(UPHELD)]),
            "the critic objects: LEAKS AT A.C:3",
        ),
        (
            play(run, [examined(Some(false), 0, 0)]),
            "the critic objects, and is right: objection 1.1 fails",
        ),
    ] {
        assert_eq!(run.attempts()[0].refuted_by().unwrap().reason, reason);
    }
}

#[test]
fn a_fault_of_its_own_does_not_stand_against_a_patch_and_is_told() {
    let elsewhere = format!("{ACCEPT}<elsewhere>THE TWIN IN B.C</elsewhere>");
    let told = examined(Some(true), 0, 0);
    for outcomes in [
        vec![reply(&elsewhere)],
        vec![reply(OBJECT), told, reply(&elsewhere)],
    ] {
        let run = play(climbed(9), outcomes);
        assert_eq!(kind(&run), EndingKind::Verified);
        let reviewed = run.attempts()[0].rung(RungName::Reviewed).unwrap();
        assert!(reviewed.reason.ends_with("THE TWIN IN B.C"));
    }
}

#[test]
fn a_proven_objection_is_the_next_issue() {
    let told = examined(Some(true), 0, 1);
    let code = Outcome::Context(ContextText::default());
    let run = play(climbed(9), [reply(OBJECT), told, reply(UPHELD), code]);
    let issue = last_message(&run);
    for part in ["does not stand up to review", "LEAKS AT A.C:3\nand more"] {
        assert!(issue.contains(part), "{part}: {issue}");
    }
}

#[test]
fn an_objection_that_no_run_shows_leaves_the_patch_standing_and_goes_to_the_author() {
    let words = "<verdict>object</verdict><reason>LEAKS AT A.C:3</reason>";
    let after = |variants, words| {
        vec![
            reply(OBJECT),
            examined(Some(true), variants, 0),
            reply(words),
        ]
    };
    // The answer to an input that crashes the unpatched program is a matter of opinion.
    let cases = [
        vec![reply(words)],
        after(1, words),
        after(0, UPHELD),
        after(1, UPHELD),
    ];
    for outcomes in cases {
        let run = play(climbed(9), outcomes);
        let reviewed = run.attempts()[0].rung(RungName::Reviewed);
        assert_eq!(reviewed.unwrap().holds, None);
        let question = last_message(&run);
        for part in ["LEAKS AT A.C:3", "diff of p", "<contest>"] {
            assert!(question.contains(part), "{part}: {question}");
        }
        // A person decides about what the author contests.
        let contest = || reply("<contest>it is freed in b.c</contest>");
        let contested = play(run.clone(), [contest()]);
        assert!(last_message(&contested).contains("a person decides about your reason"));
        let contested = play(contested, [contest()]);
        assert_eq!(kind(&contested), EndingKind::Plausible);
        let detail = &contested.ending().unwrap().detail;
        assert!(
            detail.contains("no answer of the unpatched program shows it: LEAKS AT A.C:3"),
            "{detail}"
        );
        let doubts = &contested.attempts()[0]
            .rung(RungName::Reviewed)
            .unwrap()
            .doubts;
        let reason = doubts.iter().find_map(|doubt| doubt.contested.as_deref());
        assert_eq!(reason, Some("it is freed in b.c"));
        // A better patch is climbed, and the first one is kept beside it.
        let better = play(run, [reply(&patch("z")), placed("q")]);
        assert!(better.attempts()[0].refuted_by().is_none());
        let better = play(better, RungName::ALL.map(|name| rung(name, Some(true))));
        let better = play(better, [reply(ACCEPT)]);
        assert_eq!(kind(&better), EndingKind::Verified);
    }
}

#[test]
fn one_that_cannot_be_heard_leaves_the_rung_open() {
    let unanswered = || {
        Outcome::Unanswered(Unanswered {
            reason: "no key".into(),
            usage: Usage::default(),
            usd: 0.0,
            seconds: 0.0,
        })
    };
    let full = Outcome::Full(Full {
        tokens: 9,
        fits: 8,
        reason: String::new(),
    });
    for (calls, outcomes, words) in [
        (9, vec![unanswered()], "no key"),
        (9, vec![full], "9 tokens"),
        (9, vec![reply("hm"), reply("hm")], "no verdict"),
        (
            9,
            vec![finished("", Finish::Refused), reply("")],
            "no verdict",
        ),
        (1, vec![reply("hm")], "critic.calls"),
    ] {
        let run = play(climbed(calls), outcomes);
        assert_eq!(kind(&run), EndingKind::Plausible, "{words}");
        let detail = &run.ending().unwrap().detail;
        assert!(detail.contains(words), "{words}: {detail}");
    }
    // It is asked once more for the form alone.
    let run = play(climbed(9), [reply("hm")]);
    assert!(asks_critic(&run) && last_message(&run).contains("<verdict>"));
    assert_eq!(kind(&play(run, [reply(ACCEPT)])), EndingKind::Verified);
}

#[test]
fn a_patch_that_nobody_has_read_is_not_verified() {
    for (critic_calls, expected) in [(9, EndingKind::Plausible), (0, EndingKind::Verified)] {
        let plan = Plan {
            critic_calls,
            ..plan()
        };
        let run = Run::judging(plan, patchwright_patcher::Patch::default());
        let run = play(run, [baseline(), placed("p")]);
        let run = play(run, RungName::ALL.map(|name| rung(name, Some(true))));
        assert_eq!((kind(&run), run.spent().cost.calls), (expected, 0));
        let detail = &run.ending().unwrap().detail;
        let told = detail.contains("nobody has reviewed it");
        assert_eq!(told, expected == EndingKind::Plausible, "{detail}");
    }
}

#[test]
fn it_decides_about_what_the_rules_leave_to_a_reader() {
    let held_back = |name| match rung(name, Some(true)) {
        Outcome::Climbed(record) if name == RungName::Reviewed => Outcome::Climbed(Rung {
            holds: None,
            doubts: vec![Doubt {
                what: "A.C:3: IT HOLDS ASSEMBLY".into(),
                ..Doubt::default()
            }],
            ..record
        }),
        other => other,
    };
    for (answer, expected) in [
        (ACCEPT, EndingKind::Verified),
        (
            "<verdict>object</verdict><reason>no</reason>",
            EndingKind::Plausible,
        ),
    ] {
        let plan = Plan {
            critic_calls: 9,
            ..plan()
        };
        let run = Run::challenging(plan, patchwright_patcher::Patch::default());
        let run = play(run, [baseline(), code(), placed("p")]);
        let run = play(run, RungName::ALL.map(held_back));
        assert!(last_message(&run).contains("IT HOLDS ASSEMBLY"));
        let run = play(run, [reply(answer)]);
        assert_eq!(kind(&run), expected, "{:?}", run.ending());
    }
}

/// A patch from outside that stands, and answers as many inputs differently as are named.
fn judged_with_differences(inputs: usize) -> Run {
    judged_before(inputs, |_| {})
}

/// The same, with something else about the rung that compares.
fn judged_before(inputs: usize, change: impl Fn(&mut Rung)) -> Run {
    let plan = Plan {
        critic_calls: 9,
        ..plan()
    };
    let run = Run::challenging(plan, patchwright_patcher::Patch::default());
    let run = play(run, [baseline(), code(), placed("p")]);
    let rungs = RungName::ALL.map(|name| match compared(name, inputs) {
        Outcome::Climbed(mut rung) if name == RungName::SameElsewhere => {
            change(&mut rung);
            Outcome::Climbed(rung)
        }
        other => other,
    });
    play(run, rungs)
}

/// A rung, and where it compares behaviour, the differences of as many inputs.
fn compared(name: RungName, inputs: usize) -> Outcome {
    match rung(name, Some(true)) {
        Outcome::Climbed(record) if name == RungName::SameElsewhere && inputs > 0 => {
            let doubts = (0..inputs).map(|number| Doubt {
                what: format!("DIFFERENCE {number}"),
                input: Some(DoubtedInput {
                    name: format!("objection 1.{}", number + 1),
                    blob: Blob::Kept(format!("input {number}")),
                    ..DoubtedInput::default()
                }),
                ..Doubt::default()
            });
            Outcome::Climbed(Rung {
                holds: None,
                doubts: doubts.collect(),
                counts: [(OPEN_FOR_DIFFERENCES.to_owned(), 1)].into(),
                ..record
            })
        }
        other => other,
    }
}

#[test]
fn its_agreement_decides_about_the_differences_that_it_was_shown() {
    let run = judged_with_differences(2);
    for shown in [
        "DIFFERENCE 0",
        "DIFFERENCE 1",
        "on each of the following inputs",
    ] {
        assert!(last_message(&run).contains(shown), "{shown}");
    }
    // Nothing is compared again, and nobody is asked again.
    let run = play(run, [reply(ACCEPT)]);
    assert_eq!(kind(&run), EndingKind::Verified);
    let blobs: Vec<&str> = run.decisions().iter().map(|one| one.blob.hash()).collect();
    assert_eq!(blobs, ["input 0", "input 1"]);
    let compared = run.attempts()[0].rung(RungName::SameElsewhere).unwrap();
    assert!(compared.doubts.iter().all(|doubt| {
        let settled = doubt.settled.as_deref().unwrap_or_default();
        settled.contains("no objection: fine")
    }));
}

#[test]
fn a_rung_of_an_older_version_is_climbed_again_when_its_differences_are_decided() {
    let run = judged_before(1, |rung| rung.counts.clear());
    let run = play(run, [reply(ACCEPT)]);
    let same = RungName::SameElsewhere;
    let again = Step::Climb {
        attempt: 1,
        rung: same,
    };
    assert!(matches!(run.ready().as_slice(), [(_, step)] if *step == again));
    let run = play(run, [compared(same, 0)]);
    assert_eq!(kind(&run), EndingKind::Verified);
}

#[test]
fn a_rung_that_lacks_more_than_decisions_stays_open() {
    let turned_away = "3 mutants are turned away";
    for (reason, expected) in [
        (
            "1 doubt: a; besides, too few inputs",
            "every difference is decided; too few inputs",
        ),
        (turned_away, turned_away),
    ] {
        let run = judged_before(1, |rung| {
            rung.counts.insert(OPEN_FOR_DIFFERENCES.to_owned(), 0);
            rung.reason = reason.to_owned();
        });
        let run = play(run, [reply(ACCEPT)]);
        assert_eq!(kind(&run), EndingKind::Plausible);
        assert_eq!(run.decisions().len(), 1);
        let same = run.attempts().iter().flat_map(|attempt| &attempt.rungs);
        let same = { same }.find(|rung| rung.name == RungName::SameElsewhere);
        assert_eq!(same.unwrap().reason, expected);
    }
}

fn code() -> Outcome {
    Outcome::Context(ContextText::default())
}

#[test]
fn differences_beyond_those_shown_stay_open_and_an_objection_refutes() {
    let run = play(judged_with_differences(7), [reply(ACCEPT)]);
    assert_eq!(kind(&run), EndingKind::Plausible);
    assert_eq!(run.decisions().len(), 6);
    let told = examined(Some(true), 0, 1);
    let objects = [reply(OBJECT), told, reply(UPHELD)];
    let run = play(judged_with_differences(1), objects);
    assert_eq!(kind(&run), EndingKind::NoPatch);
}
