//! `infra/helper.py` of an OSS-Fuzz checkout: builds a project's image and harnesses, checks
//! them, and reproduces a crash with them.
//!
//! Its options differ between revisions, so those of each command are read from `helper.py
//! COMMAND --help`. It runs with the rights of its user, as it does by hand. Its containers go
//! to the engine that the task will use, and carry our label, so that none of them stays.

use crate::common::{WrongInput, is_plain};
use crate::display::Display;
use anyhow::Context;
use patchwright_agent::drive;
use patchwright_config::tool_environment;
use patchwright_sandbox::EngineAddress;
use std::collections::BTreeSet;
use std::io::{Read, Seek};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The program that is called as `docker`.
const CLIENT: &str = include_str!("docker.sh");
/// Runs `$2 ...` with the folder `$1` first in the path.
const WITH_CLIENT: &str = r#"PATH="$1:$PATH"; export PATH; shift; exec "$@""#;
/// Most bytes of the script's output that are read.
const MOST_OUTPUT: u64 = 64 << 20;
/// Lines of a failed command that are told.
const LINES: usize = 15;
/// Programs of a build that are no harnesses.
const NO_HARNESSES: [&str; 2] = ["llvm-symbolizer", "sancov"];

/// A project, as the script is told of it.
#[derive(Debug)]
pub(crate) struct Subject {
    /// Its name: that of its folder in the checkout's folder `projects`, or of its tree.
    pub(crate) name: String,
    /// Its tree, where that has a folder `.clusterfuzzlite`.
    pub(crate) external: Option<PathBuf>,
}

/// The script of one checkout.
#[derive(Debug)]
pub(crate) struct HelperScript<'a> {
    file: PathBuf,
    subject: Subject,
    sanitizer: &'static str,
    display: &'a Display,
    engine: EngineAddress,
    /// The folder of the program that is called as `docker`.
    client: tempfile::TempDir,
}

/// The output of a command of the script; an error where it failed.
type Output = Result<String, String>;

