//! A run from its beginning to its report, for whoever carries it out: the
//! command line in front of a person, or a worker of the daemon.
//!
//! It writes the run down, claims it, puts its parts together, has it driven
//! and writes down how it ended. It prints nothing and knows no signal.

use crate::answers::{Answers, have_a_critic, models};
use crate::commands::limits;
use crate::plan::plan;
use crate::prepare::{Prepared, prepare};
use crate::{files, known};
use anyhow::Context;
use patchwright_agent::drive::{self, Drive};
use patchwright_agent::journal::{Event, EventKind};
use patchwright_agent::plan::Plan;
use patchwright_agent::progress::{Notice, Observer};
use patchwright_agent::record::{CrashHistory, Ending, EndingKind, Outcome, Purpose, RunLimits};
use patchwright_agent::repair::Run;
use patchwright_agent::report::Report;
use patchwright_agent::task::Task;
use patchwright_config::{self as settings, Flag, Loaded, SettingsError};
use patchwright_model::journaled::Journaled;
use patchwright_model::{Models, Reply};
use patchwright_patcher::Patch;
use patchwright_store::submissions::Claimed;
use patchwright_store::{Journal, Store};
use patchwright_target::Target;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;

/// Start values of a run, kept in the store so that it can go on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Beginning {
    pub limits: RunLimits,
    /// Whose answers it uses.
    pub answers: Answers,
    /// The patch of somebody else that is judged.
    pub foreign: Option<Patch>,
    /// Limit of the critic's calls; `None` in runs of older versions that had no critic.
    pub critic: Option<u32>,
    /// The settings that the command line gave, but no secret.
    pub flags: Vec<(String, String)>,
    /// The folder of `--out`, absolute.
    pub out: Option<PathBuf>,
    /// The history of the crash, as far as it was looked at before.
    #[serde(default)]
    pub history: CrashHistory,
}

impl Beginning {
    /// A run that uses these answers, and perhaps a patch of somebody else, with nothing known
    /// of the history of the crash. What its task and the settings say is added as it begins.
    pub fn new(answers: Answers, foreign: Option<Patch>) -> Self {
        Self {
            answers,
            foreign,
            ..Self::default()
        }
    }

    /// The run that starts so.
    pub fn run(&self, plan: Plan) -> Run {
        let plan = Plan {
            limits: self.limits.clone(),
            critic_calls: self.critic.unwrap_or_default(),
            ..plan
        };
        match self.foreign.clone() {
            Some(patch) if self.answers == Answers::Nobody => Run::judging(plan, patch),
            Some(patch) => Run::challenging(plan, patch),
            None => Run::new(plan),
        }
    }

    /// The settings of the command line that started it.
    pub fn flags(&self) -> Vec<Flag> {
        let flags = self.flags.iter();
        let flags = flags.map(|(key, value)| Flag::new("the beginning of the run", key, value));
        flags.collect()
    }
}

/// A run that is ready to go on.
#[derive(Debug)]
pub struct Session {
    pub task: Task,
    /// The settings.
    pub loaded: Loaded,
    /// The models that answer.
    pub models: Models,
    /// The right to write to it.
    pub journal: Journal,
    /// Its start values, which decide how it begins.
    pub beginning: Beginning,
    /// Its events so far; none for a new run.
    pub events: Vec<Event>,
    /// The target of the run, kept until its result is told: to remove the workspaces of a
    /// large tree takes longer than everything else that is left to do.
    target: OnceLock<Arc<dyn Target>>,
}

/// The right to write to a run.
#[derive(Debug)]
pub enum Right {
    /// A run of this id, to be claimed here.
    Run(String),
    /// A worker has claimed the run with its task.
    Claimed(Claimed),
}

