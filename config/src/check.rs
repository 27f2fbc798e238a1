//! Checks beyond the types of the settings: values that would make no sense.

use std::time::Duration;

use crate::{Model, Queue, Settings};

/// The first value that makes no sense: its key, and what would be right.
pub(super) fn first_problem(settings: &Settings) -> Option<(&'static str, String)> {
    let limits = &settings.limits;
    model(&settings.model)
        .or_else(|| signals(settings))
        .or_else(|| times(settings))
        .or_else(|| at_least_one("limits.attempts", limits.attempts.into()))
        .or_else(|| at_least_one("limits.rounds", limits.rounds.into()))
        .or_else(|| at_least_one("limits.tokens", limits.tokens))
        .or_else(|| not_negative("limits.usd", limits.usd))
        .or_else(|| share("limits.probability", limits.probability))
        .or_else(|| critic(settings))
        .or_else(|| {
            at_least_one(
                "retrieval.max_results",
                settings.retrieval.max_results as u64,
            )
        })
        .or_else(|| at_least_one("sandbox.memory_mb", settings.sandbox.memory_mb))
        .or_else(|| at_least_one("sandbox.processes", settings.sandbox.processes))
        .or_else(|| daemon(settings))
        .or_else(|| queue(&settings.queue))
}

fn daemon(settings: &Settings) -> Option<(&'static str, String)> {
    let (http, intake) = (&settings.http, &settings.intake);
    [
        ("http.body_kb", http.body_kb as u64),
        ("http.upload_mb", http.upload_mb as u64),
        ("http.rate", http.rate.into()),
        ("http.connections", http.connections as u64),
        ("http.peer_connections", http.peer_connections as u64),
        ("http.requests", http.requests as u64),
        ("http.streams", http.streams as u64),
        ("intake.archive_mb", intake.archive_mb),
        ("intake.unpacked_mb", intake.unpacked_mb),
        ("intake.entries", intake.entries),
        ("intake.open_tasks", intake.open_tasks),
        ("intake.kept_mb", intake.kept_mb),
        ("intake.kept_files", intake.kept_files),
    ]
    .into_iter()
    .find_map(|(key, number)| at_least_one(key, number))
    .or_else(|| {
        let relative = intake.folders.iter().find(|folder| !folder.is_absolute())?;
        let message = format!("must be absolute, found {}", relative.display());
        Some(("intake.folders", message))
    })
    .or_else(|| {
        let address = settings.telemetry.otlp.as_deref()?;
        Some(("telemetry.otlp", bad_address(address)?))
    })
}

fn queue(queue: &Queue) -> Option<(&'static str, String)> {
    // Heartbeats are counted in whole seconds.
    let least = (queue.heartbeat * 2).max(Duration::from_secs(2));
    let message = "must be at least twice queue.heartbeat, and 2s";
    (queue.lost_after < least)
        .then(|| ("queue.lost_after", message.to_owned()))
        .or_else(|| at_least_one("queue.claims", queue.claims.into()))
}

fn model(model: &Model) -> Option<(&'static str, String)> {
    let output = u64::from(model.max_output_tokens);
    let addresses = std::iter::once(("model.base_url", model.base_url.as_str())).chain(
        model
            .fallbacks
            .iter()
            .filter_map(|fallback| Some(("model.fallbacks", fallback.base_url.as_deref()?))),
    );
    let addresses = addresses.chain(
        model
            .lanes
            .iter()
            .filter_map(|lane| Some(("model.lanes", lane.base_url.as_deref()?))),
    );
    for (key, address) in addresses {
        if let Some(message) = bad_address(address) {
            return Some((key, message));
        }
    }
    at_least_one("model.max_output_tokens", output)
        .or_else(|| at_least_one("model.reply_bytes", model.reply_bytes as u64))
        .or_else(|| {
            (model.context_window <= output).then(|| {
                let message = format!("must be larger than model.max_output_tokens ({output})");
                ("model.context_window", message)
            })
        })
        .or_else(|| not_negative("model.temperature", model.temperature))
        .or_else(|| not_negative("model.usd_per_million_in", model.usd_per_million_in))
        .or_else(|| not_negative("model.usd_per_million_cached", model.usd_per_million_cached))
        .or_else(|| not_negative("model.usd_per_million_out", model.usd_per_million_out))
        .or_else(|| fallback_prices(model))
}

