//! `patchwright apply`: a reply or a diff, as changes of a tree.
//!
//! Prints the diff, or why there is none, and changes nothing unless told to
//! write. It builds nothing and runs nothing.

use crate::common::{Format, read_named, write_out, write_result};
use anyhow::Context;
use clap::Args;
use patchwright_patcher::{
    Changes, Edit, Guard, Patch, Placement, Prepared, Refusal, Rule, prepare, read_diff_bytes,
    reply,
};
use patchwright_source::{Language, Tree, TreePath, visible};
use serde::Serialize;
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tempfile::NamedTempFile;

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
#[derive(Default, Serialize)]
struct Verdict {
    ok: bool,
    diff: String,
    edits: Vec<Value>,
    reasons: Vec<String>,
    warnings: Vec<String>,
    /// The patch with its changes; none where it is refused.
    #[serde(skip)]
    prepared: Option<Prepared>,
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
        write(&tree, &prepared.changes)?;
    }
    if arguments.format == Format::Json {
        write_out(serde_json::to_string_pretty(&verdict)? + "\n")?;
    } else {
        print(&verdict)?;
    }
    Ok(ExitCode::from(if verdict.ok { 0 } else { REFUSED }))
}

fn judge(tree: &Tree, guard: &Guard, path: &Path, given: &[u8]) -> Verdict {
    let known = OnceCell::new();
    let knows = |name: &str| known.get_or_init(|| names(tree)).contains(name);
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_diff = matches!(extension, Some("diff" | "patch"));
    let text = match std::str::from_utf8(given) {
        Ok(text) if !is_diff => text,
        // A foreign diff has no edits of its own to list besides what was placed.
        _ => {
            let read = read_diff_bytes(tree, given, guard, &knows);
            return read.map_or_else(
                |refusals| refused(&refusals, refusals.iter().map(refused_edit).collect()),
                accepted,
            );
        }
    };
    let reply = reply::read(text, false);
    let Some(patch) = reply.patch else {
        let mut reasons = reply.problems;
        if reasons.is_empty() {
            reasons.push("the reply holds no patch".to_owned());
        }
        return Verdict {
            reasons,
            ..Verdict::default()
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
            refused(&refusals, edits_of(&patch, &refusals, &alone))
        }
    }
}

/// A refused patch with its edits, and the reasons; one where all of the patch is there.
fn refused(refusals: &[Refusal], edits: Vec<Value>) -> Verdict {
    let is_there = |refusal: &Refusal| refusal.rule == Rule::AlreadyApplied;
    let reasons = if refusals.iter().all(is_there) {
        vec!["the tree has this patch already: every line of it is there".to_owned()]
    } else {
        refusals.iter().map(ToString::to_string).collect()
    };
    Verdict {
        edits,
        reasons,
        ..Verdict::default()
    }
}

/// Every edit has its place; new syntax errors still refuse the patch.
fn accepted(prepared: Prepared) -> Verdict {
    let mut broken: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, error) in &prepared.syntax_errors {
        let what = format!("new syntax error at line {}: {}", error.line, error.what);
        broken.entry(path.to_string()).or_default().push(what);
    }
    let edits = prepared.placements.iter().map(|placement| {
        let file = &placement.file;
        let new_name = prepared.changes.renamed.get(file).unwrap_or(file);
        let errors = broken.get(new_name.as_str());
        let reason = errors.map(|errors| errors.join("; "));
        let placed = Some(placement).filter(|_| errors.is_none());
        edit_value(
            (file.as_str(), Some(placement.lines)),
            placed,
            reason.as_deref(),
        )
    });
    let edits = edits.collect();
    let reasons: Vec<String> = broken
        .iter()
        .flat_map(|(path, errors)| errors.iter().map(move |error| format!("{path}: {error}")))
        .collect();
    let prepared = Some(prepared).filter(|_| reasons.is_empty());
    let kept = prepared.as_ref();
    Verdict {
        ok: kept.is_some(),
        diff: kept.map(|kept| kept.diff.clone()).unwrap_or_default(),
        warnings: kept.map(|kept| kept.warnings.clone()).unwrap_or_default(),
        edits,
        reasons,
        prepared,
    }
}

fn refused_edit(refusal: &Refusal) -> Value {
    let reason = refusal.to_string();
    edit_value((&refusal.file, refusal.lines), None, Some(&reason))
}

/// An edit, how it was placed, and the reason for which it was not applied.
fn edit_value(
    (file, lines): (&str, Option<(u32, u32)>),
    placed: Option<&Placement>,
    reason: Option<&str>,
) -> Value {
    let how = placed.map_or_else(|| "refused".to_owned(), |placed| placed.how.to_string());
    json!({ "file": file, "lines": lines, "how": how, "reason": reason })
}

