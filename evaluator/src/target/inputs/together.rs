//! Many inputs in one process.
//!
//! A process that ends well says of all its inputs that they are fine. One that
//! does not is halved until few are left that may be to blame, and those are
//! for others to run one by one.

use super::{Call, Wanted, many};
use crate::target::{Outcome, judge};
use crate::{Ending, TargetError};
use std::time::{Duration, Instant};

/// One process for a whole folder of inputs.
const WHOLE: &str = r#"POV="$WORK/in"; export POV; eval "$1""#;
/// Inputs among which a failing one is found sooner by running each.
const FEW: usize = 4;
/// Time for finding what makes a process fail, beyond the time of all inputs.
/// It is enough for a dozen starts of a JVM.
const PURSUIT: Duration = Duration::from_secs(15);

/// What is known of a batch.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub(super) fine: Vec<usize>,
    /// Those of processes that failed; what is in neither list was not run.
    pub(super) suspects: Vec<usize>,
}

impl Sorted {
    /// Time that the suspects are worth, however little is left.
    pub(super) fn patience(&self) -> Duration {
        if self.suspects.is_empty() {
            Duration::ZERO
        } else {
            PURSUIT
        }
    }
}

/// How a process ended that was given many inputs.
enum Ended {
    Well,
    Badly,
    Late,
}

impl Call<'_> {
    /// Whether inputs may go into one process.
    pub(super) fn goes_together(&self) -> bool {
        (self.pov.batch || self.inputs.many) && self.inputs.wanted == Wanted::Failures
    }

    /// Runs a batch in as few processes as tell the fine inputs from the others.
    pub(super) async fn together(&self, batch: &[usize]) -> Result<Sorted, TargetError> {
        let mut sorted = Sorted::default();
        let mut until = self.until;
        let mut open = vec![batch];
        while let Some(part) = open.pop() {
            if part.len() < batch.len() && Instant::now() > until {
                break;
            }
            match self.at_once(part).await? {
                Ended::Well => sorted.fine.extend(part),
                Ended::Badly if part.len() > FEW => {
                    let (first, second) = part.split_at(part.len() / 2);
                    open.extend([second, first]);
                    if part.len() == batch.len() {
                        until = until.max(Instant::now() + PURSUIT);
                    }
                }
                Ended::Badly | Ended::Late => sorted.suspects.extend(part),
            }
        }
        Ok(sorted)
    }

    /// Runs a part of a batch in one process.
    async fn at_once(&self, part: &[usize]) -> Result<Ended, TargetError> {
        let folder = self.write(part)?;
        let left = self.until.saturating_duration_since(Instant::now());
        let limits = (wall(self.inputs.each, part.len(), left), None);
        let many = self.target.pov_command(self.pov).map(many::command)?;
        let many = many.filter(|_| self.inputs.many);
        let script = many.as_deref().unwrap_or(WHOLE);
        let execution = self.execute(script, folder.path(), limits).await?;
        let fine = match &many {
            // It was seen to go on after inputs that it refuses.
            Some(_) => judge(&execution, None).0 == Outcome::Silent,
            None => execution.ending.success(),
        };
        Ok(match execution.ending {
            _ if fine => Ended::Well,
            Ending::Limit(_) => Ended::Late,
            Ending::Exited(_) | Ending::Signal(_) => Ended::Badly,
        })
    }
}

/// How long a batch in one process may take. One input may take ten times the
/// usual, so all together take a tenth of that each; one that hangs must leave
/// time to find it among the others, and a slow start is waited for.
pub(super) fn wall(each: Duration, inputs: usize, left: Duration) -> Duration {
    let inputs = u32::try_from(inputs).unwrap_or(u32::MAX);
    let fair = each + each.saturating_mul(inputs) / 10;
    fair.min(each.saturating_mul(2).max(left / 2))
}
