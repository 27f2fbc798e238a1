//! Decisions about differences of behaviour, each bound to an input and the new answer. What was
//! decided once is never asked again: it settles the same difference wherever it is met.

use super::Run;
use crate::record::{AcceptedInput, Doubt, DoubtedInput, Rung};
use patchwright_verdict::{OPEN_FOR_DIFFERENCES, RungName};

impl Run {
    /// Returns the decisions so far.
    pub fn decisions(&self) -> &[AcceptedInput] {
        &self.decisions
    }

    /// Decides that an attempt answers inputs rightly, and with it every attempt that answers them
    /// so. False where the rung that compares has to be climbed again to see whether it holds: it
    /// ended at the first difference, or an older version wrote it down.
    pub(super) fn accept(&mut self, number: u32, inputs: &[DoubtedInput], reason: &str) -> bool {
        let made = inputs.iter().map(|input| AcceptedInput::new(input, reason));
        self.decisions.extend(made);
        let compared = self.compared(number);
        let knows = compared.is_none_or(|rung| match rung.holds {
            None => rung.counts.contains_key(OPEN_FOR_DIFFERENCES),
            Some(holds) => holds,
        });
        for rung in self.attempts.iter_mut().flat_map(|one| &mut one.rungs) {
            settle(&self.decisions, rung);
        }
        knows || inputs.is_empty()
    }

    /// Settles the differences of a rung that were decided before.
    pub(super) fn settle_decided(&self, rung: &mut Rung) {
        settle(&self.decisions, rung);
    }

    /// Returns the rung of an attempt that compares behaviour.
    pub(super) fn compared(&mut self, number: u32) -> Option<&mut Rung> {
        let mut rungs = self.attempt_mut(number)?.rungs.iter_mut();
        rungs.find(|rung| rung.name == RungName::SameElsewhere)
    }
}

/// Settles the differences of a rung that are decided. A rung that nothing else kept open holds
/// then; one that refutes stays as it is.
fn settle(decisions: &[AcceptedInput], rung: &mut Rung) {
    if rung.holds == Some(false) {
        return;
    }
    let mut settled = false;
    for doubt in rung.doubts.iter_mut().filter(|doubt| doubt.is_open()) {
        let Some(input) = &doubt.input else { continue };
        if let Some(decision) = decisions.iter().find(|one| one.decides(input)) {
            doubt.settled = Some(decision.reason.clone());
            settled = true;
        }
    }
    let open = rung.doubts.iter().any(Doubt::is_open);
    let alone = rung.counts.get(OPEN_FOR_DIFFERENCES) == Some(&1);
    if settled && !open && alone && rung.holds.is_none() {
        rung.holds = Some(true);
        rung.reason = format!("every difference is decided; before: {}", rung.reason);
    }
}
