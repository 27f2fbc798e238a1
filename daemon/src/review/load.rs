//! Views of the pages, read from the store.

use super::decide::locked;
use super::refused::Refused;
use super::{Host, Review};
use crate::follow_up::Snapshot;
use anyhow::Context;
use patchwright_agent::record::FollowUp;
use patchwright_agent::report::Report;
use patchwright_agent::task::Task;
use patchwright_crash::feedback;
use patchwright_page::{CandidateView, DiffStyle, PlotsView, RunView, SourceLines, Viewer};
use patchwright_source::{Tree, TreePath};
use patchwright_store::StoreError;
use patchwright_store::reviews::{Decision, DecisionKind, Heading, ListedTask};
use std::collections::BTreeMap;

/// Events of a run that its page shows at first.
const STORY: usize = 120;
/// Events that are looked at; a run with more is timed by its first ones.
const HEADINGS: u32 = 20_000;
/// Days of the plots.
const DAYS: i64 = 60;
/// Lines of the source that one request gets.
const LINES: u32 = 400;
/// Bytes of a source file that is shown.
const SOURCE: u64 = 4 << 20;

impl Review {
    /// Reads a run for its page.
    pub(super) async fn run_view(&self, run: &str, viewer: Viewer) -> anyhow::Result<RunView> {
        let row = self.store.listed_run(run).await?;
        let row = row.ok_or_else(|| Refused::missing(format!("there is no run {run:?}")))?;
        let (task, report, attempts_limit) = self.report(run).await?;
        let headings = self.store.headings(run, 0, HEADINGS).await?;
        let costs = self.store.cost_by_step(run).await?;
        let stages = stages(&headings, &costs, &report);
        let mut story = headings;
        story.retain(|heading| heading.kind != "intent");
        let earlier = story.len().saturating_sub(STORY);
        let story = story.split_off(earlier);
        Ok(RunView {
            viewer,
            cancelable: self.cancelable(&row),
            row,
            title: task.title.clone(),
            report,
            attempts_limit,
            story,
            earlier: i64::try_from(earlier).unwrap_or(i64::MAX),
            stages,
            decisions: self.store.decisions(Some(run)).await?,
            follows: task.follows.as_ref().and_then(rejected),
        })
    }

    async fn task(&self, run: &str) -> anyhow::Result<Task> {
        let (task, _) = self.store.run(run).await?;
        serde_json::from_str(&task).context("the task of the run cannot be read")
    }

    fn cancelable(&self, row: &ListedTask) -> bool {
        match (row.state.as_str(), &self.host) {
            ("queued" | "running" | "paused", _) => true,
            ("unfinished", Host::User(_, running)) => locked(running).contains_key(&row.id),
            _ => false,
        }
    }

    /// The task of a run, its report so far, and the largest number of its attempts. A
    /// run that has ended is not walked again.
    pub(super) async fn report(&self, run: &str) -> anyhow::Result<(Task, Report, u32)> {
        if let Some(report) = self.store.report(run).await? {
            let task = self.task(run).await?;
            let made = u32::try_from(report.attempts.len()).unwrap_or(u32::MAX);
            return Ok((task, report, made));
        }
        let begun = self.store.run(run).await?;
        if begun.0.is_empty() || begun.1.is_empty() {
            return Err(Refused::missing(format!("the run {run:?} has not begun")).into());
        }
        let snapshot = Snapshot::read(&self.store, &self.loaded.settings, run).await?;
        let limit = snapshot.run.limits().attempts;
        let mut report = snapshot.report(run);
        if snapshot.run.ending().is_none() {
            "in progress".clone_into(&mut report.detail);
        }
        Ok((snapshot.task, report, limit))
    }

    /// Reads a candidate for its page.
    pub(super) async fn candidate_view(
        &self,
        (run, number): (&str, u32),
        style: DiffStyle,
        viewer: Viewer,
    ) -> anyhow::Result<CandidateView> {
        let view = self.run_view(run, viewer).await?;
        let mut attempts = view.report.attempts.iter();
        let attempt = attempts.find(|attempt| attempt.number == number);
        let rungs = attempt.iter().flat_map(|attempt| &attempt.rungs);
        let doubts = rungs.flat_map(|rung| &rung.doubts);
        let mut inputs = Vec::new();
        for hash in doubts.filter_map(|doubt| doubt.input.as_ref()) {
            if let Some(bytes) = self.store.blob(hash).await? {
                inputs.push((hash.clone(), feedback::input(&bytes)));
            }
        }
        let task = self.task(run).await?;
        Ok(CandidateView {
            source: patchwright_run::kept_source(&task, &self.loaded.settings).is_some(),
            run: view,
            number,
            style,
            inputs,
        })
    }

