//! Plan for a request in words: what it names exactly, what it nearly
//! names, what speaks of the same things, and who uses that.

mod exact;
mod harness;
mod likely;
mod related;
mod scoring;
mod users;

pub(crate) use harness::headline;

use super::Plan;
use super::crash::stack_lines;
use super::picks::Picks;
use crate::engine::Engine;
use crate::engine::frames::Located;
use crate::intent::{Intent, detect, is_to_do, said_by_intent};
use crate::words::{meaningful, split_words, stem};

/// Tokens after which only what matters much is still taken. Answers get
/// worse with length, and a request names few things.
const ENOUGH: usize = 800;
/// The same when a harness saw what is wrong: much may have led there.
const ENOUGH_FROM_HARNESS: usize = 2_700;
/// Limit on how many of what was chosen are followed to what belongs to them.
const FOLLOWED: usize = 5;

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
    let mut mentions = Vec::new();
    let beside = (&mut picks, &mut mentions);
    users::add(engine, &primary, intent.shares(), beside);
    if !by_name {
        let stems = asked_for(&spoken, intent);
        related::add(engine, &primary, &stems, &mut picks);
        mentions.extend(related::elsewhere(engine, &primary, &stems));
    }
    if picks.is_empty() {
        likely::safety_net(engine, &spoken, &mut picks);
    }
    Plan {
        intent: intent.as_str().to_owned(),
        confidence,
        stack: stack_lines(located),
        wanted: picks.into_wanted(),
        heads,
        most_heads: usize::MAX,
        enough: if located.is_empty() {
            ENOUGH
        } else {
            ENOUGH_FROM_HARNESS
        },
        mentions,
        shares: intent.shares(),
        with_documents: intent.wants_documents(),
    }
}

/// The stems of a request that say what it is about: what shall be done with
/// that is told by the intent.
fn asked_for(text: &str, intent: Intent) -> Vec<String> {
    let mut stems = meaningful(text);
    let told: Vec<String> = said_by_intent(intent).map(stem).collect();
    let about: Vec<String> = stems
        .iter()
        .filter(|stem| !told.contains(stem))
        .cloned()
        .collect();
    if about.is_empty() {
        return stems;
    }
    // A request that begins with what to do says nothing of code by it.
    let first = split_words(text).into_iter().next().unwrap_or_default();
    stems = about;
    if stems.len() > 2 && is_to_do(&first) && stems.first() == Some(&stem(&first)) {
        stems.remove(0);
    }
    stems
}
