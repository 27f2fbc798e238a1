//! Account of a command outside a run: counted while it asks, and held against
//! the money limit of one run.
//!
//! Nothing is kept. The limits of a day and of all time are kept in the store,
//! which such a command does not open.

use crate::price::{Priced, Prices};
use crate::tokens::Counter;
use crate::{Model, ModelError, Reply, Request, Result, Usage, connect};
use futures::future::{BoxFuture, FutureExt};
use patchwright_config as settings;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The purse of one command.
#[derive(Debug, Default)]
pub struct Account {
    limit: Option<f64>,
    sums: Mutex<Sums>,
}

#[derive(Debug, Default)]
struct Sums {
    usage: Usage,
    /// Tokens of calls that are not settled: nobody knows what becomes of one that is given up.
    open: u64,
    /// Settled, and reserved for what is being asked.
    usd: f64,
    /// The models that were asked without a price.
    unpriced: BTreeSet<String>,
}

/// The most that a call may cost, until its cost is known. Dropped before,
/// it counts in full.
#[derive(Debug)]
pub struct Reserved<'a> {
    account: &'a Account,
    tokens: u64,
    usd: f64,
}

impl Account {
    /// A purse that may spend so much.
    pub fn new(limit: Option<f64>) -> Self {
        Self {
            limit,
            sums: Mutex::default(),
        }
    }

    /// Reserves what a call with so many tokens may cost.
    ///
    /// # Errors
    /// Why it must not be made.
    pub fn reserve(&self, tokens: u64, priced: Priced<'_>) -> Result<Reserved<'_>, String> {
        let usd = priced.to_book(self.limit.is_some())?.unwrap_or_default();
        self.change(|sums| {
            let (limit, spent) = (self.limit.unwrap_or(f64::INFINITY), sums.usd);
            if spent + usd > limit {
                return Err(format!(
                    "money: limits.usd is {limit:.4} USD: {spent:.4} are spent or reserved, \
                     {usd:.4} more are needed"
                ));
            }
            sums.usd += usd;
            sums.open += tokens;
            if let Priced::Unknown(name) = priced {
                sums.unpriced.insert(name.to_owned());
            }
            Ok(())
        })?;
        Ok(Reserved {
            account: self,
            tokens,
            usd,
        })
    }

    /// Returns the money spent, in a line for people; nothing when none was.
    pub fn told(&self) -> Option<String> {
        self.change(|sums| {
            let Usage {
                tokens_in,
                tokens_out,
                estimated,
                ..
            } = sums.usage;
            let tokens_in = tokens_in + sums.open;
            let about = if estimated || sums.open > 0 {
                "about "
            } else {
                ""
            };
            let names: Vec<&str> = sums.unpriced.iter().map(String::as_str).collect();
            let names = names.join(" and ");
            let money = if names.is_empty() {
                format!("{:.4} USD", sums.usd)
            } else if sums.usd > 0.0 {
                format!("{:.4} USD and what {names} cost, without a price", sums.usd)
            } else {
                format!("USD unknown (no price is set for {names})")
            };
            (tokens_in + tokens_out > 0)
                .then(|| format!("cost: {about}{tokens_in} tokens in, {tokens_out} out, {money}"))
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut Sums) -> T) -> T {
        change(&mut self.sums.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Reserved<'_> {
    /// The call took this and cost that.
    pub fn settle(self, usage: Usage, usd: f64) {
        self.account.change(|sums| {
            sums.open -= self.tokens;
            sums.usage = sums.usage.plus(usage);
            sums.usd += usd - self.usd;
        });
    }
}

/// A model whose calls are charged to an account.
#[derive(Debug)]
pub struct Accounted {
    model: Arc<dyn Model>,
    counter: Counter,
    prices: Option<Prices>,
    account: Arc<Account>,
}

impl Accounted {
    /// The model that the settings describe, with its fallbacks.
    ///
    /// # Errors
    /// As [`connect`].
    pub fn connect(settings: &settings::Model, account: &Arc<Account>) -> Result<Arc<dyn Model>> {
        let endpoints = settings.endpoints();
        Ok(Arc::new(Self {
            model: connect(settings)?,
            counter: Counter::of_all(endpoints.iter().map(|endpoint| endpoint.name.as_str())),
            prices: Prices::of_endpoints(&endpoints).ok(),
            account: Arc::clone(account),
        }))
    }
}

impl Model for Accounted {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply>> {
        async move {
            let tokens = self.counter.count_request(request);
            let at_most = |prices: &Prices| prices.at_most(tokens, request.max_output_tokens);
            let at_most = self.prices.as_ref().map(at_most);
            let priced = at_most.map_or(Priced::Unknown(self.name()), Priced::AtMost);
            let reserved = self.account.reserve(tokens, priced);
            let reserved = reserved.map_err(ModelError::fatal)?;
            let answered = self.model.ask(request).await;
            let usage = match &answered {
                Ok(reply) => reply.usage,
                Err(error) => error.spent().unwrap_or_default(),
            };
            let prices = self.prices.as_ref();
            let usd = prices.map_or(0.0, |prices| prices.of_call(&answered));
            reserved.settle(usage, usd);
            answered
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::{Account, Priced};
    use crate::Usage;

    fn usage(tokens_in: u64) -> Usage {
        Usage {
            tokens_in,
            tokens_out: 1,
            ..Usage::default()
        }
    }

    #[test]
    fn what_was_spent_is_told_in_one_line() {
        let account = Account::new(None);
        assert_eq!(account.told(), None);
        for (priced, usd, expected) in [
            (
                Priced::AtMost(1.0),
                0.25,
                "cost: 5 tokens in, 1 out, 0.2500 USD",
            ),
            (
                Priced::AtMost(1.0),
                0.5,
                "cost: 10 tokens in, 2 out, 0.7500 USD",
            ),
            (
                Priced::Unknown("judge"),
                0.0,
                "cost: 15 tokens in, 3 out, 0.7500 USD and what judge cost, without a price",
            ),
        ] {
            account.reserve(9, priced).unwrap().settle(usage(5), usd);
            assert_eq!(account.told().as_deref(), Some(expected));
        }
        let account = Account::new(None);
        let asked = account.reserve(9, Priced::Unknown("judge")).unwrap();
        asked.settle(usage(5), 0.0);
        let expected = "cost: 5 tokens in, 1 out, USD unknown (no price is set for judge)";
        assert_eq!(account.told().as_deref(), Some(expected));
    }

    #[test]
    fn a_limit_holds_for_what_is_spent_and_what_is_being_asked() {
        let account = Account::new(Some(1.0));
        let refused = |usd: f64| account.reserve(9, Priced::AtMost(usd)).err();
        let first = account.reserve(9, Priced::AtMost(0.75)).unwrap();
        let reason = refused(0.5).unwrap();
        assert!(reason.contains("0.7500 are spent or reserved"), "{reason}");
        // What was not used is free again.
        first.settle(usage(5), 0.25);
        assert!(refused(0.8).is_some());
        account.reserve(9, Priced::AtMost(0.5)).unwrap();
        // The second was given up: it counts in full.
        let told = "cost: about 14 tokens in, 1 out, 0.7500 USD";
        assert_eq!(account.told().as_deref(), Some(told));
        let unpriced = account.reserve(9, Priced::Unknown("judge")).unwrap_err();
        assert!(unpriced.contains("the price of judge is not"), "{unpriced}");
    }
}
