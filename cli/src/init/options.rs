//! Options of a project: how one build system sets those that build programs and fuzzers, leaves out
//! documents, and builds one module of several. Which builds are tried is no question here.

use crate::common::is_plain;
use patchwright_source::{Tree, TreePath};
use serde::Deserialize;
use std::path::Path;

/// Parts of the names of options that build programs and that build fuzzers, and words in the names
/// of those that make documents.
const OF_PROGRAMS: [&str; 7] = [
    "tool", "example", "test", "program", "sample", "demo", "util",
];
const OF_FUZZERS: [&str; 1] = ["fuzz"];
const OF_DOCUMENTS: [&str; 5] = ["doc", "docs", "documentation", "doxygen", "manpages"];
/// A build within OSS-Fuzz's own image.
const OF_OSS_FUZZ: [&str; 2] = ["ossfuzz", "oss_fuzz"];
/// Words of options that are never set: a library of the machine in place of that of the tree, or a
/// part that is taken away.
const NEVER_SET: [&str; 8] = [
    "system", "disable", "without", "no", "skip", "omit", "exclude", "only",
];
/// The entry of a fuzzer, as reports name it.
const FUZZER: &str = "LLVMFuzzerTestOneInput";

/// Types of Meson's options.
const TYPES: [&str; 6] = ["boolean", "feature", "combo", "string", "integer", "array"];

/// Where a project declares options, and how one of each type is set and taken away.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OptionForms {
    files: Vec<String>,
    boolean: Form,
    feature: Form,
    /// Words that a build with fuzzers begins with.
    fuzzers: String,
    /// Words that build one module of several, and what it needs.
    module: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    on: String,
    off: String,
}

impl OptionForms {
    /// Returns what a build begins with and its options: as the project has them, with all its
    /// programs, and with its fuzzers too; fuzzers come first where a report names one.
    pub(super) fn variants(&self, root: &Path, log: Option<&str>) -> Vec<(&str, String)> {
        let texts = self.files.iter();
        let texts = texts.filter_map(|file| std::fs::read_to_string(root.join(file)).ok());
        let declared: String = texts.collect();
        let programs = self.set_in(&declared, &OF_PROGRAMS);
        let with_fuzzers = self.set_in(&declared, &[&OF_PROGRAMS[..], &OF_FUZZERS].concat());
        let has_fuzzers = with_fuzzers != programs;
        let mut variants = vec![("", String::new()), ("", programs)];
        if has_fuzzers {
            variants.push((&self.fuzzers, with_fuzzers));
            if log.is_some_and(|log| log.contains(FUZZER)) {
                variants.rotate_right(1);
            }
        }
        variants.dedup();
        let log = log.filter(|_| !self.module.is_empty());
        let module = log.and_then(|log| self.module_of(root, log));
        variants.extend(module.map(|name| ("", self.module.replace("{option}", &name))));
        variants
    }

    /// Returns the folder of the module that a report leads to first, in a tree of several.
    fn module_of(&self, root: &Path, log: &str) -> Option<String> {
        let report = patchwright_crash::read_leading(log)?;
        let files = Tree::open(root).ok()?.files();
        let frames = report.stacks.first()?.frames.iter();
        let mut places = frames.filter_map(|frame| path_of(frame.file.as_deref()?, &files));
        let folders = Path::new(places.next()?.as_str()).ancestors().skip(1);
        let is_module = |folder: &&Path| {
            let mut files = self.files.iter();
            files.any(|file| root.join(folder).join(file).is_file())
        };
        let module = { folders }.find(is_module)?.to_str()?;
        (!module.is_empty() && is_plain(module, "._-/")).then(|| module.to_owned())
    }

    /// Reads `option(NAME ...)` of CMake and `option('name', type : ...)` of Meson: sets those whose
    /// names have some part, and leaves out documents, which need programs of their own.
    fn set_in(&self, text: &str, parts: &[&str]) -> String {
        let mut words = String::new();
        for declared in text.split("option(").skip(1) {
            let declared = declared.split(')').next().unwrap_or_default().trim_start();
            let ends = |c: char| c.is_whitespace() || c == ',';
            let name = declared.split(ends).next().unwrap_or_default();
            let name = name.trim_matches(['\'', '"']);
            let lower = name.to_ascii_lowercase();
            let speaks = |of: &[&str]| of.iter().any(|part| lower.contains(part));
            let form = match declared.split('\'').find(|word| TYPES.contains(word)) {
                Some("feature") => &self.feature,
                Some("boolean") | None => &self.boolean,
                Some(_) => continue,
            };
            let has_word = |of: &[&str]| lower.split(['_', '-']).any(|word| of.contains(&word));
            if !is_plain(name, "_-") || speaks(&OF_OSS_FUZZ) || has_word(&NEVER_SET) {
                continue;
            }
            if has_word(&OF_DOCUMENTS) {
                words.push_str(&form.off.replace("{option}", name));
            } else if speaks(parts) {
                words.push_str(&form.on.replace("{option}", name));
            }
        }
        words
    }
}

