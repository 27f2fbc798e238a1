//! The only place where concrete parts are put together: from settings and a
//! task to everything that a run needs.

mod checkout;
mod commands;
mod first_issue;
mod model_roles;

use crate::drive::{EngineCell, Parts, Patience};
use crate::plan::{Origin, Plan};
use crate::progress::Observer;
use crate::record::{Ending, EndingKind, RunLimits};
use crate::signals::{Charged, SignalError, Signals};
use crate::task::{Hints, Mode, Sender, Task};
use patchwright_config::{self as settings, Loaded, Settings};
use patchwright_model::account::{Account, Accounted};
use patchwright_model::journaled::Journaled;
use patchwright_model::recorded::Recorded;
use patchwright_model::{ModelError, Models};
use patchwright_patcher::Guard;
use patchwright_sandbox::Host;
use patchwright_source::{Language, Tree};
use patchwright_target::{Cache, LocalTarget, Target};
use patchwright_verdict::{RungName, VerdictCache};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

pub use checkout::kept_source;
pub use commands::{host, isolation, target_task};
pub use first_issue::with_first_issue;

/// Most queries of a round (the design of the retrieval protocol).
const QUERIES: usize = 5;
/// Failures of one kind in a row after which alternatives are asked for.
const SAME_FAILURES: u32 = 2;

/// Where nobody is answered without a key.
const KEYED: &str = "https://api.openai.com/";

/// Where the model's answers come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answers {
    /// A transcript.
    Recorded(PathBuf),
    /// A model, by its name.
    Live(String),
    /// The journal of another run.
    Journal(String),
    /// No model is needed.
    Nobody,
}

impl fmt::Display for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recorded(path) => {
                let name = path
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned());
                write!(f, "recorded in {}", name.unwrap_or_default())
            }
            Self::Live(name) => write!(f, "live from {name}"),
            Self::Journal(run) => write!(f, "recorded in the journal of {run}"),
            Self::Nobody => f.write_str("none"),
        }
    }
}

/// Decides whose answers are used. A model that was named wins over the
/// transcript that an example names; a task that has neither is refused.
pub fn answers(task: &Task, replay: Option<&PathBuf>, loaded: &Loaded) -> Result<Answers, String> {
    if let Some(path) = replay {
        return Ok(Answers::Recorded(path.clone()));
    }
    let name = &loaded.settings.model.name;
    match (&task.transcript, name.is_empty()) {
        (_, false) if lacks_key(&loaded.settings.model) => Err(format!(
            "the model {name} needs a key: put it in PATCHWRIGHT_MODEL__API_KEY or OPENAI_API_KEY, or name a server \
             of your own with --base-url URL"
        )),
        (_, false) => Ok(Answers::Live(name.clone())),
        (Some(path), true) => Ok(Answers::Recorded(path.clone())),
        (None, true) => Err("no model is configured: name one with --model NAME (or model.name in the settings) and \
             give its key in PATCHWRIGHT_MODEL__API_KEY or OPENAI_API_KEY; --base-url URL for a server of your own"
            .to_owned()),
    }
}

/// Tells whether the provider that is asked when no other is named would refuse every
/// call. A server of one's own may need no key.
fn lacks_key(model: &settings::Model) -> bool {
    model.base_url.starts_with(KEYED)
        && model.api_key.expose_secret().is_empty()
        && model.headers.is_empty()
}

/// The models that answer.
pub fn models(answers: &Answers, settings: &Settings) -> Result<Models, ModelError> {
    let critic = settings.critic().is_some();
    match answers {
        Answers::Recorded(path) => Ok(Models::on_record(Arc::new(Recorded::open(path)?), critic)),
        Answers::Live(_) => Models::connect(settings),
        Answers::Journal(_) | Answers::Nobody => {
            Ok(Models::on_record(Arc::new(Journaled::default()), critic))
        }
    }
}

/// The optional signals for ranking code, for the verbs outside a run, and the
/// account of what they spend.
pub fn signals(settings: &Settings, account: &Arc<Account>) -> Result<Charged, SignalError> {
    let mut signals = Signals::from_settings(settings)?;
    if settings.expansion.enabled {
        let model = Accounted::connect(&settings.model, account)?;
        signals = signals.with_expansion(&settings.expansion, Some(model));
    }
    Ok(Charged::new(signals, Arc::clone(account)))
}

/// An id for a new run: the task, the time, and a few random digits.
pub fn run_id(task: &str) -> String {
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let random = uuid::Uuid::now_v7().simple().to_string();
    let tail: String = random
        .chars()
        .skip(random.len().saturating_sub(4))
        .collect();
    format!("{task}-{time}-{tail}")
}

