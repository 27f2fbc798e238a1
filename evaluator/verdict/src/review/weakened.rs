//! Rules against patches that keep a check without its effect, or that enlarge a buffer
//! instead of repairing the defect.

use super::{Case, Finding, Weight, code, patched};
use crate::evidence::changed_at;
use crate::review::code::{bare, names};
use patchwright_source::{Side, regex};
use std::collections::BTreeSet;

/// Bytes added to a buffer that count as padding. Fewer are needed for the end of a string
/// or one more element.
const PADDING: u64 = 8;

/// Finds a refusal with an error that became a jump.
pub(super) fn no_longer_refused(case: &Case<'_>) -> Vec<Finding> {
    let refusal = regex!(
        r"^(?:return\s+(?:-\d+|0|NULL|nullptr|false|FALSE|[A-Z][A-Z0-9_]*(?:ERR|FAIL|BAD|INVALID|CORRUPT)[A-Z0-9_]*)\s*;|throw\b.*;|goto\s+\w*(?:err|fail|bad|abort)\w*\s*;)$"
    );
    let mut findings = Vec::new();
    for hunk in &case.file.hunks {
        let of = |side: Side| code(hunk.lines.iter().filter(move |line| line.side == side));
        let (removed, added) = (of(Side::Old), of(Side::New));
        let leaves = |code: &str| {
            let words = ["return", "throw", "goto"];
            words.iter().any(|word| code.starts_with(word)) || code.contains("RETURN")
        };
        let was_refused = removed.iter().any(|(_, code)| refusal.is_match(code));
        let is_refused = added.iter().any(|(_, code)| leaves(code));
        let mut lines = added.iter();
        let jump = lines.find(|(_, code)| code == "break;" || code == "continue;");
        if let (true, false, Some((line, _))) = (was_refused, is_refused, jump) {
            let what = "what was refused with an error is now passed over";
            findings.push(Finding::new(case, Some(line), what));
        }
    }
    findings
}

/// Lines around a guard in which its variable is searched.
const AROUND: usize = 40;

/// Finds a guard of the patch that returns success for a value which another guard refuses
/// with an error: the caller takes a part of the work for all of it. A guard for nothing
/// to do, such as a size of zero, is no such case.
pub(super) fn ends_as_if_done(case: &Case<'_>) -> Vec<Finding> {
    let old: Vec<String> = case.old.lines().map(bare).collect();
    let mut findings = Vec::new();
    for hunk in &case.file.hunks {
        let mut code = patched(&hunk.lines);
        code.retain(|(_, code)| code != "{");
        for (at, (line, code_here)) in code.iter().enumerate() {
            let next = code.get(at + 1).map_or("", |(_, next)| next);
            let guarded = guard(code_here, next).filter(|_| line.side == Side::New);
            let Some((condition, end)) = guarded else {
                continue;
            };
            let near = (line.number() as usize).saturating_sub(AROUND);
            let near = old.iter().skip(near).take(2 * AROUND);
            let lines: Vec<&str> = near.map(String::as_str).collect();
            if is_good(end) && is_refused_otherwise(&lines, condition) {
                let what = "what is refused with an error elsewhere is called a good end here";
                findings.push(Finding::new(case, Some(line), what));
            }
        }
    }
    findings
}

/// Returns the condition of a guard, and the named status that it returns.
fn guard<'a>(code: &'a str, next: &'a str) -> Option<(&'a str, &'a str)> {
    let guard = regex!(
        r"^(?:\}\s*else\s+)?if\s*\((.*?[<>].*?)\)\s*\{?\s*((?:return\b|[A-Z_]*RETURN\w*)[^;]*;)?\s*\}?$"
    );
    let leaves = regex!(r"^(?:return\s*\(?|[A-Z_]*RETURN\w*\s*\()\s*([A-Za-z_]\w*)\s*\)?\s*;$");
    let guard = guard.captures(code)?;
    let statement = guard.get(2).map_or(next, |found| found.as_str());
    let status = leaves.captures(statement.trim())?.get(1)?;
    let condition = guard.get(1)?.as_str();
    // Without arrows and shifts, the remaining signs compare.
    let compares = regex!("->|<<|>>").replace_all(condition, "");
    let compares = compares.contains(['<', '>']);
    compares.then(|| (condition, status.as_str()))
}

/// Tells whether a status is named after a success.
fn is_good(status: &str) -> bool {
    let last = status.rsplit('_').next().unwrap_or(status).to_uppercase();
    let good = [
        "OK", "SUCCESS", "END", "DONE", "FINISHED", "COMPLETE", "NONE",
    ];
    status.contains('_') && good.contains(&last.as_str())
}

