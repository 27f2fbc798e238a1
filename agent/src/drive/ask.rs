//! Asks a model: counts, reserves the money, calls, settles.

use super::Drive;
use super::parts::Speaker;
use crate::journal::{JournalError, Result, SpendingLimits};
use crate::prompt::control_tokens;
use crate::record::{
    Ending, EndingKind, Full, Outcome, Postponed, Purpose, ReplyRecord, RunLimits, Spent, StepId,
    Unanswered,
};
use crate::repair::Run;
use crate::telemetry;
use jiff::Timestamp;
use patchwright_model::price::Priced;
use patchwright_model::{Finish, Message, ModelError, Reply, Request, Usage};
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The part of what fits from which a conversation is told in short, in percent:
/// the question what still matters, and its answer, need the rest.
const NEAR: u64 = 80;
/// The longest sleep before the clock is read again.
const NAP: Duration = Duration::from_secs(20);

/// The reservation of a call, counted while the call is made.
pub(super) struct InFlight<'a>(pub(super) &'a AtomicU64, pub(super) u64);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}

impl Drive {
    pub(super) async fn ask(
        &self,
        id: StepId,
        (purpose, messages): (Purpose, Vec<Message>),
        run: &Run,
    ) -> Result<Outcome> {
        let Some(speaker) = self.parts.speaker(purpose, id.lane) else {
            let detail = "there is no model to ask";
            return Ok(Ending::new(EndingKind::InfraError, detail).into());
        };
        let request = Request {
            messages,
            max_output_tokens: speaker.max_output_tokens,
        };
        let tokens = speaker.counter.count_request(&request);
        let number = self
            .intend_to_ask(id, purpose, (speaker, &request), tokens)
            .await?;
        let answer = u64::from(speaker.max_output_tokens);
        let full = Full {
            tokens,
            fits: speaker.window.saturating_sub(answer),
            reason: String::new(),
        };
        if is_over(&full, purpose) {
            return Ok(Outcome::Full(full));
        }
        let most = tokens + answer;
        let others = self.in_flight.fetch_add(most, Ordering::Relaxed);
        let _in_flight = InFlight(&self.in_flight, most);
        if let Some(detail) = beyond(run.limits(), run.spent(), others + most) {
            return Ok(refused(purpose, detail));
        }
        let priced = speaker.priced(tokens);
        if let Some(reason) = self.reserve(number, priced, run.limits().usd).await? {
            return Ok(refused(purpose, reason));
        }
        if let Some(notice) = speaker.model.notice(&request) {
            self.parts.observer.remark(&format!("note: {notice}"));
        }
        let started = Instant::now();
        let answered = telemetry::asked(speaker.model.as_ref(), &request).await;
        let seconds = started.elapsed().as_secs_f64();
        let usd = speaker.cost(&answered);
        self.journal.settle(number, usd).await?;
        telemetry::metrics::spent(speaker.model.name(), usd);
        Ok(match answered {
            Ok(reply) => Outcome::Reply(ReplyRecord {
                text: control_tokens::restore(&reply.text).into_owned(),
                finish: reply.finish,
                usage: reply.usage,
                model: reply.model,
                usd,
                seconds,
            }),
            Err(error) => self.failed((purpose, full), error, (usd, seconds)),
        })
    }

    async fn intend_to_ask(
        &self,
        id: StepId,
        purpose: Purpose,
        (speaker, request): (&Speaker, &Request),
        tokens: u64,
    ) -> Result<i64> {
        let name = speaker.model.name();
        let count = request.messages.len();
        let last = request.messages.last();
        let last = last.map_or("", |last| last.text.as_str());
        let summary = format!("asking {name} ({count} messages, about {tokens} tokens)");
        let at_most = speaker.at_most(tokens);
        let body =
            json!({ "model": name, "tokens": tokens, "usd_at_most": at_most, "prompt": last });
        self.intend(id, purpose.as_str(), summary, body).await
    }

