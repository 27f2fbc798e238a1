//! `patchwright audit`: an old fix under the ladder.
//!
//! A commit of the project is judged as a patch of somebody else against the tree before it, and
//! the later commits that touched the same functions again are named.

mod pov;

use super::backport::fix::Fix;
use super::backport::place;
use super::init::expect_povs;
use super::session::{self, OutputArguments};
use crate::common::Common;
use crate::revisions::Revisions;
use clap::Args;
use patchwright_agent::record::{CommitRecord, Ending, EndingKind};
use patchwright_agent::report::{INTERRUPTED, Report, RungReport};
use patchwright_agent::task::{self, Pov};
use patchwright_patcher::Patch;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

/// Beginnings of words in the subject of a commit that repairs.
const REPAIR: &str = "avoid bound bug check correct crash cve fix free handle heap invalid leak mistake null oob overflow overread \
                      prevent refuse reject repair sanit sanity secur segfault segv undefined uninit vulnerab wrong";

/// The rungs at which inputs of the same flaw refute a patch.
const INPUTS: [&str; 2] = ["silent", "robust"];

#[derive(Debug, Args)]
pub(crate) struct AuditArguments {
    /// The commit of the project that was to fix the crash
    pub commit: String,
    /// The task with the commands, and the PoV: a folder with a task.toml, or a task file; found by trying where none is named
    #[arg(long, value_name = "TASK")]
    pub task: Option<PathBuf>,
    /// Without a task: a work tree of the project
    #[arg(long, value_name = "DIR", default_value = ".", conflicts_with = "task")]
    pub repo: PathBuf,
    /// A crashing input, several times, in place of the task's and of those that the commit brings
    #[arg(long, value_name = "FILE")]
    pub pov: Vec<PathBuf>,
    /// The last commit whose history is looked at
    #[arg(long, value_name = "REF", default_value = "HEAD")]
    pub until: String,
    /// The repository, where it is not the one that the task's tree is in
    #[arg(long, value_name = "REPOSITORY")]
    pub upstream: Option<String>,
    /// Where the evidence goes
    #[command(flatten)]
    pub output: OutputArguments,
}

/// The answer about an old fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    /// No check refutes it.
    Held,
    /// An input shows the flaw in spite of it.
    Incomplete,
    /// The checks do not tell.
    Undecided,
}

/// A later commit that has to do with the fix.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Later {
    #[serde(flatten)]
    commit: CommitRecord,
    /// The functions of the fix that it changes.
    functions: BTreeSet<String>,
    /// True where its message names the fix.
    names_it: bool,
    /// True where its subject speaks of a repair.
    repairs: bool,
}

/// Judges an old fix and prints what is known of it.
///
/// # Errors
/// The task or the commit is not there, or the machinery fails.
pub(crate) async fn run(common: &Common, arguments: AuditArguments) -> anyhow::Result<ExitCode> {
    let mut loaded = common.load(Vec::new())?;
    // Its project has reviewed it.
    loaded.settings.critic.calls = 0;
    expect_povs(&arguments.pov)?;
    let task = match &arguments.task {
        Some(path) => task::read(path)?,
        None => pov::of_tree(&arguments.repo)?,
    };
    let place = place(&task, &loaded, arguments.upstream.as_deref()).await?;
    let revisions = Revisions::begin(&task, &loaded.settings, &place).await?;
    let fix = Fix::of_commit(&revisions, &arguments.commit).await?;
    let later = later(&revisions, &fix, &arguments.until).await?;
    let before = pov::before((&revisions, &fix), &arguments);
    let before = session::unless_stopped(Box::pin(before)).await;
    let stopped = || Ending::new(EndingKind::Canceled, "stopped while PoVs were tried");
    let before = before.ok_or_else(|| arguments.output.refused(&task.id, stopped()))??;
    let povs: Vec<String> = before.povs.iter().map(Pov::name).collect();
    let patch = Patch::from_diff(&fix.diff);
    let report = session::judge((before, loaded.clone()), patch, &arguments.output).await?;
    let refuting = session::refuting(&report);
    let answer = answer(&report, refuting);
    // The inputs that refute it are files below the `--out` folder, or hashes in the store.
    let audit = json!({
        "schema": 1,
        "task": task.id,
        "fix": fix,
        "povs": povs,
        "answer": answer,
        "detail": session::reason(&report),
        "ending": report.ending,
        "run": report.run,
        "inputs": refuting.map_or(&[][..], |rung| &rung.found),
        "later": later,
    });
    let format = arguments.output.format;
    format.print(&audit, include_str!("audit/text.txt"))?;
    Ok(match answer {
        Answer::Held => ExitCode::SUCCESS,
        Answer::Incomplete => ExitCode::from(1),
        Answer::Undecided if report.ending == INTERRUPTED => session::status(&report),
        Answer::Undecided => ExitCode::from(EndingKind::Unverified.exit_code()),
    })
}

