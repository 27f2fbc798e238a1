//! The recorder of metrics, and the metrics of the queue and of HTTP.
//!
//! One recorder a process. Without a daemon nobody installs it, and counting
//! costs next to nothing.

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use patchwright_agent::telemetry::metrics::{CALLS, MONEY, RUNS, STEP, TOKENS, VERDICTS};
use patchwright_sandbox::Limit;
use patchwright_store::submissions::Depth;
use std::sync::OnceLock;
use std::time::Instant;

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

/// The recorder of this process, installed by the first call.
pub fn recorder() -> PrometheusHandle {
    static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();
    RECORDER
        .get_or_init(|| {
            let recorder = builder().build_recorder();
            let handle = recorder.handle();
            // Fails only when there is one already, which then counts for it.
            let _ = metrics::set_global_recorder(recorder);
            describe();
            handle
        })
        .clone()
}

fn builder() -> PrometheusBuilder {
    let mut builder = PrometheusBuilder::new();
    for (name, buckets) in [(STEP, STEP_SECONDS), (ANSWER, ANSWER_SECONDS)] {
        // Fails only for an empty list.
        builder = match builder.set_buckets_for_metric(Matcher::Full(name.into()), buckets) {
            Ok(builder) => builder,
            Err(_) => PrometheusBuilder::new(),
        };
    }
    builder
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
