//! Fuzzer: runs the project's own libFuzzer harness, and commands for several inputs.
//!
//! With its value profile libFuzzer keeps inputs that come nearer to a value that the program
//! compares with, so it finds both sides of a new check where mutation alone does not.
//!
//! A command is changed by replacing its input, and only where the input is a word of its
//! own.

use super::Job;
use super::stage::PovRun;
use crate::runner::Fuzzed;
use crate::{Result, TargetError};
use patchwright_sandbox::contained_path::ContainedFolder;
use patchwright_source::regex;
use std::path::Path;
use std::time::Duration;

/// Spellings of the input in commands.
const SPELLINGS: [&str; 4] = ["\"$POV\"", "\"${POV}\"", "${POV}", "$POV"];
/// Time for a fuzzer to end after its own time limit.
const GRACE: Duration = Duration::from_secs(10);
/// The largest input that is taken from a fuzzer.
const LARGEST: u64 = 16 << 20;
/// Inputs of a fuzzer's corpus that are taken, spread over all of them, and the largest of these.
const MOST_KEPT: usize = 192;
const LARGEST_KEPT: u64 = 1 << 16;

/// Returns the command for all inputs of a batch; none where it has no input.
pub(super) fn command_for_many(command: &str) -> Option<String> {
    with(command, "\"$NOTES\"/in/*")
}

fn with(command: &str, inputs: &str) -> Option<String> {
    let spelling = SPELLINGS.iter().find(|s| command.contains(**s))?;
    Some(command.replace(spelling, inputs))
}

/// Runs the project's own fuzzer; none where the harness is no fuzzer.
pub(super) async fn fuzz(
    run: PovRun<'_>,
    seeds: &[Vec<u8>],
    time: Duration,
) -> Result<Option<Fuzzed>> {
    if !takes_options(run, time).await? {
        return Ok(None);
    }
    let options = format!(
        "-seed=1 -use_value_profile=1 -max_total_time={} -rss_limit_mb=0 -print_final_stats=1 -artifact_prefix=\"$NOTES\"/out/ \"$NOTES\"/in",
        time.as_secs().max(1)
    );
    let Some(script) = with(run.command()?, &options) else {
        return Ok(None);
    };
    let (folder, stage) = (run.target.batch_folder()?, run.stage().await?);
    for part in ["in", "out"] {
        folder.make(part)?;
    }
    for (number, seed) in seeds.iter().enumerate() {
        folder.put(&format!("in/{number:04}"), seed)?;
    }
    let job = Job {
        wall: time + GRACE,
        notes: Some(folder.path()),
        ..stage.job(&script)
    };
    let text = run.target.command(job).await?.text();
    let fail = |e| TargetError::io("a fuzzer's findings cannot be read", folder.path(), e);
    let found = found(folder.path()).map_err(fail)?;
    let kept = kept(folder.path()).map_err(fail)?;
    Ok(match executions(&text) {
        // A fuzzer that was killed before it printed its count may still have findings.
        None if found.is_empty() => None,
        executions => Some(Fuzzed {
            executions: executions.unwrap_or(found.len() as u64),
            found,
            kept,
        }),
    })
}

/// Tells whether the command passes all words in place of its input to a fuzzer. A command
/// that passes only the first word would fuzz without end and without its findings.
async fn takes_options(run: PovRun<'_>, time: Duration) -> Result<bool> {
    let Some(script) = with(run.command()?, "-runs=0 -help=1") else {
        return Ok(false);
    };
    let stage = run.stage().await?;
    let job = Job {
        wall: time + GRACE,
        ..stage.job(&script)
    };
    // The usage text names every option.
    let told = run.target.command(job).await?.text();
    Ok(told.contains("max_total_time"))
}

/// Returns the number of executions that a fuzzer prints at its end.
fn executions(text: &str) -> Option<u64> {
    let units = regex!(r"(?m)^stat::number_of_executed_units:\s*(\d+)");
    units.captures(text)?.get(1)?.as_str().parse().ok()
}

