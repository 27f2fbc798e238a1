//! The fixed order of hits: near the crash first, product code before tests,
//! then by path. It decides order only, never what is found.

use crate::symbol::Symbol;
use patchwright_source::{Language, TreePath};
use std::collections::BTreeMap;

/// Folder names that hold examples, harnesses and what serves tests.
const ASIDE_FOLDERS: &str = "testing fuzz fuzzing fuzzers fuzzer example examples bench \
     benchmarks demo demos";

/// Returns whether a path is a test, an example or a harness rather than the product.
pub(crate) fn is_aside(path: &TreePath) -> bool {
    let folder = path.folder().to_ascii_lowercase();
    if path.is_test() || has_part(&folder, ASIDE_FOLDERS) {
        return true;
    }
    let name = path.file_name();
    let stem = name.split('.').next().unwrap_or(name);
    let lower = stem.to_ascii_lowercase();
    lower.starts_with("test_")
        || lower.ends_with("_test")
        || lower.ends_with("_tests")
        || lower.ends_with("fuzzer")
        || lower.ends_with("_fuzz")
        || lower == "harness"
        || stem.ends_with("Test")
        || stem.ends_with("Tests")
}

/// Folder names that hold other projects' code.
const VENDORED_FOLDERS: &str = "vendor vendors _vendor third_party third-party thirdparty \
     3rdparty node_modules bundled";

/// Returns whether a path is a copy of another project's code. In a package that is
/// nothing but such a copy it is the product.
pub(crate) fn is_vendored(path: &TreePath) -> bool {
    has_part(&path.folder().to_ascii_lowercase(), VENDORED_FOLDERS)
}

/// Returns whether one of the folders of a path has one of some names.
fn has_part(folder: &str, names: &str) -> bool {
    folder
        .split('/')
        .any(|part| names.split(' ').any(|name| name == part))
}

/// Returns whether a path is code that a program wrote, by the names that `protoc`,
/// `bison`, `flex` and Qt's `moc` give to what they make.
pub(crate) fn is_generated(path: &TreePath) -> bool {
    let name = path.file_name();
    has_part(path.folder(), "generated autogen")
        || name.contains(".pb.")
        || name.contains(".tab.")
        || name.starts_with("lex.yy.")
        || name.starts_with("moc_")
}

/// Describes how near each file is to the crash: lower is nearer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Proximity {
    files: BTreeMap<TreePath, u32>,
    functions: Vec<(TreePath, u32, u32)>,
    lines: Vec<(TreePath, u32)>,
}

impl Proximity {
    /// The lines inside a definition that the crash went through.
    pub(crate) fn lines_in(&self, symbol: &Symbol) -> Vec<u32> {
        self.lines
            .iter()
            .filter(|(path, line)| *path == symbol.path && symbol.holds(*line))
            .map(|(_, line)| *line)
            .collect()
    }

    /// Adds a function that the crash went through, at a distance, and the line in it.
    pub(crate) fn add(
        &mut self,
        path: &TreePath,
        (first, last): (u32, u32),
        distance: u32,
        line: Option<u32>,
    ) {
        let nearest = self.files.entry(path.clone()).or_insert(distance);
        *nearest = (*nearest).min(distance);
        self.functions.push((path.clone(), first, last));
        self.lines.extend(line.map(|line| (path.clone(), line)));
    }

    /// Returns what hits are sorted by.
    pub(crate) fn order(&self, path: &TreePath, line: u32) -> Order {
        let in_stack = self
            .functions
            .iter()
            .position(|(file, first, last)| file == path && (*first..=*last).contains(&line));
        let mut files = self.files.keys();
        let apart = files.clone().map(|file| steps(file, path)).min();
        Order {
            function: in_stack.unwrap_or(usize::MAX),
            file: self.files.get(path).copied().unwrap_or(u32::MAX),
            foreign: !self.files.is_empty() && !files.clone().any(|file| are_linked(file, path)),
            aside: is_aside(path) || is_generated(path),
            vendored: is_vendored(path) && !files.any(is_vendored),
            apart: apart.unwrap_or(0),
            path: path.clone(),
            line,
        }
    }
}

/// Returns whether two files are in languages of one program: C and C++ call each other
/// directly; a crash of C does not lie in the Rust around it.
fn are_linked(one: &TreePath, other: &TreePath) -> bool {
    let family = |path: &TreePath| Language::of_path(path).map(Language::family);
    let (one, other) = (family(one), family(other));
    one.is_none() || other.is_none() || one == other
}

/// Returns how many folders two paths begin with alike.
pub(crate) fn shared_folders(one: &TreePath, other: &TreePath) -> usize {
    let pairs = one.folder().split('/').zip(other.folder().split('/'));
    pairs.take_while(|(a, b)| a == b).count()
}

/// Returns how many folders lie between two files.
fn steps(one: &TreePath, other: &TreePath) -> usize {
    let parts = |path: &TreePath| match path.folder() {
        "" => 0,
        folder => folder.split('/').count(),
    };
    if one.folder() == other.folder() {
        return 0;
    }
    parts(one) + parts(other) - 2 * shared_folders(one, other)
}

/// A place in the order of hits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Order {
    function: usize,
    file: u32,
    foreign: bool,
    aside: bool,
    vendored: bool,
    apart: usize,
    path: TreePath,
    line: u32,
}

#[cfg(test)]
mod tests {
    use super::{Proximity, is_aside};
    use patchwright_source::TreePath;

    fn path(text: &str) -> TreePath {
        TreePath::new(text).unwrap()
    }

    #[test]
    fn tells_tests_from_product() {
        for (given, expected) in [
            ("src/png.c", false),
            ("src/tests/png.c", true),
            ("fuzz/target.c", true),
            ("src/harness.c", true),
            ("src/ReaderTest.java", true),
            ("src/latest.c", false),
            ("contest/a.c", false),
        ] {
            assert_eq!(is_aside(&path(given)), expected, "{given}");
        }
    }

    #[test]
    fn copies_bindings_and_made_code_come_after_the_project_of_the_crash() {
        let mut near = Proximity::default();
        near.add(&path("src/zlib/inflate.c"), (10, 20), 0, None);
        let mut hits = [
            "src/lib.rs",
            "src/zlib/test/a.c",
            "src/zlib/gen/x.pb.h",
            "src/third_party/z/inflate.c",
            "src/zlib-ng/inflate.c",
            "src/zlib/contrib/b.c",
            "src/zlib/zutil.h",
        ];
        hits.sort_by_key(|file| near.order(&path(file), 1));
        let expected = [
            "src/zlib/zutil.h",
            "src/zlib/contrib/b.c",
            "src/zlib-ng/inflate.c",
            "src/third_party/z/inflate.c",
            "src/zlib/gen/x.pb.h",
            "src/zlib/test/a.c",
            "src/lib.rs",
        ];
        assert_eq!(hits, expected);
    }

    #[test]
    fn the_crash_comes_first_and_tests_last() {
        let mut near = Proximity::default();
        near.add(&path("src/b.c"), (10, 20), 0, None);
        let mut hits = [
            ("tests/a.c", 1),
            ("lib/a.c", 1),
            ("src/a.c", 1),
            ("src/b.c", 1),
            ("src/b.c", 15),
        ];
        hits.sort_by_key(|(file, line)| near.order(&path(file), *line));
        assert_eq!(
            hits,
            [
                ("src/b.c", 15),
                ("src/b.c", 1),
                ("src/a.c", 1),
                ("lib/a.c", 1),
                ("tests/a.c", 1),
            ]
        );
    }
}
