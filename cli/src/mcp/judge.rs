//! Judging a patch for an agent: the tool `judge`, for the task that the server was started
//! with.
//!
//! The commands are those of the task, which the user chose; the agent gives nothing but a
//! diff. They run in the sandbox as for `patchwright judge`.

use patchwright_agent::progress::{Notice, Observer};
use patchwright_agent::record::EndingKind;
use patchwright_agent::report::Report;
use patchwright_agent::report_text;
use patchwright_agent::task::Task;
use patchwright_config::Loaded;
use patchwright_patcher::Patch;
use patchwright_run::session::{Beginning, Right, Session};
use patchwright_run::{Answers, models};
use patchwright_store::Store;
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

/// A task whose patches are judged, one at a time.
#[derive(Debug)]
pub(crate) struct Judge {
    pub(crate) task: Task,
    pub(crate) loaded: Loaded,
    pub(crate) busy: Mutex<()>,
}

impl Judge {
    /// Climbs the ladder with a diff and returns the report; the reason where nothing is
    /// known of the patch. Each step is told before it is taken.
    pub(super) async fn judge(
        &self,
        diff: &str,
        told: mpsc::UnboundedSender<String>,
        stop: CancellationToken,
    ) -> Result<String, String> {
        use EndingKind::{NoPatch, Plausible, Unverified, Verified};
        let patch = Patch::from_diff(diff.as_bytes());
        if patch.edits.is_empty() {
            let advice = "give a unified diff, as `git diff` prints it";
            return Err(format!("judge: the patch changes nothing: {advice}"));
        }
        let _turn = self.busy.lock().await;
        let observer = Observer::new(move |notice| {
            if let Notice::Doing(progress) = notice {
                // A client that does not listen misses nothing but this.
                let _ = told.send(progress.doing.clone());
            }
        });
        let report = self.run(patch, observer, &stop).await;
        let report = report.map_err(|error| format!("judge: {error:#}"))?;
        let text = report_text::render(&report).map_err(|error| error.to_string())?;
        match EndingKind::read(&report.ending) {
            Some(Verified | Plausible | Unverified | NoPatch) => Ok(text),
            _ => Err(text),
        }
    }

    async fn run(
        &self,
        patch: Patch,
        observer: Observer,
        stop: &CancellationToken,
    ) -> anyhow::Result<Report> {
        let store = Store::of(&self.loaded.settings).await?;
        let right = Right::Run(patchwright_run::run_id(&self.task.id));
        let new = Beginning::new(Answers::Nobody, Some(patch));
        let models = models(&new.answers, &self.loaded.settings)?;
        let task = (self.task.clone(), self.loaded.clone());
        let session = Session::begin(&store, task, (right, models), new).await?;
        // On the heap: what waits for a whole run is large.
        let run = Box::pin(session.drive((observer, None), stop)).await?;
        session.conclude(&run).await
    }
}