impl<'a> HelperScript<'a> {
    /// Prepares the script at a path, or in the checkout at that path.
    pub(crate) async fn open(
        file: &Path,
        (subject, sanitizer): (Subject, &'static str),
        socket: Option<&Path>,
        display: &'a Display,
    ) -> anyhow::Result<Self> {
        let engine = EngineAddress::find(socket).await?;
        let client = tempfile::Builder::new().prefix("patchwright-").tempdir()?;
        let docker = client.path().join("docker");
        std::fs::write(&docker, CLIENT)?;
        std::fs::set_permissions(&docker, std::fs::Permissions::from_mode(0o755))?;
        Ok(Self {
            file: file.to_path_buf(),
            subject,
            sanitizer,
            display,
            engine,
            client,
        })
    }

    /// Builds the project's image, and returns its name.
    pub(crate) async fn build_image(&self) -> anyhow::Result<String> {
        // The script asks whether to pull its base images. An engine pulls what it lacks.
        let wanted = [("--no-pull", None), ("--cache", None)];
        let output = self.call("build_image", &wanted, &[]).await?;
        let log = self.of_success("build_image", output).await?;
        built_image(&log).ok_or_else(|| {
            let reason = "its output names no image that `docker build` was told to make";
            self.wrong(&format!("build_image: {reason}"))
        })
    }

    /// Builds the harnesses from a tree, which the build may write to, and returns their names.
    pub(crate) async fn build_fuzzers(&self, tree: &Path) -> anyhow::Result<Vec<String>> {
        let wanted = [
            ("--sanitizer", Some(self.sanitizer)),
            ("--engine", Some("libfuzzer")),
            ("--clean", None),
        ];
        let tree = tree.display().to_string();
        let output = self.call("build_fuzzers", &wanted, &[&tree]).await?;
        self.of_success("build_fuzzers", output).await?;
        let checkout = self.file.parent().and_then(Path::parent);
        let out = checkout.map(|checkout| checkout.join("build/out").join(&self.subject.name));
        Ok(harnesses(&out.unwrap_or_default()))
    }

    /// Checks a harness, or all of them. The reason of a failure is no error: a harness that
    /// crashes on an empty input may be what is to be repaired.
    pub(crate) async fn check_build(
        &self,
        harness: Option<&str>,
    ) -> anyhow::Result<Option<String>> {
        let wanted = [
            ("--sanitizer", Some(self.sanitizer)),
            ("--engine", Some("libfuzzer")),
        ];
        let harness: Vec<&str> = harness.into_iter().collect();
        let output = self.call("check_build", &wanted, &harness).await?;
        Ok(output.err().map(|log| last_lines(&log)))
    }

    /// Replays a PoV, and returns its crash in one line.
    pub(crate) async fn reproduce(&self, harness: &str, pov: &Path) -> anyhow::Result<String> {
        let pov = std::path::absolute(pov)?.display().to_string();
        let output = self.call("reproduce", &[], &[harness, &pov]).await?;
        let (Ok(log) | Err(log)) = &output;
        if let Some(crash) = patchwright_crash::parse(log) {
            return Ok(crash.summary);
        }
        self.of_success("reproduce", output).await?;
        let sanitizer = self.sanitizer;
        Err(self.wrong(&format!(
            "reproduce: {harness} accepts {pov}: name another --harness, or the --sanitizer that the \
             crash was found with (this build has {sanitizer})"
        )))
    }

    /// Calls a command with those of the wanted options that it knows.
    async fn call(
        &self,
        command: &str,
        wanted: &[(&str, Option<&str>)],
        arguments: &[&str],
    ) -> anyhow::Result<Output> {
        let options = self.options(command).await?;
        let mut words = vec![command.to_owned()];
        for (option, value) in wanted {
            if options.contains(*option) {
                words.push((*option).to_owned());
                words.extend(value.map(str::to_owned));
            } else if *option == "--sanitizer" && *value != Some("address") {
                return Err(self.too_old(command, option, "to build without AddressSanitizer"));
            }
        }
        match &self.subject.external {
            None => words.push(self.subject.name.clone()),
            Some(_) if !options.contains("--external") => {
                return Err(self.too_old(command, "--external", "for .clusterfuzzlite"));
            }
            Some(path) => words.extend(["--external".to_owned(), path.display().to_string()]),
        }
        words.extend(arguments.iter().map(|word| (*word).to_owned()));
        self.display.line(&format!("helper.py {}", words.join(" ")));
        self.execute(&words).await
    }

    /// Reads the options of a command.
    async fn options(&self, command: &str) -> anyhow::Result<BTreeSet<String>> {
        let words = [command, "--help"].map(str::to_owned);
        let help = self.execute(&words).await?.map_err(|log| {
            let last = last_lines(&log);
            self.wrong(&format!(
                "{command} --help failed: the script has no such command, or does not run with this \
                 Python 3; take an OSS-Fuzz checkout that does\n{last}"
            ))
        })?;
        Ok(options(&help))
    }

    fn too_old(&self, command: &str, option: &str, purpose: &str) -> anyhow::Error {
        self.wrong(&format!(
            "{command} knows no {option}, which is needed {purpose}: take a newer OSS-Fuzz checkout"
        ))
    }

    fn wrong(&self, what: &str) -> anyhow::Error {
        WrongInput(format!("--helper: {} {what}", self.file.display())).into()
    }

    /// Returns the output of a command; a failure is refused.
    async fn of_success(&self, command: &str, output: Output) -> anyhow::Result<String> {
        let last = match output {
            Ok(log) => return Ok(log),
            Err(log) => last_lines(&log),
        };
        // An engine that has ended is the reason.
        let (socket, display) = (&self.engine.socket, self.display);
        if let Err(error) = EngineAddress::find(Some(socket)).await {
            display.line(&last);
            return Err(error.into());
        }
        self.engine.remove_containers().await;
        Err(self.wrong(&format!("{command} failed:\n{last}")))
    }

    async fn execute(&self, words: &[String]) -> anyhow::Result<Output> {
        let mut log = tempfile::tempfile()?;
        let socket = format!("unix://{}", self.engine.socket.display());
        let mut process = tokio::process::Command::new("sh")
            .args(["-c", WITH_CLIENT, "sh"])
            .arg(self.client.path())
            .arg("python3")
            .arg(&self.file)
            .args(words)
            .env_clear()
            .envs(tool_environment())
            .env("DOCKER_HOST", &socket)
            .env("CONTAINER_HOST", &socket)
            .env("CONTAINER_LABEL", &self.engine.label)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log.try_clone()?)
            .kill_on_drop(true)
            .spawn()
            .context("sh cannot be started")?;
        let status = process.wait().await?;
        log.rewind()?;
        let mut bytes = Vec::new();
        log.take(MOST_OUTPUT).read_to_end(&mut bytes)?;
        let log = String::from_utf8_lossy(&bytes).into_owned();
        Ok(if status.success() { Ok(log) } else { Err(log) })
    }
}

