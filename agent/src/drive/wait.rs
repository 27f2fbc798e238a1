//! Waits for a time of day. A machine may sleep meanwhile, so the clock is
//! looked at again and again.

use super::Drive;
use crate::journal::JournalError;
use crate::record::{Outcome, StepId};
use jiff::Timestamp;
use serde_json::json;
use std::time::Duration;

/// The longest sleep before the clock is read again.
const NAP: Duration = Duration::from_secs(20);

/// Returns the time until a moment; zero when it has passed or cannot be read.
pub(super) fn left(until: &str) -> Duration {
    let until: Option<Timestamp> = until.parse().ok();
    until
        .and_then(|until| Duration::try_from(until.duration_since(Timestamp::now())).ok())
        .unwrap_or_default()
}

/// The time that comes after this long, to the second, rounded up.
pub(super) fn after(time: Duration) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    let now = Timestamp::now().as_second() + 1;
    let then = now
        .checked_add(seconds)
        .and_then(|second| Timestamp::from_second(second).ok());
    then.unwrap_or(Timestamp::MAX).to_string()
}

impl Drive {
    pub(super) async fn wait(
        &self,
        id: StepId,
        until: &str,
        reason: &str,
    ) -> Result<Outcome, JournalError> {
        let body = json!({ "until": until, "reason": reason });
        self.intend(id, "wait", format!("paused until {until}"), body)
            .await?;
        loop {
            let left = left(until);
            if left.is_zero() {
                return Ok(Outcome::Waited);
            }
            tokio::time::sleep(left.min(NAP)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{after, left};
    use std::time::Duration;

    #[test]
    fn a_time_is_written_and_read_back() {
        let minute = left(&after(Duration::from_mins(1)));
        assert!(minute > Duration::from_secs(55) && minute <= Duration::from_secs(61));
        assert_eq!(left("2000-01-01T00:00:00Z"), Duration::ZERO);
        assert_eq!(left("soon"), Duration::ZERO);
        assert!(left(&after(Duration::MAX)) > Duration::from_hours(1_000_000));
    }
}
