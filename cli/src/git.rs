//! Git as a subprocess, without a shell, without our keys, and without anything that a
//! repository or the user's settings would have it run.

use anyhow::{Context, bail};
use patchwright_config::tool_environment;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tokio::process::Command;

/// Settings under which nothing that a repository configures is run.
pub(crate) const QUIET: [&str; 8] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "commit.gpgSign=false",
    "-c",
    "log.showSignature=false",
];

/// Git in a folder.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    folder: PathBuf,
    variables: Vec<(&'static str, OsString)>,
}

impl Git {
    /// Runs git in this folder.
    pub(crate) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_path_buf(),
            variables: Vec::new(),
        }
    }

    /// Sets a variable for every command.
    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// Runs git and returns its output without the last line breaks.
    pub(crate) async fn run(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.output(arguments).await?;
        Ok(String::from_utf8_lossy(&output).trim_end().to_owned())
    }

    /// Returns the hash of a commit by one of its names.
    pub(crate) async fn commit(&self, name: &str) -> anyhow::Result<String> {
        let name = format!("{name}^{{commit}}");
        let arguments = ["--verify", "--quiet", "--end-of-options", &name];
        self.run(&[&["rev-parse"][..], &arguments].concat()).await
    }

    /// Tells whether one commit is another, or comes before it.
    pub(crate) async fn is_before(&self, one: &str, other: &str) -> bool {
        let arguments = ["merge-base", "--is-ancestor", one, other];
        self.run(&arguments).await.is_ok()
    }

    /// Returns the newest commit of a range whose message has these words; an empty text where
    /// there is none.
    pub(crate) async fn newest_saying(&self, words: &str, range: &str) -> anyhow::Result<String> {
        let words = format!("--grep={words}");
        let log = ["log", "-1", "--format=%H", "--fixed-strings"];
        self.run(&[&log[..], &[&words, range, "--"]].concat()).await
    }

    /// Makes commits in the name of a person.
    #[must_use]
    pub(crate) fn signed(self, name: &str, address: &str) -> Self {
        self.with("GIT_AUTHOR_NAME", name)
            .with("GIT_AUTHOR_EMAIL", address)
            .with("GIT_COMMITTER_NAME", name)
            .with("GIT_COMMITTER_EMAIL", address)
    }

    /// Writes the tree of a commit with a patch in a folder of it, by way of the index, which is
    /// overwritten.
    pub(crate) async fn tree_with(
        &self,
        base: &str,
        diff: &[u8],
        folder: &str,
    ) -> anyhow::Result<String> {
        let mut patch = tempfile::NamedTempFile::new()?;
        patch.write_all(diff)?;
        self.run(&["read-tree", base]).await?;
        let directory = format!("--directory={}", folder.trim_end_matches('/'));
        let patch = patch.path().display().to_string();
        let mut apply = vec!["apply", "--cached", "--whitespace=nowarn"];
        if !folder.is_empty() {
            apply.push(&directory);
        }
        self.run(&[&apply[..], &["--", &patch]].concat()).await?;
        self.run(&["write-tree"]).await
    }

    /// Runs git and returns its output, byte for byte.
    pub(crate) async fn output(&self, arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
        let output = self.outcome(arguments).await?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let (step, folder) = (arguments.first().unwrap_or(&""), self.folder.display());
        bail!("git {step} failed in {folder}: {}", said.trim())
    }

    /// Runs git for whoever reads its status.
    pub(crate) async fn outcome(&self, arguments: &[&str]) -> anyhow::Result<Output> {
        let variables = self.variables.iter();
        let mut command = Command::new("git");
        let command = command
            .args(["--no-pager", "--no-optional-locks"])
            .args(QUIET)
            .args(arguments)
            .current_dir(&self.folder)
            .env_clear()
            .envs(tool_environment())
            .env("GIT_TERMINAL_PROMPT", "0")
            .envs(variables.map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let output = command.output().await;
        output.with_context(|| format!("git cannot be run for {}", self.folder.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::Git;
    use std::path::Path;
    use std::process::Command;

    /// Cargo sets this one for every test.
    const FOREIGN: &str = "CARGO_MANIFEST_DIR=";

    #[tokio::test]
    async fn git_sees_what_it_is_given_and_not_our_environment() {
        let ours = Command::new("env").output().unwrap().stdout;
        assert!(String::from_utf8_lossy(&ours).contains(FOREIGN));
        let git = Git::new(Path::new(env!("CARGO_MANIFEST_DIR"))).with("GIVEN", "1");
        let seen = git.run(&["-c", "alias.seen=!env", "seen"]).await.unwrap();
        assert!(seen.contains("PATH=") && seen.contains("GIVEN=1"), "{seen}");
        assert!(!seen.contains(FOREIGN), "{seen}");
    }
}