/// Returns the options of a command. The usage names every one and ends at the first empty line; the
/// rest of a help text speaks of options of other commands too.
fn options(help: &str) -> BTreeSet<String> {
    let usage = help.lines().take_while(|line| !line.trim().is_empty());
    let words = usage.flat_map(|line| line.split([' ', '\t', '[', ']', '|', '=', ',']));
    let options = words.filter(|word| word.starts_with('-'));
    options.map(str::to_owned).collect()
}

/// Returns the name that the script gave to an image: it tells every command of `docker` that
/// it runs.
fn built_image(log: &str) -> Option<String> {
    let of_builds = |line: &&str| line.contains("docker") && line.contains(" build ");
    let mut names = log.lines().filter(of_builds).filter_map(|line| {
        let mut words = line.split_whitespace();
        words.find(|word| ["-t", "--tag"].contains(word))?;
        words.next()
    });
    let name = names.next_back()?;
    is_plain(name, "./:_-").then(|| name.to_owned())
}

/// Returns the names of the harnesses in the folder that a build fills: the programs directly
/// in it.
fn harnesses(out: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(out).into_iter().flatten().flatten();
    let programs = entries.filter(|entry| {
        let data = entry.metadata();
        data.is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    });
    let names = programs.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let foreign = |name: &String| {
        let is_helper = name.starts_with("jazzer_") || name.starts_with("afl-");
        is_helper || NO_HARNESSES.contains(&name.as_str()) || name.contains(".so")
    };
    let mut names: Vec<String> = names.filter(|name| !foreign(name)).collect();
    names.sort();
    names
}

fn last_lines(text: &str) -> String {
    format!("  | {}", drive::last_lines(text, LINES).join("\n  | "))
}

#[cfg(test)]
mod tests {
    use super::{built_image, harnesses, options};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn options_are_read_from_the_usage_alone() {
        let help = "usage: helper.py build_fuzzers [-h] [--sanitizer {address,memory}]\n                 [-e E] [--clean | \
                    --no-clean]\n                 project [source_path]\n\noptions:\n  --corpus-dir  (requires --fuzz-target)\n";
        let options = options(help);
        for option in ["-h", "-e", "--sanitizer", "--clean", "--no-clean"] {
            assert!(options.contains(option), "{option}");
        }
        for option in ["--external", "--fuzz-target", "--corpus-dir"] {
            assert!(!options.contains(option), "{option}");
        }
    }

    #[test]
    fn an_image_is_known_by_the_command_that_made_it() {
        for (log, expected) in [
            (
                "INFO:root:Running: docker build -t gcr.io/oss-fuzz/jq --file /o/projects/jq/Dockerfile /o/projects/jq.",
                Some("gcr.io/oss-fuzz/jq"),
            ),
            (
                "INFO:helper:Running: docker buildx build --platform linux/amd64 --tag aixcc-afc/jq .",
                Some("aixcc-afc/jq"),
            ),
            ("Running: docker run -t gcr.io/oss-fuzz/jq", None),
            ("Running: docker build -t 'a b' .", None),
            ("", None),
        ] {
            assert_eq!(built_image(log).as_deref(), expected, "{log}");
        }
    }

    #[test]
    fn harnesses_are_told_from_what_lies_beside_them() {
        let folder = tempfile::tempdir().unwrap();
        for (name, mode) in [
            ("b_fuzzer", 0o755),
            ("a_fuzzer", 0o755),
            ("a_fuzzer_seed_corpus.zip", 0o644),
            ("llvm-symbolizer", 0o755),
            ("jazzer_driver", 0o755),
            ("libc++.so.1", 0o755),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        assert_eq!(harnesses(folder.path()), ["a_fuzzer", "b_fuzzer"]);
        assert!(harnesses(&folder.path().join("none")).is_empty());
    }
}
