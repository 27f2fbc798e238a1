//! Agreement with the original: the fixed branch and the fixed main line on the inputs that both
//! accept.
//!
//! It decides nothing, so no failure of it ends a backport: what cannot be compared is told.

use super::{Backport, file_name};
use crate::common::write_file;
use crate::display;
use crate::verb::session;
use anyhow::{Context, anyhow};
use patchwright_agent::report::{INTERRUPTED, Report};
use patchwright_target::Target;
use patchwright_verdict::{Comparison, compare};
use serde::Serialize;
use std::sync::Arc;

/// The behaviour of a fixed branch beside the fixed main line.
#[derive(Debug, Default, Serialize)]
pub(super) struct Agreement {
    /// Number of inputs that both accept.
    pub(super) inputs: usize,
    /// Number of those on which they end and print alike.
    pub(super) alike: usize,
    /// The answers of the branch and of the main line on the first of the others.
    pub(super) differing: Option<[String; 2]>,
    /// The file with this input, where a folder was named for it.
    pub(super) input: Option<String>,
    /// The reason why nothing was compared.
    pub(super) missing: Option<String>,
}

impl Agreement {
    /// Tells whether somebody stopped the comparison.
    pub(super) fn was_stopped(&self) -> bool {
        self.missing.as_deref() == Some(INTERRUPTED)
    }
}

impl Backport<'_> {
    /// Compares a branch with its patch to the main line with the fix.
    pub(super) async fn agreement(&self, (name, onto): (&str, &str), report: &Report) -> Agreement {
        let display = display::of_settings(&self.loaded.settings);
        display.line(&format!("comparing {name} with the original"));
        let compared = Box::pin(self.compared((name, onto), report));
        let compared = session::unless_stopped(compared).await;
        display.close();
        let told = match compared {
            None => Err(INTERRUPTED.to_owned()),
            Some(Err(error)) => Err(format!("{error:#}")),
            Some(Ok(found)) => self
                .entered(name, found)
                .map_err(|error| format!("{error:#}")),
        };
        told.unwrap_or_else(|reason| Agreement {
            missing: Some(reason),
            ..Agreement::default()
        })
    }

    async fn compared(
        &self,
        (name, onto): (&str, &str),
        report: &Report,
    ) -> anyhow::Result<Comparison> {
        let best = report.best.as_ref().context("the run has no patch")?;
        let revisions = &self.revisions;
        let tree = revisions.tree_with(onto, &best.diff_bytes()).await?;
        let fixed = revisions.commit_of(&tree, onto).await?;
        let one = self.target(name, &fixed).await?;
        let other = self.target("original", &self.fix.code).await?;
        Ok(compare((name, one.as_ref()), ("the original", other.as_ref())).await?)
    }

    /// A target for the tree of a commit.
    async fn target(&self, name: &str, commit: &str) -> anyhow::Result<Arc<dyn Target>> {
        let task = self.task_at(name, commit).await?;
        let ground = patchwright_run::ground(&task, &self.loaded.settings).await;
        let (_, target) = ground.map_err(|ending| anyhow!("{name}: {}", ending.detail))?;
        Ok(target)
    }

    /// Enters what was found, and writes the input on which they differ.
    fn entered(&self, name: &str, found: Comparison) -> anyhow::Result<Agreement> {
        let (bytes, differing) = found.differing.unzip();
        let out = self.arguments.output.out.as_ref();
        let input = match (bytes, out) {
            (Some(bytes), Some(out)) => {
                let file = out.join(format!("{}.input", file_name(name)));
                write_file(&file, bytes)?;
                Some(file.display().to_string())
            }
            _ => None,
        };
        Ok(Agreement {
            inputs: found.inputs,
            alike: found.alike,
            differing,
            input,
            missing: found.missing,
        })
    }
}
