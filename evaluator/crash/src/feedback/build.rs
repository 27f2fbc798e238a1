//! Build feedback: the distinct errors of compilers, linkers and build tools, in order,
//! each with its lines and notes.

use super::excerpt::{clean, cut, excerpt, steady};
use super::{LocationTranslator, bytes};
use crate::crash::phrases;
use patchwright_source::{built_in_regex_set, regex, words};
use regex::RegexSet;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// The most lines of one error: the text, the code, the carets, the notes.
const MAX_LINES: usize = 30;
/// The most errors that are gathered; a missing header causes thousands.
const MAX_ERRORS: usize = 200;
/// The most lines between a context line and its error.
const MAX_CONTEXT: usize = 12;

/// One error of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its lines, the error message included.
    pub lines: Vec<String>,
    /// Equal for repetitions of the error.
    key: String,
    /// True where it only reports that something else failed.
    follows: bool,
}

/// Finds the distinct errors of a build log, in order.
pub fn diagnostics(log: &str) -> Vec<Diagnostic> {
    let lines: Vec<String> = log.lines().filter_map(clean).collect();
    let mut reader = Reader::default();
    for (index, line) in lines.iter().enumerate() {
        let next = lines.get(index + 1).map(String::as_str);
        reader.take(line, next);
        if reader.found.len() >= MAX_ERRORS {
            break;
        }
    }
    reader.close();
    reader.found
}

#[derive(Default)]
struct Reader {
    found: Vec<Diagnostic>,
    seen: BTreeSet<String>,
    context: Vec<String>,
    current: Option<Diagnostic>,
    /// True while lines belong to a warning.
    in_warning: bool,
    /// True while lines belong to a note about files outside the tree.
    in_noise: bool,
}

impl Reader {
    fn take(&mut self, line: &str, next: Option<&str>) {
        let mut class = classify(line);
        // Compilers print a line of code, and carets below it.
        if class == LineClass::Other && next.is_some_and(|next| is_caret(next.trim())) {
            class = LineClass::Detail;
        }
        self.in_noise = match class {
            LineClass::Note => is_candidate(line),
            LineClass::Detail => self.in_noise,
            _ => false,
        };
        match class {
            _ if self.in_noise => {}
            LineClass::Error | LineClass::Follows => self.open(line, class == LineClass::Follows),
            LineClass::Context => {
                self.close();
                self.in_warning = false;
                if self.context.len() < MAX_CONTEXT {
                    self.context.push(line.to_owned());
                }
            }
            LineClass::Note | LineClass::Detail => self.detail(line),
            // CMake and Gradle continue after an empty line, indented.
            LineClass::Other if line.trim().is_empty() || self.is_headed() => self.detail(line),
            LineClass::Warning | LineClass::Other => {
                self.close();
                self.context.clear();
                self.in_warning = class == LineClass::Warning;
            }
        }
    }

    /// Tells whether the error is so far a heading of Gradle, whose text follows below.
    fn is_headed(&self) -> bool {
        let lines = self
            .current
            .as_ref()
            .map(|current| current.lines.as_slice());
        matches!(lines, Some([line]) if line.starts_with("* What went"))
    }

    fn open(&mut self, line: &str, follows: bool) {
        self.close();
        self.in_warning = false;
        let mut lines = std::mem::take(&mut self.context);
        lines.push(line.to_owned());
        self.current = Some(Diagnostic {
            key: key(line),
            lines,
            follows,
        });
    }

    fn detail(&mut self, line: &str) {
        if let Some(current) = &mut self.current {
            if current.lines.len() < MAX_LINES {
                current.lines.push(line.to_owned());
            }
        } else if !self.context.is_empty() && !self.in_warning && self.context.len() < MAX_CONTEXT {
            self.context.push(line.to_owned());
        }
    }

    fn close(&mut self) {
        let Some(mut current) = self.current.take() else {
            return;
        };
        let last = current
            .lines
            .iter()
            .rposition(|line| !line.trim().is_empty());
        current.lines.truncate(last.map_or(0, |last| last + 1));
        if current.key.contains("cannot find symbol") {
            // Only the details name the symbol: one line may lack several.
            let details = current.lines.iter().filter(|line| line.contains("symbol:"));
            let symbol = details.fold(String::new(), |text, line| text + &key(line));
            current.key.push_str(&symbol);
        }
        if self.seen.insert(current.key.clone()) {
            self.found.push(current);
        }
    }
}

/// Returns the key of an error, which Maven prints twice, and compilers once for each
/// file that includes a header.
fn key(line: &str) -> String {
    steady(line.trim_start_matches("[ERROR]").trim())
}

