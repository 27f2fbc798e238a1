//! Agreement: the behaviour of independent candidates on the same inputs.
//!
//! Where the unpatched program is wrong, it is no reference, and candidates that were
//! written apart from each other and behave alike are the best there is. They are
//! clustered by what they print and how they end, on inputs that are handed in, on given
//! inputs and on mutants of the PoVs.

use crate::evidence::{DoubtedInput, doubted};
use crate::given_inputs;
use crate::mutation::Mutator;
use crate::rung::first_way;
use crate::same_elsewhere::{ChallengeInput, shown};
use patchwright_record::{AgreedInput, Agreement, Split};
use patchwright_source::Changes;
use patchwright_target::Result;
use patchwright_target::runner::{
    Baseline, Build, BuildKind, Capture, InputRun, Inputs, Pov, Target,
};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Given inputs and mutants of the PoVs beside those that are handed in.
const GIVEN: usize = 40;
const DERIVED: usize = 60;
/// Time for all inputs of one candidate, and for one of them.
const TIME: Duration = Duration::from_secs(40);
const EACH: Duration = Duration::from_secs(10);
/// Inputs on which candidates differ that are shown.
const SPLITS: usize = 3;

/// The runs of one program by input.
pub(crate) type Runs = BTreeMap<usize, InputRun>;
/// A candidate by its number, and its runs.
type Behaviour = (u32, Runs);

#[derive(Debug, Clone)]
pub struct Candidate {
    pub number: u32,
    pub changes: Changes,
}

/// Compares the behaviour of candidates.
///
/// # Errors
/// When the machinery fails.
pub async fn agreement(
    target: &dyn Target,
    baseline: &Baseline,
    candidates: &[Candidate],
    inputs: &[ChallengeInput],
) -> Result<Agreement> {
    let started = Instant::now();
    let Some((pov, _, old)) = first_way(target, baseline)? else {
        return Ok(Agreement::default());
    };
    let inputs_run = inputs_of(target, pov, inputs)?;
    let run = async |build: &Build| runs(target, build, pov, &inputs_run).await;
    let (before, again) = (run(old).await?, run(old).await?);
    let mut behaviours: Vec<Behaviour> = Vec::new();
    for candidate in candidates {
        let name = target.task().build_of(pov);
        let build = target.build(&candidate.changes, &name, BuildKind::Incremental);
        let build = build.await?;
        if build.succeeded() {
            behaviours.push((candidate.number, run(&build).await?));
        }
    }
    let usable = usable((&before, &again), &behaviours);
    let mut found = Agreement {
        clusters: clusters(&behaviours, &usable),
        inputs: usable.len() as u64,
        ..Agreement::default()
    };
    for index in &usable {
        if let (Some(input), Some(old)) = (inputs.get(*index), before.get(index)) {
            compare_with(old, (*index, input), &behaviours, &mut found);
        }
    }
    let splits = usable.iter().filter_map(|index| {
        let groups = split(&behaviours, *index)?;
        let bytes = inputs_run.contents.get(*index)?;
        let named = inputs.get(*index).map(|input| input.name.clone());
        let input = DoubtedInput {
            name: named.unwrap_or_else(|| format!("input {index} of the comparison")),
            before: before.get(index).map(shown).unwrap_or_default(),
            ..doubted(pov, bytes)
        };
        Some(Split { input, groups })
    });
    found.splits = splits.take(SPLITS).collect();
    found.seconds = started.elapsed().as_secs_f64();
    Ok(found)
}

/// Returns the inputs that tell something. A program that differs from itself, or was not run,
/// tells nothing on an input. A crash names addresses, so two crashes are not compared.
fn usable((before, again): (&Runs, &Runs), behaviours: &[Behaviour]) -> Vec<usize> {
    let is_steady = |index: &usize, one: &InputRun| {
        let again = again.get(index);
        again.is_some_and(|other| one == other || one.is_failure())
    };
    let steady = before.iter().filter(|(index, one)| is_steady(index, one));
    let mut usable: Vec<usize> = steady.map(|(index, _)| *index).collect();
    usable.retain(|index| behaviours.iter().all(|(_, runs)| runs.contains_key(index)));
    usable
}

/// The runs of a program on inputs.
pub(crate) async fn runs(
    target: &dyn Target,
    build: &Build,
    pov: &Pov,
    inputs: &Inputs,
) -> Result<Runs> {
    let runs = target.run_inputs(build, pov, inputs).await?;
    Ok(runs.into_iter().map(|run| (run.index, run)).collect())
}

/// The inputs that the programs are run on: those that were handed in first.
pub(crate) fn inputs_of(
    target: &dyn Target,
    pov: &Pov,
    inputs: &[ChallengeInput],
) -> Result<Inputs> {
    let task = target.task();
    let mut contents: Vec<Vec<u8>> = inputs.iter().map(|input| input.bytes.clone()).collect();
    let given = given_inputs::contents(task, pov)?;
    contents.extend(given.into_iter().take(GIVEN));
    let povs = given_inputs::povs(task)?;
    contents.extend(povs.clone());
    contents.extend(Mutator::new(povs).take(DERIVED));
    Ok(Inputs {
        capture: Capture::Outputs,
        ..Inputs::new(contents, TIME, EACH)
    })
}

