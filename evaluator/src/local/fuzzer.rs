//! Programs that take more than one input: several on their command line, or,
//! where they are libFuzzer's, a folder to begin from.
//!
//! A command is changed by putting something else in the place of its input,
//! and only where the input is a word of its own.

use super::{Job, LocalTarget};
use crate::TargetError;
use crate::contained_path::ContainedFolder;
use crate::runner::{Build, Fuzzed, Pov};
use regex::Regex;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

/// The input as commands spell it.
const SPELLINGS: [&str; 4] = ["\"$POV\"", "\"${POV}\"", "${POV}", "$POV"];
/// Time that a fuzzer is given beyond the one it knows of, to come to an end.
const GRACE: Duration = Duration::from_secs(10);
/// The largest input that is taken from a fuzzer.
const LARGEST: u64 = 1 << 20;

/// The command for all inputs of a batch at once; nothing where it names none.
pub(super) fn command_for_many(command: &str) -> Option<String> {
    with(command, "\"$WORK\"/in/*")
}

fn with(command: &str, inputs: &str) -> Option<String> {
    let spelling = SPELLINGS.iter().find(|s| command.contains(**s))?;
    Some(command.replace(spelling, inputs))
}

/// Lets the project's own fuzzer look for a crash; nothing where it is none.
pub(super) async fn fuzz(
    target: &LocalTarget,
    build: &Build,
    pov: &Pov,
    (seeds, time): (&[Vec<u8>], Duration),
) -> Result<Option<Fuzzed>, TargetError> {
    if !takes_options(target, build, pov, time).await? {
        return Ok(None);
    }
    let options = format!(
        "-seed=1 -max_total_time={} -rss_limit_mb=0 -print_final_stats=1 -artifact_prefix=\"$WORK\"/out/ \"$WORK\"/in",
        time.as_secs().max(1)
    );
    let Some(script) = with(target.pov_command(pov)?, &options) else {
        return Ok(None);
    };
    let folder = target.batch_folder()?;
    write(folder.path(), seeds)
        .map_err(|e| TargetError::io("a corpus could not be written", folder.path(), e))?;
    let job = Job {
        wall: time + GRACE,
        work: Some(folder.path()),
        harness: pov.harness.as_deref(),
        ..Job::new(&script, build.place()?, &build.name)
    };
    let text = target.command(job).await?.text();
    Ok(executions(&text).map(|executions| Fuzzed {
        executions,
        found: found(folder.path()),
    }))
}

/// Whether the command hands a fuzzer all that stands in its input's place.
/// One that takes the first word alone and leaves the rest would fuzz without
/// end, and without telling what it found.
async fn takes_options(
    target: &LocalTarget,
    build: &Build,
    pov: &Pov,
    time: Duration,
) -> Result<bool, TargetError> {
    let Some(script) = with(target.pov_command(pov)?, "-runs=0 -help=1") else {
        return Ok(false);
    };
    let job = Job {
        wall: time + GRACE,
        harness: pov.harness.as_deref(),
        ..Job::new(&script, build.place()?, &build.name)
    };
    // The usage names every option.
    Ok(target.command(job).await?.text().contains("max_total_time"))
}

fn write(folder: &Path, seeds: &[Vec<u8>]) -> std::io::Result<()> {
    for part in ["in", "out"] {
        fs::create_dir(folder.join(part))?;
    }
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(folder.join(format!("in/{number:04}")), seed)?;
    }
    Ok(())
}

/// What a fuzzer says of itself at its end.
fn executions(text: &str) -> Option<u64> {
    static UNITS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?m)^stat::number_of_executed_units:\s*(\d+)").ok());
    let found = UNITS.as_ref()?.captures(text)?;
    found.get(1)?.as_str().parse().ok()
}

/// The inputs that it left because they crash or hang.
fn found(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(below) = ContainedFolder::open(folder) else {
        return Vec::new();
    };
    let entries = fs::read_dir(folder.join("out")).into_iter().flatten();
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| {
            ["crash-", "timeout-", "oom-"]
                .iter()
                .any(|kind| name.starts_with(kind))
        })
        .collect();
    names.sort();
    names
        .iter()
        .filter_map(|name| below.read(&format!("out/{name}"), LARGEST).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{command_for_many, executions};

    #[test]
    fn many_inputs_take_the_place_of_one() {
        for (given, expected) in [
            ("\"$OUT\"/x \"$POV\"", Some("\"$OUT\"/x \"$WORK\"/in/*")),
            ("$OUT/x -a ${POV}", Some("$OUT/x -a \"$WORK\"/in/*")),
            ("$OUT/x", None),
        ] {
            assert_eq!(command_for_many(given).as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn only_a_fuzzer_counts_its_executions() {
        let text = "INFO: Seed: 1\n#2 INITED\nstat::number_of_executed_units: 4711\n";
        assert_eq!(executions(text), Some(4711));
        assert_eq!(executions("harness: 3 bytes\n"), None);
    }
}
