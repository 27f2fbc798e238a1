//! Answers about calls: who calls, what is called, and chains from one to another.

use super::{PREPARED, plain};
use crate::answer::{Answer, Hit, Miss};
use crate::engine::Engine;
use crate::error::or_nothing;
use crate::query::Query;
use crate::snippet::{Tier, place};
use crate::symbol::{Call, Symbol};

/// Marks a call whose definition only its name tells.
const BY_NAME: &str = " (by name only)";

impl Engine {
    pub(in crate::engine) fn answer_callers(
        &self,
        query: &Query,
        name: &str,
        depth: u32,
        skip: usize,
    ) -> Answer {
        let calls = or_nothing(self.index.callers(name, depth, PREPARED));
        if calls.is_empty() {
            return self.uncalled(query, name, skip);
        }
        let mut answer = Answer::new(query);
        let mut hits: Vec<(u32, Hit)> = calls
            .iter()
            .map(|call| (call.depth, self.call_hit(call)))
            .collect();
        hits.sort_by(|a, b| (a.0, &a.1.order).cmp(&(b.0, &b.1.order)));
        let hits = hits.into_iter().map(|(_, hit)| hit).collect();
        self.take_hits(&mut answer, hits, Tier::Low, skip);
        answer
    }

    /// What is never called by name is often called through a pointer: where it
    /// is used else leads there.
    fn uncalled(&self, query: &Query, name: &str, skip: usize) -> Answer {
        let mut answer = self.answer_references(query, name, skip);
        if answer.miss.is_none() {
            let note = format!(
                "nothing calls {} by name; shown is where else it is used, as a pointer to it may be called",
                plain(name)
            );
            answer.notes.insert(0, note);
        }
        answer
    }

    fn call_hit(&self, call: &Call) -> Hit {
        let line = call.lines.first().copied().unwrap_or(1);
        let mark = if call.by_name { BY_NAME } else { "" };
        let note = match &call.caller {
            Some(caller) => format!(
                "{} calls {}{mark}, depth {}; {} {}-{}",
                caller.name,
                call.callee,
                call.depth,
                caller.kind,
                caller.start_line,
                caller.end_line
            ),
            None => format!("calls {}{mark}, depth {}", call.callee, call.depth),
        };
        Hit {
            path: call.path.clone(),
            ranges: call.lines.iter().map(|line| (*line, *line)).collect(),
            inside: Vec::new(),
            symbols: call.caller.iter().map(Symbol::qualified).collect(),
            note: Some(note),
            sparse: true,
            order: self.near.order(&call.path, line),
        }
    }

    pub(in crate::engine) fn answer_callees(
        &self,
        query: &Query,
        name: &str,
        depth: u32,
    ) -> Answer {
        let calls = or_nothing(self.index.callees(name, depth, PREPARED));
        let mut answer = Answer::new(query);
        if calls.is_empty() {
            answer.miss = Some(if self.named(name).is_empty() {
                self.no_such_symbol(name)
            } else {
                Miss::NotFound {
                    what: format!("{name} calls nothing"),
                    nearest: Vec::new(),
                }
            });
            return answer;
        }
        let mut outside: Vec<&str> = Vec::new();
        for call in &calls {
            match &call.target {
                Some(symbol) => answer.listing.push(callee_line(call, symbol)),
                None if outside.contains(&call.callee.as_str()) => {}
                None => outside.push(&call.callee),
            }
        }
        answer.total = answer.listing.len();
        answer.shown = answer.total;
        if !outside.is_empty() {
            answer
                .listing
                .push(format!("not defined in the tree: {}", outside.join(", ")));
        }
        answer
    }

    pub(in crate::engine) fn answer_path(&self, query: &Query, from: &str, to: &str) -> Answer {
        for end in [from, to] {
            if self.named(end).is_empty() {
                return Answer::missed(query, self.no_such_symbol(end));
            }
        }
        let steps = or_nothing(self.index.call_path(from, to));
        let mut answer = Answer::new(query);
        if steps.is_empty() {
            answer.miss = Some(Miss::NotFound {
                what: format!(
                    "no chain of calls by name leads from {from} to {to}; calls through pointers are not followed"
                ),
                nearest: Vec::new(),
            });
            return answer;
        }
        let mut names = vec![plain(from)];
        names.extend(steps.iter().map(|step| {
            let mark = if step.by_name { BY_NAME } else { "" };
            format!("{}{mark}", step.callee)
        }));
        answer.note(names.join(" -> "));
        let hits = steps.iter().map(|step| self.call_hit(step)).collect();
        self.take_hits(&mut answer, hits, Tier::Low, 0);
        answer
    }
}

fn callee_line(call: &Call, symbol: &Symbol) -> String {
    let lines: Vec<String> = call.lines.iter().take(6).map(ToString::to_string).collect();
    let indent = "  ".repeat(call.depth.saturating_sub(1) as usize);
    let caller = match (&call.caller, call.depth) {
        (Some(caller), 2..) => format!("{} ", caller.name),
        _ => String::new(),
    };
    format!(
        "{indent}{caller}{}{} {} ({}), called at {}:{}",
        if caller.is_empty() {
            call.callee.clone()
        } else {
            format!("-> {}", call.callee)
        },
        if call.by_name { BY_NAME } else { "" },
        place(&symbol.path, symbol.start_line, symbol.end_line),
        symbol.kind,
        call.path.file_name(),
        lines.join(",")
    )
}
