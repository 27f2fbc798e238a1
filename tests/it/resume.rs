//! `kill -9` and `patchwright resume`: recorded work is not repeated, and a process
//! that was given up for dead writes nothing more.

use crate::scene::{
    GOOD, QUERIES, STILL_CRASHES, Scene, Told, events, files, kill_at_the_second_question,
};
use patchwright_tests::command::Finished;
use patchwright_tests::model::{Answer, Asked, ScriptedModel};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// The replies of the run, each to the conversation of its length.
const REPLIES: [&str; 3] = [QUERIES, STILL_CRASHES, GOOD];

/// The number of kills of a run.
const KILLS: usize = 5;

/// Answers by what was said before, so that a request that is made again gets
/// the same reply.
fn steady() -> ScriptedModel {
    ScriptedModel::answering(|asked| REPLIES[asked.replies()].into()).unwrap()
}

fn start(scene: &Scene, arguments: &[&str]) -> Child {
    let mut command = scene.patchwright.command(arguments).unwrap();
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn started(scene: &Scene, model: &ScriptedModel) -> Child {
    scene.start(model, &["--out", "out", "--format", "json"])
}

/// Waits for this many lines of progress, then a moment, and kills. Says
/// whether the process was still there to be killed.
fn kill_after(mut child: Child, lines: usize, moment: Duration) -> bool {
    let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
    let seen = stderr.by_ref().take(lines).filter_map(Result::ok).count();
    std::thread::sleep(moment);
    child.kill().unwrap();
    child.wait().unwrap();
    seen == lines
}

/// A row of numbers that look random and are the same every time.
fn numbers(seed: u64) -> impl Iterator<Item = usize> {
    let mut state = seed;
    std::iter::from_fn(move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 40).ok()
    })
}

fn journal(scene: &Scene, run: &str) -> Vec<Value> {
    events(
        &scene
            .plain(&["show", run, "--journal", "--format", "json"])
            .stdout,
    )
}

/// Every step has one outcome, steps follow each other, and what is on record
/// is never begun again.
fn consistent(journal: &[Value]) {
    let mut done = BTreeSet::new();
    let mut open: Option<(String, i64)> = None;
    let mut epoch = 0;
    for (at, event) in journal.iter().enumerate() {
        assert_eq!(event["number"], at + 1, "no gap, no double");
        let this = event["epoch"].as_i64().unwrap();
        assert!(this >= epoch, "epochs only grow");
        epoch = this;
        let step = format!("{}.{}", event["lane"], event["step"]);
        if event["kind"] == "intent" {
            assert!(
                !done.contains(&step),
                "step {step} is begun again though it is done"
            );
            if let Some((before, begun)) = &open {
                assert_eq!(
                    before, &step,
                    "the step that was cut off is the one that is redone"
                );
                assert!(*begun < this, "and only by a later claim");
            }
            open = Some((step, this));
        } else if event["kind"] == "outcome" {
            assert_eq!(open.take().map(|(step, _)| step), Some(step.clone()));
            assert!(done.insert(step), "one outcome a step");
        }
    }
    assert_eq!(open, None, "the story is told to its end");
}

fn rungs(report: &Value) -> Vec<Value> {
    let attempts = report["attempts"].as_array().unwrap().iter();
    let rungs = attempts.flat_map(|attempt| attempt["rungs"].as_array().unwrap());
    rungs
        .flat_map(|rung| [rung["name"].clone(), rung["holds"].clone()])
        .collect()
}

/// One call a reply, and for each kill the one in flight, word for word the same.
fn asked_at_most_once_more_a_kill(model: &ScriptedModel) {
    let asked = model.requests();
    assert!(
        asked.len() <= REPLIES.len() + KILLS,
        "{} calls",
        asked.len()
    );
    let mut same: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    for request in asked {
        same.entry(request.replies())
            .or_default()
            .push(request.body);
    }
    for (place, bodies) in &same {
        assert!(
            bodies.windows(2).all(|pair| pair[0] == pair[1]),
            "request {place} is the same again"
        );
    }
}

