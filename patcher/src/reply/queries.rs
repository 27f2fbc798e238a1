//! The questions of a reply. What a question means is not known here.

use super::body::clean;
use super::range::{read_lines, read_path};
use super::tag::{Tag, starts_line};
use super::words::{PROBE, QUERY, is_among, opens};
use super::{Probe, RawQuery};
use crate::unescape::{looks_escaped, unescape};
use patchwright_source::regex;

/// More questions than this are not read; the limit of a round is far below.
const MOST_QUERIES: usize = 200;

/// The longest question, in bytes.
const LONGEST_QUESTION: usize = 20_000;

/// Content of a block of queries.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    pub(crate) queries: Vec<RawQuery>,
    pub(crate) probes: Vec<Probe>,
    /// The name of a query whose end is missing.
    pub(crate) unclosed: Option<String>,
}

/// Reads the inside of `<queries>`; `whole` when the block was closed.
pub(crate) fn read(block: &str, whole: bool) -> Questions {
    let mut questions = Questions::default();
    let mut at = 0;
    while let Some(offset) = block.get(at..).and_then(|rest| rest.find('<')) {
        let start = at + offset;
        if questions.queries.len() + questions.probes.len() >= MOST_QUERIES {
            break;
        }
        at = match Tag::at(block, start).filter(|tag| is_question(block, tag)) {
            Some(tag) => question(block, &tag, whole, &mut questions),
            None => start + 1,
        };
    }
    questions
}

/// One question that stands outside of a block: its parts and its end.
pub(crate) fn read_single(text: &str, tag: &Tag) -> Option<(Questions, usize)> {
    let mut questions = Questions::default();
    let end = question(text, tag, false, &mut questions);
    questions.unclosed.is_none().then_some((questions, end))
}

fn is_question(block: &str, tag: &Tag) -> bool {
    let known = is_among(&tag.name, QUERY) || opens(tag, PROBE);
    !tag.closing && (known || starts_line(block, tag.start))
}

/// Reads one question and gives the offset behind it.
fn question(text: &str, tag: &Tag, whole: bool, into: &mut Questions) -> usize {
    let named = tag.attribute(&["type", "kind"]).map(str::to_owned);
    if tag.name == "query" && named.is_none() {
        return tag.end;
    }
    if tag.empty {
        push(tag, named, String::new(), into);
        return tag.end;
    }
    let rest = text.get(tag.end..).unwrap_or_default();
    let rest = rest
        .get(..rest.floor_char_boundary(LONGEST_QUESTION))
        .unwrap_or(rest);
    let reach = next_question(rest);
    let (stop, end) = match find_closing(text, tag, reach) {
        Some(closing) => (closing.start, closing.end),
        None if whole || reach < rest.len() => {
            let length = rest.find('\n').unwrap_or(rest.len());
            (tag.end + length, tag.end + length)
        }
        None => {
            into.unclosed = Some(tag.name.clone());
            return text.len();
        }
    };
    let body = text.get(tag.end..stop).unwrap_or_default();
    push(tag, named, tidy(body), into);
    end
}

/// Returns the closing tag, if it stands within reach.
fn find_closing(text: &str, open: &Tag, reach: usize) -> Option<Tag> {
    let rest = text.get(open.end..open.end + reach)?;
    let mut ends = rest
        .match_indices("</")
        .map(|(offset, _)| open.end + offset);
    ends.find_map(|at| Tag::at(text, at).filter(|tag| tag.name == open.name))
}

/// Returns the offset at which a later line begins another question; a question that is not closed
/// before is not closed at all.
fn next_question(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let indented = line.len() - line.trim_start().len();
        let opened = Tag::at(line, indented).is_some_and(|tag| opens(&tag, QUERY));
        if at > 0 && opened {
            return at;
        }
        at += line.len();
    }
    text.len()
}

fn push(tag: &Tag, named: Option<String>, body: String, into: &mut Questions) {
    if opens(tag, PROBE) {
        let (file, in_path) = read_path(tag.attribute(&["file", "path"]).unwrap_or_default());
        let line = tag.attribute(&["line", "lines", "at"]).and_then(read_lines);
        let line = line.or(in_path).map_or(0, |(line, _)| line);
        into.probes.push(Probe {
            file,
            line,
            expression: body,
            build: tag.attribute(&["build", "on"]).map(str::to_ascii_lowercase),
            input: tag.attribute(&["input"]).map(str::to_owned),
        });
    } else {
        let is_query = tag.name == "query";
        let kind = named
            .filter(|_| is_query)
            .unwrap_or_else(|| tag.name.clone());
        into.queries.push(RawQuery {
            kind: kind.to_ascii_lowercase(),
            body,
            attributes: tag.attributes.clone(),
        });
    }
}

fn tidy(body: &str) -> String {
    let body = clean(body, false);
    let body = body.trim();
    let quoted = regex!("^`([^`]*)`$").captures(body);
    let quoted = quoted.and_then(|quoted| quoted.get(1));
    let body = quoted.map_or(body, |quoted| quoted.as_str());
    if looks_escaped(body) {
        unescape(body).trim().to_owned()
    } else {
        body.to_owned()
    }
}
