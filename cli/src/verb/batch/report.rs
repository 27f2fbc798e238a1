//! The report of a batch: a table for people, or a shape for programs.

use super::ReportShape;
use super::list::Listed;
use patchwright_agent::template::{self, environment};
use patchwright_daemon::service::Service;
use patchwright_store::reviews::csv_cell;
use serde::Serialize;
use serde_json::json;

/// Endings that say nothing about a patch.
const ERRORS: [&str; 3] = ["invalid_task", "infra_error", "not_reproducible"];

/// One task of the report.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Row {
    pub(super) task: String,
    /// Empty when it has not ended.
    pub(super) ending: String,
    pub(super) detail: String,
    pub(super) run: String,
    pub(super) attempts: usize,
    pub(super) rounds: u32,
    pub(super) usd: f64,
    pub(super) seconds: f64,
}

impl Row {
    /// A task that was not taken.
    pub(super) fn refused(task: &str, reason: &str) -> Self {
        Self {
            task: task.to_owned(),
            ending: "invalid_task".to_owned(),
            detail: reason.to_owned(),
            ..Self::default()
        }
    }
}

/// Reads the row of each task, in the order of the batch.
pub(super) async fn rows(
    service: &Service,
    listed: &[Listed],
    refused: &[Row],
) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut refused = refused.to_vec();
    for listed in listed {
        let of_it = |row: &Row| row.task == listed.id;
        if let Some(at) = refused.iter().position(of_it) {
            rows.push(refused.remove(at));
            continue;
        }
        let mut row = Row {
            task: listed.id.clone(),
            ..Row::default()
        };
        if let Some(task) = service.store().task(&listed.id).await? {
            row.ending = task.ending.unwrap_or_default();
            row.detail = task.detail.unwrap_or_default();
            row.run = task.run.unwrap_or_default();
        }
        if let Some(report) = service.report(&listed.id).await? {
            row.attempts = report.attempts.len();
            row.rounds = report.rounds;
            row.usd = report.cost.usd;
            row.seconds = report.seconds.total;
        }
        rows.push(row);
    }
    Ok(rows)
}

/// The report; the table for people when no shape is asked for.
pub(super) fn write(rows: &[Row], shape: Option<ReportShape>) -> anyhow::Result<String> {
    let source = match shape {
        None => include_str!("templates/table"),
        Some(ReportShape::Json) => return Ok(serde_json::to_string_pretty(rows)? + "\n"),
        Some(ReportShape::Csv) => include_str!("templates/csv"),
        Some(ReportShape::Markdown) => include_str!("templates/markdown"),
        Some(ReportShape::Junit) => include_str!("templates/junit"),
    };
    let of = |kind: &str| rows.iter().filter(|row| verdict(row) == kind).count();
    let time = |seconds: f64| format!("{seconds:.3}");
    let cases = rows.iter().map(|row| {
        json!({
            "cells": cells(row),
            "task": row.task,
            "ending": row.ending,
            "detail": row.detail,
            "seconds": time(row.seconds),
            "verdict": verdict(row),
        })
    });
    let values = json!({
        "head": HEAD,
        "rows": cases.collect::<Vec<_>>(),
        "counts": { "failure": of("failure"), "error": of("error"), "skipped": of("skipped") },
        "seconds": time(rows.iter().map(|row| row.seconds).sum()),
    });
    let mut environment = environment()?;
    environment.add_filter("csv", |cell: &str| csv_cell(cell));
    environment.add_template("report", source)?;
    Ok(template::render(&environment, "report", &values)?)
}

const HEAD: [&str; 7] = [
    "task", "ending", "attempts", "rounds", "usd", "seconds", "run",
];

fn cells(row: &Row) -> [String; 7] {
    let ending = match row.ending.as_str() {
        "" => "not ended",
        ending => ending,
    };
    [
        row.task.clone(),
        ending.to_owned(),
        row.attempts.to_string(),
        row.rounds.to_string(),
        format!("{:.4}", row.usd),
        format!("{:.1}", row.seconds),
        row.run.clone(),
    ]
}

/// `verified` passes; an ending that says nothing about a patch is an error,
/// any other a failure, none at all is skipped.
fn verdict(row: &Row) -> &'static str {
    match row.ending.as_str() {
        "" | "canceled" => "skipped",
        "verified" => "passed",
        ending if ERRORS.contains(&ending) => "error",
        _ => "failure",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        let row = |task: &str, ending: &str, detail: &str| Row {
            task: task.to_owned(),
            ending: ending.to_owned(),
            detail: detail.to_owned(),
            seconds: 1.5,
            ..Row::default()
        };
        vec![
            row("a", "verified", "all, \"good\""),
            row("b|c", "no_patch", "<no>\u{1}\n"),
            row("d", "infra_error", "disk"),
            row("e", "", ""),
        ]
    }

    #[test]
    fn letters_that_are_not_ascii_shift_no_column() {
        let mut rows = rows();
        rows[1].task = "süßes".to_owned();
        let table = write(&rows, None).unwrap();
        assert!(table.starts_with("task   ending "), "{table}");
        assert!(table.contains("\na      verified "), "{table}");
        assert!(table.contains("\nsüßes  no_patch "), "{table}");
    }

    #[test]
    fn each_shape_says_every_task() {
        let text = |shape| write(&rows(), shape).unwrap();
        let table = text(None);
        assert!(table.starts_with("task  ending       attempts"), "{table}");
        assert!(table.contains("\ne     not ended    0 "), "{table}");
        assert!(table.ends_with("\n1 of 4 verified\n"), "{table}");
        let csv = text(Some(ReportShape::Csv));
        assert!(
            csv.contains("\na,verified,0,0,0.0000,1.5,,\"all, \"\"good\"\"\"\n"),
            "{csv}"
        );
        let markdown = text(Some(ReportShape::Markdown));
        assert!(
            markdown.contains("\n| b\\|c | no_patch | 0 |"),
            "{markdown}"
        );
        let junit = text(Some(ReportShape::Junit));
        for part in [
            "tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\" time=\"6.000\"",
            "<failure type=\"no_patch\" message=\"&lt;no&gt;\\u{1}&#10;\"/>",
            "name=\"a\" time=\"1.500\"/>",
            "<skipped/>",
        ] {
            assert!(junit.contains(part), "{part} is not in {junit}");
        }
        let json: serde_json::Value = serde_json::from_str(&text(Some(ReportShape::Json))).unwrap();
        assert_eq!(json[1]["ending"], "no_patch");
    }
}
