//! Commands that may feed a PoV to a program of the build.

use patchwright_crash::{CommandLine, read_words};
use std::collections::BTreeSet;
use std::path::Path;

/// Options whose value is a file that is written.
const OUTPUTS: [&str; 4] = ["-o", "--out", "--output", "--outfile"];
/// Options that make no program read a file.
const USELESS: [&str; 5] = ["h", "help", "version", "o", "output"];
/// Ways to feed a PoV to a program; some want a name for their output.
pub(super) const FEEDS: [&str; 3] = [" \"$POV\"", " <\"$POV\"", " \"$POV\" /dev/null"];

/// Returns the commands of a report that run a program of the build, with the PoV in place of
/// the file that they read last; others are named where they lie in the task's folder.
pub(super) fn reported(programs: &[String], log: Option<&str>, folder: &Path) -> Vec<String> {
    let words = log.and_then(read_words).unwrap_or_default();
    let built = |name: &str| {
        let mut programs = programs.iter();
        programs
            .find(|program| program.trim_end_matches('"').rsplit(['/', '"']).next() == Some(name))
    };
    let commands = words.commands.iter();
    let commands = commands.filter_map(|command| with_pov(built(command.name())?, command, folder));
    commands.collect()
}

/// The folder within the task's that holds what came with an issue.
const OF_ISSUE: &str = "issue";

/// Returns the word for a file of the task's folder that a report names, if it has one.
fn in_folder(word: &str, folder: &Path) -> Option<String> {
    let name = Path::new(word).file_name()?;
    let places = ["", OF_ISSUE].map(|place| Path::new(place).join(name));
    let place = places.iter().find(|place| folder.join(place).is_file())?;
    let place = shlex::try_quote(place.to_str()?);
    Some(format!("\"$TASK\"/{}", place.ok()?))
}

/// Writes a command of a report for a program.
fn with_pov(program: &str, command: &CommandLine, folder: &Path) -> Option<String> {
    let arguments = &command.arguments;
    let is_read = |at: &usize| {
        let before = at.checked_sub(1).and_then(|before| arguments.get(before));
        let written = before.is_some_and(|word| OUTPUTS.contains(&word.as_str()));
        let word = arguments.get(*at).map(String::as_str);
        !written && command.files().any(|file| Some(file) == word)
    };
    let file = (0..arguments.len()).rev().find(is_read);
    let file = file.filter(|_| command.input.is_none());
    let mut line = program.to_owned();
    for (at, word) in arguments.iter().enumerate() {
        line.push(' ');
        if Some(at) == file {
            line.push_str("\"$POV\"");
        } else if let Some(beside) = in_folder(word, folder) {
            line.push_str(&beside);
        } else {
            line.push_str(&shlex::try_quote(word).ok()?);
        }
    }
    if file.is_none() {
        let [named, piped, _] = FEEDS;
        let is_piped = command.input.is_some();
        line.push_str(if is_piped { piped } else { named });
    }
    Some(line)
}