impl Session {
    /// A new run of a task: written down and claimed.
    pub async fn begin(
        store: &Store,
        (task, mut loaded): (Task, Loaded),
        (right, models): (Right, Models),
        new: Beginning,
    ) -> anyhow::Result<Self> {
        if !have_a_critic(&new.answers)? {
            loaded.settings.critic.calls = 0;
        }
        let beginning = Beginning {
            limits: limits(&task, &loaded.settings),
            critic: Some(loaded.settings.critic.calls),
            flags: given(&loaded),
            out: new.out.map(std::path::absolute).transpose()?,
            ..new
        };
        let settings = serde_json::to_string(&beginning)?;
        let written = serde_json::to_string(&task)?;
        let journal = match right {
            Right::Claimed(claimed) => {
                Journal::begin(store, &claimed, (&written, &settings)).await?
            }
            Right::Run(id) => {
                let task = (task.id.as_str(), written.as_str());
                store.create_run(&id, task, &settings).await?;
                Journal::claim(store, &id).await?
            }
        };
        Ok(Self {
            task,
            loaded,
            models,
            journal,
            beginning,
            events: Vec::new(),
            target: OnceLock::new(),
        })
    }

    /// Picks up a run that was cut off, and claims it unless it is claimed.
    /// `load` loads the settings with those of its beginning on top.
    pub async fn pick_up(
        store: &Store,
        right: Right,
        load: impl FnOnce(Vec<Flag>) -> Result<Loaded, SettingsError>,
    ) -> anyhow::Result<Self> {
        let run = match &right {
            Right::Run(id) => id,
            Right::Claimed(claimed) => &claimed.run,
        };
        let (task, beginning) = read(store, run).await?;
        let loaded = load(beginning.flags())?;
        let models = match &beginning.answers {
            Answers::Journal(of) => journaled(store, of).await?,
            answers => models(answers, &loaded.settings)?,
        };
        let journal = match &right {
            Right::Run(id) => Journal::claim(store, id).await?,
            Right::Claimed(claimed) => Journal::of(store, claimed),
        };
        let events = store.events(run).await?;
        Ok(Self {
            task,
            loaded,
            models,
            journal,
            beginning,
            events,
            target: OnceLock::new(),
        })
    }

    /// Adds the known crashes to a plan.
    async fn with_known(&self, mut prepared: Prepared) -> anyhow::Result<Result<Prepared, Ending>> {
        prepared.plan.known = match self.loaded.settings.store.known.as_deref() {
            None => return Ok(Ok(prepared)),
            Some("runs") => known::of_runs(self.journal.store()).await?,
            Some(file) => match known::in_file(Path::new(file)) {
                Ok(known) => known,
                Err(error) => return Ok(Err(Ending::new(EndingKind::InvalidTask, error))),
            },
        };
        Ok(Ok(prepared))
    }

    /// Drives the run until it ends, would have to wait too long for a model, or
    /// somebody says stop; in the last two cases it has no ending. Without a target,
    /// commands are run on this machine.
    pub async fn drive(
        &self,
        (observer, target): (Observer, Option<Arc<dyn Target>>),
        stop: &CancellationToken,
    ) -> anyhow::Result<Run> {
        let settings = &self.loaded.settings;
        let prepared = async {
            let task = files::ready(&self.task, self.journal.store(), settings).await?;
            let target = (observer.clone(), target);
            prepare(&task, settings, self.models.clone(), target).await
        };
        let prepared = tokio::select! {
            prepared = prepared => prepared,
            () = stop.cancelled() => return self.run(plan(&self.task, settings)),
            canceled = drive::canceled(&self.journal) => Err(canceled?),
        };
        let prepared = match prepared {
            Ok(prepared) => self.with_known(prepared).await?,
            Err(ending) => Err(ending),
        };
        let Prepared { plan, parts } = match prepared {
            Ok(prepared) => prepared,
            Err(ending) => return Ok(self.run(plan(&self.task, settings))?.stopped(ending)),
        };
        if let Some(target) = &parts.target {
            self.target.get_or_init(|| Arc::clone(target));
        }
        let run = self.run(plan)?;
        let finished = Drive::new(parts, Arc::new(self.journal.clone()), stop.clone())
            .to_the_end(run)
            .await;
        observer.tell(&Notice::Over);
        Ok(finished?)
    }

