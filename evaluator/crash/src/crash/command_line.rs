//! Command line: the program that was run, its options and its files.

use super::phrases;
use patchwright_source::{Pattern, regex};
use serde::Serialize;

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

static PROGRAM: Pattern = Pattern::new(r"^(?:[~.$\w{}+-]*/)*[\w.+-]*[A-Za-z][\w.+-]*$");
static FILE: Pattern = Pattern::new(
    r"/|\.[a-z]\w{0,9}$|\.[A-Z][A-Z\d]{0,4}$|^@@$|^\$\w|^<\w+>$|^[\[<{]?(?i:poc|crash|id:|input|seed|hang|test\w*[\d._-])",
);

/// Options whose value is a file that the program writes, or its own classes.
static UNREAD: Pattern =
    Pattern::new(r"^--?(?:o|out(?:put|file)?(?:[-_]\w+)?|log-?file|cp|class-?path)$");
/// Names of a file that is written, where another one is read.
static OUTPUT: Pattern = Pattern::new(r"(?i)(?:^|/)out(?:put)?(?:[-_]?file)?(?:\.\w+)?$");

/// Reads the first program of a shell line that does not only prepare a run.
pub(super) fn read(text: &str) -> Option<CommandLine> {
    let words = shlex::split(text.trim())?;
    let mut piped = None;
    let mut parts = words
        .split(|word| ["|", "||", "&&", ";"].contains(&word.as_str()))
        .peekable();
    while let Some(part) = parts.next() {
        let mut command = simple(part)?;
        let is_of = |table: &str| phrases::has(table, command.name());
        let written = is_of("programs that write") && parts.peek().is_some();
        let prepares = is_of("programs that prepare");
        if command.name() == "cat" {
            piped = command.arguments.pop();
        } else if !written && !prepares {
            command.input = command.input.or(piped);
            let mut pieces = command.arguments.iter().chain(&command.input);
            // A shell's escapes are no part of a name.
            let bare = text.replace('\\', "");
            let stands = |piece: &String| text.contains(piece) || bare.contains(piece);
            let stands = stands(&command.program) && pieces.all(stands);
            // A program with such an argument alone only tells of itself.
            let questions = ["--version", "-version", "-V", "-v", "--help", "-h"];
            let asks = matches!(&*command.arguments, [only] if questions.contains(&only.as_str()));
            return (stands && !asks && PROGRAM.is_match(&command.program)).then_some(command);
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
            // `<1>` in front of a line is the kernel's.
            if file.contains('>') {
                return None;
            }
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
        if phrases::has("programs that run others", first) {
            let marked = others
                .iter()
                .position(|word| word == "--args" || word == "--");
            // An option of a tracer for its own output has a value.
            let valued = |word: &String| first.ends_with("trace") && word == "-o";
            let own = |(at, word): &(usize, &String)| {
                word.starts_with('-')
                    || word.starts_with(|c: char| c.is_ascii_digit())
                    || others.get(at.wrapping_sub(1)).is_some_and(valued)
            };
            let options = others.iter().enumerate().take_while(own).count();
            let skipped = marked.map_or(options, |at| at + 1);
            rest = others.get(skipped..)?;
            // Behind the program a debugger takes its core, unless told otherwise.
            if marked.is_none() && ["gdb", "lldb"].contains(&first.as_str()) {
                rest = rest.get(..1)?;
            }
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
        let form = regex!(r"^-+\p{Alphabetic}[^=]*");
        let found = self.arguments.iter().filter_map(|word| form.find(word));
        found.map(|name| name.as_str())
    }

    /// Tells whether a file is the program, or one that it is given and does not read.
    pub(super) fn reads_not(&self, file: &str) -> bool {
        let given = self.arguments.iter().any(|word| word == file);
        self.program == file || given && !self.files().any(|read| read == file)
    }

    /// Returns the arguments that name files, and where standard input came from.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let no_file = regex!(r"^-|^/dev/|://|:=|^[./]+$");
        let named = |word: &&str| FILE.is_match(word) && !no_file.is_match(word);
        // Behind `-jar` stands the program, and behind an interpreter that is given a file besides.
        let jar = self.arguments.iter().position(|word| word == "-jar");
        let mut besides = self.arguments.iter().skip(1).map(String::as_str);
        let runs = phrases::has("interpreters", &self.program) && besides.any(|word| named(&word));
        let program = jar.map(|jar| jar + 1).or(runs.then_some(0));
        let others = self.arguments.iter().enumerate();
        let others = others.filter(move |(at, _)| Some(*at) != program);
        let others = others.filter(|(at, _)| {
            let before = at.checked_sub(1).and_then(|at| self.arguments.get(at));
            before.is_none_or(|before| !UNREAD.is_match(before))
        });
        // Where one stands for the input, the others are something else.
        let stands = self.arguments.iter().any(|word| word == "@@");
        // An option may name its file itself.
        let option = regex!("^--?(?:in|input|infile|input-file|file)=");
        let value = |word: &str| option.find(word).map_or(0, |mark| mark.end());
        let arguments = others.map(move |(_, word)| word.split_at(value(word)).1);
        let arguments = arguments.filter(named);
        let arguments = arguments.filter(move |word| !stands || *word == "@@");
        // In a debugger people name the program once more.
        let own = self.program.rsplit('/').next();
        let arguments = arguments.filter(move |word| word.rsplit('/').next() != own);
        let all = arguments.chain(self.input.as_deref());
        all.enumerate()
            .filter(|(at, word)| *at == 0 || !OUTPUT.is_match(word))
            .map(|(_, word)| word)
    }
}

/// The words, separated by spaces; one that a shell would take apart is quoted.
impl std::fmt::Display for CommandLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.program)?;
        for word in &self.arguments {
            let apart = word.contains([' ', ';', '|', '&']);
            let quoted = apart.then(|| shlex::try_quote(word).ok()).flatten();
            write!(f, " {}", quoted.as_deref().unwrap_or(word))?;
        }
        self.input
            .iter()
            .try_for_each(|file| write!(f, " < {file}"))
    }
}
