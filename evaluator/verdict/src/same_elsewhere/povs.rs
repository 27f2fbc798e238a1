//! PoVs themselves: what the patched program says on them, beside the unpatched program
//! when it goes past the fault.
//!
//! A patch that copies on, cuts off in silence or calls a good input an error is silent
//! and passes every test. So the unpatched program is built once more with sanitizer
//! checks that let it go on, where it can, and its answers are compared. What it says past
//! the fault is what it meant to say only as far as the fault leaves it alone: an answer
//! that depends on memory which is not the program's tells nothing, and neither does a
//! number that overflowed; whether the input is accepted at all still does. Nothing here
//! refutes a patch.

use super::Comparison;
use super::clock::Part;
use super::doubts::{Differing, PATTERNS, shown};
use super::pool::{ComparedInput, InputKind};
use crate::given_inputs;
use patchwright_crash::feedback;
use patchwright_crash::{CrashReport, Operation, Tool};
use patchwright_source::{Changes, Language};
use patchwright_target::TargetError;
use patchwright_target::runner::{
    Build, Capture, InputRun, Inputs, Instrumentation, MemoryPattern,
};
use std::collections::BTreeMap;
use std::time::Instant;

/// PoVs and mutants that crash the unpatched program, of which the answers are compared.
const MOST_INPUTS: usize = 8;
/// Other contents of memory in which the answers past the fault have to be the same.
const OTHER_MEMORY: usize = 2;
/// Words by which programs report a fault of their own, or of the machine, and none of the
/// input.
const OWN_FAULT: [&str; 6] = [
    "internal error",
    "assertion",
    "out of memory",
    "memory allocation failed",
    "should not happen",
    "should never happen",
];

/// Characters of such a report that are compared and shown.
const LONGEST_FAULT: usize = 100;

/// Worth of an answer past the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// The whole answer, unless it depends on what lies in memory: freed memory keeps its
    /// content in the sanitizer's quarantine.
    Answer,
    /// The same, where the patched program accepts the input: one that makes a program read
    /// behind an object may claim more than it has, and then a repair refuses it.
    AnswerIfAccepted,
    /// Acceptance of the input, and not its output.
    Acceptance,
    /// Nothing: memory was damaged before it was given.
    Nothing,
}

impl Comparison<'_> {
    /// Compares the answers to the PoVs and to mutants that crash the unpatched program.
    pub(super) async fn povs(&mut self) -> Result<(), TargetError> {
        let inputs = self.crashing_inputs()?;
        let (_, new) = self.builds;
        let patched = self.run(new, &inputs, Capture::Outputs, self.clock.again());
        let patched = patched.await?;
        for (index, input) in inputs.iter().enumerate() {
            if let Some(run) = patched.get(&index) {
                self.own_fault(input, run);
                self.keep_answer(&input.name, &input.bytes, run);
            }
        }
        let Some(build) = self.recovering_build().await? else {
            return Ok(());
        };
        let usual = self.past_the_fault(&build, &inputs, None).await?;
        let mut steady = usual.clone();
        for memory in PATTERNS.into_iter().take(OTHER_MEMORY) {
            let other = self.past_the_fault(&build, &inputs, Some(memory)).await?;
            steady.retain(|index, run| other.get(index) == Some(&*run));
        }
        for (index, input) in inputs.into_iter().enumerate() {
            let (Some(before), Some(after)) = (usual.get(&index), patched.get(&index)) else {
                continue;
            };
            if before.is_failure() || after.is_failure() {
                self.count("PoVs that stop the unpatched program for good", 1);
            } else if before == after {
                self.count("PoVs answered as past the fault", 1);
            } else {
                self.differs_past_the_fault(input, (before, after), steady.contains_key(&index));
            }
        }
        Ok(())
    }

    /// Returns the PoVs and some mutants on which the unpatched program crashes.
    fn crashing_inputs(&self) -> Result<Vec<ComparedInput>, TargetError> {
        let povs = given_inputs::povs(self.target.task())?.into_iter();
        let povs = povs.map(|bytes| ComparedInput {
            kind: InputKind::Derived,
            name: "the PoV".to_owned(),
            bytes,
            parent: None,
            fresh: false,
        });
        Ok(povs
            .chain(self.crashing.iter().cloned())
            .take(MOST_INPUTS)
            .collect())
    }

    /// Keeps what the patched program says on an input, for somebody who knows what a right
    /// program says there. Answers that end in the same way and are alike but for
    /// numbers are kept once.
    pub(super) fn keep_answer(&mut self, name: &str, bytes: &[u8], after: &InputRun) {
        let said = shown(after);
        let plain = without_digits(&said);
        let ending = said.lines().next().unwrap_or_default();
        let mut kept = self.answers.iter();
        let known =
            kept.any(|answer| answer.contains(ending) && without_digits(answer).contains(&plain));
        if self.answers.len() < MOST_INPUTS && !known {
            let bytes = feedback::input(bytes);
            self.answers
                .push(format!("{name}: {said}\nThe input: {bytes}"));
        }
    }

    async fn recovering_build(&mut self) -> Result<Option<Build>, TargetError> {
        let task = self.target.task();
        if task.language == Language::Java || self.clock.left(Part::Differences).is_zero() {
            return Ok(None);
        }
        let Some(crash) = &self.before.replay.crash else {
            return Ok(None);
        };
        if meaning(crash) == Meaning::Nothing {
            return Ok(None);
        }
        let started = Instant::now();
        let added = Instrumentation::Recovery(task.files_of(crash));
        let name = task.build_of(self.pov);
        let nothing = Changes::default();
        let build = self.target.instrumented_build(&nothing, &name, &added);
        let build = build.await?;
        self.clock.leave_out(started.elapsed());
        Ok(build)
    }

    /// Runs inputs on a build that goes on after a fault.
    async fn past_the_fault(
        &self,
        build: &Build,
        inputs: &[ComparedInput],
        memory: Option<MemoryPattern>,
    ) -> Result<BTreeMap<usize, InputRun>, TargetError> {
        let how = Inputs {
            memory,
            recovers: true,
            ..Inputs::default()
        };
        self.run_as(build, inputs, how).await
    }

    /// Keeps a doubt where the patched program reports a fault of its own that the unpatched one
    /// reports on no compared input.
    fn own_fault(&mut self, input: &ComparedInput, after: &InputRun) {
        let said = String::from_utf8_lossy(&after.output);
        let usual = &self.own_faults_said;
        let Some(fault) = own_faults(&said).find(|fault| !usual.contains(fault)) else {
            return;
        };
        let what = format!("the patched program reports a fault of its own: {fault:?}");
        self.count("PoVs that became a fault of the program", 1);
        let one = Differing {
            what,
            input: input.clone(),
            before: self.crash_of_the_pov(),
            after: after.clone(),
        };
        let doubt = self.doubt(&one, None, None);
        self.doubts.push(doubt);
    }

    fn crash_of_the_pov(&self) -> InputRun {
        let crash = self.before.replay.crash.as_ref();
        InputRun {
            index: 0,
            ending: self.before.replay.execution.ending,
            output: crash.map_or_else(Vec::new, |crash| crash.summary.clone().into_bytes()),
        }
    }

    fn differs_past_the_fault(
        &mut self,
        input: ComparedInput,
        (before, after): (&InputRun, &InputRun),
        steady: bool,
    ) {
        let crash = self.before.replay.crash.as_ref();
        let refused = !after.ending.success();
        let settled = match crash.map_or(Meaning::Nothing, meaning) {
            Meaning::Answer if steady => None,
            Meaning::AnswerIfAccepted if steady && !refused => None,
            Meaning::Acceptance if before.ending.success() && refused => None,
            Meaning::AnswerIfAccepted if refused => {
                Some("a repair may refuse an input that makes the program read behind an object")
            }
            Meaning::Answer | Meaning::AnswerIfAccepted => {
                Some("what the unpatched program says there depends on memory that is not its own")
            }
            Meaning::Acceptance | Meaning::Nothing => {
                Some("what the unpatched program says there comes from the fault")
            }
        };
        let what = if before.ending == after.ending {
            "the answer differs from that of the unpatched program past the fault".to_owned()
        } else {
            format!("{} past the fault became {}", before.ending, after.ending)
        };
        self.count("PoVs answered in another way", 1);
        let one = Differing {
            what,
            input,
            before: before.clone(),
            after: after.clone(),
        };
        let doubt = self.doubt(&one, settled.map(str::to_owned), None);
        self.doubts.push(doubt);
    }
}

