//! Gathers the tests of a project, and proves a regression test.

use super::failure::{Failure, known, retried};
use super::task_files::{TaskFile, files_named, is_text};
use super::{Drive, locate};
use crate::journal::Result;
use crate::prompt::fence;
use crate::record::{Attempt, Outcome, RegressionRecord, SmallestRecord, StepId, TestFiles};
use crate::repair::Run;
use crate::template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use itertools::Itertools;
use patchwright_patcher::{Edit, Guard, Patch};
use patchwright_source::{Language, Tree, TreePath};
use patchwright_target::Target;
use patchwright_verdict::{RegressionRun, RegressionTest, minimize, prove_regression_test};
use serde_json::json;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Names of test files that are listed, and files that are shown: half of them say most of what the
/// patch and the crash say, the other half say most of it for their length.
const LISTED: usize = 80;
/// See [`LISTED`].
const SHOWN: usize = 4;
/// Lines of a long file that are shown from its beginning, and around those that tell most.
const HEAD: usize = 12;
/// See [`HEAD`].
const AROUND: usize = 15;
/// Lines that are tried.
const TRIED: usize = 200;
/// Characters of one file that are shown.
const FILE: usize = 6_000;
/// The largest test file that is read, in bytes.
const LARGEST: u64 = 256 << 10;
/// The largest PoV that a script holds, in bytes.
const POV: usize = 64 << 10;
/// Characters of a line of base64.
const LINE: usize = 76;

impl Drive {
    /// The tests of the project: those nearest to the patch with their code, the others by name.
    pub(super) async fn test_files(
        &self,
        id: StepId,
        (run, attempt): (&Run, Option<&Attempt>),
    ) -> Result<Outcome> {
        let summary = "looking for the project's tests".to_owned();
        self.intend(id, "test_files", summary, json!({})).await?;
        let task = self.parts.target.as_ref().map(|target| target.task());
        let command = task.and_then(|task| task.commands.test.clone());
        let (Some(task), Some(command)) = (task, command) else {
            return Ok(Outcome::TestFiles(TestFiles::default()));
        };
        let mut words = attempt.map_or_else(String::new, |attempt| attempt.diff.clone());
        // A test calls what leads to the crash, and seldom a function inside.
        let frames = run.crash().into_iter().flat_map(|crash| &crash.frames);
        words.extend(frames.map(|frame| format!("\n+{}", frame.function)));
        let (mut files, weights) = ranked(&self.parts.tree, words_of(&words));
        let scripts = files_named(&command, &task.task_folder).unwrap_or_default();
        let mut text = String::new();
        if !files.is_empty() {
            let all = files.len();
            let names = files.iter().take(LISTED).map(|(path, _)| path).join("\n");
            let names = fence(&names, "text", 6_000);
            let listed = all.min(LISTED);
            text = format!("Their files, {listed} of {all}, the nearest first:\n\n{names}\n\n");
            choose(&mut files, &weights);
            for (path, content) in files {
                text.push_str(&shown(path.as_str(), &content, &weights));
            }
            for (name, content) in scripts.iter().filter_map(TaskFile::text) {
                text.push_str(&shown(&name, content, &weights));
            }
            for (path, content) in scripts_of(&self.parts.tree, &command) {
                text.push_str(&shown(path.as_str(), &content, &weights));
            }
        }
        Ok(Outcome::TestFiles(TestFiles { command, text }))
    }

    /// Proves a test that a model wrote, or one that runs the PoV.
    pub(super) async fn prove(
        &self,
        id: StepId,
        test: Option<Patch>,
        (attempt, refuted): (u32, Vec<u32>),
        run: &Run,
    ) -> Result<Outcome, Failure> {
        let summary = match &test {
            Some(_) => "proving a test in the project's own framework",
            None => "proving a script that runs the PoV",
        };
        let body = json!({ "test": test });
        self.intend(id, "prove", summary.to_owned(), body).await?;
        let (attempt, target) = (known(run, attempt)?, self.target()?.as_ref());
        let script = test.is_none();
        let (test, diff) = match self.place_test(target, test).await {
            Ok(placed) => placed,
            Err(reason) => {
                return Ok(Outcome::Proved(RegressionRecord {
                    script,
                    reason,
                    ..RegressionRecord::default()
                }));
            }
        };
        let mut others = Vec::new();
        for other in refuted {
            let other = self.facts(known(run, other)?).await?;
            others.push(other.changes.clone());
        }
        let patch = self.facts(attempt).await?;
        let baseline = self.target_baseline().await?;
        let prove = || prove_regression_test(target, &baseline, &test, &patch.changes, &others);
        let mut proved = retried(prove).await?;
        self.keep(&mut proved.log).await?;
        Ok(Outcome::Proved(RegressionRecord {
            diff,
            script,
            ..proved
        }))
    }

