//! Probes: what an expression holds at a line when a PoV runs.
//!
//! It is often what tells the cause of a crash from its symptom. A question
//! names a line of the pristine tree; it is asked of the unpatched build or of
//! an attempt's, where the line may have moved. Debuggers give the answer
//! ([`Target::probe`]); this module maps lines, asks all questions of a build
//! in one run, and puts what was seen into words that are the same from run to
//! run. What this module deliberately does not do: decide which questions are
//! worth asking.

mod expression;
mod told;

pub use expression::Expression;

use crate::feedback::LineMap;
use crate::ladder::AttemptFacts;
use crate::target::{Baseline, BuildKind, Pov, Target};
use crate::{Build, TargetError};
use patchwright_source::{Tree, TreePath};
use serde::{Deserialize, Serialize};

/// One question, in terms of the pristine tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The file.
    pub path: TreePath,
    /// The line, counted from one.
    pub line: u32,
    /// What is asked for.
    pub expression: Expression,
}

/// One value, and the hits in a row at which it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen(pub String, pub u64, pub u64);

/// What a debugger saw of one probe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sight {
    /// How often the line was come to.
    pub hits: u64,
    /// The lines where that was: another one than asked where that holds no code.
    pub lines: Vec<u32>,
    /// The first different values.
    pub first: Vec<Seen>,
    /// The last different values.
    pub last: Vec<Seen>,
    /// The least number, and its hit.
    pub least: Option<(i128, u64)>,
    /// The greatest number, and its hit.
    pub most: Option<(i128, u64)>,
    /// The lines of the file that hold code, where the line was never come to.
    pub code: Vec<u32>,
    /// Whether the debugger knows the file at all.
    pub known: bool,
    /// Whether the compiler kept no value at the line.
    #[serde(default)]
    pub lost: bool,
    /// What was seen at the nearest line of the function that has one instead.
    #[serde(default)]
    pub near: Option<Box<Sight>>,
}

/// What a debugger saw of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sights {
    /// How the program ended: `exit status 1`, `a signal`, `time`, `unknown`.
    pub ended: String,
    /// Why nothing could be seen.
    pub problem: Option<String>,
    /// Each probe, in the order of the questions.
    pub probes: Vec<Sight>,
}

/// Asks all questions in one run of a PoV, on the unpatched build or on an
/// attempt's. One text for each question, in order.
pub async fn probe(
    target: &dyn Target,
    baseline: &Baseline,
    attempt: Option<&AttemptFacts>,
    questions: &[Probe],
) -> Result<Vec<String>, TargetError> {
    let Some(pov) = pov(target, baseline) else {
        let reason = "there is no PoV that could be run";
        return Ok(questions.iter().map(|_| reason.to_owned()).collect());
    };
    let name = target.task().build_of(pov);
    let build = match attempt {
        Some(attempt) => {
            let build = target.build(&attempt.changes, &name, BuildKind::Incremental);
            Some(build.await?)
        }
        None => baseline.builds.get(&name).cloned(),
    };
    let Some(build) = build.filter(Build::succeeded) else {
        let reason = "there is no build that could be run";
        return Ok(questions.iter().map(|_| reason.to_owned()).collect());
    };
    let maps: Vec<Option<LineMap>> = questions
        .iter()
        .map(|question| line_map(target, attempt?, &question.path))
        .collect();
    let asked: Vec<Probe> = questions
        .iter()
        .zip(&maps)
        .map(|(question, map)| Probe {
            path: patched_path(attempt, &question.path),
            line: map
                .as_ref()
                .map_or(question.line, |map| map.patched(question.line)),
            expression: question.expression.clone(),
        })
        .collect();
    let sights = target.probe(&build, pov, &asked).await?;
    Ok(asked
        .iter()
        .zip(&maps)
        .enumerate()
        .map(|(index, (asked, map))| told::answer(asked, map.as_ref(), &sights, index))
        .collect())
}

/// The PoV that is run: the first that crashes here.
fn pov<'a>(target: &'a dyn Target, baseline: &Baseline) -> Option<&'a Pov> {
    let povs = &target.task().povs;
    let crashing = povs
        .iter()
        .zip(&baseline.povs)
        .find(|(_, before)| before.reproduces());
    crashing.map(|(pov, _)| pov).or(povs.first())
}

fn patched_path(attempt: Option<&AttemptFacts>, path: &TreePath) -> TreePath {
    attempt
        .and_then(|attempt| attempt.changes.renamed.get(path))
        .unwrap_or(path)
        .clone()
}

/// The lines of a file that the attempt changes.
fn line_map(target: &dyn Target, attempt: &AttemptFacts, path: &TreePath) -> Option<LineMap> {
    let patched = attempt
        .changes
        .files
        .get(&patched_path(Some(attempt), path))?;
    let pristine = Tree::open(&target.task().tree).ok()?.read(path).ok()?;
    Some(LineMap::between(
        &String::from_utf8_lossy(pristine.bytes()),
        &String::from_utf8_lossy(patched),
    ))
}
