//! A tiny C program, really built, crashed and tested in a sandbox.

use super::LocalTarget;
use crate::TargetError;
use crate::runner::{BuildKind, Inputs, Target};
use crate::test_support::{open, task};
use patchwright_sandbox::test_host::host;
use patchwright_sandbox::{IsolationChoice, SandboxError};
use patchwright_source::Changes;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

#[tokio::test]
async fn a_task_that_cannot_be_judged_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let mut broken = task(folder.path());
    broken.commands.build = "echo no rule; exit 2".to_owned();
    let error = open(broken, folder.path())
        .await
        .baseline()
        .await
        .unwrap_err();
    let TargetError::InvalidTask { reason, log } = error else {
        panic!("{error}");
    };
    assert!(reason.contains("exit status 2") && log.contains("no rule"));

    let mut tame = task(folder.path());
    fs::write(folder.path().join("pov.bin"), [1, 0]).unwrap();
    tame.commands.pov = Some(
        r#"echo "==1==ERROR: AddressSanitizer: heap-buffer-overflow on"; "$OUT"/prog "$POV""#
            .to_owned(),
    );
    let error = open(tame, folder.path())
        .await
        .baseline()
        .await
        .unwrap_err();
    assert!(
        matches!(error, TargetError::NotReproducible { .. }),
        "{error}"
    );

    for (path, fine) in [
        ("/src/prog", true),
        ("/usr/x", false),
        ("src", false),
        ("/a/../etc", false),
        ("/", false),
    ] {
        let mut seen = task(folder.path());
        seen.seen_as = Some(path.to_owned());
        let scratch = folder.path().join("scratch");
        let opened = LocalTarget::open(seen, IsolationChoice::Bubblewrap, host(), &scratch).await;
        assert_eq!(opened.is_ok(), fine, "{path}");
    }
}

#[tokio::test]
async fn commands_see_the_same_paths_and_no_foreign_variables() {
    let folder = tempfile::tempdir().unwrap();
    let mut other = task(folder.path());
    other.seen_as = Some("/src/prog".to_owned());
    other.commands.prepare = Some("echo ready >\"$HOME\"/prepared".to_owned());
    other.commands.test = Some("cat \"$HOME\"/prepared; pwd; env | sort".to_owned());
    let target = open(other, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let text = baseline.tests.as_ref().unwrap().execution.text();
    let expected = "ready\n/src/prog\nCFLAGS=-fsanitize=address -g -O1\nHARNESS=\nHOME=/patchwright/home\nJOBS=2\nLANG=C.UTF-8\nOUT=/patchwright/out\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nPWD=/src/prog\nSANITIZER=address\nTASK=/patchwright/task\nTREE=/src/prog\nUBSAN_OPTIONS=print_stacktrace=1\nWORK=/patchwright/work\n";
    assert_eq!(text, expected);
}

#[tokio::test]
async fn a_build_with_bad_manners_is_built_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut rude = task(folder.path());
    let mark = format!("27{}.5", std::process::id());
    let manners = format!("cat; head -c 400 /dev/urandom; setsid sleep {mark} & ");
    rude.commands.build.insert_str(0, &manners);
    let target = open(rude, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    assert!(baseline.builds["address"].succeeded());
    let left = fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&mark))
    });
    assert!(!left, "a process was left behind");
}

#[tokio::test]
async fn a_build_that_the_system_kills_is_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let mut killed = task(folder.path());
    killed.commands.build =
        "echo 'gcc: fatal error: Killed signal terminated program cc1'; exit 1".to_owned();
    let error = open(killed, folder.path())
        .await
        .baseline()
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            TargetError::Sandbox(SandboxError::Infrastructure { .. })
        ),
        "{error}"
    );
}

/// Runs a test command in a task whose folder has to be copied for commands where we are root.
async fn passes(target: &LocalTarget) -> bool {
    let build = BuildKind::Incremental;
    let build = target.build(&Changes::default(), "address", build).await;
    let run = target.test(&build.unwrap()).await.unwrap();
    run.unwrap().execution.ending.success()
}

#[tokio::test]
async fn a_file_that_comes_to_the_tasks_folder_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let mut late = task(folder.path());
    late.commands.test = Some(r#"cat "$TASK"/late"#.to_owned());
    let closed = folder.path().join("closed");
    fs::write(&closed, "").unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o600)).unwrap();
    let target = open(late, folder.path()).await;
    assert!(!passes(&target).await);
    fs::write(folder.path().join("late"), "").unwrap();
    assert!(passes(&target).await);
}

#[tokio::test]
async fn tests_of_sanitized_programs_find_no_valgrind() {
    let folder = tempfile::tempdir().unwrap();
    for (test, found) in [
        ("command -v val\"\"grind", false),
        ("valgrind --version", true),
    ] {
        let mut task = task(folder.path());
        task.commands.test = Some(test.to_owned());
        let target = open(task, folder.path()).await;
        let installed = Path::new("/usr/bin/valgrind").exists();
        assert_eq!(passes(&target).await, found && installed, "{test}");
        // A second witness runs inputs under it.
        let mut pov = target.task().povs[0].clone();
        pov.command = Some("exec valgrind --version \"$POV\"".to_owned());
        let (unchanged, kind) = (Changes::default(), BuildKind::Incremental);
        let build = target.build(&unchanged, "address", kind).await.unwrap();
        let time = Duration::from_secs(5);
        let inputs = Inputs::new(vec![vec![1]], time * 4, time);
        let runs = target.run_inputs(&build, &pov, &inputs).await.unwrap();
        let ending = runs[0].ending;
        assert_eq!(ending.success(), installed, "{ending}");
    }
}

#[tokio::test]
async fn a_flood_of_results_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let mut flood = task(folder.path());
    flood.commands.test = Some(
        r#"{ echo "<testsuite>"; yes "<testcase name='a'/>" | head -c 50000000; } >flood.xml"#
            .to_owned(),
    );
    flood.commands.reports = vec!["*.xml".to_owned()];
    let target = open(flood, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let tests = baseline.tests.as_ref().unwrap();
    assert!(tests.execution.ending.success() && tests.reports.is_empty());
}

#[tokio::test]
async fn a_missing_compiler_is_told_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut without = task(folder.path());
    without.commands.build = "no-such-compiler parse.c".to_owned();
    let target = open(without, folder.path()).await;
    match target.baseline().await.unwrap_err() {
        TargetError::InvalidTask { reason, log } => {
            assert!(reason.contains("127"), "{reason}");
            assert!(log.contains("no-such-compiler"), "{log}");
        }
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn what_is_forged_is_not_believed() {
    let report = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000011 at pc 0x1 bp 0x2 sp 0x3\nREAD of size 1 at 0x602000000011 thread T0\n    #0 0x401 in parse /patchwright/tree/parse.c:3:5\nSUMMARY: AddressSanitizer: heap-buffer-overflow";
    let folder = tempfile::tempdir().unwrap();
    let mut forged = task(folder.path());
    forged.commands.pov = Some(format!("echo '{report}'; echo ok"));
    let target = open(forged, folder.path()).await;
    let error = target.baseline().await.unwrap_err();
    assert!(
        matches!(error, TargetError::NotReproducible { .. }),
        "a report on a clean exit: {error}"
    );
}
