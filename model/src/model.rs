//! The seam to a language model: one request in, one reply or one sorted
//! failure out.

use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// Something that answers a request with text.
pub trait Model: Send + Sync + fmt::Debug {
    /// The name that the provider knows the model by.
    fn name(&self) -> &str;

    /// Asks once. What a failure means for the caller is in its variant.
    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply>>;

    /// Returns what a person should know about the reply to this request, before
    /// it is asked for. A live model has nothing to tell.
    fn notice(&self, _request: &Request) -> Option<String> {
        None
    }
}

/// Question to a model: the whole conversation so far, oldest message first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The conversation. It only ever grows, so that a provider can cache its
    /// beginning.
    pub messages: Vec<Message>,
    /// The most tokens that the reply may have.
    pub max_output_tokens: u32,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Role of the speaker.
    pub role: Role,
    pub text: String,
}

impl Message {
    /// A message of the given role.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            text: text.into(),
        }
    }

    /// The standing instructions.
    pub fn system(text: impl Into<String>) -> Self {
        Self::new(Role::System, text)
    }

    /// Message of Patchwright.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, text)
    }

    /// Message of the model.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, text)
    }
}

/// Role of the speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The standing instructions.
    System,
    /// Patchwright.
    User,
    /// The model.
    Assistant,
}

/// Reply of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The text, without a model's separate thinking. May be empty.
    pub text: String,
    /// Why the model stopped.
    pub finish: Finish,
    /// Tokens that were used.
    pub usage: Usage,
    /// The model that answered, in its own words.
    pub model: String,
}

/// Why a model stopped writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Finish {
    /// It had said everything.
    Stop,
    /// A limit cut it off: the end of the text is missing.
    Length,
    /// It, or a filter of its provider, declined to answer.
    Refused,
}

/// The tokens that a call cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens of the request.
    pub tokens_in: u64,
    /// Tokens of the reply, thinking included.
    pub tokens_out: u64,
    /// Part of `tokens_in` that the provider had cached.
    #[serde(default)]
    pub tokens_cached: u64,
    /// True when the counts are ours, because the endpoint sent none or counts
    /// that cannot be true.
    #[serde(default)]
    pub estimated: bool,
}

impl Usage {
    /// The two together. An estimate in either makes the sum one.
    pub fn plus(self, other: Self) -> Self {
        Self {
            tokens_in: self.tokens_in.saturating_add(other.tokens_in),
            tokens_out: self.tokens_out.saturating_add(other.tokens_out),
            tokens_cached: self.tokens_cached.saturating_add(other.tokens_cached),
            estimated: self.estimated || other.estimated,
        }
    }
}

/// Outcome of a question.
pub type Result<T, E = ModelError> = std::result::Result<T, E>;

/// Why there is no reply, sorted by what the caller can do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// It may work later: rate limit, busy or broken server, lost connection.
    #[error("the model cannot answer now: {reason}")]
    Retry {
        /// The wait that the endpoint asks for; zero when it limits calls and
        /// does not say for how long.
        after: Option<Duration>,
        /// Description of the failure.
        reason: String,
        /// Tokens that it may have cost all the same: the endpoint had begun to answer.
        spent: Option<Usage>,
    },
    /// The request does not fit the model's window.
    #[error("the request is too long for the model: {0}")]
    TooLong(String),
    /// The provider declined the request itself.
    #[error("the provider refused the request: {0}")]
    Refused(String),
    /// It cannot work until somebody changes the configuration.
    #[error("the model cannot be used: {0}")]
    Fatal(String),
}

impl ModelError {
    /// A failure worth another try, with no time named.
    pub fn retry(reason: impl Into<String>) -> Self {
        Self::Retry {
            after: None,
            reason: reason.into(),
            spent: None,
        }
    }

    /// Returns the tokens that it may have cost all the same.
    pub fn spent(&self) -> Option<Usage> {
        match self {
            Self::Retry { spent, .. } => *spent,
            _ => None,
        }
    }

    pub(crate) fn reason_mut(&mut self) -> &mut String {
        match self {
            Self::Retry { reason, .. }
            | Self::TooLong(reason)
            | Self::Refused(reason)
            | Self::Fatal(reason) => reason,
        }
    }

    /// A failure that only a change of the configuration mends.
    pub fn fatal(reason: impl Into<String>) -> Self {
        Self::Fatal(reason.into())
    }
}
