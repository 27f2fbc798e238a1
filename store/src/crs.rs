//! Records of the interfaces for cyber reasoning systems: cases, findings and patches, as
//! JSON under the keys that they are found by. What they mean is the business of the daemon.

use crate::store::{Result, Store, execute, in_journal_form, now, rows, scalar};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::AnyConnection;

/// Something that is kept for a case.
pub trait Record: Serialize + DeserializeOwned {
    const KIND: &'static str;
}

/// A record as it is written.
#[derive(Debug)]
pub struct Written {
    kind: &'static str,
    id: String,
    case: String,
    tag: String,
    until: Option<i64>,
    body: String,
}

impl Written {
    /// Writes a record as JSON. Its keys are what it is found by: `id`, and `case`, where it is no case
    /// itself. `state` and `round` are compared before it is changed: those of a finding that is
    /// worked on begin with `open`. `deadline` says until when somebody wants a case.
    pub fn of<R: Record>(record: &R) -> Result<Self> {
        let body = serde_json::to_value(record);
        let body = body.map_err(|error| sqlx::Error::Encode(error.into()))?;
        let text = |key| body.get(key).and_then(Value::as_str);
        let id = text("id").unwrap_or_default();
        let state = text("state").unwrap_or_default();
        let round = body.get("round").and_then(Value::as_i64);
        Ok(Self {
            kind: R::KIND,
            id: id.to_owned(),
            case: text("case").unwrap_or(id).to_owned(),
            tag: round.map_or_else(|| state.to_owned(), |round| format!("{state} {round}")),
            until: body.get("deadline").and_then(Value::as_i64),
            body: body.to_string(),
        })
    }

    async fn insert(&self, database: &mut AnyConnection, statement: &'static str) -> Result<()> {
        let created = jiff::Timestamp::now().as_millisecond();
        let values = (
            self.kind, &self.id, &self.case, &self.tag, self.until, &self.body, created,
        );
        execute(database, statement, values).await?;
        Ok(())
    }
}

const ADD: &str = "INSERT INTO crs_records (kind, id, crs_case, tag, until, body, created)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (kind, id) DO NOTHING";
const SET: &str = "INSERT INTO crs_records (kind, id, crs_case, tag, until, body, created)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (kind, id) DO UPDATE SET tag = excluded.tag, body = excluded.body";

impl Store {
    /// Writes down what a message brings, all of it or nothing. Records that are known stay
    /// as they are, and a message that was taken before brings nothing. A request that is
    /// known by its record has no message.
    pub async fn crs_take(&self, message: Option<&str>, brought: &[Written]) -> Result<()> {
        let mut transaction = self.begin().await?;
        if let Some(message) = message {
            let take = "INSERT INTO crs_messages (id, received) VALUES ($1, $2)
                ON CONFLICT (id) DO NOTHING";
            if execute(&mut *transaction, take, (message, now())).await? == 0 {
                return Ok(());
            }
        }
        for record in brought {
            record.insert(&mut transaction, ADD).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    pub async fn crs_record<R: Record>(&self, id: &str) -> Result<Option<R>> {
        let found = "SELECT body FROM crs_records WHERE kind = $1 AND id = $2";
        let found: Option<String> = scalar(&self.pool, found, (R::KIND, id)).await?;
        found.map(|body| read(&body)).transpose()
    }

    /// The records of a case, or of all cases, the oldest first.
    pub async fn crs_records<R: Record>(&self, case: Option<&str>) -> Result<Vec<R>> {
        let found = "SELECT body FROM crs_records WHERE kind = $1 AND ($2 = '' OR crs_case = $2)
            ORDER BY created, id";
        let keys = (R::KIND, case.unwrap_or_default());
        let found: Vec<(String,)> = rows(&self.pool, found, keys).await?;
        found.iter().map(|(body,)| read(body)).collect()
    }

    /// Writes a record down, new or changed.
    pub async fn crs_set<R: Record>(&self, record: &R) -> Result<()> {
        let mut connection = self.pool.acquire().await?;
        Written::of(record)?.insert(&mut connection, SET).await
    }

    /// Writes down what became of a record since it was read; false, and nothing is written,
    /// when somebody else changed its tag.
    pub async fn crs_change<R: Record>(&self, before: &R, after: &R) -> Result<bool> {
        let (before, after) = (Written::of(before)?, Written::of(after)?);
        let change =
            "UPDATE crs_records SET tag = $1, body = $2 WHERE kind = $3 AND id = $4 AND tag = $5";
        let values = (after.tag, after.body, after.kind, after.id, before.tag);
        Ok(execute(&self.pool, change, values).await? == 1)
    }

    /// Forgets messages that came before a time, challenges whose deadline lies
    /// before it, and what came of findings of known projects before it.
    pub(super) async fn crs_prune(&self, before: jiff::Timestamp) -> Result<()> {
        let mut transaction = self.begin().await?;
        let forget = "DELETE FROM crs_messages WHERE received < $1";
        execute(&mut *transaction, forget, (in_journal_form(before),)).await?;
        for forget in [
            "DELETE FROM crs_records WHERE crs_case IN
             (SELECT id FROM crs_records WHERE kind = 'case' AND until < $1)",
            "DELETE FROM crs_records WHERE kind = 'finding' AND created < $1 AND tag NOT LIKE 'open%'
             AND crs_case IN (SELECT id FROM crs_records WHERE kind = 'case' AND until IS NULL)",
            "DELETE FROM crs_records WHERE kind = 'patch' AND created < $1
             AND crs_case IN (SELECT id FROM crs_records WHERE kind = 'case' AND until IS NULL)
             AND NOT EXISTS (SELECT 1 FROM crs_records AS other WHERE other.kind = 'finding'
                             AND other.body LIKE '%\"' || crs_records.id || '\"%')",
        ] {
            execute(&mut *transaction, forget, (before.as_millisecond(),)).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Makes one process the one that watches over the cases, until `until`.
    /// Times are milliseconds of 13 digits, so that they compare as text.
    pub async fn crs_lease(&self, holder: &str, now: i64, until: i64) -> Result<bool> {
        let lease = "INSERT INTO switches (name, value) VALUES ('crs watch', $1)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            WHERE switches.value < $2 OR substr(switches.value, 15) = $3";
        let (until, now) = (format!("{until:013} {holder}"), format!("{now:013}"));
        Ok(execute(&self.pool, lease, (until, now, holder)).await? == 1)
    }
}

fn read<R: Record>(body: &str) -> Result<R> {
    let record = serde_json::from_str(body);
    Ok(record.map_err(|error| sqlx::Error::Decode(error.into()))?)
}
