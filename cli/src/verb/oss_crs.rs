//! `patchwright oss-crs`: the entry point of our container in an OSS-CRS run.
//!
//! Every crash that others found becomes a run; a patch that stops other
//! crashes too saves theirs. What is submitted at the end, or when somebody
//! says stop, is the smallest set of patches.

mod campaign;

use super::session::stop_on_signal;
use crate::common::{Common, Format, flag, write_out};
use crate::display;
use campaign::Campaign;
use clap::Args;
use patchwright_agent::record::{Ending, EndingKind};
use patchwright_agent::template::fill;
use patchwright_config::{Flag, Sources};
use patchwright_daemon::crs::cover::{self, Candidate};
use patchwright_daemon::crs::oss::{Environment, Found, Sidecars, tasks};
use patchwright_source::visible;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

/// The summary for people.
const TEXT: &str = include_str!("oss_crs/summary.txt");

#[derive(Debug, Args)]
pub(crate) struct OssCrsArguments {
    /// Ask this model, by the name the framework's proxy knows
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The builder sidecar, where it is not where the framework puts it
    #[arg(long, value_name = "URL")]
    pub builder: Option<String>,
    /// The runner sidecar, where it is not where the framework puts it
    #[arg(long, value_name = "URL")]
    pub runner: Option<String>,
    /// Take the model's answers from this transcript
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    pub replay: Option<PathBuf>,
    /// Submit each patch when it is known, not the smallest set at the end
    #[arg(long)]
    pub at_once: bool,
    /// Write each run's report, patch, journal and logs below this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Format in which the summary is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Repairs what lies in the framework's folders.
///
/// # Errors
/// The environment is not the framework's, or the store fails.
pub(crate) async fn run(common: &Common, arguments: OssCrsArguments) -> anyhow::Result<ExitCode> {
    let variables = Sources::from_process(None, Vec::new()).variables;
    let mut environment = Environment::read(&variables)?;
    if let Some(url) = &arguments.builder {
        environment.builder.clone_from(url);
    }
    if let Some(url) = &arguments.runner {
        environment.runner.clone_from(url);
    }
    let loaded = common.load(flags(&environment, &arguments))?;
    let display = display::of_settings(&loaded.settings);
    let found = Found::read(&environment.fetch);
    for line in &found.left_out {
        display.line(&format!("left out: {line}"));
    }
    let everything = tasks::task(&environment, &found, &found.povs, None)?;
    let answers = patchwright_run::answers(&everything, arguments.replay.as_ref(), &loaded)
        .map_err(|reason| anyhow::anyhow!(reason))?;
    let stop = CancellationToken::new();
    let watcher = tokio::spawn(stop_on_signal(stop.clone()));
    let mut campaign = Campaign {
        sidecars: Sidecars::of(&environment),
        environment,
        found,
        loaded,
        answers,
        display,
        at_once: arguments.at_once,
        out: arguments.out,
        stop,
    };
    let summary = campaign.carry_out(everything).await?;
    watcher.abort();
    let in_words = || Ok(visible(&fill(TEXT, &json!(summary))?).into_owned());
    write_out(arguments.format.render(&summary, in_words)?)?;
    Ok(ExitCode::from(summary.exit_code()))
}

/// The framework's proxy, and what the command line says.
fn flags(environment: &Environment, arguments: &OssCrsArguments) -> Vec<Flag> {
    let proxy = environment.model.iter();
    let proxy = proxy.map(|(key, value)| flag("the environment of OSS-CRS", key, value));
    let model = arguments.model.iter();
    let model = model.map(|name| flag("--model", "model.name", name));
    proxy.chain(model).collect()
}

/// Summary for people and programs.
#[derive(Debug, Default, Serialize)]
pub(in crate::verb::oss_crs) struct Summary {
    pub(in crate::verb::oss_crs) target: String,
    pub(in crate::verb::oss_crs) harness: String,
    pub(in crate::verb::oss_crs) povs: Vec<PovLine>,
    pub(in crate::verb::oss_crs) runs: Vec<RunLine>,
}

/// A PoV, and the run whose patch stops it.
#[derive(Debug, Serialize)]
pub(in crate::verb::oss_crs) struct PovLine {
    pub(in crate::verb::oss_crs) file: String,
    pub(in crate::verb::oss_crs) crashes: bool,
    pub(in crate::verb::oss_crs) stopped_by: Option<String>,
}

#[derive(Debug, Default, Serialize)]
pub(in crate::verb::oss_crs) struct RunLine {
    pub(in crate::verb::oss_crs) run: String,
    pub(in crate::verb::oss_crs) ending: String,
    pub(in crate::verb::oss_crs) detail: String,
    pub(in crate::verb::oss_crs) stops: Vec<String>,
    pub(in crate::verb::oss_crs) submitted: Option<PathBuf>,
    pub(in crate::verb::oss_crs) reported: Option<PathBuf>,
    #[serde(skip)]
    pub(in crate::verb::oss_crs) kind: Option<EndingKind>,
    #[serde(skip)]
    pub(in crate::verb::oss_crs) diff: Option<Vec<u8>>,
}

impl RunLine {
    pub(super) fn refused(task: &str, ending: Ending) -> Self {
        Self {
            run: task.to_owned(),
            ending: ending.kind.to_string(),
            detail: ending.detail,
            kind: Some(ending.kind),
            ..Self::default()
        }
    }
}

impl Summary {
    pub(super) fn is_open(&self, place: usize) -> bool {
        self.povs
            .get(place)
            .is_some_and(|pov| pov.stopped_by.is_none())
    }

    /// Notes what a patch stops.
    pub(super) fn stopped(&mut self, places: &[usize], line: &mut RunLine) {
        for place in places {
            if let Some(pov) = self.povs.get_mut(*place) {
                line.stops.push(pov.file.clone());
                if pov.stopped_by.is_none() {
                    pov.stopped_by = Some(line.run.clone());
                }
            }
        }
    }

    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let candidate = |line: &RunLine| {
            let mut stops: BTreeSet<String> = line.stops.iter().cloned().collect();
            if line.diff.is_some() && stops.is_empty() {
                stops.insert(format!("run {}", line.run));
            }
            Candidate {
                stops,
                doubt: line.kind.and_then(cover::doubt_of).unwrap_or(2),
            }
        };
        self.runs.iter().map(candidate).collect()
    }

    /// 0 when something was submitted, else the status of the last run.
    pub(in crate::verb::oss_crs) fn exit_code(&self) -> u8 {
        if self.runs.iter().any(|line| line.submitted.is_some()) {
            return 0;
        }
        let last = self.runs.last().and_then(|line| line.kind);
        last.unwrap_or(EndingKind::NotReproducible).exit_code()
    }
}
