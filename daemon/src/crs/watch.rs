//! Watches over the cases: gets their files, queues their findings, tries every
//! patch on the other PoVs, sends the chosen ones, and asks what became of them.
//!
//! One process at a time does it. Everything it decides is in the rows, so that
//! another one goes on where it stopped; a patch whose sending was cut off is
//! sent again.

mod findings;
mod matrix;
mod sending;

use super::competition::Competition;
use super::rows::{CaseRow, CaseState, FindingRow, FindingState};
use super::{READY, case};
use crate::service::Service;
use futures::StreamExt;
use patchwright_config::Settings;
use patchwright_store::{Store, StoreError, milliseconds};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Time without a sign of life after which another watcher takes over.
const LEASE: Duration = Duration::from_mins(1);
/// Pause of a case whose files do not come or whose disk fails.
const REST: Duration = Duration::from_secs(30);
/// Cases that are looked at side by side, so that a slow download or build
/// holds up nobody else for long.
const ABREAST: usize = 4;

/// The watcher of a daemon.
#[derive(Debug)]
pub struct Watch {
    service: Service,
    settings: Arc<Settings>,
    competition: Option<Competition>,
    holder: String,
    /// Cases that are left alone for a while, and until when.
    resting: Mutex<HashMap<String, Instant>>,
}

impl Watch {
    /// The watcher that the settings ask for.
    pub fn new(service: Service, settings: Arc<Settings>) -> Self {
        let crs = &settings.crs;
        let competition = crs
            .competition
            .as_deref()
            .map(|url| Competition::new(url, &crs.key_id, crs.key_token.clone()));
        Self {
            service,
            competition,
            holder: uuid::Uuid::now_v7().to_string(),
            settings,
            resting: Mutex::default(),
        }
    }

    /// Looks again and again until somebody says stop.
    pub async fn watch(self, stop: CancellationToken) {
        let looks = async {
            loop {
                if let Err(error) = self.look().await {
                    warn("the cases cannot be watched", "", &error);
                }
                tokio::time::sleep(self.settings.crs.watch).await;
            }
        };
        stop.run_until_cancelled(looks).await;
    }

    /// Notes whether the competition answers now, if there is one, and looks at the cases
    /// if this process is the one that watches.
    async fn look(&self) -> Result<(), StoreError> {
        let answering = match &self.competition {
            Some(competition) => competition.ping().await.map(|()| Some(competition)),
            None => Ok(None),
        };
        if answering.is_ok() {
            let store = self.store();
            store.set_switch(READY, &now().to_string()).await?;
        }
        let competition = answering.unwrap_or_else(|error| {
            warn("the competition does not answer", "", &error);
            None
        });
        if self.lease().await? {
            self.watched(self.round(competition)).await;
        }
        Ok(())
    }

    /// Carries a look out as long as this process is the one that watches: one
    /// that builds takes longer than the lease.
    async fn watched(&self, round: impl Future<Output = ()>) {
        tokio::pin!(round);
        loop {
            tokio::select! {
                () = &mut round => return,
                () = tokio::time::sleep(LEASE / 3) => {
                    if !matches!(self.lease().await, Ok(true)) {
                        return;
                    }
                }
            }
        }
    }

    async fn lease(&self) -> Result<bool, StoreError> {
        let now = now();
        self.store()
            .crs_lease(&self.holder, now, now + milliseconds(LEASE))
            .await
    }

    fn store(&self) -> &Store {
        self.service.store()
    }

    async fn round(&self, competition: Option<&Competition>) {
        let cases: Vec<CaseRow> = match self.store().crs_records(None).await {
            Ok(cases) => cases,
            Err(error) => return warn("the cases cannot be read", "", &error),
        };
        let open = |case: &CaseRow| case.is_open(now()) && !self.rests(&case.id);
        let cases = cases.into_iter().rev().filter(open);
        futures::stream::iter(cases)
            .for_each_concurrent(ABREAST, |case| async move {
                if let Err(error) = self.attend(&case, competition).await {
                    warn("a look at a case failed", &case.id, &error);
                }
            })
            .await;
    }

    /// Looks at a case and writes down how far it has come.
    async fn attend(
        &self,
        before: &CaseRow,
        competition: Option<&Competition>,
    ) -> anyhow::Result<()> {
        let mut case = before.clone();
        let mut findings = self.settle(&case).await?;
        let is_late = case.is_late(now());
        if is_late || self.prepared(&mut case).await {
            if !is_late {
                self.fill_matrix(&case, &findings).await?;
                findings = self.settle(&case).await?;
                self.queue(&case, &findings).await?;
                if let Some(competition) = competition {
                    self.send((&case, &findings), competition).await?;
                }
            }
            case.state = state_of(&case, &findings);
        }
        if case != *before {
            self.store().crs_change(before, &case).await?;
        }
        Ok(())
    }

    /// Gets the files of a case when they are not there; true when they are.
    async fn prepared(&self, case: &mut CaseRow) -> bool {
        let (Some(detail), None) = (&case.detail, &case.prepared) else {
            return true;
        };
        match case::prepare(detail, &self.settings, self.store()).await {
            Ok(prepared) => {
                case.prepared = Some(prepared);
                case.problem = None;
                true
            }
            Err(error) => {
                warn("the files of a case cannot be had", &case.id, &error);
                case.problem = Some(error.to_string());
                if error.may_pass() {
                    self.leave_alone(&case.id);
                } else {
                    case.state = CaseState::Errored;
                }
                false
            }
        }
    }

    fn leave_alone(&self, case: &str) {
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        resting.insert(case.to_owned(), Instant::now() + REST);
    }

    fn rests(&self, case: &str) -> bool {
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        resting.retain(|_, until| *until > Instant::now());
        resting.contains_key(case)
    }
}

/// State of the case, as `/status/` counts it.
fn state_of(case: &CaseRow, findings: &[FindingRow]) -> CaseState {
    let is = |state| findings.iter().any(|finding| finding.state == state);
    if is(FindingState::Open) {
        CaseState::Processing
    } else if is(FindingState::Stopped) {
        CaseState::Succeeded
    } else if !findings.is_empty() || case.is_late(now()) {
        CaseState::Failed
    } else {
        CaseState::Waiting
    }
}

fn warn(what: &'static str, id: &str, error: &dyn fmt::Display) {
    tracing::warn!(id, %error, "{what}");
}

/// Milliseconds, as the protocol counts.
pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
