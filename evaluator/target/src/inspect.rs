//! Inspection: runs the probes of one build under a debugger, in one run of a PoV.
//!
//! A probe names a line of the pristine tree. It is asked of the unpatched build or of an
//! attempt's, where the line may have moved. The caller decides which probes to ask.

use crate::probe::{Probe, answer};
use crate::runner::{Baseline, Build, BuildKind, InputFile, Pov, Target};
use crate::{Result, TargetError};
use patchwright_crash::feedback::LineMap;
use patchwright_source::{Changes, Tree};

/// Asks all probes in one run of a PoV, or of an input that is run like it, on the unpatched build or on an attempt's.
/// Returns one text for each probe, in order.
pub async fn inspect(
    target: &dyn Target,
    baseline: &Baseline,
    changes: Option<&Changes>,
    input: Option<&[u8]>,
    questions: &[Probe],
) -> Result<Vec<String>> {
    let unanswered = |reason: &str| vec![reason.to_owned(); questions.len()];
    let Some(pov) = pov(target, baseline) else {
        return Ok(unanswered("there is no PoV that could be run"));
    };
    let name = target.task().build_of(pov);
    let build = match changes {
        Some(changes) => Some(target.build(changes, &name, BuildKind::Incremental).await?),
        None => baseline.builds.get(&name).cloned(),
    };
    let Some(build) = build.filter(Build::succeeded) else {
        return Ok(unanswered("there is no build that could be run"));
    };
    let root = &target.task().tree;
    let tree = Tree::open(root).map_err(|error| TargetError::tree(&error, root))?;
    let maps: Vec<Option<LineMap>> = questions
        .iter()
        .map(|question| LineMap::of_change(&tree, changes?, &question.path))
        .collect();
    let mut asked = questions.to_vec();
    for (probe, map) in asked.iter_mut().zip(&maps) {
        if let Some(changes) = changes {
            probe.path = changes.new_name(&probe.path).clone();
        }
        if let Some(map) = map {
            probe.line = map.patched(probe.line);
        }
    }
    let file = input.map(|bytes| InputFile::like(pov, bytes)).transpose()?;
    let pov = file.as_ref().map_or(pov, InputFile::pov);
    let observations = target.probe(&build, pov, &asked).await?;
    let answers = asked.iter().zip(&maps).enumerate();
    Ok(answers
        .map(|(index, (asked, map))| answer(asked, map.as_ref(), &observations, index))
        .collect())
}

/// Returns the PoV to run: the first that crashes here.
fn pov<'a>(target: &'a dyn Target, baseline: &Baseline) -> Option<&'a Pov> {
    let povs = &target.task().povs;
    let mut pairs = povs.iter().zip(&baseline.povs);
    let crashing = pairs.find(|(_, before)| before.reproduces());
    crashing.map(|(pov, _)| pov).or(povs.first())
}
