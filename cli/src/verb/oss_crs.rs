//! `patchwright oss-crs`: the entry point of our container in an OSS-CRS run.
//!
//! Every crash that others found becomes a run; a patch that stops other
//! crashes too saves theirs. What is submitted at the end, or when somebody
//! says stop, is the smallest set of patches.

use super::session::{self, Beginning, OutputArguments, stop_on_signal};
use crate::common::{Common, Format, write_out};
use crate::display::{self, Display};
use clap::Args;
use patchwright_agent::record::{Ending, EndingKind};
use patchwright_agent::report::AttemptReport;
use patchwright_agent::task::Task;
use patchwright_agent::template::fill;
use patchwright_config::{Flag, Loaded, Sources};
use patchwright_daemon::crs::cover;
use patchwright_daemon::crs::ground::Ground;
use patchwright_daemon::crs::oss::{
    self, Candidates, Environment, Found, SidecarTarget, Sidecars, tasks,
};
use patchwright_run::Answers;
use patchwright_source::{Tree, visible};
use patchwright_target::Target;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
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
        summary: Summary {
            target: environment.target.clone(),
            harness: environment.harness.clone(),
            ..Summary::default()
        },
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
    campaign.carry_out(everything).await?;
    watcher.abort();
    let summary = &campaign.summary;
    let in_words = || Ok(visible(&fill(TEXT, &json!(summary))?).into_owned());
    write_out(arguments.format.render(summary, in_words)?)?;
    Ok(ExitCode::from(summary.exit_code()))
}

/// The framework's proxy, and what the command line says.
fn flags(environment: &Environment, arguments: &OssCrsArguments) -> Vec<Flag> {
    let proxy = environment.model.iter();
    let proxy = proxy.map(|(key, value)| Flag::new("the environment of OSS-CRS", key, value));
    let model = arguments.model.iter();
    let model = model.map(|name| Flag::new("--model", "model.name", name));
    proxy.chain(model).collect()
}

/// Summary for people and programs.
#[derive(Debug, Default, Serialize)]
struct Summary {
    target: String,
    harness: String,
    povs: Vec<PovLine>,
    runs: Vec<RunLine>,
}

/// A PoV, and the run whose patch stops it.
#[derive(Debug, Serialize)]
struct PovLine {
    file: String,
    crashes: bool,
    stopped_by: Option<String>,
}

#[derive(Debug, Default, Serialize)]
struct RunLine {
    run: String,
    ending: String,
    detail: String,
    stops: Vec<String>,
    submitted: Option<PathBuf>,
    reported: Option<PathBuf>,
    #[serde(skip)]
    kind: Option<EndingKind>,
    #[serde(skip)]
    diff: Option<Vec<u8>>,
}

impl RunLine {
    fn refused(task: &str, ending: Ending) -> Self {
        Self {
            run: task.to_owned(),
            ending: ending.kind.to_string(),
            detail: ending.detail,
            kind: Some(ending.kind),
            ..Self::default()
        }
    }

    fn candidate(&self) -> cover::Candidate {
        let mut stops: BTreeSet<String> = self.stops.iter().cloned().collect();
        if self.diff.is_some() && stops.is_empty() {
            stops.insert(format!("run {}", self.run));
        }
        cover::Candidate {
            stops,
            doubt: self.kind.and_then(cover::doubt_of).unwrap_or(2),
        }
    }
}

impl Summary {
    /// 0 when something was submitted, else the status of the last run.
    fn exit_code(&self) -> u8 {
        if self.runs.iter().any(|line| line.submitted.is_some()) {
            return 0;
        }
        let last = self.runs.last().and_then(|line| line.kind);
        last.unwrap_or(EndingKind::NotReproducible).exit_code()
    }
}

/// All crashes of one harness, one run after the other, and the choice among their patches.
#[derive(Debug)]
struct Campaign {
    summary: Summary,
    environment: Environment,
    found: Found,
    sidecars: Sidecars,
    loaded: Loaded,
    answers: Answers,
    display: Display,
    at_once: bool,
    out: Option<PathBuf>,
    stop: CancellationToken,
}

