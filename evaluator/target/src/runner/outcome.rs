//! Outcome of one run of a PoV.
//!
//! A crash report alone proves nothing: a program can print one and exit normally. Only an
//! abnormal end together with a report, or a deadly signal, is a crash.

use crate::{Result, TargetError};
use patchwright_crash::CrashReport;
use patchwright_sandbox::{Ending, Execution, Limit};
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

/// Signals of a faulty program: ILL, TRAP, ABRT, BUS, FPE, SEGV, SYS.
const DEADLY: [i32; 7] = [4, 5, 6, 7, 8, 11, 31];

/// The exit status of `timeout` when it ends a program, and of libFuzzer at its own limits
/// of time and memory.
const TIMED_OUT: i32 = 124;
const OUT_OF_MEMORY: i32 = 71;

/// Messages of a program that could not start.
const NEVER_BEGAN: &[&str] = &[
    "error while loading shared libraries",
    "Could not find or load main class",
    "Unable to access jarfile",
    "UnsupportedClassVersionError",
    "ASan runtime does not come first in initial library list",
    "Could not reserve enough space for object heap",
    "Could not create the Java Virtual Machine",
];

/// Messages of well-known fuzzing drivers when they have read an input.
const BANNERS: &[&str] = &[
    "INFO: Seed: ",
    "INFO: Loaded ",
    "Running: ",
    "INFO: Running with entropic",
    "StandaloneFuzzTargetMain: running",
];

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The program processed the input and exited by itself.
    Silent,
    Crashed,
    /// It did not end in time.
    Hung,
    /// It hit its limit of memory, processes or disk.
    Exhausted(Limit),
    /// Nothing shows that it ran; the reason.
    NotRun(String),
}

impl Outcome {
    /// Tells whether a PoV has this outcome on a vulnerable program.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Crashed | Self::Hung | Self::Exhausted(_))
    }
}

/// Compiles a PoV's own proof of having run.
pub(crate) fn proof(expression: Option<&str>) -> Result<Option<Regex>> {
    let compiled = expression.map(|text| {
        RegexBuilder::new(text)
            .multi_line(true)
            .size_limit(1 << 20)
            .build()
    });
    let compiled = compiled.transpose();
    compiled.map_err(|e| TargetError::invalid(format!("[[pov]] ran: {e}")))
}

pub(crate) fn judge(
    execution: &Execution,
    proof: Option<&Regex>,
) -> (Outcome, Option<CrashReport>) {
    let text = execution.text();
    let report = match execution.ending {
        Ending::Exited(0) => None,
        _ => patchwright_crash::parse(&text),
    };
    let outcome = match (execution.ending, &report) {
        (Ending::Limit(Limit::WallTime), _) | (Ending::Exited(TIMED_OUT), None) => Outcome::Hung,
        (Ending::Limit(limit), _) => Outcome::Exhausted(limit),
        (_, Some(report)) if report.is_hang() => Outcome::Hung,
        // A memory limit that the harness watches itself.
        (Ending::Exited(OUT_OF_MEMORY), Some(report)) if report.kind == "out-of-memory" => {
            Outcome::Exhausted(Limit::Memory)
        }
        (_, Some(_)) if !never_began(&text) => Outcome::Crashed,
        (Ending::Signal(signal), _) if DEADLY.contains(&signal) => Outcome::Crashed,
        (Ending::Signal(signal), _) => Outcome::NotRun(format!("it was ended by signal {signal}")),
        (Ending::Exited(status), _) => ran(status, &text, proof),
    };
    (outcome, report)
}

fn ran(status: i32, text: &str, proof: Option<&Regex>) -> Outcome {
    if matches!(status, 126 | 127) {
        return Outcome::NotRun(format!("the command did not start (exit status {status})"));
    }
    if status != 0 && never_began(text) {
        return Outcome::NotRun("the program did not start".to_owned());
    }
    match proof {
        Some(proof) if !proof.is_match(text) => {
            Outcome::NotRun(format!("it never printed what shows that it ran: {proof}"))
        }
        _ => Outcome::Silent,
    }
}

