//! Batches: the time they get, and a program that hangs in one.

use super::super::fuzzer;
use super::{Inputs, plain, wall};
use crate::local::tests::{open, task};
use crate::runner::{BuildKind, Target};
use crate::{Changes, Ending, Limit};
use std::time::Duration;

#[test]
fn a_batch_takes_no_longer_than_its_inputs_and_leaves_time() {
    for (each, inputs, left, expected) in [
        (2_000, 64, 60_000, 14_800),
        (2_000, 64, 10_000, 5_000),
        (10_000, 64, 10_000, 20_000),
        (2_000, 1, 60_000, 2_200),
        (2_000, 64, 0, 4_000),
    ] {
        let [each, left, expected] = [each, left, expected].map(Duration::from_millis);
        assert_eq!(wall(each, inputs, left), expected);
    }
}

/// A program that takes many inputs, says when it starts, and crashes at some.
const STARTS: &str = r#"cat >"$OUT"/many <<'END'
echo start >>"$OUT"/starts
for file; do case $(cat "$file") in crash) echo "$ASAN_OPTIONS"; kill -SEGV $$;; esac; done
END"#;

#[tokio::test]
async fn those_that_crash_among_many_are_found_by_halves() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.commands.build = STARTS.to_owned();
    task.commands.pov = Some(r#"sh "$OUT"/many "$POV""#.to_owned());
    let own = task.builds.get_mut("address").unwrap();
    own.insert("ASAN_OPTIONS".to_owned(), "detect_leaks=0".to_owned());
    let target = open(task, folder.path()).await;
    let unchanged = Changes::default();
    let build = target.build(&unchanged, "address", BuildKind::Clean);
    let build = build.await.unwrap();
    let text = |number| {
        if [5, 40].contains(&number) {
            "crash"
        } else {
            "fine"
        }
    };
    let inputs = Inputs {
        contents: (0..64).map(|number| text(number).into()).collect(),
        budget: Duration::from_secs(30),
        each: Duration::from_secs(5),
        many: true,
        ..Inputs::default()
    };
    let pov = &target.task().povs[0];
    let runs = target.run_inputs(&build, pov, &inputs).await.unwrap();
    let places: Vec<_> = runs.iter().map(|run| run.index).collect();
    assert_eq!(places, (0..64).collect::<Vec<_>>());
    let bad = runs.iter().filter(|run| !run.ending.success());
    let bad: Vec<_> = bad
        .map(|run| (run.index, run.ending, first_line(&run.output)))
        .collect();
    // Reports without names, whatever else the task wants of a sanitizer.
    let told = "detect_leaks=0:symbolize=0".to_owned();
    let crash = |index| (index, Ending::Signal(11), told.clone());
    assert_eq!(bad, [crash(5), crash(40)]);
    let starts = build.place().unwrap().part("out").join("starts");
    // One for all, two for each half that holds a crash, then eight by themselves.
    let starts = std::fs::read_to_string(starts).unwrap().lines().count();
    assert_eq!(starts, 23);
}

fn first_line(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    text.lines().next().unwrap_or_default().to_owned()
}

/// A program that hands only its first argument on, to what fuzzes until it is told to stop.
const FIRST_ONLY: &str = r#"cat >"$OUT"/first <<'END'
echo "$1" >>"$OUT"/asked
case $1 in -runs=0) echo "INFO: Seed: 1";; -*) sleep 1000;; esac
END"#;

#[tokio::test]
async fn a_fuzzer_that_is_not_told_its_time_is_not_begun() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.commands.build = FIRST_ONLY.to_owned();
    task.commands.pov = Some(r#"sh "$OUT"/first "$POV""#.to_owned());
    let target = open(task, folder.path()).await;
    let unchanged = Changes::default();
    let build = target.build(&unchanged, "address", BuildKind::Clean);
    let build = build.await.unwrap();
    let pov = &target.task().povs[0];
    let time = Duration::from_secs(1);
    let fuzzed = fuzzer::fuzz(&target, &build, pov, (&[], time)).await;
    assert_eq!(fuzzed.unwrap(), None);
    let asked = build.place().unwrap().part("out").join("asked");
    assert_eq!(std::fs::read_to_string(asked).unwrap(), "-runs=0\n");
}

/// A program that takes many inputs and hangs at one that says so.
const MANY: &str = r#"cat >"$OUT"/many <<'END'
for file; do case $(cat "$file") in hang) sleep 1000;; esac; done
END"#;

#[tokio::test]
async fn one_that_hangs_among_many_is_found_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.commands.build = MANY.to_owned();
    task.commands.pov = Some(r#"sh "$OUT"/many "$POV""#.to_owned());
    let target = open(task, folder.path()).await;
    let unchanged = Changes::default();
    let build = target.build(&unchanged, "address", BuildKind::Clean);
    let build = build.await.unwrap();
    let text = |number| if number == 5 { "hang" } else { "fine" };
    let inputs = Inputs {
        contents: (0..20).map(|number| text(number).into()).collect(),
        budget: Duration::from_secs(30),
        each: Duration::from_secs(1),
        many: true,
        ..Inputs::default()
    };
    let pov = &target.task().povs[0];
    let runs = target.run_inputs(&build, pov, &inputs).await.unwrap();
    let bad: Vec<_> = runs.iter().filter(|run| !run.ending.success()).collect();
    assert_eq!(runs.len(), 20);
    assert_eq!(bad.len(), 1);
    let ending = (bad[0].index, bad[0].ending);
    assert_eq!(ending, (5, Ending::Limit(Limit::WallTime)));
}

#[test]
fn takes_plain_command_lines_apart() {
    for (command, expected) in [
        ("\"$OUT\"/harness \"$POV\"", Some(("harness", "\"$POV\""))),
        ("$OUT/bin/x -a $POV", Some(("bin/x", "-a $POV"))),
        ("\"$OUT/x\" y", Some(("x", "y"))),
        ("\"$OUT\"/x <\"$POV\"", None),
        ("cd x && \"$OUT\"/x", None),
        ("java -jar x", None),
        ("\"$OUT\"/$HARNESS", None),
    ] {
        assert_eq!(plain(command), expected, "{command}");
    }
}