    /// The run of a plan, as far as its events tell.
    fn run(&self, plan: Plan) -> anyhow::Result<Run> {
        drive::resume(self.beginning.run(plan), &self.events)
            .context("the journal of the run cannot be read")
    }

    /// Writes down how the run ended. One that is paused has not.
    pub async fn conclude(&self, run: &Run) -> anyhow::Result<Report> {
        let id = self.journal.run();
        let answers = self.beginning.answers.told(run.models());
        let report = Report::of(run, id, &self.task.id, &answers);
        let report = report.with_history(self.beginning.history.clone());
        if run.ending().is_some() {
            let written = serde_json::to_string(&report)?;
            self.journal.finish(&report.ending, &written).await?;
        }
        Ok(report)
    }
}

/// An id for a new run: the task, the time, and a few random digits.
pub fn run_id(task: &str) -> String {
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let random = uuid::Uuid::now_v7().simple().to_string();
    let before = random.len().saturating_sub(4);
    let tail: String = random.chars().skip(before).collect();
    format!("{task}-{time}-{tail}")
}

/// The task of a run, and what it was started with.
pub async fn read(store: &Store, run: &str) -> anyhow::Result<(Task, Beginning)> {
    let (task, beginning) = store.run(run).await?;
    let task = serde_json::from_str(&task).context("the task of the run cannot be read")?;
    let beginning =
        serde_json::from_str(&beginning).context("the settings of the run cannot be read")?;
    Ok((task, beginning))
}

/// The settings that flags gave. What is secret stays out of the store, and the
/// store itself is found before this is read.
fn given(loaded: &Loaded) -> Vec<(String, String)> {
    let flags = loaded.entries.iter().filter(|entry| {
        entry.origin.starts_with("--") && !entry.secret && !entry.key.starts_with("store.")
    });
    flags
        .filter_map(|entry| {
            let value = match &entry.value {
                Value::String(text) => text.clone(),
                value @ (Value::Bool(_) | Value::Number(_)) => value.to_string(),
                value @ Value::Array(_) => toml_list(value)?,
                _ => return None,
            };
            Some((entry.key.clone(), value))
        })
        .collect()
}

/// A list as a flag has it; nothing when a key in it was hidden.
fn toml_list(value: &Value) -> Option<String> {
    let hides = value.to_string().contains(settings::HIDDEN);
    let list = toml::Value::try_from(value).ok()?;
    (!hides).then(|| list.to_string())
}

/// Models that answer as the journal of a run tells.
pub async fn journaled(store: &Store, run: &str) -> anyhow::Result<Models> {
    let events = store.events(run).await?;
    let journaled = Arc::new(Journaled::new(exchanges(&events)));
    Ok(Models::on_record(journaled))
}

/// Each prompt of a journal with the reply that it got.
fn exchanges(events: &[Event]) -> Vec<(String, Reply)> {
    let mut prompts: BTreeMap<(u32, u32), String> = BTreeMap::new();
    let mut exchanges = Vec::new();
    for event in events {
        let key = (event.lane, event.step);
        if event.kind == EventKind::Intent && Purpose::read(&event.name).is_some() {
            let prompt = event.body.get("prompt").and_then(Value::as_str);
            prompts.insert(key, prompt.unwrap_or_default().to_owned());
        }
        let outcome = event.body.get("outcome").cloned().unwrap_or_default();
        if event.kind == EventKind::Outcome
            && let Ok(Outcome::Reply(record)) = serde_json::from_value(outcome)
            && let Some(prompt) = prompts.remove(&key)
        {
            let reply = Reply {
                text: record.text,
                finish: record.finish,
                usage: record.usage,
                model: record.model,
            };
            exchanges.push((prompt, reply));
        }
    }
    exchanges
}
