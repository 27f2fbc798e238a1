//! Money: reserved before a call, settled after it.
//!
//! A reservation and the check of every limit are one statement, so that the
//! limits hold for any number of lanes and processes over one store. A
//! reservation that was never settled (its process died) stays booked.

use super::{Journal, Store, StoreError, now};

/// Limits in US dollars; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SpendingLimits {
    /// Of this run.
    pub run: Option<f64>,
    /// Of this day (UTC), over all runs of the store.
    pub day: Option<f64>,
    /// Of the store, ever.
    pub total: Option<f64>,
}

impl SpendingLimits {
    /// Whether any limit is set.
    pub fn any(&self) -> bool {
        self.run.is_some() || self.day.is_some() || self.total.is_some()
    }
}

impl Journal {
    /// Books what the call of event `number` may cost at most, or says which
    /// limit stands against it.
    pub async fn reserve(
        &self,
        number: i64,
        usd: f64,
        limits: SpendingLimits,
    ) -> Result<(), StoreError> {
        let day: String = now().chars().take(10).collect();
        let booked = sqlx::query(
            "INSERT INTO spending (run, number, day, reserved)
             SELECT ?1, ?2, ?3, ?4 WHERE
             (?5 IS NULL OR ?4 + (SELECT COALESCE(SUM(COALESCE(settled, reserved)), 0) FROM spending WHERE run = ?1) <= ?5) AND
             (?6 IS NULL OR ?4 + (SELECT COALESCE(SUM(COALESCE(settled, reserved)), 0) FROM spending WHERE day = ?3) <= ?6) AND
             (?7 IS NULL OR ?4 + (SELECT COALESCE(SUM(COALESCE(settled, reserved)), 0) FROM spending) <= ?7)",
        )
        .bind(self.run())
        .bind(number)
        .bind(&day)
        .bind(usd)
        .bind(limits.run)
        .bind(limits.day)
        .bind(limits.total)
        .execute(&self.store().pool)
        .await?;
        if booked.rows_affected() == 1 {
            return Ok(());
        }
        self.explain_refusal(&day, usd, limits).await
    }

    /// Books what the call really cost.
    pub async fn settle(&self, number: i64, usd: f64) -> Result<(), StoreError> {
        sqlx::query("UPDATE spending SET settled = ? WHERE run = ? AND number = ?")
            .bind(usd)
            .bind(self.run())
            .bind(number)
            .execute(&self.store().pool)
            .await?;
        Ok(())
    }

    async fn explain_refusal(
        &self,
        day: &str,
        wanted: f64,
        limits: SpendingLimits,
    ) -> Result<(), StoreError> {
        let store = self.store();
        let run = store.spent(RUN_SUM, self.run()).await?;
        let today = store.spent(DAY_SUM, day).await?;
        let total = store.spent(TOTAL_SUM, "").await?;
        for (which, limit, spent) in [
            ("run", limits.run, run),
            ("day", limits.day, today),
            ("total", limits.total, total),
        ] {
            if let Some(limit) = limit
                && spent + wanted > limit
            {
                return Err(StoreError::Money {
                    which,
                    limit,
                    spent,
                    wanted,
                });
            }
        }
        Err(StoreError::Money {
            which: "run",
            limit: limits.run.unwrap_or_default(),
            spent: run,
            wanted,
        })
    }
}

const RUN_SUM: &str =
    "SELECT COALESCE(SUM(COALESCE(settled, reserved)), 0.0) FROM spending WHERE run = ?";
const DAY_SUM: &str =
    "SELECT COALESCE(SUM(COALESCE(settled, reserved)), 0.0) FROM spending WHERE day = ?";
const TOTAL_SUM: &str =
    "SELECT COALESCE(SUM(COALESCE(settled, reserved)), 0.0) FROM spending WHERE '' = ?";

impl Store {
    async fn spent(&self, sql: &'static str, value: &str) -> Result<f64, StoreError> {
        let (sum,): (f64,) = sqlx::query_as(sql)
            .bind(value)
            .fetch_one(&self.pool)
            .await?;
        Ok(sum)
    }
}
