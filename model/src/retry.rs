//! Asks again when a failure may pass: with growing, jittered pauses, or after
//! the pause that the endpoint asks for, as long as that is not too long.
//!
//! Deliberately absent: this does not change the request or the model.

use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use futures::future::{BoxFuture, FutureExt};

use crate::{Model, ModelError, Reply, Request, Result, Usage};
use patchwright_config::{self as settings, write_duration};

/// A model that is asked again.
#[derive(Debug)]
pub(crate) struct Retry {
    inner: Arc<dyn Model>,
    settings: settings::Retries,
}

impl Retry {
    /// Asks `inner` again as the settings say.
    pub(crate) fn new(inner: Arc<dyn Model>, settings: settings::Retries) -> Self {
        Self { inner, settings }
    }

    fn given_up(&self, error: ModelError, tries: &[Option<Usage>]) -> ModelError {
        let ModelError::Retry { after, reason, .. } = error else {
            return error;
        };
        let (spent, tries) = (together(tries), tries.len());
        let reason = match after {
            Some(after) if after > self.settings.retry_after_limit => format!(
                "{reason}; it asks to wait {}, longer than model.retries.retry_after_limit ({})",
                write_duration(rounded(after)),
                write_duration(self.settings.retry_after_limit)
            ),
            _ if tries > 1 => format!("{reason}; tried {tries} times"),
            _ => reason,
        };
        ModelError::Retry {
            after,
            reason,
            spent,
        }
    }
}

/// Tokens that the tries which gave no reply may have cost together.
fn together(tries: &[Option<Usage>]) -> Option<Usage> {
    tries.iter().flatten().copied().reduce(Usage::plus)
}

/// Whole seconds: nobody needs the rest.
fn rounded(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs())
}

impl Model for Retry {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply>> {
        async move {
            let mut pauses = ExponentialBuilder::default()
                .with_jitter()
                .with_min_delay(self.settings.first_delay)
                .with_max_delay(self.settings.longest_delay)
                .with_max_times(self.settings.count)
                .build();
            let mut tries: Vec<Option<Usage>> = Vec::new();
            loop {
                let error = match self.inner.ask(request).await {
                    Ok(mut reply) => {
                        if let Some(lost) = together(&tries) {
                            reply.usage = reply.usage.plus(lost);
                        }
                        return Ok(reply);
                    }
                    Err(error) => error,
                };
                let ModelError::Retry { after, spent, .. } = error else {
                    return Err(error);
                };
                tries.push(spent);
                let asked = after.unwrap_or_default();
                // One that may be charged is tried again only so often, because money was
                // reserved for no more.
                let charged = tries.iter().flatten().count();
                let may_go_on = (spent.is_none() || charged <= self.settings.broken)
                    && asked <= self.settings.retry_after_limit;
                let Some(pause) = pauses.next().filter(|_| may_go_on) else {
                    return Err(self.given_up(error, &tries));
                };
                let pause = pause.max(asked);
                tracing::info!(model = self.name(), %error, ?pause, "asking the model again");
                tokio::time::sleep(pause).await;
            }
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_double::{Script, hello, question};

    fn retry(script: &Arc<Script>) -> Retry {
        let millis = Duration::from_millis;
        let settings = settings::Retries {
            count: 2,
            broken: 1,
            first_delay: millis(1),
            longest_delay: millis(2),
            retry_after_limit: millis(50),
            pause: millis(50),
        };
        Retry::new(script.clone(), settings)
    }

    fn busy(after: Option<u64>) -> Result<Reply> {
        Err(ModelError::Retry {
            after: after.map(Duration::from_millis),
            reason: "busy".to_owned(),
            spent: None,
        })
    }

    fn broken() -> Result<Reply> {
        let spent = Usage {
            tokens_in: 100,
            tokens_out: 10,
            tokens_cached: 0,
            estimated: true,
        };
        Err(ModelError::Retry {
            after: None,
            reason: "broke off".to_owned(),
            spent: Some(spent),
        })
    }

    #[tokio::test]
    async fn what_a_broken_reply_may_have_cost_is_not_forgotten() {
        let script = Script::new("m", vec![busy(None), broken(), hello()]);
        let reply = retry(&script).ask(&question()).await.unwrap();
        assert_eq!((reply.usage.tokens_in, reply.usage.tokens_out), (100, 10));
        assert!(reply.usage.estimated);
    }

    #[tokio::test]
    async fn a_broken_reply_is_asked_for_again_only_as_often_as_money_was_reserved() {
        let script = Script::new("m", vec![broken(), broken(), hello()]);
        let error = retry(&script).ask(&question()).await.unwrap_err();
        assert_eq!(script.asked(), 2);
        let ModelError::Retry { spent, reason, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(spent.unwrap().tokens_in, 200);
        assert!(reason.ends_with("tried 2 times"), "{reason}");
    }

    #[tokio::test]
    async fn a_passing_failure_is_waited_out() {
        let script = Script::new("m", vec![busy(None), busy(Some(3)), hello()]);
        assert_eq!(retry(&script).ask(&question()).await, hello());
        assert_eq!(script.asked(), 3);
    }

    #[tokio::test]
    async fn it_gives_up_and_says_how_often_it_tried() {
        let script = Script::new("m", vec![busy(None), busy(None), busy(None), hello()]);
        let error = retry(&script).ask(&question()).await.unwrap_err();
        assert!(
            error.to_string().ends_with("busy; tried 3 times"),
            "{error}"
        );
        assert_eq!(script.asked(), 3);
    }

    #[tokio::test]
    async fn a_wish_to_wait_too_long_is_handed_on_at_once() {
        let script = Script::new("m", vec![busy(Some(60_000)), hello()]);
        let error = retry(&script).ask(&question()).await.unwrap_err();
        let expected = Some(Duration::from_mins(1));
        assert!(matches!(&error, ModelError::Retry { after, .. } if *after == expected));
        assert!(error.to_string().contains("retry_after_limit"), "{error}");
        assert_eq!(script.asked(), 1);
    }

    #[tokio::test]
    async fn what_does_not_pass_is_not_asked_again() {
        for error in [
            ModelError::fatal("no key"),
            ModelError::TooLong(String::new()),
            ModelError::Refused(String::new()),
        ] {
            let script = Script::new("m", vec![Err(error.clone()), hello()]);
            assert_eq!(retry(&script).ask(&question()).await, Err(error));
            assert_eq!(script.asked(), 1);
        }
    }
}
