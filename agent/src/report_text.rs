//! The report for people: the ending, the evidence, the diff, the cost.

use crate::record::EndingKind;
use crate::report::{AttemptReport, Report, Seconds, SmallestReport};
use patchwright_source::{counted, visible};
use std::fmt::Write;

/// Lines of a regression test that are printed.
const TEST_LINES: usize = 30;

/// Renders a report as text. What a terminal would obey or a reader could not
/// see is escaped.
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}: {}", report.ending, report.detail.trim_end());
    for attempt in report
        .attempts
        .iter()
        .filter(|attempt| !is_best(report, attempt))
    {
        let refuted = attempt.rungs.iter().any(|rung| rung.holds == Some(false));
        let what = if refuted {
            " was refuted"
        } else {
            ", not chosen"
        };
        let _ = writeln!(text, "\nAttempt {}{what}", attempt.number);
        ladder(&mut text, attempt);
    }
    if let Some(best) = &report.best {
        let _ = writeln!(text, "\nAttempt {}", best.number);
        ladder(&mut text, best);
        if let Some(right) = best.p_right {
            let _ = writeln!(text, "  P(right) {:.0} %", 100.0 * right);
        }
        if let Some(explanation) = &best.explanation {
            let _ = writeln!(text, "\n{}", explanation.trim());
        }
        let _ = writeln!(text, "\n{}", best.diff.trim_end());
        if let Some(test) = &best.test {
            let word = match (test.holds, test.strong) {
                (true, true) => "strong",
                (true, false) => "holds",
                (false, _) => "none",
            };
            let _ = writeln!(text, "\nRegression test: {word}: {}", test.reason);
            if test.holds {
                let _ = writeln!(text, "\n{}", beginning(&test.diff));
            }
        }
    }
    if let Some(commit) = &report.introduced_by {
        let _ = writeln!(text, "\nIntroduced by {}", commit.in_words());
    }
    if let Some(smallest) = &report.smallest {
        let _ = writeln!(text, "\n{}", smallest_in_words(smallest));
    }
    // What was refused before it began cost nothing and has no run to look up.
    if !report.run.is_empty() {
        totals(&mut text, report);
    }
    visible(&text).into_owned()
}

/// Returns the first lines of a diff whose whole is written to a file, and the number of others:
/// a test may hold its input, which nobody reads.
fn beginning(diff: &str) -> String {
    let lines: Vec<&str> = diff.trim_end().lines().collect();
    let (shown, others) = match lines.split_at_checked(TEST_LINES) {
        Some((shown, others)) if !others.is_empty() => (shown, others),
        _ => return lines.join("\n"),
    };
    let others = counted(others.len() as u64, "more line");
    format!(
        "{}\n[{others}: test.diff of --out, or of an export]",
        shown.join("\n")
    )
}

/// Tells of the smallest input in a sentence.
fn smallest_in_words(smallest: &SmallestReport) -> String {
    let SmallestReport {
        pov,
        original,
        bytes,
        ..
    } = smallest;
    let known = match (smallest.minimal, bytes == original) {
        (true, true) => "no byte of it can be left out".to_owned(),
        (true, false) => format!("{} of it are enough", counted(*bytes, "byte")),
        (false, true) => "no smaller input was found in the time".to_owned(),
        (false, false) => format!(
            "{} of it are enough, perhaps fewer",
            counted(*bytes, "byte")
        ),
    };
    let input = smallest.input.iter().filter(|input| input.contains('.'));
    let file: String = input.map(|input| format!(" ({input})")).collect();
    format!("PoV {pov} ({}): {known}{file}", counted(*original, "byte"))
}

/// Writes what the run took, and its id.
fn totals(text: &mut String, report: &Report) {
    let (cost, seconds) = (&report.cost, &report.seconds);
    let _ = writeln!(
        text,
        "\n{}, {}, {} ({} tokens in, {} out, {}; answers: {})",
        counted(u64::from(report.rounds), "round"),
        counted(report.attempts.len() as u64, "attempt"),
        counted(u64::from(cost.calls), "model call"),
        cost.tokens_in,
        cost.tokens_out,
        money(report),
        report.answers,
    );
    let _ = writeln!(text, "{}", times(seconds));
    if let Some(sandbox) = &report.sandbox {
        let _ = writeln!(text, "sandbox: {sandbox}");
    }
    let _ = writeln!(text, "run {}", report.run);
    let _ = writeln!(text, "page: patchwright review {}", report.run);
    if let Some(next) = next_step(report) {
        let _ = writeln!(text, "next: {next}");
    }
}

