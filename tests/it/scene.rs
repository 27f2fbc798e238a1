//! Scene of a test: a small program with a bug, a Patchwright with its own home,
//! and the replies of a scripted model.
//!
//! Every command is checked for what must always hold: no panic, no colours, no
//! key anywhere.

use patchwright_tests::command::{Finished, Patchwright};
use patchwright_tests::model::ScriptedModel;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

/// A key that must be seen nowhere but in the requests.
pub(crate) const KEY: &str = "sk-nobody-may-ever-see-this-key";

/// A round of three good queries.
pub(crate) const QUERIES: &str = "<analysis>The name may be longer than its buffer.</analysis>
<queries>
<symbol>copy_name</symbol>
<callers>copy_name</callers>
<file>records.h</file>
</queries>";

/// A reply that holds nothing to work with.
pub(crate) const NOTHING: &str = "<queries><frobnicate>copy_name</frobnicate></queries>";

/// The right patch for `records`.
pub(crate) const GOOD: &str = "<patch>
<explanation>A name longer than NAME_LIMIT overflows the buffer of copy_name.</explanation>
<edit file=\"records.c\" lines=\"27-27\">
<original>
  size_t name = (size_t)(equals - line);
</original>
<replacement>
  size_t name = (size_t)(equals - line);
  if (name > NAME_LIMIT) return -1;
</replacement>
</edit>
</patch>";

/// A patch that builds and leaves the crash as it is.
pub(crate) const STILL_CRASHES: &str = "<patch>
<explanation>The buffer is too small by one.</explanation>
<edit file=\"records.c\" lines=\"7-7\">
<original>
  char *name = malloc(NAME_LIMIT + 1);
</original>
<replacement>
  char *name = malloc(NAME_LIMIT + 2);
</replacement>
</edit>
</patch>";

/// [`STILL_CRASHES`] in other words and with other spaces.
pub(crate) const STILL_CRASHES_AGAIN: &str = "<patch>
<explanation>One more byte.</explanation>
<edit file=\"records.c\" lines=\"7-7\">
<original>
  char *name = malloc(NAME_LIMIT + 1);
</original>
<replacement>
  char *name  =  malloc(NAME_LIMIT + 2);
</replacement>
</edit>
</patch>";

/// A patch that the compiler refuses.
pub(crate) const DOES_NOT_BUILD: &str = "<patch>
<explanation>Cut the name.</explanation>
<edit file=\"records.c\" lines=\"8-8\">
<original>
  memcpy(name, text, length);
</original>
<replacement>
  memcpy(name, text, least_of(length, NAME_LIMIT));
</replacement>
</edit>
</patch>";

/// The program and the Patchwright of one test.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) patchwright: Patchwright,
    task: PathBuf,
}

/// A finished command and the report that it printed.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) finished: Finished,
    pub(crate) report: Value,
}

impl Scene {
    /// A copy of the fixture program `records`, and short waits.
    pub(crate) fn new() -> Self {
        let patchwright = Patchwright::new()
            .expect("patchwright builds")
            .with("PATCHWRIGHT_MODEL__API_KEY", KEY)
            .with("PATCHWRIGHT_MODEL__RETRIES__COUNT", "1")
            .with("PATCHWRIGHT_MODEL__RETRIES__FIRST_DELAY", "1ms")
            .with("PATCHWRIGHT_MODEL__RETRIES__LONGEST_DELAY", "5ms")
            .with("PATCHWRIGHT_LIMITS__ROBUST", "1s")
            .with("PATCHWRIGHT_LIMITS__EXECUTIONS", "1")
            .with("PATCHWRIGHT_LIMITS__SAME", "3s");
        let task = patchwright.scratch("records");
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/programs/records");
        copy(&fixture, &task);
        Self { patchwright, task }
    }

