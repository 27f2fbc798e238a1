//! Progress of a run on the terminal: the stage, the round, the attempt,
//! the rung, and the budget that is left. On standard error, so that standard
//! output carries the report alone.
//!
//! A terminal gets one moving line below the lines that stay; everything else
//! gets plain lines.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use patchwright_agent::drive::sentence;
use patchwright_agent::progress::{Notice, Observer, Progress};
use patchwright_agent::record::{Located, Outcome, Rung};
use patchwright_config::{self as settings, Color, Settings};
use patchwright_source::{visible, visible_line};
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Interval at which the moving line is drawn anew.
const TICK: Duration = Duration::from_millis(200);

/// Where progress is shown.
#[derive(Debug)]
pub(crate) struct Display {
    line: Line,
    /// True when colours are used.
    color: bool,
}

#[derive(Debug)]
enum Line {
    /// A moving line below those that stay.
    Moving(ProgressBar),
    /// A line for each thing. The budget that was told last is told again when it has changed.
    Plain(Mutex<String>),
    /// Nothing.
    Silent,
}

impl Display {
    /// Prints a line that stays; what a terminal would obey is escaped.
    pub(crate) fn line(&self, text: &str) {
        self.print(&visible(text));
    }

    fn print(&self, text: &str) {
        match &self.line {
            Line::Moving(bar) => bar.println(text),
            Line::Plain(_) => {
                // A closed standard error is no reason to stop a run.
                let _ = writeln!(std::io::stderr(), "{text}");
            }
            Line::Silent => {}
        }
    }

    /// Shows what happens to a run.
    pub(crate) fn observer(self) -> Observer {
        Observer::new(move |notice| match notice {
            Notice::Doing(progress) => self.show(progress),
            Notice::Part(text) => self.show_part(text),
            Notice::Done(outcome) => self.tell(outcome),
            Notice::Remark(text) => self.line(text),
            Notice::Over => self.close(),
        })
    }

    /// Says what is about to be done.
    fn show(&self, progress: &Progress) {
        let doing = visible_line(&progress.doing);
        if let Line::Plain(told) = &self.line {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            let changed = *told != progress.left;
            let left = if changed { progress.left.as_str() } else { "" };
            self.print(&format!("  .. {doing}{}", in_brackets(left)));
            progress.left.clone_into(&mut told);
        }
        let left = in_brackets(&progress.left);
        self.line.set(&format!("{doing}{left}"));
    }

    /// Says which part of a step has begun.
    fn show_part(&self, text: &str) {
        let part = visible_line(text);
        if let Line::Plain(_) = &self.line {
            self.print(&format!("     {part}"));
        }
        self.line.set(&part);
    }

    /// Says what came of it.
    fn tell(&self, outcome: &Outcome) {
        if let Outcome::Baseline(summary) = outcome {
            for observed in &summary.observed {
                let good = observed.good;
                let mark = if good { Mark::Good } else { Mark::Open };
                let text = format!("{}: {}", observed.name, observed.text);
                let text = visible(&text).replace('\n', "\n     ");
                self.print(&format!("  {} {text}", self.paint(mark)));
            }
        }
        if let Some(mark) = mark(outcome) {
            let text = sentence(outcome);
            self.print(&format!("  {} {}", self.paint(mark), visible(&text)));
        }
    }

    /// Waits for work that writes to the terminal itself; nothing moves there until it is done.
    pub(crate) async fn pause<T>(&self, work: impl Future<Output = T>) -> T {
        let Line::Moving(bar) = &self.line else {
            return work.await;
        };
        bar.disable_steady_tick();
        bar.finish_and_clear();
        let done = work.await;
        bar.reset();
        bar.enable_steady_tick(TICK);
        done
    }

    /// Takes the moving line away.
    pub(crate) fn close(&self) {
        if let Line::Moving(bar) = &self.line {
            bar.finish_and_clear();
        }
    }

    fn paint(&self, mark: Mark) -> String {
        let (word, color) = match mark {
            Mark::Good => ("ok", 32),
            Mark::Bad => ("no", 31),
            Mark::Open => ("--", 33),
        };
        if self.color {
            format!("\u{1b}[{color}m{word}\u{1b}[0m")
        } else {
            word.to_owned()
        }
    }
}

impl Line {
    fn moving(color: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let template = format!("{{spinner{color}}} {{elapsed:>4}} {{wide_msg}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        Self::Moving(bar)
    }

    /// Sets what a moving line says.
    fn set(&self, text: &str) {
        if let Self::Moving(bar) = self {
            bar.reset_elapsed();
            bar.set_message(text.to_owned());
        }
    }
}

/// Puts the budget that is left behind a line; nothing for none.
fn in_brackets(left: &str) -> String {
    match left {
        "" => String::new(),
        left => format!("  ({left})"),
    }
}

/// Tells whether the settings ask for colours where this is a terminal.
pub(crate) fn colored(settings: &Settings, terminal: bool) -> bool {
    match settings.display.color {
        Color::Always => true,
        Color::Auto => terminal,
        Color::Never => false,
    }
}

/// The display that the settings ask for.
pub(crate) fn of_settings(settings: &Settings) -> Display {
    let terminal = std::io::stderr().is_terminal();
    let color = colored(settings, terminal);
    let line = match settings.display.progress {
        settings::Progress::None => Line::Silent,
        settings::Progress::Auto if terminal => Line::moving(if color { ":.cyan" } else { "" }),
        settings::Progress::Auto | settings::Progress::Plain => Line::Plain(Mutex::default()),
    };
    Display { line, color }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Good,
    Bad,
    Open,
}

/// Returns how an outcome is marked; none for one that is not told.
fn mark(outcome: &Outcome) -> Option<Mark> {
    Some(match outcome {
        Outcome::Baseline(_)
        | Outcome::Context(_)
        | Outcome::Waited
        | Outcome::TestFiles(_)
        | Outcome::Agreed(_) => return None,
        Outcome::Minimized(record) if record.input.is_none() => return None,
        Outcome::Full(_) | Outcome::Postponed(_) | Outcome::Unanswered(_) => Mark::Open,
        Outcome::Located(Located::Refused { .. }) | Outcome::Stopped { .. } => Mark::Bad,
        Outcome::Climbed(rung) => of_rung(rung),
        Outcome::Challenged(challenged) => of_rung(&challenged.rung),
        Outcome::Proved(record) if !record.holds => Mark::Open,
        _ => Mark::Good,
    })
}

fn of_rung(rung: &Rung) -> Mark {
    match rung.holds {
        Some(true) => Mark::Good,
        Some(false) => Mark::Bad,
        None => Mark::Open,
    }
}
