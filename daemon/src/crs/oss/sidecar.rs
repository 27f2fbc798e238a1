//! The framework's builder and runner sidecars, spoken to over HTTP.
//!
//! A build and a test are jobs: handed in, then asked after. A run of a PoV is
//! one call. What an exit status means is not decided here.

use super::Environment;
use backon::{ExponentialBuilder, Retryable};
use patchwright_model::http::{body, default_client};
use patchwright_target::TargetError;
use reqwest::multipart::{Form, Part};
use reqwest::{RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use std::time::{Duration, Instant};

/// Time limit of the start of a sidecar.
const COMES_UP: Duration = Duration::from_mins(2);
/// Time limit of a job, the wait for a free builder included; the framework's own clients wait as long.
const JOB: Duration = Duration::from_hours(1);
/// Time limit of one run of a PoV; the runner itself gives up sooner.
const RUN: Duration = Duration::from_mins(3);
/// Time limit of any other answer.
const ANSWER: Duration = Duration::from_secs(30);
/// The pauses between two questions after a job: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));
/// Number of times a job is handed in again when the builder has forgotten it.
const HANDED_IN: u32 = 3;
/// Number of questions in a row that may stay without an answer.
const SILENT: u32 = 10;
/// The largest answer that is read, in bytes.
const ANSWER_LIMIT: usize = 64 << 20;

/// Result of a command in a sidecar.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CommandResult {
    /// The exit status; negative for a signal.
    pub exit_code: i32,
    #[serde(default)]
    pub stdout: String,
    #[serde(default)]
    pub stderr: String,
    /// The number by which the runner knows the build.
    pub rebuild_id: Option<i64>,
}

impl CommandResult {
    /// Returns all its output, standard output before standard error.
    pub fn output(&self) -> String {
        let ended = self.stdout.is_empty() || self.stdout.ends_with('\n');
        let end = if ended { "" } else { "\n" };
        format!("{}{end}{}", self.stdout, self.stderr)
    }
}

/// The two sidecars of our container.
#[derive(Debug, Clone)]
pub struct Sidecars {
    client: reqwest::Client,
    environment: Environment,
}

#[derive(Deserialize)]
struct Job {
    id: String,
    status: String,
    result: Option<CommandResult>,
    error: Option<String>,
}

impl Sidecars {
    /// The sidecars that the environment names. Nothing is sent yet.
    pub fn of(environment: &Environment) -> Self {
        Self {
            client: default_client(),
            environment: environment.clone(),
        }
    }

    /// Waits until both are up.
    pub async fn ready(&self) -> Result<(), TargetError> {
        let pauses = ExponentialBuilder::new()
            .with_min_delay(PAUSES.0)
            .with_max_delay(Duration::from_secs(10))
            .with_total_delay(Some(COMES_UP))
            .without_max_times();
        for sidecar in [&self.environment.builder, &self.environment.runner] {
            let url = address(sidecar, "health");
            let ask = || async {
                let answer = send(&url, self.client.get(&url).timeout(ANSWER)).await?;
                if answer.status().is_success() {
                    return Ok(());
                }
                Err(refused(&url, answer).await)
            };
            ask.retry(pauses).await?;
        }
        Ok(())
    }

    /// Applies a patch and builds (`build`), or runs the project's tests then (`test`).
    pub async fn job(&self, what: &str, patch: &[u8]) -> Result<CommandResult, TargetError> {
        for _ in 0..HANDED_IN {
            let job = self.hand_in(what, patch).await?;
            if let Some(told) = self.wait_for(job).await? {
                return Ok(told);
            }
        }
        Err(lost(&format!("it forgot the {what} {HANDED_IN} times")))
    }

    async fn hand_in(&self, what: &str, patch: &[u8]) -> Result<Job, TargetError> {
        let url = address(&self.environment.builder, what);
        let part = Part::bytes(patch.to_vec()).file_name("patch.diff");
        let mut form = Form::new()
            .part("patch", part)
            .text("crs_name", self.environment.name.clone());
        if what == "build" {
            form = form.text("builder_name", "");
        }
        let (cpuset, memory) = (&self.environment.cpuset, &self.environment.memory);
        for (name, limit) in [("cpuset", cpuset), ("mem_limit", memory)] {
            if !limit.is_empty() {
                form = form.text(name, limit.clone());
            }
        }
        let request = self.client.post(&url).timeout(ANSWER).multipart(form);
        read(&url, send(&url, request).await?).await
    }

