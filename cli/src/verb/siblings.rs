//! `patchwright siblings`: places that may have the flaw that a fix repaired elsewhere.
//!
//! The fix is a diff, a commit or the best candidate of a run. Nothing is built or run: what is
//! printed are candidates, each with what may make it harmless. Only where *robust* of the run had
//! an input that crashes the patched program in one of them, it is called a flaw.

use super::retrieve::open;
use super::{export, session};
use crate::common::{Common, Format, WrongInput};
use crate::git::Git;
use crate::revisions::AS_IT_IS;
use anyhow::Context;
use clap::Args;
use patchwright_agent::report::AttemptReport;
use patchwright_agent::task::Source;
use patchwright_retrieval::{Sibling, Symbol};
use patchwright_source::{FileDiff, visible_line};
use patchwright_target::runner::INSIDE;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(crate) struct SiblingsArguments {
    /// The fix: a file with a diff, a commit of the tree's repository, or a run whose best candidate it is
    pub fix: String,
    /// Source tree to search, with or without the fix; by default the folder one is in, or the tree of the run
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,
    /// Format in which the candidates are printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Finds the places that are like what a fix repaired, and prints them.
///
/// # Errors
/// The fix or the tree is not there, or the index fails.
pub(crate) async fn run(common: &Common, arguments: SiblingsArguments) -> anyhow::Result<ExitCode> {
    let fix = read(common, &arguments).await?;
    let named = visible_line(&arguments.fix);
    let files = FileDiff::read(&fix.diff).filter(|files| !files.is_empty());
    let files =
        files.ok_or_else(|| WrongInput(format!("{named} has no change that can be read")))?;
    let (engine, _) = open(common, &fix.tree, Vec::new())?;
    let found = engine.siblings(&files)?;
    let found = found.iter().map(|sibling| value(sibling, &fix.crashes));
    let found: Vec<Value> = found.collect();
    let values = json!({ "schema": 1, "fix": arguments.fix, "candidates": found });
    let format = arguments.format;
    format.print(&values, include_str!("siblings/text.txt"))?;
    Ok(ExitCode::SUCCESS)
}

/// A fix.
struct Fix {
    diff: String,
    /// Where it is looked for.
    tree: PathBuf,
    /// Inputs that crash the fixed program elsewhere, each with the crash in a line, its paths
    /// those of the tree.
    crashes: Vec<(String, String)>,
}

impl Fix {
    fn new(diff: &[u8], tree: PathBuf) -> Self {
        Self {
            diff: String::from_utf8_lossy(diff).into_owned(),
            tree,
            crashes: Vec::new(),
        }
    }
}

/// Reads the fix, and where it is looked for.
async fn read(common: &Common, arguments: &SiblingsArguments) -> anyhow::Result<Fix> {
    let fix = arguments.fix.as_str();
    let tree = arguments.repo.clone();
    let here = tree.clone().unwrap_or_else(|| PathBuf::from("."));
    if Path::new(fix).is_file() {
        let diff = std::fs::read(fix).with_context(|| format!("{fix} cannot be read"))?;
        return Ok(Fix::new(&diff, here));
    }
    let git = Git::new(&here).with("GIT_ALLOW_PROTOCOL", "none");
    if let Ok(commit) = git.commit(fix).await {
        let own = ["--no-renames", "--format=", "--relative", &commit, "--"];
        let shown = [&["show", "-m", "--first-parent"][..], &AS_IT_IS, &own].concat();
        let diff = git.output(&shown).await?;
        return Ok(Fix::new(&diff, here));
    }
    let (_, store) = common.open().await?;
    let found = session::find_run(&store, Some(fix)).await;
    let named = visible_line(fix);
    let id = found.with_context(|| {
        let here = here.display();
        format!("{named} is no file with a diff, no commit of {here}, and no run")
    })?;
    let task = session::task_of(&store, &id).await?;
    let report = export::report(&store, &id).await?;
    let best = export::candidate(&report, None)?;
    let ((Some(tree), _) | (None, Source::Path(tree))) = (tree, task.source) else {
        let reason = format!("run {named} fetched its tree: name a copy of it with --repo DIR");
        return Err(WrongInput(reason).into());
    };
    let usual = || format!("{INSIDE}/tree");
    let seen = task.seen_as.unwrap_or_else(usual);
    Ok(Fix {
        crashes: crashes(best, &format!("{seen}/")),
        ..Fix::new(&best.diff_bytes(), tree)
    })
}

/// Lists the inputs with which *robust* crashed the patched program elsewhere.
fn crashes(attempt: &AttemptReport, tree: &str) -> Vec<(String, String)> {
    let robust = attempt.rungs.iter().filter(|rung| rung.name == "robust");
    let doubts = robust.flat_map(|rung| &rung.doubts);
    let crashes =
        doubts.filter_map(|doubt| Some((doubt.input.clone()?, doubt.after.replace(tree, ""))));
    crashes.collect()
}

/// Returns the input that crashes the program in the function of a candidate.
fn crashing<'c>(function: &Symbol, crashes: &'c [(String, String)]) -> Option<&'c str> {
    let path = function.path.as_str();
    let is_in = |place: &str| {
        let mut parts = place.split(':');
        let is_file = parts.next().is_some_and(|file| file == path);
        let line = parts.next().and_then(|line| line.parse().ok());
        is_file && line.is_some_and(|line| function.holds(line))
    };
    let mut found = crashes.iter();
    let found = found.find(|(_, crash)| crash.split_whitespace().any(is_in));
    found.map(|(input, _)| input.as_str())
}

/// A candidate with its code and what may make it harmless.
fn value(sibling: &Sibling, crashes: &[(String, String)]) -> Value {
    let symbol = &sibling.symbol;
    let (path, line) = &sibling.like;
    json!({
        "path": symbol.path.as_str(),
        "function": symbol.qualified(),
        "first": sibling.first,
        "last": sibling.last,
        "likeness": (sibling.likeness * 100.0).round() / 100.0,
        "present": (sibling.present * 100.0).round() / 100.0,
        "like": { "path": path.as_str(), "line": line },
        "called": sibling.is_called,
        "code": sibling.code,
        "checks": sibling.checks,
        "input": crashing(symbol, crashes),
    })
}

#[cfg(test)]
mod tests {
    use super::crashing;
    use patchwright_retrieval::{Symbol, SymbolKind};
    use patchwright_source::{Language, TreePath};

    #[test]
    fn a_crash_is_in_a_function_by_its_file_and_line() {
        let function = Symbol {
            id: 1,
            name: "read_title".to_owned(),
            scope: String::new(),
            kind: SymbolKind::Function,
            path: TreePath::new("src/a.c").unwrap(),
            language: Language::C,
            start_line: 10,
            end_line: 20,
            name_line: 10,
            body_line: Some(11),
            parent: None,
            type_name: None,
        };
        for (crash, is_in) in [
            ("heap-buffer-overflow in read_title src/a.c:12:3", true),
            ("heap-buffer-overflow in read_title src/a.c:20", true),
            ("heap-buffer-overflow in read_name src/a.c:21", false),
            ("heap-buffer-overflow in read_name lib/src/a.c:12", false),
            ("heap-buffer-overflow in read_name src/data.c:12", false),
            ("exit status 1\nsrc/a.c: no such file", false),
        ] {
            let crashes = [("input".to_owned(), crash.to_owned())];
            assert_eq!(crashing(&function, &crashes).is_some(), is_in, "{crash}");
        }
    }
}
