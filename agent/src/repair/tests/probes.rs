//! Probes of a round, and inputs that refuted an attempt.

use super::{begun, last_message, patch, placed, play, reply, rung};
use crate::record::{Blob, FoundInput, Outcome, Probed, Retrieved, Step};
use patchwright_verdict::RungName;

#[test]
fn probes_are_part_of_a_round_and_asked_once() {
    let asks = "<queries><symbol>f</symbol><symbol>g</symbol><probe file=\"a.c\" line=\"3\">n</probe></queries>";
    let only = "<probe file=\"a.c\" line=\"3\">n</probe><probe file=\"a.c\" line=\"4\">n</probe><probe file=\"a.c\" line=\"3\" build=\"attempt\">n</probe>";
    let probed = |answers: &[&str]| {
        Outcome::Probed(Probed {
            answers: answers.iter().map(|text| (*text).to_owned()).collect(),
            seconds: 2.0,
        })
    };
    let run = play(
        begun(),
        [reply(asks), Outcome::Retrieved(Retrieved::default())],
    );
    let Some((_, Step::Probe { probes })) = run.ready().into_iter().next() else {
        panic!("the probe follows the queries");
    };
    assert_eq!(
        (probes.len(), probes[0].line, probes[0].attempt),
        (1, 3, None)
    );
    let run = play(run, [probed(&["SEVEN"])]);
    assert!(last_message(&run).contains("SEVEN"));
    assert_eq!((run.spent().rounds, run.spent().seconds.commands), (1, 3.0));

    // Nothing is built, so the last attempt is the unpatched program: asked already.
    let run = play(run, [reply(only)]);
    let Some((_, Step::Probe { probes })) = run.ready().into_iter().next() else {
        panic!("the new probe is asked");
    };
    assert_eq!(
        probes.iter().map(|probe| probe.line).collect::<Vec<_>>(),
        [4]
    );
    let run = play(run, [probed(&["EIGHT"])]);
    let told = last_message(&run);
    assert_eq!(told.matches("answered in round 1").count(), 2, "{told}");
    assert!(told.contains("EIGHT") && !told.contains("SEVEN"), "{told}");
    assert_eq!(run.spent().rounds, 2);
}

#[test]
fn found_inputs_are_kept_once() {
    let Outcome::Climbed(mut record) = rung(RungName::Applies, Some(false)) else {
        panic!("a rung");
    };
    let input = FoundInput {
        blob: Blob::Kept("hash".into()),
        reason: "it crashes".into(),
        pov: "a.bin".into(),
    };
    record.found = vec![input.clone(), input.clone()];
    let run = play(
        begun(),
        [reply(&patch("y")), placed("p"), Outcome::Climbed(record)],
    );
    assert_eq!(run.found(), [input]);
}
