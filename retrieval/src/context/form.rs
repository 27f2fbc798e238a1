//! The three forms of a definition's card: compact (what it is, how it is
//! declared, the first line of its documentation), standard (with what it lies
//! in and its members), full (its code). Which definitions get a card, and how
//! much room one has, is decided elsewhere.

use super::crash::identifiers_at;
use super::render::card_section;
use super::{COMMENT, Card, Form, tokens_of};
use crate::engine::Engine;
use crate::error::Result;
use crate::snippet::{line, place, with_comment};
use crate::symbol::{Symbol, SymbolKind};
use patchwright_source::Text;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A definition of at most this many lines is shown whole.
const WHOLE: u32 = 14;
/// Tokens of a card in standard form.
const STANDARD: usize = 60;
/// Characters of a declaration and of a line of documentation.
const WIDTH: usize = 100;
/// Lines that a declaration may go on.
const DECLARED: u32 = 8;
/// Lines of a definition that are looked through for those that matter.
const LOOKED_AT: u32 = 2_000;
/// A line of documentation has at least so many words.
const WORDS: usize = 2;

/// Returns what a card takes of the budget, in tokens.
pub(super) fn size_of(card: &Card) -> usize {
    tokens_of(&card_section(card))
}

/// The fullest form of a definition, of those up to one, that fits the room.
/// The shorter of two forms that say the same is taken.
pub(super) fn fitting(
    engine: &Engine,
    symbol: &Symbol,
    mentioned: &BTreeSet<&str>,
    (fullest, room): (Form, usize),
) -> Result<Option<Card>> {
    let Ok(text) = engine.text(&symbol.path) else {
        return Ok(None);
    };
    for form in [Form::Full, Form::Standard, Form::Compact] {
        let shown = match form {
            form if form > fullest => None,
            Form::Full => full(&text, symbol),
            Form::Standard => standard(engine, &text, symbol, mentioned)?,
            Form::Compact => Some(compact(&text, symbol)),
        };
        let card = shown.map(|text| Card {
            form,
            kind: symbol.kind.to_string(),
            name: symbol.qualified(),
            place: place(&symbol.path, symbol.start_line, symbol.end_line),
            text,
        });
        if let Some(card) = card.filter(|card| size_of(card) <= room) {
            return Ok(Some(card));
        }
    }
    Ok(None)
}

/// The code, where it is short.
fn full(text: &Text, symbol: &Symbol) -> Option<String> {
    let code = || {
        (symbol.start_line..=symbol.end_line)
            .map(|number| line(text, number))
            .filter(|code| !code.trim().is_empty())
            .fold(String::new(), |all, code| all + &code + "\n")
    };
    (symbol.end_line - symbol.start_line < WHOLE).then(code)
}

/// Returns how it is declared, and what its documentation begins with.
fn compact(text: &Text, symbol: &Symbol) -> String {
    let mut shown = signature(text, symbol) + "\n";
    if let Some(said) = documentation(text, symbol) {
        let _ = writeln!(shown, "  doc: {said}");
    }
    shown
}

/// The compact form with what it lies in and its members; `None` where there is
/// neither.
fn standard(
    engine: &Engine,
    text: &Text,
    symbol: &Symbol,
    mentioned: &BTreeSet<&str>,
) -> Result<Option<String>> {
    let mut shown = compact(text, symbol);
    let before = shown.len();
    let parent = engine.parent_of(symbol)?;
    if let Some(parent) = parent.filter(|parent| parent.kind.is_type()) {
        let _ = writeln!(shown, "  in: {}", signature(text, &parent));
    }
    let parts = if symbol.kind.is_type() {
        members(engine, text, symbol, mentioned)?
    } else if symbol.kind.is_callable() {
        Vec::new()
    } else {
        lines_that_matter(text, symbol, mentioned)
    };
    let count = parts.len();
    for (number, part) in parts.into_iter().enumerate() {
        if tokens_of(&shown) + tokens_of(&part) > STANDARD {
            let _ = writeln!(shown, "  ... {} more", count - number);
            break;
        }
        let _ = writeln!(shown, "  {part}");
    }
    Ok((shown.len() > before).then_some(shown))
}

/// The declarations of a type's members, those first that the code names.
fn members(
    engine: &Engine,
    text: &Text,
    symbol: &Symbol,
    mentioned: &BTreeSet<&str>,
) -> Result<Vec<String>> {
    let is_named = |member: &Symbol| mentioned.contains(member.name.as_str());
    let mut all = engine.index.members(symbol)?;
    all.sort_by_key(|member| (!is_named(member), member.name_line));
    all.dedup_by_key(|member| member.name_line);
    let declared = all.iter().map(|member| signature(text, member));
    Ok(declared.filter(|declared| !declared.is_empty()).collect())
}

