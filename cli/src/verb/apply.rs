//! `patchwright apply`: a reply or a diff, as changes of a tree.
//!
//! Prints the diff, or why there is none, and changes nothing unless told to
//! write. It builds nothing and runs nothing.

use crate::common::{Format, read_named, write_result};
use crate::tree_writer;
use clap::Args;
use patchwright_patcher::{
    Edit, Guard, Patch, Prepared, Refusal, Rule, prepare, read_diff_bytes, reply,
};
use patchwright_source::{Language, Tree, visible};
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The exit status of a patch that was refused.
const REFUSED: u8 = 1;

/// The most source text that is read to learn which names exist, in bytes.
const MOST_SOURCE: usize = 256 * 1024 * 1024;

/// Edits beyond this many are not judged one by one after a refusal.
const MOST_JUDGED: usize = 200;

#[derive(Debug, Clone, Args)]
pub(crate) struct ApplyArguments {
    /// Source tree that the patch is for
    #[arg(long, value_name = "DIR")]
    pub repo: PathBuf,
    /// File with a model's reply or a unified diff; - is standard input
    #[arg(value_name = "REPLY")]
    pub reply: PathBuf,
    /// Format of the result
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Change the tree
    #[arg(long)]
    pub write: bool,
    /// Path or glob that must not be touched (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub protect: Vec<String>,
}

/// Result of reading and placing a reply.
struct Verdict {
    prepared: Option<Prepared>,
    edits: Vec<Value>,
    reasons: Vec<String>,
}

/// Runs `patchwright apply`.
pub(crate) fn run(arguments: &ApplyArguments) -> anyhow::Result<ExitCode> {
    let tree = Tree::open(&arguments.repo)?;
    let guard = Guard::new(&arguments.protect)?;
    let given = read_named("reply", &arguments.reply, u64::MAX)?;
    let verdict = judge(&tree, &guard, &arguments.reply, &given);
    if arguments.write
        && let Some(prepared) = &verdict.prepared
    {
        tree_writer::write(&tree, &prepared.changes)?;
    }
    print(&verdict, arguments.format)?;
    Ok(match verdict.prepared {
        Some(_) => ExitCode::SUCCESS,
        None => ExitCode::from(REFUSED),
    })
}

fn judge(tree: &Tree, guard: &Guard, path: &Path, given: &[u8]) -> Verdict {
    let names = Names::of(tree);
    let knows = |name: &str| names.has(name);
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_diff = matches!(extension, Some("diff" | "patch"));
    let text = match std::str::from_utf8(given) {
        Ok(text) if !is_diff => text,
        _ => return from_diff(read_diff_bytes(tree, given, guard, &knows)),
    };
    let reply = reply::read(text, false);
    let Some(patch) = reply.patch else {
        let mut reasons: Vec<String> = reply.problems.iter().map(ToString::to_string).collect();
        if reasons.is_empty() {
            reasons.push("the reply holds no patch".to_owned());
        }
        return Verdict {
            prepared: None,
            edits: Vec::new(),
            reasons,
        };
    };
    match prepare(tree, &patch, guard, &knows) {
        Ok(prepared) => accepted(prepared),
        Err(refusals) => {
            let alone = |edit: &Edit| {
                let patch = Patch {
                    explanation: None,
                    edits: vec![edit.clone()],
                };
                prepare(tree, &patch, guard, &knows).ok()
            };
            refused(&patch, &refusals, &alone)
        }
    }
}

/// Returns the reasons for a refusal; one where all of the patch is there.
fn reasons(refusals: &[Refusal]) -> Vec<String> {
    if refusals.iter().all(|one| one.rule == Rule::AlreadyApplied) {
        return vec!["the tree has this patch already: every line of it is there".to_owned()];
    }
    refusals.iter().map(ToString::to_string).collect()
}

/// A foreign diff has no edits of its own to list besides what was placed.
fn from_diff(result: Result<Prepared, Vec<Refusal>>) -> Verdict {
    match result {
        Ok(prepared) => accepted(prepared),
        Err(refusals) => Verdict {
            prepared: None,
            edits: refusals.iter().map(refused_edit).collect(),
            reasons: reasons(&refusals),
        },
    }
}

