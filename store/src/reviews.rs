//! Reviews: the list of runs and tasks, the headings of a run's events, and the
//! decisions of people, which are events of the run.

mod list;

pub use list::{DayFigures, ListFilter, ListPage, ListedTask};

use crate::journal::write_event;
use crate::store::{Result, Store, damaged, now, rows};
use patchwright_agent::journal::{EventKind, NewEvent};
use patchwright_agent::record::StepId;
use patchwright_agent::words;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The name of the event that a decision is.
pub const DECISION: &str = "decision";

/// The decision of a person about a run or a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecisionKind {
    /// The candidate is right.
    Approve,
    /// The candidate is wrong.
    Reject,
    /// The new behaviour on an input is right.
    Contest,
    /// The candidate is to climb the ladder.
    Evaluate,
    /// Another attempt is to be made.
    Revise,
    /// The candidate was handed on.
    Export,
    /// The run is to stop.
    Cancel,
}

words!(DecisionKind: Approve "approve", Reject "reject", Contest "contest", Evaluate "evaluate", Revise "revise",
    Export "export", Cancel "cancel");

impl DecisionKind {
    /// Tells whether it says that a candidate is right or wrong.
    pub fn is_verdict(self) -> bool {
        matches!(self, Self::Approve | Self::Reject)
    }
}

/// A decision, with the figures of the evidence that it was made on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewDecision {
    pub kind: DecisionKind,
    /// The attempt, by its number; 0 for the run as a whole.
    pub attempt: u32,
    /// The person: the name of a token, or a user of this machine.
    pub who: String,
    /// The reason; may be empty.
    #[serde(default)]
    pub reason: String,
    /// The input that is contested: its hash among the blobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The task or run that was started by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow_up: Option<String>,
    /// The ending of the run at that time.
    #[serde(default)]
    pub ending: String,
    /// P(right) at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_right: Option<f64>,
    /// The figures of the evidence.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub features: BTreeMap<String, f64>,
}

/// A decision on record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    pub run: String,
    /// The task of the run.
    pub task: String,
    /// The number of its event.
    pub number: i64,
    /// UTC.
    pub time: String,
    #[serde(flatten)]
    pub made: NewDecision,
}

/// The heading of an event: all but its body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, sqlx::FromRow)]
pub struct Heading {
    /// Counted from 1.
    pub number: i64,
    /// UTC.
    pub time: String,
    /// The lane, 0 for the run itself.
    pub lane: i64,
    /// The step of this lane.
    pub step: i64,
    /// `intent`, `outcome` or `note`.
    pub kind: String,
    /// `baseline`, `ask`, `climb`, ...
    pub name: String,
    /// A sentence for people.
    pub summary: String,
}

impl NewDecision {
    /// The decision in a sentence.
    pub fn sentence(&self) -> String {
        let of = match self.attempt {
            0 => "the run".to_owned(),
            number => format!("attempt {number}"),
        };
        let done = match self.kind {
            DecisionKind::Approve => format!("approved {of}"),
            DecisionKind::Reject => format!("rejected {of}"),
            DecisionKind::Contest => format!("contests a doubt about {of}"),
            DecisionKind::Evaluate => format!("has {of} evaluated"),
            DecisionKind::Revise => format!("has {of} revised"),
            DecisionKind::Export => format!("exported {of}"),
            DecisionKind::Cancel => format!("canceled {of}"),
        };
        let reason = self.reason.lines().next().unwrap_or_default();
        match reason {
            "" => format!("{} {done}", self.who),
            reason => format!("{} {done}: {reason}", self.who),
        }
    }
}

impl Store {
    /// Writes a decision into the journal of its run and returns its number. Whoever
    /// works on the run keeps the right to write to it.
    ///
    /// # Errors
    /// When there is no such run, or the database fails.
    pub async fn decide(&self, run: &str, decision: &NewDecision) -> Result<i64> {
        self.patiently(|_| self.try_decide(run, decision)).await
    }

    async fn try_decide(&self, run: &str, decision: &NewDecision) -> Result<i64> {
        let mut transaction = self.begin().await?;
        let event = NewEvent {
            step: StepId { lane: 0, number: 0 },
            kind: EventKind::Note,
            name: DECISION.to_owned(),
            summary: decision.sentence(),
            body: json!({ "decision": decision }),
        };
        let content = (&event, &*now(), &*event.body.to_string());
        let number = write_event(&mut transaction, (run, None), content).await?;
        let number = number.ok_or_else(|| self.no_run(run))?;
        transaction.commit().await?;
        Ok(number)
    }