/// The limits of a run: the task's own over those of the settings, which stay
/// the ceiling for a task that somebody else handed in.
pub fn limits(task: &Task, settings: &Settings) -> RunLimits {
    let (own, all, sender) = (&task.limits, &settings.limits, task.sender);
    let wall = bounded(sender, own.wall, all.wall);
    let usd = match (own.usd, all.usd) {
        (Some(own), Some(all)) => Some(bounded(sender, Some(own), all)),
        (own, all) => own.or(all),
    };
    RunLimits {
        attempts: bounded(sender, own.attempts, all.attempts),
        rounds: bounded(sender, own.rounds, all.rounds),
        format_retries: bounded(sender, own.format_retries, all.format_retries),
        tokens: Some(bounded(sender, own.tokens, all.tokens)),
        usd,
        wall,
        same_failures: SAME_FAILURES,
        queries_max: QUERIES,
        contests: settings.limits.contests,
        challenges: settings.limits.challenges,
        challenge_inputs: settings.limits.challenge_inputs,
        candidates: settings.limits.candidates,
        regression_tests: settings.limits.regression_tests,
        minimize: settings.limits.minimize,
        probability: settings.limits.probability,
    }
}

/// Returns a limit of a task, or of the settings where it names none. Only a
/// user of this machine may raise what the settings allow.
fn bounded<T: PartialOrd>(sender: Sender, own: Option<T>, all: T) -> T {
    match own {
        Some(own) if sender.is_local() || own < all => own,
        _ => all,
    }
}

/// Everything that decisions depend on.
pub fn plan(task: &Task, settings: &Settings) -> Plan {
    Plan {
        mode: task.mode,
        lanes: task.candidates,
        limits: limits(task, settings),
        language: task.language,
        title: task.title.clone(),
        crash: None,
        origin: Origin::Nothing,
        hints: task.hints.clone(),
        hinted: Vec::new(),
        has_povs: !task.povs.is_empty(),
        protect: task.protect.clone(),
        ladder: RungName::ALL.to_vec(),
        critic: settings.critic().map(|_| settings.critic.calls),
        follows: task.follows.clone(),
    }
}

/// The plan of a run that never starts.
pub fn empty_plan() -> Plan {
    Plan {
        mode: Mode::Repair,
        lanes: 1,
        limits: RunLimits {
            attempts: 0,
            rounds: 0,
            format_retries: 0,
            tokens: None,
            usd: None,
            wall: Duration::ZERO,
            same_failures: 0,
            queries_max: 0,
            contests: 0,
            challenges: 0,
            challenge_inputs: 0,
            candidates: 0,
            regression_tests: 0,
            minimize: Duration::ZERO,
            probability: 0.0,
        },
        language: Language::C,
        title: None,
        crash: None,
        origin: Origin::Nothing,
        hints: Hints::default(),
        hinted: Vec::new(),
        has_povs: false,
        protect: Vec::new(),
        ladder: Vec::new(),
        critic: None,
        follows: None,
    }
}

/// Puts a run's parts together; the ending when the task or this machine does
/// not allow it.
pub async fn parts(
    task: &Task,
    settings: &Settings,
    models: Models,
    observer: Observer,
) -> Result<Arc<Parts>, Ending> {
    parts_on(task, settings, models, observer, None).await
}

/// The same with a target that is there already; without one, commands are run here.
pub async fn parts_on(
    task: &Task,
    settings: &Settings,
    models: Models,
    observer: Observer,
    target: Option<Arc<dyn Target>>,
) -> Result<Arc<Parts>, Ending> {
    let invalid = |detail: String| Ending::new(EndingKind::InvalidTask, detail);
    let (lanes, critic) = model_roles::speakers(task, settings, models)?;
    let root = checkout::source(task, settings, &observer).await?;
    let tree = Tree::open(&root).map_err(|error| invalid(format!("source: {error}")))?;
    let index = settings.cache.folder.join("index");
    let engine = EngineCell::open(
        tree.root().to_path_buf(),
        index,
        engine_settings(&settings.retrieval),
    );
    let (target, verdicts): (Option<Arc<dyn Target>>, _) = match (task.mode, target) {
        (Mode::DryRun, _) => (None, None),
        (Mode::Repair, Some(target)) => (Some(target), None),
        (Mode::Repair, None) => {
            let target = local_target(task, settings, &tree).await?;
            let verdicts = cache(settings, "verdicts", settings.cache.verdicts_mb);
            let verdicts = verdicts.and_then(|cache| VerdictCache::open(&target, cache));
            (Some(Arc::new(target)), verdicts)
        }
    };
    Ok(Arc::new(Parts {
        lanes,
        critic,
        patience: Patience {
            at_most: settings.limits.pause,
            each: settings.model.retries.pause,
        },
        in_flight: AtomicU64::new(0),
        usd_day: settings.limits.usd_day,
        usd_total: settings.limits.usd_total,
        target,
        verdicts,
        engine,
        guard: Guard::new(&task.protect)
            .map_err(|error| invalid(format!("guard.protect: {error}")))?,
        tree: Arc::new(tree),
        context_tokens: settings.retrieval.context_tokens,
        signals: Signals::from_settings(settings).map_err(|error| invalid(error.to_string()))?,
        observer,
        facts: Parts::no_facts(),
    }))
}

