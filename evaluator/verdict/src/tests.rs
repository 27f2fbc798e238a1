//! Tiny programs, really built, crashed, repaired and judged in a sandbox.

mod toolchains;

use crate::attempt::AttemptFacts;
use crate::evidence::{Rung, RungName};
use crate::ladder::Ladder;
use crate::verdict_cache::VerdictCache;
use patchwright_source::{Touched, TreePath};
use patchwright_target::test_support::{FIX, MAKEFILE, PARSE, changed, java_changed, open, task};
use patchwright_target::{BuildKind, LocalTarget, Outcome, Target};
use std::fs;

/// Returns an attempt that replaces text of the Java program, and touches these lines.
pub(crate) fn java_attempt(from: &str, to: &str, lines: (u32, u32)) -> AttemptFacts {
    AttemptFacts {
        changes: java_changed(from, to),
        touched: vec![Touched {
            path: TreePath::new("p/Lines.java").unwrap(),
            old: vec![lines],
            new: vec![lines],
        }],
        ..AttemptFacts::default()
    }
}

/// Returns an attempt that replaces text of the C program.
pub(crate) fn attempt(from: &str, to: &str) -> AttemptFacts {
    AttemptFacts {
        changes: changed(from, to),
        ..AttemptFacts::default()
    }
}

pub(crate) async fn climb_to_tested(target: &LocalTarget, attempt: &AttemptFacts) -> Vec<Rung> {
    climb_recalling(target, None, attempt).await
}

/// Climbs with verdicts of earlier climbs.
pub(crate) async fn climb_recalling(
    target: &LocalTarget,
    verdicts: Option<&VerdictCache>,
    attempt: &AttemptFacts,
) -> Vec<Rung> {
    let baseline = target.baseline().await.unwrap();
    let mut climbed = Vec::new();
    for rung in RungName::ALL.into_iter().take(5) {
        let ladder = Ladder::new(target, &baseline).with_verdicts(verdicts);
        let result = ladder.climb(attempt, &climbed, rung).await.unwrap();
        let stop = result.holds == Some(false);
        climbed.push(result);
        if stop {
            break;
        }
    }
    climbed
}