    /// The decisions about a run, or about all, in the order in which they were made.
    ///
    /// # Errors
    /// When the database fails, or a decision cannot be read.
    pub async fn decisions(&self, run: Option<&str>) -> Result<Vec<Decision>> {
        let found = "SELECT events.run, runs.task, events.number, events.time, events.body
            FROM events JOIN runs ON runs.id = events.run
            WHERE events.name = 'decision' AND ($1 = '' OR events.run = $1)
            ORDER BY events.time, events.run, events.number";
        let found: Vec<(String, String, i64, String, String)> =
            rows(&self.pool, found, (run.unwrap_or_default(),)).await?;
        let read = found.into_iter().map(|(run, task, number, time, body)| {
            let body: Body = serde_json::from_str(&body)
                .map_err(damaged(format!("event {number} of run {run}")))?;
            Ok(Decision {
                run,
                task,
                number,
                time,
                made: body.decision,
            })
        });
        read.collect()
    }

    /// The headings of a run's events with a higher number, at most `limit` of them.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn headings(&self, run: &str, after: i64, limit: u32) -> Result<Vec<Heading>> {
        let found = "SELECT number, time, lane, step, kind, name, summary FROM events
            WHERE run = $1 AND number > $2 ORDER BY number LIMIT $3";
        rows(&self.pool, found, (run, after, i64::from(limit))).await
    }

    /// The cost of the calls of a run, by the name of their event.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn cost_by_step(&self, run: &str) -> Result<Vec<(String, f64)>> {
        let costs = "SELECT events.name, SUM(COALESCE(spending.settled, spending.reserved))
            FROM spending
            JOIN events ON events.run = spending.run AND events.number = spending.number
            WHERE spending.run = $1 GROUP BY events.name ORDER BY events.name";
        rows(&self.pool, costs, (run,)).await
    }
}

/// The columns of decisions as CSV.
const COLUMNS: &str =
    "time,run,task,attempt,decision,who,reason,input,follow_up,ending,p_right,features";

/// Writes decisions as CSV, for programs that learn from them: one line a decision, the
/// figures of the evidence as JSON in the last column.
///
/// # Errors
/// A figure has no form in JSON.
pub fn csv(decisions: &[Decision]) -> serde_json::Result<String> {
    let mut text = format!("{COLUMNS}\n");
    for decision in decisions {
        let value = serde_json::to_value(decision)?;
        let cells = COLUMNS.split(',').map(|column| {
            let key = if column == "decision" { "kind" } else { column };
            match (column, value.get(key)) {
                (_, Some(Value::String(text))) => csv_cell(text),
                (_, Some(figures)) => csv_cell(&figures.to_string()),
                ("features", None) => "{}".to_owned(),
                (_, None) => String::new(),
            }
        });
        text.push_str(&cells.collect::<Vec<_>>().join(","));
        text.push('\n');
    }
    Ok(text)
}

/// Quotes a cell of CSV. One that begins like a formula gets a quote in front, so that no
/// spreadsheet computes it.
pub fn csv_cell(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let cell = if formula {
        format!("'{cell}")
    } else {
        cell.to_owned()
    };
    if cell.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell
}

/// The body of a decision's event.
#[derive(Deserialize)]
struct Body {
    decision: NewDecision,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Journal, StoreError};

    fn decision(kind: DecisionKind) -> NewDecision {
        NewDecision {
            kind,
            attempt: 1,
            who: "ada".to_owned(),
            reason: "the check\0 is gone".to_owned(),
            input: None,
            follow_up: None,
            ending: "verified".to_owned(),
            p_right: Some(0.5),
            features: [("tests".to_owned(), 1.5)].into(),
        }
    }

    #[tokio::test]
    async fn decisions_are_events_beside_those_of_the_worker() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).await.unwrap();
        store.create_run("r", ("t", "{}"), "{}").await.unwrap();
        let journal = Journal::claim(&store, "r").await.unwrap();
        let number = store.decide("r", &decision(DecisionKind::Reject)).await;
        assert_eq!(number.unwrap(), 1);
        // The worker still has the run.
        journal.standing().await.unwrap();
        journal.finish("no_patch", "{}").await.unwrap();
        let approve = decision(DecisionKind::Approve);
        assert_eq!(store.decide("r", &approve).await.unwrap(), 2);
        let all = store.decisions(None).await.unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!(
            (all[0].task.as_str(), all[0].made.who.as_str()),
            ("t", "ada")
        );
        assert_eq!(all[0].made.p_right, Some(0.5));
        assert_eq!(all[1].made.kind, DecisionKind::Approve);
        assert!(store.decisions(Some("s")).await.unwrap().is_empty());
        let text = csv(&all).unwrap();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(
            text.contains(",reject,ada,") && text.contains("0.5,\"{\"\"tests\"\":1.5}\""),
            "{text}"
        );
        assert_eq!(csv_cell("=1+1"), "'=1+1");
        let headings = store.headings("r", 0, 10).await.unwrap();
        assert_eq!(headings[0].name, DECISION);
        assert!(headings[0].summary.starts_with("ada rejected attempt 1"));
        assert!(matches!(
            store.decide("none", &approve).await,
            Err(StoreError::NoRun { .. })
        ));
    }
}
