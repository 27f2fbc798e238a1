//! Agreement with the original: the fixed branch and the fixed main line on the inputs that both
//! accept.

use super::{Backport, file_name};
use crate::common::write_file;
use crate::display;
use crate::verb::session;
use patchwright_agent::report::Report;
use patchwright_verdict::compare;
use serde::Serialize;

/// The behaviour of a fixed branch beside the fixed main line.
#[derive(Debug, Serialize)]
pub(super) struct Agreement {
    /// Number of inputs that both accept.
    pub(super) inputs: usize,
    /// Number of those on which they end and print alike.
    pub(super) alike: usize,
    /// The answers of the branch and of the main line on the first of the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) differing: Option<[String; 2]>,
    /// The file with this input, where a folder was named for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<String>,
}

impl Backport<'_> {
    /// Compares a branch with its patch to the main line with the fix. None where it was stopped,
    /// or one of the two trees cannot be laid out for a target.
    pub(super) async fn agreement(
        &self,
        (name, onto): (&str, &str),
        report: &Report,
    ) -> anyhow::Result<Option<Agreement>> {
        let Some(best) = &report.best else {
            return Ok(None);
        };
        let revisions = &self.revisions;
        let tree = revisions.tree_with(onto, &best.diff_bytes()).await?;
        let fixed = revisions.commit_of(&tree, onto).await?;
        let settings = &self.loaded.settings;
        let (one, other) = (
            self.task_at(name, &fixed).await?,
            self.task_at("original", &self.fix.code).await?,
        );
        let grounds = (
            patchwright_run::ground(&one, settings).await,
            patchwright_run::ground(&other, settings).await,
        );
        let (Ok((_, one)), Ok((_, other))) = grounds else {
            return Ok(None);
        };
        let display = display::of_settings(settings);
        display.line(&format!("comparing {name} with the original"));
        let compared = session::unless_stopped(compare(one.as_ref(), other.as_ref())).await;
        display.close();
        let Some(found) = compared.transpose()? else {
            return Ok(None);
        };
        let mut agreement = Agreement {
            inputs: found.inputs,
            alike: found.alike,
            differing: None,
            input: None,
        };
        if let Some((bytes, shown)) = found.differing {
            if let Some(out) = &self.arguments.output.out {
                let file = out.join(format!("{}.input", file_name(name)));
                write_file(&file, bytes)?;
                agreement.input = Some(file.display().to_string());
            }
            agreement.differing = Some(shown);
        }
        Ok(Some(agreement))
    }
}
