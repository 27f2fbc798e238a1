//! Build systems by the files that they are known by, and the commands that
//! people use with them.

use patchwright_source::Language;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The table of build systems.
const TABLE: &str = include_str!("build_systems.toml");
/// Replaced by the place of the build.
const PLACE: &str = "{place}";

/// Commands that may build and test a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// The name of the build system.
    pub system: String,
    /// Downloads what the build needs.
    pub prepare: Option<String>,
    pub build: String,
    /// Test commands, the most usual first.
    pub tests: Vec<String>,
    /// Globs of result files that the tests leave.
    pub reports: Vec<String>,
}

impl Proposal {
    /// Returns the proposal of a build that a person names; the tests may be those of
    /// the others.
    pub(crate) fn given(build: &str, others: &[Self]) -> Self {
        Self {
            system: "build".to_owned(),
            prepare: None,
            build: build.to_owned(),
            tests: others
                .iter()
                .flat_map(|other| other.tests.clone())
                .collect(),
            reports: Vec::new(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    system: Vec<BuildSystem>,
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
    tests: Vec<String>,
    #[serde(default)]
    reports: Vec<String>,
}

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
    fn proposals(&self, root: &Path) -> Vec<Proposal> {
        let known = |mark: &&Mark| mark.files.iter().all(|file| root.join(file).is_file());
        let Some(mark) = self.known_by.iter().find(known) else {
            return Vec::new();
        };
        let no_place = [String::new()];
        let places = if self.places.is_empty() {
            &no_place[..]
        } else {
            &self.places
        };
        let proposal = |place: &String| {
            let fill = |command: &String| {
                let placed = command.replace(PLACE, place);
                let words = mark.words.iter();
                words.fold(placed, |text, (name, word)| {
                    text.replace(&format!("{{{name}}}"), word)
                })
            };
            Proposal {
                system: self.name.clone(),
                prepare: self.prepare.as_ref().map(fill),
                build: fill(&self.build),
                tests: self.tests.iter().map(fill).collect(),
                reports: self.reports.clone(),
            }
        };
        places.iter().map(proposal).collect()
    }
}

/// Returns the proposals for a tree, the most likely first.
///
/// # Errors
/// The table of build systems is damaged; a test reads it.
pub(crate) fn proposals(root: &Path, language: Language) -> anyhow::Result<Vec<Proposal>> {
    let table: Table = toml::from_str(TABLE)?;
    let systems = table.system.iter();
    let fitting = systems.filter(|system| system.languages.contains(&language));
    Ok(fitting.flat_map(|system| system.proposals(root)).collect())
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
        let [outside, inside] = &proposals(folder.path(), Language::C).unwrap()[..] else {
            panic!("two places");
        };
        assert!(outside.build.starts_with(r#"[ -e "$TREE"/configure ] || (cd "$TREE" && autoreconf -fi); mkdir -p "$OUT"/build && cd"#));
        assert_eq!(
            inside.tests[0],
            r#"ASAN_OPTIONS=detect_leaks=0 make -C "$TREE" check"#
        );
        let gradle = &proposals(folder.path(), Language::Java).unwrap()[0];
        assert_eq!(
            gradle.prepare.as_deref(),
            Some(r#"sh ./gradlew --no-daemon -g "$HOME"/gradle assemble testClasses"#)
        );
    }

    #[test]
    fn build_systems_are_known_by_their_files() {
        for (files, language, expected) in [
            (
                &["CMakeLists.txt", "Makefile"][..],
                Language::C,
                &["CMake", "make"][..],
            ),
            (&["configure"], Language::C, &["autotools", "autotools"]),
            (
                &["autogen.sh", "configure.ac"],
                Language::Cpp,
                &["autotools", "autotools"],
            ),
            (&["meson.build"], Language::C, &["Meson"]),
            (&["pom.xml"], Language::Java, &["Maven"]),
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
            let found = proposals(folder.path(), language).unwrap();
            let found: Vec<&str> = found
                .iter()
                .map(|proposal| proposal.system.as_str())
                .collect();
            assert_eq!(found, expected, "{files:?}");
        }
    }
}