    /// Sets a variable for every command from now on.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.patchwright = self.patchwright.with(name, value);
        self
    }

    /// Replaces text in a file of the task; the text must be there.
    pub(crate) fn edit(self, file: &str, from: &str, to: &str) -> Self {
        let text = fs::read_to_string(self.task.join(file)).expect("a file of the task");
        assert!(text.contains(from), "{file} does not hold {from:?}");
        self.write(file, &text.replace(from, to))
    }

    /// Writes a file of the task.
    pub(crate) fn write(self, file: &str, text: &str) -> Self {
        fs::write(self.task.join(file), text).expect("a file of the task can be written");
        self
    }

    /// A path in the task's folder.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.task.join(file)
    }

    /// `patchwright run` on the task with this model; more arguments go behind.
    pub(crate) fn run(&self, model: &ScriptedModel, more: &[&str]) -> Told {
        let endpoint = model.base_url();
        let mut arguments = vec!["run", "records", "--model", "scripted"];
        arguments.extend(["--base-url", &endpoint]);
        arguments.extend(more);
        self.json(&arguments)
    }

    /// Begins what [`Scene::run`] does, and does not wait for it.
    pub(crate) fn start(&self, model: &ScriptedModel, more: &[&str]) -> Child {
        let endpoint = model.base_url();
        let mut arguments = vec!["run", "records", "--model", "scripted"];
        arguments.extend(["--base-url", &endpoint]);
        arguments.extend(more);
        let mut command = self.patchwright.command(&arguments).expect("a command");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("patchwright starts")
    }

    /// Runs a command with `--format json` and reads the report.
    pub(crate) fn json(&self, arguments: &[&str]) -> Told {
        let mut arguments = arguments.to_vec();
        arguments.extend(["--format", "json"]);
        let finished = self.plain(&arguments);
        let report = serde_json::from_str(&finished.stdout)
            .unwrap_or_else(|error| panic!("{error}: {finished:#?}"));
        Told { finished, report }
    }

    /// [`Scene::plain`] with a text on standard input.
    pub(crate) fn fed(&self, arguments: &[&str], input: &str) -> Finished {
        let file = self.patchwright.scratch("input");
        fs::write(&file, input).expect("a file can be written");
        let mut command = self.patchwright.command(arguments).expect("a command");
        let input = fs::File::open(&file).expect("it was written");
        let output = command.stdin(input).output().expect("patchwright runs");
        let finished = Finished {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        self.check(&finished);
        finished
    }

    /// Runs a command and checks what holds for all of them.
    pub(crate) fn plain(&self, arguments: &[&str]) -> Finished {
        let finished = self.patchwright.run(arguments).expect("patchwright runs");
        self.check(&finished);
        finished
    }

    /// No panic, no backtrace, no colours, and the key is nowhere.
    pub(crate) fn check(&self, finished: &Finished) {
        for text in [&finished.stdout, &finished.stderr] {
            for word in ["panicked", "stack backtrace", "RUST_BACKTRACE", "\u{1b}["] {
                assert!(!text.contains(word), "{word:?} in {text}");
            }
            assert!(!text.contains(KEY), "the key is shown: {text}");
        }
        for file in files(self.patchwright.folder()) {
            let bytes = fs::read(&file).unwrap_or_default();
            let found = bytes
                .windows(KEY.len())
                .any(|window| window == KEY.as_bytes());
            assert!(!found, "the key is in {}", file.display());
        }
    }
}

impl Told {
    /// The ending, its exit status, and words of its reason.
    pub(crate) fn expect(&self, ending: &str, code: i32, words: &str) -> &Self {
        assert_eq!(self.report["ending"], ending, "{self:#?}");
        assert_eq!(self.finished.code, Some(code), "{self:#?}");
        assert!(
            self.detail().contains(words),
            "{words:?} is missing in {self:#?}"
        );
        self
    }

    /// Why it ended.
    pub(crate) fn detail(&self) -> &str {
        self.report["detail"].as_str().unwrap_or_default()
    }

    /// The run's id.
    pub(crate) fn run(&self) -> &str {
        self.report["run"].as_str().unwrap_or_default()
    }

    /// The rung of an attempt, both by name and number.
    pub(crate) fn rung(&self, attempt: usize, name: &str) -> &Value {
        let rungs = self.report["attempts"][attempt - 1]["rungs"].as_array();
        let mut rungs = rungs.into_iter().flatten();
        rungs
            .find(|rung| rung["name"] == name)
            .unwrap_or(&Value::Null)
    }
}

/// Kills a run while it waits for its second reply.
pub(crate) fn kill_at_the_second_question(mut run: Child, model: &ScriptedModel) {
    let lines = BufReader::new(run.stderr.take().expect("its progress")).lines();
    let asks = |line: &String| line.contains(".. asking the model");
    let asked = lines.map_while(Result::ok).filter(asks).take(2).count();
    assert_eq!(asked, 2, "it ended before it had asked twice");
    while model.requests().len() < 2 {
        thread::sleep(Duration::from_millis(10));
    }
    run.kill().expect("it can be killed");
    run.wait().expect("it ends");
}

/// Every file below a folder, sorted; links are not followed.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files(&entry.path())),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
    found.sort();
    found
}

/// The events of a `journal.jsonl` or of `show --journal --format json`.
pub(crate) fn events(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).expect("a file below the folder"));
        fs::create_dir_all(target.parent().expect("a folder")).expect("a folder can be made");
        fs::copy(&file, &target).expect("a fixture can be copied");
    }
}
