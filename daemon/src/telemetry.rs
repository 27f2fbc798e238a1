//! Telemetry going out: messages, traces, metrics.
//!
//! Messages go to standard error, traces to the collector that the settings
//! name, metrics to whoever asks the daemon. None of them holds a prompt, a
//! reply, a token or the content of a task. Nothing is decided by them. Without a daemon nobody
//! installs the recorder of metrics, and counting costs next to nothing.

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use patchwright_agent::telemetry::metrics::{CALLS, MONEY, RUNS, STEP, TOKENS, VERDICTS};
use patchwright_config::{LogFormat, Telemetry};
use patchwright_model::http::install_cryptography;
use patchwright_run::WrongInput;
use patchwright_sandbox::Limit;
use patchwright_store::submissions::Depth;
use secrecy::ExposeSecret;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, filter};

/// Time limit of the export of the last traces.
const LAST: Duration = Duration::from_secs(5);
/// Instrumentation scope of traces.
const SCOPE: &str = "patchwright";

const QUEUE: &str = "patchwright_queue_tasks";
const PAUSED: &str = "patchwright_queue_paused";
const REQUESTS: &str = "patchwright_http_requests_total";
const ANSWER: &str = "patchwright_http_seconds";
/// Counted by the evaluator, where the killing is done.
const KILLS: &str = "patchwright_sandbox_kills_total";

/// Steps last from milliseconds to half an hour.
const STEP_SECONDS: &[f64] = &[
    0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0,
];
/// Answers from half a millisecond to ten seconds.
const ANSWER_SECONDS: &[f64] = &[
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0,
];

/// Exports telemetry until it is dropped.
#[derive(Debug)]
#[must_use = "the last traces go out when it is dropped"]
pub struct TelemetryGuard {
    provider: Option<SdkTracerProvider>,
}

/// Begins to tell of a single run, in front of a person who sees its progress:
/// traces alone, when somebody collects them.
///
/// # Errors
/// When a setting makes no sense.
pub fn start_for_run(settings: &Telemetry) -> Result<Option<TelemetryGuard>, WrongInput> {
    let quiet = Telemetry {
        log: "off".to_owned(),
        ..settings.clone()
    };
    settings.otlp.is_some().then(|| start(&quiet)).transpose()
}

/// Begins to tell. A second call in one process changes nothing.
///
/// # Errors
/// When a setting makes no sense.
pub fn start(settings: &Telemetry) -> Result<TelemetryGuard, WrongInput> {
    let filter = settings.log.parse::<EnvFilter>();
    let filter = filter.map_err(|error| WrongInput(format!("telemetry.log: {error}")))?;
    let messages = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false);
    let messages = match settings.format {
        LogFormat::Text => messages.boxed(),
        LogFormat::Json => messages.json().flatten_event(true).boxed(),
    };
    let provider = settings
        .otlp
        .as_deref()
        .map(|endpoint| provider(endpoint, settings))
        .transpose()
        .map_err(|error| WrongInput(format!("telemetry.otlp: {error}")))?;
    let traces = provider.as_ref().map(|provider| {
        // Only our own spans: those of libraries name hosts and paths.
        tracing_opentelemetry::layer()
            .with_tracer(provider.tracer(SCOPE))
            .with_location(false)
            .with_threads(false)
            .with_filter(filter::Targets::new().with_target(SCOPE, tracing::Level::INFO))
    });
    let _ = tracing_subscriber::registry()
        .with(messages.with_filter(filter))
        .with(traces)
        .try_init();
    Ok(TelemetryGuard { provider })
}

fn provider(endpoint: &str, settings: &Telemetry) -> Result<SdkTracerProvider, ExporterBuildError> {
    let headers: HashMap<String, String> = settings
        .otlp_headers
        .iter()
        .map(|(name, value)| (name.clone(), value.expose_secret().to_owned()))
        .collect();
    // The exporter makes its own HTTP client.
    install_cryptography();
    let exporter = SpanExporter::builder()
        .with_http()
        .with_endpoint(endpoint)
        .with_headers(headers)
        .build()?;
    let resource = Resource::builder()
        .with_service_name(settings.service.clone())
        .with_attribute(opentelemetry::KeyValue::new(
            "service.version",
            env!("CARGO_PKG_VERSION"),
        ))
        .build();
    Ok(SdkTracerProvider::builder()
        .with_resource(resource)
        .with_batch_exporter(exporter)
        .build())
}

impl Drop for TelemetryGuard {
    fn drop(&mut self) {
        if let Some(provider) = self.provider.take() {
            // A collector that is away must not keep anybody from ending.
            let _ = provider.shutdown_with_timeout(LAST);
        }
    }
}

/// The recorder of this process, installed by the first call.
pub fn recorder() -> PrometheusHandle {
    static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();
    RECORDER
        .get_or_init(|| {
            let mut builder = PrometheusBuilder::new();
            for (name, buckets) in [(STEP, STEP_SECONDS), (ANSWER, ANSWER_SECONDS)] {
                // Fails only for an empty list.
                let set = builder.set_buckets_for_metric(Matcher::Full(name.into()), buckets);
                builder = set.unwrap_or_default();
            }
            let recorder = builder.build_recorder();
            let handle = recorder.handle();
            // Fails only when there is one already, which then counts for it.
            let _ = metrics::set_global_recorder(recorder);
            describe();
            handle
        })
        .clone()
}

fn describe() {
    describe_gauge!(QUEUE, "Tasks by state");
    describe_gauge!(PAUSED, "1 while workers claim nothing");
    describe_histogram!(STEP, "Seconds of the steps of runs, by stage");
    describe_counter!(RUNS, "Runs that ended, by ending");
    describe_counter!(VERDICTS, "Rungs that were climbed, by outcome");
    describe_counter!(CALLS, "Calls of models, by model and outcome");
    describe_counter!(TOKENS, "Tokens, by model and direction");
    describe_gauge!(MONEY, "US dollars since the start, by model");
    describe_counter!(REQUESTS, "HTTP requests, by route and status");
    describe_histogram!(ANSWER, "Seconds until the answer began, by route");
    describe_counter!(KILLS, "Commands killed at a limit, by limit");
    // Seen from the start: that there was none is worth knowing.
    for limit in [
        Limit::WallTime,
        Limit::Memory,
        Limit::Processes,
        Limit::Disk,
    ] {
        counter!(KILLS, "limit" => limit.text()).increment(0);
    }
}

/// The queue as it stands now.
pub fn tell_queue(depth: &Depth) {
    for (state, count) in [
        ("queued", depth.queued),
        ("running", depth.running),
        ("paused", depth.waiting),
        ("done", depth.done),
        ("canceled", depth.canceled),
    ] {
        gauge!(QUEUE, "state" => state).set(count as f64);
    }
    gauge!(PAUSED).set(if depth.paused { 1.0 } else { 0.0 });
}

/// Counts a request of the daemon and the time until its answer began.
pub async fn count_request(request: Request, next: Next) -> Response {
    let since = Instant::now();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("other", MatchedPath::as_str).to_owned();
    let method = match *request.method() {
        Method::GET => "GET",
        Method::POST => "POST",
        // A caller may make up any number of methods.
        _ => "other",
    };
    let response = next.run(request).await;
    let status = response.status().as_u16().to_string();
    counter!(REQUESTS, "route" => route.clone(), "method" => method, "status" => status)
        .increment(1);
    histogram!(ANSWER, "route" => route).record(since.elapsed().as_secs_f64());
    response
}
