//! Disguise: the paths and variables under which a command finds its folders.
//!
//! A patch may repair a fault only where it is judged. So no run of a PoV finds a variable or a
//! path of ours: the folders lie below one with a name that is another one on each machine,
//! the input and the scratch folder have other names in each run, and the variables of the task
//! are known to the shell and not to the program. In what is printed the usual paths stand, so
//! that nobody else knows of this.

use crate::cache::Cache;
use crate::runner::INSIDE;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Exports the variables again, for debuggers and agents, which read them; the input, where there
/// is one, in the shell that is given it too.
pub(super) const EXPORTED: &str = r#"export TREE OUT WORK TASK NOTES JUDGED HARNESS SANITIZER JOBS POV
own="export POV; $own"
"#;

/// A name that nobody can foretell.
pub(super) fn fresh_name() -> String {
    name_of(RandomState::new().hash_one(0))
}

/// Names that nobody can foretell: the same for one folder of notes, so that what is read
/// there later can be told by the usual ones.
#[derive(Debug, Default)]
pub(super) struct Names(RandomState);

impl Names {
    pub(super) fn of(&self, notes: &Path, usual: &str) -> String {
        name_of(self.0.hash_one((notes, usual)))
    }
}

/// The folder for everything, which is the same as long as a cache is: builds hold its path.
pub(super) fn home_of_cache(cache: &Cache) -> Option<PathBuf> {
    let facts = std::fs::metadata(cache.folder().ok()?).ok()?;
    let mut hash = Sha256::new();
    for part in [facts.dev(), facts.ino()] {
        hash.update(part.to_le_bytes());
    }
    if let Ok(made) = facts.created().map(|made| format!("{made:?}")) {
        hash.update(made);
    }
    let digest: [u8; 8] = hash.finalize().first_chunk().copied()?;
    Some(home(&name_of(u64::from_le_bytes(digest))))
}

pub(super) fn home(name: &str) -> PathBuf {
    Path::new("/srv").join(name)
}

/// A name like a person's, of a number.
fn name_of(mut number: u64) -> String {
    let mut take = |letters: &str| {
        let count = letters.len() as u64;
        let found = letters.as_bytes().get((number % count) as usize).copied();
        number /= count;
        char::from(found.unwrap_or(b'a'))
    };
    (0..4)
        .flat_map(|_| [take("bdfgklmnprstvz"), take("aeiou")])
        .collect()
}

/// Paths as commands see them, and what stands for them in outputs, the longest first.
#[derive(Debug, Default)]
pub(super) struct Paths(Vec<(Vec<u8>, Vec<u8>)>);

impl Paths {
    pub(super) fn add(&mut self, seen: &Path, part: &str) {
        let told = format!("{INSIDE}/{part}");
        let seen = seen.as_os_str().as_encoded_bytes().to_vec();
        self.0.push((seen, told.trim_end_matches('/').into()));
        self.0
            .sort_by_key(|(seen, _)| std::cmp::Reverse(seen.len()));
    }

    /// Replaces the paths in an output.
    pub(super) fn told(&self, output: &[u8]) -> Vec<u8> {
        let mut result = Vec::with_capacity(output.len());
        let mut at = 0;
        while let Some(rest) = output.get(at..).filter(|rest| !rest.is_empty()) {
            let found = self.0.iter().find(|(seen, _)| rest.starts_with(seen));
            if let Some((seen, told)) = found {
                result.extend_from_slice(told);
                at += seen.len();
            } else {
                result.extend(rest.first());
                at += 1;
            }
        }
        result
    }
}

/// Assigns variables in a shell that does not hand them on, and takes them from the environment.
pub(super) fn assigned(environment: &mut BTreeMap<String, OsString>, names: &str) -> String {
    let mut text = String::new();
    for name in names.split(' ') {
        if let Some(value) = environment.remove(name) {
            // Writing to a string cannot go wrong.
            let _ = writeln!(text, "{name}={}", quoted(&value.to_string_lossy()));
        }
    }
    text
}

/// Quotes a text as one word of a POSIX shell, whatever it holds.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::{Cache, Paths, fresh_name, home, home_of_cache, name_of};
    use std::path::Path;

    #[test]
    fn replaces_every_place() {
        let mut paths = Paths::default();
        paths.add(Path::new("/a/b"), "");
        paths.add(Path::new("/a/b/other"), "pov");
        let found = paths.told(b"/a/b/x:/a/b/other/y /a");
        assert_eq!(
            String::from_utf8_lossy(&found),
            "/patchwright/x:/patchwright/pov/y /a"
        );
        assert_eq!(paths.told(b""), b"");
    }

    #[test]
    fn names_are_ordinary_and_stay_with_a_cache() {
        assert_eq!(name_of(0), "babababa");
        assert_ne!(fresh_name(), fresh_name());
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let of = |folder: &tempfile::TempDir| {
            home_of_cache(&Cache::new(folder.path().to_path_buf(), 1)).unwrap()
        };
        assert_eq!(of(&one), of(&one));
        assert_ne!(of(&one), of(&other));
        assert!(of(&one).starts_with("/srv") && home("x").ends_with("x"));
    }
}
