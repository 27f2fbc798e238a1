//! From a task file to a checked task: finds the files, settles the choices,
//! and says exactly what is wrong and where.

use super::file::{SourceKeys, TaskFile};
use super::{Hints, Mode, Pov, Sender, Source, Task};
use crate::hints::sarif;
use patchwright_sandbox::Image;
use patchwright_source::Language;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// Largest report or hint that is read, in bytes.
const TEXT_LIMIT: u64 = 16 * 1024 * 1024;

/// Runs of one PoV that a task may ask for.
const REPEATS: std::ops::RangeInclusive<u32> = 1..=1000;

/// Why a task cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// There is no task file.
    #[error("no task file at {path} ({source}): name a folder with a task.toml, or a task file")]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The file is no TOML, or a key is missing, unknown or of the wrong type.
    #[error("{path}: {message}")]
    Malformed {
        path: PathBuf,
        /// Message of the parser, with line and key.
        message: String,
    },
    /// A value makes no sense.
    #[error("{path}: {key}: {message}")]
    Invalid {
        path: PathBuf,
        key: String,
        /// Description of the fault, with what would be right.
        message: String,
    },
}

/// Reads the task of a folder with a `task.toml`, or of a task file.
pub fn read(path: &Path) -> Result<Task, TaskError> {
    let (keys, file) = keys(path)?;
    checked(keys, &file)
}

/// The same for a dry run, whatever the task itself says: commands that it
/// would need to be evaluated may be missing.
pub fn read_to_propose(path: &Path) -> Result<Task, TaskError> {
    let (mut keys, file) = keys(path)?;
    keys.mode = Mode::DryRun;
    checked(keys, &file)
}

/// The keys of a task, and the file that they stand in.
pub fn keys(path: &Path) -> Result<(TaskFile, PathBuf), TaskError> {
    let missing = |path: &Path, source| TaskError::Missing {
        path: path.to_path_buf(),
        source,
    };
    let file = if path.is_dir() {
        path.join("task.toml")
    } else {
        path.to_path_buf()
    };
    let file = file.canonicalize().map_err(|error| missing(&file, error))?;
    let text = std::fs::read_to_string(&file).map_err(|error| missing(&file, error))?;
    match keys_of(&text) {
        Ok(keys) => Ok((keys, file)),
        Err(message) => Err(TaskError::Malformed {
            path: file,
            message,
        }),
    }
}

/// The keys of a text, or what is wrong with it and where.
fn keys_of(text: &str) -> Result<TaskFile, String> {
    let document = toml::Deserializer::parse(text).map_err(|error| explain(&error))?;
    serde_path_to_error::deserialize(document).map_err(|error| {
        let key = error.path().to_string();
        let key = if key == "." { key } else { format!("{key}: ") };
        key.trim_start_matches('.').to_owned() + &explain(error.inner())
    })
}

fn checked(keys: TaskFile, file: &Path) -> Result<Task, TaskError> {
    from_file(keys, file.parent().unwrap_or(Path::new("/")), file)
}

/// The parser's words, with the nearest known key where one is unknown.
fn explain(error: &toml::de::Error) -> String {
    let text = error.to_string();
    let Some((_, rest)) = text.split_once("unknown field `") else {
        return text.trim_end().to_owned();
    };
    let Some((given, expected)) = rest.split_once('`') else {
        return text;
    };
    let likeness = |key: &str| strsim::jaro_winkler(given, key);
    let known = expected.split('`').skip(1).step_by(2);
    let nearest = known.max_by(|left, right| likeness(left).total_cmp(&likeness(right)));
    match nearest {
        Some(nearest) => format!("{}\nDid you mean `{nearest}`?", text.trim_end()),
        None => text,
    }
}

/// Checks the keys of a task that lies in `folder`; `origin` is named in errors.
pub fn from_file(keys: TaskFile, folder: &Path, origin: &Path) -> Result<Task, TaskError> {
    let reader = Reader { folder, origin };
    if !is_id(&keys.id) {
        let message = "must be 1 to 128 of A-Z a-z 0-9 . _ - and start with none of . -";
        return Err(reader.invalid("id", message));
    }
    let language = reader.language(&keys.language)?;
    if keys.candidates == 0 || keys.candidates > 16 {
        return Err(reader.invalid("candidates", "must be between 1 and 16"));
    }
    reader.check_commands(&keys)?;
    let povs = keys.pov.iter().enumerate();
    let povs = povs.map(|(at, pov)| reader.pov(at, pov, &keys));
    let povs = povs.collect::<Result<_, _>>()?;
    let harmless = reader.harmless(&keys.inputs.harmless)?;
    let transcript = keys.transcript.as_deref();
    Ok(Task {
        image: reader.image(keys.image, keys.dockerfile.as_deref())?,
        source: reader.source(&keys.source)?,
        crash: reader.text("crash.report", keys.crash.report.as_deref())?,
        hints: Hints {
            sarif: reader.sarif(keys.hints.sarif.as_deref())?,
            diff: reader.text("hints.diff", keys.hints.diff.as_deref())?,
            note: keys.hints.note,
        },
        transcript: transcript
            .map(|path| reader.file("transcript", path))
            .transpose()?,
        id: keys.id,
        language,
        mode: keys.mode,
        candidates: keys.candidates,
        title: keys.title,
        folder: folder.to_path_buf(),
        seen_as: keys.source.seen_as,
        commands: keys.commands,
        builds: keys.builds,
        povs,
        harmless,
        protect: keys.guard.protect,
        limits: keys.limits,
        sender: Sender::Local,
        sent: BTreeMap::new(),
        follows: None,
    })
}

