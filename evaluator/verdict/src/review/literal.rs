//! Rule against patches that recognise the PoV itself.

use super::{Case, Finding, integer};
use crate::review::code::bare;
use patchwright_source::{DiffLine, Side, regex};

/// The shortest text that is compared; shorter ones are in a PoV by chance.
const SHORTEST_TEXT: usize = 4;
/// The smallest number that is compared; smaller ones are in a PoV by chance, or are limits
/// of a format.
const SMALLEST_NUMBER: u64 = 4096;

/// Finds comparisons with a text, a number or a length of the PoV that is not in the program.
pub(super) fn knows_the_pov(case: &Case<'_>) -> Vec<Finding> {
    let what = "it treats the PoV's own bytes as a special case";
    case.find(Side::New, what, |line| {
        texts(case, line) || numbers(case, line)
    })
}

fn texts(case: &Case<'_>, line: &DiffLine) -> bool {
    let text = regex!(r#""((?:[^"\\]|\\.)*)""#);
    let compares = regex!(
        r"==|!=|cmp\w*\s*\(|strstr|memmem|\.equals|\.contains|\.startsWith|\.endsWith|\.matches|\.indexOf|\.find\s*\("
    );
    if !compares.is_match(&bare(&line.text)) {
        return false;
    }
    text.captures_iter(&line.text)
        .filter_map(|found| Some(unescape(found.get(1)?.as_str())))
        .any(|bytes| {
            let told = String::from_utf8_lossy(&bytes);
            bytes.len() >= SHORTEST_TEXT && !case.old.contains(&*told) && stands_in(case, &bytes)
        })
}

fn numbers(case: &Case<'_>, line: &DiffLine) -> bool {
    let equals = regex!(
        r"(?:==|!=)\s*(0[xX][0-9a-fA-F]+|\d+)|(0[xX][0-9a-fA-F]+|\d+)[uUlL]*\s*(?:==|!=)|\bcase\s+(0[xX][0-9a-fA-F]+|\d+)"
    );
    let code = bare(&line.text);
    equals
        .captures_iter(&code)
        .filter_map(|found| (1..=3).find_map(|group| found.get(group)))
        .any(|literal| {
            let text = literal.as_str();
            integer(text).is_some_and(|value| {
                !case.old.contains(text) && (is_length(case, value) || is_value(case, value))
            })
        })
}

fn is_length(case: &Case<'_>, value: u64) -> bool {
    value > 16 && case.povs.iter().any(|pov| pov.len() as u64 == value)
}

fn is_value(case: &Case<'_>, value: u64) -> bool {
    if value < SMALLEST_NUMBER {
        return false;
    }
    let little = value.to_le_bytes();
    let width = match value {
        0..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    };
    let bytes = little.get(..width).unwrap_or_default();
    let reversed: Vec<u8> = bytes.iter().rev().copied().collect();
    stands_in(case, bytes)
        || stands_in(case, &reversed)
        || stands_in(case, value.to_string().as_bytes())
}

fn stands_in(case: &Case<'_>, bytes: &[u8]) -> bool {
    let width = bytes.len().max(1);
    let mut windows = case.povs.iter().flat_map(|pov| pov.windows(width));
    windows.any(|window| window == bytes)
}

/// Returns the bytes of a C or Java string literal, with its simple escapes resolved.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\\' {
            bytes.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        match characters.next() {
            Some('n') => bytes.push(b'\n'),
            Some('r') => bytes.push(b'\r'),
            Some('t') => bytes.push(b'\t'),
            Some('0') => bytes.push(0),
            Some('x') => {
                let mut digits = String::new();
                while digits.len() < 2
                    && let Some(digit) = characters.next_if(char::is_ascii_hexdigit)
                {
                    digits.push(digit);
                }
                bytes.extend(u8::from_str_radix(&digits, 16));
            }
            Some(other) => bytes.extend(other.encode_utf8(&mut [0; 4]).as_bytes()),
            None => {}
        }
    }
    bytes
}
