//! OSS-Fuzz projects as they are: the folder with `project.yaml`, `Dockerfile` and
//! `build.sh`, built in the project's own image, or in the sandbox without it.
//!
//! `build.sh` gets the variables of
//! <https://google.github.io/oss-fuzz/getting-started/new-project-guide/>. Without the image,
//! packages that the Dockerfile installs have to be on this machine.

pub(crate) mod helper_script;

use self::helper_script::Subject;
use crate::common::{WrongInput, is_plain, real_path, variables};
use crate::init::harnesses::{DRIVER, STANDALONE};
use crate::init::proposal::Proposal;
use patchwright_run::oss_fuzz::{language_of, yaml_value};
use patchwright_source::Language;
use std::collections::BTreeMap;
use std::path::Path;

/// The folder beside the task file that the project's files are copied to.
pub(crate) const COPY: &str = "oss-fuzz";
/// Makes the folders of a container what the base images expect.
const IN_IMAGE: &str = include_str!("oss_fuzz/in-image.sh");
/// Reads that file, in a command.
const ENTER_IMAGE: &str = r#". "$TASK"/oss-fuzz/in-image.sh;"#;
/// Test scripts below `$SRC`, in the order in which OSS-CRS looks for them.
const TESTS: [&str; 2] = ["run_tests.sh", "test.sh"];

/// A project of OSS-Fuzz.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    pub language: Language,
    /// The name of the folder below `$SRC` in which `build.sh` runs.
    pub folder: String,
    /// The path of the tree in the project's image.
    pub place: String,
    /// The test scripts among its files.
    tests: Vec<&'static str>,
}

impl Project {
    /// Reads a project's folder; a folder `.clusterfuzzlite` has the same files.
    pub(crate) fn read(folder: &Path) -> Result<Self, WrongInput> {
        let text = |name: &str| {
            let path = folder.join(name);
            let file = path.display();
            let unread = |error| WrongInput(format!("--oss-fuzz: {file} cannot be read: {error}"));
            std::fs::read_to_string(&path).map_err(unread)
        };
        text("build.sh")?;
        let yaml = text("project.yaml")?;
        let word = yaml_value(&yaml, "language");
        let known = word.as_deref().and_then(language_of);
        let language = known.and_then(Language::read).ok_or_else(|| {
            let word = word.as_deref().unwrap_or("none");
            WrongInput(format!(
                "--oss-fuzz: the language of the project is {word}; c, c++ and jvm can be repaired"
            ))
        })?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let docker = folder.join("Dockerfile").exists();
        let docker = docker.then(|| text("Dockerfile")).transpose()?;
        let work = docker.as_deref().and_then(work_folder);
        let work = work.unwrap_or_else(|| name.into_owned());
        let first = work.split('/').next().unwrap_or(&work);
        let tests = TESTS.into_iter();
        Ok(Self {
            language,
            folder: first.to_owned(),
            place: format!("/src/{work}"),
            tests: tests.filter(|name| folder.join(name).is_file()).collect(),
        })
    }

    /// Returns the name that a checkout's script knows a project's folder by: that in `projects`,
    /// or the copy of the tree where the files are its `.clusterfuzzlite`.
    pub(crate) fn subject(
        (folder, tree): (&Path, &Path),
        (checkout, copy): (&Path, &Path),
    ) -> Result<Subject, WrongInput> {
        let folder = real_path(folder);
        let name = |path: &Path| {
            let name = path.file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        };
        if folder.ends_with(".clusterfuzzlite") {
            if folder.parent() == Some(&*real_path(tree)) {
                return Ok(Subject {
                    name: name(copy),
                    external: Some(copy.to_path_buf()),
                });
            }
            let (folder, tree) = (folder.display(), tree.display());
            return Err(WrongInput(format!(
                "--helper: {folder} belongs to another tree than {tree}: name the tree that it lies in"
            )));
        }
        let projects = real_path(&checkout.join("projects"));
        if folder.parent() == Some(&*projects) {
            return Ok(Subject {
                name: name(&folder),
                external: None,
            });
        }
        let (folder, projects) = (folder.display(), projects.display());
        Err(WrongInput(format!(
            "--helper: the script builds projects in {projects}, and {folder} is none: copy it there, or name the \
             script of its own checkout"
        )))
    }

