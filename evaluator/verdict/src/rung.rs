//! Rungs *applies* to *tested*, the check on a clean build, the feedback of all rungs, and the two
//! programs that they compare.

pub(crate) mod confirm;
pub(crate) mod feedback;
pub(crate) mod leak;
pub(crate) mod patch;
pub(crate) mod silent;
pub(crate) mod tested;

use crate::attempt::{AttemptFacts, Ground};
use patchwright_crash::signature::Change;
use patchwright_crash::{CrashReport, Tool};
use patchwright_target::runner::{
    Baseline, BaselinePov, Build, Capture, InputFile, InputRun, Inputs, Pov, Replay, Target,
    TargetTask,
};
use patchwright_target::{Result, TargetError};

/// Signs of reports that suppressions choose by the names of functions, or that do not end the program.
const BY_NAME: [&str; 3] = ["LeakSanitizer", "ThreadSanitizer", "runtime error:"];

/// A way in which inputs are run: like a PoV, on its unpatched build.
pub(crate) type Way<'a> = (&'a Pov, &'a BaselinePov, &'a Build);

/// Returns the way of each PoV.
pub(crate) fn ways<'a>(target: &'a dyn Target, baseline: &'a Baseline) -> Result<Vec<Way<'a>>> {
    let task = target.task();
    let povs = task.povs.iter().zip(&baseline.povs);
    let ways = povs.map(|(pov, before)| {
        let name = task.build_of(pov);
        let old = baseline.builds.get(&name);
        let missing = || TargetError::machinery("the unpatched build is missing", name);
        Ok((pov, before, old.ok_or_else(missing)?))
    });
    ways.collect()
}

/// Returns the way in which inputs are run where there is one for all: that of the first PoV that
/// reproduces.
pub(crate) fn first_way<'a>(
    target: &'a dyn Target,
    baseline: &'a Baseline,
) -> Result<Option<Way<'a>>> {
    let mut ways = ways(target, baseline)?.into_iter();
    Ok(ways.find(|(_, before, _)| before.reproduces()))
}

/// Both programs, and how inputs are run on them.
pub(crate) struct Programs<'a> {
    pub(crate) target: &'a dyn Target,
    pub(crate) attempt: &'a AttemptFacts,
    pub(crate) pov: &'a Pov,
    /// The PoV on the unpatched program.
    pub(crate) before: &'a BaselinePov,
    /// The unpatched build and the patched one.
    pub(crate) old: &'a Build,
    pub(crate) new: Build,
}

impl<'a> Programs<'a> {
    /// Builds the patched program.
    pub(crate) async fn build(
        (target, _, attempt): Ground<'a>,
        (pov, before, old): Way<'a>,
    ) -> Result<Self> {
        let new = patch::build(target, attempt, &target.task().build_of(pov)).await?;
        Ok(Self {
            target,
            attempt,
            pov,
            before,
            old,
            new,
        })
    }

    pub(crate) fn task(&self) -> &'a TargetTask {
        self.target.task()
    }

    /// Returns the crash of the PoV on the unpatched program.
    pub(crate) fn crash(&self) -> Option<&'a CrashReport> {
        self.before.replay.crash.as_ref()
    }

    /// Tells whether a crash is the PoV's own.
    pub(crate) fn is_the_povs(&self, crash: &CrashReport) -> bool {
        let is_same = |known| self.task().change(known, crash) == Change::Same;
        self.crash().is_some_and(is_same)
    }

    /// Runs inputs on one of the builds.
    pub(crate) async fn run(&self, build: &Build, inputs: &Inputs) -> Result<Vec<InputRun>> {
        self.target.run_inputs(build, self.pov, inputs).await
    }

    /// Runs inputs on the unpatched program, without naming the functions of its crashes: nobody reads
    /// them, and they take most of the time. What a project may suppress by their names, or what
    /// is a part of an answer, is looked at once more with them.
    pub(crate) async fn run_old(&self, inputs: &Inputs) -> Result<Vec<InputRun>> {
        let crash = self.crash();
        let is_plain = crash.is_none_or(|crash| crash.tool != Tool::AddressSanitizer);
        if is_plain || inputs.capture != Capture::Outputs {
            return self.run(self.old, inputs).await;
        }
        let unnamed = Inputs {
            capture: Capture::Unnamed,
            ..inputs.clone()
        };
        let runs = self.run(self.old, &unnamed).await?;
        let (named, mut runs): (Vec<InputRun>, _) = runs.into_iter().partition(needs_names);
        if !named.is_empty() {
            let again = Inputs {
                only: named.iter().map(|run| run.index).collect(),
                ..inputs.clone()
            };
            runs.extend(self.run(self.old, &again).await?);
        }
        Ok(runs)
    }

    /// Runs one input alone on one of the builds.
    pub(crate) async fn replay(&self, build: &Build, input: &[u8]) -> Result<Replay> {
        replay_input(self.target, build, self.pov, input).await
    }
}

/// Tells whether an output holds a report that may read otherwise, or be none, with names.
fn needs_names(run: &InputRun) -> bool {
    let text = String::from_utf8_lossy(&run.output);
    BY_NAME.iter().any(|sign| text.contains(sign))
}

/// Runs an input the way a PoV is run.
pub(crate) async fn replay_input(
    target: &dyn Target,
    build: &Build,
    pov: &Pov,
    input: &[u8],
) -> Result<Replay> {
    let input = InputFile::like(pov, input)?;
    target.replay(build, input.pov()).await
}

#[cfg(test)]
mod tests {
    use super::needs_names;
    use patchwright_sandbox::Ending;
    use patchwright_target::runner::InputRun;

    #[test]
    fn what_a_name_may_suppress_is_looked_at_with_names() {
        for (output, expected) in [
            (
                "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60",
                false,
            ),
            ("a record of 7 bytes", false),
            ("==7==ERROR: LeakSanitizer: detected memory leaks", true),
            ("WARNING: ThreadSanitizer: data race (pid=7)", true),
            ("a.c:4:52: runtime error: signed integer overflow", true),
        ] {
            let run = InputRun {
                index: 0,
                ending: Ending::Exited(0),
                output: output.into(),
            };
            assert_eq!(needs_names(&run), expected, "{output}");
        }
    }
}
