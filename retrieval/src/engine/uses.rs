//! Answers about how names are used: references, calls, implementations, likeness, and
//! SQL over all of it.

use crate::answer::{Answer, Answered, Hit, Miss};
use crate::engine::Engine;
use crate::engine::lookup::described;
use crate::error::Result;
use crate::relations::{QualifiedName, Similar};
use crate::snippet::{Tier, place};
use crate::symbol::{Call, Symbol, Use};
use itertools::Itertools;
use patchwright_source::TreePath;
use std::collections::BTreeMap;

/// Limit on how many uses or calls are put in order for one answer.
const PREPARED: usize = 600;
/// Limit on how many functions are shown as alike.
const ALIKE: usize = 8;

impl Engine {
    pub(super) fn answer_references(&self, mut answer: Answer, name: &str) -> Answered {
        let plain = plain(name);
        let mut uses = self.index.references(&plain)?;
        if uses.is_empty() {
            let what = format!("{plain} is defined and nothing in the tree uses it by name");
            return Err(self.without_hits(&plain, what)?);
        }
        answer.note(count_kinds(&uses));
        uses.sort_by_cached_key(|one| self.near.order(&one.path, one.line));
        uses.truncate(PREPARED);
        let hits = self.group_uses(&uses)?;
        self.with_hits(answer, hits, Tier::Low)
    }

    /// Says why a name has no hits: nothing defines it, or else what is given.
    fn without_hits(&self, name: &str, what: String) -> Result<Miss> {
        if self.named(name)?.is_empty() {
            return self.no_such_symbol(name);
        }
        Ok(Miss::nothing(what))
    }

    /// One hit per function, with every line in it that uses the name.
    fn group_uses(&self, uses: &[Use]) -> Result<Vec<Hit>> {
        let mut groups: BTreeMap<(TreePath, u32), Hit> = BTreeMap::new();
        for one in uses {
            let around = self.enclosing(&one.path, (one.line, one.line))?;
            let first = around.as_ref().map_or(0, |around| around.start_line);
            let order = self.near.order(&one.path, one.line);
            let hit = groups
                .entry((one.path.clone(), first))
                .or_insert_with(|| Hit {
                    symbols: around.iter().map(|around| around.name.clone()).collect(),
                    note: around.as_ref().map(described),
                    sparse: true,
                    ..self.hit(&one.path, one.line, Vec::new())
                });
            hit.ranges.push((one.line, one.line));
            hit.order = hit.order.clone().min(order);
        }
        Ok(groups
            .into_values()
            .sorted_by(|a, b| a.order.cmp(&b.order))
            .collect())
    }

    pub(super) fn answer_implementations(&self, answer: Answer, name: &str) -> Answered {
        let mut symbols = self.index.implementations(name)?;
        if symbols.is_empty() {
            let what = format!("nothing in the tree extends, implements or overrides {name}");
            return Err(self.without_hits(name, what)?);
        }
        symbols.sort_by_cached_key(|symbol| self.near.order(&symbol.path, symbol.name_line));
        let hits = symbols.iter().map(|one| self.head_hit(one, None)).collect();
        self.with_hits(answer, hits, Tier::High)
    }

    pub(super) fn answer_similar(&self, answer: Answer, name: &str) -> Answered {
        let mut symbols = self.named(name)?;
        symbols.retain(|symbol| symbol.kind.is_callable());
        symbols.sort_by_cached_key(|symbol| self.near.order(&symbol.path, symbol.name_line));
        let Some(symbol) = symbols.first() else {
            return Err(self.no_such_symbol(name)?);
        };
        let alike = self.index.similar(symbol, ALIKE)?;
        if alike.is_empty() {
            return Err(Miss::nothing(format!("no function is like {name}")));
        }
        let hit = |one: &Similar| {
            let mut note = format!("likeness {:.2}", one.likeness);
            if !one.shared.is_empty() {
                let shared = one.shared.get(..8).unwrap_or(&one.shared);
                note = format!("{note}; both call {}", shared.join(", "));
            }
            self.head_hit(&one.symbol, Some(note))
        };
        self.with_hits(answer, alike.iter().map(hit).collect(), Tier::High)
    }

    /// A definition by its signature alone.
    pub(super) fn head_hit(&self, symbol: &Symbol, note: Option<String>) -> Hit {
        let last = symbol.body_line.unwrap_or(symbol.name_line);
        let last = last.max(symbol.name_line).min(symbol.start_line + 8);
        let said = note.map_or(String::new(), |note| format!("; {note}"));
        let ranges = vec![(symbol.start_line, last)];
        Hit {
            symbols: vec![symbol.qualified()],
            note: Some(extent(symbol) + &said),
            sparse: true,
            ..self.hit(&symbol.path, symbol.name_line, ranges)
        }
    }

