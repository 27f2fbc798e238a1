//! Plots over all runs: verdicts, cost and time by day, and the calibration of
//! P(right) against what people decided. The template draws them.

use crate::template::{render, values};
use crate::view::PlotsView;
use minijinja::{Error, Value, context};
use patchwright_store::reviews::DayFigures;

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
    let days = view.days.chunk_by(|one, other| one.day == other.day);
    let page = context! {
        heading => "Plots",
        viewer => values(&view.viewer),
        groups => GROUPS.map(|(name, _)| name).to_vec(),
        days => days.map(figures).collect::<Vec<_>>(),
        bins => calibration(&view.judged),
    };
    render("plots.html", page)
}

/// Returns how many runs of a day ended in each group, and what a run took on the average.
fn figures(day: &[DayFigures]) -> Value {
    let runs: i64 = day.iter().map(|one| one.runs).sum();
    let average = |figure: fn(&DayFigures) -> f64| {
        let sum: f64 = day.iter().map(figure).sum();
        sum / runs.max(1) as f64
    };
    let counts = GROUPS.map(|(_, endings)| -> i64 {
        let ended = day.iter().filter(|one| endings.contains(&&*one.ending));
        ended.map(|one| one.runs).sum()
    });
    context! {
        name => day.first().map(|one| &one.day),
        counts => counts.to_vec(),
        runs,
        usd => average(|one| one.usd),
        seconds => average(|one| one.seconds),
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
