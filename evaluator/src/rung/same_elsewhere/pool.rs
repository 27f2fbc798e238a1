//! The inputs on which two programs are compared.

use crate::mutation::Mutator;
use crate::target::{Pov, TargetTask};
use patchwright_source::{Tree, TreePath};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest file that serves as an input.
const LARGEST: u64 = 1 << 20;
/// Given inputs that are taken at most.
const MOST_GIVEN: usize = 400;
/// Files of the tree that are taken because they look like the PoV.
const MOST_ALIKE: usize = 64;
/// Mutants made of one given input that was accepted.
const MUTANTS_EACH: usize = 6;
/// Mutants of the PoVs, which tell less than inputs that are given.
const MOST_DERIVED: usize = 600;
/// The same where there are given inputs.
const FEWER_DERIVED: usize = 150;

/// Where an input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Fine today.
    Given,
    /// A mutant of one that is fine today.
    GivenMutant,
    /// A mutant of a PoV.
    Derived,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::GivenMutant => "mutants of given",
            Self::Derived => "derived",
        }
    }
}

/// One input.
#[derive(Debug, Clone)]
pub(super) struct Input {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    /// The given input that it is a mutant of.
    pub(super) parent: Option<Arc<[u8]>>,
}

/// All inputs, given ones first.
pub(super) struct Pool {
    given: Vec<Input>,
    mutants: Vec<Input>,
    derived: Mutator,
    derived_left: usize,
    derived_made: usize,
}

impl Pool {
    pub(super) fn gather(task: &TargetTask, pov: &Pov) -> Self {
        let povs: Vec<Vec<u8>> = task
            .povs
            .iter()
            .filter_map(|pov| fs::read(&pov.file).ok())
            .collect();
        let mut seen: BTreeSet<Vec<u8>> = povs.iter().cloned().collect();
        let mut given = Vec::new();
        let alike = alike(task, pov);
        for path in task.harmless.iter().chain(&alike).take(MOST_GIVEN) {
            let small = fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= LARGEST);
            if let (true, Ok(bytes)) = (small, fs::read(path))
                && seen.insert(bytes.clone())
            {
                given.push(Input {
                    kind: Kind::Given,
                    name: path
                        .file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned(),
                    bytes,
                    parent: None,
                });
            }
        }
        given.reverse();
        let derived_left = match (povs.is_empty(), given.is_empty()) {
            (true, _) => 0,
            (false, true) => MOST_DERIVED,
            (false, false) => FEWER_DERIVED,
        };
        Self {
            given,
            mutants: Vec::new(),
            derived_left,
            derived_made: 0,
            derived: Mutator::new(povs),
        }
    }

    /// Tells that an input was accepted, so that mutants of it are worth a try.
    pub(super) fn accepted(&mut self, given: &[u8]) {
        let parent: Arc<[u8]> = given.into();
        for bytes in Mutator::new(vec![given.to_vec()]).take(MUTANTS_EACH) {
            let number = self.mutants.len();
            self.mutants.push(Input {
                kind: Kind::GivenMutant,
                name: format!("mutant {number} of a given input"),
                bytes,
                parent: Some(Arc::clone(&parent)),
            });
        }
    }

    /// The next inputs: given ones, then mutants of accepted ones, then derived ones.
    pub(super) fn next(&mut self, count: usize) -> Option<Vec<Input>> {
        let mut chunk = Vec::new();
        while chunk.len() < count {
            match self.given.pop().or_else(|| self.mutants.pop()) {
                Some(input) => chunk.push(input),
                None => break,
            }
        }
        if chunk.is_empty() && self.derived_left > 0 {
            let count = count.min(self.derived_left);
            let start = self.derived_made;
            self.derived_made += count;
            self.derived_left -= count;
            let derived = self.derived.take(count).into_iter().enumerate();
            chunk.extend(derived.map(|(number, bytes)| Input {
                kind: Kind::Derived,
                name: format!("mutant {} of a PoV", start + number),
                bytes,
                parent: None,
            }));
        }
        (!chunk.is_empty()).then_some(chunk)
    }
}

/// Files of the tree and of the task's folder whose name ends like the PoV's:
/// what the tests read, mostly.
fn alike(task: &TargetTask, pov: &Pov) -> Vec<PathBuf> {
    let Some(ending) = pov.file.extension().and_then(|e| e.to_str()) else {
        return Vec::new();
    };
    let povs: BTreeSet<&Path> = task
        .povs
        .iter()
        .filter_map(|pov| pov.file.parent())
        .collect();
    let mut found = Vec::new();
    for root in [&task.tree, &task.task_folder] {
        let Ok(tree) = Tree::open(root) else {
            continue;
        };
        let files = tree.files();
        let alike = files
            .iter()
            .filter(|path: &&TreePath| path.extension() == Some(ending))
            .map(|path| tree.absolute(path))
            .filter(|path| !povs.iter().any(|folder| path.starts_with(folder)));
        found.extend(alike.take(MOST_ALIKE));
    }
    found
}
