//! Flags that tell of a project, and a task put together from flags, for somebody
//! who has only a crash. The language comes from the crash report or the files, for whoever names none.

use crate::common::{WrongInput, plain_name, real_path, variables};
use anyhow::Context;
use clap::{Args, ValueEnum};
use patchwright_agent::task::Pov;
use patchwright_agent::task::file::{SourceKeys, TaskFile};
use patchwright_agent::task::{self, Mode, Task};
use patchwright_crash::{CrashReport, Tool};
use patchwright_source::{Language, Tree, TreePath, words};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The flags that make up a task.
#[derive(Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct TaskFlags {
    /// The source tree
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,
    /// A crashing input (a file), and the command that feeds $POV to the program
    #[arg(long, value_name = "FILE|COMMAND")]
    pub pov: Vec<String>,
    /// The project
    #[command(flatten)]
    pub project: ProjectFlags,
    /// Inputs that the unpatched program accepts: files or globs, several times
    #[arg(long, value_name = "GLOB")]
    pub harmless: Vec<String>,
    /// A line about the crash, for people and the model
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Paths and globs of the tree that are never edited, several times
    #[arg(long, value_name = "GLOB")]
    pub protect: Vec<String>,
}

/// A source tree with its crash, for the verbs that find the rest out.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct CrashedTree {
    /// The source tree
    #[arg(default_value = ".")]
    pub tree: PathBuf,
    /// A crashing input, several times
    #[arg(long, value_name = "FILE", visible_alias = "testcase")]
    pub pov: Vec<PathBuf>,
    /// An issue of GitHub or GitLab: its text is the report, its attachments and quoted inputs are tried as PoVs
    #[arg(long, value_name = "URL", conflicts_with = "crash")]
    pub issue: Option<String>,
    /// The project; what is given is not searched for
    #[command(flatten)]
    pub project: ProjectFlags,
    /// Feeds $POV to the program, in place of what is found
    #[arg(long, value_name = "COMMAND")]
    pub feed: Option<String>,
}

/// The flags of `run`, `init` and `fix` that tell of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct ProjectFlags {
    /// The crash report
    #[arg(long, value_name = "FILE")]
    pub crash: Option<PathBuf>,
    /// Downloads what the build needs; the one command with network
    #[arg(long, value_name = "COMMAND")]
    pub prepare: Option<String>,
    /// Builds $TREE into $OUT
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<String>,
    /// Runs the tests
    #[arg(long, value_name = "COMMAND")]
    pub test: Option<String>,
    /// c, c++ or java; without it, what the report and the files say
    #[arg(long)]
    pub language: Option<String>,
    /// Give the build the flags of this sanitizer in CFLAGS, CXXFLAGS and LDFLAGS
    #[arg(long, value_enum, value_name = "NAME")]
    pub sanitizer: Option<Sanitizer>,
}

impl ProjectFlags {
    /// Returns the language that was named, or that of the report or the files.
    pub(crate) fn language(&self, tree: &Path, log: Option<&str>) -> Result<Language, WrongInput> {
        if let Some(word) = &self.language {
            return language_named(word);
        }
        let reported = log.and_then(language_of_report);
        reported.or_else(|| language_of_files(tree)).ok_or_else(|| {
            let tree = tree.display();
            let message = format!("--language is needed: no file below {tree} is C, C++ or Java");
            WrongInput(message)
        })
    }
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

words!(Sanitizer: Address "address", Undefined "undefined", Memory "memory", Thread "thread");

impl Sanitizer {
    /// Returns the one that made a report.
    pub(crate) fn of_report(report: Option<&CrashReport>) -> Self {
        match report.map(|report| report.tool) {
            Some(Tool::UndefinedBehaviorSanitizer) => Self::Undefined,
            Some(Tool::MemorySanitizer) => Self::Memory,
            Some(Tool::ThreadSanitizer) => Self::Thread,
            _ => Self::Address,
        }
    }

    /// Returns the variables of a build with it; `SANITIZER` is what the build
    /// scripts of OSS-Fuzz read.
    pub(crate) fn variables(self) -> BTreeMap<String, String> {
        let name = self.as_str();
        let more = match self {
            Self::Memory => " -fsanitize-memory-track-origins",
            // Without it a program goes on behind a report, and ends as if nothing had been.
            Self::Undefined => " -fno-sanitize-recover=undefined",
            Self::Address | Self::Thread => "",
        };
        let sanitizer = format!("-fsanitize={name}{more}");
        let compile = format!("-g -O1 -fno-omit-frame-pointer {sanitizer}");
        let mut given = vec![
            ("SANITIZER", name),
            ("CFLAGS", compile.as_str()),
            ("CXXFLAGS", compile.as_str()),
            ("LDFLAGS", sanitizer.as_str()),
        ];
        if self == Self::Memory {
            given.extend([("CC", "clang"), ("CXX", "clang++")]);
        }
        variables(&given)
    }
}

impl TaskFlags {
    /// Tells whether any of them was given.
    pub(crate) fn given(&self) -> bool {
        *self != Self::default()
    }

