//! The typed settings, one struct for each section of `config/default.toml`:
//! the model's and what ranks code in [`model`], the rest here.
//! Meanings and defaults stand in that file, not here.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;

use crate::crs::Crs;
use crate::daemon::{Http, Intake, Telemetry, Webhook};

use model::{Critic, Embedding, Expansion, Model, Rerank, Retrieval};

pub(super) mod model;

/// Everything that can be set.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Settings {
    /// The model and its endpoint.
    pub model: Model,
    /// The model that looks at patches.
    pub critic: Critic,
    /// Limits of one run.
    pub limits: Limits,
    /// Settings of the code search.
    pub retrieval: Retrieval,
    /// Embeddings as a signal for ranking code.
    pub embedding: Embedding,
    /// A re-ranker as a signal for ranking code.
    pub rerank: Rerank,
    /// Words of the model as a signal for ranking code.
    pub expansion: Expansion,
    /// Isolation of commands from this machine.
    pub sandbox: Sandbox,
    /// Where runs are kept.
    pub store: Store,
    /// The database, when several machines share it.
    pub database: Database,
    /// Settings of the queue and its workers.
    pub queue: Queue,
    /// The daemon that the verbs talk to.
    pub client: Client,
    /// The interfaces for cyber reasoning systems.
    pub crs: Crs,
    /// Where what can be made again is kept.
    pub cache: Cache,
    /// Settings of the display.
    pub display: Display,
    /// The daemon's HTTP interface.
    pub http: Http,
    /// Rules for what the daemon lets in.
    pub intake: Intake,
    /// The webhook of a forge.
    pub webhook: Webhook,
    /// Settings of messages, traces and metrics.
    pub telemetry: Telemetry,
}

/// Limits of one run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Limits {
    /// Patches that are tried.
    pub attempts: u32,
    /// Exchanges of queries and snippets.
    pub rounds: u32,
    /// Replies without usable content.
    pub format_retries: u32,
    /// Tokens of all calls.
    pub tokens: u64,
    /// US dollars.
    pub usd: Option<f64>,
    /// US dollars of one day (UTC), over all runs of the store.
    pub usd_day: Option<f64>,
    /// US dollars of all runs of the store.
    pub usd_total: Option<f64>,
    /// Working time.
    pub wall: Duration,
    /// Time that a run waits for models by itself.
    pub pause: Duration,
    /// Time of the `prepare` or `fetch` command.
    pub prepare: Duration,
    /// Time of one build.
    pub build: Duration,
    /// Time of one run of a PoV.
    pub pov: Duration,
    /// Time of the tests.
    pub test: Duration,
    /// Time of the rung that mutates the PoVs.
    pub robust: Duration,
    /// Time of the rung that compares the patched program with the unpatched.
    pub same: Duration,
    /// Inputs that have to be run before the rung that mutates the PoVs holds.
    pub executions: u64,
    /// The same for Java.
    pub executions_java: u64,
    /// The most inputs that are compared, and as many that are aimed at the patch.
    pub compared: u64,
    /// Compared inputs that have to run the patched lines before that rung holds.
    pub reached: u64,
    /// Differences of behaviour that a run asks the author about.
    pub contests: u32,
    /// Questions to a model for inputs that challenge a patch.
    pub challenges: u32,
    /// Inputs of one such question that are run.
    pub challenge_inputs: u32,
    /// Patches that `judge --model` asks the model for, to compare the judged one with.
    pub candidates: u32,
    /// Questions to a model for a regression test.
    pub regression_tests: u32,
    /// Time for the search for the smallest input that shows the crash.
    pub minimize: Duration,
    /// Builds of other revisions in the search for the commit that fixed a crash, or
    /// introduced it.
    pub bisect: u32,
    /// The least P(right) with which a patch is verified.
    pub probability: f64,
}

/// Isolation of commands from this machine.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Sandbox {
    /// By what means.
    pub choice: SandboxChoice,
    /// The socket of the container engine, for tasks that name an image.
    pub engine: Option<String>,
    /// Resident memory in MiB.
    pub memory_mb: u64,
    /// Processes and threads.
    pub processes: u64,
    /// Output that is kept, in KiB.
    pub output_kb: u64,
    /// The largest file, in MiB.
    pub file_mb: u64,
    /// Value of `$JOBS`; 0 for the number of processors.
    pub jobs: u32,
}

/// By what means commands are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SandboxChoice {
    /// The strongest that works.
    Auto,
    /// Namespaces, by bubblewrap.
    Bubblewrap,
    /// Landlock with a system call filter.
    Landlock,
    /// Nothing at all.
    None,
}

/// Where runs are kept.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Store {
    /// The folder.
    pub folder: PathBuf,
    /// A file with signatures of known crashes, or the word `runs`.
    pub known: Option<String>,
}

/// The database, when several machines share it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Database {
    /// The address of a PostgreSQL.
    #[schemars(with = "Option<String>")]
    pub url: Option<SecretString>,
}

/// Settings of the queue and its workers.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Queue {
    /// Tasks at once.
    pub workers: usize,
    /// Number of times that a task is tried again when the infrastructure failed.
    pub retries: u32,
    /// The first pause before that.
    pub first_delay: Duration,
    /// The longest pause before that.
    pub longest_delay: Duration,
    /// Between two heartbeats of a process.
    pub heartbeat: Duration,
    /// Without a heartbeat, a process is given up for dead after this.
    pub lost_after: Duration,
    /// Number of workers that may take a task before it is given up.
    pub claims: u32,
    /// Room on the disk, in MiB, below which nothing is taken.
    pub free_mb: u64,
    /// Time that ended tasks and runs are kept.
    pub keep: Duration,
}

/// The daemon that `submit`, `tasks`, `events` and `cancel` talk to.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Client {
    /// Its address.
    pub server: Option<String>,
    /// The token that the daemon knows the caller by.
    #[schemars(with = "String")]
    pub token: SecretString,
}

/// Where what can be made again is kept.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Cache {
    /// The folder.
    pub folder: PathBuf,
    /// The most megabytes of builds that are kept; 0 keeps none.
    pub builds_mb: u64,
    /// The most megabytes of verdicts that are kept; 0 keeps none.
    pub verdicts_mb: u64,
}

/// Settings of the display.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Display {
    /// Form in which progress is shown.
    pub progress: Progress,
    /// True when colours are used.
    pub color: Color,
}

/// Form in which progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// Drawn on a terminal, plain lines elsewhere.
    Auto,
    /// Plain lines.
    Plain,
    /// Not at all.
    None,
}

/// True when colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
