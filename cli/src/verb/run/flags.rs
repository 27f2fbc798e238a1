//! A task put together from flags, for somebody who has only a crash.

use crate::language;
use clap::{Args, ValueEnum};
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
    /// c, c++ or java; without it, what the report and the files say
    #[arg(long)]
    pub language: Option<String>,
    /// Inputs that the unpatched program accepts: files or globs, several times
    #[arg(long, value_name = "GLOB")]
    pub harmless: Vec<String>,
    /// A line about the crash, for people and the model
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Give the build the flags of this sanitizer in CFLAGS, CXXFLAGS and LDFLAGS
    #[arg(long, value_enum, value_name = "NAME")]
    pub sanitizer: Option<Sanitizer>,
    /// Paths and globs of the tree that are never edited, several times
    #[arg(long, value_name = "GLOB")]
    pub protect: Vec<String>,
}

/// The sanitizers that a compiler can add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sanitizer {
    /// Memory errors.
    Address,
    /// Undefined behaviour.
    Undefined,
    /// Reads of memory that was never written; clang only.
    Memory,
    /// Data races.
    Thread,
}

impl Sanitizer {
    /// Returns its name, as compilers take it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Undefined => "undefined",
            Self::Memory => "memory",
            Self::Thread => "thread",
        }
    }

    /// Returns the variables of a build with it; `SANITIZER` is what the build
    /// scripts of OSS-Fuzz read.
    pub(crate) fn variables(self) -> BTreeMap<String, String> {
        let name = self.name();
        let more = match self {
            Self::Memory => " -fsanitize-memory-track-origins",
            Self::Address | Self::Undefined | Self::Thread => "",
        };
        let sanitizer = format!("-fsanitize={name}{more}");
        let compile = format!("-g -O1 -fno-omit-frame-pointer {sanitizer}");
        let variables = [
            ("SANITIZER", name.to_owned()),
            ("CFLAGS", compile.clone()),
            ("CXXFLAGS", compile),
            ("LDFLAGS", sanitizer),
        ];
        let clang =
            [("CC", "clang"), ("CXX", "clang++")].map(|(key, value)| (key, value.to_owned()));
        let clang = clang.into_iter().filter(|_| self == Self::Memory);
        let variables = variables.into_iter().chain(clang);
        variables
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }
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
            || !self.harmless.is_empty()
            || self.title.is_some()
            || self.sanitizer.is_some()
            || !self.protect.is_empty()
    }

    /// The task that they make up.
    pub(crate) fn task(&self, dry_run: bool) -> anyhow::Result<Task> {
        let repo = self
            .repo
            .as_ref()
            .ok_or_else(|| anyhow::anyhow!("--repo DIR is needed: the source tree"))?;
        let language = self.language(repo)?;
        let here = std::path::absolute(".")?;
        let absolute = |path: &Path| here.join(path).display().to_string();
        let (inputs, command) = self.povs(dry_run)?;
        let file = TaskFile {
            id: self.id(repo),
            language,
            mode: if dry_run { Mode::DryRun } else { Mode::Repair },
            candidates: 1,
            title: self.title.clone(),
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
            builds: self.builds(),
            pov: inputs
                .iter()
                .map(|input| pov(&absolute(Path::new(input))))
                .collect(),
            crash: CrashKeys {
                report: self.crash.as_deref().map(absolute),
            },
            inputs: task::file::InputKeys {
                harmless: self.harmless.clone(),
            },
            hints: task::file::HintKeys::default(),
            guard: task::file::GuardKeys {
                protect: self.protect.clone(),
            },
            limits: task::LimitKeys::default(),
        };
        Ok(task::from_file(file, &here, Path::new("the command line"))?)
    }

    /// The language that was named, or that of the report or the files.
    fn language(&self, repo: &Path) -> anyhow::Result<String> {
        if let Some(language) = &self.language {
            return Ok(language.clone());
        }
        // A report that cannot be read is told where it is read for the task.
        let log = self.crash.as_ref().and_then(|log| std::fs::read(log).ok());
        let log = log.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let inferred = language::infer(repo, log.as_deref());
        let inferred = inferred.map(|language| language.to_string());
        inferred.ok_or_else(|| {
            anyhow::anyhow!(
                "--language is needed: no file below {} is C, C++ or Java",
                repo.display()
            )
        })
    }

    /// One build with the flags of the sanitizer, if one is named.
    fn builds(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        let named = self.sanitizer.map(Sanitizer::variables);
        let named = named.and_then(|variables| {
            let name = variables.get("SANITIZER")?.clone();
            Some((name, variables))
        });
        named.into_iter().collect()
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