/// Returns the groups of candidates on an input, each with what it does; none where all
/// do the same or nobody agrees.
fn split(behaviours: &[Behaviour], index: usize) -> Option<Vec<(Vec<u32>, String)>> {
    let groups = clusters(behaviours, &[index]);
    let largest = groups.first().map_or(0, Vec::len);
    if groups.len() < 2 || largest < 2 {
        return None;
    }
    let with_answer = |members: Vec<u32>| {
        let first = members.first();
        let runs = behaviours.iter().find(|(number, _)| Some(number) == first);
        let run = runs.and_then(|(_, runs)| runs.get(&index));
        let shown = run.map(shown).unwrap_or_default();
        (members, shown)
    };
    Some(groups.into_iter().map(with_answer).collect())
}

/// Tells on an input that was handed in which candidates agree with each other and not with the
/// unpatched program, and which answer as it does where it accepts the input.
fn compare_with(
    old: &InputRun,
    (index, input): (usize, &ChallengeInput),
    behaviours: &[Behaviour],
    found: &mut Agreement,
) {
    let is_as_before = |(_, runs): &&Behaviour| runs.get(&index) == Some(old);
    let (same, apart): (Vec<_>, Vec<_>) = behaviours.iter().partition(is_as_before);
    let agreed = |attempts| AgreedInput {
        blob: input.bytes.clone().into(),
        attempts,
    };
    let groups = clusters(apart, &[index]).into_iter();
    found.apart.extend(groups.map(agreed));
    if old.ending.success() {
        let same = same.iter().map(|(number, _)| *number);
        found.as_before.push(agreed(same.collect()));
    }
}

/// The candidates that behave alike on these inputs, the largest group first.
fn clusters<'a>(
    behaviours: impl IntoIterator<Item = &'a Behaviour>,
    inputs: &[usize],
) -> Vec<Vec<u32>> {
    let mut groups: Vec<(Vec<Option<&InputRun>>, Vec<u32>)> = Vec::new();
    for (number, runs) in behaviours {
        let shown: Vec<Option<&InputRun>> = inputs.iter().map(|index| runs.get(index)).collect();
        match groups.iter_mut().find(|(known, _)| *known == shown) {
            Some((_, members)) => members.push(*number),
            None => groups.push((shown, vec![*number])),
        }
    }
    let mut clusters: Vec<Vec<u32>> = groups.into_iter().map(|(_, members)| members).collect();
    clusters.sort_by_key(|members| (std::cmp::Reverse(members.len()), members.first().copied()));
    clusters
}

#[cfg(test)]
mod tests {
    use super::{Candidate, agreement};
    use crate::same_elsewhere::ChallengeInput;
    use crate::tests::attempt;
    use patchwright_record::AgreedInput;
    use patchwright_target::runner::Target;
    use patchwright_target::test_support::{open, task};

    #[tokio::test]
    async fn candidates_are_clustered_by_what_they_do() {
        let folder = tempfile::tempdir().unwrap();
        let target = open(task(folder.path()), folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        let candidate = |number: u32, to: &str| Candidate {
            number,
            changes: attempt("if (n < 2)", to).changes,
        };
        let candidates = [
            candidate(1, "if (n < 2 || b[0] > 8)"),
            candidate(2, "if (b[0] >= 9 || n < 2)"),
            candidate(3, "if (n < 2 || b[0] > 5)"),
        ];
        let input = |bytes: [u8; 2]| ChallengeInput {
            name: String::new(),
            bytes: bytes.to_vec(),
        };
        let inputs = [input([3, 1]), input([7, 1]), input([200, 1])];
        let found = agreement(&target, &baseline, &candidates, &inputs);
        let found = found.await.unwrap();
        assert_eq!(found.clusters, [vec![1, 2], vec![3]], "{found:#?}");
        assert!(found.inputs > 3);
        // As before, answered differently by one, and refused by all.
        let told = |all: &[AgreedInput]| -> Vec<(Vec<u8>, Vec<u32>)> {
            let told = all.iter();
            told.map(|one| (one.blob.bytes().to_vec(), one.attempts.clone()))
                .collect()
        };
        let apart = [(vec![7, 1], vec![3]), (vec![200, 1], vec![1, 2, 3])];
        assert_eq!(told(&found.apart), apart);
        let as_before = [(vec![3, 1], vec![1, 2, 3]), (vec![7, 1], vec![1, 2])];
        assert_eq!(told(&found.as_before), as_before);
        let split = &found.splits[0];
        assert_eq!(split.input.blob.bytes(), [7, 1], "{found:#?}");
        let members: Vec<_> = split.groups.iter().map(|(members, _)| members).collect();
        assert_eq!(members, [&vec![1, 2], &vec![3]]);
        assert!(split.groups[0].1.starts_with("exit status 0"), "{split:#?}");
    }
}
