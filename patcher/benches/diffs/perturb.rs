//! Edits whose place is known, disturbed as models disturb what they copy: none
//! of them may land elsewhere than where it belongs.

#[path = "perturb/disturb.rs"]
pub(crate) mod disturb;
#[path = "perturb/sketch.rs"]
pub(crate) mod sketch;

use disturb::{DISTURBANCES, Dice, draw};
use patchwright_patcher::{Guard, Patch, Prepared, Refusal, prepare, reply};
use patchwright_source::{Tree, TreePath};
use sketch::{Form, Sketch, sketches};
use std::collections::BTreeMap;
use std::path::Path;

/// The most disturbances of one edit.
const MOST: usize = 3;

/// A tree and the edits whose place in it is known.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) tree: Tree,
    pub(crate) files: BTreeMap<String, Vec<String>>,
    pub(crate) sketches: Vec<Sketch>,
}

/// One disturbed edit and what came of it.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) names: Vec<&'static str>,
    /// The form that it was written in.
    pub(crate) form: &'static str,
    pub(crate) text: String,
    pub(crate) outcome: Outcome,
}

/// Outcome of a disturbed edit.
#[derive(Debug)]
pub(crate) enum Outcome {
    Right,
    Refused,
    /// It was taken where it says: its lines stand as they are at the line that it
    /// names, and they do not where it was taken from.
    Named,
    /// It was taken, and the new file is not what it means.
    Wrong(String),
}

impl Base {
    /// Reads the diffs of a folder, `*.diff`, and the tree that they change.
    pub(crate) fn read(folder: &Path, tree: &Path) -> Option<Self> {
        let tree = Tree::open(tree).ok()?;
        let mut base = Self {
            tree,
            files: BTreeMap::new(),
            sketches: Vec::new(),
        };
        let mut diffs: Vec<_> = std::fs::read_dir(folder)
            .ok()?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|end| end == "diff"))
            .collect();
        diffs.sort();
        for path in diffs {
            let patch = Patch::from_diff(&std::fs::read(path).ok()?);
            for edit in &patch.edits {
                base.load(edit.file());
            }
            let read = |file: &str| base.files.get(file).cloned();
            let found = sketches(&patch.edits, &read);
            base.sketches.extend(found);
        }
        Some(base)
    }

    /// Leaves out the edits of files with more lines.
    pub(crate) fn up_to(mut self, lines: usize) -> Self {
        let files = &self.files;
        let is_short = |file: &String| files.get(file).is_some_and(|file| file.len() <= lines);
        self.sketches.retain(|sketch| is_short(&sketch.file));
        self
    }

    fn load(&mut self, file: &str) {
        let Some(path) = TreePath::new(file)
            .ok()
            .filter(|path| self.tree.has_file(path))
        else {
            return;
        };
        if !self.files.contains_key(file)
            && let Ok(text) = self.tree.read(&path)
        {
            let lines = (1..=text.line_count()).filter_map(|line| text.line(line));
            let lines = lines.map(std::borrow::Cow::into_owned).collect();
            self.files.insert(file.to_owned(), lines);
        }
    }

    /// Disturbs one of the edits and places it.
    pub(crate) fn trial(&self, dice: &mut Dice, by_share: bool) -> Option<Trial> {
        let truth = dice.one_of(&self.sketches)?;
        let mut sketch = truth.clone();
        let file = self.files.get(&sketch.file)?;
        let mut names = Vec::new();
        for _ in 0..=dice.below(MOST) {
            let (name, _, disturb) = DISTURBANCES[draw(dice, by_share)];
            if disturb(&mut sketch, file, dice) {
                names.push(name);
            }
        }
        if names.is_empty() || !sketch.says_something() {
            return None;
        }
        let form = *dice.one_of(&FORMS)?;
        let text = sketch.write(form);
        let outcome = match place(&self.tree, form, &text) {
            None | Some(Err(_)) => Outcome::Refused,
            Some(Ok(prepared)) => match judge((&sketch, truth), file, &prepared) {
                Outcome::Wrong(_) if sketch.names_another_place(form, file) => Outcome::Named,
                outcome => outcome,
            },
        };
        Some(Trial {
            names,
            form: form.name(),
            text,
            outcome,
        })
    }

    /// Places every edit as it is, in every form.
    pub(crate) fn undisturbed(&self) -> impl Iterator<Item = Trial> {
        let all = self.sketches.iter();
        let all = all.flat_map(|sketch| FORMS.map(|form| (sketch, form)));
        all.filter_map(|(sketch, form)| {
            let text = sketch.write(form);
            let outcome = match place(&self.tree, form, &text) {
                None | Some(Err(_)) => Outcome::Refused,
                Some(Ok(prepared)) => {
                    judge((sketch, sketch), self.files.get(&sketch.file)?, &prepared)
                }
            };
            Some(Trial {
                names: vec!["undisturbed"],
                form: form.name(),
                text,
                outcome,
            })
        })
    }
}

/// Every form in which an edit is written.
const FORMS: [Form; 3] = [Form::Diff, Form::Blocks, Form::Tags];

/// Judges a result: it is right where it is what the disturbed edit says, or what
/// the edit meant before.
fn judge((sketch, truth): (&Sketch, &Sketch), file: &[String], prepared: &Prepared) -> Outcome {
    let bytes = prepared.changes.files.values().next();
    let text = String::from_utf8_lossy(bytes.map_or(&[], Vec::as_slice)).into_owned();
    let new: Vec<String> = text.lines().map(str::to_owned).collect();
    if sketch.fits(file, &new) || truth.fits(file, &new) {
        Outcome::Right
    } else {
        Outcome::Wrong(prepared.diff.clone())
    }
}

fn place(tree: &Tree, form: Form, text: &str) -> Option<Result<Prepared, Vec<Refusal>>> {
    let guard = Guard::new(&[]).ok()?;
    let patch = match form {
        Form::Diff => Patch::from_diff(text.as_bytes()),
        Form::Blocks | Form::Tags => reply::read(text, false).patch?,
    };
    Some(prepare(tree, &patch, &guard, &|_| true))
}
