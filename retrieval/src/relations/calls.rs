//! Along the calls: who calls, who is called, and how one leads to another.
//!
//! Calls are kept by name. Two functions of one name cannot be told apart by
//! a call through a pointer or an object, so both are followed.

use crate::error::RetrievalError;
use crate::index::{Index, Reader};
use crate::relations::name::QualifiedName;
use crate::relations::rows::{name_id, name_text, read_numbers, symbol_by_id};
use crate::symbol::Call;
use rusqlite::Result;
use std::collections::{BTreeMap, VecDeque};

/// How many names a search along the calls may visit.
const VISITED: usize = 50_000;

impl Index {
    /// Who calls a name, and who calls those, up to a depth; nearest first,
    /// then by path and line. At most `limit` calls.
    pub fn callers(
        &self,
        name: &str,
        depth: u32,
        limit: usize,
    ) -> Result<Vec<Call>, RetrievalError> {
        let Some(wanted) = QualifiedName::read(name) else {
            return Ok(Vec::new());
        };
        self.read(|reader| {
            let mut found = Vec::new();
            let mut seen = vec![wanted.name.clone()];
            let mut level = vec![wanted.name.clone()];
            for depth in 1..=depth {
                let mut calls = Vec::new();
                for callee in &level {
                    calls.append(&mut callers_of(reader, callee, depth)?);
                }
                in_order(&mut calls);
                level.clear();
                for caller in calls.iter().filter_map(|call| call.caller.as_ref()) {
                    if !seen.contains(&caller.name) {
                        seen.push(caller.name.clone());
                        level.push(caller.name.clone());
                    }
                }
                found.append(&mut calls);
                if level.is_empty() || found.len() >= limit {
                    break;
                }
            }
            found.truncate(limit);
            Ok(found)
        })
    }

    /// What a function calls, and what that calls, up to a depth; nearest
    /// first, then by path and line. At most `limit` calls.
    pub fn callees(
        &self,
        name: &str,
        depth: u32,
        limit: usize,
    ) -> Result<Vec<Call>, RetrievalError> {
        let start = self.definitions(name)?.symbols;
        self.read(|reader| {
            let mut found: Vec<Call> = Vec::new();
            let mut seen: Vec<i64> = start.iter().map(|symbol| symbol.id).collect();
            let mut level = seen.clone();
            for depth in 1..=depth {
                let mut calls = Vec::new();
                for caller in &level {
                    calls.append(&mut callees_of(reader, *caller, depth)?);
                }
                in_order(&mut calls);
                level.clear();
                for call in &calls {
                    for id in callables(reader, &call.callee)? {
                        if !seen.contains(&id) {
                            seen.push(id);
                            level.push(id);
                        }
                    }
                }
                found.append(&mut calls);
                if level.is_empty() || found.len() >= limit {
                    break;
                }
            }
            found.truncate(limit);
            Ok(found)
        })
    }

    /// The shortest chain of calls from one function to another; empty when
    /// there is none.
    pub fn call_path(&self, from: &str, to: &str) -> Result<Vec<Call>, RetrievalError> {
        let start = self.definitions(from)?.symbols;
        let Some(target) = QualifiedName::read(to) else {
            return Ok(Vec::new());
        };
        self.read(|reader| {
            let Some(target) = name_id(reader, &target.name)? else {
                return Ok(Vec::new());
            };
            let start: Vec<i64> = start.iter().map(|symbol| symbol.id).collect();
            let mut calls = Vec::new();
            let steps = search(reader, &start, target)?;
            for (depth, (caller, callee)) in (1..).zip(steps) {
                calls.push(call(reader, caller, callee, depth)?);
            }
            Ok(calls)
        })
    }
}