    /// The task that they make up.
    pub(crate) fn task(&self, dry_run: bool) -> anyhow::Result<Task> {
        let repo = self.repo.as_ref();
        let repo = repo.context("--repo DIR is needed: the source tree")?;
        let project = &self.project;
        // A report that cannot be read is told where it is read for the task.
        let report = project.crash.as_deref();
        let log = report.and_then(|log| std::fs::read(log).ok());
        let log = log.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let language = project.language(repo, log.as_deref())?;
        let here = std::path::absolute(".")?;
        let absolute = |path: &Path| here.join(path).display().to_string();
        let (inputs, command) = self.povs(dry_run)?;
        let source = SourceKeys {
            path: Some(absolute(repo)),
            ..SourceKeys::default()
        };
        let mut file = TaskFile::new(self.id(repo), language.to_string(), source);
        file.mode = if dry_run { Mode::DryRun } else { Mode::Repair };
        file.title.clone_from(&self.title);
        file.commands.prepare.clone_from(&project.prepare);
        file.commands.build = project.build.clone().unwrap_or_default();
        file.commands.pov = command;
        file.commands.test.clone_from(&project.test);
        if let Some(sanitizer) = project.sanitizer {
            file.builds
                .insert(sanitizer.to_string(), sanitizer.variables());
        }
        let povs = inputs.iter().map(|input| Pov {
            file: absolute(Path::new(input)).into(),
            ..Pov::default()
        });
        file.pov = povs.collect();
        file.crash.report = report.map(absolute);
        file.inputs.harmless.clone_from(&self.harmless);
        file.guard.protect.clone_from(&self.protect);
        Ok(task::from_file(file, &here, Path::new("the command line"))?)
    }

    /// The inputs, and the command that feeds them: a value that names a file
    /// is an input, any other is the command.
    fn povs(&self, dry_run: bool) -> anyhow::Result<(Vec<&String>, Option<String>)> {
        let is_file = |value: &&String| Path::new(value.as_str()).is_file();
        let (inputs, commands): (Vec<&String>, Vec<&String>) = self.pov.iter().partition(is_file);
        let command = commands.first().map(|command| (*command).clone());
        match (inputs.is_empty(), &command) {
            (_, Some(first)) if commands.len() > 1 => anyhow::bail!(
                "--pov {first:?} is no file and taken as the command that feeds the inputs; there can be one only"
            ),
            (false, None) if !dry_run => anyhow::bail!(
                "say how an input is fed to the program: --pov '\"$OUT\"/harness \"$POV\"'"
            ),
            (true, Some(command)) if !dry_run => anyhow::bail!(
                "--pov {command:?} is taken as a command; give the crashing input too: --pov FILE"
            ),
            _ => Ok((inputs, command)),
        }
    }

    /// The folder's name and a hash of what is asked: the same flags make the
    /// same task.
    fn id(&self, repo: &Path) -> String {
        let hash = format!("{:x}", Sha256::digest(format!("{self:?}")));
        let short: String = hash.chars().take(8).collect();
        format!("{}-{short}", name_of(repo))
    }
}

/// Returns the name of a folder as a part of a task's id; `task` where it has none.
pub(crate) fn name_of(folder: &Path) -> String {
    let folder = real_path(folder);
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let name = plain_name(&name, "", 60);
    let name = name.trim_matches('-');
    if name.is_empty() { "task" } else { name }.to_owned()
}

/// The languages that can be repaired.
const REPAIRED: [Language; 3] = [Language::C, Language::Cpp, Language::Java];

/// Words for them that people use.
const WORDS: [(&str, Language); 7] = [
    ("c", Language::C),
    ("c++", Language::Cpp),
    ("cpp", Language::Cpp),
    ("cxx", Language::Cpp),
    ("cc", Language::Cpp),
    ("java", Language::Java),
    ("jvm", Language::Java),
];

/// Returns the language that a person names.
///
/// # Errors
/// No language that can be repaired has this name; the nearest one is told.
fn language_named(word: &str) -> Result<Language, WrongInput> {
    let word = word.to_ascii_lowercase();
    if let Some((_, language)) = WORDS.iter().find(|(known, _)| *known == word) {
        return Ok(*language);
    }
    let likeness = |known: &str| strsim::jaro_winkler(known, &word);
    let nearest = WORDS
        .iter()
        .max_by(|(one, _), (other, _)| likeness(one).total_cmp(&likeness(other)));
    let nearest = nearest.map_or(Language::C, |(_, language)| *language);
    Err(WrongInput(format!(
        "--language: {word:?} cannot be repaired: c, c++ and java can; did you mean {nearest}?"
    )))
}

/// Returns the language of the first frame of a report whose file has one.
fn language_of_report(log: &str) -> Option<Language> {
    let report = patchwright_crash::read_leading(log)?;
    if matches!(report.tool, Tool::Java | Tool::Jazzer | Tool::Jvm) {
        return Some(Language::Java);
    }
    let frames = report.main_stack()?.frames.iter();
    let files = frames.filter_map(|frame| frame.file.as_deref());
    let mut languages = files.filter_map(language_of_file);
    languages.next()
}

/// Returns the language of a file by its name; headers say nothing.
fn language_of_file(file: &str) -> Option<Language> {
    let name = file.rsplit('/').next()?;
    let ending = name.rsplit('.').next();
    let header = ending.is_some_and(|end| end.starts_with(['h', 'H']));
    let language = Language::of_path(&TreePath::new(name).ok()?)?;
    (!header && REPAIRED.contains(&language)).then_some(language)
}

/// Returns the language of most source files; `None` where no file is in a language that can be
/// repaired.
pub(crate) fn language_of_files(repo: &Path) -> Option<Language> {
    let tree = Tree::open(repo).ok()?;
    let mut counts: BTreeMap<Language, usize> = BTreeMap::new();
    for path in tree.files() {
        if let Some(language) = language_of_file(path.as_str()) {
            *counts.entry(language).or_default() += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(language, _)| language)
}

#[cfg(test)]
mod tests {
    use super::Sanitizer;

    #[test]
    fn a_report_of_undefined_behaviour_ends_the_program() {
        let variables = Sanitizer::Undefined.variables();
        for flags in ["CFLAGS", "CXXFLAGS", "LDFLAGS"] {
            assert!(variables[flags].ends_with("-fno-sanitize-recover=undefined"));
        }
    }
}