    /// Books what a call may cost; says what stands against it.
    pub(super) async fn reserve(
        &self,
        number: i64,
        priced: Priced<'_>,
        run: Option<f64>,
    ) -> Result<Option<String>> {
        let limits = SpendingLimits {
            run,
            day: self.parts.usd_day,
            total: self.parts.usd_total,
        };
        let usd = match priced.to_book(limits.any()) {
            Ok(Some(usd)) => usd,
            Ok(None) => return Ok(None),
            Err(reason) => return Ok(Some(reason)),
        };
        match self.journal.reserve(number, usd, limits).await {
            Ok(()) => Ok(None),
            Err(error @ JournalError::Money { .. }) => Ok(Some(format!("money: {error}"))),
            Err(error) => Err(error),
        }
    }

    /// Returns the outcome of a failed call. Waiting a moment and trying again
    /// has been done by the model client.
    fn failed(
        &self,
        (purpose, full): (Purpose, Full),
        error: ModelError,
        (usd, seconds): (f64, f64),
    ) -> Outcome {
        match error {
            ModelError::TooLong(reason) => Outcome::Full(Full { reason, ..full }),
            ModelError::Retry {
                after: Some(after),
                reason,
                spent,
            } => {
                let pause = if after.is_zero() {
                    self.parts.patience.each
                } else {
                    after
                };
                Outcome::Postponed(Postponed {
                    until: self::after(pause.max(Duration::from_secs(1))),
                    reason,
                    usage: spent.unwrap_or_default(),
                    usd,
                    seconds,
                })
            }
            ModelError::Refused(reason) if purpose == Purpose::Repair => {
                Outcome::Reply(ReplyRecord {
                    text: reason,
                    finish: Finish::Refused,
                    usage: Usage::default(),
                    model: String::new(),
                    usd,
                    seconds,
                })
            }
            error if purpose != Purpose::Repair => Outcome::Unanswered(Unanswered {
                usage: error.spent().unwrap_or_default(),
                reason: error.to_string(),
                usd,
                seconds,
            }),
            error => Outcome::Stopped {
                ending: Ending::new(EndingKind::InfraError, error.to_string()),
                seconds,
            },
        }
    }

    pub(super) async fn wait(&self, id: StepId, until: &str, reason: &str) -> Result<Outcome> {
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

impl Speaker {
    /// The most that a call can cost, when that is known.
    fn at_most(&self, tokens: u64) -> Option<f64> {
        let prices = self.prices.as_ref().filter(|_| self.paid)?;
        Some(prices.at_most(tokens, self.max_output_tokens))
    }

    fn priced(&self, tokens: u64) -> Priced<'_> {
        match self.at_most(tokens) {
            Some(usd) => Priced::AtMost(usd),
            None if self.paid => Priced::Unknown(self.model.name()),
            None => Priced::Free,
        }
    }

    /// Returns the cost of a call.
    fn cost(&self, answered: &Result<Reply, ModelError>) -> f64 {
        let prices = self.prices.as_ref();
        prices.map_or(0.0, |prices| prices.of_call(answered))
    }
}

/// Tells whether a request does not fit, or leaves too little room for a repair.
fn is_over(full: &Full, purpose: Purpose) -> bool {
    let near = match purpose {
        Purpose::Repair | Purpose::Contest => full.fits * NEAR / 100,
        _ => full.fits,
    };
    full.tokens > near
}

/// Why a call that may take so many tokens, with those in flight, is too many.
pub(super) fn beyond(limits: &RunLimits, spent: &Spent, most: u64) -> Option<String> {
    let used = spent.tokens();
    let limit = limits.tokens.filter(|limit| used + most > *limit)?;
    Some(format!(
        "tokens: {used} of {limit} are used, the next call may need {most}"
    ))
}

/// A limit stands against a call: the run ends, or goes on without the answer
/// where it can.
fn refused(purpose: Purpose, reason: String) -> Outcome {
    match purpose {
        Purpose::Repair | Purpose::Compact => {
            Ending::new(EndingKind::BudgetExhausted, reason).into()
        }
        _ => Outcome::Unanswered(Unanswered {
            reason,
            ..Unanswered::default()
        }),
    }
}

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
