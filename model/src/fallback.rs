//! Goes on with another model when one cannot answer, with the same request, so
//! that nothing that was learnt is lost.
//!
//! Who has answered is asked first the next time: a model that is gone is not
//! waited for at every call. A request that is too long is handed back, because
//! the caller can shorten it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt};

use crate::{Model, ModelError, Reply, Request, Result, Usage};

/// Several models, of which the first that can answers.
#[derive(Debug)]
pub(crate) struct Fallback {
    models: Vec<Arc<dyn Model>>,
    current: AtomicUsize,
}

impl Fallback {
    /// Asks the first, and the others in their order when it cannot answer.
    pub(crate) fn new(models: Vec<Arc<dyn Model>>) -> Self {
        Self {
            models,
            current: AtomicUsize::new(0),
        }
    }
}

/// One failure out of several: worth another try if any of them is.
fn together(mut failures: Vec<(&str, ModelError)>) -> ModelError {
    if failures.len() == 1
        && let Some((_, only)) = failures.pop()
    {
        return only;
    }
    let reasons = failures.iter();
    let reasons: Vec<String> = reasons
        .map(|(name, error)| format!("{name}: {error}"))
        .collect();
    let reason = reasons.join("; ");
    let errors = || failures.iter().map(|(_, error)| error);
    let waits = errors().filter_map(|error| match error {
        ModelError::Retry { after, .. } => Some(*after),
        _ => None,
    });
    let waits: Vec<Option<Duration>> = waits.collect();
    let is_refused = |error: &ModelError| matches!(error, ModelError::Refused(_));
    if !waits.is_empty() {
        ModelError::Retry {
            after: waits.into_iter().flatten().min(),
            reason,
            spent: lost(&failures),
        }
    } else if !failures.is_empty() && errors().all(is_refused) {
        ModelError::Refused(reason)
    } else {
        ModelError::Fatal(reason)
    }
}

/// Tokens that the models which gave no reply may have cost together.
fn lost(failures: &[(&str, ModelError)]) -> Option<Usage> {
    let spent = failures.iter().filter_map(|(_, error)| error.spent());
    spent.reduce(Usage::plus)
}

impl Model for Fallback {
    fn name(&self) -> &str {
        let current = self.models.get(self.current.load(Ordering::Relaxed));
        current.map_or("", |model| model.name())
    }

    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply>> {
        async move {
            let start = self.current.load(Ordering::Relaxed);
            let in_turn = self.models.iter().enumerate().cycle().skip(start);
            let mut failures = Vec::new();
            for (index, model) in in_turn.take(self.models.len()) {
                match model.ask(request).await {
                    Ok(mut reply) => {
                        self.current.store(index, Ordering::Relaxed);
                        if let Some(lost) = lost(&failures) {
                            reply.usage = reply.usage.plus(lost);
                        }
                        return Ok(reply);
                    }
                    Err(error @ ModelError::TooLong(_)) => return Err(error),
                    Err(error) => {
                        tracing::warn!(model = model.name(), %error, "the model gave no answer");
                        failures.push((model.name(), error));
                    }
                }
            }
            Err(together(failures))
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_double::{Script, hello, question};

    #[tokio::test]
    async fn the_next_model_gets_the_same_request_and_stays() {
        let gone = Script::new("gone", vec![Err(ModelError::fatal("no key")); 2]);
        let there = Script::new("there", vec![hello(), hello()]);
        let both = Fallback::new(vec![gone.clone(), there.clone()]);
        assert_eq!(both.name(), "gone");
        assert_eq!(both.ask(&question()).await, hello());
        assert_eq!(both.name(), "there");
        assert_eq!(both.ask(&question()).await, hello());
        assert_eq!((gone.asked(), there.asked()), (1, 2));
        assert_eq!(gone.requests(), [question()]);
        assert_eq!(there.requests(), [question(), question()]);
    }

    #[tokio::test]
    async fn what_is_too_long_is_handed_back() {
        let long = Err(ModelError::TooLong("9".to_owned()));
        let first = Script::new("a", vec![long.clone()]);
        let second = Script::new("b", vec![hello()]);
        let both = Fallback::new(vec![first, second.clone()]);
        assert_eq!(both.ask(&question()).await, long);
        assert_eq!(second.asked(), 0);
    }

    #[tokio::test]
    async fn when_all_fail_every_reason_is_told() {
        let retry = |seconds| ModelError::Retry {
            after: Some(Duration::from_secs(seconds)),
            reason: format!("wait {seconds}"),
            spent: None,
        };
        let refused = ModelError::Refused("no".to_owned());
        let cases = [
            (vec![ModelError::fatal("x"), retry(9), retry(4)], "retry"),
            (vec![refused.clone(), refused.clone()], "refused"),
            (vec![refused, ModelError::fatal("x")], "fatal"),
        ];
        for (errors, kind) in cases {
            let mut models: Vec<Arc<dyn Model>> = Vec::new();
            for error in &errors {
                models.push(Script::new("m", vec![Err(error.clone())]));
            }
            let error = Fallback::new(models).ask(&question()).await.unwrap_err();
            let found = match &error {
                ModelError::Retry { after, .. } => {
                    assert_eq!(*after, Some(Duration::from_secs(4)));
                    "retry"
                }
                ModelError::Refused(_) => "refused",
                ModelError::Fatal(_) => "fatal",
                ModelError::TooLong(_) => "too long",
            };
            assert_eq!(found, kind, "{error}");
            assert_eq!(
                error.to_string().matches("m: ").count(),
                errors.len(),
                "{error}"
            );
        }
    }
}
