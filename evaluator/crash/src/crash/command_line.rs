//! Command lines in reports: the program that was run, its options and its files.

use patchwright_source::built_in_regex;
use regex::Regex;
use serde::Serialize;
use std::sync::LazyLock;

/// A command that somebody ran, as it stands in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CommandLine {
    /// The program with its folder, as it was written.
    pub program: String,
    pub arguments: Vec<String>,
    /// The file that standard input was read from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
}

/// A command behind the prompt of a shell.
static PROMPT: LazyLock<Regex> = LazyLock::new(|| {
    built_in_regex(
        r"^\s*(?:(?:\[?[\w.-]+@[\w.-]+[: ][^$#%]*)?[$%]|\[?[\w.-]+@[\w.-]+[: ][^$#]*#)\s+(.+)$|^\s*# (\./.+)$",
    )
});
/// A command in the line in which a shell tells of its end.
static ENDED: LazyLock<Regex> = LazyLock::new(|| {
    built_in_regex(
        r"^\S*sh: (?:line \d+: )?(?:\d+ )?(?i:segmentation fault|abort(?:ed)?|bus error|floating point exception|illegal (?:hardware )?instruction)\s+(?:\(core dumped\)\s*)?(.+)$",
    )
});
/// A command behind the words with which debuggers and forms announce one.
static LABELLED: LazyLock<Regex> = LazyLock::new(|| {
    built_in_regex(
        r"^\W*(?:==\d+==\s)?(?i:command(?: ?line)?|cmd(?: ?line)?|run(?:ning)?|starting program)[\s*`]{0,4}:[\s*`]{0,4}([^`*]+)",
    )
});
/// The mark of an entry of a list.
static LISTED: LazyLock<Regex> = LazyLock::new(|| built_in_regex(r"^\s*(?:(?:\d+[.)]|[*-])\s+)?"));
/// Ends and parts that code and sentences have, and no command.
static NO_COMMAND: LazyLock<Regex> =
    LazyLock::new(|| built_in_regex(r"[;{},:]\s*$|\s[=+]\s|\w\(|//"));
static PROGRAM: LazyLock<Regex> =
    LazyLock::new(|| built_in_regex(r"^(?:[~.$\w{}+-]*/)*[\w.+-]*[A-Za-z][\w.+-]*$"));
static FILE: LazyLock<Regex> = LazyLock::new(|| {
    built_in_regex(r"(?i)/|\.[a-z]\w{0,4}$|^@@$|^\$\w|^(?:poc|crash|id:|test|input|seed|hang)")
});

/// Programs that prepare a run, and show nothing of a crash.
const PREPARING: &str = " cd git make touch cmake configure autoreconf autogen.sh bootstrap mkdir rm cp mv ls \
     echo printf export set unset ulimit source apt apt-get yum dnf brew pip pip3 npm yarn wget curl tar \
     unzip gcc g++ cc c++ clang clang++ meson ninja docker bazel mvn gradle gradlew cargo xxd hexdump \
     base64 uname ldd file which chmod sysctl patch diff hg svn run bt backtrace ";
/// Programs that run another one.
const WRAPPERS: &str =
    " sudo env time timeout nice exec nohup gdb lldb valgrind strace ltrace perf rr ";

/// Tells whether a prompt or a label announces a command.
pub(super) fn is_announced(line: &str) -> bool {
    let marks = [&PROMPT, &ENDED, &LABELLED];
    marks.iter().any(|mark| mark.is_match(line))
}

/// Tells whether a line is a command that only prepares a run: its options are not those of
/// the program.
pub(super) fn is_preparing(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default().trim_start_matches("./");
    let argument = |word: &str| word.starts_with(['-', '.', '/', '&']) || word.contains('=');
    PREPARING.contains(&format!(" {first} ")) && words.next().is_some_and(argument)
}

