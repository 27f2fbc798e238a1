//! Location translator: turns paths in texts into those of the tree, and lines into those
//! of the pristine file.

use super::LineMap;
use crate::crash::read_java_frame;
use patchwright_source::{Pattern, TreePath};
use regex::Captures;
use std::collections::BTreeMap;

/// Translates the locations in the output of a patched build.
pub struct LocationTranslator<'a> {
    /// Folders at which commands see the tree (`/box/tree`), longest first; the rest of a
    /// path below them is a path of the tree.
    pub roots: &'a [String],
    /// Finds the file of the tree for a path of another machine.
    pub rebase: &'a dyn Fn(&str) -> Option<String>,
    /// The files that the patch changed, by their path in the tree.
    pub changed: &'a BTreeMap<TreePath, LineMap>,
}

impl std::fmt::Debug for LocationTranslator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocationTranslator")
            .field("roots", &self.roots)
            .field("changed", &self.changed)
            .finish_non_exhaustive()
    }
}

/// `path.ext:12`, `path.ext:12:5`, Maven's `path.ext:[12,5]`, Make's and
/// CMake's `Makefile:12`, Python's `"path.py", line 12`.
static LOCATION: Pattern = Pattern::new(
    r#"(?x)(?P<path>(?:[\w@+~.$/\\-]*/)?[\w@+~.$-]+\.[A-Za-z]\w{0,7}|[\w./-]*Makefile)
           (?: :(?P<line>[0-9]{1,7})(?::[0-9]{1,5})?
             | :\[(?P<maven>[0-9]{1,7}),(?P<column>[0-9]{1,5})\]
             | ",\ line\ (?P<python>[0-9]{1,7})
             | \ \(line\ (?P<make>[0-9]{1,7})\) )"#,
);

impl LocationTranslator<'_> {
    /// Translates all locations of a text.
    pub fn translate(&self, text: &str) -> String {
        let lines = text.lines().map(|line| self.translate_line(line));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn translate_line(&self, line: &str) -> String {
        if let Some(frame) = read_java_frame(line)
            && let (Some(file), Some(number)) = (&frame.file, frame.line)
        {
            let shown = self.line(file, number);
            return line.replacen(&format!(":{number})"), &format!(":{shown})"), 1);
        }
        let mut line = std::borrow::Cow::Borrowed(line);
        for root in self.roots {
            let root = root.trim_end_matches('/');
            if root.len() > 1 && line.contains(root) {
                line = crate::crash::replace_folder(&line, root).into();
            }
        }
        LOCATION
            .replace_all(&line, |found: &Captures<'_>| self.place(found))
            .into_owned()
    }

    fn place(&self, found: &Captures<'_>) -> String {
        let get = |name: &str| found.name(name).map_or("", |text| text.as_str());
        let path = self.path(get("path"));
        let lines = ["line", "maven", "python", "make"].map(get);
        let number = lines.into_iter().find(|line| !line.is_empty());
        let number = number.unwrap_or_default();
        let line = self.line(&path, number.parse().unwrap_or(0));
        // The column belongs to the patched line.
        if let Some(column) = found.name("column") {
            return format!("{path}:{line}:{}", column.as_str());
        }
        let whole = found.get(0).map_or("", |whole| whole.as_str());
        let behind = whole.get(get("path").len()..).unwrap_or_default();
        path + &behind.replacen(number, &line, 1)
    }

    /// Returns the path in the tree, or the path unchanged.
    fn path(&self, path: &str) -> String {
        let clean = path.trim_start_matches("./");
        if self.changed.contains_key(clean) {
            return clean.to_owned();
        }
        (self.rebase)(path).unwrap_or_else(|| clean.to_owned())
    }

    /// Describes a patched line as [`LineMap::describe`] does. Java names a file below its
    /// source root only, so a changed file below a folder is found as well.
    pub fn line(&self, path: &str, line: u32) -> String {
        let map = self.changed.get(path).or_else(|| {
            let below = TreePath::only_below_a_folder(self.changed.keys(), path)?;
            self.changed.get(below)
        });
        map.map_or_else(|| line.to_string(), |map| map.describe(line))
    }
}
