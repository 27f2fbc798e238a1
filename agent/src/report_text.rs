//! The report for people: the ending, the evidence, the diff, the cost.

use crate::record::{EndingKind, Seconds};
use crate::report::{AttemptReport, Report};
use crate::template::{self, Error, environment};
use patchwright_source::{counted, visible};
use serde_json::json;

/// Lines of a regression test that are printed.
const TEST_LINES: usize = 30;
const NAME: &str = "report.txt";

/// Renders a report as text. What a terminal would obey or a reader could not
/// see is escaped.
///
/// # Errors
/// The template does not fit the report.
pub fn render(report: &Report) -> Result<String, Error> {
    let best = report.best.as_ref();
    let chosen = best.map(|best| best.number);
    let others = report.attempts.iter();
    let others = others.filter(|attempt| Some(attempt.number) != chosen);
    let attempts: Vec<&AttemptReport> = others.chain(best).collect();
    let mut environment = environment()?;
    environment.add_filter("beginning", |diff: &str| beginning(diff));
    let values = json!({
        "report": report,
        "attempts": attempts,
        "money": money(report),
        "times": times(&report.seconds),
        "sandbox": report.sandbox.as_ref().map(ToString::to_string),
        "ended": EndingKind::read(&report.ending).is_some(),
        "foreign_fix": report.foreign_fix().is_some(),
    });
    environment.add_template(NAME, include_str!("report_text/report.txt"))?;
    let text = template::render(&environment, NAME, &values)?;
    Ok(visible(&text).into_owned())
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

/// Returns the cost in US dollars. A model that was asked and cost nothing has no
/// price in the settings; answers on record cost nothing.
pub fn money(report: &Report) -> String {
    let live = report.answers.starts_with("live ");
    if live && report.cost.calls > 0 && report.cost.usd <= 0.0 {
        return "price not set".to_owned();
    }
    format!("{:.4} USD", report.cost.usd)
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
        let run = Run::new(crate::plan::Plan::default());
        let mut report = Report::of(&run, "run-1", "task", "none");
        report.detail = "502 \u{1b}]0;owned\u{7}\u{1b}[2J".to_owned();
        report.best = Some(AttemptReport {
            number: 1,
            lane: 1,
            diff: "+if (is\u{200b}Admin) /* \u{202e} } */\n".to_owned(),
            latin1: false,
            withdrawn: false,
            explanation: Some("a\rb".to_owned()),
            warnings: vec!["setup.py: edit 1 was left out".to_owned()],
            rungs: Vec::new(),
            p_right: None,
            features: BTreeMap::new(),
            test: None,
        });
        let text = render(&report).unwrap();
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
        let run = Run::new(crate::plan::Plan::default());
        let mut report = Report::of(&run, "run-1", "task", "none");
        let doubt = |what: &str, settled: Option<&str>| DoubtReport {
            what: what.to_owned(),
            settled: settled.map(str::to_owned),
            contested: Some("it is malformed".to_owned()),
            input: Some("doubts/attempt-1-same-elsewhere-1".to_owned()),
            change: "1 byte removed".to_owned(),
            before: String::new(),
            after: "exit status 0\n{}\n".to_owned(),
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
                doubt("the PoV", Some("told for whoever reads the patch: x")),
            ],
        };
        report.best = Some(AttemptReport {
            number: 1,
            lane: 1,
            diff: String::new(),
            latin1: false,
            withdrawn: false,
            explanation: None,
            warnings: Vec::new(),
            rungs: vec![rung],
            p_right: None,
            features: BTreeMap::new(),
            test: None,
        });
        let text = render(&report).unwrap();
        for shown in [
            "open: mutant 1",
            "doubts/attempt-1-same-elsewhere-1 (1 byte",
            "contested: it is malformed",
            "\n        after: exit status 0 | {}\n",
        ] {
            assert!(text.contains(shown), "{shown}: {text}");
        }
        assert!(!text.contains("mutant 2"), "{text}");
        assert!(!text.contains("the PoV"), "{text}");
        report.ending = "plausible".to_owned();
        let text = render(&report).unwrap();
        let told =
            "      to read: the PoV\n        exit status 0\n        {}\n      open: mutant 1";
        assert!(text.contains(told), "{text}");
    }

    #[test]
    fn the_cost_says_when_no_price_is_set() {
        let run = Run::new(crate::plan::Plan::default());
        let mut report = Report::of(&run, "run-1", "task", "live from m");
        assert!(
            render(&report)
                .unwrap()
                .contains("0 rounds, 0 attempts, 0 model calls")
        );
        report.rounds = 1;
        report.cost.calls = 1;
        let text = render(&report).unwrap();
        assert!(
            text.contains("1 round, 0 attempts, 1 model call ("),
            "{text}"
        );
        assert!(text.contains("0 out, price not set; answers"), "{text}");
        report.cost.usd = 0.25;
        assert!(render(&report).unwrap().contains("0.2500 USD"));
        report.cost.usd = 0.0;
        report.answers = "recorded in t.jsonl".to_owned();
        assert!(render(&report).unwrap().contains("0.0000 USD"));
    }
}
