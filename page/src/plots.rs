//! Plots over all runs: verdicts, cost and time by day, and the calibration of
//! P(right) against what people decided.

use crate::layout::page;
use crate::text::{money, seconds};
use crate::view::PlotsView;
use maud::{Markup, html};
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
pub fn plots(view: &PlotsView) -> String {
    let days = Days::of(view);
    let content = html! {
        h1 { "Plots" }
        @if days.0.is_empty() { p.empty { "No run has ended yet." } } @else {
            section aria-labelledby="verdicts" { h2 #verdicts { "Verdicts by day" } (legend()) (verdicts(&days)) }
            section aria-labelledby="cost" { h2 #cost { "Cost of a run by day" } (line(&days, |day| day.usd / day.runs.max(1.0), &money, "Average cost of a run on each day")) }
            section aria-labelledby="time" { h2 #time { "Time to the verdict by day" } (line(&days, |day| day.seconds / day.runs.max(1.0), &seconds, "Average time of a run on each day")) }
        }
        section aria-labelledby="calibration" {
            h2 #calibration { "Calibration of P(right)" }
            p.muted { "Candidates that somebody approved or rejected, by the P(right) that they had. On the line the number is what it says." }
            @if view.judged.is_empty() { p.empty { "No candidate with P(right) was approved or rejected yet." } } @else { (calibration(&view.judged)) }
        }
    };
    page("Plots", &view.viewer, None, &content)
}

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

    fn step(&self) -> f64 {
        (WIDTH - 60.0) / (self.0.len().max(1) as f64)
    }
}

fn legend() -> Markup {
    html! { ul.legend { @for (number, (name, _)) in GROUPS.iter().enumerate() { li { span class={ "key g" (number) } {} (name) } } } }
}

fn verdicts(days: &Days) -> Markup {
    let most = days.0.values().map(|day| day.runs).fold(1.0, f64::max);
    let step = days.step();
    html! {
        svg.plot viewBox="0 0 640 180" role="img" aria-label="Number of runs on each day by verdict" {
            (axis(&format!("{most:.0}")))
            @for (number, (name, day)) in days.0.iter().enumerate() {
                @let x = 50.0 + number as f64 * step;
                @for (group, count) in day.groups.iter().enumerate() {
                    @let below: f64 = day.groups.iter().take(group).sum();
                    @if *count > 0.0 {
                        rect class={ "g" (group) } x=(short(x)) y=(short(150.0 - HEIGHT * (below + count) / most)) width=(short((step - 3.0).clamp(2.0, 48.0))) height=(short(HEIGHT * count / most)) {
                            title { (name) ": " (count) " " (GROUPS.get(group).map_or("", |group| group.0)) }
                        }
                    }
                }
                (day_label(number, days.0.len(), x, name))
            }
        }
    }
}

fn line(
    days: &Days,
    figure: impl Fn(&Day) -> f64,
    told: &dyn Fn(f64) -> String,
    label: &str,
) -> Markup {
    let most = days
        .0
        .values()
        .map(&figure)
        .fold(f64::MIN_POSITIVE, f64::max);
    let step = days.step();
    let place = |number: usize, day: &Day| {
        (
            50.0 + (number as f64 + 0.5) * step,
            150.0 - HEIGHT * figure(day) / most,
        )
    };
    let points: Vec<String> = days
        .0
        .values()
        .enumerate()
        .map(|(number, day)| {
            let (x, y) = place(number, day);
            format!("{x:.1},{y:.1}")
        })
        .collect();
    html! {
        svg.plot viewBox="0 0 640 180" role="img" aria-label=(label) {
            (axis(&told(if most > f64::MIN_POSITIVE { most } else { 0.0 })))
            polyline.line points=(points.join(" ")) {}
            @for (number, (name, day)) in days.0.iter().enumerate() {
                @let (x, y) = place(number, day);
                circle.dot cx=(short(x)) cy=(short(y)) r="3.5" { title { (name) ": " (told(figure(day))) } }
                (day_label(number, days.0.len(), x - 14.0, name))
            }
        }
    }
}

fn axis(top: &str) -> Markup {
    html! {
        line.axis x1="46" y1="150" x2="640" y2="150" {}
        line.grid x1="46" y1="10" x2="640" y2="10" {}
        text.muted x="40" y="14" text-anchor="end" { (top) }
        text.muted x="40" y="154" text-anchor="end" { "0" }
    }
}

/// Writes the day below the axis; of many days only some.
fn day_label(number: usize, days: usize, x: f64, name: &str) -> Markup {
    let every = days.div_ceil(10).max(1);
    html! { @if number.is_multiple_of(every) { text.muted x=(short(x)) y="170" { (name.get(5..).unwrap_or(name)) } } }
}

fn calibration(judged: &[(f64, bool)]) -> Markup {
    let mut bins = [(0_u32, 0_u32, 0.0); BINS];
    for (right, approved) in judged {
        let bin = ((right * BINS as f64) as usize).min(BINS - 1);
        if let Some(bin) = bins.get_mut(bin) {
            bin.0 += 1;
            bin.1 += u32::from(*approved);
            bin.2 += right;
        }
    }
    html! {
        svg.plot.square viewBox="0 0 240 220" role="img" aria-label="Share of approved candidates by their P(right)" {
            line.axis x1="40" y1="190" x2="220" y2="190" {} line.axis x1="40" y1="10" x2="40" y2="190" {}
            line.grid x1="40" y1="190" x2="220" y2="10" {}
            text.muted x="130" y="212" text-anchor="middle" { "P(right)" }
            text.muted x="34" y="14" text-anchor="end" { "100 %" } text.muted x="34" y="194" text-anchor="end" { "0" }
            @for (count, approved, sum) in bins.iter().filter(|bin| bin.0 > 0) {
                @let (x, y) = (sum / f64::from(*count), f64::from(*approved) / f64::from(*count));
                circle.dot cx=(short(40.0 + 180.0 * x)) cy=(short(190.0 - 180.0 * y)) r=(short((2.0 + f64::from(*count).sqrt() * 2.0).min(14.0))) {
                    title { (approved) " of " (count) " approved at P(right) " (format!("{x:.2}")) }
                }
            }
        }
    }
}

fn short(number: f64) -> String {
    format!("{number:.1}")
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
        let page = plots(&view);
        for part in [
            "2030-01-01: 3 verified",
            "2 of 2 approved at P(right) 0.93",
            "0 of 1 approved",
            "2030-01-02: $0.25",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let empty = plots(&PlotsView::default());
        assert!(empty.contains("No run has ended yet") && !empty.contains("<svg"));
    }
}
