//! Benchmark of the ladder: the cost of a sandbox, of the rungs from *applies* to
//! *tested* beside the same commands by hand, of an incremental build beside a
//! clean one, and the number of inputs that *robust* runs.
//!
//! `cargo bench -p patchwright-tests --bench ladder --profile dev -- CASE..`
//!
//! A case is `sandbox`, `robust`, or a folder below the repository with a task
//! and a patch of one file, such as `tests/judge/bzip2-selectors/right/upstream.diff`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark stops at the first surprise and prints what it measured"
)]

use patchwright_agent::task;
use patchwright_config::{self as settings, Flag, Sources};
use patchwright_source::Changes;
use patchwright_source::{Tree, TreePath};
use patchwright_target::{Baseline, BuildKind, Target};
use patchwright_verdict::{AttemptFacts, Ladder, Rung, RungName};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Attempts of each kind, in turns.
const TURNS: usize = 5;
/// Starts of a sandbox.
const STARTS: usize = 60;
/// Time for the copy that the next attempt starts from, which a run makes while the model thinks.
const SPARE: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    // Commands are supervised by this program, called again.
    if std::env::args().nth(1).as_deref() == Some("sandbox-exec") {
        return patchwright_sandbox::enter_from_arguments();
    }
    let cases = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"));
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    for case in cases {
        let load = fs::read_to_string("/proc/loadavg").unwrap();
        println!("{case}, load {}", load.split(' ').next().unwrap());
        runtime.block_on(async {
            match case.as_str() {
                "sandbox" => sandbox().await,
                "robust" => robust().await,
                patch => attempts(patch).await,
            }
        });
    }
    ExitCode::SUCCESS
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// A task's target with caches of its own.
async fn target(task: &Path, scratch: &Path, isolation: &str) -> (Tree, Arc<dyn Target>) {
    let flag = |key: &str, value: &str| Flag {
        name: key.to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
    };
    let sources = Sources {
        flags: vec![
            flag("cache.folder", &scratch.join("cache").display().to_string()),
            flag("cache.verdicts_mb", "0"),
            flag("sandbox.choice", isolation),
        ],
        ..Sources::from_process(None, Vec::new())
    };
    let settings = settings::load(&sources).unwrap().settings;
    let task = task::read(task).unwrap();
    patchwright_run::ground(&task, &settings).await.unwrap()
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn copy(from: &Path, to: &Path) {
    let done = Command::new("cp")
        .arg("-a")
        .args([from, to])
        .status()
        .unwrap();
    assert!(done.success());
}

/// A task without a program: all it costs is the sandbox.
async fn sandbox() {
    let folder = tempfile::tempdir().unwrap();
    let task = folder.path().join("task");
    fs::create_dir_all(task.join("tree")).unwrap();
    fs::write(task.join("tree/a.c"), "").unwrap();
    fs::write(task.join("pov"), "x").unwrap();
    let text = "id = \"nothing\"\nlanguage = \"c\"\n[source]\npath = \"tree\"\n[commands]\nbuild = \":\"\npov = 'kill -SEGV $$'\ntest = \":\"\n[[pov]]\nfile = \"pov\"\n";
    fs::write(task.join("task.toml"), text).unwrap();
    for isolation in ["bubblewrap", "landlock"] {
        let (_, target) = target(&task, folder.path(), isolation).await;
        let baseline = target.baseline().await.unwrap();
        let build = baseline.builds.values().next().unwrap();
        let mut all = Vec::new();
        for _ in 0..STARTS {
            let started = Instant::now();
            target.test(build).await.unwrap();
            all.push(started.elapsed().as_secs_f64());
        }
        starts(isolation, all);
    }
    starts("without", by_hand("/bin/sh", &["-euc", ":"]));
    let alone = [
        "--unshare-all",
        "--uid",
        "1000",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "/bin/sh",
        "-euc",
        ":",
    ];
    starts("bwrap alone", by_hand("bwrap", &alone));
}

/// Starts a program a few times; the seconds of each.
fn by_hand(program: &str, arguments: &[&str]) -> Vec<f64> {
    let start = || {
        let started = Instant::now();
        let status = Command::new(program).args(arguments).status().unwrap();
        assert!(status.success(), "{program}");
        started.elapsed().as_secs_f64()
    };
    (0..STARTS).map(|_| start()).collect()
}

fn starts(what: &str, all: Vec<f64>) {
    let fastest = all.iter().copied().fold(f64::INFINITY, f64::min);
    let (usual, fastest) = (median(all) * 1e3, fastest * 1e3);
    println!("  a command, {what}: {usual:.1} ms, the fastest {fastest:.1} ms");
}

/// A patch's changes, with a remark that makes each attempt another one.
struct Patch {
    path: String,
    text: String,
}

impl Patch {
    fn read(tree: &Path, diff: &Path, scratch: &Path) -> Self {
        let text = fs::read_to_string(diff).unwrap();
        let paths: Vec<_> = text
            .lines()
            .filter_map(|l| l.strip_prefix("+++ b/"))
            .collect();
        assert_eq!(paths.len(), 1, "a patch of one file is needed");
        let patched = scratch.join("patched");
        copy(&tree.join(paths[0]), &patched);
        let mut patch = Command::new("patch");
        patch
            .args(["--quiet", "--no-backup-if-mismatch"])
            .arg(&patched);
        assert!(patch.arg(diff).status().unwrap().success());
        Self {
            path: paths[0].to_owned(),
            text: fs::read_to_string(patched).unwrap(),
        }
    }

    fn number(&self, number: usize) -> String {
        format!("{}\n/* {number} */\n", self.text)
    }

    fn facts(&self, number: usize) -> AttemptFacts {
        let path = TreePath::new(&self.path).unwrap();
        AttemptFacts {
            changes: Changes {
                files: [(path, self.number(number).into_bytes())].into(),
                ..Changes::default()
            },
            ..AttemptFacts::default()
        }
    }
}

async fn attempts(diff: &str) {
    let diff = repository(diff);
    let case = diff.ancestors().nth(2).unwrap();
    let name = case.file_name().unwrap();
    let example = repository("examples").join(name);
    let task = if example.is_dir() {
        example
    } else {
        case.to_path_buf()
    };
    let scratch = tempfile::tempdir().unwrap();
    let (tree, target) = target(&task, scratch.path(), "auto").await;
    let baseline = target.baseline().await.unwrap();
    let patch = Patch::read(tree.root(), &diff, scratch.path());
    let by_hand = ByHand::new(target.as_ref(), &baseline, scratch.path());
    let other = patch.facts(TURNS).changes;
    let build = target.task().main_build();
    let started = Instant::now();
    let clean = target.build(&other, &build, BuildKind::Clean);
    assert!(clean.await.unwrap().succeeded());
    let clean = started.elapsed().as_secs_f64();
    let (mut ours, mut builds, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..TURNS {
        tokio::time::sleep(SPARE).await;
        let started = Instant::now();
        let rungs = climbed(target.as_ref(), &baseline, &patch.facts(number)).await;
        ours.push(started.elapsed().as_secs_f64());
        builds.push(rungs[RungName::Builds as usize].seconds);
        bare.push(by_hand.attempt(&patch, number));
        let each: Vec<_> = rungs
            .iter()
            .map(|rung| format!("{:.2}", rung.seconds))
            .collect();
        println!("    {} s beside {:.2} s", each.join(" + "), bare[number]);
    }
    let (ours, builds, bare) = (median(ours), median(builds), median(bare));
    println!(
        "  applies to tested {ours:.3} s, by hand {bare:.3} s: {:.2} times",
        ours / bare
    );
    println!(
        "  a clean build {clean:.2} s, another attempt's {builds:.2} s: {:.1} times",
        clean / builds
    );
}

async fn climbed(target: &dyn Target, baseline: &Baseline, facts: &AttemptFacts) -> Vec<Rung> {
    let mut rungs = Vec::new();
    for name in RungName::ALL.into_iter().take(5) {
        let ladder = Ladder::new(target, baseline);
        let rung = ladder.climb(facts, &rungs, name).await.unwrap();
        assert_eq!(rung.holds, Some(true), "{}: {}", rung.name, rung.reason);
        rungs.push(rung);
    }
    rungs
}

/// The same commands in a folder, without Patchwright.
struct ByHand<'a> {
    target: &'a dyn Target,
    repeats: Vec<u32>,
    folder: PathBuf,
}

impl<'a> ByHand<'a> {
    fn new(target: &'a dyn Target, baseline: &Baseline, scratch: &Path) -> Self {
        let folder = scratch.join("by-hand");
        fs::create_dir(&folder).unwrap();
        copy(&target.task().tree, &folder.join("tree"));
        for name in ["out", "home", "work"] {
            fs::create_dir(folder.join(name)).unwrap();
        }
        let repeats = baseline.povs.iter().map(|pov| pov.repeat).collect();
        let hand = Self {
            target,
            repeats,
            folder,
        };
        let commands = &target.task().commands;
        for script in commands.prepare.iter().chain([&commands.build]) {
            assert!(hand.run(script, None));
        }
        hand
    }

    fn run(&self, script: &str, pov: Option<&Path>) -> bool {
        let task = self.target.task();
        let build = task.main_build();
        let mut command = Command::new("/bin/sh");
        command
            .args(["-euc", script])
            .current_dir(self.folder.join("tree"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.envs(task.builds.get(&build).into_iter().flatten());
        for (name, part) in [
            ("TREE", "tree"),
            ("OUT", "out"),
            ("HOME", "home"),
            ("WORK", "work"),
        ] {
            command.env(name, self.folder.join(part));
        }
        command
            .env("TASK", &task.task_folder)
            .env("SANITIZER", &build);
        command.env("JOBS", task.limits.jobs.to_string());
        if let Some(pov) = pov {
            command.env("POV", pov);
        }
        command.status().unwrap().success()
    }

    /// The seconds of one attempt.
    fn attempt(&self, patch: &Patch, number: usize) -> f64 {
        let task = self.target.task();
        let started = Instant::now();
        fs::write(
            self.folder.join("tree").join(&patch.path),
            patch.number(number),
        )
        .unwrap();
        assert!(self.run(&task.commands.build, None));
        for (pov, repeat) in task.povs.iter().zip(&self.repeats) {
            let command = pov.command.as_ref().or(task.commands.pov.as_ref());
            for _ in 0..*repeat {
                self.run(command.unwrap(), Some(&pov.file));
            }
        }
        assert!(self.run(task.commands.test.as_ref().unwrap(), None));
        started.elapsed().as_secs_f64()
    }
}

/// A small harness with many inputs in one process, and with one.
async fn robust() {
    let example = repository("examples/bzip2-selectors");
    let diff = repository("tests/judge/bzip2-selectors/right/upstream.diff");
    for (how, command) in [
        ("many inputs in one process", "\"$OUT\"/harness \"$POV\""),
        ("one", "\"$OUT\"/harness /dev/stdin <\"$POV\""),
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let task = scratch.path().join("task");
        copy(&example, &task);
        let text = fs::read_to_string(task.join("task.toml")).unwrap();
        let given = "\"$OUT\"/harness \"$POV\"";
        assert!(text.contains(given));
        fs::write(task.join("task.toml"), text.replace(given, command)).unwrap();
        let (tree, target) = target(&task, scratch.path(), "auto").await;
        let baseline = target.baseline().await.unwrap();
        let facts = Patch::read(tree.root(), &diff, scratch.path()).facts(0);
        let ladder = Ladder::new(target.as_ref(), &baseline);
        let rung = ladder.climb(&facts, &[], RungName::Robust);
        let rung = rung.await.unwrap();
        println!(
            "  {how}: {} inputs in {:.1} s, {:?}: {}",
            rung.counts["executions"], rung.seconds, rung.holds, rung.reason
        );
    }
}
