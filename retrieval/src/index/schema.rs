//! The tables of the code database and the views that are open to readers.
//!
//! The views are the documented face (`files`, `symbols`, `calls`, `uses`,
//! `includes`, `inherits`, `guards`, `flows`); the tables below them are
//! compact: names are numbers, the sites of a name in a file are one row. A
//! change of either raises [`VERSION`], and older files are built anew.

/// Raised with every change of tables, of views, or of what extractors find.
pub(crate) const VERSION: i64 = 6;

/// Marks the file as ours ("PWcd").
pub(crate) const APPLICATION: i64 = 0x5057_6364;

pub(crate) const TABLES: &str = include_str!("schema/tables.sql");

/// Indexes for lookups; made after the bulk of the rows is in.
pub(crate) const INDEXES: &str = include_str!("schema/indexes.sql");

/// The documented face of the database.
pub(crate) const VIEWS: &str = include_str!("schema/views.sql");