fn answer(report: &Report, refuting: Option<&RungReport>) -> Answer {
    match (EndingKind::read(&report.ending), refuting) {
        (Some(EndingKind::Verified | EndingKind::Plausible), None) => Answer::Held,
        (_, Some(rung)) if INPUTS.contains(&rung.name.as_str()) => Answer::Incomplete,
        _ => Answer::Undecided,
    }
}

/// Lists the later commits that change a function of the fix or name it, the oldest first.
async fn later(revisions: &Revisions<'_>, fix: &Fix, until: &str) -> anyhow::Result<Vec<Later>> {
    let Some(commit) = &fix.commit else {
        return Ok(Vec::new());
    };
    let until = super::backport::fix::commit(revisions, until).await?;
    let range = format!("{}..{until}", commit.commit);
    let git = &revisions.git;
    let changes = (fix.parent.as_str(), fix.code.as_str());
    let own = revisions.diff(changes, &["-U0"], &[]).await?;
    let own = functions(&String::from_utf8_lossy(&own));
    let files: BTreeSet<&str> = own.iter().map(|(file, _)| file.as_str()).collect();
    let files: Vec<&str> = files.into_iter().collect();
    let short = commit.commit.get(..12).unwrap_or(&commit.commit);
    let names = format!("--grep={short}");
    let log = ["log", "--format=%H", "--fixed-strings"];
    let naming = [&log[..], &[&names, &range, "--"]].concat();
    let naming = git.run(&naming).await?;
    let listed = ["rev-list", "--reverse", "--topo-order", &range, "--"];
    let touching = git.run(&[&listed[..], &files].concat()).await?;
    let mut order: Vec<&str> = touching.lines().collect();
    order.extend(naming.lines().filter(|line| !touching.contains(line)));
    let mut later = Vec::new();
    for hash in order {
        let parent = format!("{hash}^1");
        let diff = revisions.diff((&parent, hash), &["-U0"], &files).await?;
        let both = functions(&String::from_utf8_lossy(&diff));
        let functions = own
            .intersection(&both)
            .map(|(_, function)| function.clone());
        let functions: BTreeSet<String> = functions.collect();
        let names_it = naming.lines().any(|line| line == hash);
        if names_it || !functions.is_empty() {
            let commit = revisions.record(hash, 1).await?;
            later.push(Later {
                repairs: speaks_of_a_repair(&commit.subject),
                commit,
                functions,
                names_it,
            });
        }
    }
    Ok(later)
}

fn speaks_of_a_repair(subject: &str) -> bool {
    let subject = subject.to_lowercase();
    let mut words = subject.split(|letter: char| !letter.is_alphanumeric());
    words.any(|word| REPAIR.split(' ').any(|begin| word.starts_with(begin)))
}

/// Lists the functions, each with its file, that the hunks of a diff without context are in, as
/// git names them in their headers.
fn functions(diff: &str) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let mut file = "";
    for line in diff.lines() {
        if let Some(path) = line.strip_prefix("+++ b/") {
            file = path;
        } else if let Some(hunk) = line.strip_prefix("@@ ")
            && let Some((_, heading)) = hunk.split_once("@@")
            && let Some((before, _)) = heading.split_once('(')
        {
            let is_name = |char: char| char.is_alphanumeric() || "_:~".contains(char);
            let name = before.trim_end().rsplit(|char| !is_name(char)).next();
            let name = name.filter(|name| !name.is_empty());
            found.extend(name.map(|name| (file.to_owned(), name.to_owned())));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{functions, speaks_of_a_repair};

    #[test]
    fn a_commit_that_repairs_says_so_in_a_word_of_its_own() {
        for subject in [
            "Further fix the fix to CVE-1",
            "IP: Add bounds checks",
            "A mistake in f",
        ] {
            assert!(speaks_of_a_repair(subject), "{subject}");
        }
        for subject in ["Name the prefix", "Use more macros", ""] {
            assert!(!speaks_of_a_repair(subject), "{subject}");
        }
    }

    #[test]
    fn functions_are_named_as_git_heads_their_hunks() {
        let diff = "--- a/src/a.c\n+++ b/src/a.c\n@@ -1 +1 @@ static int *read_line (const char *a)\n-x\n+y\n\
                    @@ -9,0 +9 @@ struct record {\n+z\n--- a/b.cc\n+++ b/b.cc\n@@ -3 +3 @@ void A::f(int)\n-x\n+y\n";
        let found = functions(diff).into_iter();
        let found: Vec<String> = found.map(|(file, name)| format!("{file} {name}")).collect();
        assert_eq!(found, ["b.cc A::f", "src/a.c read_line"]);
    }
}
