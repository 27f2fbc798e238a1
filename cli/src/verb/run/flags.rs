//! A task put together from flags, for somebody who has only a crash.

use clap::Args;
use patchwright_agent::task::file::{CrashKeys, PovKeys, SourceKeys, TaskFile};
use patchwright_agent::task::{self, Commands, Mode, Task};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The flags that make up a task.
#[derive(Debug, Args)]
pub(crate) struct TaskFlags {
    /// The source tree
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,
    /// The crash report
    #[arg(long, value_name = "FILE")]
    pub crash: Option<PathBuf>,
    /// Builds $TREE into $OUT
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<String>,
    /// A crashing input (a file), and the command that feeds $POV to the program
    #[arg(long, value_name = "FILE|COMMAND")]
    pub pov: Vec<String>,
    /// Runs the tests
    #[arg(long, value_name = "COMMAND")]
    pub test: Option<String>,
    /// c, c++ or java
    #[arg(long)]
    pub language: Option<String>,
}

impl TaskFlags {
    /// Tells whether any of them was given.
    pub(crate) fn given(&self) -> bool {
        self.repo.is_some()
            || self.crash.is_some()
            || self.build.is_some()
            || !self.pov.is_empty()
            || self.test.is_some()
            || self.language.is_some()
    }

    /// The task that they make up.
    pub(crate) fn task(&self, dry_run: bool) -> anyhow::Result<Task> {
        let repo = self
            .repo
            .as_ref()
            .ok_or_else(|| anyhow::anyhow!("--repo DIR is needed: the source tree"))?;
        let language = self
            .language
            .clone()
            .ok_or_else(|| anyhow::anyhow!("--language is needed: c, c++ or java"))?;
        let here = std::path::absolute(".")?;
        let absolute = |path: &Path| here.join(path).display().to_string();
        let (inputs, command) = self.povs(dry_run)?;
        let file = TaskFile {
            id: self.id(repo),
            language,
            mode: if dry_run { Mode::DryRun } else { Mode::Repair },
            candidates: 1,
            title: None,
            transcript: None,
            source: SourceKeys {
                path: Some(absolute(repo)),
                ..SourceKeys::default()
            },
            commands: Commands {
                build: self.build.clone(),
                pov: command,
                test: self.test.clone(),
                ..Commands::default()
            },
            builds: BTreeMap::new(),
            pov: inputs
                .iter()
                .map(|input| pov(&absolute(Path::new(input))))
                .collect(),
            crash: CrashKeys {
                report: self.crash.as_deref().map(absolute),
            },
            inputs: task::file::InputKeys::default(),
            hints: task::file::HintKeys::default(),
            guard: task::file::GuardKeys::default(),
            limits: task::LimitKeys::default(),
        };
        Ok(task::from_file(file, &here, Path::new("the command line"))?)
    }

    /// The inputs, and the command that feeds them: a value that names a file
    /// is an input, any other is the command.
    fn povs(&self, dry_run: bool) -> anyhow::Result<(Vec<&String>, Option<String>)> {
        let (inputs, commands): (Vec<&String>, Vec<&String>) = self
            .pov
            .iter()
            .partition(|value| Path::new(value.as_str()).is_file());
        let command = commands.first().map(|command| (*command).clone());
        match (inputs.is_empty(), &command) {
            (_, Some(first)) if commands.len() > 1 => anyhow::bail!(
                "--pov {first:?} is no file and taken as the command that feeds the inputs; there can be one only"
            ),
            (false, None) if !dry_run => {
                anyhow::bail!(
                    "say how an input is fed to the program: --pov '\"$OUT\"/harness \"$POV\"'"
                )
            }
            (true, Some(command)) if !dry_run => {
                anyhow::bail!(
                    "--pov {command:?} is taken as a command; give the crashing input too: --pov FILE"
                )
            }
            _ => Ok((inputs, command)),
        }
    }

    /// The folder's name and a hash of what is asked: the same flags make the
    /// same task.
    fn id(&self, repo: &Path) -> String {
        let name: String = repo
            .canonicalize()
            .ok()
            .and_then(|path| {
                path.file_name()
                    .map(|name| name.to_string_lossy().into_owned())
            })
            .unwrap_or_default()
            .chars()
            .map(|character| {
                if character.is_ascii_alphanumeric() {
                    character
                } else {
                    '-'
                }
            })
            .take(60)
            .collect();
        let hash = format!("{:x}", Sha256::digest(format!("{self:?}")));
        let short: String = hash.chars().take(8).collect();
        format!("{}-{short}", name.trim_matches('-'))
    }
}

fn pov(file: &str) -> PovKeys {
    PovKeys {
        file: file.to_owned(),
        build: None,
        harness: None,
        command: None,
        repeat: None,
        timeout: None,
        ran: None,
        batch: false,
    }
}
