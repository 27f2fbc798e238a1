//! From edits to changes: all or nothing.

use crate::diff::{FileDiff, parse_diff, write_diff};
use crate::plan::{FilePlan, Piece, Plan};
use crate::splice::{Splice, carry_out, join_neighbours, reduce};
use crate::syntax::{Checked, new_errors};
use crate::{Changes, Edit, Guard, Patch, Prepared, Refusal, Rule, Touched, names, normal};
use patchwright_source::{Text, Tree, TreePath};
use std::collections::{BTreeMap, BTreeSet};

/// Finds the place of every edit and makes the changes, or says of every edit
/// that cannot be taken why. `knows` tells whether a name is known in the tree
/// or its headers.
pub fn prepare(
    tree: &Tree,
    patch: &Patch,
    guard: &Guard,
    knows: &dyn Fn(&str) -> bool,
) -> Result<Prepared, Vec<Refusal>> {
    if patch.edits.is_empty() {
        let reason = "there is no edit in the patch";
        return Err(vec![Refusal::of_patch(Rule::Incomplete, reason)]);
    }
    if patch.edits.len() > guard.max_edits {
        let reason = format!(
            "the patch has {} edits, more than the {} that are taken",
            patch.edits.len(),
            guard.max_edits
        );
        return Err(vec![Refusal::of_patch(Rule::TooLarge, reason)]);
    }
    let mut plan = Plan::make(tree, &patch.edits, guard, knows);
    find_conflicts(&mut plan, &patch.edits);
    if plan.refusals.is_empty() {
        assemble(plan, &patch.edits)
    } else {
        plan.refusals.sort_by_key(|refusal| refusal.edit);
        Err(plan.refusals)
    }
}

/// Reads a unified diff that somebody else made, by the same rules.
pub fn read_diff(
    tree: &Tree,
    diff: &str,
    guard: &Guard,
    knows: &dyn Fn(&str) -> bool,
) -> Result<Prepared, Vec<Refusal>> {
    read_diff_bytes(tree, diff.as_bytes(), guard, knows)
}

/// Reads a unified diff whose files need not be UTF-8.
pub fn read_diff_bytes(
    tree: &Tree,
    diff: &[u8],
    guard: &Guard,
    knows: &dyn Fn(&str) -> bool,
) -> Result<Prepared, Vec<Refusal>> {
    let (text, latin1) = match std::str::from_utf8(diff) {
        Ok(text) => (text.to_owned(), false),
        Err(_) => (diff.iter().map(|byte| char::from(*byte)).collect(), true),
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let patch = Patch {
        explanation: None,
        edits: parse_diff(text, latin1, None),
    };
    prepare(tree, &patch, guard, knows)
}

/// Edits that want the same lines, or a file that another edit takes away.
fn find_conflicts(plan: &mut Plan<'_>, edits: &[Edit]) {
    let mut refusals = Vec::new();
    for (path, file) in &mut plan.files {
        if let Some(deletion) = plan.deleted.get(path) {
            refusals.extend(file.pieces.iter().map(|piece| {
                let reason = format!("edit {deletion} deletes {path}");
                refusal_of(edits, piece.edit, Rule::Overlap, reason)
            }));
            continue;
        }
        sort_pieces(file, &mut plan.warnings);
        refusals.extend(overlaps(file, edits));
    }
    for (path, deletion) in &plan.deleted {
        if let Some((rename, _)) = plan.renamed.get(path) {
            let reason = format!("edit {rename} renames {path}");
            refusals.push(refusal_of(edits, *deletion, Rule::Overlap, reason));
        }
    }
    for (path, creation) in &plan.created {
        if let Some((_, (rename, _))) = plan.renamed.iter().find(|(_, (_, to))| to == path) {
            let reason = format!("edit {rename} renames a file to {path}");
            refusals.push(refusal_of(edits, creation.edit, Rule::Overlap, reason));
        }
    }
    plan.refusals.extend(refusals);
}

fn refusal_of(edits: &[Edit], number: usize, rule: Rule, reason: String) -> Refusal {
    let edit = number.checked_sub(1).and_then(|index| edits.get(index));
    let mut refusal = Refusal::new(number, edit.map_or("", Edit::file), rule, reason);
    refusal.lines = edit.and_then(Edit::lines);
    refusal
}

/// Puts the pieces of a file in order, repeated ones once.
fn sort_pieces(file: &mut FilePlan, warnings: &mut Vec<String>) {
    let mut pieces: Vec<Piece> = Vec::new();
    for piece in std::mem::take(&mut file.pieces) {
        let twin = pieces
            .iter()
            .find(|other| other.splice == piece.splice && !piece.splice.old.is_empty());
        if let Some(twin) = twin {
            warnings.push(format!("edit {} repeats edit {}", piece.edit, twin.edit));
        } else if piece.shares_context {
            let parts = reduce(&file.pristine.text, &piece.splice);
            let whole = parts.is_empty() && file.terminated.is_some();
            pieces.extend(
                parts
                    .into_iter()
                    .chain(whole.then(|| piece.splice.clone()))
                    .map(|splice| Piece {
                        edit: piece.edit,
                        splice,
                        shares_context: true,
                    }),
            );
        } else {
            pieces.push(piece);
        }
    }
    pieces.sort_by_key(|piece| (piece.splice.old.start, piece.splice.old.end, piece.edit));
    file.pieces = pieces;
}

/// Pieces that reach into the one before.
fn overlaps(file: &FilePlan, edits: &[Edit]) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let mut widest: Option<&Piece> = None;
    for piece in &file.pieces {
        if let Some(before) = widest
            && piece.splice.old.start < before.splice.old.end
        {
            let old = &before.splice.old;
            let reason = format!(
                "it overlaps with edit {}, which replaces lines {}-{}; join the two into one edit",
                before.edit,
                old.start + 1,
                old.end
            );
            refusals.push(refusal_of(edits, piece.edit, Rule::Overlap, reason));
        }
        if widest.is_none_or(|before| piece.splice.old.end > before.splice.old.end) {
            widest = Some(piece);
        }
    }
    refusals
}

