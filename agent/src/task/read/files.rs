//! The files that a task names: found in its folder, of the right kind, not too
//! large. What it deliberately does not do: read what stands in them, beyond
//! taking a text as it is.

use super::{Reader, TaskError};
use std::path::{Path, PathBuf};

/// Largest report or hint that is read, in bytes.
const TEXT_LIMIT: u64 = 16 * 1024 * 1024;

impl Reader<'_> {
    pub(super) fn source_folder(&self, path: &str) -> Result<PathBuf, TaskError> {
        let folder = self.folder.join(path);
        let folder = folder.canonicalize().map_err(|error| {
            self.invalid(
                "source.path",
                format!("{} cannot be opened: {error}", folder.display()),
            )
        })?;
        let empty = std::fs::read_dir(&folder)
            .map_err(|error| {
                self.invalid(
                    "source.path",
                    format!("{} is no folder: {error}", folder.display()),
                )
            })?
            .next()
            .is_none();
        if empty {
            return Err(self.invalid("source.path", format!("{} is empty", folder.display())));
        }
        Ok(folder)
    }

    pub(super) fn file(&self, key: &str, path: &str) -> Result<PathBuf, TaskError> {
        let file = self.folder.join(path);
        match file.metadata() {
            Ok(data) if data.is_file() => Ok(file),
            Ok(_) => Err(self.invalid(key, format!("{} is not a regular file", file.display()))),
            Err(error) => {
                Err(self.invalid(key, format!("{} cannot be opened: {error}", file.display())))
            }
        }
    }

    pub(super) fn text(&self, key: &str, path: Option<&str>) -> Result<Option<String>, TaskError> {
        let Some(path) = path else { return Ok(None) };
        let file = self.file(key, path)?;
        let unreadable = |error: std::io::Error| {
            self.invalid(key, format!("{} cannot be read: {error}", file.display()))
        };
        if file.metadata().map_err(unreadable)?.len() > TEXT_LIMIT {
            return Err(self.invalid(
                key,
                format!("{} is larger than {TEXT_LIMIT} bytes", file.display()),
            ));
        }
        let bytes = std::fs::read(&file).map_err(unreadable)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn matches(&self, globs: &globset::GlobSet, path: &Path) -> bool {
        path.strip_prefix(self.folder)
            .is_ok_and(|relative| globs.is_match(relative))
    }

    pub(super) fn harmless(&self, patterns: &[String]) -> Result<Vec<PathBuf>, TaskError> {
        let mut globs = globset::GlobSetBuilder::new();
        for pattern in patterns {
            let glob = globset::GlobBuilder::new(pattern)
                .literal_separator(true)
                .build();
            globs.add(glob.map_err(|error| self.invalid("inputs.harmless", error.to_string()))?);
        }
        let globs = globs
            .build()
            .map_err(|error| self.invalid("inputs.harmless", error.to_string()))?;
        if globs.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        let mut folders = vec![self.folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(path),
                    Ok(kind) if kind.is_file() && self.matches(&globs, &path) => found.push(path),
                    _ => {}
                }
            }
        }
        found.sort();
        if found.is_empty() {
            return Err(self.invalid("inputs.harmless", "no file matches"));
        }
        Ok(found)
    }
}
