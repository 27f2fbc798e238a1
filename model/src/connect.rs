//! Puts the boxes together: one endpoint each, asked again when it may help, and
//! the next one when it does not.

use std::sync::Arc;

use crate::fallback::Fallback;
use crate::openai::OpenAi;
use crate::retry::Retry;
use crate::{Model, Result};
use patchwright_config as settings;

/// The models of a run: who is asked for what.
#[derive(Debug, Clone)]
pub struct Models {
    /// Models of the lanes: lane 1 asks the first, lane 2 the second, and so on in turn.
    /// Never empty.
    pub lanes: Vec<Arc<dyn Model>>,
    /// Model of the critic, where it is another one than that of the lane.
    pub critic: Option<Arc<dyn Model>>,
    /// True when a call may cost money; answers on record do not.
    pub paid: bool,
}

impl Models {
    /// The models that the settings describe. Nothing is sent yet.
    ///
    /// # Errors
    /// As [`connect`].
    pub fn connect(settings: &settings::Settings) -> Result<Self> {
        let lanes = settings.lanes();
        let lanes = lanes.iter().map(|lane| in_turn(lane));
        let lanes = lanes.collect::<Result<_, _>>()?;
        let critic = settings.critic();
        Ok(Self {
            lanes,
            critic: critic.map(|critic| in_turn(&[critic])).transpose()?,
            paid: true,
        })
    }

    /// One that has every answer on record.
    pub fn on_record(model: Arc<dyn Model>) -> Self {
        Self {
            lanes: vec![model],
            critic: None,
            paid: false,
        }
    }

    /// Puts each of them into something.
    #[must_use]
    pub fn map(self, wrap: impl Fn(Arc<dyn Model>) -> Arc<dyn Model>) -> Self {
        Self {
            lanes: self.lanes.into_iter().map(&wrap).collect(),
            critic: self.critic.map(&wrap),
            paid: self.paid,
        }
    }
}

/// The model that the settings describe, with its retries and fallbacks. Nothing
/// is sent yet.
///
/// # Errors
/// No model is named, or a key or header cannot be sent.
pub fn connect(settings: &settings::Model) -> Result<Arc<dyn Model>> {
    in_turn(&settings.endpoints())
}

/// The first of these endpoints that can answers.
fn in_turn(endpoints: &[settings::Model]) -> Result<Arc<dyn Model>> {
    let mut models = Vec::new();
    for endpoint in endpoints {
        let plain: Arc<dyn Model> = Arc::new(OpenAi::new(endpoint)?);
        let again: Arc<dyn Model> = Arc::new(Retry::new(plain, endpoint.retries));
        models.push(again);
    }
    Ok(match <[_; 1]>::try_from(models) {
        Ok([only]) => only,
        Err(several) => Arc::new(Fallback::new(several)),
    })
}
