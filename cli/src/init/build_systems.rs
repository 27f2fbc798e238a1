//! Build systems by the files that they are known by, and the commands that
//! people use with them.

use super::proposal::{InPart, Proposal, TooOld};
use crate::common::{WrongInput, is_plain};
use patchwright_source::{Language, Tree, TreePath};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

const TABLE: &str = include_str!("build_systems.toml");
/// Parts of the names of options that build programs and that build fuzzers, and words in the names
/// of those that make documents.
const OF_PROGRAMS: [&str; 7] = [
    "tool", "example", "test", "program", "sample", "demo", "util",
];
const OF_FUZZERS: [&str; 1] = ["fuzz"];
const OF_DOCUMENTS: [&str; 5] = ["doc", "docs", "documentation", "doxygen", "manpages"];
/// A build within OSS-Fuzz's own image.
const OF_OSS_FUZZ: [&str; 2] = ["ossfuzz", "oss_fuzz"];
/// The entry of a fuzzer, as reports name it.
const FUZZER: &str = "LLVMFuzzerTestOneInput";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    scripts: Scripts,
    system: Vec<BuildSystem>,
}

/// Test scripts: where they lie, their names, and what runs them by their ending.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scripts {
    folders: Vec<String>,
    names: Vec<String>,
    run_by: BTreeMap<String, String>,
}

impl Scripts {
    /// Returns the commands that run those of a tree.
    fn of(&self, root: &Path) -> Vec<String> {
        let mut commands = Vec::new();
        for folder in &self.folders {
            for name in &self.names {
                let paths = self.run_by.iter();
                let paths = paths.map(|(ending, by)| (by, format!("{folder}{name}.{ending}")));
                let there = paths.filter(|(_, path)| root.join(path).is_file());
                commands.extend(there.map(|(by, path)| format!("{by} \"$TREE\"/{path}")));
            }
        }
        commands
    }
}

/// One build system; `build_systems.toml` explains the keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BuildSystem {
    name: String,
    languages: Vec<Language>,
    known_by: Vec<Mark>,
    #[serde(default)]
    places: Vec<String>,
    prepare: Option<String>,
    build: String,
    #[serde(default)]
    options: OptionForms,
    in_part: Option<InPart>,
    too_old: Option<TooOld>,
    tests: Vec<String>,
    #[serde(default)]
    reports: Vec<String>,
}

