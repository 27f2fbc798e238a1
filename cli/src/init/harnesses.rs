//! Harnesses that the build of a project does not link: those that wait for a fuzzer's driver, whose
//! place ours takes, and programs among the fuzzers and examples of the tree.

use crate::common::{HARNESS_LINKER, is_plain};
use patchwright_source::{Language, Tree, TreePath};
use std::fmt;
use std::path::Path;

/// The function by which a fuzzer's driver calls a harness.
const ENTRY: &str = "LLVMFuzzerTestOneInput(";
/// Parts of the names of folders that hold programs which show how a library is used.
const PLACES: [&str; 3] = ["fuzz", "example", "sample"];
/// Harnesses of one tree that are tried.
const HARNESSES: usize = 8;

/// The driver, and its name in the task's folder.
pub(super) const STANDALONE: &str = include_str!("standalone.c");
pub(super) const DRIVER: &str = "standalone.c";
/// The script that links a harness with it.
const LINK: &str = include_str!("harness.sh");

impl fmt::Display for Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.as_str() {
            "" => f.write_str(&self.feed),
            name => write!(f, "by {name}"),
        }
    }
}

/// A program that is fed with the PoV, or a harness that the build does not make by itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Harness {
    /// Its name; empty for a program.
    pub(super) name: String,
    /// Makes it in `$OUT`; empty where the build does.
    pub(super) link: String,
    /// Feeds a PoV to it.
    pub(super) feed: String,
    /// The files that it needs in the task's folder: their names and texts.
    pub(super) beside: Vec<(String, String)>,
}

impl Harness {
    /// A program of the build, by the command that feeds it.
    pub(super) fn program(feed: String) -> Self {
        Self {
            feed,
            ..Self::default()
        }
    }

    /// Returns the command that makes and feeds it.
    pub(super) fn command(&self) -> String {
        let (link, feed) = (&self.link, &self.feed);
        let then = if link.is_empty() { "" } else { " && " };
        format!("{link}{then}{feed}")
    }

    /// Tells whether a report shows its source.
    pub(super) fn is_shown(&self, log: &str) -> bool {
        log.contains(&format!("/{}.c", self.name))
    }
}

/// Returns the harnesses of a tree, without those that the build made a program of.
pub(super) fn harnesses(root: &Path, programs: &[String]) -> Vec<Harness> {
    let Ok(tree) = Tree::open(root) else {
        return Vec::new();
    };
    let files = tree.files();
    let files = files.iter().filter(|path| is_plain(path.as_str(), "._+-/"));
    let linked = |harness: &Harness| {
        let ends = |program: &String| program.rsplit('/').next() == Some(harness.name.as_str());
        programs.iter().any(ends)
    };
    let found = files.filter_map(|path| {
        is_source(path).then_some(())?;
        let text = tree.read(path).ok()?;
        let text = text.decode(text.bytes());
        let main = main_of(&text);
        let waits = text.contains(ENTRY) && main.is_none();
        let shows = PLACES.iter().any(|place| path.folder().contains(place));
        let takes_files = main.filter(|_| shows).map(|taken| taken.contains(','));
        let reads = ["stdin", "cin"].iter().any(|word| text.contains(word));
        let feed = if waits || takes_files == Some(true) {
            ""
        } else {
            (takes_files.is_some() && reads).then_some("<")?
        };
        Some((!waits, harness(path, feed)?))
    });
    let mut found: Vec<(bool, Harness)> = found.filter(|(_, harness)| !linked(harness)).collect();
    found.sort_by_key(|(stands, _)| *stands);
    let found = found.into_iter().map(|(_, harness)| harness);
    found.take(HARNESSES).collect()
}

/// Tells whether a file is a source of C or C++, and no header.
fn is_source(path: &TreePath) -> bool {
    let language = Language::of_path(path);
    let ending = path.extension().unwrap_or_default();
    ending.starts_with('c') && matches!(language, Some(Language::C | Language::Cpp))
}

/// Returns what the `main` of a source of C or C++ takes, of several the one that takes words; its
/// type may stand on a line of its own.
pub(super) fn main_of(text: &str) -> Option<&str> {
    let mains = text.match_indices("main").filter_map(|(at, main)| {
        let before = text.get(..at)?;
        let kind = before.trim_end();
        let typed = kind.len() < at && (kind.ends_with("int") || kind.ends_with("void"));
        let taken = text.get(at + main.len()..)?.trim_start();
        let taken = taken.strip_prefix('(').filter(|_| typed)?;
        taken.split(')').next()
    });
    mains.max_by_key(|taken| taken.contains(','))
}