    /// Returns the outcome of a job; nothing when the builder has forgotten it.
    async fn wait_for(&self, mut job: Job) -> Result<Option<CommandResult>, TargetError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_:".contains(c);
        if job.id.is_empty() || job.id.len() > 128 || !job.id.chars().all(plain) {
            return Err(lost(&format!("{:?} is no job", job.id)));
        }
        let url = address(&self.environment.builder, &format!("status/{}", job.id));
        let (until, mut pause, mut silent) = (Instant::now() + JOB, PAUSES.0, 0);
        loop {
            if ["done", "error"].contains(&job.status.as_str()) {
                return finished(job).map(Some);
            }
            if Instant::now() > until {
                let reason = format!("it did not end within {} minutes", JOB.as_secs() / 60);
                return Err(lost(&reason));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
            match self.client.get(&url).timeout(ANSWER).send().await {
                Ok(answer) if answer.status() == StatusCode::NOT_FOUND => return Ok(None),
                Ok(answer) => (job, silent) = (read(&url, answer).await?, 0),
                Err(_) if silent < SILENT => silent += 1,
                Err(error) => return Err(unreachable(&url, &error)),
            }
        }
    }

    /// Runs a PoV on a numbered build, or on the unpatched one; none where this runner runs
    /// numbered builds only.
    pub async fn run_pov(
        &self,
        input: Vec<u8>,
        harness: &str,
        rebuild: Option<i64>,
    ) -> Result<Option<CommandResult>, TargetError> {
        let url = address(&self.environment.runner, "run-pov");
        let part = Part::bytes(input).file_name("pov");
        let mut form = Form::new()
            .part("pov", part)
            .text("harness_name", harness.to_owned())
            .text("crs_name", self.environment.name.clone());
        if let Some(number) = rebuild {
            form = form.text("rebuild_id", number.to_string());
        }
        let request = self.client.post(&url).timeout(RUN).multipart(form);
        let answer = send(&url, request).await?;
        match answer.status() {
            StatusCode::UNPROCESSABLE_ENTITY if rebuild.is_none() => Ok(None),
            StatusCode::NOT_FOUND => {
                let text = beginning(answer).await;
                let reason = format!("the runner does not know the harness {harness:?}: {text}");
                Err(TargetError::invalid(reason))
            }
            _ => read(&url, answer).await.map(Some),
        }
    }
}

fn address(sidecar: &str, path: &str) -> String {
    format!("{}/{path}", sidecar.trim_end_matches('/'))
}

async fn send(url: &str, request: RequestBuilder) -> Result<Response, TargetError> {
    let answer = request.send().await;
    answer.map_err(|error| unreachable(url, &error))
}

/// Returns the outcome of a job that is over; one that failed has none.
fn finished(job: Job) -> Result<CommandResult, TargetError> {
    if let Some(result) = job.result.filter(|_| job.status == "done") {
        return Ok(result);
    }
    let reason = job.error.unwrap_or_else(|| "it gave no result".to_owned());
    Err(lost(&reason.chars().take(1_000).collect::<String>()))
}

/// A failure of the machinery, which says nothing about a patch.
fn failed(what: String) -> TargetError {
    TargetError::machinery(what, "OSS-CRS")
}

fn lost(reason: &str) -> TargetError {
    failed(format!("the builder could not do its job: {reason}"))
}

fn unreachable(url: &str, error: &reqwest::Error) -> TargetError {
    failed(format!("the sidecar at {url} cannot be reached: {error}"))
}

fn no_answer(url: &str, status: StatusCode, text: &str) -> TargetError {
    failed(format!("the sidecar at {url} answered {status}: {text}"))
}

async fn refused(url: &str, answer: Response) -> TargetError {
    no_answer(url, answer.status(), &beginning(answer).await)
}

async fn beginning(answer: Response) -> String {
    match body(answer, ANSWER_LIMIT).await {
        Ok(bytes) => String::from_utf8_lossy(&bytes).chars().take(300).collect(),
        Err(error) => format!("its reason did not come: {error}"),
    }
}

async fn read<T: serde::de::DeserializeOwned>(
    url: &str,
    answer: Response,
) -> Result<T, TargetError> {
    let status = answer.status();
    if !status.is_success() {
        return Err(refused(url, answer).await);
    }
    let bytes = body(answer, ANSWER_LIMIT).await;
    let bytes = bytes.map_err(|error| unreachable(url, &error))?;
    serde_json::from_slice(&bytes).map_err(|error| no_answer(url, status, &error.to_string()))
}
