//! No model can answer before a time.

use super::{QUERIES, begun, kind, last_message, plan, play, reply};
use crate::plan::Plan;
use crate::record::{ContextText, EndingKind, Outcome, Postponed, Step};
use crate::repair::Run;
use patchwright_model::Usage;

fn postponed(until: &str) -> Outcome {
    Outcome::Postponed(Postponed {
        until: until.into(),
        reason: "429 too many calls".into(),
        usage: Usage {
            tokens_in: 7,
            ..Usage::default()
        },
        usd: 0.25,
        seconds: 1.0,
    })
}

#[test]
fn a_lane_waits_and_asks_the_same_again() {
    let run = begun();
    let question = last_message(&run);
    let run = play(run, [postponed("2030-01-01T00:00:00Z")]);
    assert_eq!(
        run.paused(),
        Some(("2030-01-01T00:00:00Z", "429 too many calls"))
    );
    assert!(
        matches!(run.ready().as_slice(), [(_, Step::Wait { until, .. })] if until.starts_with("2030"))
    );
    assert_eq!((run.spent().cost.calls, run.spent().cost.tokens_in), (0, 7));
    let run = play(run, [Outcome::Waited]);
    assert_eq!(run.paused(), None);
    assert_eq!(last_message(&run), question);
    assert_eq!(run.spent().format_retries, 0);
    let run = play(run, [reply(QUERIES)]);
    assert!(matches!(
        run.ready().as_slice(),
        [(_, Step::Retrieve { .. })]
    ));
}

#[test]
fn a_run_is_paused_only_when_every_lane_waits() {
    let mut run = play(Run::new(Plan { lanes: 2, ..plan() }), [super::baseline()]);
    for lane in [1, 2] {
        let context = Outcome::Context(ContextText::default());
        for outcome in [context, postponed(&format!("203{lane}-01-01T00:00:00Z"))] {
            let id = run
                .ready()
                .into_iter()
                .find(|(id, _)| id.lane == lane)
                .unwrap()
                .0;
            assert_eq!(run.paused(), None);
            run = run.feed(id, outcome);
        }
    }
    assert_eq!(run.paused().unwrap().0, "2031-01-01T00:00:00Z");
    let stopped = run.stopped(crate::record::Ending::new(EndingKind::Canceled, "enough"));
    assert_eq!(
        (kind(&stopped), stopped.paused()),
        (EndingKind::Canceled, None)
    );
}
