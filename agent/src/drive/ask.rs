//! Asks the model: counts, reserves the money, calls, settles.

use super::Drive;
use crate::model::{Finish, Message, ModelError, Request, Usage};
use crate::repair::{Ending, EndingKind, Outcome, ReplyRecord, RunLimits, Spent, StepId};
use crate::store::{SpendingLimits, StoreError};
use serde_json::json;
use std::time::Instant;

impl Drive {
    pub(super) async fn ask(
        &self,
        id: StepId,
        messages: Vec<Message>,
        (limits, spent): (RunLimits, Spent),
    ) -> Result<Outcome, StoreError> {
        let parts = &self.parts;
        let request = Request {
            messages,
            max_output_tokens: parts.max_output_tokens,
        };
        let tokens = parts.counter.count_request(&request);
        let at_most = parts
            .prices
            .as_ref()
            .map(|prices| prices.at_most(tokens, request.max_output_tokens));
        let last = request
            .messages
            .last()
            .map_or("", |message| message.text.as_str());
        let number = self
            .intend(
                id,
                "ask",
                format!("asking {} ({} messages, about {tokens} tokens)", parts.model.name(), request.messages.len()),
                json!({ "model": parts.model.name(), "tokens": tokens, "usd_at_most": at_most, "prompt": last }),
            )
            .await?;
        let needed = spent.tokens_in + spent.tokens_out + tokens;
        if let Some(limit) = limits.tokens.filter(|limit| needed > *limit) {
            let used = spent.tokens_in + spent.tokens_out;
            let detail =
                format!("tokens: {used} of {limit} are used, the next call needs about {tokens}");
            return Ok(stop(EndingKind::BudgetExhausted, detail, 0.0));
        }
        if let Some(refused) = self.reserve(number, at_most, limits.usd).await? {
            return Ok(refused);
        }
        let started = Instant::now();
        let answered = parts.model.ask(&request).await;
        let seconds = started.elapsed().as_secs_f64();
        let reply = match answered {
            Ok(reply) => reply,
            Err(error) => return Ok(failed(error, seconds)),
        };
        let usd = parts
            .prices
            .as_ref()
            .map_or(0.0, |prices| prices.of(&reply.model, &reply.usage));
        self.journal.settle(number, usd).await?;
        Ok(Outcome::Reply(ReplyRecord {
            text: reply.text,
            finish: reply.finish,
            usage: reply.usage,
            model: reply.model,
            usd,
            seconds,
        }))
    }

    async fn reserve(
        &self,
        number: i64,
        usd: Option<f64>,
        run: Option<f64>,
    ) -> Result<Option<Outcome>, StoreError> {
        let limits = SpendingLimits {
            run,
            day: self.parts.usd_day,
            total: self.parts.usd_total,
        };
        let Some(usd) = usd else {
            let detail = format!(
                "money: a limit is set, but the price of {} is not; set model.usd_per_million_in and model.usd_per_million_out",
                self.parts.model.name()
            );
            return Ok(limits
                .any()
                .then(|| stop(EndingKind::BudgetExhausted, detail, 0.0)));
        };
        match self.journal.reserve(number, usd, limits).await {
            Ok(()) => Ok(None),
            Err(error @ StoreError::Money { .. }) => Ok(Some(stop(
                EndingKind::BudgetExhausted,
                format!("money: {error}"),
                0.0,
            ))),
            Err(error) => Err(error),
        }
    }
}

fn stop(kind: EndingKind, detail: String, seconds: f64) -> Outcome {
    Outcome::Stopped {
        ending: Ending::new(kind, detail),
        seconds,
    }
}

/// What a failed call means for the run. Waiting and trying again has been
/// done by the model client.
fn failed(error: ModelError, seconds: f64) -> Outcome {
    match error {
        ModelError::TooLong { .. } => stop(
            EndingKind::BudgetExhausted,
            format!("tokens: {error}"),
            seconds,
        ),
        ModelError::Refused { reason } => Outcome::Reply(ReplyRecord {
            text: reason,
            finish: Finish::Refused,
            usage: Usage::default(),
            model: String::new(),
            usd: 0.0,
            seconds,
        }),
        ModelError::Retry { .. } | ModelError::Fatal { .. } => {
            stop(EndingKind::InfraError, error.to_string(), seconds)
        }
    }
}
