//! Models and signals of a run, by where their answers come from.

use patchwright_agent::prompt;
use patchwright_agent::signals::{SignalError, Signals};
use patchwright_agent::task::Task;
use patchwright_config::{self as settings, Loaded, Settings};
use patchwright_model::account::{Account, Accounted};
use patchwright_model::journaled::Journaled;
use patchwright_model::recorded::{self, Recorded};
use patchwright_model::{ModelError, Models};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Where nobody is answered without a key.
const KEYED: &str = "https://api.openai.com/";

/// Where the model's answers come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answers {
    /// A transcript.
    Recorded(PathBuf),
    /// A model, by its name.
    Live(String),
    /// The journal of another run.
    Journal(String),
    /// No model is needed.
    #[default]
    Nobody,
}

impl fmt::Display for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recorded(path) => {
                let name = path.file_name().unwrap_or_default();
                write!(f, "recorded in {}", name.to_string_lossy())
            }
            Self::Live(name) => write!(f, "live from {name}"),
            Self::Journal(run) => write!(f, "recorded in the journal of {run}"),
            Self::Nobody => f.write_str("none"),
        }
    }
}

impl Answers {
    /// Tells where the answers of a run came from, with the models that answered where one bears
    /// another name than was asked: a fallback, or what an endpoint says that it runs.
    pub fn told(&self, models: &[String]) -> String {
        match self {
            Self::Live(asked) if models.iter().any(|model| model != asked) => {
                format!("{self}; answered by {}", models.join(", "))
            }
            _ => self.to_string(),
        }
    }
}

/// Decides whose answers are used. A model that was named wins over the
/// transcript that an example names; a task that has neither is refused.
pub fn answers(task: &Task, replay: Option<&PathBuf>, loaded: &Loaded) -> Result<Answers, String> {
    answering(task.transcript.as_ref(), replay, loaded)
}

/// The same before there is a task, but for the transcript that it may name.
///
/// # Errors
/// Nobody is named who answers, or the key is missing; the message is for people.
pub fn answering(
    transcript: Option<&PathBuf>,
    replay: Option<&PathBuf>,
    loaded: &Loaded,
) -> Result<Answers, String> {
    if let Some(path) = replay {
        return Ok(Answers::Recorded(path.clone()));
    }
    let name = &loaded.settings.model.name;
    match (transcript, name.is_empty()) {
        (_, false) if lacks_key(&loaded.settings.model) => Err(format!(
            "the model {name} needs a key: put it in PATCHWRIGHT_MODEL__API_KEY or OPENAI_API_KEY, or name a server \
             of your own with --base-url URL"
        )),
        (_, false) => Ok(Answers::Live(name.clone())),
        (Some(path), true) => Ok(Answers::Recorded(path.clone())),
        (None, true) => Err("no model is configured: name one with --model NAME (or model.name in the settings) and \
             give its key in PATCHWRIGHT_MODEL__API_KEY or OPENAI_API_KEY; --base-url URL for a server of your own"
            .to_owned()),
    }
}

/// Tells whether the provider that is asked when no other is named would refuse every
/// call. A server of one's own may need no key.
fn lacks_key(model: &settings::Model) -> bool {
    model.base_url.starts_with(KEYED)
        && model.api_key.expose_secret().is_empty()
        && model.headers.is_empty()
}

pub fn models(answers: &Answers, settings: &Settings) -> Result<Models, ModelError> {
    match answers {
        Answers::Recorded(path) => Ok(Models::on_record(Arc::new(Recorded::open(path)?))),
        Answers::Live(_) => Models::connect(settings),
        Answers::Journal(_) | Answers::Nobody => {
            Ok(Models::on_record(Arc::new(Journaled::default())))
        }
    }
}

/// Tells whether a critic can be asked. A transcript that was written without one has no
/// answer of one, and is replayed as it was written.
pub(crate) fn have_a_critic(answers: &Answers) -> Result<bool, ModelError> {
    let Answers::Recorded(path) = answers else {
        return Ok(true);
    };
    let exchanges = recorded::read(path)?;
    let mut asked = exchanges.iter().flat_map(|one| &one.request.messages);
    Ok(asked.any(|message| prompt::asks_for_verdict(&message.text)))
}

/// The optional signals for ranking code, for the verbs outside a run, and the
/// account of what they spend.
pub fn signals(settings: &Settings, account: &Arc<Account>) -> Result<Signals, SignalError> {
    let mut signals = Signals::from_settings(settings)?;
    if settings.expansion.enabled {
        let model = Accounted::connect(&settings.model, account)?;
        signals = signals.with_expansion(model, settings.expansion.timeout);
    }
    Ok(signals.charged_to(Arc::clone(account)))
}