/// Tells whether a text can be the id of a task.
pub fn is_id(id: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=128).contains(&id.len()) && id.bytes().all(allowed) && !id.starts_with(['.', '-'])
}

/// Tells whether a text can be the name of an image: a reference as registries write it.
fn is_image(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/:@".contains(&byte);
    (1..=255).contains(&name.len())
        && name.bytes().all(allowed)
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
}

struct Reader<'a> {
    folder: &'a Path,
    origin: &'a Path,
}

impl Reader<'_> {
    fn invalid(&self, key: &str, message: impl Into<String>) -> TaskError {
        TaskError::Invalid {
            path: self.origin.to_path_buf(),
            key: key.to_owned(),
            message: message.into(),
        }
    }

    fn image(
        &self,
        name: Option<String>,
        dockerfile: Option<&str>,
    ) -> Result<Option<Image>, TaskError> {
        match (name, dockerfile) {
            (Some(_), Some(_)) => Err(self.invalid("dockerfile", "does not go along with image")),
            (Some(name), None) if is_image(&name) => Ok(Some(Image::Named(name))),
            (Some(name), None) => {
                let message = format!("{name:?} is no name of an image, like debian:bookworm");
                Err(self.invalid("image", message))
            }
            (None, Some(path)) => Ok(Some(Image::Dockerfile(self.file("dockerfile", path)?))),
            (None, None) => Ok(None),
        }
    }

    fn language(&self, word: &str) -> Result<Language, TaskError> {
        match Language::read(word) {
            Some(language @ (Language::C | Language::Cpp | Language::Java)) => Ok(language),
            _ => Err(self.invalid("language", format!("{word:?} is none of c, c++, java"))),
        }
    }

    fn check_commands(&self, keys: &TaskFile) -> Result<(), TaskError> {
        if keys.mode == super::Mode::DryRun {
            return Ok(());
        }
        if keys.commands.build.is_empty() {
            return Err(self.invalid(
                "commands.build",
                "is needed to evaluate a patch (or set mode = \"dry-run\")",
            ));
        }
        if keys.commands.pov.is_none() && keys.pov.iter().any(|pov| pov.command.is_none()) {
            return Err(self.invalid("commands.pov", "is needed to replay the PoVs"));
        }
        Ok(())
    }

    fn source(&self, keys: &SourceKeys) -> Result<Source, TaskError> {
        let with = |what: &Option<String>, key: &str, of: &str| {
            let needed = format!("is needed beside source.{of}");
            let missing = || self.invalid(&format!("source.{key}"), needed);
            what.clone().ok_or_else(missing)
        };
        match (&keys.path, &keys.git, &keys.archive, &keys.fetch) {
            (Some(path), None, None, None) => Ok(Source::Path(self.source_folder(path)?)),
            (None, Some(url), None, None) => Ok(Source::Git {
                url: url.clone(),
                revision: with(&keys.revision, "revision", "git")?,
            }),
            (None, None, Some(location), None) => Ok(Source::Archive {
                location: location.clone(),
                sha256: with(&keys.sha256, "sha256", "archive")?.to_lowercase(),
            }),
            (None, None, None, Some(command)) => Ok(Source::Fetch(command.clone())),
            _ => Err(self.invalid("source", "needs exactly one of path, git, archive, fetch")),
        }
    }

    fn sarif(&self, path: Option<&str>) -> Result<Option<String>, TaskError> {
        let text = self.text("hints.sarif", path)?;
        if let Some(report) = &text {
            sarif::read(report, &|_| None)
                .map_err(|message| self.invalid("hints.sarif", message))?;
        }
        Ok(text)
    }

    fn pov(&self, at: usize, pov: &Pov, keys: &TaskFile) -> Result<Pov, TaskError> {
        let key = |name: &str| format!("pov[{at}].{name}");
        if let Some(build) = &pov.build
            && !keys.builds.contains_key(build)
        {
            return Err(self.invalid(&key("build"), format!("there is no [builds.{build}]")));
        }
        if let Some(pattern) = &pov.ran {
            regex::Regex::new(pattern)
                .map_err(|error| self.invalid(&key("ran"), error.to_string()))?;
        }
        if pov.repeat.is_some_and(|repeat| !REPEATS.contains(&repeat)) {
            return Err(self.invalid(&key("repeat"), "must be between 1 and 1000"));
        }
        Ok(Pov {
            file: self.file(&key("file"), &pov.file)?,
            ..pov.clone()
        })
    }

    fn source_folder(&self, path: &str) -> Result<PathBuf, TaskError> {
        let wrong = |folder: &Path, fault: &str| {
            self.invalid("source.path", format!("{} {fault}", folder.display()))
        };
        let folder = self.folder.join(path);
        let folder = folder
            .canonicalize()
            .map_err(|error| wrong(&folder, &format!("cannot be opened: {error}")))?;
        let entries = std::fs::read_dir(&folder);
        let entries = entries.map_err(|error| wrong(&folder, &format!("is no folder: {error}")));
        match entries?.next() {
            Some(_) => Ok(folder),
            None => Err(wrong(&folder, "is empty")),
        }
    }

    fn file(&self, key: &str, path: impl AsRef<Path>) -> Result<PathBuf, TaskError> {
        let file = self.folder.join(path);
        match file.metadata() {
            Ok(data) if data.is_file() => Ok(file),
            Ok(_) => Err(self.invalid(key, format!("{} is not a regular file", file.display()))),
            Err(error) => {
                Err(self.invalid(key, format!("{} cannot be opened: {error}", file.display())))
            }
        }
    }

    fn text(&self, key: &str, path: Option<&str>) -> Result<Option<String>, TaskError> {
        let Some(path) = path else { return Ok(None) };
        let file = self.file(key, path)?;
        let unreadable = |error: std::io::Error| {
            self.invalid(key, format!("{} cannot be read: {error}", file.display()))
        };
        if file.metadata().map_err(unreadable)?.len() > TEXT_LIMIT {
            let message = format!("{} is larger than {TEXT_LIMIT} bytes", file.display());
            return Err(self.invalid(key, message));
        }
        let bytes = std::fs::read(&file).map_err(unreadable)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn harmless(&self, patterns: &[String]) -> Result<Vec<PathBuf>, TaskError> {
        let mut found = BTreeSet::new();
        for pattern in patterns {
            let (base, rest) = split(pattern);
            let glob = globset::GlobBuilder::new(rest)
                .literal_separator(true)
                .build()
                .map_err(|error| self.invalid("inputs.harmless", error.to_string()))?;
            let base = self.folder.join(base);
            let matching = files_below(&base, &glob.compile_matcher());
            if matching.is_empty() {
                let message = format!("no file matches {pattern:?}");
                return Err(self.invalid("inputs.harmless", message));
            }
            found.extend(matching);
        }
        Ok(found.into_iter().collect())
    }
}

