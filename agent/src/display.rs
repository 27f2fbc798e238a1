//! What a person sees while a run goes on: the stage, the round, the attempt,
//! the rung, and the budget that is left. On standard error, so that standard
//! output carries the report alone.
//!
//! A terminal gets one moving line below the lines that stay; everything else
//! gets plain lines.

use crate::repair::{Located, Outcome, Purpose, Run, RungRecord, Step, StepId};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write;
use std::time::Duration;

/// How often the moving line is drawn anew.
const TICK: Duration = Duration::from_millis(200);

/// What is about to be done, and what is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// In a few words.
    pub doing: String,
    /// In a few words.
    pub left: String,
}

impl Progress {
    /// The progress of a run that is about to take a step.
    pub fn of(id: StepId, step: &Step, run: &Run) -> Self {
        let lane = if run.lanes() > 1 && id.lane > 0 {
            format!("lane {}: ", id.lane)
        } else {
            String::new()
        };
        let doing = match step {
            Step::Baseline => {
                "building the unpatched tree, replaying the PoVs, running the tests".to_owned()
            }
            Step::Context { .. } => "gathering the code of the crash".to_owned(),
            Step::Ask { purpose, .. } => asked(*purpose).to_owned(),
            Step::Wait { until, .. } => format!("paused until {until}"),
            Step::Retrieve { round, queries, .. } => {
                format!("round {round}: {} queries", queries.len())
            }
            Step::Probe { probes } => format!("{} probes under a debugger", probes.len()),
            Step::Locate { patch } => format!("placing a patch of {} edits", patch.edits.len()),
            Step::Climb { attempt, rung } => format!("attempt {attempt}: {}", rung.name()),
            Step::End { ending } => ending.kind.to_string(),
        };
        let left = run.left();
        let mut words = vec![format!("{}/{} attempts", left.attempts, left.attempts_of)];
        words.push(format!("{}/{} rounds", left.rounds, left.rounds_of));
        if let Some(limit) = run.limits().usd {
            words.push(format!(
                "{:.2}/{limit:.2} USD",
                (limit - run.spent().usd).max(0.0)
            ));
        }
        Self {
            doing: format!("{lane}{doing}"),
            left: format!("left {}", words.join(", ")),
        }
    }
}

fn asked(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Repair => "asking the model",
        Purpose::Compact => "asking the model what of the conversation still matters",
        Purpose::Critic => "asking the critic",
        Purpose::Judge => "asking which candidate is the best",
    }
}

/// Where progress is shown.
#[derive(Debug)]
pub enum Display {
    /// A moving line on a terminal.
    Terminal {
        /// The line.
        bar: ProgressBar,
        /// Whether colours are used.
        color: bool,
    },
    /// One of many moving lines; nothing stays.
    Batch {
        /// The line.
        bar: ProgressBar,
        /// What stands at its beginning.
        name: String,
    },
    /// A line for each thing.
    Plain,
    /// Nothing.
    Silent,
}

impl Display {
    /// A display with a moving line.
    pub fn terminal(color: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let template = if color {
            "{spinner:.cyan} {elapsed:>4} {wide_msg}"
        } else {
            "{spinner} {elapsed:>4} {wide_msg}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        Self::Terminal { bar, color }
    }

    /// One of many moving lines, with a name.
    pub fn batch(bar: ProgressBar, name: &str) -> Self {
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed:>4} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_message(name.to_owned());
        bar.enable_steady_tick(TICK);
        Self::Batch {
            bar,
            name: name.to_owned(),
        }
    }

    /// Says something that stays.
    pub fn line(&self, text: &str) {
        match self {
            Self::Terminal { bar, .. } => bar.println(text),
            Self::Plain => {
                // A closed standard error is no reason to stop a run.
                let _ = writeln!(std::io::stderr(), "{text}");
            }
            Self::Silent | Self::Batch { .. } => {}
        }
    }

    /// Says what is about to be done.
    pub fn show(&self, progress: &Progress) {
        match self {
            Self::Terminal { bar, .. } => {
                bar.set_message(format!("{}  ({})", progress.doing, progress.left));
            }
            Self::Batch { bar, name } => {
                bar.set_message(format!("{name}: {}  ({})", progress.doing, progress.left));
            }
            Self::Plain => self.line(&format!("  .. {} ({})", progress.doing, progress.left)),
            Self::Silent => {}
        }
    }

    /// Says what came of it.
    pub fn tell(&self, outcome: &Outcome) {
        let Some((mark, text)) = told(outcome) else {
            return;
        };
        self.line(&format!("  {} {text}", self.paint(mark)));
    }

    /// Takes the moving line away.
    pub fn close(&self) {
        if let Self::Terminal { bar, .. } | Self::Batch { bar, .. } = self {
            bar.finish_and_clear();
        }
    }

    fn paint(&self, mark: Mark) -> String {
        let (word, color) = match mark {
            Mark::Good => ("ok", 32),
            Mark::Bad => ("no", 31),
            Mark::Open => ("--", 33),
        };
        match self {
            Self::Terminal { color: true, .. } => format!("\u{1b}[{color}m{word}\u{1b}[0m"),
            _ => word.to_owned(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Good,
    Bad,
    Open,
}

fn told(outcome: &Outcome) -> Option<(Mark, String)> {
    Some(match outcome {
        Outcome::Baseline(summary) => {
            let seen = summary
                .crashes
                .first()
                .and_then(|crash| crash.text.lines().find(|line| !line.trim().is_empty()));
            (
                Mark::Good,
                format!("crash reproduced: {}", seen.unwrap_or("no PoV").trim()),
            )
        }
        Outcome::Context(_) | Outcome::Waited => return None,
        Outcome::Full(full) => (
            Mark::Open,
            format!(
                "the conversation is told in short ({} tokens, {} fit)",
                full.tokens, full.fits
            ),
        ),
        Outcome::Postponed(postponed) => (
            Mark::Open,
            format!("paused until {}: {}", postponed.until, postponed.reason),
        ),
        Outcome::Unanswered(missing) => {
            (Mark::Open, format!("without an answer: {}", missing.reason))
        }
        Outcome::Reply(reply) => {
            let (given, written) = (reply.usage.tokens_in, reply.usage.tokens_out);
            let text = format!("the model answered ({given} tokens in, {written} out)");
            (Mark::Good, text)
        }
        Outcome::Retrieved(answers) => (
            Mark::Good,
            format!(
                "{} queries answered, {} found nothing",
                answers.found, answers.missed
            ),
        ),
        Outcome::Probed(probed) => (
            Mark::Good,
            format!("{} probes answered", probed.answers.len()),
        ),
        Outcome::Located(Located::Placed(_)) => (Mark::Good, "every edit has its place".to_owned()),
        Outcome::Located(Located::Refused { reasons }) => {
            let first = reasons
                .first()
                .and_then(|reason| reason.lines().next())
                .unwrap_or_default()
                .to_owned();
            (Mark::Bad, format!("patch refused: {first}"))
        }
        Outcome::Climbed(rung) => climbed(rung),
        Outcome::Stopped { ending, .. } => {
            (Mark::Bad, format!("{}: {}", ending.kind, ending.detail))
        }
    })
}

fn climbed(rung: &RungRecord) -> (Mark, String) {
    let mark = match rung.holds {
        Some(true) => Mark::Good,
        Some(false) => Mark::Bad,
        None => Mark::Open,
    };
    let (name, seconds) = (rung.name.name(), rung.seconds);
    (mark, format!("{name}: {} ({seconds:.1} s)", rung.reason))
}
