//! Rules against patches that remove functionality.

use super::{Case, Finding, Weight, code, patched};
use crate::review::code::{bare, branches, calls, is_definition, names};
use patchwright_source::{Side, regex};
use std::collections::BTreeSet;

/// Finds code that is kept and never runs.
pub(super) fn switched_off(case: &Case<'_>) -> Vec<Finding> {
    let off = regex!(
        r"^#\s*if\s+0\b|\b(?:if|while)\s*\(\s*(?:0|false|FALSE)\s*(?:\)|&&)|&&\s*(?:0|false|FALSE)\s*\)|\bif\s*\(\s*(?:1|true|TRUE)\s*(?:\)|\|\|)|\|\|\s*(?:1|true|TRUE)\s*\)"
    );
    let old = case.file.lines(Side::Old).map(|line| line.text.trim());
    let removed: BTreeSet<&str> = old.filter(|text| text.len() >= 8).collect();
    let mut findings = Vec::new();
    for line in case.file.lines(Side::New) {
        let code = bare(&line.text);
        if off.is_match(&code) {
            findings.push(Finding::new(case, Some(line), "it switches code off"));
            continue;
        }
        let comment = line.text.trim().trim_start_matches(['/', '*', ' ']);
        let comment = comment.trim_end_matches(['/', '*', ' ']);
        if code.is_empty() && removed.contains(comment) {
            findings.push(Finding::new(case, Some(line), "it comments code out"));
        }
    }
    findings
}

/// Finds an added `return` before other statements of its block.
pub(super) fn unreachable_rest(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for hunk in &case.file.hunks {
        for window in patched(&hunk.lines).windows(3) {
            let [(_, before), (line, this), (_, after)] = window else {
                continue;
            };
            if line.side == Side::New && leaves(this) && always_reached(before) && goes_on(after) {
                let what = "what follows can no longer be reached";
                findings.push(Finding::new(case, Some(line), what));
            }
        }
    }
    findings
}

fn leaves(code: &str) -> bool {
    (code.starts_with("return ") || code == "return;" || code.starts_with("return("))
        && code.ends_with(';')
}

/// Tells whether the line after this one runs unconditionally.
fn always_reached(code: &str) -> bool {
    let plain_end = code.ends_with(';') || code == "{" || code.ends_with(") {");
    let conditional = branches(code) || code.starts_with("try") || code.starts_with('#');
    // The condition of an `if` may span lines, of which the last ends with `) {`.
    let balanced = code.matches('(').count() == code.matches(')').count();
    plain_end && !conditional && balanced && code != "{"
}

fn goes_on(code: &str) -> bool {
    let begins = ["}", "#", "case ", "default"];
    !code.ends_with(':') && !begins.iter().any(|begin| code.starts_with(begin))
}

/// Parts of names of functions that release something; removing a wrong release is right.
const RELEASING: &[&str] = &[
    "free", "delete", "close", "release", "destroy", "unref", "dispose", "drop",
];

/// Finds removed calls in a patch that adds little in their place.
pub(super) fn lost_calls(case: &Case<'_>) -> Vec<Finding> {
    let [removed, added] = [Side::Old, Side::New].map(|side| {
        let mut of_side = code(case.file.lines(side));
        of_side.retain(|(_, code)| code.chars().any(char::is_alphanumeric));
        of_side
    });
    let kept: BTreeSet<String> = added.iter().flat_map(|(_, code)| names(code)).collect();
    let new_calls: BTreeSet<String> = added.iter().flat_map(|(_, code)| calls(code)).collect();
    let lifetime = ["free", "use-after", "leak", "scope", "return"];
    let is_of_lifetime = lifetime.iter().any(|word| case.kind.contains(word));
    let is_lost = |code: &str, name: &String| {
        let lower = name.to_lowercase();
        let releases = RELEASING.iter().any(|word| lower.contains(word));
        let mut new_calls = new_calls.iter();
        !(kept.contains(name)
            || releases && is_of_lifetime
            || is_definition(code, name)
            || new_calls.any(|new| makes_the_call(case.old, new, name)))
    };
    let lost = |code: &str| calls(code).iter().any(|name| is_lost(code, name));
    let Some((line, _)) = removed.iter().find(|(_, code)| lost(code)) else {
        return Vec::new();
    };
    let mut codes = added.iter().map(|(_, code)| code);
    let what = if codes.all(|code| leaves(code) || code == "break;" || code == "continue;") {
        "it removes a call and puts nothing in its place"
    } else if removed.len() >= 10 && added.len() * 4 < removed.len() {
        "it removes much more than it adds, this call among it"
    } else {
        let gone = Finding::new(case, Some(line), "this call is gone");
        return vec![gone.weighing(Weight::Told)];
    };
    vec![Finding::new(case, Some(line), what)]
}

/// Tells whether a function that the file defines calls another one.
fn makes_the_call(text: &str, function: &str, other: &str) -> bool {
    let mut lines = text.lines();
    let begins = |line: &str| is_definition(&bare(line), function);
    lines.by_ref().any(begins)
        && lines
            .take_while(|line| !line.starts_with('}'))
            .any(|line| calls(&bare(line)).iter().any(|call| call == other))
}

/// Finds removed assertions without a check of the same values in their place.
pub(super) fn lost_assertions(case: &Case<'_>) -> Vec<Finding> {
    let assertion = regex!(r"(?i)\b\w*assert\w*\s*\(|\b\w*_?DCHECK\w*\s*\(|^assert\s");
    let new = case.file.lines(Side::New).map(|line| bare(&line.text));
    let new = new.filter(|code| branches(code) || assertion.is_match(code) || code.contains('?'));
    let checked: BTreeSet<String> = new.flat_map(|code| names(&code)).collect();
    let what = "it removes an assertion and checks nothing instead";
    case.find(Side::Old, what, |line| {
        let code = bare(&line.text);
        let mut about = names(&code);
        about.retain(|name| !name.to_lowercase().contains("assert"));
        assertion.is_match(&code) && about.is_disjoint(&checked)
    })
}