    /// Finds the place of a test in the pristine tree, with its diff, or says why it has none.
    async fn place_test(
        &self,
        target: &dyn Target,
        test: Option<Patch>,
    ) -> Result<(RegressionTest, String), String> {
        let (patch, run) = if let Some(patch) = test {
            (patch, RegressionRun::Suite)
        } else {
            let (path, patch) = script(&self.parts.tree, target)?;
            (patch, RegressionRun::Script(path))
        };
        let guard: Guard = self.parts.guard.clone().for_tests();
        let prepared = locate::prepare(&self.parts, (&patch, &guard), &[]).await;
        let prepared = prepared.map_err(|refusals| {
            let reasons = refusals.iter().join("; ");
            let first = reasons.lines().next().unwrap_or_default();
            format!("it has no place in the tree: {first}")
        })?;
        let changes = prepared.changes;
        Ok((RegressionTest { changes, run }, prepared.diff))
    }

    /// Minimises the first PoV that crashes, for no longer than the budget. A search that
    /// cannot be made leaves a run without a smallest input and changes nothing else.
    pub(super) async fn minimize(&self, id: StepId, budget: Duration) -> Result<Outcome, Failure> {
        let summary = "searching for the smallest input that shows the crash".to_owned();
        self.intend(id, "minimize", summary, json!({})).await?;
        let target = self.target()?;
        let baseline = self.target_baseline().await?;
        let started = Instant::now();
        let found = minimize(target.as_ref(), &baseline, budget).await?;
        let mut record = SmallestRecord::default();
        if let Some((found, bytes)) = found {
            record = found;
            record.input = Some(self.journal.keep(&bytes).await?);
        }
        record.seconds = started.elapsed().as_secs_f64();
        Ok(Outcome::Minimized(record))
    }
}

/// A shell script that runs the first PoV, in a folder of tests.
fn script(tree: &Tree, target: &dyn Target) -> Result<(String, Patch), String> {
    let task = target.task();
    let pov = task.povs.first().ok_or("there is no PoV")?;
    let command = pov.command.as_deref().or(task.commands.pov.as_deref());
    let command = command.ok_or("there is no command that runs the PoV")?;
    let beside = files_named(command, &task.task_folder)?;
    let bytes = std::fs::read(&pov.file).map_err(|error| format!("the PoV: {error}"))?;
    if bytes.len() > POV {
        let most = POV >> 10;
        return Err(format!(
            "the PoV is larger than the {most} KiB that a script holds"
        ));
    }
    let mut folders = tree.files().into_iter().filter_map(|path| {
        let first = path.as_str().split_once('/')?.0;
        ["tests", "test"].contains(&first).then(|| first.to_owned())
    });
    let folder = folders.next().unwrap_or_else(|| "tests".to_owned());
    let name = plain(&pov.name());
    let path = format!("{folder}/regression-{name}.sh");
    let mut files = written(&format!("input-{name}"), &bytes);
    for file in beside {
        files.push_str(&written(&format!("task/{}", file.path), &file.bytes));
    }
    let harness = plain(pov.harness.as_deref().unwrap_or_default());
    let command = command.trim();
    let values = json!({ "name": name, "harness": harness, "files": files, "command": command });
    let text = template::fill(include_str!("regression/script.sh"), &values);
    let edit = Edit::Create {
        file: path.clone(),
        text: text.map_err(|error| error.to_string())?,
        latin1: false,
        unterminated: false,
    };
    let patch = Patch {
        explanation: None,
        edits: vec![edit],
    };
    Ok((path, patch))
}

/// The lines of a script that write a file into its folder.
fn written(path: &str, bytes: &[u8]) -> String {
    let encoded = STANDARD.encode(bytes);
    let mut text = format!("write \"$folder/{path}\" <<'END'\n");
    for line in encoded.as_bytes().chunks(LINE) {
        text.push_str(&String::from_utf8_lossy(line));
        text.push('\n');
    }
    text + "END\n"
}

/// The letters, digits and plain marks of a name.
fn plain(name: &str) -> String {
    let plain = |one: &char| one.is_ascii_alphanumeric() || ".-_".contains(*one);
    name.chars().filter(plain).collect()
}

/// The identifiers and file names of a diff, by which tests are found.
fn words_of(diff: &str) -> Vec<String> {
    let mut words: Vec<String> = diff
        .lines()
        .filter(|line| line.starts_with(['+', '-', '@']))
        .flat_map(|line| line.split(|one: char| !one.is_alphanumeric() && one != '_'))
        .filter(|word| word.len() > 4)
        .map(str::to_owned)
        .collect();
    words.sort();
    words.dedup();
    words
}

