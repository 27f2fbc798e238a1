//! Call graph: callers, callees, and chains of calls from one to another.
//!
//! What a call means is decided in `resolution`; what only its name says is
//! followed too, and marked.

use crate::error::Result;
use crate::index::{Index, Reader};
use crate::relations::name::QualifiedName;
use crate::relations::resolution::{CallSite, Resolver};
use crate::relations::{read_numbers, symbol_by_id};
use crate::symbol::{Call, Symbol};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Limit on how many definitions a search along the calls may visit.
const VISITED: usize = 50_000;

impl Index {
    /// Returns who calls a definition, and who calls those, up to a depth; nearest first,
    /// then by path and line. At most `limit` calls.
    pub fn callers(&self, name: &str, depth: u32, limit: usize) -> Result<Vec<Call>> {
        let Some(wanted) = QualifiedName::read(name) else {
            return Ok(Vec::new());
        };
        let start = self.definitions(name)?.symbols;
        self.read(|reader| {
            let mut resolver = Resolver::new(reader);
            let ids: BTreeSet<i64> = start.iter().map(|symbol| symbol.id).collect();
            let mut seen = ids.clone();
            let level = vec![(wanted.name, ids)];
            by_levels((depth, limit), level, |level, depth| {
                let mut calls = Vec::new();
                for (name, ids) in level {
                    calls.extend(callers_of(&mut resolver, reader, (&name, &ids), depth)?);
                }
                in_order(&mut calls);
                let callers = calls.iter().filter_map(|call| call.caller.as_ref());
                let new = callers.filter(|caller| seen.insert(caller.id));
                let next = new.map(|caller| (caller.name.clone(), BTreeSet::from([caller.id])));
                let next = next.collect();
                Ok((calls, next))
            })
        })
    }

    /// Returns what a function calls, and what that calls, up to a depth; nearest
    /// first, then by path and line. At most `limit` calls.
    pub fn callees(&self, name: &str, depth: u32, limit: usize) -> Result<Vec<Call>> {
        let start = self.definitions(name)?.symbols;
        self.read(|reader| {
            let mut resolver = Resolver::new(reader);
            let mut seen: BTreeSet<i64> = start.iter().map(|symbol| symbol.id).collect();
            let level = seen.iter().copied().collect();
            by_levels((depth, limit), level, |level, depth| {
                let mut calls = Vec::new();
                let mut next = Vec::new();
                for caller in level {
                    for site in resolver.sites_in(caller)? {
                        let meaning = resolver.meaning(&site)?;
                        calls.push(call(reader, &site, depth, meaning.first())?);
                        let targets = meaning.into_iter().map(|(id, _)| id);
                        next.extend(targets.filter(|id| seen.insert(*id)));
                    }
                }
                in_order(&mut calls);
                Ok((calls, next))
            })
        })
    }

    /// The calls that one definition makes, in the order of their names.
    pub fn calls_in(&self, symbol: &Symbol) -> Result<Vec<Call>> {
        self.read(|reader| {
            let mut resolver = Resolver::new(reader);
            let sites = resolver.sites_in(symbol.id)?;
            let calls = sites.into_iter().map(|site| {
                let meaning = resolver.meaning(&site)?;
                call(reader, &site, 1, meaning.first())
            });
            calls.collect()
        })
    }

    /// The shortest chain of calls from one function to another; empty when
    /// there is none. Calls that only their names resolve are followed when no
    /// chain does without them.
    pub fn call_path(&self, from: &str, to: &str) -> Result<Vec<Call>> {
        let start = self.definitions(from)?.symbols;
        let targets = self.definitions(to)?.symbols;
        let Some(target) = QualifiedName::read(to) else {
            return Ok(Vec::new());
        };
        self.read(|reader| {
            let sql = "SELECT id FROM name WHERE name = ?1";
            let Some(name) = reader.value(sql, [&target.name])? else {
                return Ok(Vec::new());
            };
            let start: Vec<i64> = start.iter().map(|symbol| symbol.id).collect();
            let targets: BTreeSet<i64> = targets.iter().map(|symbol| symbol.id).collect();
            let mut resolver = Resolver::new(reader);
            let mut steps = search(&mut resolver, &start, (name, &targets), false)?;
            if steps.is_empty() {
                steps = search(&mut resolver, &start, (name, &targets), true)?;
            }
            let calls = (1..).zip(steps).map(|(depth, (site, target, by_name))| {
                call(reader, &site, depth, Some(&(target, by_name)))
            });
            calls.collect()
        })
    }
}