fn critic(settings: &Settings) -> Option<(&'static str, String)> {
    let critic = &settings.critic;
    let address = critic.base_url.as_deref().and_then(bad_address);
    address
        .map(|message| ("critic.base_url", message))
        .or_else(|| at_least_one("critic.max_output_tokens", critic.max_output_tokens.into()))
        .or_else(|| not_negative("critic.usd_per_million_in", critic.usd_per_million_in))
        .or_else(|| not_negative("critic.usd_per_million_out", critic.usd_per_million_out))
}

fn signals(settings: &Settings) -> Option<(&'static str, String)> {
    let rerank = &settings.rerank.base_url;
    let address =
        bad_address(&settings.embedding.base_url).map(|message| ("embedding.base_url", message));
    let rerank = || {
        let message = (!rerank.is_empty())
            .then(|| bad_address(rerank))
            .flatten()?;
        Some(("rerank.base_url", message))
    };
    let prices = (
        settings.embedding.usd_per_million,
        settings.rerank.usd_per_million,
    );
    address
        .or_else(rerank)
        .or_else(|| not_negative("embedding.usd_per_million", prices.0))
        .or_else(|| not_negative("rerank.usd_per_million", prices.1))
}

fn fallback_prices(model: &Model) -> Option<(&'static str, String)> {
    let others = model.fallbacks.iter().chain(&model.lanes);
    let mut prices = others.flat_map(|fallback| {
        [
            fallback.usd_per_million_in,
            fallback.usd_per_million_cached,
            fallback.usd_per_million_out,
        ]
    });
    prices.find_map(|price| not_negative("model.fallbacks", price))
}

fn bad_address(address: &str) -> Option<String> {
    let expected = "expected an address such as \"http://127.0.0.1:8000/v1\"";
    match url::Url::parse(address) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => None,
        Ok(url) => Some(format!(
            "{expected}, found the scheme {:?} in {address:?}",
            url.scheme()
        )),
        Err(error) => Some(format!("{expected}, found {address:?} ({error})")),
    }
}

fn times(settings: &Settings) -> Option<(&'static str, String)> {
    let timeouts = &settings.model.timeouts;
    let limits = &settings.limits;
    [
        ("model.timeouts.connect", timeouts.connect),
        ("model.timeouts.first_byte", timeouts.first_byte),
        ("model.timeouts.silence", timeouts.silence),
        ("model.timeouts.total", timeouts.total),
        ("embedding.timeout", settings.embedding.timeout),
        ("rerank.timeout", settings.rerank.timeout),
        ("expansion.timeout", settings.expansion.timeout),
        ("limits.wall", limits.wall),
        ("limits.prepare", limits.prepare),
        ("limits.build", limits.build),
        ("limits.pov", limits.pov),
        ("limits.test", limits.test),
        ("limits.robust", limits.robust),
        ("limits.same", limits.same),
        ("http.timeout", settings.http.timeout),
        ("http.upload_timeout", settings.http.upload_timeout),
        ("queue.heartbeat", settings.queue.heartbeat),
    ]
    .into_iter()
    .find(|(_, time)| *time == Duration::ZERO)
    .map(|(key, _)| (key, "must be longer than nothing".to_owned()))
}

fn at_least_one(key: &'static str, number: u64) -> Option<(&'static str, String)> {
    (number == 0).then(|| (key, "must be at least 1".to_owned()))
}

fn share(key: &'static str, number: f64) -> Option<(&'static str, String)> {
    let fine = (0.0..=1.0).contains(&number);
    (!fine).then(|| (key, format!("must lie between 0 and 1, found {number}")))
}

fn not_negative(key: &'static str, number: Option<f64>) -> Option<(&'static str, String)> {
    let number = number?;
    let fine = number.is_finite() && number >= 0.0;
    (!fine).then(|| (key, format!("must be zero or more, found {number}")))
}
