//! Harmless inputs: files of the tree that the program of the PoV accepts.

use super::bench::{Harm, Seen};
use super::samples::{files_in, folders_with};
use super::trials::{Built, Trials};
use crate::common::most_frequent;
use patchwright_source::{Language, Tree, TreePath};
use std::path::{Path, PathBuf};

/// Keeps a program of memory that it leaks with any input from ending as a crash.
const WITHOUT_LEAKS: &str = "ASAN_OPTIONS=detect_leaks=0";
/// Words in the names of folders that hold inputs, beside those of tests.
const PLACES: [&str; 5] = ["corpus", "sample", "example", "seed", "data"];
/// Endings of what runs tests, and of what they leave.
const OF_TESTS: [&str; 3] = ["in", "log", "sh"];
/// Kinds of files that are tried where none has the PoV's ending.
const KINDS: usize = 4;

impl Trials<'_> {
    /// Finds a folder of the tree with files that the program accepts, and names them by a glob: files of
    /// the PoV's ending, else, as the names of what fuzzers find tell no kind, those of another ending
    /// among the tests and samples.
    pub(crate) async fn find_harmless(&self, built: &mut Built, tree: &Path) -> Option<()> {
        let command = built.draft.keys.commands.pov.clone()?;
        let pov = self.povs(built, &command).into_iter().next()?;
        let extension = pov.file.extension().unwrap_or_default();
        let extension = extension.to_str()?.to_owned();
        let has_ending = !extension.is_empty();
        let folders = has_ending.then(|| folders_with(tree, &extension));
        for folder in folders.unwrap_or_default() {
            let kind = (folder, extension.clone());
            if self.try_harmless(built, tree, &kind).await.is_some() {
                return Some(());
            }
        }
        for kind in kinds(tree).into_iter().take(KINDS) {
            let files = files_in(&tree.join(&kind.0), &kind.1, &[]);
            // One file of a kind may be no input at all.
            if files.len() > 1
                && built.bench.accepts(&pov, &files).await
                && self.try_harmless(built, tree, &kind).await.is_some()
            {
                return Some(());
            }
        }
        None
    }

    /// Tries files of one ending in a folder.
    async fn try_harmless(
        &self,
        built: &mut Built,
        tree: &Path,
        (folder, extension): &(PathBuf, String),
    ) -> Option<()> {
        let command = built.draft.keys.commands.pov.clone()?;
        let root = built.draft.keys.source.path.clone()?;
        let povs = self.povs(built, &command);
        let pov = povs.first()?.clone();
        let own: Vec<PathBuf> = povs.into_iter().map(|pov| pov.file).collect();
        let glob = Path::new(&root).join(folder);
        // What has no ending has no pattern of its own: each file is named.
        let pattern = format!("*.{extension}");
        let pattern = pattern.trim_end_matches('.');
        let glob = format!("{}", glob.join(pattern).display());
        self.tell(&format!("harmless inputs: trying {glob}"));
        let files = files_in(&tree.join(folder), extension, &own);
        let all = files.len();
        let mut seen = built.bench.harmless_of(&pov, files.clone()).await;
        if seen == Err(Harm::Leaks) && command.starts_with('"') {
            let quiet = format!("{WITHOUT_LEAKS} {command}");
            self.tell("  they leak memory; trying without looking for leaks");
            if let Seen::Crash(_) = self.try_pov(built, &quiet).await {
                let mut pov = pov.clone();
                pov.command = Some(quiet);
                seen = built.bench.harmless_of(&pov, files).await;
            }
        }
        let kept = match seen {
            Ok(kept) => kept,
            Err(refusal) => {
                self.tell(&format!("  {refusal}"));
                return None;
            }
        };
        let told = match all - kept.len() {
            0 => format!("{all} files, none crashes"),
            crash => format!("{} of {all} files; {crash} crash", kept.len()),
        };
        self.tell(&format!("  ok {told}"));
        let draft = &mut built.draft;
        draft.remarks.harmless = format!("tried here: {told}");
        draft.keys.inputs.harmless = if kept.len() == all && !extension.is_empty() {
            vec![glob]
        } else {
            let kept = kept.iter().filter_map(|file| file.strip_prefix(tree).ok());
            let named = kept.map(|file| Path::new(&root).join(file));
            let named = named.map(|file| file.display().to_string());
            // Each is read as a pattern: a name that is one would stand for others.
            let is_plain = |name: &String| !name.contains(['*', '?', '[']);
            named.filter(is_plain).collect()
        };
        Some(())
    }
}

/// Folders of tests and samples with the endings of what they hold beside code, those with the most
/// such files first.
fn kinds(tree: &Path) -> Vec<(PathBuf, String)> {
    let files = Tree::open(tree).map(|tree| tree.files());
    let files = files.unwrap_or_default().into_iter();
    let placed = |path: &TreePath| PLACES.iter().any(|place| path.folder().contains(place));
    let is_input = |path: &TreePath| {
        (path.is_in_tests() || placed(path))
            && Language::of_path(path).is_none()
            && !path.is_build_file()
    };
    let kinds = files.filter(is_input).filter_map(|path| {
        let extension = path.extension().unwrap_or_default();
        // Only in a folder of inputs a file without an ending is likely one.
        let named = placed(&path) || !extension.is_empty();
        let extension = Some(extension).filter(|one| named && !OF_TESTS.contains(one))?;
        Some((PathBuf::from(path.folder()), extension.to_owned()))
    });
    most_frequent(kinds)
}