/// Returns the options that a usage text names, in its order.
pub(super) fn options(usage: &str) -> Vec<&str> {
    let in_option = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let mut found: Vec<&str> = Vec::new();
    for word in usage.split(|c: char| !in_option(c)) {
        let name = word.trim_start_matches('-');
        let dashes = word.len() - name.len();
        let number = name.len() > 1 && name.chars().all(|c| c.is_ascii_digit());
        let is_option = (1..=2).contains(&dashes) && !name.is_empty() && !number;
        if is_option && !USELESS.contains(&name) && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// Folders of what a build system tries compilers with.
const OF_BUILD_SYSTEMS: [&str; 2] = ["/CMakeFiles/", "/meson-private/"];

/// Orders programs: those whose frames the log shows, those that it names, harnesses, and then by the
/// length of their path; and apart from these the tests that it does not name.
pub(super) fn likely<'a>(
    programs: &'a [String],
    log: Option<&str>,
) -> (Vec<&'a str>, Vec<&'a str>) {
    let log = log.unwrap_or_default();
    let in_name = |c: char| c.is_alphanumeric() || "_-.+".contains(c);
    let words: BTreeSet<&str> = log.split(|c| !in_name(c)).collect();
    let rank = |program: &&str| {
        let name = program.rsplit('/').next().unwrap_or(program);
        let named = words.contains(name) || words.contains(format!("{name}.c").as_str());
        let harness = is_harness(name);
        let shown = log.contains(&format!("/{name}+0x"));
        let named = named && name.len() >= NAME;
        (!shown, !named, !harness, is_test(program), program.len())
    };
    let mut ordered: Vec<&str> = programs.iter().map(String::as_str).collect();
    ordered.retain(|program| !OF_BUILD_SYSTEMS.iter().any(|part| program.contains(part)));
    ordered.sort_by_key(rank);
    let is_last = |program: &&str| matches!(rank(program), (true, true, _, true, _));
    ordered.into_iter().partition(|program| !is_last(program))
}

fn is_harness(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    ["fuzz", "harness"].iter().any(|word| name.contains(word))
}

/// Tells whether a program is named as tests and measurements are: most of these take long and read
/// no input.
fn is_test(program: &str) -> bool {
    let below = program.split_once('/').map_or(program, |(_, below)| below);
    let says = |part: &str| {
        let begins = ["bench", "perf", "speed", "test"].iter();
        { begins }.any(|word| part.starts_with(word)) || part.ends_with("test")
    };
    !is_harness(program) && below.split(['/', '_', '-']).any(says)
}

/// Shorter names of programs are words of any text.
const NAME: usize = 4;

#[cfg(test)]
mod tests {
    use super::{is_test, likely, options, reported};

    #[test]
    fn commands_of_the_report_are_tried_with_the_pov() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("issue")).unwrap();
        std::fs::write(folder.path().join("issue/prog.awk"), "{ print }").unwrap();
        let programs = ["\"$TREE\"/recode".to_owned(), "\"$OUT\"/tool".to_owned()];
        for (log, expected) in [
            (
                "$ /home/u/build/recode --to jpc -O rate=10 --input poc_min -o a.jpc",
                "\"$TREE\"/recode --to jpc -O 'rate=10' --input \"$POV\" -o a.jpc",
            ),
            (
                "$ ./tool -f ~/Downloads/prog.awk in.txt",
                "\"$OUT\"/tool -f \"$TASK\"/issue/prog.awk \"$POV\"",
            ),
            ("$ ./tool -q < poc", "\"$OUT\"/tool -q <\"$POV\""),
            ("$ ./tool -f 'a b;c'", "\"$OUT\"/tool -f 'a b;c' \"$POV\""),
        ] {
            assert_eq!(reported(&programs, Some(log), folder.path()), [expected]);
        }
        assert!(reported(&programs, Some("$ ./other poc"), folder.path()).is_empty());
    }

    #[test]
    fn options_are_read_from_a_usage_text() {
        let usage = "usage: conv [-d|--decode] FILE\n  -e FILE  well-known\n  -o OUT, --help\n  -d\n --- 3-4 - -922";
        assert_eq!(options(usage), ["-d", "--decode", "-e"]);
    }

    #[test]
    fn programs_of_the_report_are_tried_first() {
        let programs = [
            "\"$OUT\"/a",
            "\"$OUT\"/test_a",
            "\"$OUT\"/tests/b",
            "\"$OUT\"/build/tools/gif2rgb",
            "\"$OUT\"/build/x_fuzzer",
            "\"$OUT\"/build/CMakeFiles/3.25/CompilerIdC/a.out",
        ]
        .map(str::to_owned);
        let log = "    #0 0x1 in f (/home/a/build/gif2rgb+0x11)";
        let (named, _) = likely(&programs, Some("found by x_fuzzer with a PoC"));
        assert_eq!(named.first(), Some(&"\"$OUT\"/build/x_fuzzer"));
        let (order, tests) = likely(&programs, Some(log));
        assert_eq!(
            order,
            [
                "\"$OUT\"/build/tools/gif2rgb",
                "\"$OUT\"/build/x_fuzzer",
                "\"$OUT\"/a",
            ]
        );
        assert_eq!(tests, ["\"$OUT\"/test_a", "\"$OUT\"/tests/b"]);
        let (named, _) = likely(&programs, Some("at f (/home/a/test_a+0x11)"));
        assert_eq!(named.first(), Some(&"\"$OUT\"/test_a"));
        assert!(is_test("\"$OUT\"/build/perf/speed_of_all"));
        assert!(!is_test("\"$OUT\"/tests/fuzz_all"));
    }
}
