//! A queue in memory, for the unit tests beside it: a test says who is dead.

use super::{Queue, QueueError, Taker, Ticket};
use futures::FutureExt;
use futures::future::BoxFuture;
use patchwright_store::submissions::Issue;
use std::sync::Mutex;

/// Each ticket with the name of its taker.
#[derive(Debug, Default)]
pub(crate) struct MemoryQueue {
    tickets: Mutex<Vec<(Ticket, Option<String>)>>,
}

impl MemoryQueue {
    /// Gives back what a taker has, as if it had been silent for too long.
    pub(crate) fn bury(&self, taker: &str) {
        for (_, holder) in self.tickets.lock().unwrap().iter_mut() {
            holder.take_if(|holder| holder == taker);
        }
    }

    /// Tickets that were not taken away.
    pub(crate) fn left(&self) -> usize {
        self.tickets.lock().unwrap().len()
    }
}

impl Queue for MemoryQueue {
    fn put<'a>(&'a self, issues: &'a [Issue]) -> BoxFuture<'a, Result<(), QueueError>> {
        let mut tickets = self.tickets.lock().unwrap();
        for issue in issues {
            let ticket = Ticket {
                task: issue.id.clone(),
                number: issue.number,
                key: format!("{}-{}", issue.id, issue.number),
            };
            tickets.push((ticket, None));
        }
        async { Ok(()) }.boxed()
    }

    fn take<'a>(&'a self, taker: &'a Taker) -> BoxFuture<'a, Result<Option<Ticket>, QueueError>> {
        let mut tickets = self.tickets.lock().unwrap();
        let free = tickets.iter_mut().find(|(_, holder)| holder.is_none());
        let taken = free.map(|(ticket, holder)| {
            *holder = Some(taker.name.clone());
            ticket.clone()
        });
        async { Ok(taken) }.boxed()
    }

    fn done<'a>(
        &'a self,
        taker: &'a Taker,
        ticket: &'a Ticket,
    ) -> BoxFuture<'a, Result<(), QueueError>> {
        let mut tickets = self.tickets.lock().unwrap();
        tickets.retain(|(kept, holder)| {
            kept.key != ticket.key || holder.as_ref() != Some(&taker.name)
        });
        async { Ok(()) }.boxed()
    }

    fn beat<'a>(&'a self, _: &'a Taker) -> BoxFuture<'a, Result<(), QueueError>> {
        async { Ok(()) }.boxed()
    }
}