/// One file after the patch.
struct Outcome {
    splices: Vec<Splice>,
    bytes: Vec<u8>,
}

fn assemble(plan: Plan<'_>, edits: &[Edit]) -> Result<Prepared, Vec<Refusal>> {
    let guard = plan.paths.guard;
    let mut outcomes: BTreeMap<TreePath, Outcome> = BTreeMap::new();
    let mut refusals = Vec::new();
    for (path, file) in &plan.files {
        let outcome = outcome_of(file);
        if outcome.splices.is_empty() {
            let number = file.pieces.first().map_or(0, |piece| piece.edit);
            let reason = "the edits leave the file as it is".to_owned();
            refusals.push(refusal_of(edits, number, Rule::NoChange, reason));
        }
        let name = plan.renamed.get(path).map_or(path, |(_, to)| to);
        if let Err((rule, reason)) = guard.check_content(name, &outcome.bytes) {
            let number = file.pieces.first().map_or(0, |piece| piece.edit);
            refusals.push(refusal_of(edits, number, rule, reason));
        }
        outcomes.insert(path.clone(), outcome);
    }
    let count = outcomes.len() + plan.created.len() + plan.deleted.len() + plan.renamed.len();
    if count > guard.max_files {
        let reason = format!(
            "the patch touches {count} files, more than {}",
            guard.max_files
        );
        refusals.push(Refusal::of_patch(Rule::TooLarge, reason));
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let (diff_bytes, normal_form) = describe(&plan, &outcomes);
    if diff_bytes.len() > guard.max_diff_bytes {
        let reason = format!(
            "the diff has {} bytes, more than the {} that are taken; change less",
            diff_bytes.len(),
            guard.max_diff_bytes
        );
        return Err(vec![Refusal::of_patch(Rule::TooLarge, reason)]);
    }
    Ok(finish(plan, outcomes, diff_bytes, normal_form))
}

/// Carries the pieces of a file out.
fn outcome_of(file: &FilePlan) -> Outcome {
    let text = &file.pristine.text;
    let pieces = file
        .pieces
        .iter()
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
    Outcome { splices, bytes }
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
    if !shall && let Some(line) = last.new.last_mut() {
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        *line = bare.strip_suffix(b"\r").unwrap_or(bare).to_vec();
    }
}

/// The diff and the normal form of a patch.
fn describe(plan: &Plan<'_>, outcomes: &BTreeMap<TreePath, Outcome>) -> (Vec<u8>, String) {
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

fn finish(
    plan: Plan<'_>,
    outcomes: BTreeMap<TreePath, Outcome>,
    diff_bytes: Vec<u8>,
    normal_form: String,
) -> Prepared {
    let diff = match std::str::from_utf8(&diff_bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => diff_bytes.iter().map(|byte| char::from(*byte)).collect(),
    };
    let mut prepared = Prepared {
        changes: Changes::default(),
        diff,
        diff_bytes,
        placements: plan.placements,
        warnings: plan.warnings,
        normal_form,
        syntax_errors: Vec::new(),
        touched: Vec::new(),
    };
    let mut introduced = BTreeSet::new();
    for (path, outcome) in &outcomes {
        if let Some(file) = plan.files.get(path) {
            introduced.extend(names::introduced(
                file.pristine.language,
                &new_text(file, outcome),
            ));
        }
    }
    for (path, creation) in plan.created {
        let lines = created_lines(&creation.bytes);
        introduced.extend(names::introduced(
            patchwright_source::Language::of_path(&path),
            &lines,
        ));
        look_at_new_file(&mut prepared, &path, creation.bytes);
    }
    for (path, outcome) in outcomes {
        let Some(file) = plan.files.get(&path) else {
            continue;
        };
        let target = plan
            .renamed
            .get(&path)
            .map_or_else(|| path.clone(), |(_, to)| to.clone());
        let lines = new_text(file, &outcome);
        prepared.warnings.extend(names::unknown_names(
            &file.pristine,
            &lines,
            &introduced,
            plan.knows,
        ));
        match new_errors(&file.pristine, &outcome.splices, &outcome.bytes) {
            Checked::Errors(errors) => {
                let errors = errors.into_iter().map(|error| (target.clone(), error));
                prepared.syntax_errors.extend(errors);
            }
            Checked::Not => prepared.warnings.push(format!(
                "{path}: too large or too many edits to check the syntax"
            )),
        }
        prepared.touched.push(touched(&path, &outcome.splices));
        prepared.changes.files.insert(target, outcome.bytes);
    }
    prepared.touched.sort_by(|a, b| a.path.cmp(&b.path));
    prepared.changes.deleted = plan.deleted.into_keys().collect();
    let renamed = plan.renamed.into_iter().map(|(from, (_, to))| (from, to));
    prepared.changes.renamed = renamed.collect();
    prepared
}

fn new_text(file: &FilePlan, outcome: &Outcome) -> Vec<String> {
    let lines = outcome.splices.iter().flat_map(|splice| &splice.new);
    lines
        .map(|line| file.pristine.text.decode(line).trim_end().to_owned())
        .collect()
}

fn created_lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes)
        .lines()
        .map(str::to_owned)
        .collect()
}

