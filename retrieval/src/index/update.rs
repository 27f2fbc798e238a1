//! Update of the database, so that it agrees with the tree.
//!
//! A fresh database and an outdated one go the same way: what is new or
//! changed is parsed by as many threads as there are processors and written
//! by one, in the order of paths, so that the same tree gives the same
//! numbers. Nothing is read whose size, times and inode are as they were.

use crate::error::Result;
use crate::index::IndexReport;
use crate::index::database::{INDEXES, now};
use crate::index::files::Files;
use crate::index::write::{FileState, Hash, Parsed, Writer};
use crate::language::extract;
use patchwright_source::{Entry, Language, Text, Tree, product_of_template};
use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// File systems count time in steps; a file that changed less than this before
/// it was read may change again without its time showing it. (Linux ticks
/// last 10 ms at most.)
const TIME_STEP: i64 = 50_000_000;

/// Files of this many bytes are parsed first: one that comes last keeps one
/// thread busy while the others have nothing left to do.
const LARGE: u64 = 512 * 1024;

/// Files with a longer line, in bytes, are skipped as minified. Tables kept in strings have lines
/// of some 30,000 bytes (jsoup's entities); a minified file is one line of more.
const LONGEST_LINE: usize = 100_000;

/// Limit on how many parsed files may wait for the writer.
const WAITING: usize = 64;

/// A file that has to be looked at.
struct Work {
    id: i64,
    entry: Entry,
    known: Option<Vec<u8>>,
    new: bool,
    /// True when it is the template of a header that lies beside it: everything
    /// in it would be found twice.
    is_made: bool,
}

/// Parses what changed, forgets what vanished; gives the files as they are now
/// and says how much that was.
pub(crate) fn update(
    connection: &mut Connection,
    tree: &Tree,
    limit: u64,
    fresh: bool,
) -> Result<(Files, IndexReport)> {
    let entries = tree.entries();
    let old = Files::load(connection)?;
    let (work, gone) = compare(connection, &old, &entries)?;
    let mut report = IndexReport::default();
    if work.is_empty() && gone.is_empty() && !fresh {
        return Ok((old, report));
    }
    let transaction = connection.transaction()?;
    for id in &gone {
        forget(&transaction, *id)?;
        transaction.execute("DELETE FROM file WHERE id = ?1", [id])?;
    }
    write_all(&transaction, tree, limit, &work, &mut report)?;
    if fresh {
        transaction.execute_batch(INDEXES)?;
    }
    transaction.execute(
        "INSERT INTO meta VALUES ('generation', 1)
         ON CONFLICT(key) DO UPDATE SET value = value + 1",
        [],
    )?;
    transaction.commit()?;
    report.removed = gone.len();
    Ok((Files::load(connection)?, report))
}

/// The files that have to be looked at, and the numbers of those that are no
/// longer there.
fn compare(
    connection: &Connection,
    old: &Files,
    entries: &[Entry],
) -> Result<(Vec<Work>, BTreeSet<i64>)> {
    let mut gone: BTreeSet<i64> = old.rows().map(|row| row.id).collect();
    let mut next_id = gone.last().copied().unwrap_or_default() + 1;
    let mut work = Vec::new();
    for entry in entries {
        let row = old.by_path(&entry.path);
        let header = product_of_template(&entry.path);
        let place = |path| entries.binary_search_by(|entry| entry.path.as_str().cmp(path));
        let is_made = header.is_some_and(|header| place(header).is_ok());
        if let Some(row) = row {
            gone.remove(&row.id);
            let is_read = row.language.is_some() || row.skipped.is_some();
            if row.is_still(entry) && (header.is_none() || is_read != is_made) {
                continue;
            }
        }
        let (id, known) = match row {
            Some(row) => (row.id, hash_of(connection, row.id)?),
            None => (next_id, None),
        };
        next_id += i64::from(row.is_none());
        work.push(Work {
            id,
            known,
            new: row.is_none(),
            entry: entry.clone(),
            is_made,
        });
    }
    Ok((work, gone))
}

fn hash_of(connection: &Connection, id: i64) -> Result<Option<Vec<u8>>> {
    Ok(connection
        .prepare_cached("SELECT hash FROM file WHERE id = ?1")?
        .query_row([id], |row| row.get(0))?)
}

fn write_all(
    connection: &Connection,
    tree: &Tree,
    limit: u64,
    work: &[Work],
    report: &mut IndexReport,
) -> Result<()> {
    let mut writer = Writer::new(connection)?;
    let now = now();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    in_order(
        threads,
        work,
        |item| read_file(tree, item, limit),
        |item, state| {
            let mut entry = item.entry.clone();
            if now - entry.changed < TIME_STEP {
                // Too fresh to be trusted: the next look reads it again.
                entry.changed = 0;
            }
            if matches!(state, FileState::Unchanged) {
                return touch(connection, item.id, &entry);
            }
            if !item.new {
                forget(connection, item.id)?;
            }
            report.parsed += usize::from(matches!(state, FileState::Parsed(_)));
            Ok(writer.file(item.id, &entry, &state)?)
        },
    )
}

/// Notes that a file looks different and is the same.
fn touch(connection: &Connection, id: i64, entry: &Entry) -> Result<()> {
    let mut update = connection.prepare_cached(
        "UPDATE file SET size = ?2, modified = ?3, changed = ?4, inode = ?5 WHERE id = ?1",
    )?;
    let (size, inode) = (entry.size.cast_signed(), entry.inode.cast_signed());
    update.execute(params![id, size, entry.modified, entry.changed, inode])?;
    Ok(())
}

