//! Check of the model: its endpoint is reached and takes the key.

use super::{Finding, State};
use patchwright_config::Settings;
use patchwright_model::openai::OpenAi;
use patchwright_model::price::Prices;

/// Looks at every endpoint, without asking anything that costs.
pub(super) async fn look(settings: &Settings) -> Vec<Finding> {
    if settings.model.name.is_empty() {
        let detail =
            "none is named, so only recorded answers can be used; set model.name, or give --model";
        return vec![Finding::new("model", State::Missing, detail)];
    }
    let mut findings = Vec::new();
    for endpoint in settings.model.endpoints() {
        let place = format!("{} at {}", endpoint.name, endpoint.base_url);
        let listed = match OpenAi::new(&endpoint) {
            Ok(model) => model.listed().await,
            Err(error) => Err(error),
        };
        let (state, told) = match listed {
            Ok(Some(models)) if !models.contains(&endpoint.name) => {
                let told = "reached, but it does not list this model";
                (State::Failed, format!("{told}{}", some_of(&models)))
            }
            Ok(Some(_)) => (State::Ok, "reached and listed".to_owned()),
            Ok(None) => (State::Ok, "reached; it lists no models".to_owned()),
            Err(error) => (State::Failed, error.to_string()),
        };
        findings.push(Finding::new("model", state, format!("{place}: {told}")));
    }
    if let (Some(usd), Err(missing)) = (settings.limits.usd, Prices::from_settings(&settings.model))
    {
        let detail = format!(
            "limits.usd is {usd}, but the price of {} is not set (model.usd_per_million_in and _out)",
            missing.join(", ")
        );
        findings.push(Finding::new("price", State::Failed, detail));
    }
    findings
}

/// A few names, to choose the right one from.
fn some_of(models: &[String]) -> String {
    let few: Vec<_> = models.iter().take(8).map(String::as_str).collect();
    match (few.len(), models.len()) {
        (0, _) => String::new(),
        (shown, all) if shown < all => format!("; among its {all}: {}, ..", few.join(", ")),
        _ => format!("; it lists {}", few.join(", ")),
    }
}