/// Every edit has its place; new syntax errors still refuse the patch.
fn accepted(prepared: Prepared) -> Verdict {
    let mut broken: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, error) in &prepared.syntax_errors {
        let what = format!("new syntax error at line {}: {}", error.line, error.what);
        broken.entry(path.to_string()).or_default().push(what);
    }
    let new_name = |path: &patchwright_source::TreePath| {
        let name = prepared.changes.renamed.get(path).unwrap_or(path);
        name.to_string()
    };
    let edits = prepared
        .placements
        .iter()
        .map(|placement| {
            let errors = broken.get(&new_name(&placement.file));
            let how = errors.map_or_else(|| placement.how.to_string(), |_| "refused".to_owned());
            json!({
                "file": placement.file.as_str(),
                "lines": [placement.lines.0, placement.lines.1],
                "how": how,
                "reason": errors.map(|errors| errors.join("; ")),
            })
        })
        .collect();
    let reasons: Vec<String> = broken
        .iter()
        .flat_map(|(path, errors)| errors.iter().map(move |error| format!("{path}: {error}")))
        .collect();
    Verdict {
        prepared: Some(prepared).filter(|_| reasons.is_empty()),
        edits,
        reasons,
    }
}

fn refused_edit(refusal: &Refusal) -> Value {
    json!({
        "file": refusal.file,
        "lines": refusal.lines.map(|(first, last)| [first, last]),
        "how": "refused",
        "reason": refusal.to_string(),
    })
}

/// A refused patch: each edit with its refusal, or with the place it would
/// have had.
fn refused(
    patch: &Patch,
    refusals: &[Refusal],
    alone: &dyn Fn(&Edit) -> Option<Prepared>,
) -> Verdict {
    let list = (1..)
        .zip(&patch.edits)
        .take(MOST_JUDGED)
        .map(|(number, edit)| {
            if let Some(refusal) = refusals.iter().find(|refusal| refusal.edit == number) {
                return refused_edit(refusal);
            }
            let prepared = alone(edit);
            let placement = prepared
                .as_ref()
                .and_then(|prepared| prepared.placements.first());
            let lines = placement.map_or(edit.lines(), |placement| Some(placement.lines));
            json!({
                "file": placement.map_or(edit.file(), |placement| placement.file.as_str()),
                "lines": lines.map(|(first, last)| [first, last]),
                "how": placement.map_or_else(|| "refused".to_owned(), |placement| placement.how.to_string()),
                "reason": "not applied, because another edit of the patch is refused",
            })
        })
        .collect();
    Verdict {
        prepared: None,
        edits: list,
        reasons: reasons(refusals),
    }
}

fn print(verdict: &Verdict, format: Format) -> anyhow::Result<()> {
    let warnings: &[String] = verdict
        .prepared
        .as_ref()
        .map_or(&[], |prepared| &prepared.warnings);
    if format == Format::Json {
        let result = json!({
            "ok": verdict.prepared.is_some(),
            "diff": verdict.prepared.as_ref().map_or("", |prepared| &prepared.diff),
            "edits": verdict.edits,
            "reasons": verdict.reasons,
            "warnings": warnings,
        });
        let mut out = std::io::stdout().lock();
        serde_json::to_writer_pretty(&mut out, &result)?;
        out.write_all(b"\n")?;
        return Ok(());
    }
    if let Some(prepared) = &verdict.prepared {
        write_result(&prepared.diff_bytes)?;
    }
    let mut err = std::io::stderr().lock();
    for reason in &verdict.reasons {
        writeln!(err, "{}", visible(reason))?;
    }
    for warning in warnings {
        writeln!(err, "warning: {}", visible(warning))?;
    }
    Ok(())
}

/// The identifiers and file names of a tree, read when first asked for.
struct Names<'a> {
    tree: &'a Tree,
    known: OnceCell<HashSet<String>>,
}

impl<'a> Names<'a> {
    fn of(tree: &'a Tree) -> Self {
        Self {
            tree,
            known: OnceCell::new(),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.known.get_or_init(|| self.read()).contains(name)
    }

    fn read(&self) -> HashSet<String> {
        let mut known = HashSet::new();
        let mut left = MOST_SOURCE;
        for path in self.tree.files() {
            known.insert(path.file_name().to_owned());
            known.insert(path.to_string());
            if Language::of_path(&path).is_none() {
                continue;
            }
            let Ok(text) = self.tree.read(&path) else {
                continue;
            };
            let Some(rest) = left.checked_sub(text.bytes().len()) else {
                break;
            };
            left = rest;
            let text = text.decode(text.bytes());
            let words = text.split(|next: char| !(next.is_alphanumeric() || next == '_'));
            known.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
        }
        known
    }
}