/// Returns the time of a run and its parts, which add up to it; parts that ran at the same
/// time are longer together.
fn times(seconds: &Seconds) -> String {
    let tenths = |seconds: f64| (10.0 * seconds).round() as i64;
    let (total, commands) = (tenths(seconds.total), tenths(seconds.commands));
    let model = tenths(seconds.model);
    let own = total - commands - model;
    let shown = |tenths: i64| format!("{}.{} s", tenths / 10, tenths % 10);
    let parts = format!(
        "{} in commands, {} in the model",
        shown(commands),
        shown(model)
    );
    match own {
        0.. => format!("{}: {parts}, {} other", shown(total), shown(own)),
        _ => format!("{}, with {parts}, in part at the same time", shown(total)),
    }
}

/// Returns the command that a reader most likely needs next.
fn next_step(report: &Report) -> Option<String> {
    let run = &report.run;
    let Some(ending) = EndingKind::of_word(&report.ending) else {
        return Some(format!("go on with it: patchwright resume {run}"));
    };
    if report.foreign_fix().is_some() {
        return Some(format!(
            "take a version with that commit, or port its diff: patchwright export {run} --format diff"
        ));
    }
    Some(match ending {
        EndingKind::Verified => {
            format!("read the diff, then export it: patchwright export {run} --format mbox")
        }
        EndingKind::Plausible | EndingKind::Unverified => format!(
            "read the rungs that are null, and close them or judge the diff yourself: patchwright \
             export {run}"
        ),
        EndingKind::Proposed => {
            let number = report.best.as_ref()?.number;
            format!("evaluate a candidate: patchwright evaluate {run} {number}")
        }
        EndingKind::NoPatch | EndingKind::BudgetExhausted | EndingKind::Deadline => {
            format!("see what was tried: patchwright show {run} --journal")
        }
        // Their detail says what to do.
        EndingKind::InvalidTask
        | EndingKind::NotReproducible
        | EndingKind::InfraError
        | EndingKind::Canceled => return None,
    })
}

/// Returns the cost in US dollars. A model that was asked and cost nothing has no
/// price in the settings; answers on record cost nothing.
pub fn money(report: &Report) -> String {
    let live = report.answers.starts_with("live ");
    if live && report.cost.calls > 0 && report.cost.usd <= 0.0 {
        return "price not set".to_owned();
    }
    format!("{:.4} USD", report.cost.usd)
}

fn is_best(report: &Report, attempt: &AttemptReport) -> bool {
    report
        .best
        .as_ref()
        .is_some_and(|best| best.number == attempt.number)
}