    /// Copies the project's files to the task's folder, with our own `main`.
    pub(crate) fn copy(folder: &Path, task: &Path) -> anyhow::Result<()> {
        let copy = task.join(COPY);
        std::fs::create_dir_all(&copy)?;
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                std::fs::copy(entry.path(), copy.join(entry.file_name()))?;
            }
        }
        std::fs::write(copy.join("in-image.sh"), IN_IMAGE)?;
        Ok(std::fs::write(copy.join(DRIVER), STANDALONE)?)
    }

    /// Returns the proposal that builds as the project's image does: `compile` of its base
    /// image sets the flags and runs `build.sh`.
    pub(crate) fn in_image(&self) -> Proposal {
        let of_image = TESTS.map(|name| format!(r#"{ENTER_IMAGE} bash "$SRC"/{name}"#));
        let own = self.tests.iter();
        let own = own.map(|name| format!(r#"{ENTER_IMAGE} bash "$TASK"/{COPY}/{name}"#));
        Proposal {
            system: "OSS-Fuzz in its image".to_owned(),
            build: format!("{ENTER_IMAGE} compile"),
            tests: of_image.into_iter().chain(own).collect(),
            named: true,
            ..Proposal::default()
        }
    }

    /// Returns the variables that `compile` reads.
    pub(crate) fn image_variables(&self, sanitizer: &str) -> BTreeMap<String, String> {
        let language = match self.language {
            Language::Java => "jvm",
            language => language.as_str(),
        };
        variables(&[
            ("ARCHITECTURE", std::env::consts::ARCH),
            ("FUZZING_ENGINE", "libfuzzer"),
            ("FUZZING_LANGUAGE", language),
            ("SANITIZER", sanitizer),
        ])
    }

    /// Returns the proposal that runs `build.sh` without the image.
    pub(crate) fn proposal(&self) -> Proposal {
        let folder = &self.folder;
        let place = format!(
            r#"export SRC="$WORK"/src; mkdir -p "$SRC"; cp -r "$TASK"/{COPY}/. "$SRC"/; ln -sfn "$TREE" "$SRC"/{folder};"#
        );
        let tests = self.tests.iter();
        let engine = r#"if [ -n "${STANDALONE-}" ]; then $CC $CFLAGS -c "$SRC"/standalone.c -o "$WORK"/standalone.o; export LIB_FUZZING_ENGINE="$WORK"/standalone.o; fi"#;
        Proposal {
            system: "OSS-Fuzz".to_owned(),
            build: format!(r#"{place} {engine}; cd "$SRC"/{folder}; bash -eu "$SRC"/build.sh"#),
            tests: tests
                .map(|name| format!(r#"{place} cd "$SRC"/{folder}; bash "$SRC"/{name}"#))
                .collect(),
            named: true,
            ..Proposal::default()
        }
    }

    /// Returns the variables that `build.sh` reads. Without clang the harness gets our own
    /// `main` in place of libFuzzer.
    pub(crate) fn variables(&self, sanitizer: &str, clang: bool) -> BTreeMap<String, String> {
        let coverage = if clang { ",fuzzer-no-link" } else { "" };
        let flags = format!(
            "-g -O1 -fno-omit-frame-pointer -fsanitize={sanitizer}{coverage} \
             -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION"
        );
        let engine = format!("-fsanitize={sanitizer},fuzzer");
        let (c, cpp, engine) = if clang {
            ("clang", "clang++", ("LIB_FUZZING_ENGINE", engine.as_str()))
        } else {
            ("gcc", "g++", ("STANDALONE", "1"))
        };
        variables(&[
            engine,
            ("CC", c),
            ("CXX", cpp),
            ("CFLAGS", &flags),
            ("CXXFLAGS", &flags),
            ("FUZZING_ENGINE", "libfuzzer"),
            ("FUZZING_LANGUAGE", self.language.as_str()),
            ("ARCHITECTURE", std::env::consts::ARCH),
            ("SANITIZER", sanitizer),
        ])
    }
}

/// Returns the path below `$SRC` that a Dockerfile works in.
fn work_folder(docker: &str) -> Option<String> {
    let lines = docker.lines();
    let mut folders = lines.filter_map(|line| line.trim().strip_prefix("WORKDIR"));
    let last = folders.next_back()?.trim().trim_matches('"');
    let last = last.trim_end_matches('/');
    let below = ["$SRC", "${SRC}", "/src"]
        .iter()
        .find_map(|source| last.strip_prefix(source))
        .filter(|below| below.is_empty() || below.starts_with('/'))
        .unwrap_or(last);
    let path = below.trim_matches('/');
    let is_name =
        |name: &str| !name.is_empty() && is_plain(name, "._+-") && !name.starts_with(['.', '-']);
    path.split('/').all(is_name).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::work_folder;

    #[test]
    fn a_project_tells_its_folder() {
        for (docker, expected) in [
            (
                "FROM a\nRUN git clone b\nWORKDIR $SRC/libgif\nCOPY build.sh $SRC/\n",
                Some("libgif"),
            ),
            ("WORKDIR /src/a/b", Some("a/b")),
            ("WORKDIR jq", Some("jq")),
            ("WORKDIR $SRC/../..", None),
            ("WORKDIR $SRC", None),
            ("WORKDIR /src/", None),
            ("WORKDIR $SRC/a;rm", None),
            ("FROM a", None),
        ] {
            assert_eq!(work_folder(docker).as_deref(), expected, "{docker}");
        }
    }
}
