//! Reproduction: measures how reliably PoVs crash the unpatched program, on any target.
//!
//! It runs and counts; the rungs decide what a flaky crash means for a patched program.

use super::{BaselinePov, Build, Outcome, Pov, Target};
use crate::{Result, TargetError};

/// Runs of a PoV that does not crash at once.
const TRIES: u32 = 5;
/// Runs of a crashing PoV that show whether it always crashes.
const CONFIRMATIONS: u32 = 2;
/// The accepted probability that a flaky crash stays away by chance.
const LUCK: f64 = 0.01;
/// The most repetitions of a flaky PoV.
const MOST_REPEATS: u32 = 20;

/// Runs a PoV on the unpatched program until it is known how reliably it crashes.
pub async fn measure(target: &dyn Target, build: &Build, pov: &Pov) -> Result<BaselinePov> {
    let mut best = target.replay(build, pov).await?;
    let (mut runs, mut crashes) = (1, u32::from(best.outcome.is_failure()));
    loop {
        let enough = if crashes == runs {
            // A hang costs its whole time limit, so it is run once.
            crashes >= CONFIRMATIONS || best.outcome == Outcome::Hung
        } else {
            runs >= TRIES
        };
        if enough {
            break;
        }
        let replay = target.replay(build, pov).await?;
        runs += 1;
        crashes += u32::from(replay.outcome.is_failure());
        if !best.outcome.is_failure() {
            best = replay;
        }
    }
    if best.outcome == Outcome::Hung && best.crash.is_none() {
        best.crash = target.stack_of_hang(build, pov).await?;
    }
    Ok(BaselinePov {
        name: pov.name(),
        runs,
        crashes,
        replay: best,
        repeat: pov.repeat.unwrap_or_else(|| repeats(runs, crashes)).max(1),
    })
}

/// Returns the runs that a patched program must survive, so that chance explains it with
/// probability [`LUCK`] at most.
fn repeats(runs: u32, crashes: u32) -> u32 {
    if crashes == 0 || crashes == runs {
        return 1;
    }
    let survives = 1.0 - f64::from(crashes) / f64::from(runs);
    let needed = (LUCK.ln() / survives.ln()).ceil();
    (needed as u32).clamp(1, MOST_REPEATS)
}

/// Refuses PoVs of which none crashes the unpatched program.
pub fn reproducible(povs: &[BaselinePov]) -> Result<()> {
    let reproduced = povs.iter().any(BaselinePov::reproduces);
    let Some(last) = povs.last().filter(|_| !reproduced) else {
        return Ok(());
    };
    let reasons: Vec<String> = povs
        .iter()
        .map(|pov| {
            let what = match &pov.replay.outcome {
                Outcome::NotRun(reason) => reason.clone(),
                _ => pov.replay.execution.ending.to_string(),
            };
            format!("{}: {what}", pov.name)
        })
        .collect();
    Err(TargetError::NotReproducible {
        reason: reasons.join("; "),
        log: last.replay.execution.text(),
    })
}

#[cfg(test)]
mod tests {
    use super::repeats;

    #[test]
    fn flaky_crashes_are_repeated_more() {
        for (runs, crashes, expected) in [(2, 2, 1), (1, 1, 1), (5, 4, 3), (5, 1, 20), (5, 3, 6)] {
            assert_eq!(repeats(runs, crashes), expected, "{crashes} of {runs}");
        }
    }
}