impl Campaign {
    /// Runs every crash, or every suspicion where there is no PoV.
    async fn carry_out(&mut self, everything: Task) -> anyhow::Result<()> {
        if everything.povs.is_empty() {
            self.suspicions().await?;
        } else {
            match self.ground(&everything).await {
                Ok(ground) => self.crashes(&ground).await?,
                Err(ending) => {
                    let line = RunLine::refused(&everything.id, ending);
                    self.summary.runs.push(line);
                }
            }
        }
        if self.at_once {
            return Ok(());
        }
        // The smallest set of patches. One that nothing could be replayed for stands for its own run.
        let candidates = self.summary.runs.iter().map(RunLine::candidate);
        let candidates: Vec<cover::Candidate> = candidates.collect();
        for place in cover::smallest(&candidates) {
            if let Some(line) = self.summary.runs.get_mut(place) {
                give_out(&self.environment, line)?;
            }
        }
        Ok(())
    }

    async fn ground(&self, everything: &Task) -> Result<Ground, Ending> {
        let target = self.target(everything)?;
        let count = everything.povs.len();
        let line = format!("replaying PoVs on the unpatched build: {count}");
        self.display.line(&line);
        tokio::select! {
            ground = Ground::measure(Arc::new(target), self.tree()?) => ground,
            () = self.stop.cancelled() => {
                Err(Ending::new(EndingKind::Canceled, "stopped by request"))
            }
        }
    }

    fn tree(&self) -> Result<Tree, Ending> {
        Tree::open(&self.environment.source)
            .map_err(|error| Ending::new(EndingKind::InvalidTask, format!("source: {error}")))
    }

    fn target(&self, task: &Task) -> Result<SidecarTarget, Ending> {
        let tree = self.tree()?;
        let task = patchwright_run::target_task(task, &self.loaded.settings, tree.root());
        Ok(SidecarTarget::new(task, self.sidecars.clone(), tree))
    }

    async fn crashes(&mut self, ground: &Ground) -> anyhow::Result<()> {
        let folder = self.environment.fetch.join("povs");
        let povs = self.found.povs.iter().take(ground.povs()).enumerate();
        let povs = povs.map(|(place, file)| PovLine {
            file: format!("{}", file.strip_prefix(&folder).unwrap_or(file).display()),
            crashes: ground.reproduces(place),
            stopped_by: None,
        });
        self.summary.povs = povs.collect();
        let seen: Vec<usize> = (0..ground.povs())
            .filter(|place| ground.reproduces(*place))
            .collect();
        let signatures: Vec<_> = seen.iter().map(|place| ground.signature(*place)).collect();
        for group in tasks::groups(&signatures) {
            let is_open = |place: &&usize| {
                let pov = self.summary.povs.get(**place);
                pov.is_some_and(|pov| pov.stopped_by.is_none())
            };
            let places = group.into_iter().filter_map(|at| seen.get(at));
            let povs = places
                .filter(is_open)
                .filter_map(|place| self.found.povs.get(*place));
            let povs: Vec<PathBuf> = povs.cloned().collect();
            if povs.is_empty() || self.stop.is_cancelled() {
                continue;
            }
            let suspicion = match self.found.candidates.as_slice() {
                [(_, only)] => Some(only.as_str()),
                _ => None,
            };
            let task = tasks::task(&self.environment, &self.found, &povs, suspicion)?;
            let mut line = Box::pin(self.repair(task)).await?;
            for place in self.stops(ground, &line).await {
                if let Some(pov) = self.summary.povs.get_mut(place) {
                    line.stops.push(pov.file.clone());
                    pov.stopped_by.get_or_insert_with(|| line.run.clone());
                }
            }
            self.keep(line)?;
        }
        Ok(())
    }