/// A call on the way, the definition that it leads to, and whether only its name
/// says so.
type Step = (CallSite, i64, bool);

/// Breadth first over definitions.
fn search(
    resolver: &mut Resolver<'_>,
    start: &[i64],
    (name, targets): (i64, &BTreeSet<i64>),
    with_names: bool,
) -> Result<Vec<Step>> {
    // Per definition that was reached, the call that led to it first.
    let mut reached: BTreeMap<i64, Step> = BTreeMap::new();
    let mut queue: VecDeque<i64> = start.iter().copied().collect();
    while let Some(caller) = queue.pop_front() {
        for site in resolver.sites_in(caller)? {
            let meaning = resolver.meaning(&site)?;
            // What the tree does not define is reached by its name.
            let is_outside = targets.is_empty() && site.name == name;
            if is_outside {
                return Ok(trace(&reached, (site, 0, false)));
            }
            let followed = meaning.into_iter();
            for (id, by_name) in followed.filter(|(_, by_name)| with_names || !by_name) {
                if targets.contains(&id) {
                    return Ok(trace(&reached, (site, id, by_name)));
                }
                if !start.contains(&id) && !reached.contains_key(&id) && reached.len() < VISITED {
                    reached.insert(id, (site.clone(), id, by_name));
                    queue.push_back(id);
                }
            }
        }
    }
    Ok(Vec::new())
}

fn trace(reached: &BTreeMap<i64, Step>, last: Step) -> Vec<Step> {
    let mut steps = vec![last];
    while let Some(step) = steps.last().and_then(|step| reached.get(&step.0.caller)) {
        steps.push(step.clone());
    }
    steps.reverse();
    steps
}

/// Follows calls level by level, up to a depth and a number of them: each level gives its calls
/// and what the next one asks about.
fn by_levels<T>(
    (deepest, limit): (u32, usize),
    mut level: Vec<T>,
    mut follow: impl FnMut(Vec<T>, u32) -> Result<(Vec<Call>, Vec<T>)>,
) -> Result<Vec<Call>> {
    let mut found = Vec::new();
    for depth in 1..=deepest {
        let (calls, next) = follow(level, depth)?;
        found.extend(calls);
        level = next;
        if level.is_empty() || found.len() >= limit {
            break;
        }
    }
    found.truncate(limit);
    Ok(found)
}

fn in_order(calls: &mut [Call]) {
    calls.sort_by(|a, b| {
        (&a.path, a.lines.first(), &a.callee).cmp(&(&b.path, b.lines.first(), &b.callee))
    });
}

fn callers_of(
    resolver: &mut Resolver<'_>,
    reader: &Reader<'_>,
    (name, ids): (&str, &BTreeSet<i64>),
    depth: u32,
) -> Result<Vec<Call>> {
    let mut calls = Vec::new();
    for site in resolver.sites_of(name)? {
        let meaning = resolver.meaning(&site)?;
        let target = meaning.iter().find(|(id, _)| ids.contains(id));
        if target.is_some() || ids.is_empty() {
            calls.push(call(reader, &site, depth, target)?);
        }
    }
    Ok(calls)
}

fn call(
    reader: &Reader<'_>,
    site: &CallSite,
    depth: u32,
    target: Option<&(i64, bool)>,
) -> Result<Call> {
    let file = reader.files.of_symbol(site.caller);
    let file = file.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let by_name = target.is_some_and(|(_, by_name)| *by_name);
    let target = target.map_or(Ok(None), |(id, _)| symbol_by_id(reader, *id))?;
    Ok(Call {
        caller: symbol_by_id(reader, site.caller)?,
        path: file.path.clone(),
        callee: site.callee.clone(),
        by_name: by_name && target.is_some(),
        target,
        lines: read_numbers(&site.lines).collect(),
        depth,
    })
}
