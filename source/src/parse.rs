//! Syntax trees, and the errors in them.

use crate::Language;
use rustix::time::{ClockId, clock_gettime};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::Duration;
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Point, Tree};

/// Processor time that one file may take; pathological input is given up after
/// that. Not time by the clock: what is read must not depend on what else runs.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The parser asks whether to go on after every hundred steps, some 10 µs; to
/// look at the clock each time would take a tenth of the parsing.
const LOOK_EVERY: u32 = 64;

thread_local! {
    /// Parsers keep the memory of one file for the next.
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// A place where the parser did not understand the text. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line it starts on.
    pub line: usize,
    /// The unexpected or missing syntax.
    pub what: String,
}

/// Parses a file. `None` when the grammar cannot be loaded or time runs out.
pub fn parse(language: Language, bytes: &[u8]) -> Option<Tree> {
    PARSER.with_borrow_mut(|parser| parse_with(parser, language, bytes))
}

fn parse_with(parser: &mut Parser, language: Language, bytes: &[u8]) -> Option<Tree> {
    // What a file that was given up has left behind.
    parser.reset();
    parser.set_language(&language.grammar()).ok()?;
    let started = processor_time();
    let mut asked = 0_u32;
    let mut watch = |_: &ParseState| {
        asked = asked.wrapping_add(1);
        let look = asked.is_multiple_of(LOOK_EVERY);
        if look && processor_time().saturating_sub(started) > TIME_LIMIT {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        None,
        Some(ParseOptions::new().progress_callback(&mut watch)),
    )
}

/// Parses a part of a file that begins on a row, counted from 0. Offsets and rows
/// of the tree are those of the file.
pub fn parse_part(
    language: Language,
    bytes: &[u8],
    part: std::ops::Range<usize>,
    row: usize,
) -> Option<Tree> {
    let before = bytes.get(..part.start)?;
    let line = before.rsplit(|byte| *byte == b'\n').next()?;
    let range = tree_sitter::Range {
        start_byte: part.start,
        end_byte: part.end,
        start_point: Point::new(row, line.len()),
        end_point: Point::new(usize::MAX, usize::MAX),
    };
    PARSER.with_borrow_mut(|parser| {
        parser.set_included_ranges(&[range]).ok()?;
        let tree = parse_with(parser, language, bytes);
        let everything = parser.set_included_ranges(&[]);
        tree.filter(|_| everything.is_ok())
    })
}

/// Returns what this thread has used of a processor.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// The topmost errors of a syntax tree, in order, at most `limit` of them.
pub fn syntax_errors(tree: &Tree, bytes: &[u8], limit: usize) -> Vec<SyntaxError> {
    let mut found = Vec::new();
    let mut open = vec![tree.root_node()];
    while let Some(node) = open.pop() {
        if found.len() >= limit {
            break;
        }
        if node.is_error() || node.is_missing() {
            found.push(describe(node, bytes));
        } else if node.has_error() {
            let mut cursor = node.walk();
            let mut children: Vec<Node<'_>> = node.children(&mut cursor).collect();
            children.reverse();
            open.append(&mut children);
        }
    }
    found
}

fn describe(node: Node<'_>, bytes: &[u8]) -> SyntaxError {
    let line = node.start_position().row + 1;
    let what = if node.is_missing() {
        format!("missing {:?}", node.kind())
    } else {
        let text = String::from_utf8_lossy(bytes.get(node.byte_range()).unwrap_or_default());
        let first = text.lines().next().unwrap_or_default();
        let head: String = first.chars().take(60).collect();
        format!("unexpected {head:?}")
    };
    SyntaxError { line, what }
}

#[cfg(test)]
mod tests {
    use super::{parse, syntax_errors};
    use crate::Language;

    #[test]
    fn every_grammar_loads() {
        for language in Language::ALL {
            assert!(parse(language, b"").is_some(), "{language}");
        }
    }

    #[test]
    fn finds_the_broken_line() {
        let code = b"int f(void) {\n  return 1;\n}\nint g(void) {\n  return (2;\n}\n";
        let tree = parse(Language::C, code).unwrap();
        let errors = syntax_errors(&tree, code, 10);
        assert_eq!(
            errors.iter().map(|error| error.line).collect::<Vec<_>>(),
            [5]
        );
        let tree = parse(Language::Java, b"class A { int f() { return 1; } }").unwrap();
        assert!(syntax_errors(&tree, b"", 10).is_empty());
    }
}