/// Returns the path in a tree of a file that a frame names.
pub(super) fn path_of<'a>(file: &str, files: &'a [TreePath]) -> Option<&'a TreePath> {
    { files.iter() }.find(|path| Path::new(path.as_str()).ends_with(file))
}

#[cfg(test)]
mod tests {
    use crate::init::build_systems::proposals;
    use crate::init::proposal::Proposal;
    use patchwright_source::Language;
    use std::fs;

    #[test]
    fn options_that_name_programs_are_set_where_a_build_makes_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        file(
            "CMakeLists.txt",
            "option(FOLD_BUILD_EXAMPLES \"examples\" OFF)\noption(FOLD_SIMD \"fast\" ON)\noption(\n  BUILD_TOOLS \"x\")\noption(FOLD_SYSTEM_GTEST \"s\" OFF)\noption(FOLD_FILESYSTEM_TOOL \"f\" OFF)\noption(FOLD_DISABLE_UTILS \"u\" OFF)\n",
        );
        file(
            "meson_options.txt",
            "option('tests', type : 'feature', value : 'auto')\noption('examples', type : 'boolean')\noption('test_dir', type : 'string')\n",
        );
        file("meson.build", "");
        let found = proposals(folder.path(), Language::C, None).unwrap();
        let builds: Vec<&str> = found
            .iter()
            .map(|proposal| proposal.build.as_str())
            .collect();
        let [plain, cmake, _, meson] = builds[..] else {
            panic!("{builds:?}");
        };
        let more = |one: usize, other: usize| found[one].adds_tests_to(&found[other]);
        assert!(more(3, 2) && !more(2, 3) && !more(1, 0) && !more(3, 0));
        assert!(plain.contains("-DBUILD_TESTING=ON && "), "{plain}");
        assert!(
            cmake.contains(
                "=ON -DFOLD_BUILD_EXAMPLES=ON -DBUILD_TOOLS=ON -DFOLD_FILESYSTEM_TOOL=ON && "
            ),
            "{cmake}"
        );
        assert!(
            meson.contains("=false -Dtests=enabled -Dexamples=true \"$OUT\""),
            "{meson}"
        );
        let without: Vec<_> = found.iter().map(Proposal::without_tests).collect();
        let [Some(plain), Some(cmake), None, Some(meson)] = &without[..] else {
            panic!("{without:?}");
        };
        assert!(plain.build.contains("-DBUILD_TESTING=false && "));
        assert!(
            cmake
                .build
                .contains("-DBUILD_TESTING=false -DFOLD_BUILD_EXAMPLES=ON ")
        );
        assert!(
            meson
                .build
                .contains("=false -Dtests=disabled -Dexamples=true")
        );
        assert_eq!(cmake.without_tests(), None);
        let given = Proposal::given(builds[0], &found);
        assert_eq!(given.without_tests(), None);
    }

    #[test]
    fn documents_are_left_out_and_fuzzers_are_built_by_clang() {
        let folder = tempfile::tempdir().unwrap();
        let declared = "option(FOLD_DOCS \"d\" ON)\noption(FOLD_FUZZERS \"f\" OFF)\noption(FOLD_TOOLS \"t\" ON)\noption(FOLD_OSSFUZZ \"o\" OFF)\n";
        fs::write(folder.path().join("CMakeLists.txt"), declared).unwrap();
        let options = |log| {
            let found = proposals(folder.path(), Language::C, log).unwrap();
            let of = |found: &Proposal| {
                let (beginning, rest) = found.build.split_once("cmake -S").unwrap();
                let set = rest.split_once("TESTING=ON").unwrap().1;
                let set = set.split_once(" &&").unwrap().0;
                (beginning.contains("CC=clang"), set.to_owned())
            };
            found.iter().map(of).collect::<Vec<_>>()
        };
        let plain = (false, String::new());
        let programs = (false, " -DFOLD_DOCS=OFF -DFOLD_TOOLS=ON".to_owned());
        let fuzzers = (
            true,
            " -DFOLD_DOCS=OFF -DFOLD_FUZZERS=ON -DFOLD_TOOLS=ON".to_owned(),
        );
        assert_eq!(
            options(None),
            [plain.clone(), programs.clone(), fuzzers.clone()]
        );
        let of_a_fuzzer = "    #2 0x4d in LLVMFuzzerTestOneInput /src/fuzz.c:9";
        assert_eq!(options(Some(of_a_fuzzer)), [fuzzers, plain, programs]);
    }
}
