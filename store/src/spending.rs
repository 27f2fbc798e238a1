//! Money: reserved before a call, settled after it.
//!
//! A reservation, the check of every limit and the check that the writer still
//! owns the run are one transaction, so that the limits hold for any number of
//! lanes, processes and machines over one store. A reservation that was never
//! settled (its process died) stays booked.

use crate::journal::Journal;
use crate::store::{DatabaseKind, Result, StoreError, execute, now, scalar};
use patchwright_agent::journal::SpendingLimits;
use sqlx::{Any, Transaction};

/// Whoever counts the money of a PostgreSQL holds this lock, by a number that
/// nothing else uses. SQLite has one writer anyway.
const PURSE: &str =
    "SELECT CASE WHEN pg_advisory_xact_lock(7305119) IS NULL THEN 0 ELSE 1 END AS held";

const RUN_SUM: &str =
    "SELECT COALESCE(SUM(COALESCE(settled, reserved)), 0.0) FROM spending WHERE run = $1";
const DAY_SUM: &str =
    "SELECT COALESCE(SUM(COALESCE(settled, reserved)), 0.0) FROM spending WHERE day = $1";
const TOTAL_SUM: &str = "SELECT COALESCE(SUM(COALESCE(settled, reserved)), 0.0) FROM spending";

impl Journal {
    /// Books what the call of event `number` may cost at most, or says which
    /// limit stands against it.
    pub async fn reserve(&self, number: i64, usd: f64, limits: SpendingLimits) -> Result<()> {
        let store = self.store();
        store
            .patiently(|again| async move {
                // A try may fall on another day than the first one.
                let day: String = now().chars().take(10).collect();
                let mut transaction = store.begin().await?;
                if store.kind == DatabaseKind::Postgres {
                    sqlx::query(PURSE).execute(&mut *transaction).await?;
                }
                self.hold(&mut transaction).await?;
                if again {
                    let booked = "SELECT number FROM spending WHERE run = $1 AND number = $2";
                    let values = (self.run(), number);
                    let booked: Option<i64> = scalar(&mut *transaction, booked, values).await?;
                    if booked.is_some() {
                        return Ok(());
                    }
                }
                self.check(&mut transaction, &day, (usd, limits)).await?;
                let book =
                    "INSERT INTO spending (run, number, day, reserved) VALUES ($1, $2, $3, $4)";
                execute(&mut *transaction, book, (self.run(), number, &*day, usd)).await?;
                transaction.commit().await?;
                Ok(())
            })
            .await
    }

    async fn check(
        &self,
        transaction: &mut Transaction<'static, Any>,
        day: &str,
        (wanted, limits): (f64, SpendingLimits),
    ) -> Result<()> {
        let of_run = sqlx::query_scalar(RUN_SUM).bind(self.run());
        let of_day = sqlx::query_scalar(DAY_SUM).bind(day);
        let of_all = sqlx::query_scalar(TOTAL_SUM);
        for (which, limit, sum) in [
            ("run", limits.run, of_run),
            ("day", limits.day, of_day),
            ("total", limits.total, of_all),
        ] {
            let Some(limit) = limit else { continue };
            let spent: f64 = sum.fetch_one(&mut **transaction).await?;
            if spent + wanted > limit {
                return Err(StoreError::Money {
                    which,
                    limit,
                    spent,
                    wanted,
                });
            }
        }
        Ok(())
    }

    /// Books what the call really cost.
    pub async fn settle(&self, number: i64, usd: f64) -> Result<()> {
        self.store()
            .patiently(|_| async {
                let mut transaction = self.store().begin().await?;
                self.hold(&mut transaction).await?;
                let settle = "UPDATE spending SET settled = $1 WHERE run = $2 AND number = $3";
                execute(&mut *transaction, settle, (usd, self.run(), number)).await?;
                transaction.commit().await?;
                Ok(())
            })
            .await
    }
}