/// Breadth first over names; gives (caller, name of the callee) per step.
fn search(reader: &Reader<'_>, start: &[i64], target: i64) -> Result<Vec<(i64, i64)>> {
    // Per visited name, the caller through which it was reached first.
    let mut reached: BTreeMap<i64, i64> = BTreeMap::new();
    // Per caller that was reached, the name by which it was.
    let mut name_of: BTreeMap<i64, i64> = BTreeMap::new();
    let mut queue: VecDeque<i64> = start.iter().copied().collect();
    let mut callees = reader
        .connection
        .prepare_cached("SELECT name_id FROM call WHERE caller_id = ?1")?;
    let mut bodies = reader
        .connection
        .prepare_cached("SELECT id FROM symbol WHERE name_id = ?1 AND body_line > 0 ORDER BY id")?;
    while let Some(caller) = queue.pop_front() {
        let names: Vec<i64> = callees
            .query_map([caller], |row| row.get(0))?
            .collect::<Result<_>>()?;
        for name in names {
            if reached.contains_key(&name) || reached.len() >= VISITED {
                continue;
            }
            reached.insert(name, caller);
            if name == target {
                return Ok(trace(&reached, &name_of, target));
            }
            for id in bodies.query_map([name], |row| row.get::<_, i64>(0))? {
                let id = id?;
                if !start.contains(&id) {
                    name_of.entry(id).or_insert(name);
                    queue.push_back(id);
                }
            }
        }
    }
    Ok(Vec::new())
}

fn trace(
    reached: &BTreeMap<i64, i64>,
    name_of: &BTreeMap<i64, i64>,
    target: i64,
) -> Vec<(i64, i64)> {
    let mut steps = Vec::new();
    let mut name = Some(target);
    while let Some(callee) = name {
        let Some(caller) = reached.get(&callee) else {
            break;
        };
        steps.push((*caller, callee));
        name = name_of.get(caller).copied();
    }
    steps.reverse();
    steps
}

fn in_order(calls: &mut [Call]) {
    calls.sort_by(|a, b| {
        (&a.path, a.lines.first(), &a.callee).cmp(&(&b.path, b.lines.first(), &b.callee))
    });
}

fn callers_of(reader: &Reader<'_>, callee: &str, depth: u32) -> Result<Vec<Call>> {
    let Some(id) = name_id(reader, callee)? else {
        return Ok(Vec::new());
    };
    let mut statement = reader
        .connection
        .prepare_cached("SELECT caller_id FROM call WHERE name_id = ?1")?;
    let callers: Vec<i64> = statement
        .query_map([id], |row| row.get(0))?
        .collect::<Result<_>>()?;
    callers
        .into_iter()
        .map(|caller| call(reader, caller, id, depth))
        .collect()
}

fn callees_of(reader: &Reader<'_>, caller: i64, depth: u32) -> Result<Vec<Call>> {
    let mut statement = reader
        .connection
        .prepare_cached("SELECT name_id FROM call WHERE caller_id = ?1")?;
    let names: Vec<i64> = statement
        .query_map([caller], |row| row.get(0))?
        .collect::<Result<_>>()?;
    names
        .into_iter()
        .map(|name| call(reader, caller, name, depth))
        .collect()
}

fn call(reader: &Reader<'_>, caller: i64, callee: i64, depth: u32) -> Result<Call> {
    let lines: String = reader
        .connection
        .prepare_cached("SELECT lines FROM call WHERE caller_id = ?1 AND name_id = ?2")?
        .query_row([caller, callee], |row| row.get(0))?;
    let path = reader
        .files
        .of_symbol(caller)
        .map(|file| file.path.clone())
        .ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Ok(Call {
        caller: symbol_by_id(reader, caller)?,
        path,
        callee: name_text(reader, callee)?,
        lines: read_numbers(&lines)
            .map(|line| u32::try_from(line).unwrap_or(u32::MAX))
            .collect(),
        depth,
    })
}

fn callables(reader: &Reader<'_>, name: &str) -> Result<Vec<i64>> {
    let mut statement = reader.connection.prepare_cached(
        "SELECT s.id FROM symbol s JOIN name n ON n.id = s.name_id
         WHERE n.name = ?1 AND s.body_line > 0
           AND s.kind IN ('function', 'method', 'constructor', 'macro') ORDER BY s.id",
    )?;
    let ids = statement.query_map([name], |row| row.get(0))?;
    ids.collect()
}