fn harness(path: &TreePath, feed: &str) -> Option<Harness> {
    let (name, _) = path.as_str().rsplit('/').next()?.rsplit_once('.')?;
    Some(Harness {
        name: name.to_owned(),
        // The build may have gone into a folder of the tree.
        link: format!(r#"TREE="${{ROOT:-$TREE}}" sh "$TASK"/{HARNESS_LINKER} {path}"#),
        feed: format!(r#""$OUT"/{name} {feed}"$POV""#),
        beside: vec![
            (DRIVER.to_owned(), STANDALONE.to_owned()),
            (HARNESS_LINKER.to_owned(), LINK.to_owned()),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::harnesses;
    use std::fs;

    #[test]
    fn a_main_is_told_from_calls_of_one() {
        for (text, expected) in [
            ("int main(void) {}", true),
            ("int\nmain (int argc, char **argv)\n{", true),
            ("/* calls main() */ int domain(void);", false),
            ("int x = main(1);", false),
        ] {
            assert_eq!(super::main_of(text).is_some(), expected, "{text}");
        }
        let two = "// int main() reads a file\nint main(int c, char **v) {}";
        assert_eq!(super::main_of(two), Some("int c, char **v"));
    }

    #[test]
    fn harnesses_that_the_build_does_not_link_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let entry = "int LLVMFuzzerTestOneInput(const char *data, long size)";
        for (name, text) in [
            (
                "fuzz/fuzz_read.c",
                format!("#include \"fold.h\"\n#include <stdio.h>\n{entry} {{ return 0; }}\n"),
            ),
            ("fuzz/main.c", format!("{entry};\nint main(void) {{}}\n")),
            (
                "examples/echo.cc",
                "int main() { std::cin >> value; }".to_owned(),
            ),
            (
                "examples/dump.c",
                "int main(int argc, char **argv) { return read(argv[1]); }".to_owned(),
            ),
            (
                "fuzz/made.cc",
                format!("extern \"C\" {entry} {{ return 0; }}\n"),
            ),
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let found = harnesses(folder.path(), &["\"$OUT\"/build/made".to_owned()]);
        let [harness, example, other] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(harness.feed, "\"$OUT\"/fuzz_read \"$POV\"");
        let log = "#1 0x4d in LLVMFuzzerTestOneInput /home/u/fold/fuzz/fuzz_read.c:10:3";
        let shown = [harness, example].map(|one| one.is_shown(log));
        assert_eq!(shown, [true, false]);
        assert_eq!(example.name, "dump");
        assert_eq!(other.feed, "\"$OUT\"/echo <\"$POV\"");
        let link = r#"TREE="${ROOT:-$TREE}" sh "$TASK"/harness.sh fuzz/fuzz_read.c"#;
        assert_eq!(harness.link, link);
    }

    /// Links `fuzz/fuzz_read.c` of a tree after its build, twice, as where a build goes on.
    fn linked(files: &[(&str, &str)], build: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("tree/fuzz")).unwrap();
        fs::create_dir(path("out")).unwrap();
        let ours = [
            (super::DRIVER, super::STANDALONE),
            ("harness.sh", super::LINK),
        ];
        for (name, text) in files.iter().chain(&ours) {
            fs::write(path(name), text).unwrap();
        }
        let command =
            format!("cd \"$TREE\" && {build} && sh \"$TASK\"/harness.sh fuzz/fuzz_read.c");
        for _ in 0..2 {
            let mut shell = std::process::Command::new("sh");
            let shell = shell.args(["-eu", "-c", &command]);
            let shell = shell.env("TASK", folder.path()).env("TREE", path("tree"));
            assert!(shell.env("OUT", path("out")).status().unwrap().success());
            fs::remove_file(path("out/fuzz_read")).unwrap();
        }
    }

    #[test]
    fn what_a_harness_needs_is_linked_once_and_taken_from_beside_it() {
        let read = (
            "tree/read.c",
            "int read_it(long size) { return size > 9; }\n",
        );
        let harness = "int read_it(long size);\nint LLVMFuzzerTestOneInput(const char *d, long size) { return read_it(size); }\n";
        let harness = ("tree/fuzz/fuzz_read.c", harness);
        let twice = "cc -c read.c && cc -g -c read.c -o read_g.o";
        linked(&[read, harness], twice);
        let beside = "int kept(long size);\nint read_it(long size) { return kept(size); }\n";
        let beside = ("tree/fuzz/data.c", beside);
        // It is no part of the harness, and what it needs is nowhere.
        let other = (
            "tree/fuzz/other.c",
            "int gone(void);\nint other(void) { return gone(); }\n",
        );
        let kept = ("tree/kept.c", "int kept(long size) { return size > 9; }\n");
        let library = "cc -c kept.c && ar rc kept.a kept.o";
        linked(&[kept, beside, other, harness], library);
    }
}
