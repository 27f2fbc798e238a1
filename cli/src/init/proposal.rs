//! Proposals: the commands that may build and test a tree, and the other forms in which a build is tried.
//! It runs none of them.

use patchwright_source::regex;
use serde::Deserialize;

/// Commands that may build and test a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// The name of the build system.
    pub system: String,
    /// Downloads what the build needs.
    pub prepare: Option<String>,
    pub build: String,
    /// The build of some programs alone; none where it cannot be asked for.
    pub in_part: Option<InPart>,
    /// The build of a project that is older than its tools.
    pub too_old: Option<TooOld>,
    /// Test commands, the most usual first.
    pub tests: Vec<String>,
    /// Globs of result files that the tests leave.
    pub reports: Vec<String>,
    /// The folder of the tree in which all this runs; empty at its root.
    pub folder: String,
    /// True where a person or the project itself named the build, whatever it makes.
    pub named: bool,
}

impl Proposal {
    /// Returns the proposal of a build that a person names; the tests and their reports may be
    /// those of the others.
    pub(crate) fn given(build: &str, others: &[Self]) -> Self {
        let of_all = |part: fn(&Self) -> &Vec<String>| {
            let mut all: Vec<String> = Vec::new();
            for one in others.iter().flat_map(part) {
                if !all.contains(one) {
                    all.push(one.clone());
                }
            }
            all
        };
        Self {
            system: "build".to_owned(),
            build: build.to_owned(),
            tests: of_all(|other| &other.tests),
            reports: of_all(|other| &other.reports),
            named: true,
            ..Self::default()
        }
    }

    /// Returns the build with newer tools, where the reason of a failure says that these read no
    /// project that is so old.
    pub(crate) fn newer(&self, reason: &str) -> Option<Self> {
        let old = self.too_old.as_ref()?;
        let says = old.said.iter().any(|said| reason.contains(said));
        let prepare = self.prepare.as_deref().unwrap_or_default();
        says.then(|| Self {
            system: format!("{} with {}", self.system, old.with),
            prepare: Some(format!("{}{prepare}", old.begin)),
            too_old: None,
            ..self.clone()
        })
    }

    /// Returns the same for a project that lies in a folder of the tree.
    pub(crate) fn in_folder(self, folder: &str) -> Self {
        let there = |command: String| format!(r#"ROOT="$TREE"; cd {folder}; TREE=$PWD; {command}"#);
        Self {
            prepare: self.prepare.map(there),
            build: there(self.build),
            tests: self.tests.into_iter().map(there).collect(),
            in_part: self.in_part.map(|part| InPart {
                below: part
                    .below
                    .replace("$TREE\"/", &format!("$TREE\"/{folder}/")),
                ..part
            }),
            too_old: self.too_old.map(|old| TooOld {
                begin: format!("(cd {folder}; {}); ", old.begin),
                ..old
            }),
            folder: folder.to_owned(),
            ..self
        }
    }

    /// Returns the build that goes on behind what fails.
    pub(crate) fn keeping_going(&self) -> Option<Self> {
        let in_part = self.in_part.as_ref()?;
        Some(self.ending(&in_part.keep_going))
    }

    /// Returns the build of programs alone, those that lie where it has names for them. A tool that
    /// is told its targets knows the others by their last name.
    pub(crate) fn only(&self, programs: &[String]) -> Option<Self> {
        let in_part = self.in_part.as_ref()?;
        let below = programs
            .iter()
            .filter_map(|program| program.strip_prefix(&in_part.below));
        let (deeper, mut names): (Vec<&str>, Vec<&str>) = below.partition(|at| at.contains('/'));
        if names.is_empty() && !in_part.targets.is_empty() {
            names = deeper
                .iter()
                .filter_map(|at| at.rsplit('/').next())
                .collect();
        }
        let only = self.ending(&format!("{} {}", in_part.targets, names.join(" ")));
        (!names.is_empty()).then_some(only)
    }

    /// Tells whether this is the build of another one with an option more that names tests.
    pub(crate) fn adds_tests_to(&self, other: &Self) -> bool {
        let option = regex!(r" -D[\w-]+=\w+");
        let [own, others] = [self, other].map(|of| option.replace_all(&of.build, ""));
        let mut options = option.find_iter(&self.build).map(|found| found.as_str());
        let is_new = |one: &str| one.to_lowercase().contains("test") && !other.build.contains(one);
        own == others && options.any(is_new)
    }

    /// Returns the build without the tests, whose tools or downloads may be missing here; none where
    /// it asks for none, or where it is the build that a person named.
    pub(crate) fn without_tests(&self) -> Option<Self> {
        let on = regex!(r"(?i)( -D[\w-]*test[\w-]*=)(?:on|true)\b");
        let enabled = regex!(r"(?i)( -D[\w-]*test[\w-]*=)enabled\b");
        let build = on.replace_all(&self.build, "${1}false");
        let build = enabled.replace_all(&build, "${1}disabled");
        (build != self.build && !self.named).then(|| Self {
            system: format!("{} without its tests", self.system),
            build: build.into_owned(),
            in_part: None,
            ..self.clone()
        })
    }

    fn ending(&self, with: &str) -> Self {
        Self {
            build: format!("{}{with}", self.build),
            in_part: None,
            ..self.clone()
        }
    }
}

/// The ends of a build command where it shall not build all.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InPart {
    keep_going: String,
    targets: String,
    below: String,
}

