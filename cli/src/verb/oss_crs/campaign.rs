//! All crashes of one harness, one run after the other, and the choice among
//! their patches.

use super::{PovLine, RunLine, Summary};
use crate::common::Format;
use crate::display::{self, Display};
use crate::verb::session::{self, NewRun, OutputArguments};
use patchwright_agent::record::{Ending, EndingKind};
use patchwright_agent::report::AttemptReport;
use patchwright_agent::task::Task;
use patchwright_config::Loaded;
use patchwright_daemon::crs::cover;
use patchwright_daemon::crs::ground::Ground;
use patchwright_daemon::crs::oss::candidates::Candidate;
use patchwright_daemon::crs::oss::{
    self, Candidates, Environment, Found, SidecarTarget, Sidecars, tasks,
};
use patchwright_run::Answers;
use patchwright_source::Tree;
use patchwright_target::Target;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Parts that the runs have in common.
#[derive(Debug)]
pub(super) struct Campaign {
    pub(super) environment: Environment,
    pub(super) found: Found,
    pub(super) sidecars: Sidecars,
    pub(super) loaded: Loaded,
    pub(super) answers: Answers,
    pub(super) display: Display,
    pub(super) at_once: bool,
    pub(super) out: Option<PathBuf>,
    pub(super) stop: CancellationToken,
}

impl Campaign {
    /// Runs every crash, or every suspicion where there is no PoV.
    pub(super) async fn carry_out(&mut self, everything: Task) -> anyhow::Result<Summary> {
        let mut summary = Summary {
            target: self.environment.target.clone(),
            harness: self.environment.harness.clone(),
            ..Summary::default()
        };
        if everything.povs.is_empty() {
            self.suspicions(&mut summary).await?;
        } else {
            match self.ground(&everything).await {
                Ok(ground) => self.crashes(&ground, &mut summary).await?,
                Err(ending) => summary.runs.push(RunLine::refused(&everything.id, ending)),
            }
        }
        self.submit(&mut summary)?;
        Ok(summary)
    }

    async fn ground(&self, everything: &Task) -> Result<Ground, Ending> {
        let target = self.target(everything)?;
        self.display.line(&format!(
            "replaying PoVs on the unpatched build: {}",
            everything.povs.len()
        ));
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

    async fn crashes(&self, ground: &Ground, summary: &mut Summary) -> anyhow::Result<()> {
        let seen: Vec<usize> = (0..ground.povs())
            .filter(|place| ground.reproduces(*place))
            .collect();
        summary.povs = (0..ground.povs())
            .map(|place| PovLine {
                file: self.name(place),
                crashes: ground.reproduces(place),
                stopped_by: None,
            })
            .collect();
        let signatures: Vec<_> = seen.iter().map(|place| ground.signature(*place)).collect();
        for group in tasks::groups(&signatures) {
            let places: Vec<usize> = group
                .into_iter()
                .filter_map(|at| seen.get(at).copied())
                .filter(|place| summary.is_open(*place))
                .collect();
            if places.is_empty() || self.stop.is_cancelled() {
                continue;
            }
            let povs: Vec<PathBuf> = places
                .iter()
                .filter_map(|place| self.found.povs.get(*place).cloned())
                .collect();
            let suspicion = match self.found.candidates.as_slice() {
                [(_, only)] => Some(only.as_str()),
                _ => None,
            };
            let task = tasks::task(&self.environment, &self.found, &povs, suspicion)?;
            let mut line = Box::pin(self.repair(task)).await?;
            let stops = self.stops(ground, &line).await;
            summary.stopped(&stops, &mut line);
            self.keep(line, summary)?;
        }
        Ok(())
    }

    /// A PoV's path below the folder of PoVs.
    fn name(&self, place: usize) -> String {
        let folder = self.environment.fetch.join("povs");
        let file = self.found.povs.get(place);
        file.map(|file| file.strip_prefix(&folder).unwrap_or(file))
            .map(|file| file.display().to_string())
            .unwrap_or_default()
    }

    async fn suspicions(&self, summary: &mut Summary) -> anyhow::Result<()> {
        if let Some(shared) = Candidates::open(&self.environment).await? {
            let open = shared.open_ones().await?;
            if !open.is_empty() {
                return self.claimed(&shared, open, summary).await;
            }
        }
        let mut reports: Vec<Option<&str>> = Vec::new();
        reports.extend(self.found.candidates.iter().map(|(_, text)| Some(&**text)));
        if reports.is_empty() && self.found.diff.is_some() {
            reports.push(None);
        }
        for report in reports {
            if self.stop.is_cancelled() {
                break;
            }
            let task = tasks::task(&self.environment, &self.found, &[], report)?;
            self.keep(Box::pin(self.repair(task)).await?, summary)?;
        }
        Ok(())
    }

    /// Runs the candidates that can be claimed; others work on the rest.
    async fn claimed(
        &self,
        shared: &Candidates,
        open: Vec<Candidate>,
        summary: &mut Summary,
    ) -> anyhow::Result<()> {
        for Candidate { id, sarif } in open {
            if self.stop.is_cancelled() {
                break;
            }
            if !shared.claim(&id).await? {
                let line = format!("bug candidate {id}: claimed by another system");
                self.display.line(&line);
                continue;
            }
            let task = tasks::task(&self.environment, &self.found, &[], Some(&sarif))?;
            let line = Box::pin(self.repair(task)).await;
            let verified = |line: &RunLine| line.kind == Some(EndingKind::Verified);
            let fixed = line.as_ref().is_ok_and(verified);
            shared.settle(&id, fixed).await?;
            self.keep(line?, summary)?;
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
        let new = NewRun::new(self.answers.clone(), None);
        let session = session::begin(task, self.loaded.clone(), new, &output).await?;
        let display = display::of_settings(&self.loaded.settings);
        let target: Arc<dyn Target> = Arc::new(target);
        let place = (display, Some(target));
        // On the heap: the future of a run is large.
        let whole = Box::pin(session::to_the_end(&session, &output, place));
        let report = whole.await?;
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
        match ground.stops(diff).await {
            Ok(places) => places,
            Err(ending) => {
                let reason = ending.detail;
                self.display
                    .line(&format!("what else the patch stops is not known: {reason}"));
                Vec::new()
            }
        }
    }

    /// Adds a run to the summary; its patch is given out where none is held back.
    fn keep(&self, mut line: RunLine, summary: &mut Summary) -> anyhow::Result<()> {
        if self.at_once {
            self.give_out(&mut line)?;
        }
        summary.runs.push(line);
        Ok(())
    }

    fn give_out(&self, line: &mut RunLine) -> anyhow::Result<()> {
        if let Some(diff) = &line.diff {
            line.submitted = Some(oss::submit(&self.environment.submit, diff)?);
        }
        Ok(())
    }

    /// Gives out the smallest set of patches. A patch that nothing could be
    /// replayed for stands for its own run.
    fn submit(&self, summary: &mut Summary) -> anyhow::Result<()> {
        if self.at_once {
            return Ok(());
        }
        for place in cover::smallest(&summary.candidates()) {
            if let Some(line) = summary.runs.get_mut(place) {
                self.give_out(line)?;
            }
        }
        Ok(())
    }
}
