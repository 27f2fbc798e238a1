//! Abilities of a command in a container of the task's own image, with a real engine:
//! Podman, started for this test with a store of its own.
//!
//! The image is made of this machine's own packages, so that no registry is needed. Without
//! Podman, root or Debian's packages, these are skipped, loudly.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at once"
)]

#[path = "../../../tests/src/engine.rs"]
pub mod engine;

use engine::{Engine, IMAGE};
use patchwright_sandbox::attack::attack_in;
use patchwright_sandbox::{Ending, Limit};
use patchwright_sandbox::{Host, Image, IsolationChoice, SandboxError};
use patchwright_source::TreePath;
use patchwright_target::probe::{Expression, Probe};
use patchwright_target::{
    CommandLimits, Commands, LocalTarget, Outcome, Pov, Target, TargetError, TargetTask,
};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

fn said(what: &str) {
    let line = format!("##### {what}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// All in one test: the engine starts once, and what it holds at a moment is counted.
#[tokio::test]
async fn commands_run_in_containers_of_the_tasks_image() {
    let engine = match Engine::start() {
        Ok(engine) => engine,
        Err(reason) => return said(&format!("SKIPPED: no container engine: {reason}")),
    };
    a_program_is_built_replayed_and_tested_in_its_image(&engine).await;
    a_debugger_of_the_image_answers_probes(&engine).await;
    an_image_is_built_from_a_dockerfile_once(&engine).await;
    limits_end_a_container_and_nothing_is_left(&engine).await;
    an_abandoned_command_takes_its_container_along(&engine).await;
    what_an_engine_cannot_do_is_told(&engine).await;
    no_way_leads_out_of_a_container(&engine).await;
    drop(engine);
    a_full_store_is_told().await;
}

async fn a_full_store_is_told() {
    let engine = match Engine::start_small(16) {
        Ok(engine) => engine,
        Err(reason) => return said(&format!("SKIPPED: no small store: {reason}")),
    };
    for _ in 0..500 {
        if engine.socket().exists() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let context = folder.path().join("image");
    fs::create_dir(&context).unwrap();
    fs::write(context.join("large"), vec![1; 64 << 20]).unwrap();
    fs::write(context.join("Dockerfile"), "FROM scratch\nCOPY large /\n").unwrap();
    let image = Image::Dockerfile(context.join("Dockerfile"));
    let error = open(&engine, task(folder.path(), image), folder.path())
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            TargetError::Sandbox(SandboxError::Infrastructure { .. })
        ),
        "{error:#?}"
    );
    assert!(
        error
            .to_string()
            .contains("store of the container engine is full"),
        "{error}"
    );
    assert_eq!(engine.containers(), "", "nothing is left behind");
}

fn host(engine: &Engine) -> Host {
    Host {
        engine: Some(engine.socket()),
        ..patchwright_sandbox::test_host::host()
    }
}

/// A program in C that a sanitizer stops, and tests that hold.
fn task(folder: &Path, image: Image) -> TargetTask {
    fs::create_dir_all(folder.join("tree")).unwrap();
    let source = "#include <stdio.h>\n#include <stdlib.h>\nint main(int n, char **v) {\n  FILE *f = \
                  fopen(v[1], \"r\");\n  char *b = malloc(4);\n  int c, i = 0;\n  while ((c = getc(f)) != EOF)\n    \
                  b[i++] = c;\n  puts(\"read\");\n  free(b);\n  return 0;\n}\n";
    fs::write(folder.join("tree/main.c"), source).unwrap();
    fs::write(folder.join("pov"), "a long line").unwrap();
    TargetTask {
        tree: folder.join("tree"),
        task_folder: folder.to_path_buf(),
        image: Some(image),
        commands: Commands {
            build: r#"gcc -g -fsanitize=address -o "$OUT/main" main.c"#.to_owned(),
            pov: Some(r#""$OUT/main" "$POV""#.to_owned()),
            test: Some("echo ok >ok && \"$OUT/main\" ok".to_owned()),
            ..Commands::default()
        },
        povs: vec![Pov {
            file: folder.join("pov"),
            ..Pov::default()
        }],
        limits: CommandLimits {
            test: Duration::from_secs(20),
            processes: 60,
            memory: 512 << 20,
            disk: 64 << 20,
            ..CommandLimits::default()
        },
        ..TargetTask::default()
    }
}

async fn open(
    engine: &Engine,
    task: TargetTask,
    scratch: &Path,
) -> Result<LocalTarget, TargetError> {
    LocalTarget::open(task, IsolationChoice::Auto, host(engine), scratch).await
}

fn named() -> Image {
    Image::Named(IMAGE.to_owned())
}

async fn a_program_is_built_replayed_and_tested_in_its_image(engine: &Engine) {
    let folder = tempfile::tempdir().unwrap();
    let target = open(engine, task(folder.path(), named()), folder.path())
        .await
        .unwrap();
    assert_eq!(target.isolation().kind, IsolationChoice::Container);
    let baseline = target.baseline().await.unwrap();
    let replay = &baseline.povs[0].replay;
    assert_eq!(
        replay.outcome,
        Outcome::Crashed,
        "{}",
        replay.execution.text()
    );
    let crash = replay.crash.as_ref().unwrap();
    assert_eq!(crash.kind.as_str(), "heap-buffer-overflow");
    let tests = baseline.tests.as_ref().unwrap();
    assert!(
        tests.execution.ending.success(),
        "{}",
        tests.execution.text()
    );
    assert_eq!(engine.containers(), "", "nothing is left behind");
}

async fn a_debugger_of_the_image_answers_probes(engine: &Engine) {
    let folder = tempfile::tempdir().unwrap();
    let task = task(folder.path(), named());
    let pov = task.povs[0].clone();
    let target = open(engine, task, folder.path()).await.unwrap();
    let baseline = target.baseline().await.unwrap();
    let build = baseline.builds.values().next().unwrap();
    let probe = Probe {
        path: TreePath::new("main.c").unwrap(),
        line: 8,
        expression: Expression::read("i").unwrap(),
    };
    let seen = target.probe(build, &pov, &[probe]).await.unwrap();
    assert_eq!(seen.problem, None);
    assert_eq!(
        seen.probes[0].least.map(|(value, _)| value),
        Some(0),
        "{seen:?}"
    );
    assert_eq!(
        seen.probes[0].most.map(|(value, _)| value),
        Some(4),
        "{seen:?}"
    );
}

async fn an_image_is_built_from_a_dockerfile_once(engine: &Engine) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Dockerfile");
    fs::write(&file, format!("FROM {IMAGE}\nENV GREETING=hello\n")).unwrap();
    let mut task = task(folder.path(), Image::Dockerfile(file));
    task.commands.test = Some("test \"$GREETING\" = hello".to_owned());
    let target = open(engine, task.clone(), folder.path()).await.unwrap();
    let baseline = target.baseline().await.unwrap();
    let tests = baseline.tests.as_ref().unwrap();
    assert!(
        tests.execution.ending.success(),
        "{}",
        tests.execution.text()
    );
    let images = || {
        engine
            .podman()
            .args(["images", "--quiet"])
            .output()
            .unwrap()
            .stdout
    };
    let before = images();
    open(engine, task, folder.path()).await.unwrap();
    assert_eq!(images(), before);
}

async fn limits_end_a_container_and_nothing_is_left(engine: &Engine) {
    for (script, expected) in [
        ("sleep 100", Limit::WallTime),
        (
            "dd if=/dev/zero of=big bs=1M count=400 status=none; sleep 60",
            Limit::Disk,
        ),
        (
            "python3 -c 'import time
for step in range(60): b = bytearray((step + 1) * 20 << 20); time.sleep(0.1)'",
            Limit::Memory,
        ),
        (
            "for i in $(seq 200); do sleep 60 & done; wait",
            Limit::Processes,
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path(), named());
        task.commands.test = Some(script.to_owned());
        task.limits.test = Duration::from_secs(8);
        let target = open(engine, task, folder.path()).await.unwrap();
        let baseline = target.baseline().await.unwrap();
        let ending = baseline.tests.as_ref().unwrap().execution.ending;
        let refused =
            expected == Limit::Processes && matches!(ending, Ending::Exited(code) if code != 0);
        assert!(
            ending == Ending::Limit(expected) || refused,
            "{script}: {ending}"
        );
        assert_eq!(engine.containers(), "", "{script}");
    }
}

async fn an_abandoned_command_takes_its_container_along(engine: &Engine) {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path(), named());
    "sleep 300".clone_into(&mut task.commands.build);
    let target = open(engine, task.clone(), folder.path()).await.unwrap();
    let called_off = tokio::time::timeout(Duration::from_secs(4), target.baseline()).await;
    assert!(called_off.is_err());
    // A process that is killed cannot remove anything; the next one does.
    let left = engine
        .podman()
        .args(["create", "--label", "org.patchwright.owner=", IMAGE, "true"])
        .output()
        .unwrap();
    let foreign = String::from_utf8(left.stdout).unwrap();
    for _ in 0..100 {
        if engine.containers().lines().count() == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let there = engine.containers();
    assert!(
        foreign.starts_with(there.trim()),
        "only the foreign one stays: {there}"
    );
}

async fn what_an_engine_cannot_do_is_told(engine: &Engine) {
    let folder = tempfile::tempdir().unwrap();
    let absent = Image::Named("localhost/there-is-none:1".to_owned());
    let error = open(engine, task(folder.path(), absent), folder.path())
        .await
        .unwrap_err();
    assert!(matches!(error, TargetError::InvalidTask { .. }), "{error}");
    assert!(error.to_string().contains("cannot be pulled"), "{error}");
    let file = folder.path().join("Dockerfile");
    fs::write(&file, format!("FROM {IMAGE}\nRUN exit 3\n")).unwrap();
    let broken = task(folder.path(), Image::Dockerfile(file));
    let error = open(engine, broken, folder.path()).await.unwrap_err();
    assert!(
        error.to_string().contains("no image can be built"),
        "{error}"
    );
    let nobody = Host {
        engine: Some(folder.path().join("none.sock")),
        ..host(engine)
    };
    let task = task(folder.path(), named());
    let error = LocalTarget::open(task, IsolationChoice::Auto, nobody, folder.path()).await;
    let error = error.unwrap_err();
    assert!(
        matches!(
            error,
            TargetError::Sandbox(SandboxError::Infrastructure { .. })
        ),
        "{error}"
    );
    assert!(error.to_string().contains("does not answer"), "{error}");
}

async fn no_way_leads_out_of_a_container(engine: &Engine) {
    let attack = attack_in(&named(), host(engine)).await.unwrap();
    let open: Vec<_> = attack.escaped().collect();
    assert!(open.is_empty(), "{open:#?}");
    assert!(attack.escapes.len() > 50, "{}", attack.escapes.len());
}

/// Prints the wall time of the smallest command, here and in a container (docs/benchmarks.md).
#[tokio::test]
#[ignore = "a measurement for a quiet machine"]
async fn what_a_container_adds_to_a_command() {
    let engine = Engine::start().unwrap();
    for image in [None, Some(named())] {
        let folder = tempfile::tempdir().unwrap();
        let task = TargetTask {
            image,
            ..task(folder.path(), named())
        };
        let pov = Pov {
            command: Some("exit 1".to_owned()),
            ..task.povs[0].clone()
        };
        let target = open(&engine, task, folder.path()).await.unwrap();
        let baseline = target.baseline().await.unwrap();
        let build = baseline.builds.values().next().unwrap();
        let mut times = Vec::new();
        for _ in 0..30 {
            let began = std::time::Instant::now();
            target.replay(build, &pov).await.unwrap();
            times.push(began.elapsed().as_millis());
        }
        times.sort_unstable();
        let kind = target.isolation().kind;
        said(&format!(
            "{kind}: median {} ms, most {} ms",
            times[15], times[29]
        ));
    }
}
