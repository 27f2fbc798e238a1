//! Test Anything Protocol (TAP), version 12 to 14.

use super::{NamedResults, SeenNames, Status, TestResult, failed, lines};

/// The most diagnostic lines of one test that are kept.
const MAX_DIAGNOSTICS: usize = 60;

pub(super) fn read(log: &str) -> NamedResults {
    let mut found: NamedResults = Vec::new();
    let mut seen = SeenNames::default();
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
            let name = if description.is_empty() {
                format!("test {number}")
            } else {
                description.to_owned()
            };
            found.push((seen.own_name(name), TestResult::new(status)));
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
    let (ok, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    if !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    let rest = rest.trim_start();
    let (number, rest) = match rest.split_once(' ') {
        Some((first, others)) if first.parse::<usize>().is_ok() => (first.parse().ok(), others),
        None if rest.parse::<usize>().is_ok() => (rest.parse().ok(), ""),
        _ => (None, rest),
    };
    let (description, directive) = rest.split_once(" # ").unwrap_or((rest, ""));
    let directive = directive.trim().to_ascii_uppercase();
    let directive = if let Some(rest) = description.strip_prefix("# ") {
        rest.trim().to_ascii_uppercase()
    } else {
        directive
    };
    let status = if directive.starts_with("SKIP") || directive.starts_with("TODO") && !ok {
        Status::Skipped
    } else if ok {
        Status::Passed
    } else {
        Status::Failed
    };
    let description = description.trim().trim_start_matches("- ").trim();
    let description = if description.starts_with("# ") {
        ""
    } else {
        description
    };
    Some((status, number, description))
}
