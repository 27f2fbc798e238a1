//! Rules against patches that keep a check and take its effect away, or that
//! make room around a defect instead of repairing it.

use super::{Case, Finding};
use crate::rung::reviewed::code::{bare, pattern};
use crate::rung::reviewed::diff::{Line, Sign};
use regex::Regex;
use std::sync::LazyLock;

/// Room that is added to a buffer from which on it is padding. Less is what an
/// end of a string, or one more element, takes.
const PADDING: u64 = 8;

/// A refusal that became a jump: what was an error is now the end of the work.
pub(super) fn no_longer_refused(case: &Case<'_>) -> Vec<Finding> {
    static REFUSAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(
            r"^(?:return\s+(?:-\d+|0|NULL|nullptr|false|FALSE|[A-Z][A-Z0-9_]*(?:ERR|FAIL|BAD|INVALID|CORRUPT)[A-Z0-9_]*)\s*;|throw\b.*;|goto\s+\w*(?:err|fail|bad|abort)\w*\s*;)$",
        )
    });
    let mut findings = Vec::new();
    for hunk in &case.file.hunks {
        let code = |sign: Sign| -> Vec<(&Line, String)> {
            let lines = hunk.iter().filter(|line| line.sign == sign);
            lines.map(|line| (line, bare(&line.text))).collect()
        };
        let (removed, added) = (code(Sign::Removed), code(Sign::Added));
        let refusal = |code: &str| REFUSAL.as_ref().is_some_and(|r| r.is_match(code));
        let leaves = |code: &str| {
            let words = ["return", "throw", "goto"];
            words.iter().any(|word| code.starts_with(word)) || code.contains("RETURN")
        };
        let was_refused = removed.iter().any(|(_, code)| refusal(code));
        let is_refused = added.iter().any(|(_, code)| leaves(code));
        let jump = added
            .iter()
            .find(|(_, code)| code == "break;" || code == "continue;");
        if let (true, false, Some((line, _))) = (was_refused, is_refused, jump) {
            let what = "what was refused with an error is now passed over";
            findings.push(Finding::new(case, Some(line), what));
        }
    }
    findings
}

/// A buffer that grew by a constant, in a patch that does nothing else.
pub(super) fn only_padding(case: &Case<'_>) -> Vec<Finding> {
    let code = |sign| -> Vec<(&Line, String)> {
        let lines = case.file.lines(sign).map(|line| (line, bare(&line.text)));
        lines.filter(|(_, code)| !code.is_empty()).collect()
    };
    let (removed, added) = (code(Sign::Removed), code(Sign::Added));
    if removed.is_empty() || removed.len() != added.len() {
        return Vec::new();
    }
    let padded = removed
        .iter()
        .zip(&added)
        .all(|((_, old), (_, new))| padding(old, new).is_some_and(|bytes| bytes >= PADDING));
    match added.first() {
        Some((line, _)) if padded => {
            let what = "it adds room to a buffer, and what writes past its end is as it was";
            vec![Finding::new(case, Some(line), what)]
        }
        _ => Vec::new(),
    }
}

/// The number that is added between two brackets, where nothing else differs.
fn padding(old: &str, new: &str) -> Option<u64> {
    static ADDED: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^\s*\+\s*(\d+)\s*$"));
    let head = old
        .bytes()
        .zip(new.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let tail = old.get(head..)?;
    let middle = new.get(head..)?.strip_suffix(tail)?;
    let closes = tail.starts_with([']', ')']);
    let opened = old.get(..head)?;
    let is_room = opened.contains('[') || opened.contains("alloc") || opened.contains("new ");
    let number = ADDED.as_ref()?.captures(middle)?.get(1)?;
    (closes && is_room).then(|| number.as_str().parse().ok())?
}