/// Tells whether another guard near by compares a variable of a condition and returns an
/// error.
fn is_refused_otherwise(lines: &[&str], condition: &str) -> bool {
    let error = regex!(r"(?i)ERR|FAIL|BAD|INVALID|CORRUPT|MALFORMED");
    let wanted = compared(condition);
    let pairs = lines.iter().zip(lines.iter().skip(1));
    let mut guards = pairs.filter_map(|(line, next)| guard(line, next));
    guards.any(|(other, status)| {
        error.is_match(status) && !is_good(status) && !wanted.is_disjoint(&compared(other))
    })
}

/// Returns the variables and members in a condition, without the owners of members and
/// without constants.
fn compared(condition: &str) -> BTreeSet<String> {
    let owner = regex!(r"[A-Za-z_]\w*\s*(?:->|\.)");
    let mut found = names(&owner.replace_all(condition, " "));
    found.retain(|name| name.chars().any(char::is_lowercase));
    found
}

/// Finds a buffer that grew by a constant, in a patch that does nothing else.
pub(super) fn only_padding(case: &Case<'_>) -> Vec<Finding> {
    let [removed, added] = [Side::Old, Side::New].map(|side| code(case.file.lines(side)));
    if removed.is_empty() || removed.len() != added.len() {
        return Vec::new();
    }
    let pairs = || removed.iter().zip(&added);
    let padded = pairs().all(|((_, old), (_, new))| padding(old, new) >= Some(PADDING));
    let raised = pairs().all(|((_, old), (_, new))| {
        raised(case.old, old, new).or_else(|| enlarged(old, new)) >= Some(PADDING)
    });
    match added.first() {
        Some((line, _)) if padded => {
            let what = "it adds room to a buffer, and what writes past its end is as it was";
            vec![Finding::new(case, Some(line), what)]
        }
        Some((line, _)) if raised => {
            let what = "in this file it only raises a size; is what goes past the end mended?";
            vec![Finding::new(case, Some(line), what).weighing(Weight::HoldsBack)]
        }
        _ => Vec::new(),
    }
}

/// Returns by how much the size in a declaration of an array was raised, or that in a macro which is
/// a size in a file, where nothing else differs. It may be the right size: somebody has to look.
fn raised(file: &str, old: &str, new: &str) -> Option<u64> {
    let size = regex!(
        r"^(\s*#\s*define\s+(?<name>\w+)\s+|\s*(?:[\w:<>,]+[\s*]+)+\w+\s*\[\s*)(?<size>\d+)(\s*|\s*\]\s*[^{]*)$"
    );
    let declares = |line: &str| !line.trim_start().starts_with("return");
    let [before, after] = [size.captures(old)?, size.captures(new)?];
    let rest = [1, 4].iter().all(|part| before[*part] == after[*part]);
    let is_size = |name: &str| file.lines().any(|line| is_size(&bare(line), name));
    let name = before.name("name").map(|name| name.as_str());
    let is_size = declares(old) && name.is_none_or(is_size);
    let [low, high] = [&before["size"], &after["size"]].map(|size| size.parse::<u64>().ok());
    (rest && is_size).then(|| high?.checked_sub(low?))?
}

/// Tells whether a line makes a constant the size of an array or an allocation, or the least value
/// of a variable: `n < LEAST ? LEAST : n`, `if (n < LEAST) n = LEAST`, `max(n, LEAST)`.
fn is_size(line: &str, name: &str) -> bool {
    let words = regex!(r"\w+").find_iter(line).map(|word| word.as_str());
    let (named, others): (Vec<&str>, Vec<&str>) = words.partition(|word| *word == name);
    let takes = regex!("(?i)alloc|^max$");
    let takes = others.iter().any(|word| takes.is_match(word));
    let is_taken = !named.is_empty() && takes || named.len() > 1 && line.contains('<');
    line.contains(&format!("[{name}]")) || is_taken && !line.starts_with('#')
}

/// Returns the number that is added between two brackets, where nothing else differs.
fn padding(old: &str, new: &str) -> Option<u64> {
    let added = regex!(r"^\s*\+\s*(\d+)\s*$");
    let head = changed_at(old.as_bytes(), new.as_bytes());
    let tail = old.get(head..)?;
    let middle = new.get(head..)?.strip_suffix(tail)?;
    let closes = tail.starts_with([']', ')']);
    let opened = old.get(..head)?;
    let is_room = opened.contains('[') || opened.contains("alloc") || opened.contains("new ");
    let number = added.captures(middle)?.get(1)?;
    (closes && is_room).then(|| number.as_str().parse().ok())?
}

