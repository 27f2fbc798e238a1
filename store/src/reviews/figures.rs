//! Figures of finished runs by day, for plots.

use crate::store::{Store, StoreError};

/// The runs of one day that ended in one way.
#[derive(Debug, Clone, PartialEq, sqlx::FromRow)]
pub struct DayFigures {
    /// The day, as `2030-12-31`.
    pub day: String,
    pub ending: String,
    /// Number of runs.
    pub runs: i64,
    /// Their cost in US dollars.
    pub usd: f64,
    /// Their working time in seconds.
    pub seconds: f64,
}

impl Store {
    /// The figures of every day that is not before `since`, as `2030-12-31`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn daily(&self, since: &str) -> Result<Vec<DayFigures>, StoreError> {
        let rows = sqlx::query_as(
            "SELECT substr(ended, 1, 10) AS day, COALESCE(ending, '') AS ending, COUNT(*) AS runs,
             SUM(COALESCE(usd, 0.0)) AS usd, SUM(COALESCE(seconds, 0.0)) AS seconds
             FROM run_summaries WHERE ended >= $1
             GROUP BY substr(ended, 1, 10), COALESCE(ending, '') ORDER BY 1, 2",
        )
        .bind(since);
        Ok(rows.fetch_all(&self.pool).await?)
    }

    /// Writes what lists and plots need of a report.
    pub(crate) async fn summarise(
        &self,
        run: &str,
        (ending, report): (&str, &str),
    ) -> Result<(), StoreError> {
        let report: serde_json::Value =
            serde_json::from_str(report).map_err(|error| sqlx::Error::Encode(Box::new(error)))?;
        let figure = |path: &str| report.pointer(path).and_then(serde_json::Value::as_f64);
        let attempts = report.get("attempts").and_then(|list| list.as_array());
        let attempts = attempts.map(|list| i64::try_from(list.len()).unwrap_or(i64::MAX));
        sqlx::query(
            "UPDATE run_summaries SET ending = $1, ended = $2, attempts = $3, usd = $4, seconds = $5, p_right = $6
             WHERE run = $7",
        )
        .bind(ending)
        .bind(crate::now())
        .bind(attempts)
        .bind(figure("/cost/usd"))
        .bind(figure("/seconds/total"))
        .bind(figure("/best/p_right"))
        .bind(run)
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Journal, Store};

    #[tokio::test]
    async fn runs_are_counted_by_the_day_they_ended() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).await.unwrap();
        for (run, ending) in [("a", "verified"), ("b", "verified"), ("c", "no_patch")] {
            store.create_run(run, ("t", "{}"), "{}").await.unwrap();
            let journal = Journal::claim(&store, run).await.unwrap();
            let report = r#"{"cost":{"usd":0.25},"seconds":{"total":2.0}}"#;
            journal.finish(ending, report).await.unwrap();
        }
        let days = store.daily("2000-01-01").await.unwrap();
        let told: Vec<_> = days
            .iter()
            .map(|day| (day.ending.as_str(), day.runs))
            .collect();
        assert_eq!(told, [("no_patch", 1), ("verified", 2)]);
        assert!((days[1].usd - 0.5).abs() < 1e-9 && (days[1].seconds - 4.0).abs() < 1e-9);
        assert!(store.daily("9999-01-01").await.unwrap().is_empty());
    }
}
