//! Telemetry going out: messages, traces, metrics.
//!
//! Messages go to standard error, traces to the collector that the settings
//! name, metrics to whoever asks the daemon. None of them holds a prompt, a
//! reply, a token or the content of a task. Nothing is decided by them.

pub mod metrics;

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracerProvider, Tracer};
use patchwright_config::{LogFormat, Telemetry};
use patchwright_model::http::install_cryptography;
use secrecy::ExposeSecret;
use std::collections::HashMap;
use std::time::Duration;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, filter};

/// Time limit of the export of the last traces.
const LAST: Duration = Duration::from_secs(5);
/// Instrumentation scope of traces.
const SCOPE: &str = "patchwright";

/// Error of the start of telemetry.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter of messages cannot be read.
    #[error("telemetry.log: {0}")]
    Filter(#[from] filter::ParseError),
    /// The traces cannot be sent.
    #[error("telemetry.otlp: {0}")]
    Exporter(#[from] ExporterBuildError),
}

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
pub fn start_for_run(settings: &Telemetry) -> Result<Option<TelemetryGuard>, TelemetryError> {
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
pub fn start(settings: &Telemetry) -> Result<TelemetryGuard, TelemetryError> {
    let filter: EnvFilter = settings.log.parse()?;
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
        .transpose()?;
    let traces = provider
        .as_ref()
        .map(|provider| provider.tracer(SCOPE))
        .map(|tracer: Tracer| {
            // Only our own spans: those of libraries name hosts and paths.
            tracing_opentelemetry::layer()
                .with_tracer(tracer)
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

fn provider(endpoint: &str, settings: &Telemetry) -> Result<SdkTracerProvider, TelemetryError> {
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