/// Removes the facts of a file.
fn forget(connection: &Connection, id: i64) -> Result<()> {
    const OF_SYMBOLS: &str = "BETWEEN (SELECT first_symbol FROM file WHERE id = ?1)
         AND (SELECT last_symbol FROM file WHERE id = ?1)";
    for (column, condition) in [
        ("symbol WHERE id", OF_SYMBOLS),
        ("call WHERE caller_id", OF_SYMBOLS),
        ("inherit WHERE symbol_id", OF_SYMBOLS),
        ("analysed WHERE symbol_id", OF_SYMBOLS),
        ("guard WHERE symbol_id", OF_SYMBOLS),
        ("flow WHERE symbol_id", OF_SYMBOLS),
        ("posting WHERE file_id", "= ?1"),
        ("import WHERE file_id", "= ?1"),
    ] {
        let sql = format!("DELETE FROM {column} {condition}");
        connection.prepare_cached(&sql)?.execute([id])?;
    }
    Ok(())
}

/// In which order files are parsed, each with its place: those that take long, then the others.
fn large_first(work: &[Work]) -> Vec<(usize, &Work)> {
    let mut order: Vec<(usize, &Work)> = work.iter().enumerate().collect();
    let size = |item: &Work| Some(item.entry.size).filter(|size| *size >= LARGE);
    order.sort_by_key(|(_, item)| std::cmp::Reverse(size(item)));
    order
}

/// Does `work` on so many threads, large files first, and hands the results
/// over one by one, in the order of the items.
fn in_order<R: Send>(
    threads: usize,
    items: &[Work],
    work: impl Fn(&Work) -> R + Sync,
    mut take: impl FnMut(&Work, R) -> Result<()>,
) -> Result<()> {
    let order = large_first(items);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(WAITING);
        for _ in 0..threads.min(items.len()) {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                while let Some((at, item)) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // A writer that has failed no longer listens.
                    if sender.send((*at, *item, work(item))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut wanted = 0;
        for (at, item, result) in receiver {
            early.insert(at, (item, result));
            while let Some((item, result)) = early.remove(&wanted) {
                take(item, result)?;
                wanted += 1;
            }
        }
        Ok(())
    })
}

/// Reads a file. `item.known` is the hash of the content that the index holds.
fn read_file(tree: &Tree, item: &Work, limit: u64) -> FileState {
    let entry = &item.entry;
    if item.is_made || Language::of_path(&entry.path).is_none() {
        return FileState::NotCode;
    }
    let text = match tree.read_up_to(&entry.path, limit) {
        Ok(text) => text,
        Err(patchwright_source::SourceError::TooLarge { size, limit, .. }) => {
            return FileState::Skipped(format!("{size} bytes, more than the limit of {limit}"));
        }
        Err(error) => return FileState::Skipped(error.to_string()),
    };
    let hash: Hash = Sha256::digest(text.bytes()).into();
    if item.known.as_deref() == Some(hash.as_slice()) {
        return FileState::Unchanged;
    }
    match unreadable(&text) {
        Some(reason) => FileState::Skipped(reason),
        None => parse(entry, &text, hash),
    }
}

fn parse(entry: &Entry, text: &Text, hash: Hash) -> FileState {
    let Some(language) = Language::of(&entry.path, text.bytes()) else {
        return FileState::NotCode;
    };
    // Grammars read UTF-8; a byte of Latin-1 is a character of the same line.
    let Some(facts) = extract(language, text.decode(text.bytes()).as_bytes()) else {
        return FileState::Skipped("the parser gave up on it".to_owned());
    };
    FileState::Parsed(Box::new(Parsed {
        language,
        lines: u32::try_from(text.line_count()).unwrap_or(u32::MAX),
        hash,
        facts,
    }))
}

fn unreadable(text: &Text) -> Option<String> {
    if text.is_binary() {
        return Some("it is binary".to_owned());
    }
    for line in 1..=text.line_count() {
        let raw = text.raw_line(line).unwrap_or_default();
        let length = raw.strip_suffix(b"\n").unwrap_or(raw).len();
        if length > LONGEST_LINE {
            let reason = format!("minified or generated: line {line} has {length} bytes");
            return Some(reason);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{LARGE, Work, in_order};
    use patchwright_source::{Entry, TreePath};
    use std::sync::Mutex;

    fn file(number: i64, size: u64) -> Work {
        Work {
            id: number,
            entry: Entry {
                path: TreePath::new(&format!("{number}.c")).unwrap(),
                size,
                modified: 0,
                changed: 0,
                inode: 0,
            },
            known: None,
            new: true,
            is_made: false,
        }
    }

    #[test]
    fn large_files_are_begun_first_and_handed_over_in_their_place() {
        let sizes = [10, LARGE - 1, LARGE, 0, 3 * LARGE, LARGE + 1];
        let work: Vec<Work> = (0..).zip(sizes).map(|(at, size)| file(at, size)).collect();
        let begun = Mutex::new(Vec::new());
        let mut taken = Vec::new();
        // One thread, so that the order is the one that was asked for.
        in_order(
            1,
            &work,
            |item| begun.lock().unwrap().push(item.id),
            |item, ()| {
                taken.push(item.id);
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(begun.into_inner().unwrap(), [4, 5, 2, 0, 1, 3]);
        assert_eq!(taken, [0, 1, 2, 3, 4, 5]);
    }
}
