//! Form of a project's commit messages, learned from those that touched the same files,
//! and the one command by which they see the crash themselves.

use crate::common::{HARNESS_LINKER, is_plain};
use crate::git::Git;
use patchwright_agent::task::Task;
use std::collections::BTreeMap;
use std::path::Path;

/// Commits that are read, and fewer than which show no style.
const COMMITS: &str = "-200";
const FEW: usize = 3;
/// Lines that must show where a project wraps its messages, and the widths that are believed.
const LINES: usize = 10;
const WIDTHS: (usize, usize) = (60, 80);
/// Variables of a command that mean nothing outside a task.
const INSIDE: [&str; 4] = ["$TASK", "$WORK", "$HOME", "$HARNESS"];

/// The form of a project's messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// The words before the colon of a subject; nothing where the project writes no such word,
    /// `None` where too little is known.
    pub(super) prefix: Option<String>,
    /// True where the words after it begin with a capital letter.
    pub(super) capital: bool,
    /// Columns of a message.
    pub(super) width: Option<usize>,
    /// True where messages name the commit that they mend.
    pub(super) fixes: bool,
}

impl Style {
    /// Learns from the commits that touched these files; the default where no repository tells.
    pub(crate) async fn learn(folder: &Path, files: &[&str]) -> Self {
        let log = ["log", COMMITS, "--no-merges", "--format=%x00%s%n%b", "--"];
        let told = Git::new(folder).run(&[&log[..], files].concat()).await;
        Self::read(&told.unwrap_or_default())
    }

    /// Reads messages, each after a NUL.
    fn read(log: &str) -> Self {
        let commits: Vec<&str> = log.split('\0').skip(1).collect();
        if commits.len() < FEW {
            return Self::default();
        }
        let subjects = commits.iter().filter_map(|commit| commit.lines().next());
        let parts: Vec<(&str, &str)> = subjects.map(parts).collect();
        let mut prefixes: BTreeMap<&str, usize> = BTreeMap::new();
        for (prefix, _) in parts.iter().filter(|(prefix, _)| !prefix.is_empty()) {
            *prefixes.entry(prefix).or_default() += 1;
        }
        let most = |count: usize| 2 * count >= commits.len();
        let usual = prefixes
            .iter()
            .max_by_key(|(prefix, count)| (prefix.starts_with("fix"), **count));
        let usual = usual.filter(|_| most(prefixes.values().sum()));
        let capital = |(_, rest): &&(&str, &str)| rest.starts_with(char::is_uppercase);
        let named = |commit: &&&str| commit.lines().any(|line| line.starts_with("Fixes: "));
        Self {
            prefix: Some(usual.map_or("", |(prefix, _)| prefix).to_owned()),
            capital: most(parts.iter().filter(capital).count()),
            width: width(&commits),
            fixes: commits.iter().any(|commit| named(&commit)),
        }
    }

    /// Writes a subject: what was done, after the project's own prefix, or after this one.
    pub(super) fn subject(&self, stem: &str, done: &str) -> String {
        let mut done = done.to_owned();
        if let Some(first) = done.get_mut(..1).filter(|_| self.capital) {
            first.make_ascii_uppercase();
        }
        match self.prefix.as_deref().unwrap_or(stem) {
            "" => done,
            prefix => format!("{prefix}: {done}"),
        }
    }
}

/// Splits a subject into its prefix, which may be empty, and the rest.
fn parts(subject: &str) -> (&str, &str) {
    let split = subject.split_once(": ");
    let split = split.filter(|(prefix, _)| is_plain(prefix, "_-./+()*"));
    split.unwrap_or(("", subject))
}

/// Returns the length that nearly all wrapped lines keep to.
fn width(commits: &[&str]) -> Option<usize> {
    let mut lengths = Vec::new();
    for commit in commits {
        let lines: Vec<&str> = commit.lines().skip(1).collect();
        let is_text = |line: &&str| line.contains(' ') && !line.contains(": ");
        let pairs = lines.windows(2).filter(|pair| pair.iter().all(is_text));
        lengths.extend(pairs.filter_map(|pair| Some(pair.first()?.chars().count())));
    }
    lengths.sort_unstable();
    let usual = lengths.get(lengths.len() * 19 / 20)?;
    (lengths.len() >= LINES).then(|| (*usual).clamp(WIDTHS.0, WIDTHS.1))
}

/// Returns the lines that show the crash of a harness which a script of the task links: its
/// project builds it in a way of its own.
fn of_harness(build: &str, run: &str) -> Option<String> {
    let (_, linked) = build.split_once(HARNESS_LINKER)?;
    let path = linked.split_whitespace().next()?;
    let name = path.rsplit('/').next()?.split('.').next()?;
    let fed = if run.contains('<') { "<" } else { "" };
    Some(format!(
        "# {path}, built with the library by clang with -fsanitize=address, and\n\
         # with -fsanitize=fuzzer where it has no main\n./{name} {fed}input"
    ))
}

