//! Paths that were checked: relative to a tree, without a way out of it.

use crate::SourceError;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::fmt;

/// A path inside a tree: relative, `/` between its parts, no `.`, no `..`.
///
/// That it names an existing file is not promised; that it cannot name one
/// outside is, together with [`crate::Tree`], which watches for links.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct TreePath(String);

impl TreePath {
    /// Checks a path; `./` and doubled slashes are dropped.
    pub fn new(path: &str) -> Result<Self, SourceError> {
        let refuse = |reason| SourceError::Outside {
            path: path.chars().take(200).collect(),
            reason,
        };
        if path.contains('\0') {
            return Err(refuse("it holds a NUL byte"));
        }
        if path.starts_with('/') {
            return Err(refuse("it is absolute"));
        }
        let mut parts = Vec::new();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => return Err(refuse("it climbs with '..'")),
                part => parts.push(part),
            }
        }
        if parts.is_empty() {
            return Err(refuse("it is empty"));
        }
        Ok(Self(parts.join("/")))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Everything before the last part, empty at the top.
    pub fn folder(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Tells whether the path is `tail` below some folder. Java names a file
    /// below its source root only: `src/main/java/org/a/B.java` ends with
    /// `org/a/B.java`.
    fn is_below_a_folder(&self, tail: &str) -> bool {
        let above = self.0.strip_suffix(tail);
        !tail.is_empty() && above.is_some_and(|above| above.ends_with('/'))
    }

    /// Returns the one of these files that is `tail` below some folder; nothing
    /// when several are.
    pub fn only_below_a_folder<'a>(
        files: impl IntoIterator<Item = &'a Self>,
        tail: &str,
    ) -> Option<&'a Self> {
        let files = files.into_iter();
        let mut fitting = files.filter(|file| file.is_below_a_folder(tail));
        fitting.next().filter(|_| fitting.next().is_none())
    }

    /// Returns what follows the last dot of the file name, if anything does.
    pub fn extension(&self) -> Option<&str> {
        self.file_name()
            .rsplit_once('.')
            .map(|(_, extension)| extension)
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// So that maps by path can be asked with plain text.
impl Borrow<str> for TreePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TreePath {
    type Error = SourceError;

    fn try_from(path: String) -> Result<Self, SourceError> {
        Self::new(&path)
    }
}

#[cfg(test)]
mod tests {
    use super::TreePath;

    #[test]
    fn accepts_what_stays_inside() {
        for (given, expected) in [
            ("a.c", "a.c"),
            ("./src//a.c", "src/a.c"),
            ("a b/-x", "a b/-x"),
            ("..a/b..", "..a/b.."),
        ] {
            assert_eq!(TreePath::new(given).unwrap().as_str(), expected);
        }
    }

    #[test]
    fn refuses_what_leads_out() {
        for given in [
            "",
            "/",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a/..",
            "a\0b",
            ".",
            "./",
        ] {
            assert!(TreePath::new(given).is_err(), "{given:?}");
        }
    }

    #[test]
    fn knows_a_file_below_its_source_root() {
        let path = TreePath::new("src/main/java/org/a/B.java").unwrap();
        assert!(path.is_below_a_folder("org/a/B.java") && path.is_below_a_folder("B.java"));
        for tail in ["g/a/B.java", "src/main/java/org/a/B.java", "/B.java", ""] {
            assert!(!path.is_below_a_folder(tail), "{tail}");
        }
        let other = TreePath::new("src/test/java/org/a/B.java").unwrap();
        let only = |files: &[TreePath]| TreePath::only_below_a_folder(files, "B.java").cloned();
        assert_eq!(only(std::slice::from_ref(&path)), Some(path.clone()));
        assert_eq!(only(&[path, other]), None);
    }

    #[test]
    fn tells_its_parts() {
        let path = TreePath::new("src/main/A.java").unwrap();
        assert_eq!(
            (path.file_name(), path.folder(), path.extension()),
            ("A.java", "src/main", Some("java"))
        );
    }
}
