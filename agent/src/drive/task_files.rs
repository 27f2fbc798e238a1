//! Files of the task's folder that a command names, such as a script that starts the program or
//! a second input. They are part of how an input is run: shown with it, and carried with it.

use patchwright_source::{Pattern, Tree, TreePath};
use std::path::Path;

/// Files of one command that are read, and the largest of them in bytes.
const FILES: usize = 4;
const LARGEST: u64 = 64 << 10;

static NAMED: Pattern = Pattern::new(r#"\$(?:TASK|\{TASK\})["']?/([\w./+-]*\w)"#);

/// A file of the task's folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TaskFile {
    /// Its path in the folder.
    pub(super) path: TreePath,
    pub(super) bytes: Vec<u8>,
}

impl TaskFile {
    /// Returns its name and what it says, if it is text that people write.
    pub(super) fn text(&self) -> Option<(String, &str)> {
        let text = std::str::from_utf8(&self.bytes).ok()?;
        let text = Some(text).filter(|text| is_text(text))?;
        Some((format!("$TASK/{}", self.path), text))
    }
}

/// Tells whether bytes that are valid UTF-8 are text that people write.
pub(super) fn is_text(text: &str) -> bool {
    !text.contains(|one: char| one.is_control() && !"\t\n\r\u{c}".contains(one))
}

/// Reads the files of the task's folder that a command names.
///
/// # Errors
///
/// Says which part of the folder the command needs and is no file of moderate size.
pub(super) fn files_named(command: &str, folder: &Path) -> Result<Vec<TaskFile>, String> {
    let mut files: Vec<TaskFile> = Vec::new();
    for found in NAMED.captures_iter(command) {
        let name = found.get(1).map_or("", |name| name.as_str());
        if files.iter().any(|known| known.path.as_str() == name) {
            continue;
        }
        let read = || {
            let path = TreePath::new(name).ok()?;
            let bytes = Tree::open(folder).ok()?.bytes_up_to(&path, LARGEST).ok()?;
            (files.len() < FILES).then_some(TaskFile { path, bytes })
        };
        let file = read().ok_or_else(|| format!("the command needs $TASK/{name}"))?;
        files.push(file);
    }
    if files.is_empty() && command.contains("TASK") {
        return Err("the command needs the task's folder".to_owned());
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::files_named;

    #[test]
    fn a_command_brings_the_files_that_it_names() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("more")).unwrap();
        std::fs::write(folder.path().join("prog.awk"), "{ print }\n").unwrap();
        std::fs::write(folder.path().join("more/table"), b"\x00\xff").unwrap();
        let read = |command: &str| files_named(command, folder.path());
        let files = read(r#""$OUT"/awk -f "$TASK"/prog.awk ${TASK}/more/table "$POV""#).unwrap();
        let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(names, ["prog.awk", "more/table"]);
        let texts: Vec<_> = files.iter().filter_map(super::TaskFile::text).collect();
        assert_eq!(texts, [("$TASK/prog.awk".to_owned(), "{ print }\n")]);
        assert_eq!(read(r#""$OUT"/awk "$POV""#), Ok(vec![]));
        for (command, needed) in [
            (r#"sh "$TASK"/gone.sh"#, "the command needs $TASK/gone.sh"),
            (r#"sh "$TASK"/../../x"#, "the command needs $TASK/../../x"),
            (
                r#"cd "$TASK" && ./run"#,
                "the command needs the task's folder",
            ),
        ] {
            assert_eq!(read(command).unwrap_err(), needed);
        }
    }
}