/// The builds that a rung ran on, the unpatched one first.
fn marks(scene: &Scene, log: &str) -> Vec<String> {
    let path = scene.patchwright.scratch("out/logs").join(log);
    let text = std::fs::read_to_string(path).unwrap();
    let marks = text.lines().filter(|line| line.starts_with("MARK "));
    marks.map(str::to_owned).collect()
}

/// However often the run was killed, everything ran on the same builds.
fn no_build_was_done_again(scene: &Scene) {
    let first = marks(scene, "attempt-1-builds.log");
    let second = marks(scene, "attempt-2-builds.log");
    assert_eq!((first.len(), second.len()), (2, 2), "{first:?} {second:?}");
    assert_eq!(first[0], second[0], "the baseline was built once");
    assert_ne!(first[1], second[1]);
    assert_eq!(
        marks(scene, "attempt-2-tested.log"),
        second,
        "the attempt too"
    );
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_as_it_would_have() {
    // `make soak` sets the variable: two hundred and fifty kills in place of five.
    let runs = if option_env!("PATCHWRIGHT_SOAK").is_some() {
        50
    } else {
        1
    };
    for run in 0..runs {
        kill_again_and_again(20_261_122 + run);
    }
}

fn kill_again_and_again(seed: u64) {
    let undisturbed = Scene::new();
    let model = steady();
    let whole = undisturbed.run(&model, &[]);
    whole.expect("verified", 0, "");
    assert_eq!(model.requests().len(), REPLIES.len());

    // Each build leaves a mark that no other one leaves, and shows those it came by.
    let scene = Scene::new()
        .edit(
            "task.toml",
            "TASK=\"$TASK\"'",
            "TASK=\"$TASK\"; echo MARK $(head -c 8 /dev/urandom | od -An -tx1) >>\"$OUT\"/marks; cat \"$OUT\"/marks'",
        )
        .edit("task.toml", "test = '", "test = 'cat \"$OUT\"/marks; ");
    let model = steady();
    let mut random = numbers(seed);
    let first = 6 + random.next().unwrap() % 8;
    assert!(kill_after(started(&scene, &model), first, Duration::ZERO));
    let mut kills = 1;
    for _ in 1..KILLS {
        // A resumed run says four things before it does any.
        let lines = 4 + random.next().unwrap() % 6;
        let moment = Duration::from_millis(random.next().unwrap() as u64 % 30);
        kills += usize::from(kill_after(start(&scene, &["resume", "out"]), lines, moment));
    }
    assert!(kills > 2, "only {kills} kills came before the end");
    let told = scene.json(&["resume", "out"]);
    told.expect("verified", 0, "");
    assert_eq!(told.report["best"]["diff"], whole.report["best"]["diff"]);
    assert_eq!(rungs(&told.report), rungs(&whole.report));
    for key in ["calls", "tokens_in", "tokens_out"] {
        assert_eq!(told.report["cost"][key], whole.report["cost"][key], "{key}");
    }

    consistent(&journal(&scene, told.run()));
    asked_at_most_once_more_a_kill(&model);
    no_build_was_done_again(&scene);
    assert!(
        scene.patchwright.scratch("out/report.json").is_file(),
        "--out is remembered"
    );
    let workspaces = scene
        .patchwright
        .folder()
        .join("cache/patchwright/workspaces");
    assert!(workspaces.is_dir());
    assert!(
        files(&workspaces).is_empty(),
        "what was killed is cleared away"
    );
}

/// The processes whose words name a folder.
fn processes_of(folder: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let words = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    words
        .map(|words| String::from_utf8_lossy(&words).replace('\0', " "))
        .filter(|words| words.contains(folder))
        .collect()
}

#[test]
fn nothing_outlives_a_run_that_is_killed() {
    // The first moments of a sandbox are those in which it could be left behind.
    let scene = Scene::new().edit("task.toml", "[inputs]", "[limits]\nattempts = 1\n[inputs]");
    let folder = scene.patchwright.folder().display().to_string();
    let model = steady();
    let mut random = numbers(7);
    let kills = if option_env!("PATCHWRIGHT_SOAK").is_some() {
        250
    } else {
        25
    };
    for _ in 0..kills {
        let moment = Duration::from_millis(random.next().unwrap() as u64 % 120);
        kill_after(started(&scene, &model), 4, moment);
        let until = Instant::now() + Duration::from_secs(20);
        while !processes_of(&folder).is_empty() {
            let left = processes_of(&folder);
            assert!(Instant::now() < until, "after {moment:?}: {left:#?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_reply_on_record_is_not_asked_for_again_and_one_in_flight_once() {
    let scene = Scene::new();
    let mut first = true;
    let model = ScriptedModel::answering(move |asked| {
        let reply = REPLIES[asked.replies()];
        if asked.replies() == 1 && std::mem::take(&mut first) {
            // The process dies while it waits for this one.
            return Answer::After(Duration::from_mins(20), Box::new(reply.into()));
        }
        reply.into()
    })
    .unwrap();
    kill_at_the_second_question(started(&scene, &model), &model);
    let told = scene.json(&["resume", "out"]);
    told.expect("verified", 0, "");
    let places: Vec<_> = model.requests().iter().map(Asked::replies).collect();
    assert_eq!(places, [0, 1, 1, 2]);
    // A run that has ended is only shown.
    let again = scene.json(&["resume", told.run()]);
    assert_eq!(again.report, told.report);
    assert_eq!(model.requests().len(), 4);
}

#[test]
fn whoever_claims_a_run_stops_the_one_before_from_writing() {
    let scene = Scene::new();
    let mut first = true;
    let model = ScriptedModel::answering(move |asked| {
        let reply = Answer::from(REPLIES[asked.replies()]);
        if std::mem::take(&mut first) {
            return Answer::After(Duration::from_secs(8), Box::new(reply));
        }
        reply
    })
    .unwrap();
    let mut old = started(&scene, &model);
    let mut lines = BufReader::new(old.stderr.take().unwrap()).lines();
    let asks = |line: &String| line.contains(".. asking the model");
    assert!(lines.by_ref().map_while(Result::ok).any(|line| asks(&line)));
    let told = scene.json(&["resume", "out"]);
    told.expect("verified", 0, "");
    let before = journal(&scene, told.run());

    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    let mut stdout = String::new();
    old.stdout
        .take()
        .unwrap()
        .read_to_string(&mut stdout)
        .unwrap();
    let code = old.wait().unwrap().code();
    let stderr = rest.join("\n");
    scene.check(&Finished {
        code,
        stdout: stdout.clone(),
        stderr: stderr.clone(),
    });
    assert_eq!((code, stdout.as_str()), (Some(5), ""), "{stderr}");
    assert!(stderr.contains("was claimed by somebody else"), "{stderr}");

    let after = journal(&scene, told.run());
    assert_eq!(after, before, "nothing was written any more");
    assert!(
        after
            .iter()
            .skip_while(|event| event["epoch"] == 1)
            .all(|event| event["epoch"] == 2)
    );
    consistent(&after);
    let shown: Told = scene.json(&["show", told.run()]);
    assert_eq!(shown.report, told.report);
}

#[test]
fn a_judged_patch_is_gone_on_with_as_well() {
    let scene = Scene::new();
    let diff = "--- a/records.c\n+++ b/records.c\n@@ -6,3 +6,3 @@\n static char *copy_name(const char *text, size_t length) {\n-  char *name = malloc(NAME_LIMIT + 1);\n+  char *name = malloc(NAME_LIMIT + 2);\n   memcpy(name, text, length);\n";
    std::fs::write(scene.patchwright.scratch("a.diff"), diff).unwrap();
    let arguments = ["judge", "records", "--patch", "a.diff", "--out", "out"];
    assert!(kill_after(
        start(&scene, &arguments),
        4,
        Duration::from_millis(50)
    ));
    let told = scene.json(&["resume", "out"]);
    told.expect("no_patch", 1, "");
    assert_eq!(told.rung(1, "silent")["holds"], false);
    consistent(&journal(&scene, told.run()));
}
