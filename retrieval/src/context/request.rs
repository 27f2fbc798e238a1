//! Plan for a request in words: what it names exactly, what it nearly
//! names, what speaks of the same things, and who uses that.

mod exact;
mod harness;
mod likely;
mod related;
mod scoring;
mod users;

pub(crate) use harness::headline;

use super::crash::stack_lines;
use super::picks::Picks;
use super::{FOLLOWED, HeadScope, Heads, Plan};
use crate::engine::Engine;
use crate::engine::frames::Located;
use crate::intent::{Intent, detect};

/// Tokens after which only what matters much is still taken. Answers get
/// worse with length, and a request names few things.
const ENOUGH: f64 = 800.0;

pub(super) fn plan(engine: &Engine, text: &str, located: &[Located]) -> Plan {
    let (intent, confidence) = detect(text);
    let mut picks = Picks::default();
    let spoken = if located.is_empty() {
        text.to_owned()
    } else {
        harness::add(engine, located, &mut picks);
        harness::headline(text)
    };
    if picks.is_empty() {
        exact::add(engine, &spoken, &mut picks);
    }
    // Who asks for one thing by its name wants nothing that merely sounds like it.
    let by_name = matches!(intent, Intent::DefinitionLookup | Intent::UsageExploration)
        && picks.heaviest(1).iter().any(|one| one.weight >= 0.9);
    let mut heads = Vec::new();
    if !by_name {
        heads = likely::add(engine, &spoken, intent, &mut picks);
    }
    let primary = picks.heaviest(FOLLOWED);
    users::add(engine, &primary, intent, &mut picks);
    if !by_name {
        related::add(engine, &primary, &mut picks);
    }
    Plan {
        intent: intent.as_str().to_owned(),
        confidence,
        stack: stack_lines(located),
        wanted: picks.into_wanted(),
        heads: Heads {
            functions: heads,
            scope: HeadScope::ShownFiles,
        },
        enough: ENOUGH,
    }
}