/// Reads the scripts of the tree that a test command runs.
fn scripts_of(tree: &Tree, command: &str) -> Vec<(TreePath, String)> {
    let words = command.split(|one: char| one.is_whitespace() || "\"';&|()".contains(one));
    let paths = words.filter_map(|word| {
        let word = word
            .trim_start_matches("$TREE")
            .trim_start_matches("${TREE}");
        TreePath::new(word.trim_start_matches("./").trim_start_matches('/')).ok()
    });
    let scripts = paths.filter(|path| !path.is_test() && !path.is_build_file());
    let read = scripts.filter_map(|path| {
        let bytes = tree.bytes_up_to(&path, LARGEST).ok()?;
        let text = String::from_utf8(bytes).ok().filter(|text| is_text(text))?;
        Some((path, text))
    });
    read.take(SHOWN / 2).collect()
}

/// Words with their weights.
type Weights = Vec<(String, u64)>;

/// Returns the weight of what a text says of the words.
fn said(text: &str, weights: &Weights) -> u64 {
    let said = weights.iter().filter(|(word, _)| text.contains(word));
    said.map(|(_, weight)| weight).sum()
}

/// Returns the test files of a tree with their content, those first that say the most of these
/// words, of which the rare ones weigh more (inverse document frequency, Spärck Jones, 1972);
/// among equals programs before data, because they tell how a test is written, and the shorter
/// before the longer. With them the weights of the words.
fn ranked(tree: &Tree, words: Vec<String>) -> (Vec<(TreePath, String)>, Weights) {
    let files = tree
        .entries()
        .into_iter()
        .filter(|entry| entry.path.is_test() && entry.size <= LARGEST)
        .filter_map(|entry| {
            let content = tree.read(&entry.path).ok()?;
            let text = String::from_utf8(content.bytes().to_vec()).ok()?;
            Some((entry.path, text))
        })
        .filter(|(_, text)| !text.is_empty() && is_text(text));
    let mut files: Vec<(TreePath, String)> = files.collect();
    let saying = |word: &String| files.iter().filter(|(_, text)| text.contains(word)).count();
    let rarity = |count: usize| (1000.0 * (files.len() as f64 / count as f64).ln()) as u64;
    let counts = words.into_iter().map(|word| (saying(&word), word));
    let counts = counts.filter(|(count, _)| *count > 0);
    let weights: Weights = counts.map(|(count, word)| (word, rarity(count))).collect();
    files.sort_by_cached_key(|(path, text)| {
        // Neither source code nor a script: it holds data of the tests.
        let is_data = Language::of_path(path).is_none() && !text.starts_with("#!");
        let said = said(text, &weights);
        (Reverse(said), is_data, text.len(), path.clone())
    });
    (files, weights)
}

/// Keeps the files that are shown: the first half of those that say most, and of the others those
/// that say most for their length (pivoted normalisation, Singhal et al., 1996).
fn choose(files: &mut Vec<(TreePath, String)>, weights: &Weights) {
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
    let mean = bytes as f64 / files.len() as f64;
    let dense = |text: &str| {
        let length = (text.len() as f64 / mean).ln_1p();
        (said(text, weights) as f64 / (1.0 + length)) as u64
    };
    if let Some((_, rest)) = files.split_at_mut_checked(SHOWN / 2) {
        rest.sort_by_cached_key(|(path, text)| (Reverse(dense(text)), path.clone()));
    }
    files.truncate(SHOWN);
}

