//! Test Anything Protocol (TAP), version 12 to 14.

use super::{NamedResults, Status, TestResult, failed, lines, own_name};
use patchwright_source::regex;
use std::collections::BTreeMap;

/// The most diagnostic lines of one test that are kept.
const MAX_DIAGNOSTICS: usize = 60;

pub(super) fn read(log: &str) -> NamedResults {
    let mut found: NamedResults = Vec::new();
    let mut seen = BTreeMap::new();
    let mut plan: Option<usize> = None;
    let mut points = 0;
    let mut diagnostics: Vec<String> = Vec::new();
    for line in lines(log) {
        let text = line.trim_start();
        if let Some(count) = line
            .strip_prefix("1..")
            .and_then(|rest| rest.split(' ').next())
        {
            plan = count.parse().ok().or(plan);
        } else if let Some((status, number, description)) = point(&line) {
            attach(&mut found, &mut diagnostics);
            points += 1;
            let number = number.unwrap_or(points);
            let described = Some(description.to_owned()).filter(|words| !words.is_empty());
            let name = described.unwrap_or_else(|| format!("test {number}"));
            found.push((own_name(&mut seen, name), TestResult::new(status)));
        } else if line.starts_with("Bail out!") {
            found.push((line.into_owned(), TestResult::new(Status::Failed)));
        } else if !found.is_empty()
            && diagnostics.len() < MAX_DIAGNOSTICS
            && (text.starts_with('#') || line.starts_with("  "))
        {
            let text = text.trim_start_matches('#').trim();
            if !text.is_empty() && text != "---" && text != "..." {
                diagnostics.push(text.to_owned());
            }
        }
    }
    attach(&mut found, &mut diagnostics);
    // `ok 1` alone is prose; a plan or several points are a protocol.
    if plan.is_none() && points < 2 {
        return Vec::new();
    }
    // A program that died left points out.
    if let Some(plan) = plan
        && points > 0
        && points < plan
    {
        let name = format!("planned {plan} tests, ran {points}");
        found.push((name, TestResult::new(Status::Failed)));
    }
    found
}

/// Attaches diagnostics to the test point before them.
fn attach(found: &mut NamedResults, diagnostics: &mut Vec<String>) {
    if let Some((_, result)) = found.last_mut()
        && result.status == Status::Failed
    {
        *result = failed(diagnostics);
    }
    diagnostics.clear();
}

/// `not ok 2 - name # TODO reason`
fn point(line: &str) -> Option<(Status, Option<usize>, &str)> {
    let form = regex!(r"^(not )?ok(?: \s*(?:([0-9]{1,19})(?: |$))?(.*)|$)");
    let found = form.captures(line)?;
    let is_ok = found.get(1).is_none();
    let number = found.get(2).and_then(|number| number.as_str().parse().ok());
    let rest = found.get(3).map_or("", |rest| rest.as_str().trim_start());
    let (description, directive) = match rest.strip_prefix("# ") {
        Some(directive) => ("", directive),
        None => rest.split_once(" # ").unwrap_or((rest, "")),
    };
    let directive = directive.trim().to_ascii_uppercase();
    let status = if directive.starts_with("SKIP") || directive.starts_with("TODO") && !is_ok {
        Status::Skipped
    } else if is_ok {
        Status::Passed
    } else {
        Status::Failed
    };
    let description = description.trim().trim_start_matches("- ").trim();
    Some((status, number, description))
}