    pub(super) fn answer_sql(&self, mut answer: Answer, statement: &str) -> Answered {
        let found = self.index.sql(statement)?;
        answer.listing.push(found.columns.join(" | "));
        let rows = found.rows.iter().map(|row| row.join(" | "));
        answer.listing.extend(rows);
        answer.total = found.rows.len();
        answer.shown = answer.total;
        if found.rows.is_empty() {
            answer.listing.push("(no rows)".to_owned());
        }
        if found.more {
            answer.note(format!("only the first {} rows", found.rows.len()));
        }
        Ok(answer)
    }
}

/// The kind and the lines of a definition.
fn extent(symbol: &Symbol) -> String {
    format!("{} {}-{}", symbol.kind, symbol.start_line, symbol.end_line)
}

fn plain(name: &str) -> String {
    QualifiedName::read(name).map_or_else(|| name.to_owned(), |name| name.name)
}

fn count_kinds(uses: &[Use]) -> String {
    let kinds = uses.iter().map(|one| one.kind.as_str()).counts();
    let kinds = kinds.into_iter().sorted();
    let counted = kinds.map(|(kind, count)| format!("{count} {kind}"));
    format!("{} uses: {}", uses.len(), counted.format(", "))
}

impl Engine {
    pub(super) fn answer_callers(&self, answer: Answer, name: &str, depth: u32) -> Answered {
        let mut calls = self.index.callers(name, depth, PREPARED)?;
        if calls.is_empty() {
            // What is never called by name is often called through a pointer: where it is used
            // else leads there.
            let mut answer = self.answer_references(answer, name)?;
            let note = format!(
                "nothing calls {} by name; shown is where else it is used, as a pointer to it may be called",
                plain(name)
            );
            if answer.miss.is_none() {
                answer.notes.insert(0, note);
            }
            return Ok(answer);
        }
        calls.sort_by_cached_key(|call| {
            let line = call.lines.first().copied().unwrap_or(1);
            (call.depth, self.near.order(&call.path, line))
        });
        let hits = calls.iter().map(|call| self.call_hit(call)).collect();
        self.with_hits(answer, hits, Tier::Low)
    }

    fn call_hit(&self, call: &Call) -> Hit {
        let line = call.lines.first().copied().unwrap_or(1);
        let calls = format!("calls {}, depth {}", called(call), call.depth);
        let note = match &call.caller {
            Some(caller) => format!("{} {calls}; {}", caller.name, extent(caller)),
            None => calls,
        };
        let ranges = call.lines.iter().map(|line| (*line, *line)).collect();
        Hit {
            symbols: call.caller.iter().map(Symbol::qualified).collect(),
            note: Some(note),
            sparse: true,
            ..self.hit(&call.path, line, ranges)
        }
    }

    pub(super) fn answer_callees(&self, mut answer: Answer, name: &str, depth: u32) -> Answered {
        let calls = self.index.callees(name, depth, PREPARED)?;
        if calls.is_empty() {
            return Err(self.without_hits(name, format!("{name} calls nothing"))?);
        }
        answer.listing = calls.iter().filter_map(callee_line).collect();
        answer.total = answer.listing.len();
        answer.shown = answer.total;
        let outside = calls.iter().filter(|call| call.target.is_none());
        let outside = outside.map(|call| &call.callee).unique().join(", ");
        if !outside.is_empty() {
            let line = format!("not defined in the tree: {outside}");
            answer.listing.push(line);
        }
        Ok(answer)
    }

    pub(super) fn answer_path(&self, mut answer: Answer, from: &str, to: &str) -> Answered {
        for end in [from, to] {
            if self.named(end)?.is_empty() {
                return Err(self.no_such_symbol(end)?);
            }
        }
        let steps = self.index.call_path(from, to)?;
        if steps.is_empty() {
            let what = format!(
                "no chain of calls by name leads from {from} to {to}; calls through pointers are not followed"
            );
            return Err(Miss::nothing(what));
        }
        let mut names = vec![plain(from)];
        names.extend(steps.iter().map(called));
        answer.note(names.join(" -> "));
        let hits = steps.iter().map(|step| self.call_hit(step)).collect();
        self.with_hits(answer, hits, Tier::Low)
    }
}

/// The name of what is called; whether only the name tells which definition it is.
fn called(call: &Call) -> String {
    let mark = if call.by_name { " (by name only)" } else { "" };
    format!("{}{mark}", call.callee)
}

/// A call of what the tree defines.
fn callee_line(call: &Call) -> Option<String> {
    let symbol = call.target.as_ref()?;
    let lines = call.lines.iter().take(6).join(",");
    let indent = "  ".repeat(call.depth.saturating_sub(1) as usize);
    let caller = match (&call.caller, call.depth) {
        (Some(caller), 2..) => format!("{} -> ", caller.name),
        _ => String::new(),
    };
    Some(format!(
        "{indent}{caller}{} {} ({}), called at {}:{}",
        called(call),
        place(&symbol.path, symbol.start_line, symbol.end_line),
        symbol.kind,
        call.path.file_name(),
        lines
    ))
}