fn never_began(text: &str) -> bool {
    NEVER_BEGAN.iter().any(|sign| text.contains(sign))
}

/// Returns a banner that the baseline printed and this run did not, which shows that the
/// fuzz target was not reached.
pub fn missing_banner(baseline: &str, now: &str) -> Option<&'static str> {
    BANNERS
        .iter()
        .find(|banner| baseline.contains(**banner) && !now.contains(**banner))
        .copied()
}

#[cfg(test)]
mod tests {
    use super::{Outcome, judge, missing_banner, proof};
    use patchwright_sandbox::{Ending, Execution, Limit};

    const REPORT: &str = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000011 at pc 0x1 bp 0x2 sp 0x3\nREAD of size 1 at 0x602000000011 thread T0\n    #0 0x401 in parse /src/a.c:3:5\nSUMMARY: AddressSanitizer: heap-buffer-overflow /src/a.c:3:5 in parse\n";

    const TIMEOUT: &str = "==7== ERROR: libFuzzer: timeout after 25 seconds\n    #0 0x401 in parse /src/a.c:3:5\nSUMMARY: libFuzzer: timeout\n";
    const FUZZER_MEMORY: &str = "==7== ERROR: libFuzzer: out-of-memory (used: 2054Mb; limit: 2048Mb)\n   To change the out-of-memory limit use -rss_limit_mb=<N>\nSUMMARY: libFuzzer: out-of-memory\n";

    fn execution(ending: Ending, text: &str) -> Execution {
        Execution::reported(ending, text.as_bytes(), 0.1, text.len())
    }

    #[test]
    fn a_crash_needs_an_end_and_a_report() {
        for (ending, text, expected) in [
            (Ending::Exited(1), REPORT, Outcome::Crashed),
            (Ending::Signal(6), REPORT, Outcome::Crashed),
            (Ending::Signal(11), "", Outcome::Crashed),
            (Ending::Exited(0), REPORT, Outcome::Silent),
            (Ending::Exited(1), "bad magic", Outcome::Silent),
            (Ending::Exited(0), "", Outcome::Silent),
            (Ending::Limit(Limit::WallTime), "", Outcome::Hung),
            (Ending::Exited(124), "3 records read", Outcome::Hung),
            (Ending::Exited(124), REPORT, Outcome::Crashed),
            (Ending::Exited(70), TIMEOUT, Outcome::Hung),
            (
                Ending::Exited(71),
                FUZZER_MEMORY,
                Outcome::Exhausted(Limit::Memory),
            ),
            (
                Ending::Limit(Limit::Memory),
                "",
                Outcome::Exhausted(Limit::Memory),
            ),
        ] {
            let (outcome, _) = judge(&execution(ending, text), None);
            assert_eq!(outcome, expected, "{ending} {text}");
        }
    }

    #[test]
    fn what_did_not_run_is_not_silent() {
        let ran = proof(Some("^started$")).unwrap();
        for (ending, text, runs) in [
            (Ending::Exited(127), "harness: not found", false),
            (Ending::Signal(9), "started", false),
            (
                Ending::Exited(1),
                "error while loading shared libraries: x.so\nstarted\n",
                false,
            ),
            (Ending::Exited(0), "not started", false),
            (Ending::Exited(0), "a\nstarted\nb", true),
        ] {
            let (outcome, _) = judge(&execution(ending, text), ran.as_ref());
            assert_eq!(
                outcome == Outcome::Silent,
                runs,
                "{ending} {text}: {outcome:?}"
            );
        }
        assert_eq!(missing_banner("x\nRunning: a\n", "bye"), Some("Running: "));
        assert_eq!(missing_banner("x", "bye"), None);
    }
}
