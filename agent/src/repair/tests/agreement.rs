//! Runs whose lanes brought several candidates that are compared with each other.

use super::{baseline, doubted, kind, patch, placed, plan, play, reply, rung};
use crate::plan::Plan;
use crate::record::{
    AgreedInput, Agreement, Blob, ContextText, EndingKind, Outcome, RunLimits, Step,
};
use crate::repair::Run;
use patchwright_verdict::RungName;

/// The rungs of a candidate that differs on an input: `p` in one way, all others in another.
fn rungs(form: &str) -> [Outcome; 8] {
    RungName::ALL.map(|name| match name {
        RungName::SameElsewhere => doubted(if form == "p" { "one" } else { "two" }),
        _ => rung(name, Some(true)),
    })
}

/// A run of lanes that each brought one such candidate, of these normal forms.
fn lanes(forms: &[&str]) -> Run {
    let limits = RunLimits {
        attempts: 5,
        contests: 0,
        ..plan().limits
    };
    let plan = Plan {
        lanes: forms.len() as u32,
        limits,
        ..plan()
    };
    let mut run = play(Run::new(plan), [baseline()]);
    for (index, form) in forms.iter().enumerate() {
        let number = index as u32 + 1;
        let mut outcomes = vec![
            Outcome::Context(ContextText::default()),
            reply(&patch(form)),
            placed(form),
        ];
        outcomes.extend(rungs(form));
        for outcome in outcomes {
            let ready = run.ready();
            if let Some((id, _)) = ready.iter().find(|(id, _)| id.lane == number) {
                run = run.feed(*id, outcome);
            }
        }
    }
    run
}

fn agreed(clusters: &[&[u32]], apart: &[&[u32]]) -> Outcome {
    let owned = |groups: &[&[u32]]| -> Vec<Vec<u32>> {
        groups.iter().map(|group| group.to_vec()).collect()
    };
    Outcome::Agreed(Agreement {
        clusters: owned(clusters),
        apart: owned(apart)
            .into_iter()
            .map(|attempts| AgreedInput {
                blob: Blob::Kept("blob".into()),
                attempts,
            })
            .collect(),
        splits: Vec::new(),
        as_before: Vec::new(),
        inputs: 9,
        seconds: 1.0,
    })
}

#[test]
fn a_doubt_on_which_independent_candidates_agree_is_gone() {
    let run = lanes(&["p", "q", "r"]);
    let ready = run.ready();
    let [(_, Step::Agree { attempts, inputs })] = ready.as_slice() else {
        panic!("{ready:?}");
    };
    assert_eq!(
        (attempts.as_slice(), inputs[0].name.as_str()),
        (&[1, 2, 3][..], "mutant 1")
    );
    let run = play(run, [agreed(&[&[2, 3], &[1]], &[&[2, 3], &[1]])]);
    // The answer that two of them give is decided, and of these a model chooses.
    assert!(
        run.decisions()[0]
            .reason
            .contains("1 candidate written independently")
    );
    let compared = |number| {
        let rung = run.attempt(number)?.rung(RungName::SameElsewhere)?;
        rung.holds
    };
    assert_eq!([1, 2, 3].map(compared), [None, Some(true), Some(true)]);
    let run = play(run.clone(), [reply("<best>2</best>")]);
    assert_eq!(
        (kind(&run), run.best().unwrap().number),
        (EndingKind::Verified, 2)
    );
}

#[test]
fn the_largest_cluster_is_preferred_and_nobody_is_asked_twice() {
    let run = play(lanes(&["p", "q", "r"]), [agreed(&[&[2, 3], &[1]], &[&[1]])]);
    let choosing = matches!(run.ready().as_slice(), [(_, Step::Ask { .. })]);
    assert!(choosing, "{:?}", run.ready());
    let run = play(run, [reply("<best>1</best>")]);
    // The judging model had to choose among those that agree.
    assert_eq!(
        (kind(&run), run.best().unwrap().number),
        (EndingKind::Plausible, 2)
    );
}

#[test]
fn one_candidate_alone_is_compared_with_nobody() {
    // The second lane came to the same patch.
    let run = lanes(&["p", "p"]);
    assert_eq!(kind(&run), EndingKind::Plausible);
}
