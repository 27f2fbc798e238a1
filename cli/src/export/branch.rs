//! A patch as a branch of a git repository: made from objects alone, with an
//! index of its own, so that no work tree, no index and no other branch changes.

use std::path::{Path, PathBuf};
use tokio::process::Command;

/// Parts of a branch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Branch<'a> {
    /// The folder of the repository that the tree of the task is.
    pub folder: &'a Path,
    /// Where it begins.
    pub base: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The patch.
    pub diff: &'a [u8],
    /// The message of its one commit.
    pub message: &'a str,
    /// Its author, as in `Name <name@example.org>`.
    pub author: &'a str,
}

/// Why there is no branch.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BranchError {
    /// Git cannot be started, or a file not be written.
    #[error("git cannot be run for {folder}: {source}")]
    Start {
        /// The folder.
        folder: PathBuf,
        /// Error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// Git refused.
    #[error("git {step} failed in {folder}: {said}")]
    Git {
        /// Which of its commands.
        step: String,
        /// The folder.
        folder: PathBuf,
        /// Its message.
        said: String,
    },
}

/// Makes a branch and returns its commit.
///
/// # Errors
/// The folder is in no repository, the base is unknown, the patch does not fit
/// it, or the branch is there already.
pub(crate) async fn make(branch: &Branch<'_>) -> Result<String, BranchError> {
    let scratch = tempfile::tempdir().map_err(|source| BranchError::Start {
        folder: branch.folder.to_path_buf(),
        source,
    })?;
    let git = Git {
        folder: branch.folder,
        scratch: scratch.path(),
        author: branch.author,
    };
    let patch = git.file("patch", branch.diff)?;
    let message = git.file("message", branch.message.as_bytes())?;
    let prefix = git.run(&["rev-parse", "--show-prefix"]).await?;
    let top = PathBuf::from(git.run(&["rev-parse", "--show-toplevel"]).await?);
    let git = Git {
        folder: &top,
        ..git
    };
    git.run(&["check-ref-format", "--branch", branch.name])
        .await?;
    let commit = format!("{}^{{commit}}", branch.base);
    let base = git
        .run(&[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &commit,
        ])
        .await?;
    git.run(&["read-tree", &base]).await?;
    let directory = format!("--directory={}", prefix.trim_end_matches('/'));
    let mut apply = vec!["apply", "--cached", "--whitespace=nowarn"];
    if !prefix.is_empty() {
        apply.push(&directory);
    }
    git.run(&[&apply[..], &["--", &patch]].concat()).await?;
    let tree = git.run(&["write-tree"]).await?;
    let commit = git
        .run(&["commit-tree", &tree, "-p", &base, "-F", &message])
        .await?;
    git.run(&["branch", "--no-track", "--", branch.name, &commit])
        .await?;
    Ok(commit)
}

/// Returns the commit that changed a line last, in a few words; nothing where no
/// repository tells.
pub(crate) async fn last_change(folder: &Path, file: &str, line: u32) -> Option<String> {
    let scratch = tempfile::tempdir().ok()?;
    let git = Git {
        folder,
        scratch: scratch.path(),
        author: "",
    };
    let range = format!("-L{line},{line}");
    let told = git
        .run(&["blame", "--porcelain", &range, "HEAD", "--", file])
        .await
        .ok()?;
    let commit: String = told.chars().take(12).collect();
    let of = |key: &str| told.lines().find_map(|line| line.strip_prefix(key));
    let (subject, author) = (of("summary ")?, of("author ")?);
    Some(format!("{commit} (\"{subject}\", {author})"))
}

struct Git<'a> {
    folder: &'a Path,
    scratch: &'a Path,
    author: &'a str,
}

impl Git<'_> {
    fn file(&self, name: &str, content: &[u8]) -> Result<String, BranchError> {
        let path = self.scratch.join(name);
        std::fs::write(&path, content).map_err(|source| self.not_started(source))?;
        Ok(path.display().to_string())
    }

    fn not_started(&self, source: std::io::Error) -> BranchError {
        BranchError::Start {
            folder: self.folder.to_path_buf(),
            source,
        }
    }

    /// Runs git and returns what it printed. Nothing that the repository
    /// configures is run.
    async fn run(&self, arguments: &[&str]) -> Result<String, BranchError> {
        let (name, address) = self.author.split_once('<').unwrap_or((self.author, ""));
        let (name, address) = (name.trim(), address.trim_end_matches('>').trim());
        let output = Command::new("git")
            .args([
                "-c",
                "core.hooksPath=/dev/null",
                "-c",
                "core.fsmonitor=false",
            ])
            .args(["-c", "commit.gpgSign=false"])
            .args(arguments)
            .current_dir(self.folder)
            .env("GIT_INDEX_FILE", self.scratch.join("index"))
            .env("GIT_AUTHOR_NAME", name)
            .env("GIT_AUTHOR_EMAIL", address)
            .env("GIT_COMMITTER_NAME", name)
            .env("GIT_COMMITTER_EMAIL", address)
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .stdin(std::process::Stdio::null())
            .output()
            .await
            .map_err(|source| self.not_started(source))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout)
                .trim_end()
                .to_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(BranchError::Git {
            step: arguments.first().copied().unwrap_or_default().to_owned(),
            folder: self.folder.to_path_buf(),
            said: said.trim().to_owned(),
        })
    }
}
