//! The figures as a person reads them.

use super::cases::Case;
use super::score::Score;

pub(super) fn line(case: &Case, score: &Score) {
    let mark = if case.is_far { "*" } else { "" };
    let intent = match score.intent_right {
        Some(false) => " INTENT",
        _ => "",
    };
    println!(
        "{:<44} {:>5.0}% {:>4.0}% {:>5.0}% {:>5.2} {:>7} {:>6.1}  {:?}{intent}",
        format!("{}{mark}", case.id),
        100.0 * score.recall,
        100.0 * score.fix_lines,
        100.0 * score.wrong_files,
        score.efficiency,
        score.tokens,
        score.milliseconds,
        score.missing,
    );
}

/// One system over all cases: crash reports and requests, by halves.
pub(super) fn summarize(name: &str, scores: &[Score]) {
    println!("\n{name}");
    println!(
        "                 cases  recall  fix lines  wrong files    F1  efficiency  tokens  p50 ms  p95 ms  intent"
    );
    for group in ["crash", "request"] {
        let mut halves: Vec<&str> = Vec::new();
        for score in scores {
            if !halves.contains(&score.half.as_str()) {
                halves.push(&score.half);
            }
        }
        halves.sort_unstable();
        halves.push("");
        for half in halves {
            let chosen: Vec<&Score> = scores
                .iter()
                .filter(|score| score.group == group && (half.is_empty() || score.half == half))
                .collect();
            if chosen.is_empty() {
                continue;
            }
            let mean = |of: &dyn Fn(&Score) -> f64| {
                let values: Vec<f64> = chosen
                    .iter()
                    .map(|one| of(one))
                    .filter(|one| !one.is_nan())
                    .collect();
                values.iter().sum::<f64>() / values.len().max(1) as f64
            };
            let judged = chosen
                .iter()
                .filter(|one| one.intent_right.is_some())
                .count();
            let right = chosen
                .iter()
                .filter(|one| one.intent_right == Some(true))
                .count();
            println!(
                "{group:<8} {:<7} {:>5} {:>6.1}% {:>9.1}% {:>11.1}% {:>5.2} {:>11.2} {:>7.0} {:>7.1} {:>7.1}  {right}/{judged}",
                if half.is_empty() { "all" } else { half },
                chosen.len(),
                100.0 * mean(&|one| one.recall),
                100.0 * mean(&|one| one.fix_lines),
                100.0 * mean(&|one| one.wrong_files),
                mean(&|one| one.f1),
                mean(&|one| one.efficiency),
                mean(&|one| one.tokens as f64),
                percentile(&chosen, 50),
                percentile(&chosen, 95),
            );
        }
    }
}

fn percentile(scores: &[&Score], hundredth: usize) -> f64 {
    let mut times: Vec<f64> = scores.iter().map(|one| one.milliseconds).collect();
    times.sort_by(f64::total_cmp);
    let at = (times.len() * hundredth).div_ceil(100).saturating_sub(1);
    times.get(at).copied().unwrap_or_default()
}