/// Renders the errors of a failed build within a budget; where no error is recognised,
/// the beginning and the end of the log.
pub fn build(log: &str, places: &LocationTranslator<'_>, tokens: usize) -> String {
    let found = diagnostics(log);
    if found.iter().all(|found| found.follows) {
        return excerpt(log, places, tokens);
    }
    let limit = bytes(tokens);
    let mut text = String::new();
    let mut left_out = 0;
    for diagnostic in found.iter().filter(|found| !found.follows) {
        let lines = diagnostic.lines.iter();
        let lines = lines.map(|line| steady(&places.translate(line)));
        let lines: Vec<String> = lines.collect();
        // One large error must not hide the others.
        let block = cut(&lines, (limit / 2).max(400));
        if !text.is_empty() && text.len() + block.len() > limit {
            left_out += 1;
            continue;
        }
        text.push_str(&block);
        text.push('\n');
    }
    if left_out > 0 {
        let _ = writeln!(text, "({left_out} more errors left out)");
    }
    text
}

/// Returns the first line of a build log by which a compiler, a linker or a build tool tells an error
/// of its own, with the next one where it is only its head, as CMake writes them.
pub fn first_error(log: &str) -> Option<String> {
    let mut lines = log.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut error = lines
        .find(|line| classify(line) == LineClass::Error)?
        .to_owned();
    if let (true, Some(message)) = (error.ends_with(':'), lines.next()) {
        error = format!("{error} {message}");
    }
    Some(error)
}

/// The role of a line of a build log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineClass {
    /// The first line of an error.
    Error,
    /// A line of make or ninja that reports a failure above.
    Follows,
    /// `In function`, `In file included from`: belongs to the next error.
    Context,
    /// A warning, which is not shown.
    Warning,
    /// A note, which belongs to the error before it.
    Note,
    /// Code, carets, details: belongs to the lines before it.
    Detail,
    /// Anything else.
    Other,
}

words!(LineClass: Error "error", Follows "follows", Context "context", Warning "warning",
    Note "note", Detail "detail", Other "other");

/// Expressions for the lines of each class, in the order in which they are tried.
static CLASSES: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| phrases::rows("lines of builds").collect());
static EXPRESSIONS: LazyLock<RegexSet> =
    LazyLock::new(|| built_in_regex_set(CLASSES.iter().map(|(_, expression)| *expression)));

/// Classifies a line by itself, without the lines around it.
fn classify(line: &str) -> LineClass {
    let first = EXPRESSIONS.matches(line).iter().next();
    let class = first.and_then(|first| CLASSES.get(first));
    match class.and_then(|(class, _)| LineClass::read(class)) {
        Some(class) => class,
        None if is_caret(line.trim_start()) => LineClass::Detail,
        None => LineClass::Other,
    }
}

/// Recognises overloads of the standard library that do not fit: hundreds of lines.
fn is_candidate(text: &str) -> bool {
    let system = text.starts_with("/usr/") || text.contains("/c++/");
    let words = regex!("candidate|template argument deduction|is not derived from");
    system && words.is_match(text)
}

/// Recognises the carets below a line of code.
fn is_caret(text: &str) -> bool {
    regex!(r"^[\^~ |\t]*\^[\^~ |\t]*$").is_match(text)
}

#[cfg(test)]
mod tests {
    use super::{CLASSES, LineClass, first_error};

    #[test]
    fn the_first_error_is_none_of_the_lines_around_it() {
        for (log, error) in [
            (
                "cc a.c\na.c: In function 'f':\na.c:3:5: error: 'x' undeclared\nmake: *** [a.o] Error 1\n",
                "a.c:3:5: error: 'x' undeclared",
            ),
            (
                "a.c:12: undefined reference to `g'\ncollect2: error: ld returned 1 exit status\n",
                "a.c:12: undefined reference to `g'",
            ),
            (
                "[ERROR] A.java:[3,5] cannot find symbol\n",
                "[ERROR] A.java:[3,5] cannot find symbol",
            ),
            (
                "CMake Error at CMakeLists.txt:3 (message):\n  no zlib here\n\n-- Configuring incomplete\n",
                "CMake Error at CMakeLists.txt:3 (message): no zlib here",
            ),
            ("all done\n", ""),
        ] {
            assert_eq!(first_error(log).unwrap_or_default(), error, "{log}");
        }
    }

    #[test]
    fn every_expression_has_a_class() {
        for (class, expression) in &*CLASSES {
            assert!(LineClass::read(class).is_some(), "{class}: {expression}");
        }
    }
}
