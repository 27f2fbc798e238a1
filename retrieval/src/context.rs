//! The code that a request or a crash report calls for, without any query.
//!
//! A plan says what is wanted and how much ([`crash`], [`request`]); packing
//! cuts it to the budget; rendering makes the text that a model reads. No
//! model is asked and no network is used.

mod card;
mod crash;
mod form;
mod pack;
mod render;
mod reported;
mod request;
#[cfg(test)]
pub(crate) mod tests;

use crate::engine::Engine;
use crate::error::Result;
use crate::intent::detect;
use crate::snippet::Snippet;
use crate::symbol::Symbol;
use itertools::Itertools;
use patchwright_source::CrashFrame;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Instant;

/// The budget that is used when a request names none, in tokens. Models answer
/// worse with more context: precise beats plenty.
pub const DEFAULT_BUDGET: usize = 8_000;

/// The request that a context is made for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// A request in words, or the text of a crash report.
    pub text: String,
    /// The frames of the crash report, when it is one.
    pub frames: Vec<CrashFrame>,
    /// Functions and places that the reporter names: weaker than frames.
    pub named: Vec<CrashFrame>,
    /// Lines of code that the reporter quotes, and literals such as the name of an option.
    pub quoted: Vec<String>,
    /// Tokens that the context may take. 0 lets the request decide, up to
    /// [`DEFAULT_BUDGET`]; more than 2,500 brings more code.
    pub budget: usize,
}

impl Request {
    /// The most tokens that the context may take.
    fn most(&self) -> usize {
        match self.budget {
            0 => DEFAULT_BUDGET,
            budget => budget,
        }
    }

    /// Returns how many times the usual context is asked for.
    fn share(&self) -> f64 {
        (self.budget as f64 / USUAL as f64).max(1.0)
    }
}

/// The tokens that a context usually takes when no budget is named.
const USUAL: usize = 2_500;

/// Lines that a comment above a definition may have to belong to it.
pub(crate) const COMMENT: u32 = 8;
/// Limit on how many of what matters most are followed to what belongs to them.
pub(crate) const FOLLOWED: usize = 4;

/// The code that belongs to a request, packed to its budget.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// The recognised intent: `BUG_FIX`, `REFACTOR`, ...
    pub intent: String,
    /// Confidence in the intent, 0 to 1.
    pub confidence: f64,
    /// The size of the rendered text in tokens, at four characters each.
    pub tokens: usize,
    /// Time taken in milliseconds, with the index already open.
    pub elapsed_ms: f64,
    /// The frames of the crash that lie in the tree, one line each.
    pub stack: Vec<String>,
    /// The code, most important first.
    pub snippets: Vec<Snippet>,
    /// Types, macros and variables that the code names, by cards.
    pub definitions: Vec<Card>,
}

/// Describes how much a card says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The declaration, and the first line of its documentation.
    Compact,
    /// That, what it lies in, and its members.
    Standard,
    /// Its code.
    Full,
}

/// A definition in brief: what it is, where, and as much of it as it is worth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Level of detail.
    pub form: Form,
    /// `struct`, `macro`, ...
    pub kind: String,
    /// The name with its scope.
    pub name: String,
    /// `path:first-last`.
    pub place: String,
    /// The text, line by line.
    pub text: String,
}

/// A definition that somebody else chose for a context.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The number of the definition.
    pub id: i64,
    /// Weight, 0 to 1.
    pub weight: f64,
    /// Why it is shown.
    pub why: String,
}

/// One function or type that shall be shown.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) symbol: Symbol,
    /// Weight; the top of the crash stack has 1.
    pub(crate) weight: f64,
    /// The lines in it that matter most.
    pub(crate) lines: Vec<u32>,
    /// Most lines of it that are shown; 0 leaves that to its weight.
    pub(crate) body: usize,
    /// True where some lines are shown of it whatever it weighs.
    pub(crate) kept: bool,
    /// Why it is shown, for the reader.
    pub(crate) why: String,
}

impl Wanted {
    /// A definition that is wanted among the code, as much of it as it weighs.
    pub(crate) fn new(symbol: Symbol, weight: f64, why: impl Into<String>) -> Self {
        Self {
            symbol,
            weight,
            lines: Vec::new(),
            body: 0,
            kept: false,
            why: why.into(),
        }
    }
}

/// Choices for a context, by symbol number: each definition once, at its highest weight. The reasons
/// for weights stand elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Picks(BTreeMap<i64, Wanted>);

impl Picks {
    /// Returns whether a function of this name with its code is among them.
    pub(crate) fn has_body_of(&self, name: &str) -> bool {
        let mut all = self.0.values().map(|one| &one.symbol);
        all.any(|symbol| symbol.name == name && symbol.body_line.is_some())
    }

    /// Returns the weight of a definition, 0 where it was not chosen.
    pub(crate) fn weight_of(&self, id: i64) -> f64 {
        self.0.get(&id).map_or(0.0, |one| one.weight)
    }

