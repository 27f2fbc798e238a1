//! Outcome of a patch for each file: its new bytes, and its part of the diff.

use crate::diff::{FileDiff, write_diff};
use crate::normal;
use crate::plan::{FilePlan, Plan};
use crate::splice::{Splice, carry_out, join_neighbours, reduce};
use crate::syntax::{Checked, new_errors};
use patchwright_source::{Text, TreePath};
use std::collections::{BTreeMap, BTreeSet};

/// One file after the patch.
pub(super) struct Outcome {
    pub(super) splices: Vec<Splice>,
    pub(super) bytes: Vec<u8>,
    /// The syntax errors that are new.
    pub(super) syntax: Checked,
}

/// Carries the pieces of a file out.
pub(super) fn outcome_of(file: &FilePlan) -> Outcome {
    outcome_without(file, &[])
}

/// Carries the pieces of a file out, but for those of some edits.
pub(super) fn outcome_without(file: &FilePlan, edits: &[usize]) -> Outcome {
    let text = &file.pristine.text;
    let pieces = file.pieces.iter();
    let pieces = pieces
        .filter(|piece| !edits.contains(&piece.edit))
        .map(|piece| piece.splice.clone())
        .collect();
    let mut joined = join_neighbours(pieces);
    settle_end(text, file.terminated, &mut joined);
    let splices: Vec<Splice> = joined
        .iter()
        .flat_map(|splice| reduce(text, splice))
        .collect();
    let splices = join_neighbours(splices);
    let bytes = carry_out(text, &splices);
    let syntax = new_errors(&file.pristine, &splices, &bytes);
    Outcome {
        splices,
        bytes,
        syntax,
    }
}

/// The file ends as it did, with or without a line end, unless a diff asks for
/// the other.
fn settle_end(text: &Text, terminated: Option<bool>, splices: &mut [Splice]) {
    let count = text.line_count();
    let was = text.ends_with_newline() || count == 0;
    let Some(last) = splices.last_mut().filter(|splice| splice.old.end == count) else {
        return;
    };
    let shall = terminated.unwrap_or(was);
    if !was && last.old.is_empty() && !last.new.is_empty() {
        let end = last.new.first().map_or(&b"\n"[..], |line| {
            if line.ends_with(b"\r\n") {
                b"\r\n"
            } else {
                b"\n"
            }
        });
        let mut line = text.raw_line(count).unwrap_or_default().to_vec();
        line.extend_from_slice(end);
        last.new.insert(0, line);
        last.old.start = count.saturating_sub(1);
    }
    if !shall && last.new.is_empty() && last.old.start > 0 {
        last.old.start -= 1;
        let line = text.raw_line(last.old.start + 1).unwrap_or_default();
        last.new.push(line.to_vec());
    }
    if !shall && let Some(line) = last.new.last_mut() {
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        *line = bare.strip_suffix(b"\r").unwrap_or(bare).to_vec();
        // A blank line without its end is no line at all.
        if line.is_empty() {
            last.new.pop();
        }
    }
}

/// The diff and the normal form of a patch.
pub(super) fn describe(
    plan: &Plan<'_>,
    outcomes: &BTreeMap<TreePath, Outcome>,
) -> (Vec<u8>, String) {
    let sources = Sources::of(plan, outcomes);
    let mut form = String::new();
    let mut files = Vec::new();
    for source in &sources.list {
        let old = source.text.as_ref().map(|text| (&source.path, text));
        let target = source.target.as_ref();
        let language = patchwright_source::Language::of_path(&source.path);
        match (old, target) {
            (None, Some(new)) => normal_head(&mut form, "create", new),
            (Some((old, _)), None) => normal_head(&mut form, "delete", old),
            (Some((old, _)), Some(new)) if old != new => {
                normal_head(&mut form, &format!("rename {old} to"), new);
            }
            _ => {}
        }
        if target.is_some() {
            let text = source.text.as_ref();
            normal::write_file(&mut form, &source.path, text, language, &source.splices);
        }
        files.push(FileDiff {
            old,
            new: target,
            splices: &source.splices,
            executable: source.executable,
        });
    }
    (write_diff(&files), form)
}

fn normal_head(form: &mut String, what: &str, path: &TreePath) {
    form.push_str(what);
    form.push(' ');
    form.push_str(path.as_str());
    form.push('\n');
}

/// One file of the diff, whatever happens to it.
struct Source {
    path: TreePath,
    text: Option<Text>,
    target: Option<TreePath>,
    splices: Vec<Splice>,
    executable: bool,
}

/// All files of the diff, sorted by path.
struct Sources {
    list: Vec<Source>,
}

impl Sources {
    fn of(plan: &Plan<'_>, outcomes: &BTreeMap<TreePath, Outcome>) -> Self {
        let mut paths: BTreeSet<&TreePath> = outcomes.keys().collect();
        paths.extend(plan.created.keys());
        paths.extend(plan.deleted.keys());
        paths.extend(plan.renamed.keys());
        let list = paths
            .into_iter()
            .map(|path| source_of(plan, outcomes, path))
            .collect();
        Self { list }
    }
}

fn source_of(plan: &Plan<'_>, outcomes: &BTreeMap<TreePath, Outcome>, path: &TreePath) -> Source {
    if let Some(creation) = plan.created.get(path) {
        let text = Text::new(creation.bytes.clone());
        let lines = (1..=text.line_count()).filter_map(|line| text.raw_line(line));
        let new: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
        let splices = if new.is_empty() {
            Vec::new()
        } else {
            vec![Splice { old: 0..0, new }]
        };
        return Source {
            path: path.clone(),
            text: None,
            target: Some(path.clone()),
            splices,
            executable: false,
        };
    }
    let text = match plan.files.get(path) {
        Some(file) => file.pristine.text.clone(),
        None => plan
            .paths
            .tree
            .read(path)
            .unwrap_or_else(|_| Text::new(Vec::new())),
    };
    let deleted = plan.deleted.contains_key(path);
    let splices = match outcomes.get(path) {
        Some(outcome) => outcome.splices.clone(),
        None if deleted && text.line_count() > 0 => {
            vec![Splice {
                old: 0..text.line_count(),
                new: Vec::new(),
            }]
        }
        None => Vec::new(),
    };
    let renamed = plan.renamed.get(path).map(|(_, to)| to.clone());
    Source {
        path: path.clone(),
        target: (!deleted).then(|| renamed.unwrap_or_else(|| path.clone())),
        executable: is_executable(&plan.paths.tree.absolute(path)),
        text: Some(text),
        splices,
    }
}

fn is_executable(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o100 != 0)
}
