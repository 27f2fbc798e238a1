//! Puts the boxes together: one endpoint each, asked again when it may help, and
//! the next one when it does not.

use std::sync::Arc;

use super::{Model, ModelError, fallback::Fallback, openai::OpenAi, retry::Retry};
use crate::settings;

/// The model that the settings describe, with its retries and fallbacks. Nothing
/// is sent yet.
///
/// # Errors
/// No model is named, or a key or header cannot be sent.
pub fn connect(settings: &settings::Model) -> Result<Arc<dyn Model>, ModelError> {
    let mut models = Vec::new();
    for endpoint in settings.endpoints() {
        let plain: Arc<dyn Model> = Arc::new(OpenAi::new(&endpoint)?);
        let again: Arc<dyn Model> = Arc::new(Retry::new(plain, endpoint.retries));
        models.push(again);
    }
    let first = models.remove(0);
    Ok(if models.is_empty() {
        first
    } else {
        Arc::new(Fallback::new(first, models))
    })
}
