//! Clock of the rung: the time of each part of the comparison.
//!
//! The parts run one after the other, and each may go on until a share of the whole
//! budget is used, so that time which one of them leaves is for the next. Builds of our
//! own do not count: how long one takes is the project's affair.

use patchwright_target::WorkTime;
use std::time::Duration;

/// Time for running a few inputs again, and the least time for it.
const AGAIN: Duration = Duration::from_secs(30);
const LEAST_AGAIN: Duration = Duration::from_secs(4);

/// The parts of the comparison, each with the share of the budget at which it ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// Outputs and exit statuses.
    Outputs,
    /// The same for Java, where each run starts a JVM and values tell more.
    OutputsOfJvm,
    /// Inputs that run the patched lines.
    Reach,
    /// Values inside the program.
    Values,
    /// Inputs aimed at the patch.
    Aimed,
    /// Experiments on differences.
    Differences,
    /// Whatever is left.
    Last,
}

impl Part {
    fn share(self) -> f64 {
        match self {
            Self::OutputsOfJvm => 0.25,
            Self::Outputs => 0.4,
            Self::Reach => 0.55,
            Self::Values => 0.7,
            Self::Aimed => 0.8,
            Self::Differences => 0.95,
            Self::Last => 1.0,
        }
    }
}

/// Measures the work time of the rung without builds.
#[derive(Debug)]
pub(super) struct Clock {
    started: WorkTime,
    budget: Duration,
    builds: Duration,
}

impl Clock {
    pub(super) fn start(budget: Duration) -> Self {
        Self {
            started: WorkTime::now(),
            budget,
            builds: Duration::ZERO,
        }
    }

    /// Takes the time of a build out of the count.
    pub(super) fn leave_out(&mut self, build: Duration) {
        self.builds += build;
    }

    /// Returns the time that is left for a part.
    pub(super) fn left(&self, part: Part) -> Duration {
        let spent = self.started.elapsed().saturating_sub(self.builds);
        self.budget.mul_f64(part.share()).saturating_sub(spent)
    }

    /// Returns the time for running a few inputs again, which is short once the budget
    /// is used up.
    pub(super) fn again(&self) -> Duration {
        self.left(Part::Last).clamp(LEAST_AGAIN, AGAIN)
    }
}

#[cfg(test)]
mod tests {
    use super::{AGAIN, Clock, LEAST_AGAIN, Part};
    use std::time::Duration;

    #[test]
    fn parts_end_in_order_and_builds_do_not_count() {
        let hour = Duration::from_hours(1);
        let clock = Clock::start(hour);
        let parts = [
            Part::OutputsOfJvm,
            Part::Outputs,
            Part::Reach,
            Part::Values,
            Part::Aimed,
            Part::Differences,
            Part::Last,
        ];
        let left = |clock: &Clock| parts.map(|part| clock.left(part));
        assert!(left(&clock).is_sorted() && left(&clock)[0] > hour / 5);
        assert_eq!(clock.again(), AGAIN);
        let short = Duration::from_millis(1);
        let mut clock = Clock::start(short);
        while clock.started.elapsed() < short {
            std::thread::sleep(short);
        }
        assert_eq!(left(&clock), [Duration::ZERO; 7]);
        assert_eq!(clock.again(), LEAST_AGAIN);
        clock.leave_out(hour);
        assert_eq!(clock.left(Part::Last), short);
    }
}