    /// Reads lines of the unpatched tree.
    pub(super) async fn source_lines(
        &self,
        run: &str,
        (file, from, to): (&str, u32, u32),
        shift: i64,
    ) -> anyhow::Result<SourceLines> {
        let task = self.task(run).await?;
        let gone = || Refused::missing("the source is not on this machine any more".to_owned());
        let folder = patchwright_run::kept_source(&task, &self.loaded.settings).ok_or_else(gone)?;
        let path = file.to_owned();
        let read = move || -> anyhow::Result<Vec<String>> {
            let tree = Tree::open(&folder)?;
            let text = tree.read_up_to(&TreePath::new(&path)?, SOURCE)?;
            let numbers = from.max(1)..=to.min(from.saturating_add(LINES));
            let lines = numbers.map_while(|number| text.line(number as usize));
            Ok(lines.map(std::borrow::Cow::into_owned).collect())
        };
        let lines = tokio::task::spawn_blocking(read).await?;
        Ok(SourceLines {
            first: from.max(1),
            lines: lines.map_err(|error| Refused::missing(error.to_string()))?,
            shift,
        })
    }

    /// Reads the figures of the plots.
    pub(super) async fn plots_view(&self, viewer: Viewer) -> Result<PlotsView, StoreError> {
        let now = jiff::Timestamp::now();
        let since = now.checked_sub(jiff::SignedDuration::from_hours(24 * DAYS));
        let since = since.unwrap_or(jiff::Timestamp::MIN);
        let since = since.strftime("%Y-%m-%d").to_string();
        Ok(PlotsView {
            viewer,
            days: self.store.daily(&since).await?,
            judged: judged(&self.store.decisions(None).await?),
        })
    }
}

/// The last verdict about each candidate that had a probability.
fn judged(decisions: &[Decision]) -> Vec<(f64, bool)> {
    let verdicts = decisions.iter().filter(|one| one.made.kind.is_verdict());
    let last: BTreeMap<(&str, u32), &Decision> = verdicts
        .map(|one| ((one.run.as_str(), one.made.attempt), one))
        .collect();
    let pairs = last.values().filter_map(|one| {
        let right = one.made.p_right?;
        Some((right, one.made.kind == DecisionKind::Approve))
    });
    pairs.collect()
}

fn rejected(follows: &FollowUp) -> Option<(String, u32, String)> {
    let FollowUp::Revise(revision) = follows else {
        return None;
    };
    let number = revision.attempt.number;
    Some((revision.run.clone(), number, revision.reason.clone()))
}

/// The seconds and the cost of each kind of step: from its intent to its outcome. The
/// rungs are told apart.
fn stages(
    headings: &[Heading],
    costs: &[(String, f64)],
    report: &Report,
) -> Vec<(String, f64, f64)> {
    let mut begun: BTreeMap<(i64, i64), (&str, &str)> = BTreeMap::new();
    let mut stages: Vec<(String, f64, f64)> = Vec::new();
    let mut add =
        |name: &str, seconds: f64, usd: f64| match stages.iter_mut().find(|one| one.0 == name) {
            Some(stage) => (stage.1, stage.2) = (stage.1 + seconds, stage.2 + usd),
            None => stages.push((name.to_owned(), seconds, usd)),
        };
    for heading in headings {
        let key = (heading.lane, heading.step);
        match heading.kind.as_str() {
            "intent" => {
                begun.insert(key, (&heading.name, &heading.time));
            }
            "outcome" => {
                if let Some((name, since)) = begun.remove(&key).filter(|(name, _)| *name != "climb")
                {
                    add(name, between(since, &heading.time), 0.0);
                }
            }
            _ => {}
        }
    }
    for rung in report.attempts.iter().flat_map(|attempt| &attempt.rungs) {
        add(&rung.name, rung.seconds, 0.0);
    }
    for (name, usd) in costs {
        add(name, 0.0, *usd);
    }
    stages
}

fn between(since: &str, until: &str) -> f64 {
    let read = |text: &str| text.parse::<jiff::Timestamp>().ok();
    match (read(since), read(until)) {
        (Some(since), Some(until)) => until.duration_since(since).as_secs_f64().max(0.0),
        _ => 0.0,
    }
}
