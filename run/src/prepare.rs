//! The only place where concrete parts are put together: from settings and a
//! task to everything that a run needs.

use crate::plan::{plan, reported, with_first_issue};
use crate::{checkout, commands};
use patchwright_agent::drive::{EngineCell, Parts, Patience, Speaker, ending_of, request_of};
use patchwright_agent::plan::Plan;
use patchwright_agent::progress::Observer;
use patchwright_agent::record::{Ending, EndingKind};
use patchwright_agent::signals::Signals;
use patchwright_agent::task::{Mode, Task};
use patchwright_config::{self as settings, Settings};
use patchwright_model::price::Prices;
use patchwright_model::tokens::Counter;
use patchwright_model::{Model, Models};
use patchwright_patcher::Guard;
use patchwright_sandbox::Host;
use patchwright_source::Tree;
use patchwright_target::{Cache, LocalTarget, Target};
use patchwright_verdict::VerdictCache;
use std::fmt;
use std::sync::Arc;

/// A run that is ready to be driven.
#[derive(Debug)]
pub struct Prepared {
    /// Everything that its decisions depend on.
    pub plan: Plan,
    /// Everything that carries them out.
    pub parts: Arc<Parts>,
}

/// Prepares a run: gets its source and puts its parts together. Without a target, commands
/// are run on this machine.
///
/// # Errors
/// The ending when the task or this machine does not allow it.
pub async fn prepare(
    task: &Task,
    settings: &Settings,
    models: Models,
    (observer, target): (Observer, Option<Arc<dyn Target>>),
) -> Result<Prepared, Ending> {
    let parts = parts(task, settings, models, (observer, target)).await?;
    let plan = with_first_issue(plan(task, settings), task, &parts.tree);
    Ok(Prepared {
        plan,
        parts: Arc::new(parts),
    })
}

async fn parts(
    task: &Task,
    settings: &Settings,
    models: Models,
    (observer, target): (Observer, Option<Arc<dyn Target>>),
) -> Result<Parts, Ending> {
    let invalid = |detail: String| Ending::new(EndingKind::InvalidTask, detail);
    let (lanes, critic) = speakers(task, settings, models)?;
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
    Ok(Parts {
        lanes,
        critic,
        patience: Patience {
            at_most: settings.limits.pause,
            each: settings.model.retries.pause,
        },
        usd_day: settings.limits.usd_day,
        usd_total: settings.limits.usd_total,
        target,
        verdicts,
        engine,
        guard: Guard::new(&task.protect)
            .map_err(|error| invalid(format!("guard.protect: {error}")))?,
        tree: Arc::new(tree),
        reported: request_of(&reported(task), settings.retrieval.context_tokens),
        signals: Signals::from_settings(settings).map_err(|error| invalid(error.to_string()))?,
        observer,
    })
}

/// The lanes' models and the critic, with what asking them means; the ending
/// when money is limited and nobody knows what one of them costs.
fn speakers(
    task: &Task,
    settings: &Settings,
    models: Models,
) -> Result<(Vec<Speaker>, Option<Speaker>), Ending> {
    let mut endpoints = settings.lanes();
    endpoints.truncate(models.lanes.len().min(task.candidates.max(1) as usize));
    let critic: Vec<settings::Model> = settings.critic().into_iter().collect();
    let all = &settings.limits;
    let limits = [task.limits.usd, all.usd, all.usd_day, all.usd_total];
    let money = (models.paid, limits.iter().any(Option::is_some));
    let lanes = endpoints.iter().zip(models.lanes);
    let lanes = lanes.map(|(asked, model)| speaker(asked, model, money));
    let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
    let critic = models.critic.map(|model| speaker(&critic, model, money));
    Ok((lanes, critic.transpose()?))
}

fn speaker(
    endpoints: &[settings::Model],
    model: Arc<dyn Model>,
    (paid, limited): (bool, bool),
) -> Result<Speaker, Ending> {
    let prices = match Prices::of_endpoints(endpoints) {
        Err(missing) if paid && limited => return Err(unpriced(&missing)),
        prices => prices.ok().filter(|_| !endpoints.is_empty()),
    };
    let windows = endpoints.iter().map(|endpoint| endpoint.context_window);
    let output = endpoints.first().map(|endpoint| endpoint.max_output_tokens);
    let names = endpoints.iter().map(|endpoint| endpoint.name.as_str());
    Ok(Speaker {
        counter: Counter::of_all(names),
        max_output_tokens: output.unwrap_or_default(),
        window: windows.min().unwrap_or_default(),
        prices,
        model,
        paid,
    })
}

fn unpriced(missing: &[String]) -> Ending {
    let detail = format!(
        "a money limit is set, but what {} costs is not: set usd_per_million_in and \
         usd_per_million_out beside its name (model.usd_per_million_in for the first model), or \
         take the limit away",
        missing.join(" and ")
    );
    Ending::new(EndingKind::InvalidTask, detail)
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
        ..commands::host()
    };
    let target = LocalTarget::open(target, commands::isolation(settings), host, &scratch)
        .await
        .map_err(|error| ending_of(&error))?;
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
    patchwright_retrieval::Settings {
        max_results: retrieval.max_results,
        context_lines: retrieval.context_lines,
        body_lines: retrieval.body_lines,
        file_size_limit: retrieval.file_size_limit,
    }
}