/// The lines of a long macro or variable that name what the code names.
fn lines_that_matter(text: &Text, symbol: &Symbol, mentioned: &BTreeSet<&str>) -> Vec<String> {
    let last = symbol.end_line.min(symbol.start_line + LOOKED_AT);
    (symbol.name_line + 1..=last)
        .filter(|number| {
            let names = identifiers_at(text, &[*number]);
            let mut names = names.iter().filter(|name| **name != symbol.name);
            names.any(|name| mentioned.contains(name.as_str()))
        })
        .map(|number| line(text, number).trim().to_owned())
        .collect()
}

/// A definition's head on one line, without its body.
fn signature(text: &Text, symbol: &Symbol) -> String {
    let words = head(text, symbol).join(" ");
    let words: Vec<&str> = words.split_whitespace().collect();
    let head = words.join(" ").replace("( ", "(").replace(", )", ")");
    let head = head.trim_end_matches([';', ',']);
    if head.chars().count() <= WIDTH {
        return head.to_owned();
    }
    head.chars().take(WIDTH).collect::<String>() + "..."
}

/// The lines of a head up to its body, as far as a declaration shows of them.
fn head(text: &Text, symbol: &Symbol) -> Vec<String> {
    let last = symbol
        .body_line
        .unwrap_or(symbol.end_line)
        .min(symbol.name_line + DECLARED)
        .max(symbol.name_line);
    let mut parts: Vec<String> = Vec::new();
    let mut open = 0_i32;
    for number in symbol.start_line..=last.min(symbol.end_line) {
        let code = line(text, number);
        let code = code.trim().trim_end_matches('\\').trim_end();
        let is_note = code.starts_with('@') && number < symbol.name_line;
        if is_note || code.is_empty() {
            continue;
        }
        let (part, has_body) = up_to_body(code, &mut open);
        parts.push(part.to_owned());
        if has_body && number < symbol.name_line {
            // `typedef struct { ... } name;`
            let named = line(text, symbol.name_line);
            let named = named.trim().trim_start_matches('}');
            parts.push(format!("{{...}} {named}"));
            break;
        }
        let is_over = symbol.kind == SymbolKind::Macro || code.ends_with([':', ';', ',']);
        let is_named = open <= 0 && number >= symbol.name_line;
        let long = parts.iter().map(String::len).sum::<usize>() > 4 * WIDTH;
        if is_named && (has_body || is_over) || long {
            break;
        }
    }
    parts
}

/// Returns what stands before the body on a line, and whether that begins there.
/// Counts the parentheses that stay open.
fn up_to_body<'c>(code: &'c str, open: &mut i32) -> (&'c str, bool) {
    for (at, c) in code.char_indices() {
        match c {
            '(' => *open += 1,
            ')' => *open -= 1,
            '{' if *open <= 0 => return (code.get(..at).unwrap_or(code).trim_end(), true),
            _ => {}
        }
    }
    (code, false)
}

/// The first line that says something in the comment above a definition, or in
/// the string that its body begins with.
fn documentation(text: &Text, symbol: &Symbol) -> Option<String> {
    let first = with_comment(text, symbol.start_line);
    let above = first..symbol.start_line;
    let is_whole = symbol.start_line - first < COMMENT;
    let said = above.filter(|_| is_whole).find_map(|number| {
        let code = line(text, number);
        says_something(code.trim().trim_start_matches(['/', '*', '!', ' ']))
    });
    said.or_else(|| {
        let body = symbol.body_line?;
        let mut inside = body.max(symbol.name_line)..=(body + 1).min(symbol.end_line);
        inside.find_map(|number| {
            let code = line(text, number);
            let code = code.trim().trim_start_matches(['r', 'u']);
            let string = code.strip_prefix("\"\"\"").or(code.strip_prefix("'''"))?;
            says_something(string.trim_end_matches(['"', '\'']))
        })
    })
}

/// A line of prose, cut; no tags, rulers and single words.
fn says_something(raw: &str) -> Option<String> {
    let said = raw.trim_end_matches("*/").trim();
    let said = said.strip_prefix("@brief").unwrap_or(said).trim();
    let words = said.split_whitespace();
    let words = words.filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() > 1);
    let is_prose = !said.starts_with(['@', '\\', '#']) && words.count() >= WORDS;
    is_prose.then(|| said.chars().take(WIDTH).collect())
}
