//! The story of a run as Markdown, for a colleague who was not there.

use patchwright_agent::journal::{Event, EventKind};
use patchwright_agent::prompt::fence;
use patchwright_agent::record::Outcome;
use patchwright_agent::report::{AttemptReport, Report};
use patchwright_agent::report_text::money;
use patchwright_patcher::reply;
use patchwright_source::{counted, visible, visible_line};
use std::fmt::Write;

/// Characters of one text of the model.
const TEXT: usize = 6_000;
/// Characters of one diff.
const DIFF: usize = 60_000;

/// Tells a run.
pub(crate) fn story(title: Option<&str>, report: &Report, events: &[Event]) -> String {
    let mut text = String::new();
    let title = title.unwrap_or(&report.task);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "# {}\n", plain(title));
    let _ = writeln!(text, "**{}**: {}\n", report.ending, plain(&report.detail));
    let _ = writeln!(
        text,
        "Run `{}` of task `{}`; answers: {}.\n",
        report.run,
        report.task,
        plain(&report.answers)
    );
    if let Some(best) = &report.best {
        let _ = writeln!(text, "## The patch\n");
        attempt(&mut text, best);
    }
    let _ = writeln!(text, "## What happened\n");
    for event in events {
        step(&mut text, event);
    }
    let others = report
        .attempts
        .iter()
        .filter(|attempt| report.best.as_ref().map(|best| best.number) != Some(attempt.number));
    for (at, other) in others.enumerate() {
        if at == 0 {
            let _ = writeln!(text, "\n## The other candidates\n");
        }
        attempt(&mut text, other);
    }
    let (cost, seconds) = (&report.cost, &report.seconds);
    let _ = writeln!(
        text,
        "\n## What it cost\n\n{}; {} with {} tokens in and {} out; {} of queries; {:.1} s of work, of which {:.1} s in commands and {:.1} s in the model.",
        money(report),
        counted(u64::from(cost.calls), "model call"),
        cost.tokens_in,
        cost.tokens_out,
        counted(u64::from(report.rounds), "round"),
        seconds.total,
        seconds.commands,
        seconds.model
    );
    text
}

fn attempt(text: &mut String, attempt: &AttemptReport) {
    let _ = writeln!(
        text,
        "### Candidate {} (lane {})\n",
        attempt.number, attempt.lane
    );
    if let Some(explanation) = &attempt.explanation {
        let _ = writeln!(
            text,
            "{}\n",
            fence(&visible(explanation.trim()), "text", TEXT)
        );
    }
    let _ = writeln!(text, "{}\n", fence(&visible(&attempt.diff), "diff", DIFF));
    if attempt.rungs.is_empty() {
        let _ = writeln!(text, "Nothing was executed.\n");
        return;
    }
    rungs(text, attempt);
    if let Some(right) = attempt.p_right {
        let _ = writeln!(text, "P(right) by this evidence: {:.0} %\n", 100.0 * right);
    }
    if let Some(test) = &attempt.test {
        let word = match (test.holds, test.strong) {
            (true, true) => "a strong regression test",
            (true, false) => "a regression test",
            (false, _) => "no regression test",
        };
        let _ = writeln!(text, "It comes with {word}: {}\n", plain(&test.reason));
        if test.holds {
            let _ = writeln!(text, "{}\n", fence(&visible(&test.diff), "diff", DIFF));
        }
    }
    doubts(text, attempt);
}

fn rungs(text: &mut String, attempt: &AttemptReport) {
    let _ = writeln!(
        text,
        "| rung | holds | why | seconds |\n| --- | --- | --- | --- |"
    );
    for rung in &attempt.rungs {
        let holds = match rung.holds {
            Some(true) => "yes",
            Some(false) => "**no**",
            None => "not climbed",
        };
        let why = plain(&rung.reason).replace('|', "\\|");
        let log = rung
            .log
            .as_ref()
            .map(|log| format!(" ([log]({log}))"))
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "| {} | {holds} | {why}{log} | {:.1} |",
            rung.name, rung.seconds
        );
    }
    text.push('\n');
}

/// Adds the doubts that nobody has settled.
fn doubts(text: &mut String, attempt: &AttemptReport) {
    let doubts = attempt.rungs.iter().flat_map(|rung| &rung.doubts);
    for doubt in doubts.filter(|doubt| doubt.settled.is_none()) {
        let _ = writeln!(text, "- open: {}", plain(&doubt.what));
        let shown = format!(
            "input {} ({})\n\nwithout the patch: {}\n\nwith the patch: {}\n\n{}",
            doubt.input.as_deref().unwrap_or("none"),
            doubt.change,
            doubt.before.trim(),
            doubt.after.trim(),
            doubt
                .contested
                .as_ref()
                .map(|reason| format!("the author says: {reason}"))
                .unwrap_or_default()
        );
        let fenced = fence(&visible(shown.trim()), "text", TEXT);
        let indented: Vec<String> = fenced.lines().map(|line| format!("  {line}")).collect();
        let _ = writeln!(text, "\n{}\n", indented.join("\n"));
    }
}

/// One step: what came of it, and what the model said.
fn step(text: &mut String, event: &Event) {
    if event.kind == EventKind::Intent {
        return;
    }
    let time = event.time.get(11..19).unwrap_or(&event.time);
    let lane = if event.lane > 0 {
        format!(", lane {}", event.lane)
    } else {
        String::new()
    };
    let _ = writeln!(
        text,
        "- {time}{lane}, {}: {}",
        event.name,
        plain(&event.summary)
    );
    let outcome = event.body.get("outcome").cloned().unwrap_or_default();
    if let Ok(Outcome::Reply(record)) = serde_json::from_value(outcome) {
        said(text, &record.text);
    }
}

fn said(text: &mut String, reply: &str) {
    let read = reply::read(reply, false);
    let mut parts: Vec<String> = read.analysis.into_iter().collect();
    parts.extend(
        read.queries
            .iter()
            .map(|query| format!("asks: {} {}", query.kind, query.body.trim())),
    );
    parts.extend(
        read.patch
            .and_then(|patch| patch.explanation)
            .map(|why| format!("sends a patch: {}", why.trim())),
    );
    if parts.is_empty() {
        parts.push(reply.trim().to_owned());
    }
    let words = fence(&visible(parts.join("\n").trim()), "text", TEXT);
    let indented: Vec<String> = words.lines().map(|line| format!("  {line}")).collect();
    let _ = writeln!(text, "\n{}\n", indented.join("\n").trim_end());
}

/// Foreign words on one line, without the marks that Markdown reads.
fn plain(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut plain = String::with_capacity(words.len());
    for character in visible_line(&words).chars() {
        if matches!(character, '`' | '*' | '_' | '<' | '[' | ']' | '#' | '\\') {
            plain.push('\\');
        }
        plain.push(character);
    }
    plain
}