/// The tree of a task and a target of local commands for it, for somebody who
/// runs no loop: no model, no index.
pub async fn ground(task: &Task, settings: &Settings) -> Result<(Tree, Arc<dyn Target>), Ending> {
    let root = checkout::source(task, settings, &Observer::silent()).await?;
    let tree = Tree::open(&root)
        .map_err(|error| Ending::new(EndingKind::InvalidTask, format!("source: {error}")))?;
    let target = local_target(task, settings, &tree).await?;
    Ok((tree, Arc::new(target)))
}

async fn local_target(
    task: &Task,
    settings: &Settings,
    tree: &Tree,
) -> Result<LocalTarget, Ending> {
    let scratch = settings.cache.folder.join("workspaces");
    let failed = |error: &dyn fmt::Display| {
        Ending::new(EndingKind::InfraError, format!("workspaces: {error}"))
    };
    patchwright_config::private_folder(&scratch).map_err(|error| failed(&error))?;
    let target = commands::target_task(task, settings, tree.root());
    let host = Host {
        engine: settings.sandbox.engine.as_ref().map(Into::into),
        ..host()
    };
    let target = LocalTarget::open(target, commands::isolation(settings), host, &scratch)
        .await
        .map_err(|error| crate::drive::ending_of(&error))?;
    Ok(match cache(settings, "builds", settings.cache.builds_mb) {
        Some(builds) => target.caching(builds),
        None => target,
    })
}

/// A cache below the cache folder; none where it may take no room.
fn cache(settings: &Settings, name: &str, megabytes: u64) -> Option<Cache> {
    (megabytes > 0).then(|| Cache::new(settings.cache.folder.join(name), megabytes << 20))
}

/// The settings of the code search, from those of the program.
pub fn engine_settings(retrieval: &settings::Retrieval) -> patchwright_retrieval::Settings {
    let weights = &retrieval.weights;
    patchwright_retrieval::Settings {
        max_results: retrieval.max_results,
        context_lines: retrieval.context_lines,
        body_lines: retrieval.body_lines,
        file_size_limit: retrieval.file_size_limit,
        weights: patchwright_retrieval::Weights {
            semantic: weights.semantic,
            keyword: weights.keyword,
            in_degree: weights.in_degree,
            recency: weights.recency,
            popularity: weights.popularity,
        },
        ..patchwright_retrieval::Settings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::from_file;
    use serde_json::{Value, json};
    use std::path::Path;

    fn task(limits: &Value, sender: Sender) -> Task {
        let keys = json!({
            "id": "a", "language": "c", "mode": "dry-run", "limits": limits,
            "source": {"git": "https://example.com/a", "revision": "main"},
        });
        let keys = serde_json::from_value(keys).unwrap();
        let task = from_file(keys, Path::new("/task"), Path::new("task")).unwrap();
        Task { sender, ..task }
    }

    /// The limits of a run and of its commands, for comparison.
    fn shown(limits: &Value, sender: Sender, settings: &Settings) -> String {
        let task = task(limits, sender);
        let commands = commands::command_limits(&task.limits, sender, settings);
        let times = [
            commands.build,
            commands.pov,
            commands.test,
            commands.robust,
            commands.same,
        ];
        format!("{:?} {times:?}", super::limits(&task, settings))
    }

    #[test]
    fn only_a_user_of_this_machine_raises_limits() {
        let settings = Settings::with(&[("limits.usd", "0.15")]).unwrap();
        let nothing = shown(&json!({}), Sender::Local, &settings);
        let more = [
            ("attempts", json!(9999)),
            ("rounds", json!(9999)),
            ("format_retries", json!(9999)),
            ("tokens", json!(9_999_999_999_u64)),
            ("usd", json!(100.0)),
            ("wall", json!("900h")),
            ("build", json!("900h")),
            ("pov", json!("900h")),
            ("test", json!("900h")),
            ("robust", json!("900h")),
            ("same", json!("900h")),
        ];
        for (key, value) in more {
            let limits = json!({ key: value });
            assert_ne!(shown(&limits, Sender::Local, &settings), nothing, "{key}");
            for sender in [Sender::Remote, Sender::Crs] {
                assert_eq!(shown(&limits, sender, &settings), nothing, "{key}");
            }
        }
        let less = task(&json!({"usd": 0.1, "wall": "1s"}), Sender::Remote);
        let less = limits(&less, &settings);
        assert_eq!((less.usd, less.wall), (Some(0.1), Duration::from_secs(1)));
        let unlimited = Settings::with(&[]).unwrap();
        let own = task(&json!({"usd": 0.1}), Sender::Remote);
        assert_eq!(limits(&own, &unlimited).usd, Some(0.1));
    }
}