/// Where a project declares options, and how one of each type is set and taken away.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OptionForms {
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
    fn variants(&self, root: &Path, log: Option<&str>) -> Vec<(&str, String)> {
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
            if !is_plain(name, "_-") || speaks(&OF_OSS_FUZZ) {
                continue;
            }
            if lower
                .split(['_', '-'])
                .any(|word| OF_DOCUMENTS.contains(&word))
            {
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

/// Place of a test script in a command.
const SCRIPT: &str = "{script}";
/// Types of Meson's options.
const TYPES: [&str; 6] = ["boolean", "feature", "combo", "string", "integer", "array"];

/// Files by which a build system is known, and the words that its commands get then.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mark {
    files: Vec<String>,
    #[serde(default)]
    words: BTreeMap<String, String>,
}

impl BuildSystem {
    /// Returns its proposals for a tree; none where it does not know the tree.
    fn proposals(&self, (root, log): (&Path, Option<&str>), scripts: &[String]) -> Vec<Proposal> {
        let known = |mark: &&Mark| mark.files.iter().all(|file| root.join(file).is_file());
        let Some(mark) = self.known_by.iter().find(known) else {
            return Vec::new();
        };
        let no_place = vec![String::new()];
        let places = Some(&self.places).filter(|places| !places.is_empty());
        let places = places.unwrap_or(&no_place);
        let variants = self.options.variants(root, log);
        let proposals = variants.iter().flat_map(|variant| {
            let places = places.iter();
            places.map(move |place| self.proposal(mark, (place, variant), scripts))
        });
        proposals.collect()
    }

    fn proposal(
        &self,
        mark: &Mark,
        (place, (beginning, options)): (&str, &(&str, String)),
        scripts: &[String],
    ) -> Proposal {
        let fill = |command: &String| {
            let placed = command.replace("{place}", place);
            let placed = placed.replace("{options}", options);
            let words = mark.words.iter();
            words.fold(placed, |text, (name, word)| {
                text.replace(&format!("{{{name}}}"), word)
            })
        };
        let tests = self.tests.iter().flat_map(|command| {
            if command.contains(SCRIPT) {
                let scripts = scripts.iter();
                return scripts.map(|one| command.replace(SCRIPT, one)).collect();
            }
            vec![command.clone()]
        });
        Proposal {
            system: self.name.clone(),
            prepare: self.prepare.as_ref().map(fill),
            build: format!("{beginning}{}", fill(&self.build)),
            // A part of the programs with fuzzers is no more than all of them without.
            in_part: self.in_part.clone().filter(|_| beginning.is_empty()),
            too_old: self.too_old.clone(),
            tests: tests.map(|command| fill(&command)).collect(),
            reports: self.reports.clone(),
            named: false,
        }
    }
}

/// Folders of a tree that are looked at where its root has no build system.
const FOLDERS: usize = 2;

/// Returns the proposals for a tree, the most likely first, which a report may tell. A project may
/// lie in a folder of its repository.
///
/// # Errors
/// The table of build systems is damaged; a test reads it.
pub(crate) fn proposals(
    root: &Path,
    language: Language,
    log: Option<&str>,
) -> anyhow::Result<Vec<Proposal>> {
    let table: Table = toml::from_str(TABLE)?;
    let known = |root: &Path| -> Vec<Proposal> {
        let scripts = table.scripts.of(root);
        let systems = table.system.iter();
        let fitting = systems.filter(|system| system.languages.contains(&language));
        let proposals = fitting.flat_map(|system| system.proposals((root, log), &scripts));
        proposals.collect()
    };
    let mut found = known(root);
    if found.is_empty() {
        for folder in folders(root, language) {
            let inside = known(&root.join(&folder)).into_iter();
            found.extend(inside.map(|proposal| proposal.in_folder(&folder)));
        }
    }
    Ok(found)
}

/// Returns the folders at the root of a tree with the most sources.
fn folders(root: &Path, language: Language) -> Vec<String> {
    let files = Tree::open(root).map(|tree| tree.files());
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    for file in files.unwrap_or_default() {
        if let Some((folder, _)) = file.as_str().split_once('/')
            && is_plain(folder, "._+-")
            && Language::of_path(&file).is_some_and(|one| one.family() == language.family())
        {
            *sizes.entry(folder.to_owned()).or_default() += 1;
        }
    }
    let mut folders: Vec<(String, usize)> = sizes.into_iter().collect();
    folders.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let folders = folders.into_iter().map(|(folder, _)| folder);
    folders.take(FOLDERS).collect()
}

/// Names the files with a `main`: a tree without programs may have examples to build.
pub(crate) fn nothing_builds(tree: &Path) -> WrongInput {
    let mut with_main = String::new();
    if let Ok(tree) = Tree::open(tree) {
        let has_main = |path: &TreePath| {
            let text = Language::of_path(path).and_then(|_| tree.read(path).ok());
            text.is_some_and(|text| super::harnesses::has_main(&text.decode(text.bytes())))
        };
        let files = tree.files().into_iter().filter(has_main).take(4);
        let files: Vec<String> = files.map(|path| path.to_string()).collect();
        if !files.is_empty() {
            with_main = format!("; these files have a main: {}", files.join(", "));
        }
    }
    let tree = tree.display();
    WrongInput(format!(
        "nothing that was tried builds a program of {tree}: name the command with --build, and with --prepare one \
         that downloads what it needs{with_main}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn words_of_the_table_are_filled_in() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["configure.ac", "build.gradle", "gradlew"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        let [outside, inside] = &proposals(folder.path(), Language::C, None).unwrap()[..] else {
            panic!("two places");
        };
        assert!(outside.build.starts_with(r#"[ -e "$TREE"/configure ] || (cd "$TREE" && autoreconf -fi); mkdir -p "$OUT"/build && cd"#));
        assert_eq!(
            inside.tests[0],
            r#"ASAN_OPTIONS=detect_leaks=0 make -C "$TREE" check"#
        );
        let of_java = proposals(folder.path(), Language::Java, None).unwrap();
        let given = Proposal::given("ant", &[&of_java[..], &of_java].concat());
        assert_eq!(given.reports, ["**/build/test-results/**/*.xml"]);
        assert_eq!(given.tests, of_java[0].tests);
        let gradle = &of_java[0];
        assert_eq!(
            gradle.prepare.as_deref(),
            Some(r#"sh ./gradlew --no-daemon -g "$HOME"/gradle assemble testClasses"#)
        );
    }

    /// Tells which proposals build a tree, in order.
    fn built(folder: &Path) -> Vec<bool> {
        let builds = proposals(folder, Language::C, None).unwrap();
        let succeed = builds.iter().map(|proposal| {
            let mut shell = std::process::Command::new("sh");
            let shell = shell.args(["-euc", &proposal.build]);
            let shell = shell.env("TREE", folder).env("OUT", folder);
            let shell = shell.env("CFLAGS", "-fflag").env("JOBS", "1");
            shell.env_remove("CC").status().unwrap().success()
        });
        succeed.collect()
    }

    fn write_configure(folder: &Path, configure: &str, makefile: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        fs::write(folder.join("configure"), configure).unwrap();
        fs::write(folder.join("Makefile"), makefile).unwrap();
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.join("configure"), mode).unwrap();
    }

    #[test]
    fn a_configure_that_is_not_of_autoconf_gets_no_options() {
        let folder = tempfile::tempdir().unwrap();
        let configure = "#!/bin/sh\n[ $# = 0 ] && echo \"CC = $CC\" > Makefile.configure\n";
        let makefile = "include Makefile.configure\nfold:\n\techo $(CC) > fold\n";
        write_configure(folder.path(), configure, makefile);
        assert_eq!(built(folder.path()), [false, false, true, true]);
        let compiler = fs::read_to_string(folder.path().join("fold")).unwrap();
        assert_eq!(compiler, "cc -fflag\n");
    }

    #[test]
    fn a_configure_that_is_kept_in_the_tree_is_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let configure = "#!/bin/sh\ncp \"$TREE\"/Makefile . 2>/dev/null\ntouch config.status\n";
        let makefile = "all: $(TREE)/Makefile.in\n$(TREE)/Makefile.in: $(TREE)/configure.ac $(TREE)/aclocal.m4\n\tmissing-automake\n";
        write_configure(folder.path(), configure, makefile);
        let write = |name: &str| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            fs::write(folder.path().join(name), "").unwrap();
        };
        for name in ["Makefile.in", "aclocal.m4", "configure.ac"] {
            write(name);
        }
        assert_eq!(built(folder.path()), [true; 4]);
        // A change of what it was made of has to be seen where a build goes on.
        write("configure.ac");
        assert_eq!(built(folder.path()), [false; 4]);
    }

    #[test]
    fn a_project_in_a_folder_of_its_repository_is_built_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (name, text) in [
            ("lib/Makefile", "fold: a.c\n\tcp a.c fold\n"),
            ("lib/a.c", ""),
            ("lib/b.c", ""),
            ("other/a.c", ""),
            ("README", ""),
        ] {
            fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            fs::write(path(name), text).unwrap();
        }
        let found = proposals(folder.path(), Language::C, None).unwrap();
        let shell = std::process::Command::new("sh")
            .args(["-euc", &found[0].build])
            .env("TREE", folder.path())
            .env("JOBS", "1")
            .current_dir(folder.path())
            .status();
        assert!(shell.unwrap().success());
        assert!(path("lib/fold").is_file());
        let there = "ROOT=\"$TREE\"; cd lib; TREE=$PWD; ";
        assert!(found.iter().all(|one| one.tests[0].starts_with(there)));
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn test_scripts_of_the_tree_run_where_it_was_built() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("scripts")).unwrap();
        for file in ["CMakeLists.txt", "scripts/run-tests.py", "test.sh"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        let tests = &proposals(folder.path(), Language::C, None).unwrap()[0].tests;
        assert_eq!(
            tests[1..],
            [
                r#"cmake --build "$OUT"/build --target check -v"#,
                r#"cmake --build "$OUT"/build --target test -v"#,
                r#"cd "$OUT"/build && bash "$TREE"/test.sh"#,
                r#"cd "$OUT"/build && python3 "$TREE"/scripts/run-tests.py"#,
            ]
        );
    }

    #[test]
    fn options_that_name_programs_are_set_where_a_build_makes_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        file(
            "CMakeLists.txt",
            "option(FOLD_BUILD_EXAMPLES \"examples\" OFF)\noption(FOLD_SIMD \"fast\" ON)\noption(\n  BUILD_TOOLS \"x\")\n",
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
        assert!(plain.contains("-DBUILD_TESTING=ON && "), "{plain}");
        assert!(
            cmake.contains("=ON -DFOLD_BUILD_EXAMPLES=ON -DBUILD_TOOLS=ON && "),
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

    #[test]
    fn build_systems_are_known_by_their_files() {
        for (files, language, expected) in [
            (
                &["CMakeLists.txt", "Makefile"][..],
                Language::C,
                &["CMake", "make"][..],
            ),
            (
                &["configure"],
                Language::C,
                &["autotools", "autotools", "configure"],
            ),
            (
                &["autogen.sh", "configure.ac"],
                Language::Cpp,
                &["autotools", "autotools"],
            ),
            (&["meson.build"], Language::C, &["Meson"]),
            (&["pom.xml"], Language::Java, &["Maven", "Maven"]),
            (
                &["build.gradle.kts", "gradlew"],
                Language::Java,
                &["Gradle"],
            ),
            (&["a.c"], Language::C, &[]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            for file in files {
                fs::write(folder.path().join(file), "").unwrap();
            }
            let found = proposals(folder.path(), language, None).unwrap();
            let found: Vec<&str> = found
                .iter()
                .map(|proposal| proposal.system.as_str())
                .collect();
            assert_eq!(found, expected, "{files:?}");
        }
    }
}