#[tokio::test]
async fn a_right_patch_climbs_and_builds_only_what_changed() {
    let folder = tempfile::tempdir().unwrap();
    let target = open(task(folder.path()), folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    assert_eq!(baseline.povs[0].replay.outcome, Outcome::Crashed);
    let fix = attempt(FIX.0, FIX.1);
    let climbed = climb_to_tested(&target, &fix).await;
    let holds: Vec<_> = climbed.iter().map(|rung| rung.holds).collect();
    assert_eq!(holds, [Some(true); 5], "{climbed:#?}");
    let build = target
        .build(&fix.changes, "address", BuildKind::Incremental)
        .await
        .unwrap();
    let what =
        fs::read_to_string(patchwright_target::test_support::part(&build, "out").join("what"))
            .unwrap();
    assert_eq!(what, "built main.c\nbuilt parse.c\nbuilt parse.c\n");
    let confirmed = crate::confirm(&target, &baseline, &fix).await.unwrap();
    assert_eq!(
        (confirmed.name, confirmed.holds),
        (RungName::Tested, Some(true))
    );
    drop((build, baseline));
    let scratch = folder.path().join("scratch");
    drop(target);
    assert_eq!(
        fs::read_dir(scratch).unwrap().count(),
        0,
        "something was left behind"
    );
}

#[tokio::test]
async fn tests_are_run_again_on_a_clean_build_only_where_it_gives_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    let makefile = MAKEFILE.replace("\techo built $< >>$(OUT)/what\n", "");
    fs::write(task.tree.join("Makefile"), &makefile).unwrap();
    let target = open(task.clone(), folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let fix = attempt(FIX.0, FIX.1);
    climb_to_tested(&target, &fix).await;
    let same = crate::confirm(&target, &baseline, &fix).await.unwrap();
    assert_eq!((same.name, same.holds), (RungName::Builds, Some(true)));
    drop((baseline, target));

    // The header is no prerequisite of any rule: the first build stays stale.
    let (old, new) = (
        "#include <stdlib.h>",
        "#include \"limit.h\"\n#include <stdlib.h>",
    );
    fs::write(task.tree.join("parse.c"), PARSE.replace(old, new)).unwrap();
    fs::write(task.tree.join("limit.h"), "#define LIMIT 255\n").unwrap();
    let text = PARSE
        .replace(old, new)
        .replace(FIX.0, "if (n < 2 || b[0] > LIMIT)");
    fs::write(task.tree.join("parse.c"), text).unwrap();
    task.task_folder = folder.path().join("task");
    fs::create_dir(&task.task_folder).unwrap();
    fs::write(task.task_folder.join("good.bin"), [3, 0]).unwrap();
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let mut fix = attempt("", "");
    let path = TreePath::new("limit.h").unwrap();
    fix.changes.files = [(path, b"#define LIMIT 2\n".to_vec())].into();
    let clean = crate::confirm(&target, &baseline, &fix).await.unwrap();
    assert_eq!((clean.name, clean.holds), (RungName::Tested, Some(false)));
}

#[tokio::test]
async fn each_wrong_patch_stops_at_its_rung() {
    let folder = tempfile::tempdir().unwrap();
    let target = open(task(folder.path()), folder.path()).await;
    for (to, rung, reason) in [
        (
            "if (n < 2 || c > 8)",
            RungName::Builds,
            "the build \"address\" failed",
        ),
        (
            "if (n < 1)",
            RungName::Silent,
            "still crashes: it is the same crash",
        ),
        ("while (b[0] > 8) {} if (n < 2)", RungName::Silent, "hangs"),
        (
            "if (b[0] > 8) exit(127); if (n < 2)",
            RungName::Silent,
            "not really run",
        ),
        ("if (n < 3)", RungName::Tested, "the test command fails"),
    ] {
        let climbed = climb_to_tested(&target, &attempt(FIX.0, to)).await;
        let last = climbed.last().unwrap();
        assert_eq!(
            (last.name, last.holds),
            (rung, Some(false)),
            "{to}: {last:#?}"
        );
        assert!(last.reason.contains(reason), "{to}: {}", last.reason);
        assert!(last.feedback.is_some());
        // A hang comes with the stack of the program at work.
        let crashed = ["still crashes", "hangs"]
            .iter()
            .any(|word| reason.contains(word));
        assert_eq!(last.crash.is_some(), crashed, "{to}: {last:#?}");
    }
}

#[tokio::test]
async fn a_hang_of_a_command_that_hangs_without_input_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut waiting = task(folder.path());
    let command = r#"[ -s "$POV" ] || sleep 100; "$OUT"/prog "$POV""#;
    waiting.commands.pov = Some(command.to_owned());
    let target = open(waiting, folder.path()).await;
    let hangs = attempt(FIX.0, "while (b[0] > 8) {} if (n < 2)");
    let climbed = climb_to_tested(&target, &hangs).await;
    let silent = climbed.iter().find(|rung| rung.name == RungName::Silent);
    let silent = silent.unwrap();
    assert_eq!(silent.holds, Some(false), "{silent:#?}");
    assert!(
        silent.reason.contains("an empty input"),
        "{}",
        silent.reason
    );
}

#[tokio::test]
async fn a_test_that_passes_by_name_and_fails_by_status_fails() {
    let folder = tempfile::tempdir().unwrap();
    let mut forged = task(folder.path());
    let test =
        r#"echo "ok 1 - all"; echo "1..1"; grep -q "b\\[0\\] > 8" parse.c && exit 1; exit 0"#;
    forged.commands.test = Some(test.to_owned());
    let target = open(forged, folder.path()).await;
    let climbed = climb_to_tested(&target, &attempt(FIX.0, FIX.1)).await;
    let last = climbed.last().unwrap();
    assert_eq!((last.name, last.holds), (RungName::Tested, Some(false)));
}
