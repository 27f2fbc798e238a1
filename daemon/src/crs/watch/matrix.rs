//! The matrix of patches and PoVs: every patch is tried on the PoVs of the
//! other findings of its case, and closes those that it stops.

use super::{Watch, warn};
use crate::crs::case;
use crate::crs::ground::Ground;
use crate::crs::protocol::decode;
use crate::crs::rows::{CaseRow, FindingKind, FindingRow, FindingState, PatchRow};
use patchwright_agent::record::{Ending, EndingKind};
use patchwright_agent::task::Task;
use patchwright_run::files::lay_out;
use std::collections::BTreeSet;
use std::ops::Range;

/// PoVs of several findings on one ground.
struct Field {
    ground: Ground,
    /// Each finding, and the places of its PoVs.
    places: Vec<(String, Range<usize>)>,
}

impl Watch {
    /// Tries patches on PoVs that they were not tried on yet. What could not be tried because of disk,
    /// sandbox or network is tried again later.
    pub(super) async fn fill_matrix(
        &self,
        case: &CaseRow,
        findings: &[FindingRow],
    ) -> anyhow::Result<()> {
        let povs = findings
            .iter()
            .filter(|one| one.kind == FindingKind::Pov && one.state != FindingState::Errored);
        let mut patches: Vec<PatchRow> = self.store().crs_records(Some(&case.id)).await?;
        patches.retain(|patch| !patch.is_refuted());
        let untried: Vec<FindingRow> = povs
            .filter(|pov| patches.iter().any(|patch| !patch.tried.contains(&pov.id)))
            .cloned()
            .collect();
        if untried.is_empty() {
            return Ok(());
        }
        let tried = match self.field(case, &untried).await {
            Ok(field) => self.try_all(patches, field.as_ref(), findings).await?,
            Err(ending) if is_final(&ending) => {
                warn("patches cannot be tried", &case.id, &ending.detail);
                self.try_all(patches, None, findings).await?
            }
            Err(ending) => Some(ending),
        };
        if let Some(ending) = tried {
            warn("patches cannot be tried now", &case.id, &ending.detail);
            self.leave_alone(&case.id);
        }
        Ok(())
    }

    /// Tries patches on a field; without one they stop nothing. Yields what
    /// kept a patch from being tried, should that pass.
    async fn try_all(
        &self,
        patches: Vec<PatchRow>,
        field: Option<&Field>,
        findings: &[FindingRow],
    ) -> anyhow::Result<Option<Ending>> {
        let povs = findings.iter().filter(|one| one.kind == FindingKind::Pov);
        let povs: BTreeSet<String> = povs.map(|pov| pov.id.clone()).collect();
        for mut patch in patches {
            if povs.is_subset(&patch.tried) {
                continue;
            }
            let stopped = match field {
                Some(field) => field.stops(&patch).await,
                None => Ok(Vec::new()),
            };
            match stopped {
                Ok(stopped) => patch.stops.extend(stopped),
                Err(ending) if is_final(&ending) => {
                    warn("a patch cannot be tried", &patch.id, &ending.detail);
                }
                Err(ending) => return Ok(Some(ending)),
            }
            patch.tried.extend(povs.iter().cloned());
            self.store().crs_set(&patch).await?;
        }
        Ok(None)
    }

    /// The PoVs of these findings, replayed on the unpatched program; nothing
    /// when none of them can be replayed here.
    async fn field(
        &self,
        case: &CaseRow,
        findings: &[FindingRow],
    ) -> Result<Option<Field>, Ending> {
        let mut whole: Option<Task> = None;
        let mut places = Vec::new();
        for finding in findings {
            let task = match case::task(case, finding, &self.settings, self.store()).await {
                Ok(task) => task,
                Err(error) if error.may_pass() => return Err(unavailable(&error)),
                Err(_) => continue,
            };
            let whole = whole.get_or_insert_with(|| whole_of(&task));
            let first = whole.povs.len();
            whole.povs.extend(task.povs);
            whole.builds.extend(task.builds);
            whole.sent.extend(task.sent);
            places.push((finding.id.clone(), first..whole.povs.len()));
        }
        let Some(task) = whole.filter(|task| !task.povs.is_empty()) else {
            return Ok(None);
        };
        let cache = &self.settings.cache.folder;
        let task = lay_out(task, self.store(), cache)
            .await
            .map_err(|error| unavailable(&error))?;
        let (tree, target) = patchwright_run::ground(&task, &self.settings).await?;
        let ground = Ground::measure(target, tree).await?;
        Ok(Some(Field { ground, places }))
    }
}

/// A task of the same program without any PoV. Tests and harmless inputs say
/// nothing about what a patch stops.
fn whole_of(task: &Task) -> Task {
    let mut whole = Task {
        povs: Vec::new(),
        harmless: Vec::new(),
        ..task.clone()
    };
    whole.commands.test = None;
    whole
}

/// Returns true when trying again would come to the same.
fn is_final(ending: &Ending) -> bool {
    !matches!(ending.kind, EndingKind::InfraError | EndingKind::Canceled)
}

fn unavailable(error: &dyn std::error::Error) -> Ending {
    Ending::new(EndingKind::InfraError, error.to_string())
}

impl Field {
    /// The findings all of whose crashes a patch stops.
    async fn stops(&self, patch: &PatchRow) -> Result<Vec<String>, Ending> {
        let damaged = || Ending::new(EndingKind::InvalidTask, "its row in the store is damaged");
        let diff = decode(&patch.diff).ok_or_else(damaged)?;
        let stopped: BTreeSet<usize> = self.ground.stops(&diff).await?.into_iter().collect();
        let all = |places: &Range<usize>| {
            let mut crashing = places
                .clone()
                .filter(|place| self.ground.reproduces(*place))
                .peekable();
            crashing.peek().is_some() && crashing.all(|place| stopped.contains(&place))
        };
        let stopped = self.places.iter().filter(|(_, places)| all(places));
        Ok(stopped.map(|(finding, _)| finding.clone()).collect())
    }
}