/// Words of tools that refuse an old project, the tools that read it, and the beginning of a
/// preparation that asks for these.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TooOld {
    said: Vec<String>,
    with: String,
    begin: String,
}

#[cfg(test)]
mod tests {
    use super::Proposal;
    use crate::init::build_systems::proposals;
    use patchwright_source::Language;
    use std::fs;

    #[test]
    fn an_old_project_is_made_newer_where_a_tool_refuses_it() {
        let folder = tempfile::tempdir().unwrap();
        let pom = "<artifactId>junit</artifactId>\n <version>4.10</version>\n<source>1.5</source> <target>7</target> <source>17</source>";
        fs::write(folder.path().join("pom.xml"), pom).unwrap();
        let maven = &proposals(folder.path(), Language::Java, None).unwrap()[0];
        assert_eq!(maven.newer("cannot find symbol"), None);
        let newer = maven.newer("Source option 5 is no longer supported. Use 7 or later.");
        let newer = newer.unwrap();
        assert_eq!(newer.system, "Maven with Java 8 and JUnit 4.13");
        let begin = newer.prepare.unwrap();
        let begin = begin.strip_suffix(maven.prepare.as_deref().unwrap());
        let shell = std::process::Command::new("sh")
            .args(["-euc", begin.unwrap()])
            .current_dir(folder.path())
            .status();
        assert!(shell.unwrap().success());
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(
            read("pom.xml"),
            "<artifactId>junit</artifactId>\n <version>4.13.2</version>\n<source>8</source> <target>8</target> <source>17</source>"
        );
        assert!(read(".mvn/maven.config").ends_with("\n-Dmaven.compiler.target=8"));
    }

    #[test]
    fn programs_are_built_alone_by_names_that_the_tool_knows() {
        for (file, programs, expected) in [
            (
                "CMakeLists.txt",
                &["build/bin/run", "build/lib/a/b"][..],
                Some(" --target run b"),
            ),
            (
                "CMakeLists.txt",
                &["build/bin/run", "build/fold"],
                Some(" --target fold"),
            ),
            ("CMakeLists.txt", &[], None),
            ("Makefile", &["bin/run"], None),
            ("Makefile", &["bin/run", "fold"], Some(" fold")),
        ] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join(file), "").unwrap();
            let all = &proposals(folder.path(), Language::C, None).unwrap()[0];
            let place = if file == "Makefile" { "TREE" } else { "OUT" };
            let programs = programs.iter().map(|at| format!("\"${place}\"/{at}"));
            let only = all.only(&programs.collect::<Vec<_>>());
            let end = only.map(|only| only.build.replace(&all.build, ""));
            assert_eq!(end.as_deref(), expected, "{file}");
        }
    }

    #[test]
    fn the_module_of_the_crash_is_built_where_a_build_of_all_fails() {
        let folder = tempfile::tempdir().unwrap();
        let sources = folder.path().join("core/fold/src/main/java/a");
        fs::create_dir_all(&sources).unwrap();
        fs::write(sources.join("B.java"), "class B {}").unwrap();
        for file in ["pom.xml", "core/fold/pom.xml"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        let log = "Exception in thread \"main\" java.lang.NullPointerException\n\tat java.base/java.util.Map.of(Map.java:1)\n\tat a.B.c(B.java:1)\n";
        let found = |log| proposals(folder.path(), Language::Java, log).unwrap();
        assert_eq!(found(None).len(), 3);
        let [all, _, module, _, _] = &found(Some(log))[..] else {
            panic!("all and one module, at two places, and without phases");
        };
        let commands = |of: &Proposal| {
            [
                of.prepare.clone().unwrap(),
                of.build.clone(),
                of.tests[0].clone(),
            ]
        };
        for (all, module) in commands(all).iter().zip(commands(module)) {
            assert_eq!(*all, module.replace(" -pl core/fold -am", ""));
            assert_eq!(
                module.matches(" -pl").count(),
                module.matches("mvn ").count()
            );
            assert_ne!(*all, module);
        }
    }
}