/// Returns the lines for a shell that show the crash in a fresh clone, with the input in the file
/// `input`; none where a command needs more than the project has.
pub(crate) fn reproduction(task: &Task) -> Option<String> {
    let (build, run) = (&task.commands.build, task.commands.pov.as_ref()?);
    if let Some(lines) = of_harness(build, run) {
        return Some(lines);
    }
    let bound = |command: &&String| INSIDE.iter().any(|word| command.contains(word));
    let own = task.image.is_some() || task.commands.prepare.is_some() || build.is_empty();
    if own || [build, run].iter().any(bound) {
        return None;
    }
    let outside = |command: &str| {
        let names = [
            ("$TREE", "$src"),
            ("; TREE=", "; src="),
            ("$OUT", "$out"),
            ("$POV", "$input"),
            ("$JOBS", "$(nproc)"),
        ];
        names.iter().fold(command.to_owned(), |text, (name, word)| {
            text.replace(name, word)
        })
    };
    let variables = task.builds.values().next().into_iter().flatten();
    let variables: Vec<String> = variables
        .map(|(name, value)| Some(format!("{name}={}", shlex::try_quote(value).ok()?)))
        .collect::<Option<_>>()?;
    let mut lines = vec!["src=$PWD out=$(mktemp -d) input=$PWD/input".to_owned()];
    if !variables.is_empty() {
        lines.push(format!("export {}", variables.join(" ")));
    }
    let (mut build, run) = (outside(build), outside(run));
    if build.contains("; src=") {
        build = format!("({build})");
    }
    lines.extend([build, run]);
    Some(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::{Style, of_harness, reproduction};
    use patchwright_agent::task::file::{SourceKeys, TaskFile};
    use patchwright_agent::task::from_file;
    use std::fs;

    #[test]
    fn a_harness_is_named_with_what_it_is_built_with() {
        let build = r#"make -C "$TREE" && sh "$TASK"/harness.sh fuzz/read.c"#;
        for (build, run, expected) in [
            (build, r#""$OUT"/read "$POV""#, Some("\n./read input")),
            (build, r#""$OUT"/read <"$POV""#, Some("\n./read <input")),
            ("make", r#""$OUT"/read "$POV""#, None),
        ] {
            let lines = of_harness(build, run);
            let told = lines.as_ref().map(|text| {
                assert!(text.starts_with("# fuzz/read.c, built with"), "{text}");
                text.get(text.rfind('\n').unwrap()..).unwrap()
            });
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn a_project_in_a_folder_of_its_repository_is_built_there() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("lib")).unwrap();
        fs::write(folder.path().join("lib/a"), "1").unwrap();
        fs::write(folder.path().join("input"), "2").unwrap();
        let source = SourceKeys {
            path: Some(".".to_owned()),
            ..SourceKeys::default()
        };
        let mut keys = TaskFile::new("a".to_owned(), "c".to_owned(), source);
        let build = r#"ROOT="$TREE"; cd lib; TREE=$PWD; cp "$TREE"/a "$OUT"/a"#;
        keys.commands.build = build.to_owned();
        keys.commands.pov = Some(r#"cat "$TREE"/lib/a "$OUT"/a "$POV""#.to_owned());
        let origin = folder.path().join("task.toml");
        let task = from_file(keys, folder.path(), &origin).unwrap();
        let shell = std::process::Command::new("sh")
            .args(["-euc", &reproduction(&task).unwrap()])
            .current_dir(folder.path())
            .output();
        assert_eq!(String::from_utf8_lossy(&shell.unwrap().stdout), "112");
    }

    #[test]
    fn messages_are_written_as_the_project_writes_them() {
        let body = "A line of text that goes on until it has to be wrapped at some column\nand goes on for a while\n";
        let log =
            |subject: &str| format!("\0{subject}\n{body}Fixes: 0123456789ab (\"x\")\n").repeat(12);
        for (subject, expected) in [
            (
                "png: Check the length",
                "png: Fix heap-buffer-overflow in f",
            ),
            (
                "fix(png): check the length",
                "fix(png): fix heap-buffer-overflow in f",
            ),
            (
                "Check the length of a chunk",
                "Fix heap-buffer-overflow in f",
            ),
        ] {
            let style = Style::read(&log(subject));
            assert_eq!(
                style.subject("a", "fix heap-buffer-overflow in f"),
                expected
            );
            assert_eq!((style.width, style.fixes), (Some(69), true));
        }
        let unknown = Style::read("\0one\n");
        assert_eq!(unknown.subject("a", "fix x"), "a: fix x");
    }
}
