//! The words in the index file.
//!
//! Files that were not counted yet become one more layer; with many layers, or
//! when most is new, all is counted anew. Numbers of symbols are never given
//! twice, so what a layer says of a file that changed since is told by its
//! numbers and left out.

use super::count::{Counted, count_file};
use super::postings::{self, Posting};
use crate::error::Result;
use crate::index::{Index, Reader};
use itertools::Itertools;
use patchwright_source::TreePath;
use rayon::prelude::*;
use rusqlite::{Connection, TransactionBehavior, params};
use rustc_hash::{FxHashMap, FxHashSet};

/// More layers than this make a search slow.
const LAYERS: i64 = 8;
/// A layer of more than one file in this many is most of the work anyway.
const FEW: usize = 4;

/// Files that lack, and whether all shall be counted anew.
struct Work {
    files: Vec<(TreePath, (i64, i64))>,
    anew: bool,
}

/// Counts what was not counted yet.
pub(super) fn update(index: &Index) -> Result<()> {
    let work = index.read(plan)?;
    if work.files.is_empty() && !work.anew {
        return Ok(());
    }
    let counted = work
        .files
        .par_iter()
        .map(|(path, _)| count_file(index, path));
    let counted: Vec<Counted> = counted.collect::<Result<_>>()?;
    index.look_anew();
    let mut connection = index.private_connection()?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    write(&transaction, &work, counted)?;
    transaction.commit()?;
    // Readers are slower as long as what was written stands beside the file.
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
    Ok(())
}

fn plan(reader: &Reader<'_>) -> Result<Work> {
    let known: Vec<i64> = reader.values("SELECT first_symbol FROM worded", [])?;
    let known: FxHashSet<i64> = known.into_iter().collect();
    let files = reader.files.rows().filter(|file| file.language.is_some());
    let files = files.map(|file| (file.path.clone(), (file.first_symbol, file.last_symbol)));
    let all: Vec<(TreePath, (i64, i64))> = files.collect();
    let total = all.len();
    let mut lacking = all.clone();
    lacking.retain(|(_, (first, _))| !known.contains(first));
    let layers = last_layer(reader.connection)?;
    let stale = known.len() + lacking.len() > total + total / FEW + 8;
    let anew = !lacking.is_empty()
        && (layers >= LAYERS || lacking.len() * FEW > total || known.is_empty() || stale);
    Ok(Work {
        files: if anew { all } else { lacking },
        anew,
    })
}

/// The number of the last layer, 0 where there is none.
fn last_layer(connection: &Connection) -> Result<i64> {
    let last = "SELECT coalesce(max(layer), 0) FROM worded";
    Ok(connection.query_row(last, [], |row| row.get(0))?)
}

fn write(connection: &Connection, work: &Work, counted: Vec<Counted>) -> Result<()> {
    if work.anew {
        connection.execute_batch("DELETE FROM word; DELETE FROM worded;")?;
    }
    let layer = last_layer(connection)? + 1;
    let mut all: FxHashMap<String, Vec<Posting>> = FxHashMap::default();
    let mut insert =
        connection.prepare("INSERT OR REPLACE INTO worded VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for ((_, (first, last)), file) in work.files.iter().zip(counted) {
        insert.execute(params![first, last, layer, file.documents, file.length])?;
        for (word, list) in file.words {
            all.entry(word).or_default().extend(list);
        }
    }
    let words = all.into_iter().sorted_by(|a, b| a.0.cmp(&b.0));
    let mut insert = connection.prepare("INSERT INTO word VALUES (?1, ?2, ?3)")?;
    for (word, mut list) in words {
        list.sort_unstable_by_key(|posting| posting.id);
        insert.execute(params![word, layer, postings::write(&list)])?;
    }
    Ok(())
}

/// Describes how much was counted, and when.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Size {
    /// The state of the index that was counted.
    pub(super) generation: i64,
    /// Number of definitions counted.
    pub(super) documents: f64,
    /// Average number of words of a definition.
    pub(super) mean: f64,
    /// True when some of it is about files that are no longer as they were.
    stale: bool,
}

/// Returns how much was counted.
pub(super) fn size(reader: &Reader<'_>) -> Result<Size> {
    let all = "SELECT first_symbol, documents, length FROM worded";
    let (mut documents, mut length, mut stale) = (0, 0, false);
    for (first, counted, words) in reader.rows::<(i64, i64, i64)>(all, [])? {
        documents += counted;
        length += words;
        stale |= !is_current(reader, first);
    }
    let documents = documents as f64;
    Ok(Size {
        generation: reader.files.generation,
        documents,
        mean: length as f64 / documents.max(1.0),
        stale,
    })
}

/// Returns where a word is, in files as they are now.
pub(super) fn read_postings(reader: &Reader<'_>, size: Size, word: &str) -> Result<Vec<Posting>> {
    let mut found = Vec::new();
    let layers = "SELECT postings FROM word WHERE word = ?1";
    for bytes in reader.values::<Vec<u8>>(layers, [word])? {
        postings::read(&bytes, &mut found);
    }
    if size.stale || size.generation != reader.files.generation {
        found.retain(|posting| is_current(reader, posting.id));
    }
    Ok(found)
}

/// Returns whether a definition is in a file as it is now.
fn is_current(reader: &Reader<'_>, id: i64) -> bool {
    let file = reader.files.of_symbol(id);
    file.is_some_and(|file| (file.first_symbol..=file.last_symbol).contains(&id))
}
