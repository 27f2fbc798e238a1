//! Plan for a request in words: what it names exactly, what it nearly
//! names, what speaks of the same things, and who uses that.

mod exact;
mod likely;
mod scoring;
mod users;

use super::{FOLLOWED, Heads, Picks, Plan};
use crate::engine::Engine;
use crate::error::Result;
use crate::intent::{Intent, detect};

pub(super) fn plan(engine: &Engine, text: &str, share: f64) -> Result<Plan> {
    let (intent, confidence) = detect(text);
    let mut picks = Picks::default();
    exact::add(engine, text, &mut picks)?;
    // Who asks for one thing by its name wants nothing that merely sounds like it.
    let by_name = matches!(intent, Intent::DefinitionLookup | Intent::UsageExploration)
        && picks.heaviest(1).iter().any(|one| one.weight >= 0.9);
    let mut heads = Vec::new();
    if !by_name {
        heads = likely::add(engine, text, (intent, share), &mut picks)?;
    }
    let primary = picks.heaviest(FOLLOWED);
    users::add(engine, &primary, intent, &mut picks)?;
    Ok(Plan {
        intent: intent.as_str().to_owned(),
        confidence,
        stack: Vec::new(),
        wanted: picks.heaviest(usize::MAX),
        heads: Heads {
            anywhere: Vec::new(),
            functions: heads,
            most: usize::MAX,
        },
        enough: engine.ranking.request.enough,
    })
}
