//! Resolution of the paths in a reply to files of the tree.
//!
//! Models copy paths from build logs, from diffs and from memory. A prefix is
//! dropped where that leads to a file; where the original lines will be found
//! in the file this is safe, elsewhere only foreign prefixes are dropped.

use crate::guard::LARGEST_FILE;
use crate::pristine::Pristine;
use crate::refusal::refuse;
use crate::{Guard, Refusal, Rule};
use patchwright_source::{SourceError, Tree, TreePath};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

/// More nearest names than this help nobody.
const MOST_NAMES: usize = 3;

/// A name with more slips of the pen is another name.
const MOST_SLIPS: usize = 2;

/// The tree and the rules over its paths.
pub(crate) struct Paths<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) guard: &'a Guard,
    files: OnceCell<Vec<TreePath>>,
    /// Each path of a reply is resolved once, however many edits name it.
    resolved: RefCell<HashMap<(String, bool), Result<TreePath, Refusal>>>,
}

impl<'a> Paths<'a> {
    pub(crate) fn new(tree: &'a Tree, guard: &'a Guard) -> Self {
        Self {
            tree,
            guard,
            files: OnceCell::new(),
            resolved: RefCell::default(),
        }
    }

    /// The existing file that is meant. `verified`: its content will be
    /// compared, so that a wrong guess cannot do harm.
    pub(crate) fn existing(&self, given: &str, verified: bool) -> Result<TreePath, Refusal> {
        let key = (given.to_owned(), verified);
        if let Some(known) = self.resolved.borrow().get(&key) {
            return known.clone();
        }
        let found = self.find(given, verified);
        self.resolved.borrow_mut().insert(key, found.clone());
        found
    }

    fn find(&self, given: &str, verified: bool) -> Result<TreePath, Refusal> {
        let name = clean(given)?;
        let foreign = is_foreign(&name);
        let direct = TreePath::new(&name).ok();
        let direct = direct.filter(|path| self.tree.has_file(path));
        let path = match direct {
            Some(path) => path,
            None => (self.tree.rebase(&name).filter(|_| foreign || verified))
                .or_else(|| {
                    let tail = name.trim_start_matches('/');
                    let only = TreePath::only_below_a_folder(self.files(), tail);
                    only.filter(|_| verified).cloned()
                })
                .ok_or_else(|| self.not_found(&name))?,
        };
        self.guard.check_path(&path)?;
        self.check_links(&path)?;
        Ok(path)
    }

    /// Every file of the tree.
    pub(crate) fn files(&self) -> &[TreePath] {
        self.files.get_or_init(|| self.tree.files())
    }

    fn not_found(&self, name: &str) -> Refusal {
        if name.starts_with('/') {
            let reason = format!("{name:?} is absolute and names no file of the tree");
            return Refusal::new(Rule::OutsideTree, reason);
        }
        if self.tree.root().join(name).is_dir() {
            return Refusal::new(Rule::NoSuchFile, format!("{name:?} is a folder"));
        }
        let near = self.nearest_names(name).join(" or ");
        let reason = match near.as_str() {
            "" => format!("there is no file {name:?} in the tree"),
            near => format!("there is no file {name:?} in the tree; did you mean {near}?"),
        };
        Refusal::new(Rule::NoSuchFile, reason)
    }

    /// Files of the same name elsewhere, or else of nearly the same path.
    fn nearest_names(&self, name: &str) -> Vec<&str> {
        let last = name.rsplit('/').next().unwrap_or(name);
        let same = self.files().iter().filter(|path| path.file_name() == last);
        let same: Vec<&str> = same.take(MOST_NAMES).map(TreePath::as_str).collect();
        if !same.is_empty() {
            return same;
        }
        let distance = |path: &TreePath| {
            let other = path.file_name();
            let near = other.len().abs_diff(last.len()) <= MOST_SLIPS;
            near.then(|| strsim::osa_distance(&other.to_lowercase(), &last.to_lowercase()))
        };
        let mut near: Vec<(usize, &str)> = self
            .files()
            .iter()
            .filter_map(|path| Some((distance(path)?, path.as_str())))
            .filter(|(distance, _)| *distance <= MOST_SLIPS)
            .collect();
        near.sort_unstable();
        near.into_iter()
            .take(MOST_NAMES)
            .map(|(_, path)| path)
            .collect()
    }