    /// Runs every suspicion: the candidates that can be claimed, while others work on the rest, or
    /// else what lies in the framework's folders.
    async fn suspicions(&mut self) -> anyhow::Result<()> {
        let shared = Candidates::open(&self.environment).await?;
        let open = match &shared {
            Some(shared) => shared.open_ones().await?,
            None => Vec::new(),
        };
        let claimable = open.into_iter().map(|one| (Some(one.id), Some(one.sarif)));
        let mut suspicions: Vec<(Option<String>, Option<String>)> = claimable.collect();
        if suspicions.is_empty() {
            let candidates = self.found.candidates.iter();
            suspicions.extend(candidates.map(|(_, text)| (None, Some(text.clone()))));
        }
        if suspicions.is_empty() && self.found.diff.is_some() {
            suspicions.push((None, None));
        }
        for (id, report) in suspicions {
            if self.stop.is_cancelled() {
                break;
            }
            let claim = shared.as_ref().zip(id.as_deref());
            if let Some((shared, id)) = claim
                && !shared.claim(id).await?
            {
                let line = format!("bug candidate {id}: claimed by another system");
                self.display.line(&line);
                continue;
            }
            let task = tasks::task(&self.environment, &self.found, &[], report.as_deref())?;
            let line = Box::pin(self.repair(task)).await;
            if let Some((shared, id)) = claim {
                let verified = |line: &RunLine| line.kind == Some(EndingKind::Verified);
                shared.settle(id, line.as_ref().is_ok_and(verified)).await?;
            }
            self.keep(line?)?;
        }
        Ok(())
    }

    async fn repair(&self, task: Task) -> anyhow::Result<RunLine> {
        let target = match self.target(&task) {
            Ok(target) => target,
            Err(ending) => return Ok(RunLine::refused(&task.id, ending)),
        };
        let output = OutputArguments {
            out: self.out.as_ref().map(|out| out.join(&task.id)),
            force: true,
            format: Format::Text,
        };
        let new = Beginning::new(self.answers.clone(), None);
        let session = Box::pin(session::begin(task, self.loaded.clone(), new, &output)).await?;
        let display = display::of_settings(&self.loaded.settings);
        let target: Arc<dyn Target> = Arc::new(target);
        let place = (display, Some(target));
        // On the heap: the future of a run is large.
        let report = Box::pin(session::to_the_end(&session, &output, place)).await?;
        let bytes = serde_json::to_vec_pretty(&report)?;
        let reported = oss::submit_report(&self.environment.submit, &report.run, &bytes)?;
        let kind = EndingKind::read(&report.ending);
        let best = report.best.as_ref();
        let best = best.filter(|_| kind.and_then(cover::doubt_of).is_some());
        Ok(RunLine {
            diff: best.map(AttemptReport::diff_bytes),
            run: report.run,
            kind,
            ending: report.ending,
            detail: report.detail,
            reported: Some(reported),
            ..RunLine::default()
        })
    }

    /// The places of all PoVs that a patch stops. Where that cannot be seen,
    /// nothing is stopped.
    async fn stops(&self, ground: &Ground, line: &RunLine) -> Vec<usize> {
        let Some(diff) = &line.diff else {
            return Vec::new();
        };
        ground.stops(diff).await.unwrap_or_else(|ending| {
            let reason = ending.detail;
            self.display
                .line(&format!("what else the patch stops is not known: {reason}"));
            Vec::new()
        })
    }

    /// Adds a run to the summary; its patch is given out where none is held back.
    fn keep(&mut self, mut line: RunLine) -> anyhow::Result<()> {
        if self.at_once {
            give_out(&self.environment, &mut line)?;
        }
        self.summary.runs.push(line);
        Ok(())
    }
}

fn give_out(environment: &Environment, line: &mut RunLine) -> anyhow::Result<()> {
    if let Some(diff) = &line.diff {
        line.submitted = Some(oss::submit(&environment.submit, diff)?);
    }
    Ok(())
}