/// Returns the number by which an allocation is enlarged somewhere in its expression, where nothing
/// else differs; a factor counts as [`PADDING`] at least.
fn enlarged(old: &str, new: &str) -> Option<u64> {
    let word = regex!(r"\w+|\S");
    let mut rest = word.find_iter(old).map(|word| word.as_str()).peekable();
    let words = word.find_iter(new).map(|word| word.as_str());
    let added = words.filter(|word| rest.next_if_eq(word).is_none());
    let added: Vec<&str> = added.collect();
    let marks = added.iter().filter(|word| "+*()".contains(**word));
    let numbers: Vec<u64> = added.iter().filter_map(|word| word.parse().ok()).collect();
    let is_more = rest.next().is_none() && numbers.len() + marks.count() == added.len();
    let is_room = regex!("(?i)alloc|new").is_match(old);
    let least = if added.contains(&"*") { PADDING } else { 0 };
    let most = numbers.into_iter().max()?.max(least);
    (is_more && is_room).then_some(most)
}

#[cfg(test)]
mod tests {
    use super::super::{Case, Finding, Weight, apply};
    use patchwright_source::FileDiff;

    fn findings(old: &str, new: &str) -> Vec<Finding> {
        let text = similar::TextDiff::from_lines(old, new);
        let text = text.unified_diff().header("a/x.c", "b/x.c").to_string();
        apply(&Case {
            file: &FileDiff::read(&text).unwrap()[0],
            old,
            kind: "heap-buffer-overflow",
            povs: &[],
        })
    }

    /// A number that grew may be the right size: somebody has to look.
    #[test]
    fn a_raised_size_holds_a_patch_back_and_added_room_refutes_it() {
        const OLD: &str = "#define MOST 50\n#define DEPTH 50\n#define LEAST 50\n#define OTHER 50\n#define ALLOC_DEPTH 50\nint f(int n) {\n  if (n < LEAST) n=LEAST ;\n  n = MAX(n, OTHER); // ALLOC_DEPTH\n  n |= ALLOC_DEPTH;\n  char line[MOST];\n  char name[16];\n  char *p = New_Array(char, n ? n : 1);\n  if (p[3] > 7)\n    return DEPTH;\n  read(p, line);\n}\n";
        for (from, to, expected) in [
            ("MOST 50", "MOST 256", Some(Weight::HoldsBack)),
            ("name[16]", "name[64]", Some(Weight::HoldsBack)),
            ("LEAST 50", "LEAST 512", Some(Weight::HoldsBack)),
            ("OTHER 50", "OTHER 512", Some(Weight::HoldsBack)),
            ("ALLOC_DEPTH 50", "ALLOC_DEPTH 512", None),
            ("name[16]", "name[16 + 64]", Some(Weight::Refutes)),
            ("p[3] > 7", "p[30] > 7", None),
            ("name[16]", "name[64] = {1}", None),
            ("name[16]", "name[17]", None),
            ("DEPTH 50", "DEPTH 500", None),
            ("p[3] > 7", "p[3] > 70", None),
            ("n ? n : 1", "n * size + 64", None),
            ("n ? n : 1", "(n ? n : 1) + 4096", Some(Weight::HoldsBack)),
            ("n ? n : 1", "2 * (n ? n : 1)", Some(Weight::HoldsBack)),
            ("n ? n : 1", "(n ? n : 1) + 1", None),
            ("  read(", "  if (n < 300)\n    read(", None),
        ] {
            let new = OLD.replace(from, to);
            let found = findings(OLD, &new);
            let found: Vec<Weight> = found.iter().map(|found| found.weight).collect();
            assert_eq!(found, Vec::from_iter(expected), "{to}");
        }
    }

    /// A value refused with an error on one side of its range and accepted on the other.
    #[test]
    fn a_guard_that_calls_what_is_wrong_a_good_end_is_caught() {
        const OLD: &str = "int f(S *s) {\n  GET(n, 15);\n  if (n < 1) RETURN(BZ_DATA_ERROR);\n  if (s->m > s->n) {\n    return E_INVALID;\n  }\n  work(s);\n  return E_OK;\n}\n";
        for (added, caught) in [
            ("  if (n > MOST) RETURN(BZ_STREAM_END);\n", true),
            ("  if (n > MOST) {\n    return E_OK;\n  }\n", true),
            ("  if (s->m > 18002)\n    return E_DONE;\n", true),
            ("  if (n > MOST) RETURN(BZ_DATA_ERROR);\n", false),
            ("  if (n > MOST) return E_TRUNCATED;\n", false),
            // Another variable, which no other guard refuses.
            ("  if (s->left > MOST) return E_OK;\n", false),
            ("  if (n == 0) return E_OK;\n", false),
            ("  if (s->m) return E_OK;\n", false),
            ("  if (n > MOST) n = MOST;\n", false),
        ] {
            let new = OLD.replace("  work(s);\n", &format!("{added}  work(s);\n"));
            let found = findings(OLD, &new)
                .iter()
                .any(|f| f.weight == Weight::Refutes && f.what.contains("good end"));
            assert_eq!(found, caught, "{added}");
        }
    }
}
