//! Summary of a campaign: its PoVs with the runs that stop them, and its runs
//! with their patches.

use patchwright_agent::record::{Ending, EndingKind};
use patchwright_daemon::crs::cover::{self, Candidate};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

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

/// A run and its patch.
#[derive(Debug, Serialize)]
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
            stops: Vec::new(),
            submitted: None,
            reported: None,
            diff: None,
        }
    }
}

impl Summary {
    pub(super) fn refused(&mut self, task: &str, ending: Ending) {
        self.runs.push(RunLine::refused(task, ending));
    }

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
