//! The fixed order of hits: near the crash first, product code before tests,
//! then by path. It decides order only, never what is found.

use crate::symbol::Symbol;
use patchwright_source::{Language, Pattern, TreePath};

/// Folder names that hold examples, harnesses and what serves tests.
const ASIDE_FOLDERS: &str = "testing fuzz fuzzing fuzzers fuzzer example examples bench \
     benchmarks demo demos";

/// File names, without what follows their first dot, of tests and harnesses.
static ASIDE_NAME: Pattern =
    Pattern::new(r"(?i-u:^test_|_tests?$|fuzzer$|_fuzz$|^harness$)|Tests?$");

/// Returns whether a path is a test, an example or a harness rather than the product.
pub(crate) fn is_aside(path: &TreePath) -> bool {
    let folder = path.folder().to_ascii_lowercase();
    if path.is_test() || has_part(&folder, ASIDE_FOLDERS) {
        return true;
    }
    let name = path.file_name();
    ASIDE_NAME.is_match(name.split('.').next().unwrap_or(name))
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

/// Describes what is near the crash.
#[derive(Debug, Clone, Default)]
pub(crate) struct Proximity {
    /// The functions that it went through, the nearest first.
    pub(crate) functions: Vec<Symbol>,
    /// Their files, each once.
    files: Vec<TreePath>,
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

    /// Adds a function that the crash went through, further away than those before, and the line
    /// in it.
    pub(crate) fn add(&mut self, function: Symbol, line: Option<u32>) {
        let path = &function.path;
        self.lines.extend(line.map(|line| (path.clone(), line)));
        if !self.files.contains(path) {
            self.files.push(path.clone());
        }
        self.functions.push(function);
    }

    /// Returns what hits are sorted by.
    pub(crate) fn order(&self, path: &TreePath, line: u32) -> Order {
        let mut functions = self.functions.iter();
        let in_stack = functions.position(|one| one.path == *path && one.holds(line));
        let mut files = self.files.iter();
        let file = files.clone().position(|file| file == path);
        let apart = files.clone().map(|file| steps(file, path)).min();
        Order {
            function: in_stack.unwrap_or(usize::MAX),
            file: file.unwrap_or(usize::MAX),
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
    file: usize,
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
    use crate::symbol::{Symbol, SymbolKind};
    use patchwright_source::{Language, TreePath};

    fn path(text: &str) -> TreePath {
        TreePath::new(text).unwrap()
    }

    /// A crash in lines 10 to 20 of a file.
    fn crash_in(file: &str) -> Proximity {
        let mut near = Proximity::default();
        let function = Symbol {
            id: 1,
            name: "f".to_owned(),
            scope: String::new(),
            kind: SymbolKind::Function,
            path: path(file),
            language: Language::C,
            start_line: 10,
            end_line: 20,
            name_line: 10,
            body_line: Some(11),
            parent: None,
            type_name: None,
        };
        near.add(function, None);
        near
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
        let near = crash_in("src/zlib/inflate.c");
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
        let near = crash_in("src/b.c");
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