fn without_digits(text: &str) -> String {
    text.chars().filter(|one| !one.is_ascii_digit()).collect()
}

/// Returns what an output says of faults of the program, each from the word on, without digits: a
/// program may have many faults, and to have reported one is no reason to report another.
pub(super) fn own_faults(said: &str) -> impl Iterator<Item = String> {
    said.lines().filter_map(|line| {
        let line = without_digits(line).to_lowercase();
        let mut starts = OWN_FAULT.into_iter().filter_map(|word| line.find(word));
        let fault = line.get(starts.next()?..)?.trim_end();
        Some(fault.chars().take(LONGEST_FAULT).collect())
    })
}

/// Tells whether a crash is a read outside of an object. An input that brings it may claim
/// more than it has; where other bytes of its own lie behind, the same claim goes unseen.
pub(super) fn reads_outside(crash: &CrashReport) -> bool {
    reads(crash) && crash.kind.contains("overflow")
}

fn reads(crash: &CrashReport) -> bool {
    let access = crash.access.as_ref();
    let operation = access.and_then(|access| access.operation);
    crash.tool == Tool::AddressSanitizer && operation == Some(Operation::Read)
}

/// Tells what an answer past this crash is worth. A read leaves memory as it is. An overflow
/// is a wrong number and nothing else. A write damages what comes after.
fn meaning(crash: &CrashReport) -> Meaning {
    match crash.tool {
        Tool::UndefinedBehaviorSanitizer => Meaning::Acceptance,
        _ if reads(crash) && crash.kind.contains("use-after") => Meaning::Answer,
        _ if reads(crash) => Meaning::AnswerIfAccepted,
        _ => Meaning::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::own_faults;

    #[test]
    fn one_fault_of_a_program_is_told_from_another() {
        let said = "a.xml:1: parser error : internal error: parse_start: no name\nall well\n\
                    Assertion `n < 40' failed.\n";
        let faults: Vec<String> = own_faults(said).collect();
        assert_eq!(
            faults,
            [
                "internal error: parse_start: no name",
                "assertion `n < ' failed."
            ]
        );
        let elsewhere = "b.xml:77: Internal error: parse_start: no name";
        assert_eq!(own_faults(elsewhere).next(), Some(faults[0].clone()));
        let other = "a.xml:1: internal error: base has no type";
        assert_ne!(own_faults(other).next(), Some(faults[0].clone()));
    }
}
