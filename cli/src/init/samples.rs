//! Samples: files of a tree by their ending, and what stands for a file without content.

use crate::common::most_frequent;
use patchwright_source::Tree;
use patchwright_target::Pov;
use std::path::{Path, PathBuf};

/// Files that are tried as harmless inputs, of one folder.
const HARMLESS: usize = 40;

/// Returns files from all over a folder with an ending, which may be none, without those that are named.
pub(super) fn files_in(folder: &Path, extension: &str, without: &[PathBuf]) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = files.map(|entry| entry.path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().unwrap_or_default() == extension)
        .filter(|path| path.is_file() && !without.contains(path))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default();
            !name.to_string_lossy().starts_with('.')
        })
        .collect();
    files.sort();
    // Of more than are tried, each share of the folder has one.
    let (all, mut place) = (files.len(), 0);
    files.retain(|_| {
        place += 1;
        (place - 1) * HARMLESS / all < place * HARMLESS / all
    });
    files
}

/// Folders of a tree that hold files with an extension, those with the most first.
pub(super) fn folders_with(tree: &Path, extension: &str) -> Vec<PathBuf> {
    let files = Tree::open(tree).map(|tree| tree.files());
    let files = files.unwrap_or_default().into_iter();
    let with = files.filter(|file| file.extension() == Some(extension));
    most_frequent(with.map(|file| PathBuf::from(file.folder())))
}

/// Returns an empty file with the ending of a PoV.
pub(super) fn empty_like(pov: &Pov) -> Option<tempfile::NamedTempFile> {
    let ending = pov.file.extension().unwrap_or_default().to_string_lossy();
    let dot = if ending.is_empty() { "" } else { "." };
    let suffix = format!("{dot}{ending}");
    tempfile::Builder::new().suffix(&suffix).tempfile().ok()
}