/// Finds the commands of a line: behind a prompt or a label, between backticks, or as the
/// whole line where the line is code.
pub(super) fn read_line(line: &str, is_code: bool) -> Vec<CommandLine> {
    let behind = |mark: &Regex| {
        Some(
            mark.captures(line)?
                .iter()
                .skip(1)
                .flatten()
                .next()?
                .as_str(),
        )
    };
    if let Some(command) = behind(&PROMPT).or_else(|| behind(&ENDED)) {
        return read(command).into_iter().collect();
    }
    let bare = LISTED
        .find(line)
        .map_or(line, |mark| line.split_at(mark.end()).1);
    let whole = behind(&LABELLED).or_else(|| {
        let mut folders = ["./", "../", "/", "~/"].iter();
        let with_folder = folders.any(|folder| bare.starts_with(folder));
        (is_code || with_folder).then_some(bare)
    });
    let Some(whole) = whole else {
        // What no second one closes began in another line, or goes on in the next.
        let pieces: Vec<&str> = line.split('`').collect();
        let closed = pieces.split_last().map_or(&[][..], |(_, closed)| closed);
        let quoted = closed.iter().skip(1).step_by(2);
        return quoted.filter_map(|piece| plain(piece)).collect();
    };
    let told =
        |command: &CommandLine| command.program.contains('/') || command.options().next().is_some();
    plain(whole).filter(told).into_iter().collect()
}

/// Reads a command that nothing announces.
fn plain(text: &str) -> Option<CommandLine> {
    let command = Some(text)
        .filter(|text| !NO_COMMAND.is_match(text))
        .and_then(read)?;
    let name = command.name();
    let lower = name.starts_with(|c: char| c.is_ascii_lowercase());
    let fed = command.options().next().is_some() || command.files().next().is_some();
    (fed && (lower || command.program.contains('/'))).then_some(command)
}

/// Reads the first program of a shell line that does not only prepare a run.
fn read(text: &str) -> Option<CommandLine> {
    let words = shlex::split(text.trim())?;
    let mut piped = None;
    for part in words.split(|word| ["|", "||", "&&", ";"].contains(&word.as_str())) {
        let mut command = simple(part)?;
        let name = format!(" {} ", command.name());
        if name == " cat " {
            piped = command.arguments.pop();
        } else if !PREPARING.contains(&name) {
            command.input = command.input.or(piped);
            let mut pieces = command.arguments.iter().chain(&command.input);
            let stands =
                text.contains(&command.program) && pieces.all(|piece| text.contains(piece));
            return (stands && PROGRAM.is_match(&command.program)).then_some(command);
        }
    }
    None
}

/// Reads the words between two operators of the shell.
fn simple(words: &[String]) -> Option<CommandLine> {
    let mut command = CommandLine::default();
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        // `<file>` stands for some file.
        let is_known = !(word.starts_with('<') && word.ends_with('>'));
        if let Some(file) = word.strip_prefix('<').filter(|_| is_known) {
            command.input = Some(file.to_owned()).filter(|file| !file.is_empty());
            command.input = command.input.or_else(|| words.next().cloned());
        } else if let Some((_, target)) = word.split_once('>').filter(|_| is_known) {
            if target.is_empty() {
                words.next();
            }
        } else if word != "&" {
            kept.push(word.clone());
        }
    }
    let is_variable = |word: &String| {
        let name = word.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| PROGRAM.is_match(name))
    };
    let mut rest = kept.as_slice();
    while let Some((first, others)) = rest.split_first() {
        if WRAPPERS.contains(&format!(" {first} ")) {
            let marked = others
                .iter()
                .position(|word| word == "--args" || word == "--");
            let own = |word: &&String| {
                word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit())
            };
            let skipped = marked.map_or_else(|| others.iter().take_while(own).count(), |at| at + 1);
            rest = others.get(skipped..)?;
        } else if is_variable(first) {
            rest = others;
        } else {
            command.program.clone_from(first);
            command.arguments = others.to_vec();
            break;
        }
    }
    (!command.program.is_empty()).then_some(command)
}

