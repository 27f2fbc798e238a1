//! What a failed build says: every distinct error of the compilers, the
//! linkers and the build tools, in order, each with its lines and notes.

mod line;

use super::excerpt::{clean, cut, excerpt, steady};
use super::{LocationTranslator, bytes};
use line::{Class, classify, is_candidate, is_caret};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The most lines of one error: the text, the code, the carets, the notes.
const MAX_LINES: usize = 30;
/// The most errors that are gathered; a missing header makes thousands.
const MAX_ERRORS: usize = 200;
/// How many lines may stand between a context line and its error.
const MAX_CONTEXT: usize = 12;

/// One error of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its lines, the one that says what is wrong included.
    pub lines: Vec<String>,
    /// What makes it distinct.
    key: String,
    /// It only says that something else failed.
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
    /// What follows belongs to a warning.
    in_warning: bool,
    /// What follows belongs to a note that tells nothing about the tree.
    in_noise: bool,
}

impl Reader {
    fn take(&mut self, line: &str, next: Option<&str>) {
        let mut class = classify(line);
        // Compilers show the code as it is, and carets below.
        if class == Class::Other && next.is_some_and(|next| is_caret(next.trim())) {
            class = Class::Detail;
        }
        self.in_noise = match class {
            Class::Note => is_candidate(line),
            Class::Detail => self.in_noise,
            _ => false,
        };
        match class {
            _ if self.in_noise => {}
            Class::Error | Class::Follows => self.open(line, class == Class::Follows),
            Class::Warning => {
                self.close();
                self.context.clear();
                self.in_warning = true;
            }
            Class::Context => {
                self.close();
                self.in_warning = false;
                if self.context.len() < MAX_CONTEXT {
                    self.context.push(line.to_owned());
                }
            }
            Class::Note | Class::Detail => self.detail(line),
            Class::Other if line.trim().is_empty() => {
                // CMake and Gradle go on after an empty line, indented.
                self.detail(line);
            }
            Class::Other => {
                let what = self.current.as_ref().is_some_and(Diagnostic::is_headed);
                if what {
                    self.detail(line);
                } else {
                    self.close();
                    self.context.clear();
                    self.in_warning = false;
                }
            }
        }
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
        while current
            .lines
            .last()
            .is_some_and(|line| line.trim().is_empty())
        {
            current.lines.pop();
        }
        if current.key.contains("cannot find symbol") {
            // Only the details say which: one line may name several.
            let details = current.lines.iter().filter(|line| line.contains("symbol:"));
            let symbol = details.fold(String::new(), |text, line| text + &key(line));
            current.key.push_str(&symbol);
        }
        if self.seen.insert(current.key.clone()) {
            self.found.push(current);
        }
    }
}

impl Diagnostic {
    /// Gradle's text stands below its heading.
    fn is_headed(&self) -> bool {
        self.lines.len() == 1
            && self
                .lines
                .iter()
                .any(|line| line.starts_with("* What went"))
    }
}

/// The same error is printed twice by Maven, and once for each file that
/// includes a header.
fn key(line: &str) -> String {
    steady(line.trim_start_matches("[ERROR]").trim())
}

/// The errors of a failed build within a budget; the ends of the log where no
/// error is recognised.
pub fn build(log: &str, places: &LocationTranslator<'_>, tokens: usize) -> String {
    let found = diagnostics(log);
    let telling = found.iter().filter(|found| !found.follows).count();
    if telling == 0 {
        return excerpt(log, places, tokens);
    }
    let limit = bytes(tokens);
    let mut text = String::new();
    let mut left_out = 0;
    for diagnostic in found.iter().filter(|found| !found.follows) {
        let lines: Vec<String> = diagnostic
            .lines
            .iter()
            .map(|line| steady(&places.translate(line)))
            .collect();
        // One giant error must not hide the others.
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
