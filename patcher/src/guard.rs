//! Files that no patch may touch, whatever its reasons.
//!
//! A file is known by its path where the path says what it is (tests, build
//! files, what the task protects) and by its content where it does not: a
//! harness is a file that defines a fuzzing entry point, however it is called,
//! and a file called `fuzzy.c` is none.

mod content;

use crate::refusal::refuse;
use crate::{Refusal, Rule};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use patchwright_source::{Language, TreePath, is_version_control};

/// The most edits of a patch.
pub(crate) const MOST_EDITS: usize = 5_000;

/// The most files of a patch.
pub(crate) const MOST_FILES: usize = 100;

/// The largest diff, in bytes.
pub(crate) const LARGEST_DIFF: usize = 1024 * 1024;

/// The largest file that is edited or written, in bytes.
pub(crate) const LARGEST_FILE: usize = 32 * 1024 * 1024;

/// A protected path that is no glob.
#[derive(Debug, thiserror::Error)]
#[error("protected path {pattern:?} is no valid glob")]
pub struct PatternError {
    /// The pattern as it was given.
    pub pattern: String,
    /// The mistake in it.
    #[source]
    pub source: globset::Error,
}

/// The rules for one task.
#[derive(Debug, Clone)]
pub struct Guard {
    protected: GlobSet,
    patterns: Vec<String>,
    /// True where only what tests the program may be changed, else only the program.
    for_tests: bool,
}

impl Guard {
    /// Takes the paths and globs that a task protects. A path without wildcard
    /// protects the file, or everything in the folder, of that name.
    pub fn new(protect: &[String]) -> Result<Self, PatternError> {
        let broken = |pattern: &str, source| PatternError {
            pattern: pattern.to_owned(),
            source,
        };
        let mut builder = GlobSetBuilder::new();
        let mut patterns = Vec::new();
        for given in protect {
            let pattern = given.trim().trim_start_matches("./").trim_matches('/');
            if pattern.is_empty() {
                continue;
            }
            for glob in [pattern.to_owned(), format!("{pattern}/**")] {
                let glob = GlobBuilder::new(&glob)
                    .literal_separator(false)
                    .build()
                    .map_err(|source| broken(given, source))?;
                builder.add(glob);
                patterns.push(given.clone());
            }
        }
        let protected = builder.build();
        let protected = protected.map_err(|source| broken(&protect.join(", "), source))?;
        Ok(Self {
            protected,
            patterns,
            for_tests: false,
        })
    }

    /// Returns the rules for whoever writes a test: tests and the build files beside them
    /// may be changed, and nothing else.
    #[must_use]
    pub fn for_tests(mut self) -> Self {
        self.for_tests = true;
        self
    }

    /// Judges a path alone.
    pub(crate) fn check_path(&self, path: &TreePath) -> Result<(), Refusal> {
        let name = path.as_str();
        let protected = self.protected.matches(name);
        let pattern = protected.first().and_then(|at| self.patterns.get(*at));
        let (rule, reason) = if name.chars().any(char::is_control) {
            (Rule::OutsideTree, "the path holds a control character")
        } else if name.split('/').any(is_version_control) {
            (Rule::OutsideTree, "version control is no part of the tree")
        } else if let Some(pattern) = pattern {
            let reason = format!("the task protects {pattern:?}; repair the program elsewhere");
            return refuse(Rule::Protected, reason);
        } else if self.for_tests && !path.is_test() {
            (Rule::Protected, "only tests may be written here")
        } else if !self.for_tests && path.is_build_file() {
            let reason = "build files may not be changed; repair the program itself";
            (Rule::BuildFile, reason)
        } else if !self.for_tests && path.is_test() {
            let reason = "tests may not be changed; repair the program itself";
            (Rule::Test, reason)
        } else {
            return Ok(());
        };
        refuse(rule, reason)
    }

