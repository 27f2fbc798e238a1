//! A journal in memory, for the tests of whatever writes to one.

use super::{EventKind, Journal, JournalError, NewEvent, SpendingLimits, Standing};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Keeps everything; fails as a store does when told to.
#[derive(Debug, Default)]
pub(crate) struct MemoryJournal {
    events: Mutex<Vec<NewEvent>>,
    blobs: Mutex<BTreeMap<String, Vec<u8>>>,
    /// The US dollars booked for the call of each event.
    booked: Mutex<BTreeMap<i64, f64>>,
    lost: AtomicBool,
}

impl MemoryJournal {
    /// Lets somebody else claim the run.
    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    /// The kind and the name of each event, in order.
    pub(crate) fn told(&self) -> Vec<(EventKind, String)> {
        let events = self.events.lock().unwrap();
        let told = events.iter().map(|event| (event.kind, event.name.clone()));
        told.collect()
    }

    /// The US dollars that are booked.
    pub(crate) fn booked(&self) -> f64 {
        self.booked.lock().unwrap().values().sum()
    }

    fn ours(&self) -> Result<(), JournalError> {
        if self.lost.load(Ordering::Relaxed) {
            return Err(JournalError::Superseded("somebody else has it".into()));
        }
        Ok(())
    }

    fn book(&self, number: i64, usd: f64, limits: SpendingLimits) -> Result<(), JournalError> {
        self.ours()?;
        let limit = limits.run.unwrap_or(f64::INFINITY);
        if self.booked() + usd > limit {
            return Err(JournalError::Money("the run has too little".into()));
        }
        self.booked.lock().unwrap().insert(number, usd);
        Ok(())
    }
}

impl Journal for MemoryJournal {
    fn run(&self) -> &'static str {
        "in-memory"
    }

    fn append(&self, event: NewEvent) -> BoxFuture<'_, Result<i64, JournalError>> {
        let written = self.ours().map(|()| {
            let mut events = self.events.lock().unwrap();
            events.push(event);
            i64::try_from(events.len()).unwrap()
        });
        ready(written).boxed()
    }

    fn standing(&self) -> BoxFuture<'_, Result<Standing, JournalError>> {
        ready(self.ours().map(|()| Standing::Held)).boxed()
    }

    fn reserve(
        &self,
        number: i64,
        usd: f64,
        limits: SpendingLimits,
    ) -> BoxFuture<'_, Result<(), JournalError>> {
        ready(self.book(number, usd, limits)).boxed()
    }

    fn settle(&self, number: i64, usd: f64) -> BoxFuture<'_, Result<(), JournalError>> {
        ready(self.book(number, usd, SpendingLimits::default())).boxed()
    }

    fn keep<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, Result<String, JournalError>> {
        let hash = format!("{:x}", Sha256::digest(bytes));
        let mut blobs = self.blobs.lock().unwrap();
        blobs.insert(hash.clone(), bytes.to_vec());
        ready(Ok(hash)).boxed()
    }

    fn blob<'a>(&'a self, hash: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, JournalError>> {
        let blob = self.blobs.lock().unwrap().get(hash).cloned();
        ready(Ok(blob)).boxed()
    }
}