/// Returns a file as a model reads it: of a long one the beginning and the lines that say most.
fn shown(name: &str, content: &str, weights: &Weights) -> String {
    let plain: String = name.chars().filter(|one| !one.is_control()).collect();
    let lines = (1..).zip(content.lines());
    let lines = lines.map(|(number, line): (usize, &str)| format!("{number}: {line}"));
    let lines: Vec<String> = lines.collect();
    let size = |kept: &BTreeSet<usize>| -> usize {
        let kept = kept.iter().filter_map(|at| lines.get(*at));
        kept.map(|line| line.len() + 1).sum()
    };
    let mut kept: BTreeSet<usize> = (0..lines.len()).collect();
    if size(&kept) > FILE {
        kept = (0..HEAD.min(lines.len())).collect();
        let mut telling: Vec<(u64, usize)> = lines
            .iter()
            .map(|line| said(line, weights))
            .zip(0..)
            .collect();
        telling.sort_by_key(|(said, at)| (Reverse(*said), *at));
        for (_, at) in telling.into_iter().take(TRIED) {
            // The words for what is left out need room too.
            let fitting = [AROUND, AROUND / 3, 0].into_iter().find_map(|reach| {
                let around = at.saturating_sub(reach)..lines.len().min(at + reach + 1);
                let wider: BTreeSet<usize> = kept.iter().copied().chain(around).collect();
                (size(&wider) <= FILE * 9 / 10).then_some(wider)
            });
            let Some(wider) = fitting else { continue };
            kept = wider;
        }
    }
    let mut text: Vec<String> = Vec::new();
    let mut next = 0;
    for at in kept.into_iter().chain([lines.len()]) {
        if at > next {
            text.push(format!("[... lines {}-{at} left out ...]", next + 1));
        }
        text.extend(lines.get(at).cloned());
        next = at + 1;
    }
    let name = plain.replace('`', "'");
    format!("`{name}`\n\n{}\n\n", fence(&text.join("\n"), "text", FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks test files of these names and contents.
    fn names(files: &[(&str, &str)], words: Vec<String>) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("tests")).unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join("tests").join(name), content).unwrap();
        }
        let tree = Tree::open(folder.path()).unwrap();
        let files = ranked(&tree, words).0.into_iter();
        files.map(|(path, _)| path.to_string()).collect()
    }

    #[test]
    fn programs_come_before_data_and_bytes_that_nobody_writes_are_left_out() {
        let files = [
            ("a.txt", "1"),
            ("b.tlv", "\u{1}x"),
            ("check.c", "int main(void) { return 0; }"),
            ("run.sh", "#!/bin/sh\nexec ./check tests/a.txt\n"),
            (
                "parse.txt",
                "what parse_item answers, in many more words than the others",
            ),
        ];
        let expected = [
            "tests/parse.txt",
            "tests/check.c",
            "tests/run.sh",
            "tests/a.txt",
        ];
        assert_eq!(names(&files, vec!["parse_item".to_owned()]), expected);
    }

    #[test]
    fn words_that_few_tests_say_come_first() {
        let common = "buffer length reader";
        let files = [
            ("a.c", common),
            ("b.c", common),
            ("c.c", common),
            ("d.c", "drive_road buffer"),
        ];
        let words = words_of("+buffer(length, reader)\n+drive_road");
        assert_eq!(names(&files, words)[0], "tests/d.c");
    }

    #[test]
    fn half_of_the_files_say_most_for_their_length() {
        let weights = vec![
            ("drive_road".to_owned(), 900),
            ("turn_left".to_owned(), 900),
        ];
        let file = |name: &str, said: &str, length: usize| {
            let path = TreePath::new(name).unwrap();
            (path, format!("{said} {}", "x".repeat(length)))
        };
        let both = "drive_road turn_left";
        let mut files = vec![
            file("a.c", both, 9_000),
            file("b.c", both, 9_000),
            file("c.c", both, 40_000),
            file("d.c", both, 40_000),
            file("e.c", "drive_road", 10),
            file("f.c", "nothing", 10),
        ];
        choose(&mut files, &weights);
        let names: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(names, ["a.c", "b.c", "e.c", "c.c"]);
    }

    #[test]
    fn scripts_of_the_tree_that_the_command_runs_are_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("util")).unwrap();
        for (name, content) in [("util/run.py", "run()\n"), ("tool", "x"), ("config", "y")] {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let tree = Tree::open(folder.path()).unwrap();
        let command = r#"./configure && python3 "$TREE"/util/run.py --with a/b/tool"#;
        let found = scripts_of(&tree, command);
        let found: Vec<_> = found
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        assert_eq!(found, [("util/run.py", "run()\n")]);
    }

    #[test]
    fn of_a_long_file_the_lines_that_say_most_are_shown() {
        let mut lines: Vec<String> = (1..=900).map(|at| format!("int line_{at};")).collect();
        lines[600] = "check(drive_road());".to_owned();
        let weights = vec![("drive_road".to_owned(), 9)];
        let text = shown("tests/a.c", &lines.join("\n"), &weights);
        assert!(text.contains("1: int line_1;\n"), "{text}");
        assert!(text.contains("[... lines "), "{text}");
        assert!(text.contains("601: check(drive_road());\n602: "), "{text}");
        assert!(!text.contains("characters left out"), "{text}");
        let wide: Vec<String> = lines
            .iter()
            .map(|line| line.clone() + &"x".repeat(180))
            .collect();
        let text = shown("tests/a.c", &wide.join("\n"), &weights);
        assert!(text.contains("601: check(drive_road());"), "{text}");
        let short = shown("tests/a.c", "one\ntwo", &weights);
        assert_eq!(short, "`tests/a.c`\n\n```text\n1: one\n2: two\n```\n\n");
    }
}
