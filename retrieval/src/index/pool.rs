//! The connections of an index that nobody uses at the moment.
//!
//! One question reads one state of the database, whoever writes meanwhile. A
//! hold lets many questions share such a state: beginning and ending each by
//! itself costs more than most answers.

use crate::index::files::Files;
use rusqlite::{Connection, Result};
use std::sync::Arc;

/// A connection, and the files as it sees them while it reads one state.
pub(super) struct Lent {
    pub(super) connection: Connection,
    pub(super) seen: Option<Arc<Files>>,
}

impl Lent {
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            connection,
            seen: None,
        }
    }

    pub(super) fn begin(&self) -> Result<()> {
        if self.connection.is_autocommit() {
            self.connection.prepare_cached("BEGIN")?.execute([])?;
        }
        Ok(())
    }

    /// Stops reading one state; `None` when the connection is of no more use.
    fn finish(mut self) -> Option<Self> {
        self.seen = None;
        if !self.connection.is_autocommit() {
            let mut statement = self.connection.prepare_cached("COMMIT").ok()?;
            statement.execute([]).ok()?;
        }
        Some(self)
    }
}

/// Connections to be lent.
pub(super) struct Pool {
    idle: Vec<Lent>,
    /// How many wish that what is read stays as it was.
    holds: usize,
}

impl Pool {
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            idle: vec![Lent::new(connection)],
            holds: 0,
        }
    }

    pub(super) fn take(&mut self) -> Option<Lent> {
        self.idle.pop()
    }

    pub(super) fn give_back(&mut self, lent: Lent) {
        let lent = if self.holds > 0 {
            Some(lent)
        } else {
            lent.finish()
        };
        self.idle.extend(lent);
    }

    pub(super) fn begin_hold(&mut self) {
        self.holds += 1;
    }

    pub(super) fn end_hold(&mut self) {
        self.holds = self.holds.saturating_sub(1);
        if self.holds == 0 {
            self.finish_all();
        }
    }

    /// Every connection sees the newest state from now on.
    pub(super) fn finish_all(&mut self) {
        self.idle = self.idle.drain(..).filter_map(Lent::finish).collect();
    }
}
