//! Batches: the time they get, and a program that hangs in one.

use super::{Inputs, plain, together};
use crate::target::local::tests::{open, task};
use crate::target::{BuildKind, Target};
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
        assert_eq!(together(each, inputs, left), expected);
    }
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