fn ladder(text: &mut String, attempt: &AttemptReport) {
    for warning in &attempt.warnings {
        let _ = writeln!(text, "  warning: {}", first_line(warning));
    }
    for rung in &attempt.rungs {
        let word = match rung.holds {
            Some(true) => "true",
            Some(false) => "FALSE",
            None => "null",
        };
        let counts: Vec<String> = rung
            .counts
            .iter()
            .map(|(name, count)| match name.strip_suffix('s') {
                Some(one) if *count == 1 && !name.contains(' ') => format!("1 {one}"),
                _ => format!("{count} {name}"),
            })
            .collect();
        let counts = if counts.is_empty() {
            String::new()
        } else {
            format!(" [{}]", counts.join(", "))
        };
        let reason = first_line(&rung.reason);
        let _ = writeln!(
            text,
            "  {:<15} {word:<5} {:>7.1} s  {reason}{counts}",
            rung.name, rung.seconds
        );
        for doubt in rung.doubts.iter().filter(|doubt| doubt.settled.is_none()) {
            let _ = writeln!(text, "      open: {}", first_line(&doubt.what));
            if let Some(input) = &doubt.input {
                let _ = writeln!(text, "        input {input} ({})", doubt.change);
            }
            if let Some(reason) = &doubt.contested {
                let _ = writeln!(text, "        contested: {}", first_line(reason));
            }
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Seconds, TEST_LINES, beginning, render, times};
    use crate::repair::Run;
    use crate::report::{AttemptReport, DoubtReport, Report, RungReport};
    use std::collections::BTreeMap;

    #[test]
    fn a_test_that_holds_a_large_input_is_printed_in_part() {
        let lines = |count: usize| "+AAAA\n".repeat(count);
        assert_eq!(beginning(&lines(TEST_LINES)).lines().count(), TEST_LINES);
        let cut = beginning(&lines(TEST_LINES + 7));
        let last = cut.lines().last().unwrap();
        assert_eq!(last, "[7 more lines: test.diff of --out, or of an export]");
        assert_eq!(cut.lines().count(), TEST_LINES + 1);
    }

    #[test]
    fn the_parts_of_the_time_add_up() {
        for (total, commands, model, expected) in [
            (
                10.0,
                3.33,
                3.33,
                "10.0 s: 3.3 s in commands, 3.3 s in the model, 3.4 s other",
            ),
            (
                1.04,
                0.04,
                1.0,
                "1.0 s: 0.0 s in commands, 1.0 s in the model, 0.0 s other",
            ),
            (
                2.0,
                3.0,
                1.0,
                "2.0 s, with 3.0 s in commands, 1.0 s in the model, in part at the same time",
            ),
        ] {
            let seconds = Seconds {
                total,
                model,
                commands,
            };
            assert_eq!(times(&seconds), expected);
        }
    }

    #[test]
    fn text_for_people_holds_nothing_that_a_terminal_obeys() {
        let run = Run::new(crate::wire::empty_plan());
        let mut report = Report::of(&run, "run-1", "task", "none");
        report.detail = "502 \u{1b}]0;owned\u{7}\u{1b}[2J".to_owned();
        report.best = Some(AttemptReport {
            number: 1,
            lane: 1,
            diff: "+if (is\u{200b}Admin) /* \u{202e} } */\n".to_owned(),
            latin1: false,
            explanation: Some("a\rb".to_owned()),
            warnings: vec!["setup.py: edit 1 was left out".to_owned()],
            rungs: Vec::new(),
            p_right: None,
            features: BTreeMap::new(),
            test: None,
        });
        let text = render(&report);
        assert!(!text.contains(['\u{1b}', '\u{7}', '\r', '\u{200b}', '\u{202e}']));
        for shown in [
            "\\u{1b}[2J",
            "is\\u{200b}Admin",
            "/* \\u{202e} }",
            "a\\rb",
            "warning: setup.py: edit 1 was left out",
        ] {
            assert!(text.contains(shown), "{shown} is not in {text}");
        }
    }

    #[test]
    fn open_doubts_stand_in_the_text_with_their_input() {
        let run = Run::new(crate::wire::empty_plan());
        let mut report = Report::of(&run, "run-1", "task", "none");
        let doubt = |what: &str, settled: Option<&str>| DoubtReport {
            what: what.to_owned(),
            settled: settled.map(str::to_owned),
            contested: Some("it is malformed".to_owned()),
            input: Some("doubts/attempt-1-same-elsewhere-1".to_owned()),
            change: "1 byte removed".to_owned(),
            before: String::new(),
            after: String::new(),
        };
        let rung = RungReport {
            name: "same elsewhere".to_owned(),
            holds: None,
            reason: "differs".to_owned(),
            seconds: 0.0,
            log: None,
            counts: [].into(),
            found: Vec::new(),
            doubts: vec![
                doubt("mutant 1", None),
                doubt("mutant 2", Some("undefined")),
            ],
        };
        report.best = Some(AttemptReport {
            number: 1,
            lane: 1,
            diff: String::new(),
            latin1: false,
            explanation: None,
            warnings: Vec::new(),
            rungs: vec![rung],
            p_right: None,
            features: BTreeMap::new(),
            test: None,
        });
        let text = render(&report);
        for shown in [
            "open: mutant 1",
            "doubts/attempt-1-same-elsewhere-1 (1 byte",
            "contested: it is malformed",
        ] {
            assert!(text.contains(shown), "{shown}: {text}");
        }
        assert!(!text.contains("mutant 2"), "{text}");
    }

    #[test]
    fn the_cost_says_when_no_price_is_set() {
        let run = Run::new(crate::wire::empty_plan());
        let mut report = Report::of(&run, "run-1", "task", "live from m");
        assert!(render(&report).contains("0 rounds, 0 attempts, 0 model calls"));
        report.rounds = 1;
        report.cost.calls = 1;
        let text = render(&report);
        assert!(
            text.contains("1 round, 0 attempts, 1 model call ("),
            "{text}"
        );
        assert!(text.contains("0 out, price not set; answers"), "{text}");
        report.cost.usd = 0.25;
        assert!(render(&report).contains("0.2500 USD"));
        report.cost.usd = 0.0;
        report.answers = "recorded in t.jsonl".to_owned();
        assert!(render(&report).contains("0.0000 USD"));
    }
}
