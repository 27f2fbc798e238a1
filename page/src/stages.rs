//! Bars of the time and cost of each kind of step.

use crate::text::{money, seconds, shown_line};
use crate::view::RunView;
use maud::{Markup, html};

/// The height of a bar with its gap, and the width of the widest.
const STEP: usize = 26;
const WIDEST: f64 = 300.0;
/// Seconds below which a stage is left out.
const SHORTEST: f64 = 0.05;
/// Where the bars begin.
const LEFT: usize = 150;

/// Writes the chart; nothing where nothing was timed.
pub(crate) fn chart(view: &RunView) -> Markup {
    let stages: Vec<_> = view
        .stages
        .iter()
        .filter(|stage| stage.1 >= SHORTEST || stage.2 > 0.0)
        .collect();
    let longest = stages.iter().map(|stage| stage.1).fold(0.1, f64::max);
    let height = stages.len() * STEP + 4;
    html! {
        @if !stages.is_empty() {
            section aria-labelledby="time" {
                h2 #time { "Time and cost by stage" }
                svg.bars viewBox={ "0 0 640 " (height) } role="img" aria-label="Seconds and dollars of each stage" {
                    @for (number, (name, time, usd)) in stages.iter().enumerate() {
                        @let y = number * STEP;
                        text x=(LEFT - 8) y=(y + 16) text-anchor="end" { (shown_line(&name.replace('_', " "))) }
                        rect.bar x=(LEFT) y=(y + 4) width=(format!("{:.1}", (WIDEST * time / longest).max(1.0))) height="16" rx="2" {}
                        text.muted x=(format!("{:.1}", LEFT as f64 + (WIDEST * time / longest).max(1.0) + 8.0)) y=(y + 16) {
                            (seconds(*time)) @if *usd > 0.0 { " · " (money(*usd)) }
                        }
                    }
                }
            }
        }
    }
}
