//! The ladder: the checks of an attempt, in order, one a call.
//!
//! A caller climbs as long as rungs hold and keeps what he was given; so a run
//! that was cut off goes on where it stood. What a rung could not check it says
//! with `None`; what broke in the machinery is an error and never a verdict.

mod known;

use crate::rung;
use crate::target::{Baseline, Target};
use crate::{Changes, TargetError};
use patchwright_source::TreePath;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Instant;

/// The rungs, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RungName {
    /// Every edit was located and allowed.
    Applies,
    /// No new syntax error.
    Parses,
    /// The build command succeeds.
    Builds,
    /// Every PoV ran, and none crashes or hangs.
    Silent,
    /// No test fails that passed before.
    Tested,
    /// Mutations of the PoVs do not crash it either.
    Robust,
    /// On harmless inputs it does what it did.
    #[serde(rename = "same elsewhere")]
    SameElsewhere,
    /// The diff hides nothing and deletes nothing.
    Reviewed,
}

impl RungName {
    /// All of them, in order.
    pub const ALL: [Self; 8] = [
        Self::Applies,
        Self::Parses,
        Self::Builds,
        Self::Silent,
        Self::Tested,
        Self::Robust,
        Self::SameElsewhere,
        Self::Reviewed,
    ];

    /// The name as reports spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Applies => "applies",
            Self::Parses => "parses",
            Self::Builds => "builds",
            Self::Silent => "silent",
            Self::Tested => "tested",
            Self::Robust => "robust",
            Self::SameElsewhere => "same elsewhere",
            Self::Reviewed => "reviewed",
        }
    }

    /// The rung above.
    pub fn next(self) -> Option<Self> {
        Self::ALL.into_iter().find(|rung| *rung > self)
    }
}

impl fmt::Display for RungName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What climbing one rung showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RungResult {
    /// Which rung.
    pub name: RungName,
    /// Whether it holds; nothing when it could not be climbed.
    pub holds: Option<bool>,
    /// Why, in one line.
    pub reason: String,
    /// Wall time.
    pub seconds: f64,
    /// What the commands printed.
    pub log: String,
    /// What was counted.
    pub counts: BTreeMap<String, u64>,
    /// What a repairer should read, where the rung does not hold.
    pub feedback: Option<String>,
    /// Inputs that refute the patch and can serve as PoVs from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<FoundInput>,
    /// Whether climbing again would show the same: nothing was flaky, no limit
    /// struck, and no search was cut short by its time.
    #[serde(default)]
    pub settled: bool,
}

/// An input that a rung came upon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundInput {
    /// The input.
    pub bytes: Vec<u8>,
    /// What it does.
    pub reason: String,
    /// The PoV that it was made from, by name; it is run the same way.
    #[serde(default)]
    pub pov: String,
}

impl RungResult {
    /// A result without log, counts and feedback.
    pub(crate) fn new(name: RungName, holds: Option<bool>, reason: impl Into<String>) -> Self {
        Self {
            name,
            holds,
            reason: reason.into(),
            seconds: 0.0,
            log: String::new(),
            counts: BTreeMap::new(),
            feedback: None,
            found: Vec::new(),
            settled: false,
        }
    }

    /// The same, and whether climbing again would show it again.
    pub(crate) fn settled(mut self, settled: bool) -> Self {
        self.settled = settled;
        self
    }

    pub(crate) fn log(mut self, log: impl Into<String>) -> Self {
        self.log = log.into();
        self
    }

    pub(crate) fn feedback(mut self, feedback: impl Into<String>) -> Self {
        self.feedback = Some(feedback.into());
        self
    }

    pub(crate) fn count(mut self, what: &str, number: u64) -> Self {
        self.counts.insert(what.to_owned(), number);
        self
    }
}

/// Lines that an attempt touches in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// The file, by its new path.
    pub path: String,
    /// First and last line of each changed range in the pristine file.
    pub old: Vec<(u32, u32)>,
    /// The same in the patched file.
    pub new: Vec<(u32, u32)>,
    /// Names of the functions around them.
    pub functions: Vec<String>,
}

/// An attempt, as the patcher left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptFacts {
    /// The changed files.
    pub changes: Changes,
    /// The same as a unified diff against the pristine tree.
    pub diff: String,
    /// Whether every edit was located and allowed; otherwise why not, for the model.
    pub applies: Result<(), String>,
    /// Whether no new syntax error was made; otherwise which, for the model.
    pub parses: Result<(), String>,
    /// What it touches.
    pub touched: Vec<Touched>,
    /// Inputs that refuted other attempts: PoVs besides those of the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<FoundInput>,
}

impl Default for AttemptFacts {
    /// An attempt that changes nothing.
    fn default() -> Self {
        Self {
            changes: Changes::default(),
            diff: String::new(),
            applies: Ok(()),
            parses: Ok(()),
            touched: Vec::new(),
            found: Vec::new(),
        }
    }
}

impl AttemptFacts {
    /// The pristine path of each changed file that existed before.
    pub fn files(&self) -> Vec<&TreePath> {
        self.changes
            .files
            .keys()
            .chain(&self.changes.deleted)
            .chain(self.changes.renamed.keys())
            .collect()
    }
}

/// Climbs one rung. The rungs below must have been climbed and hold.
pub async fn climb(
    target: &dyn Target,
    baseline: &Baseline,
    attempt: &AttemptFacts,
    climbed: &[RungResult],
    next: RungName,
) -> Result<RungResult, TargetError> {
    let started = Instant::now();
    if let Some(broken) = climbed
        .iter()
        .find(|rung| rung.name < next && rung.holds == Some(false))
    {
        let reason = format!("the rung {:?} below does not hold", broken.name.name());
        return Ok(RungResult::new(next, None, reason));
    }
    let known = known::Known::of(target, baseline, attempt, next);
    let mut result = if let Some(result) = known.recall().await {
        result
    } else {
        let result = climb_anew(target, baseline, attempt, next).await?;
        known.keep(&result).await;
        result
    };
    result.seconds = started.elapsed().as_secs_f64();
    Ok(result)
}

async fn climb_anew(
    target: &dyn Target,
    baseline: &Baseline,
    attempt: &AttemptFacts,
    next: RungName,
) -> Result<RungResult, TargetError> {
    Ok(match next {
        RungName::Applies => rung::applies::climb(attempt),
        RungName::Parses => rung::parses::climb(attempt),
        RungName::Builds => rung::builds::climb(target, attempt).await?,
        RungName::Silent => rung::silent::climb(target, baseline, attempt).await?,
        RungName::Tested => rung::tested::climb(target, baseline, attempt).await?,
        RungName::Robust => rung::robust::climb(target, baseline, attempt).await?,
        RungName::Reviewed => rung::reviewed::climb(target, baseline, attempt),
        RungName::SameElsewhere => rung::same_elsewhere::climb(target, baseline, attempt).await?,
    })
}
