//! Checks beyond the types of the settings: values that would make no sense.

use std::time::Duration;

use crate::Settings;

/// A key, and what would be right.
type Problem = (&'static str, String);

/// The first value that makes no sense.
pub(super) fn first_problem(settings: &Settings) -> Option<Problem> {
    let zero =
        |(key, number): (_, u64)| (number == 0).then(|| (key, "must be at least 1".to_owned()));
    let instant = |(key, time): (_, Duration)| {
        time.is_zero()
            .then(|| (key, "must be longer than nothing".to_owned()))
    };
    addresses(settings)
        .into_iter()
        .find_map(|(key, address)| Some((key, bad_address(address)?)))
        .or_else(|| times(settings).into_iter().find_map(instant))
        .or_else(|| counts(settings).into_iter().find_map(zero))
        .or_else(|| amounts(settings).into_iter().find_map(negative))
        .or_else(|| relations(settings))
}

fn addresses(settings: &Settings) -> Vec<(&'static str, &str)> {
    let model = &settings.model;
    let fallbacks = model.fallbacks.iter().map(|one| ("model.fallbacks", one));
    let lanes = model.lanes.iter().map(|one| ("model.lanes", one));
    let others = fallbacks.chain(lanes);
    let rerank = Some(settings.rerank.base_url.as_str());
    let optional = [
        ("critic.base_url", settings.critic.base_url.as_deref()),
        ("rerank.base_url", rerank.filter(|url| !url.is_empty())),
        ("telemetry.otlp", settings.telemetry.otlp.as_deref()),
    ];
    let optional = optional
        .into_iter()
        .chain(others.map(|(key, one)| (key, one.base_url.as_deref())));
    let mut addresses = vec![
        ("model.base_url", model.base_url.as_str()),
        ("embedding.base_url", settings.embedding.base_url.as_str()),
    ];
    addresses.extend(optional.filter_map(|(key, address)| Some((key, address?))));
    addresses
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

fn times(settings: &Settings) -> [(&'static str, Duration); 17] {
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
}

/// Numbers that must be at least 1.
fn counts(settings: &Settings) -> [(&'static str, u64); 23] {
    let (limits, sandbox) = (&settings.limits, &settings.sandbox);
    let (http, intake) = (&settings.http, &settings.intake);
    let (model, critic) = (&settings.model, &settings.critic);
    let results = settings.retrieval.max_results;
    [
        ("model.max_output_tokens", model.max_output_tokens.into()),
        ("model.reply_bytes", model.reply_bytes as u64),
        ("limits.attempts", limits.attempts.into()),
        ("limits.rounds", limits.rounds.into()),
        ("limits.tokens", limits.tokens),
        ("critic.max_output_tokens", critic.max_output_tokens.into()),
        ("retrieval.max_results", results as u64),
        ("sandbox.memory_mb", sandbox.memory_mb),
        ("sandbox.processes", sandbox.processes),
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
        ("queue.claims", settings.queue.claims.into()),
    ]
}

/// Amounts that must not be negative, where they are set.
fn amounts(settings: &Settings) -> Vec<(&'static str, Option<f64>)> {
    let (model, critic) = (&settings.model, &settings.critic);
    let mut amounts = vec![
        ("limits.usd", settings.limits.usd),
        ("model.temperature", model.temperature),
        ("model.usd_per_million_in", model.usd_per_million_in),
        ("model.usd_per_million_cached", model.usd_per_million_cached),
        ("model.usd_per_million_out", model.usd_per_million_out),
        ("critic.usd_per_million_in", critic.usd_per_million_in),
        ("critic.usd_per_million_out", critic.usd_per_million_out),
        (
            "embedding.usd_per_million",
            settings.embedding.usd_per_million,
        ),
        ("rerank.usd_per_million", settings.rerank.usd_per_million),
    ];
    for other in model.fallbacks.iter().chain(&model.lanes) {
        let key = "model.fallbacks";
        amounts.push((key, other.usd_per_million_in));
        amounts.push((key, other.usd_per_million_cached));
        amounts.push((key, other.usd_per_million_out));
    }
    amounts
}

fn negative((key, number): (&'static str, Option<f64>)) -> Option<Problem> {
    let number = number?;
    let fine = number.is_finite() && number >= 0.0;
    (!fine).then(|| (key, format!("must be zero or more, found {number}")))
}

/// Values that do not fit each other, or what they are for.
fn relations(settings: &Settings) -> Option<Problem> {
    let (model, queue) = (&settings.model, &settings.queue);
    let (output, share) = (model.max_output_tokens, settings.limits.probability);
    if model.context_window <= output.into() {
        let message = format!("must be larger than model.max_output_tokens ({output})");
        return Some(("model.context_window", message));
    }
    if !(0.0..=1.0).contains(&share) {
        let message = format!("must lie between 0 and 1, found {share}");
        return Some(("limits.probability", message));
    }
    if queue.lost_after < (queue.heartbeat * 2).max(Duration::from_secs(2)) {
        let message = "must be at least twice queue.heartbeat, and 2s";
        return Some(("queue.lost_after", message.to_owned()));
    }
    let mut folders = settings.intake.folders.iter();
    let relative = folders.find(|folder| !folder.is_absolute())?;
    let message = format!("must be absolute, found {}", relative.display());
    Some(("intake.folders", message))
}