    /// Reads an existing file, if it may be touched.
    pub(crate) fn load(&self, path: &TreePath) -> Result<Pristine, Refusal> {
        let text = self.tree.read_up_to(path, LARGEST_FILE as u64);
        let text = text.map_err(|error| {
            let rule = match error {
                SourceError::TooLarge { .. } => Rule::TooLarge,
                _ => Rule::NoSuchFile,
            };
            Refusal::new(rule, error.to_string())
        })?;
        self.guard.check_content(path, text.bytes())?;
        Ok(Pristine::new(path.clone(), text))
    }

    /// The new file that is meant. It must not exist.
    pub(crate) fn fresh(&self, given: &str) -> Result<TreePath, Refusal> {
        let name = clean(given)?;
        let path = if is_foreign(&name) {
            self.foreign_fresh(&name)
        } else {
            TreePath::new(&name).ok()
        };
        let reason = format!("{name:?} is no path inside of the tree");
        let path = path.ok_or_else(|| Refusal::new(Rule::OutsideTree, reason))?;
        self.guard.check_path(&path)?;
        self.check_links(&path)?;
        let mut folder = path.folder();
        while !folder.is_empty() {
            if TreePath::new(folder).is_ok_and(|path| self.tree.has_file(&path)) {
                let reason = format!("{folder:?} is a file, not a folder");
                return refuse(Rule::NoSuchFile, reason);
            }
            folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
        }
        Ok(path)
    }

    /// Drops the leading components of a foreign path until its folder exists.
    /// An absolute path must lead to one; a path of a diff may name a new one.
    fn foreign_fresh(&self, name: &str) -> Option<TreePath> {
        let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
        let fitting = (0..parts.len().saturating_sub(1)).find_map(|dropped| {
            let rest = parts.get(dropped..)?;
            let folder = rest.get(..rest.len() - 1)?.join("/");
            let exists = self.tree.root().join(&folder).is_dir();
            exists.then(|| rest.join("/"))
        });
        let bare = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
        TreePath::new(fitting.as_deref().or(bare)?).ok()
    }

    /// Returns true when anything of this name is there, a folder or a dangling link
    /// included.
    pub(crate) fn is_taken(&self, path: &TreePath) -> bool {
        std::fs::symlink_metadata(self.tree.absolute(path)).is_ok()
    }

    /// No part of a path may be a link: what is written there would land
    /// somewhere else, or the link would become a file.
    fn check_links(&self, path: &TreePath) -> Result<(), Refusal> {
        let mut at = self.tree.root().to_path_buf();
        for part in path.as_str().split('/') {
            at.push(part);
            let Ok(metadata) = std::fs::symlink_metadata(&at) else {
                return Ok(());
            };
            if metadata.file_type().is_symlink() {
                let reason = format!(
                    "{path} is or passes through a symbolic link; edit the file that it leads to"
                );
                return refuse(Rule::Link, reason);
            }
        }
        Ok(())
    }
}

/// Returns true when a path comes from elsewhere: a build machine or a diff.
fn is_foreign(name: &str) -> bool {
    name.starts_with('/')
        || name.starts_with("a/")
        || name.starts_with("b/")
        || name.as_bytes().get(1) == Some(&b':')
}

/// Slashes and dots put right; what climbs out is refused.
fn clean(given: &str) -> Result<String, Refusal> {
    let given = given.trim();
    if given.is_empty() {
        return refuse(Rule::Incomplete, "the edit names no file");
    }
    let slashed = if given.contains('/') {
        given.to_owned()
    } else {
        given.replace('\\', "/")
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in slashed.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return refuse(Rule::OutsideTree, format!("{given:?} leaves the tree"));
                }
            }
            part => parts.push(part),
        }
    }
    let root = if slashed.starts_with('/') { "/" } else { "" };
    Ok(format!("{root}{}", parts.join("/")))
}
