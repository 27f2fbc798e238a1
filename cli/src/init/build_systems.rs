//! Build systems by the files that they are known by, and the commands that
//! people use with them.

use super::options::OptionForms;
use super::proposal::{InPart, Proposal, TooOld};
use crate::common::{WrongInput, is_plain};
use patchwright_source::{Language, Tree, TreePath, regex};
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const TABLE: &str = include_str!("build_systems.toml");
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
    made: Vec<String>,
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
            if folder.contains("test") && root.join(folder).join("Makefile").is_file() {
                let folder = folder.trim_end_matches('/');
                let made = self.made.iter();
                commands.extend(made.map(|command| command.replace("{folder}", folder)));
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

/// Place of a test script in a command.
const SCRIPT: &str = "{script}";
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
            folder: String::new(),
            named: false,
        }
    }
}

/// Folders of a tree that are looked at where its root has no build system.
const FOLDERS: usize = 2;

/// Returns the proposals for a tree, the most likely first, which a report may tell. A project may
/// lie in a folder of its repository, and its build files in another one than its sources.
///
/// # Errors
/// The table of build systems is damaged; a test reads it.
pub(crate) fn proposals(
    root: &Path,
    language: Language,
    log: Option<&str>,
) -> anyhow::Result<Vec<Proposal>> {
    let mut table: Table = toml::from_str(TABLE)?;
    table
        .system
        .retain(|system| system.languages.contains(&language));
    let of_root = table.scripts.of(root);
    let known = |root: &Path, scripts: &[String]| -> Vec<Proposal> {
        let systems = table.system.iter();
        let proposals = systems.flat_map(|system| system.proposals((root, log), scripts));
        proposals.collect()
    };
    let mut found = known(root, &of_root);
    if found.is_empty() {
        let is_known = |folder: &str| !known(&root.join(folder), &[]).is_empty();
        for folder in folders(root, language, &table.system, &is_known) {
            let inside = root.join(&folder);
            let mut scripts = table.scripts.of(&inside);
            let outside = of_root.iter();
            scripts.extend(outside.map(|script| script.replace("\"$TREE\"", "\"$ROOT\"")));
            let inside = known(&inside, &scripts).into_iter();
            found.extend(inside.map(|proposal| proposal.in_folder(&folder)));
        }
    }
    Ok(found)
}