    /// Judges a file by what it is, before or after the patch.
    pub(crate) fn check_content(&self, path: &TreePath, bytes: &[u8]) -> Result<(), Refusal> {
        let size = bytes.len();
        if size > LARGEST_FILE {
            let reason =
                format!("the file has {size} bytes, more than the {LARGEST_FILE} that are edited");
            return refuse(Rule::TooLarge, reason);
        }
        if bytes.contains(&0) {
            return refuse(Rule::Binary, "the file is binary");
        }
        let language = Language::of_path(path);
        if let Some(entry) = content::harness_entry(language, bytes) {
            let reason = format!(
                "the file defines {entry}, so it is a fuzzing harness; repair the program itself"
            );
            return refuse(Rule::Harness, reason);
        }
        if !self.for_tests && content::is_test(language, bytes) {
            let reason = "the file holds tests; repair the program itself";
            return refuse(Rule::Test, reason);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Guard;
    use crate::Rule;
    use patchwright_source::TreePath;

    fn check(protect: &[&str], path: &str, content: &str, expected: Option<Rule>) {
        let protect: Vec<String> = protect.iter().map(|path| (*path).to_owned()).collect();
        let guard = Guard::new(&protect).unwrap();
        let path = TreePath::new(path).unwrap();
        let found = guard
            .check_path(&path)
            .and_then(|()| guard.check_content(&path, content.as_bytes()));
        assert_eq!(
            found.err().map(|refusal| refusal.rule),
            expected,
            "{path} {content}"
        );
    }

    #[test]
    fn judges_paths() {
        for (path, expected) in [
            ("src/a.c", None),
            ("src/fuzzy.c", None),
            ("fuzz/dictionary.c", None),
            ("src/latest.c", None),
            ("contest/attest.c", None),
            ("src/main/java/TestResult.java", None),
            ("src/makefile.c", None),
            ("src/config.h", None),
            (".git/hooks/post-checkout", Some(Rule::OutsideTree)),
            ("src/.git/config", Some(Rule::OutsideTree)),
            ("tests/a.c", Some(Rule::Test)),
            ("src/test/java/A.java", Some(Rule::Test)),
            ("lib/parse_test.cc", Some(Rule::Test)),
            ("lib/test_parse.py", Some(Rule::Test)),
            ("a/ParserTest.java", Some(Rule::Test)),
            ("CMakeLists.txt", Some(Rule::BuildFile)),
            ("sub/Makefile.am", Some(Rule::BuildFile)),
            ("build.sh", Some(Rule::BuildFile)),
            ("pom.xml", Some(Rule::BuildFile)),
            (".github/workflows/ci.yml", Some(Rule::BuildFile)),
        ] {
            check(&[], path, "int a;\n", expected);
        }
    }

    #[test]
    fn whoever_writes_a_test_changes_nothing_else() {
        let guard = Guard::new(&["tests/golden".to_owned()])
            .unwrap()
            .for_tests();
        for (path, expected) in [
            ("tests/a.c", None),
            ("tests/Makefile.am", None),
            ("lib/parse_test.cc", None),
            ("src/a.c", Some(Rule::Protected)),
            ("Makefile", Some(Rule::Protected)),
            ("tests/golden/a.txt", Some(Rule::Protected)),
            ("tests/.git/hooks/a", Some(Rule::OutsideTree)),
        ] {
            let path = TreePath::new(path).unwrap();
            let content = b"#include <gtest/gtest.h>\nTEST(A, B) { }";
            let found = guard
                .check_path(&path)
                .and_then(|()| guard.check_content(&path, content));
            assert_eq!(found.err().map(|refusal| refusal.rule), expected, "{path}");
        }
    }

    #[test]
    fn judges_what_a_task_protects() {
        let protect = ["src/api.h", "vendor/", "**/*.proto", "./drivers/*.cc"];
        for (path, protected) in [
            ("src/api.h", true),
            ("src/api.hpp", false),
            ("vendor/zlib/a.c", true),
            ("vendored/a.c", false),
            ("a/b.proto", true),
            ("drivers/a.cc", true),
            ("drivers/a.c", false),
        ] {
            check(&protect, path, "", protected.then_some(Rule::Protected));
        }
        assert!(Guard::new(&["a[".to_owned()]).is_err());
    }

    #[test]
    fn judges_what_a_file_is() {
        let harness =
            "int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {\n return 0; }\n";
        for (path, content, expected) in [
            ("src/entry.cc", harness, Some(Rule::Harness)),
            (
                "src/entry.c",
                "int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n);\n",
                None,
            ),
            (
                "src/entry.c",
                "/* see LLVMFuzzerTestOneInput(a) { */ int a;\n",
                None,
            ),
            (
                "src/main.c",
                "int main(void) { return LLVMFuzzerTestOneInput(a, b); }\n",
                None,
            ),
            (
                "src/E.java",
                "public static void fuzzerTestOneInput(FuzzedDataProvider d) { }",
                Some(Rule::Harness),
            ),
            (
                "src/e.rs",
                "fuzz_target!(|data: &[u8]| { });",
                Some(Rule::Harness),
            ),
            (
                "src/e.py",
                "def TestOneInput(data):\n    pass\natheris.Setup(a, TestOneInput)\n",
                Some(Rule::Harness),
            ),
            (
                "src/E.java",
                "import org.junit.Test;\nclass E { @Test void f() {} }",
                Some(Rule::Test),
            ),
            (
                "src/e.cc",
                "#include <gtest/gtest.h>\nTEST(A, B) { }",
                Some(Rule::Test),
            ),
            (
                "src/e.py",
                "import unittest\nclass A(unittest.TestCase):\n  pass\n",
                Some(Rule::Test),
            ),
            ("src/a.c", "int\0a;", Some(Rule::Binary)),
        ] {
            check(&[], path, content, expected);
        }
    }
}