    /// Has a chosen definition shown whatever else there is.
    pub(crate) fn keep(&mut self, id: i64) {
        if let Some(one) = self.0.get_mut(&id) {
            one.kept = true;
        }
    }

    pub(crate) fn add(&mut self, symbol: &Symbol, weight: f64, lines: &[u32], why: &str) {
        self.add_brief(symbol, (weight, 0), lines, why);
    }

    /// Adds a definition of which at most so many lines shall be shown.
    pub(crate) fn add_brief(
        &mut self,
        symbol: &Symbol,
        (weight, body): (f64, usize),
        lines: &[u32],
        why: &str,
    ) {
        let fresh = || Wanted::new(symbol.clone(), 0.0, why);
        let wanted = self.0.entry(symbol.id).or_insert_with(fresh);
        if weight > wanted.weight {
            wanted.weight = weight;
            wanted.body = body;
            // A reason that names lines stays where a heavier one names none.
            if wanted.lines.is_empty() || !lines.is_empty() {
                why.clone_into(&mut wanted.why);
            }
        }
        let all = wanted.lines.iter().chain(lines);
        wanted.lines = all.copied().unique().collect();
    }

    /// So many of them, the heaviest first; of equals in the order of their places.
    pub(crate) fn heaviest(&self, count: usize) -> Vec<Wanted> {
        let mut all: Vec<Wanted> = self.0.values().cloned().collect();
        all.sort_by(|a, b| {
            let by_weight = b.weight.total_cmp(&a.weight);
            by_weight.then_with(|| a.symbol.by_place(&b.symbol))
        });
        all.truncate(count);
        all
    }
}

/// Functions that are named without their code.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    /// Those that are named wherever they lie.
    pub(crate) anywhere: Vec<Symbol>,
    /// Those that are named where code of their file is shown, the likeliest first.
    pub(crate) functions: Vec<Symbol>,
    /// Limit on how many are named.
    pub(crate) most: usize,
}

/// The parts of a context before it is cut to the budget.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) intent: String,
    pub(crate) confidence: f64,
    pub(crate) stack: Vec<String>,
    pub(crate) wanted: Vec<Wanted>,
    /// Further functions, to be named by a line each.
    pub(crate) heads: Heads,
    /// Tokens after which only what matters much is still taken.
    pub(crate) enough: f64,
}

impl Plan {
    /// Widens the plan to so many times the usual: weights fall with each step away from the
    /// crash, and who asks for more code asks for what lies further away.
    fn widen(&mut self, share: f64, frames_kept: f64) {
        self.enough *= share;
        for one in &mut self.wanted {
            one.weight = one.weight.powf(share.recip());
        }
        let frames = self.wanted.iter_mut().filter(|one| one.kept);
        for frame in frames.skip((frames_kept * share) as usize) {
            frame.kept = false;
        }
    }
}

impl Engine {
    /// The code that a request or a crash report calls for, within its budget.
    pub fn context(&self, request: &Request) -> Result<Context> {
        let started = Instant::now();
        let _hold = self.index.hold();
        let located = self.locate(&request.frames)?;
        let mut plan = if located.is_empty() {
            request::plan(self, &request.text, request.share())?
        } else {
            let mut plan = crash::plan(self, &located)?;
            let beside = self.beside_stack(request, &plan.wanted)?;
            plan.wanted.extend(beside);
            plan
        };
        let named = self.named_by_reporter(request, &plan.wanted)?;
        plan.wanted.extend(named);
        plan.widen(request.share(), self.ranking.crash.frames);
        self.packed(&plan, request, started)
    }

    /// The context made of chosen definitions, packed to the request's budget.
    pub fn context_of(&self, request: &Request, choices: &[Choice]) -> Result<Context> {
        let started = Instant::now();
        let mut wanted = Vec::new();
        for choice in choices {
            let symbol = self.index.symbol(choice.id)?;
            wanted.extend(symbol.map(|symbol| Wanted::new(symbol, choice.weight, &choice.why)));
        }
        let (intent, confidence) = detect(&request.text);
        let plan = Plan {
            intent: intent.as_str().to_owned(),
            confidence,
            stack: crash::stack_lines(&self.locate(&request.frames)?),
            wanted,
            heads: Heads::default(),
            // Whoever chose knows what matters: the budget is the limit.
            enough: request.most() as f64,
        };
        self.packed(&plan, request, started)
    }

    fn packed(&self, plan: &Plan, request: &Request, started: Instant) -> Result<Context> {
        let context = pack::pack(self, plan, request.most());
        self.forget_texts();
        Ok(Context {
            elapsed_ms: started.elapsed().as_secs_f64() * 1000.0,
            ..context?
        })
    }
}

/// Tokens of a text: four characters each, which is within a fifth of what
/// tokenizers count for code and English.
pub(crate) fn tokens_of(text: &str) -> usize {
    text.len().div_ceil(4)
}
