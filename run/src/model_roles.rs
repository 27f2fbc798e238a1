//! Models by role: those of the lanes and the critic, with prices and windows.

use patchwright_agent::drive::Speaker;
use patchwright_agent::record::{Ending, EndingKind};
use patchwright_agent::task::Task;
use patchwright_config::{self as settings, Settings};
use patchwright_model::price::Prices;
use patchwright_model::tokens::Counter;
use patchwright_model::{Model, Models};
use std::sync::Arc;

/// The lanes' models and the critic, with what asking them means; the ending
/// when money is limited and nobody knows what one of them costs.
pub(crate) fn speakers(
    task: &Task,
    settings: &Settings,
    models: Models,
) -> Result<(Vec<Speaker>, Option<Speaker>), Ending> {
    let mut endpoints = settings.lanes();
    endpoints.truncate(models.lanes.len().min(task.candidates.max(1) as usize));
    let critic: Vec<settings::Model> = settings.critic().into_iter().collect();
    let all = &settings.limits;
    let limits = [task.limits.usd, all.usd, all.usd_day, all.usd_total];
    let money = (models.paid, limits.iter().any(Option::is_some));
    let lanes = endpoints.iter().zip(models.lanes);
    let lanes = lanes.map(|(asked, model)| speaker(asked, model, money));
    let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
    let critic = models.critic.map(|model| speaker(&critic, model, money));
    Ok((lanes, critic.transpose()?))
}

fn speaker(
    endpoints: &[settings::Model],
    model: Arc<dyn Model>,
    (paid, limited): (bool, bool),
) -> Result<Speaker, Ending> {
    let prices = match Prices::of_endpoints(endpoints) {
        Err(missing) if paid && limited => return Err(unpriced(&missing)),
        prices => prices.ok().filter(|_| !endpoints.is_empty()),
    };
    let windows = endpoints.iter().map(|endpoint| endpoint.context_window);
    let output = endpoints.first().map(|endpoint| endpoint.max_output_tokens);
    let names = endpoints.iter().map(|endpoint| endpoint.name.as_str());
    Ok(Speaker {
        counter: Counter::of_all(names),
        max_output_tokens: output.unwrap_or_default(),
        window: windows.min().unwrap_or_default(),
        prices,
        model,
        paid,
    })
}

fn unpriced(missing: &[String]) -> Ending {
    let detail = format!(
        "a money limit is set, but what {} costs is not: set usd_per_million_in and \
         usd_per_million_out beside its name (model.usd_per_million_in for the first model), or \
         take the limit away",
        missing.join(" and ")
    );
    Ending::new(EndingKind::InvalidTask, detail)
}