/// The edits of a refused patch: each with its refusal, or with the place it would
/// have had.
fn edits_of(
    patch: &Patch,
    refusals: &[Refusal],
    alone: &dyn Fn(&Edit) -> Option<Prepared>,
) -> Vec<Value> {
    let edits = (1..).zip(&patch.edits).take(MOST_JUDGED);
    let edits = edits.map(|(number, edit)| {
        if let Some(refusal) = refusals.iter().find(|refusal| refusal.edit == number) {
            return refused_edit(refusal);
        }
        let prepared = alone(edit);
        let placement = prepared
            .as_ref()
            .and_then(|prepared| prepared.placements.first());
        let lines = placement.map_or(edit.lines(), |placement| Some(placement.lines));
        let file = placement.map_or(edit.file(), |placement| placement.file.as_str());
        let reason = "not applied, because another edit of the patch is refused";
        edit_value((file, lines), placement, Some(reason))
    });
    edits.collect()
}

fn print(verdict: &Verdict) -> anyhow::Result<()> {
    if let Some(prepared) = &verdict.prepared {
        write_result(&prepared.diff_bytes)?;
    }
    let mut err = std::io::stderr().lock();
    for reason in &verdict.reasons {
        writeln!(err, "{}", visible(reason))?;
    }
    for warning in &verdict.warnings {
        writeln!(err, "warning: {}", visible(warning))?;
    }
    Ok(())
}

/// The identifiers and file names of a tree.
fn names(tree: &Tree) -> HashSet<String> {
    let mut known = HashSet::new();
    let mut left = MOST_SOURCE;
    for path in tree.files() {
        known.insert(path.file_name().to_owned());
        known.insert(path.to_string());
        if Language::of_path(&path).is_none() {
            continue;
        }
        let Ok(text) = tree.read(&path) else {
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

/// Writes changes into a tree, in place. Everything is laid down beside its place first, so that a full
/// disk leaves the tree as it was.
fn write(tree: &Tree, changes: &Changes) -> anyhow::Result<()> {
    let mut laid: Vec<(NamedTempFile, PathBuf)> = Vec::new();
    for (path, bytes) in &changes.files {
        laid.push(lay_down(tree, changes, path, bytes)?);
    }
    for (from, to) in &changes.renamed {
        let target = folder_of(tree, to)?;
        let fail = || format!("renaming {from} to {to}");
        std::fs::rename(tree.absolute(from), target).with_context(fail)?;
    }
    for (file, target) in laid {
        let fail = || format!("writing {}", target.display());
        file.persist(&target).with_context(fail)?;
    }
    for path in &changes.deleted {
        std::fs::remove_file(tree.absolute(path)).with_context(|| format!("deleting {path}"))?;
    }
    Ok(())
}

/// Writes a file's new bytes beside its place, with the mode of the old one.
fn lay_down(
    tree: &Tree,
    changes: &Changes,
    path: &TreePath,
    bytes: &[u8],
) -> anyhow::Result<(NamedTempFile, PathBuf)> {
    let target = folder_of(tree, path)?;
    let folder = target.parent().unwrap_or(tree.root());
    let fail = || format!("writing beside {path}");
    let mut file = tempfile::Builder::new()
        .prefix(".patchwright-")
        .tempfile_in(folder)
        .with_context(fail)?;
    file.write_all(bytes).with_context(fail)?;
    file.as_file().sync_all().with_context(fail)?;
    let renamed = changes.renamed.iter().find(|(_, to)| *to == path);
    let old = tree.absolute(renamed.map_or(path, |(from, _)| from));
    let permissions = match std::fs::metadata(old) {
        Ok(metadata) => metadata.permissions(),
        Err(_) => std::os::unix::fs::PermissionsExt::from_mode(0o644),
    };
    file.as_file()
        .set_permissions(permissions)
        .with_context(fail)?;
    Ok((file, target))
}

/// Where a file goes; its folder is made if it is new.
fn folder_of(tree: &Tree, path: &TreePath) -> anyhow::Result<PathBuf> {
    let target = tree.absolute(path);
    if let Some(folder) = target.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("making the folder of {path}"))?;
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::write;
    use patchwright_patcher::Changes;
    use patchwright_source::{Tree, TreePath};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn writes_what_the_changes_say() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["kept.c", "gone.c", "old.c", "edited.c"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.path().join("edited.c"), mode).unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        let path = |name: &str| TreePath::new(name).unwrap();
        let changes = Changes {
            files: [
                (path("edited.c"), b"new".to_vec()),
                (path("deep/new.c"), b"fresh".to_vec()),
                (path("moved.c"), b"moved and edited".to_vec()),
            ]
            .into(),
            deleted: [path("gone.c")].into(),
            renamed: [(path("old.c"), path("moved.c"))].into(),
        };
        write(&tree, &changes).unwrap();
        let files: Vec<(String, Vec<u8>)> = tree
            .files()
            .into_iter()
            .map(|path| (path.to_string(), tree.read(&path).unwrap().bytes().to_vec()))
            .collect();
        let expected = [
            ("deep/new.c", "fresh"),
            ("edited.c", "new"),
            ("kept.c", "kept.c"),
            ("moved.c", "moved and edited"),
        ];
        let expected = expected.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
        assert_eq!(files, expected);
        let metadata = fs::metadata(folder.path().join("edited.c")).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o755);
    }
}
