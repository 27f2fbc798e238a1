//! Build systems by the files that they are known by, and the commands that
//! people use with them.

use patchwright_source::Language;
use std::path::Path;

/// Commands that may build and test a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// The build system.
    pub system: &'static str,
    /// Downloads what the build needs.
    pub prepare: Option<String>,
    /// Builds the tree.
    pub build: String,
    /// Test commands, the most usual first.
    pub tests: Vec<String>,
    /// Globs of result files that the tests leave.
    pub reports: Vec<String>,
}

impl Proposal {
    fn new(system: &'static str, build: &str, tests: &[&str]) -> Self {
        Self {
            system,
            prepare: None,
            build: build.to_owned(),
            tests: tests.iter().map(|test| (*test).to_owned()).collect(),
            reports: Vec::new(),
        }
    }
}

impl Proposal {
    /// Returns the proposal of a build that a person names; the tests may be those of
    /// the others.
    pub(crate) fn given(build: &str, others: &[Self]) -> Self {
        let tests = others.iter().flat_map(|other| other.tests.clone());
        Self {
            tests: tests.collect(),
            ..Self::new("build", build, &[])
        }
    }
}

/// Files that an in-tree or out-of-tree `make` tests with.
const MAKE_TESTS: [&str; 2] = ["check", "test"];

/// Returns the proposals for a tree, the most likely first.
pub(crate) fn proposals(root: &Path, language: Language) -> Vec<Proposal> {
    let has = |name: &str| root.join(name).is_file();
    if language == Language::Java {
        return java(&has);
    }
    let mut found = Vec::new();
    if has("CMakeLists.txt") {
        found.push(Proposal::new(
            "CMake",
            r#"cmake -S "$TREE" -B "$OUT"/build -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=ON && cmake --build "$OUT"/build -j"$JOBS""#,
            &[r#"ctest --test-dir "$OUT"/build --output-on-failure"#],
        ));
    }
    if has("meson.build") {
        found.push(Proposal::new(
            "Meson",
            r#"if [ ! -e "$OUT"/build/build.ninja ]; then meson setup --default-library static -Db_lundef=false "$OUT"/build "$TREE"; fi; ninja -C "$OUT"/build -j"$JOBS""#,
            &[r#"meson test -C "$OUT"/build --no-rebuild"#],
        ));
    }
    found.extend(autotools(&has));
    if ["Makefile", "makefile", "GNUmakefile"]
        .iter()
        .any(|name| has(name))
    {
        // A compiler with the flags in its name reaches compiling and linking, and
        // leaves the flags that the Makefile itself sets.
        let tests = MAKE_TESTS.map(|target| {
            format!(
                r#"make -C "$TREE" CC="${{CC:-cc}} ${{CFLAGS-}}" CXX="${{CXX:-c++}} ${{CXXFLAGS-}}" {target}"#
            )
        });
        found.push(Proposal {
            tests: tests.to_vec(),
            ..Proposal::new(
                "make",
                r#"make -C "$TREE" -j"$JOBS" CC="${CC:-cc} ${CFLAGS-}" CXX="${CXX:-c++} ${CXXFLAGS-}""#,
                &[],
            )
        });
    }
    found
}

/// `configure`, made by its generator where the tree holds only the sources of it.
/// Tests of leaks would fail in most projects, so they look for none.
fn autotools(has: &impl Fn(&str) -> bool) -> Vec<Proposal> {
    let generate = if has("configure") {
        ""
    } else if has("autogen.sh") {
        r#"[ -e "$TREE"/configure ] || (cd "$TREE" && NOCONFIGURE=1 sh ./autogen.sh); "#
    } else if has("configure.ac") || has("configure.in") {
        r#"[ -e "$TREE"/configure ] || (cd "$TREE" && autoreconf -fi); "#
    } else {
        return Vec::new();
    };
    // A configure script runs programs that leak.
    let configure = "ASAN_OPTIONS=detect_leaks=0";
    ["\"$OUT\"/build", "\"$TREE\""]
        .map(|place| {
            let build = format!(
                r#"{generate}mkdir -p {place} && cd {place} && if [ ! -e config.status ]; then {configure} "$TREE"/configure --disable-shared; fi; {configure} make -j"$JOBS""#
            );
            let tests = MAKE_TESTS.map(|target| format!("{configure} make -C {place} {target}"));
            Proposal {
                tests: tests.to_vec(),
                ..Proposal::new("autotools", &build, &[])
            }
        })
        .to_vec()
}

fn java(has: &impl Fn(&str) -> bool) -> Vec<Proposal> {
    let mut found = Vec::new();
    if has("pom.xml") {
        let repository = r#"-Dmaven.repo.local="$HOME"/m2"#;
        found.push(Proposal {
            prepare: Some(format!(
                "mvn -q -B {repository} -DskipTests package dependency:go-offline"
            )),
            reports: vec!["**/target/surefire-reports/*.xml".to_owned()],
            tests: vec![format!("mvn -q -B -o {repository} test")],
            ..Proposal::new(
                "Maven",
                &format!(
                    r#"mvn -q -B -o {repository} -DskipTests package && cp -r target/. "$OUT"/"#
                ),
                &[],
            )
        });
    }
    if has("build.gradle") || has("build.gradle.kts") {
        let gradle = if has("gradlew") {
            "sh ./gradlew"
        } else {
            "gradle"
        };
        let home = r#"--no-daemon -g "$HOME"/gradle"#;
        found.push(Proposal {
            prepare: Some(format!("{gradle} {home} assemble testClasses")),
            reports: vec!["**/build/test-results/**/*.xml".to_owned()],
            tests: vec![format!("{gradle} {home} --offline test")],
            ..Proposal::new(
                "Gradle",
                &format!(r#"{gradle} {home} --offline assemble && cp -r build/. "$OUT"/"#),
                &[],
            )
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
            let found = proposals(folder.path(), language);
            let found: Vec<&str> = found.iter().map(|proposal| proposal.system).collect();
            assert_eq!(found, expected, "{files:?}");
        }
    }
}
