//! The address of a database.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseKind {
    /// A file of this machine.
    Sqlite,
    /// Shared by any number of machines.
    Postgres,
}

/// Address of the database, as `sqlx` takes it.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) kind: DatabaseKind,
    pub(crate) url: String,
}

impl std::fmt::Debug for Address {
    /// Without the address, which may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.kind.fmt(f)
    }
}
