//! Plots over all runs: verdicts, cost and time by day, and the calibration of
//! P(right) against what people decided.

use crate::template::{render, values};
use crate::text::{money, seconds};
use crate::view::PlotsView;
use minijinja::{Error, Value, context};
use std::collections::BTreeMap;

const HEIGHT: f64 = 140.0;
const WIDTH: f64 = 640.0;
/// Parts of the range of P(right) that are told apart.
const BINS: usize = 5;

/// The groups of endings, from the bottom of a bar.
const GROUPS: [(&str, &[&str]); 4] = [
    ("verified", &["verified"]),
    ("plausible", &["plausible", "unverified", "proposed"]),
    (
        "no patch",
        &[
            "no_patch",
            "budget_exhausted",
            "deadline",
            "not_reproducible",
        ],
    ),
    ("failed", &["invalid_task", "infra_error", "canceled"]),
];

/// Writes the page of the plots.
///
/// # Errors
/// The template does not fit the values.
pub fn plots(view: &PlotsView) -> Result<String, Error> {
    let days = Days::of(view);
    let most = days.0.values().map(|day| day.runs).fold(1.0, f64::max);
    let (usd, time): (Figure, Figure) = (|day| day.usd, |day| day.seconds);
    let page = context! {
        heading => "Plots",
        viewer => values(&view.viewer),
        groups => GROUPS.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        most => format!("{most:.0}"),
        width => (days.step() - 3.0).clamp(2.0, 48.0),
        days => days.bars(most),
        cost => days.line(usd, money, "Average cost of a run on each day"),
        time => days.line(time, seconds, "Average time of a run on each day"),
        bins => calibration(&view.judged),
    };
    render("plots.html", page)
}

type Figure = fn(&Day) -> f64;

/// The figures of a day.
#[derive(Debug, Default)]
struct Day {
    groups: [f64; GROUPS.len()],
    runs: f64,
    usd: f64,
    seconds: f64,
}

struct Days(BTreeMap<String, Day>);

impl Days {
    fn of(view: &PlotsView) -> Self {
        let mut days: BTreeMap<String, Day> = BTreeMap::new();
        for one in &view.days {
            let day = days.entry(one.day.clone()).or_default();
            let runs = one.runs as f64;
            let group = GROUPS
                .iter()
                .position(|(_, endings)| endings.contains(&one.ending.as_str()));
            if let Some(count) = group.and_then(|group| day.groups.get_mut(group)) {
                *count += runs;
            }
            day.runs += runs;
            day.usd += one.usd;
            day.seconds += one.seconds;
        }
        Self(days)
    }

    /// The width of a day.
    fn step(&self) -> f64 {
        (WIDTH - 60.0) / (self.0.len().max(1) as f64)
    }

    /// Returns whether a day has room for its name.
    fn is_labelled(&self, number: usize) -> bool {
        number.is_multiple_of(self.0.len().div_ceil(10).max(1))
    }

    /// Returns the bar of each day, a part for each group of endings.
    fn bars(&self, most: f64) -> Vec<Value> {
        let days = self.0.iter().enumerate();
        let days = days.map(|(number, (name, day))| {
            let mut below = 0.0;
            let bars = day.groups.iter().enumerate().map(|(group, count)| {
                below += count;
                let (y, height) = (150.0 - HEIGHT * below / most, HEIGHT * count / most);
                context! { group, count => *count as u64, y, height }
            });
            let bars: Vec<Value> = bars.collect();
            let x = 50.0 + number as f64 * self.step();
            context! { name, x, bars, labelled => self.is_labelled(number) }
        });
        days.collect()
    }

    /// Returns the average of a figure of the runs of each day.
    fn line(&self, figure: Figure, told: fn(f64) -> String, label: &str) -> Value {
        let figure = |day: &Day| figure(day) / day.runs.max(1.0);
        let most = self.0.values().map(figure).fold(0.0, f64::max);
        let scale = HEIGHT / most.max(f64::MIN_POSITIVE);
        let days = self.0.iter().enumerate();
        let dots = days.map(|(number, (name, day))| {
            let x = 50.0 + (number as f64 + 0.5) * self.step();
            let y = 150.0 - scale * figure(day);
            context! { name, x, y, told => told(figure(day)), labelled => self.is_labelled(number) }
        });
        context! { label, top => told(most), dots => dots.collect::<Vec<_>>() }
    }
}

/// Returns how many candidates of each part of the range were approved.
fn calibration(judged: &[(f64, bool)]) -> Vec<Value> {
    let mut bins = [(0_u32, 0_u32, 0.0); BINS];
    for (right, approved) in judged {
        // Shares are never negative, so this is the floor.
        let bin = ((right * BINS as f64) as usize).min(BINS - 1);
        if let Some(bin) = bins.get_mut(bin) {
            bin.0 += 1;
            bin.1 += u32::from(*approved);
            bin.2 += right;
        }
    }
    let bins = bins.iter().filter(|bin| bin.0 > 0);
    let bins = bins.map(|(count, approved, sum)| {
        let right = sum / f64::from(*count);
        let radius = (2.0 + f64::from(*count).sqrt() * 2.0).min(14.0);
        context! { count, approved, right, radius, told => format!("{right:.2}") }
    });
    bins.collect()
}

#[cfg(test)]
mod tests {
    use super::plots;
    use crate::view::PlotsView;
    use patchwright_store::reviews::DayFigures;

    #[test]
    fn plots_show_what_there_is() {
        let day = |day: &str, ending: &str, runs| DayFigures {
            day: day.to_owned(),
            ending: ending.to_owned(),
            runs,
            usd: 0.5,
            seconds: 30.0,
        };
        let view = PlotsView {
            days: vec![
                day("2030-01-01", "verified", 3),
                day("2030-01-01", "no_patch", 1),
                day("2030-01-02", "plausible", 2),
            ],
            judged: vec![(0.9, true), (0.95, true), (0.1, false)],
            ..PlotsView::default()
        };
        let page = plots(&view).unwrap();
        for part in [
            "2030-01-01: 3 verified",
            "2 of 2 approved at P(right) 0.93",
            "0 of 1 approved",
            "2030-01-02: $0.25",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let empty = plots(&PlotsView::default()).unwrap();
        assert!(empty.contains("No run has ended yet") && !empty.contains("<svg"));
    }
}