/// Reads the inputs that a fuzzer saved because they crash or hang.
fn found(folder: &Path) -> std::io::Result<Vec<Vec<u8>>> {
    let out = ContainedFolder::open(&folder.join("out"))?;
    let kinds = ["crash-", "timeout-", "oom-"];
    let findings = out.entries()?.into_iter().filter(|entry| {
        let name = entry.name.to_string_lossy();
        entry.is_file() && kinds.iter().any(|kind| name.starts_with(kind))
    });
    findings
        .map(|entry| out.read(&*entry.name, LARGEST))
        .collect()
}

/// Reads inputs that a fuzzer put beside its seeds, which are named by numbers of four digits.
fn kept(folder: &Path) -> std::io::Result<Vec<Vec<u8>>> {
    let corpus = ContainedFolder::open(&folder.join("in"))?;
    let mut entries = corpus.entries()?;
    entries.retain(|entry| {
        let small = u64::try_from(entry.facts.st_size).is_ok_and(|size| size <= LARGEST_KEPT);
        entry.is_file() && entry.name.len() > 4 && small
    });
    let step = entries.len().div_ceil(MOST_KEPT).max(1);
    let spread = entries.iter().step_by(step);
    spread
        .map(|entry| corpus.read(&*entry.name, LARGEST_KEPT))
        .collect()
}

/// Takes out of what a harness printed what libFuzzer's driver says about itself: its seed, the
/// addresses of its counters and times are others in each run.
pub(super) fn without_driver(output: &[u8]) -> Vec<u8> {
    let beginnings: [&[u8]; 4] = [b"INFO: ", b"Running: ", b"Executed ", b"***"];
    let is_of_harness = |line: &&[u8]| {
        !beginnings.iter().any(|own| line.starts_with(own))
            && !line.trim_ascii_end().ends_with(b" inputs 1 time(s) each.")
    };
    let lines = output.split_inclusive(|byte| *byte == b'\n');
    lines.filter(is_of_harness).collect::<Vec<_>>().concat()
}

#[cfg(test)]
mod tests {
    use super::{command_for_many, executions, found, kept, without_driver};

    #[test]
    fn many_inputs_take_the_place_of_one() {
        for (given, expected) in [
            ("\"$OUT\"/x \"$POV\"", Some("\"$OUT\"/x \"$NOTES\"/in/*")),
            ("$OUT/x -a ${POV}", Some("$OUT/x -a \"$NOTES\"/in/*")),
            ("$OUT/x", None),
        ] {
            assert_eq!(command_for_many(given).as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn findings_that_cannot_be_read_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(found(folder.path()).is_err(), "no folder");
        let out = folder.path().join("out");
        std::fs::create_dir_all(out.join("crash-folder")).unwrap();
        std::fs::write(out.join("crash-1"), "x").unwrap();
        std::fs::write(out.join("other"), "y").unwrap();
        assert_eq!(found(folder.path()).unwrap(), [b"x"]);
        let long = std::fs::File::create(out.join("oom-1")).unwrap();
        long.set_len(super::LARGEST + 1).unwrap();
        assert!(found(folder.path()).is_err(), "too long");
    }

    #[test]
    fn what_a_fuzzer_kept_stands_beside_its_seeds() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("in");
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(inside.join("0000"), "seed").unwrap();
        std::fs::write(inside.join("da39a3ee"), "new").unwrap();
        assert_eq!(kept(folder.path()).unwrap(), [b"new"]);
    }

    #[test]
    fn what_the_driver_says_of_itself_is_no_output() {
        let driver = "INFO: Running with entropic power schedule (0xFF, 100).\nINFO: Seed: 28505\n/o/fuzz: Running 1 inputs 1 time(s) each.\nRunning: /p\nvalue 3\nExecuted /p in 0 ms\n***\n*** NOTE: fuzzing was not performed\n***\n";
        for (output, expected) in [(driver, "value 3\n"), ("read\n", "read\n"), ("", "")] {
            let kept = without_driver(output.as_bytes());
            assert_eq!(String::from_utf8_lossy(&kept), expected);
        }
    }

    #[test]
    fn only_a_fuzzer_counts_its_executions() {
        let text = "INFO: Seed: 1\n#2 INITED\nstat::number_of_executed_units: 4711\n";
        assert_eq!(executions(text), Some(4711));
        assert_eq!(executions("harness: 3 bytes\n"), None);
    }
}
