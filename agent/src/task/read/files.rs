//! The files that a task names: found in its folder, of the right kind, not too
//! large. What it deliberately does not do: read what stands in them, beyond
//! taking a text as it is.

use super::{Reader, TaskError};
use std::collections::BTreeSet;
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

    pub(super) fn harmless(&self, patterns: &[String]) -> Result<Vec<PathBuf>, TaskError> {
        let mut found = BTreeSet::new();
        for pattern in patterns {
            let (base, rest) = split(pattern);
            let glob = globset::GlobBuilder::new(rest)
                .literal_separator(true)
                .build()
                .map_err(|error| self.invalid("inputs.harmless", error.to_string()))?;
            let base = self.folder.join(base);
            let matching = files_below(&base, &glob.compile_matcher());
            if matching.is_empty() {
                let message = format!("no file matches {pattern:?}");
                return Err(self.invalid("inputs.harmless", message));
            }
            found.extend(matching);
        }
        Ok(found.into_iter().collect())
    }
}

/// Splits a glob into the folder that it begins with and the rest.
fn split(pattern: &str) -> (&str, &str) {
    let special = pattern.find(['*', '?', '[', '{', '\\']);
    let head = pattern.get(..special.unwrap_or(pattern.len()));
    match head.and_then(|head| head.rfind('/')) {
        // The root is a folder too.
        Some(0) => ("/", pattern.get(1..).unwrap_or_default()),
        Some(at) => (
            pattern.get(..at).unwrap_or_default(),
            pattern.get(at + 1..).unwrap_or_default(),
        ),
        None => ("", pattern),
    }
}

/// Regular files below a folder whose path in it matches.
fn files_below(base: &Path, glob: &globset::GlobMatcher) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![base.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let matches = || {
                path.strip_prefix(base)
                    .is_ok_and(|relative| glob.is_match(relative))
            };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() && matches() => found.push(path),
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn a_glob_begins_with_a_folder() {
        for (pattern, expected) in [
            ("corpus/*", ("corpus", "*")),
            ("*.gif", ("", "*.gif")),
            ("../tests/**/a?.gif", ("../tests", "**/a?.gif")),
            ("/srv/corpus/[ab]/x", ("/srv/corpus", "[ab]/x")),
            ("/*", ("/", "*")),
            ("a/b.txt", ("a", "b.txt")),
            ("b.txt", ("", "b.txt")),
        ] {
            assert_eq!(split(pattern), expected, "{pattern}");
        }
    }
}