impl CommandLine {
    /// Returns the name of the program without its folder.
    pub fn name(&self) -> &str {
        self.program.rsplit('/').next().unwrap_or(&self.program)
    }

    /// Returns the names of the options, without their values.
    pub fn options(&self) -> impl Iterator<Item = &str> {
        let names = self.arguments.iter().filter(|word| {
            let mut letters = word.trim_start_matches('-').chars();
            word.starts_with('-') && letters.next().is_some_and(char::is_alphabetic)
        });
        names.map(|word| word.split('=').next().unwrap_or(word))
    }

    /// Returns the arguments that name files, and where standard input came from.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let named = |word: &&String| {
            FILE.is_match(word)
                && !word.starts_with('-')
                && !word.starts_with("/dev/")
                && !word.contains("://")
        };
        self.arguments
            .iter()
            .filter(named)
            .chain(&self.input)
            .map(String::as_str)
    }
}

/// The words, separated by spaces.
impl std::fmt::Display for CommandLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.program)?;
        self.arguments
            .iter()
            .try_for_each(|word| write!(f, " {word}"))?;
        self.input
            .iter()
            .try_for_each(|file| write!(f, " < {file}"))
    }
}

#[cfg(test)]
mod tests {
    use super::read_line;

    fn shown(line: &str, is_code: bool) -> Vec<String> {
        let commands = read_line(line, is_code);
        commands.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn commands_of_people_are_read() {
        for (line, is_code, expected) in [
            (
                "$ /home/u/build/recode --to jpc -O rate=10 --input poc_min",
                false,
                "/home/u/build/recode --to jpc -O rate=10 --input poc_min",
            ),
            (
                "root@box:/src# ./tap -x poc.bin 2>&1 | head",
                true,
                "./tap -x poc.bin",
            ),
            (
                "[u@box src]$ ASAN_OPTIONS=a=1:b=2 timeout 10s ./tap < poc",
                true,
                "./tap < poc",
            ),
            ("cat poc.txt | ./tap -", true, "./tap - < poc.txt"),
            ("gdb -ex run --args ./tap -v a.bin", true, "./tap -v a.bin"),
            ("Starting program: /src/tap a.bin", false, "/src/tap a.bin"),
            ("==12== Command: ./tap a.bin", false, "./tap a.bin"),
            ("# ./tap --conf tap.conf", true, "./tap --conf tap.conf"),
            (
                "run `tap -c <config> <file>` on it",
                false,
                "tap -c <config> <file>",
            ),
            ("- run `tap draw a.pdf` and wait", false, "tap draw a.pdf"),
            (
                "cd build && cmake .. && make && ./tap -q a",
                true,
                "./tap -q a",
            ),
            ("**Command:** `tap -i poc`", false, "tap -i poc"),
        ] {
            assert_eq!(shown(line, is_code), [expected], "{line}");
        }
    }

    #[test]
    fn other_lines_are_no_commands() {
        for (line, is_code) in [
            ("the program reads a.pdf and dies", false),
            ("processing a.pdf", true),
            ("x = read(a.b);", true),
            ("if (len - pos > 3) {", true),
            ("$ git clone https://example.org/tap.git", true),
            ("it's `NULL` here", false),
            ("tap: error: no file a.pdf", true),
        ] {
            assert_eq!(shown(line, is_code), [""; 0], "{line}");
        }
    }

    #[test]
    fn options_and_files_are_told() {
        let command =
            read_line("$ tap --to=x -O rate=1 -1 in/a.bin -o /dev/null < b", false).remove(0);
        assert_eq!(command.options().collect::<Vec<_>>(), ["--to", "-O", "-o"]);
        assert_eq!(command.files().collect::<Vec<_>>(), ["in/a.bin", "b"]);
    }
}