/// Returns the folders of a tree that hold files by which a build system is known, those above the most
/// sources first and then the highest; none below another one.
fn folders(
    root: &Path,
    language: Language,
    systems: &[BuildSystem],
    is_known: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let files = Tree::open(root).map(|tree| tree.files());
    let files = files.unwrap_or_default();
    let marks = systems.iter().flat_map(|system| &system.known_by);
    let names: BTreeSet<&String> = marks.flat_map(|mark| &mark.files).collect();
    let marked = files
        .iter()
        .filter(|file| names.contains(&file.file_name().to_owned()));
    let folders = marked.map(TreePath::folder);
    let folders = folders.filter(|one| is_plain(one, "._+-/") && !one.starts_with('-'));
    let folders: BTreeSet<&str> = folders.collect();
    let folders: BTreeSet<&str> = folders.into_iter().filter(|one| is_known(one)).collect();
    let below = |file: &str, folder: &str| {
        let rest = file.strip_prefix(folder);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let is_highest = |one: &&&str| !folders.iter().any(|other| below(one, other));
    let mut highest: Vec<&str> = folders.iter().filter(is_highest).copied().collect();
    highest.sort_by_cached_key(|folder| {
        let is_source = |file: &&TreePath| {
            let of_file = Language::of_path(file);
            of_file.is_some_and(|of_file| of_file.family() == language.family())
        };
        let inside = files.iter().filter(|file| below(file.as_str(), folder));
        (Reverse(inside.filter(is_source).count()), folder.len())
    });
    highest.truncate(FOLDERS);
    highest.into_iter().map(ToOwned::to_owned).collect()
}

/// Returns the command that a build asks for and this machine lacks, as shells, `env`, make and scripts
/// of autotools tell it.
pub(super) fn missing_tool(said: &str) -> Option<&str> {
    let told = regex!(
        r"(?m)(?:: \d+|line \d+): ([\w.+-]+): (?:command )?not found$|(?:env|make(?:\[\d+\])?): ['\u{2018}]?([\w.+-]+)['\u{2019}]?: No such file or directory$|\*\*\* No (\S+) .*please install"
    );
    let told = told.captures(said)?;
    let tool = told.iter().skip(1).flatten().next();
    tool.map(|tool| tool.as_str())
}

/// Names the tools that were missing, and the files with a `main`: a tree without programs may
/// have examples to build.
pub(crate) fn nothing_builds((tree, tried): (&Path, bool), mut missing: Vec<String>) -> WrongInput {
    let mut with_main = String::new();
    if let Ok(tree) = Tree::open(tree) {
        let has_main = |path: &TreePath| {
            let text = Language::of_path(path).and_then(|_| tree.read(path).ok());
            text.is_some_and(|text| super::harnesses::main_of(&text.decode(text.bytes())).is_some())
        };
        let files = tree.files().into_iter().filter(has_main).take(4);
        let files: Vec<String> = files.map(|path| path.to_string()).collect();
        if !files.is_empty() {
            with_main = format!("; these files have a main: {}", files.join(", "));
        }
    }
    missing.sort();
    missing.dedup();
    let missing = match missing.join(", ") {
        none if none.is_empty() => none,
        tools => format!("install what is missing here ({tools}), or "),
    };
    let tree = tree.display();
    let tried = if tried {
        "nothing that was tried"
    } else {
        "no folder has the files of a build system that is known, so nothing was tried that"
    };
    WrongInput(format!(
        "{tried} builds a program of {tree}: {missing}name the command with --build, and with --prepare one \
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
            r#"ASAN_OPTIONS=detect_leaks=0 make -C "$TREE" check VERBOSE=1"#
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
    fn build_files_may_lie_deeper_than_sources() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "src/a.c",
            "projects/make.bsd/Makefile",
            "projects/make/Makefile",
            "projects/make/more/Makefile",
            "projects/CMakeCache/gradlew",
            "-P/Makefile",
            "util/test.py",
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = proposals(folder.path(), Language::C, None).unwrap();
        let there = |folder: &str| format!("ROOT=\"$TREE\"; cd projects/{folder}; TREE=$PWD; ");
        assert_eq!(found.len(), 2);
        assert!(found[0].build.starts_with(&there("make")));
        assert!(found[1].build.starts_with(&there("make.bsd")));
        let by_script = there("make") + r#"cd "$TREE" && python3 "$ROOT"/util/test.py"#;
        assert_eq!(found[0].tests.last(), Some(&by_script));
    }

    #[test]
    fn test_scripts_of_the_tree_run_where_it_was_built() {
        let folder = tempfile::tempdir().unwrap();
        for part in ["scripts", "tests"] {
            fs::create_dir(folder.path().join(part)).unwrap();
        }
        for file in [
            "CMakeLists.txt",
            "scripts/run-tests.py",
            "test.sh",
            "tests/Makefile",
        ] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        let tests = &proposals(folder.path(), Language::C, None).unwrap()[0].tests;
        assert_eq!(
            tests[1..5],
            [
                r#"cmake --build "$OUT"/build --target check -v"#,
                r#"cmake --build "$OUT"/build --target test -v"#,
                r#"cd "$OUT"/build && bash "$TREE"/test.sh"#,
                r#"cd "$OUT"/build && python3 "$TREE"/scripts/run-tests.py"#,
            ]
        );
        let [.., check, _] = &tests[..] else {
            panic!("{tests:?}");
        };
        assert!(
            check.starts_with(r#"cd "$OUT"/build && make -C "$TREE"/tests CC="#),
            "{check}"
        );
    }

    #[test]
    fn tools_that_are_missing_are_named() {
        for (said, tool) in [
            ("sh: 1: meson: not found", Some("meson")),
            ("a\nbash: line 3: bison: command not found\n", Some("bison")),
            ("./autogen.sh: 12: aclocal: not found", Some("aclocal")),
            ("make[1]: flex: No such file or directory", Some("flex")),
            (
                "/usr/bin/env: \u{2018}python\u{2019}: No such file or directory",
                Some("python"),
            ),
            (
                "*** No libtoolize (libtool) found, please install it ***",
                Some("libtoolize"),
            ),
            ("cc: error: a.c: No such file or directory", None),
            ("bash: line 3: a.txt: No such file or directory", None),
            ("sh: 1: ./gen: not found", None),
            ("library zlib not found", None),
        ] {
            assert_eq!(super::missing_tool(said), tool, "{said}");
        }
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
            (
                &["pom.xml"],
                Language::Java,
                &["Maven", "Maven", "Maven without its phases"],
            ),
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