/// Splits a glob into the folder that it begins with and the rest.
fn split(pattern: &str) -> (&str, &str) {
    let special = pattern.find(['*', '?', '[', '{', '\\']);
    let head = pattern.get(..special.unwrap_or(pattern.len()));
    match head.and_then(|head| head.rfind('/')) {
        // The root is a folder too.
        Some(0) => ("/", pattern.get(1..).unwrap_or_default()),
        Some(at) => (
            pattern.get(..at).unwrap_or_default(),
            pattern.get(at + 1..).unwrap_or_default(),
        ),
        None => ("", pattern),
    }
}

/// Regular files below a folder whose path in it matches.
fn files_below(base: &Path, glob: &globset::GlobMatcher) -> Vec<PathBuf> {
    let matches = |path: &Path| {
        path.strip_prefix(base)
            .is_ok_and(|relative| glob.is_match(relative))
    };
    let entries = WalkDir::new(base).min_depth(1).into_iter().flatten();
    let found = entries.filter(|entry| entry.file_type().is_file() && matches(entry.path()));
    found.map(DirEntry::into_path).collect()
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn a_glob_begins_with_a_folder() {
        for (pattern, expected) in [
            ("corpus/*", ("corpus", "*")),
            ("*.gif", ("", "*.gif")),
            ("../tests/**/a?.gif", ("../tests", "**/a?.gif")),
            ("/srv/corpus/[ab]/x", ("/srv/corpus", "[ab]/x")),
            ("/*", ("/", "*")),
            ("a/b.txt", ("a", "b.txt")),
            ("b.txt", ("", "b.txt")),
        ] {
            assert_eq!(split(pattern), expected, "{pattern}");
        }
    }
}