fn look_at_new_file(prepared: &mut Prepared, path: &TreePath, bytes: Vec<u8>) {
    if let Some(language) = patchwright_source::Language::of(path, &bytes)
        && let Some(tree) = patchwright_source::parse(language, &bytes)
    {
        let errors = patchwright_source::syntax_errors(&tree, &bytes, 20);
        let errors = errors.into_iter().map(|error| (path.clone(), error));
        prepared.syntax_errors.extend(errors);
    }
    let count = u32::try_from(created_lines(&bytes).len()).unwrap_or(u32::MAX);
    prepared.touched.push(Touched {
        path: path.clone(),
        old: Vec::new(),
        new: if count > 0 {
            vec![(1, count)]
        } else {
            Vec::new()
        },
    });
    prepared.changes.files.insert(path.clone(), bytes);
}

/// The touched lines of a file.
fn touched(path: &TreePath, splices: &[Splice]) -> Touched {
    let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    let mut touched = Touched {
        path: path.clone(),
        old: Vec::new(),
        new: Vec::new(),
    };
    let mut shift = 0_isize;
    for splice in splices {
        let (start, end) = (splice.old.start, splice.old.end);
        touched.old.push(if splice.old.is_empty() {
            (number(start), number(start))
        } else {
            (number(start + 1), number(end))
        });
        let new_start = start.saturating_add_signed(shift);
        if !splice.new.is_empty() {
            touched
                .new
                .push((number(new_start + 1), number(new_start + splice.new.len())));
        }
        shift += splice.new.len().cast_signed() - splice.old.len().cast_signed();
    }
    touched
}
