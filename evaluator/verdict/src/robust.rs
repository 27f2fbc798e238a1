//! Rung *robust*: inputs made from the PoVs and harmless inputs by mutation do not cause the
//! crash again.
//!
//! Each input that makes the patched program crash or hang is run on the unpatched one as
//! well. The old crash (also at another place) refutes the patch, and so does a failure that
//! the unpatched program does not have. Another bug of the unpatched program is reported and
//! does not count. A harness that is a fuzzer searches for crashes itself for a part of the
//! time; a harness that takes many inputs gets many. Before that, second witnesses
//! ([`crate::witness`]) look at the PoVs and their nearest mutants.

mod bounds;
mod failure;
mod sources;

use crate::attempt::Ground;
use crate::evidence::{Doubt, DoubtedInput, FoundInput, Rung, RungName, doubted};
use crate::mutation::Mutator;
use crate::rung::feedback::FeedbackWriter;
use crate::rung::{Programs, Way, ways};
use crate::witness::{Failure, Testimonies};
pub(crate) use bounds::bounds;
use failure::FailureKind;
use patchwright_crash::feedback::input as input_text;
use patchwright_target::runner::{
    Baseline, Build, CommandLimits, InputRun, Inputs, Outcome, Target, content,
};
use patchwright_target::{Result, WorkTime};
pub(crate) use sources::is_fuzzer;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Executions after which another climb would hardly show more.
const ENOUGH: u64 = 1_000;
/// Mutants of the PoVs that are run in one way after which their search ends.
const MOST: u64 = 20_000;
/// Inputs that are run before their results are judged.
const CHUNK: usize = 512;
/// Failures of a chunk that are run again one by one.
const LOOKED_AT: usize = 8;
/// Least time for the first inputs, however much the fuzzer and the dictionary took: two
/// batches of a slow program.
const FIRST: Duration = Duration::from_secs(4);
/// Times the budget, by the clock on the wall, that a slow program may take beyond it to come to
/// the floor: as long as a busy machine may take for the budget itself.
const PATIENCE: u32 = 3;
/// Count of the inputs that second witnesses watched.
const WATCHED: &str = "inputs under a second witness";
/// Other crashes of the program that are told.
const MOST_OTHERS: usize = 8;
/// Reason why another crash is not held against the patch.
const OTHER: &str = "the unpatched program crashes on it in the same way";
/// Least and most time for one input.
const EACH: (Duration, Duration) = (Duration::from_secs(5), Duration::from_mins(1));

pub(crate) async fn climb(on: Ground<'_>) -> Result<Rung> {
    let (target, baseline, _) = on;
    let task = target.task();
    let groups = groups(target, baseline)?;
    let count = groups.len();
    if groups.is_empty() {
        let reason = "no PoV reproduces, so there is nothing to mutate";
        return Ok(Rung::new(RungName::Robust, None, reason));
    }
    let mut search = Search::default();
    let budget = task.limits.robust / u32::try_from(count).unwrap_or(1);
    for (way, seeds) in groups {
        let programs = Programs::build(on, way).await?;
        let group = Group { programs, seeds };
        if let Some(found) = search.group(&group, budget).await? {
            return Ok(search.refuted(&found, &group.programs));
        }
    }
    Ok(search.held(count, &task.limits))
}

/// PoVs that are run in the same way, and share their mutations.
struct Group<'a> {
    programs: Programs<'a>,
    seeds: Vec<Vec<u8>>,
}

/// Returns the ways in which PoVs are run, each with the PoVs.
fn groups<'a>(
    target: &'a dyn Target,
    baseline: &'a Baseline,
) -> Result<Vec<(Way<'a>, Vec<Vec<u8>>)>> {
    let mut groups: Vec<(Way<'a>, Vec<Vec<u8>>)> = Vec::new();
    let ways = ways(target, baseline)?.into_iter();
    for way in ways.filter(|way| way.1.reproduces()) {
        let pov = way.0;
        let bytes = content(pov)?;
        let same = groups.iter_mut().find(|((other, ..), _)| {
            (&other.build, &other.harness, &other.command)
                == (&pov.build, &pov.harness, &pov.command)
        });
        match same {
            Some((_, seeds)) => seeds.push(bytes),
            None => groups.push((way, vec![bytes])),
        }
    }
    Ok(groups)
}

/// The search so far.
#[derive(Default)]
struct Search {
    runs: u64,
    /// Crashes that the unpatched program has as well, each once.
    others: Vec<Doubt>,
    /// Failures that did not happen again.
    passing: Vec<String>,
    /// Number of groups whose PoVs do not crash when they are run in a batch.
    blind: usize,
    /// True where the harness takes many inputs.
    many: bool,
    said: Testimonies,
}

impl Search {
    async fn group(&mut self, group: &Group<'_>, budget: Duration) -> Result<Option<Failure>> {
        let shown = self.shows_the_crash(group, budget / 2).await?;
        // Second witnesses take time of their own.
        let inputs = (group.seeds.as_slice(), shown);
        if let Some(found) = self.said.hear(&group.programs, inputs).await? {
            return Ok(Some(found));
        }
        let until = WorkTime::now() + budget;
        let late = Instant::now() + budget * (1 + PATIENCE);
        if !shown {
            self.blind += 1;
            return Ok(None);
        }
        self.many = self.takes_many(group, budget / 4).await?;
        let budget = until.left();
        if let Some(found) = self.fuzzed(group, budget).await? {
            return Ok(Some(found));
        }
        if let Some(found) = self.with_dictionary(group, budget).await? {
            return Ok(Some(found));
        }
        let mut mutator = Mutator::nearest_first(group.seeds.clone());
        let (mut least, mut mutants) = (FIRST, 0);
        // However many inputs a fuzzer ran, it goes where code is new to it: beside the PoV mutants search.
        while mutants < MOST {
            let inputs = mutator.take(CHUNK);
            let lacks = mutants < group.programs.task().limits.executions;
            let more = if lacks { late } else { Instant::now() };
            let more = more.saturating_duration_since(Instant::now());
            let left = until.left().max(more).max(std::mem::take(&mut least));
            if left.is_zero() {
                break;
            }
            let new = &group.programs.new;
            let runs = self.run(new, group, inputs.clone(), left).await?;
            mutants += runs.len() as u64;
            self.runs += runs.len() as u64;
            let failed = runs.iter().filter(|run| run.is_failure());
            for (number, run) in failed.take(LOOKED_AT).enumerate() {
                // A failure that hangs takes long to look at, so only the first is sure to be.
                if number > 0 && WorkTime::now() > until {
                    break;
                }
                let bytes = inputs.get(run.index).map_or(&[][..], |bytes| bytes);
                if let Some(found) = self.look(group, bytes).await? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// Tells whether a batch shows the known crash: one that does not would not show
    /// another one. A hang was seen at the baseline, and takes its whole time.
    async fn shows_the_crash(&self, group: &Group<'_>, most: Duration) -> Result<bool> {
        let programs = &group.programs;
        if programs.before.replay.outcome == Outcome::Hung {
            return Ok(true);
        }
        let most = most.max(FIRST);
        let known = self.run(programs.old, group, group.seeds.clone(), most);
        Ok(known.await?.iter().any(|run| !run.ending.success()))
    }

    /// Runs an input alone on both programs; returns a failure that refutes the patch, and keeps
    /// any other.
    async fn look(&mut self, group: &Group<'_>, input: &[u8]) -> Result<Option<Failure>> {
        let (kind, found) = group.programs.look(input).await?;
        match kind {
            FailureKind::Refutes => return Ok(Some(found)),
            FailureKind::Preexisting => self.keep_other(found, group),
            FailureKind::NotRepeated => self.passing.push(found.reason),
            FailureKind::Answer => {}
        }
        Ok(None)
    }

    /// Keeps another bug of the program with its input, for a person.
    fn keep_other(&mut self, found: Failure, group: &Group<'_>) {
        let what = format!("the program has another crash: {}", found.reason);
        if self.others.len() >= MOST_OTHERS || self.others.iter().any(|one| one.what == what) {
            return;
        }
        self.others.push(Doubt {
            what,
            settled: Some(OTHER.to_owned()),
            input: Some(DoubtedInput {
                name: format!("another crash {}", self.others.len() + 1),
                before: found.reason.clone(),
                after: found.reason,
                ..doubted(group.programs.pov, &found.input)
            }),
            ..Doubt::default()
        });
    }

    async fn run(
        &self,
        build: &Build,
        group: &Group<'_>,
        contents: Vec<Vec<u8>>,
        budget: Duration,
    ) -> Result<Vec<InputRun>> {
        let programs = &group.programs;
        let inputs = Inputs {
            many: self.many,
            ..Inputs::new(contents, budget, programs.before.time_limit(10, EACH))
        };
        programs.run(build, &inputs).await
    }

    fn refuted(&self, found: &Failure, programs: &Programs<'_>) -> Rung {
        let reason = format!("after {} mutated inputs: {}", self.runs, found.reason);
        let writer = FeedbackWriter::new(programs.task(), programs.attempt);
        let lead = format!(
            "The PoV is silent, but a mutation of it is not: {}",
            found.reason
        );
        let mut feedback = writer.run(&lead, None, (found.crash.as_ref(), &found.shown));
        // Writing to a string cannot fail.
        let _ = write!(feedback, "\nThe input: {}", input_text(&found.input));
        let mut result = Rung::new(RungName::Robust, Some(false), reason.clone())
            .feedback(feedback)
            .log(found.shown.clone())
            .crash(found.crash.clone().map(|crash| writer.kept(crash)))
            .count("executions", self.runs)
            .settled(found.crash.is_some());
        result.found.push(FoundInput {
            blob: found.input.clone().into(),
            reason,
            pov: programs.pov.name(),
        });
        result
    }

    fn held(&self, groups: usize, limits: &CommandLimits) -> Rung {
        let budget = (limits.robust * (1 + PATIENCE)).as_secs();
        let floor = limits.executions.max(1);
        let holds = (self.blind < groups && self.runs >= floor).then_some(true);
        let reason = if self.blind == groups {
            "the PoVs do not crash the unpatched program when inputs are run in numbers, so nothing could be learned ([[pov]] command, harness and build say how an input is run)".to_owned()
        } else if self.runs >= floor {
            format!("{} mutated inputs bring no crash back", self.runs)
        } else {
            format!(
                "only {} mutated inputs could be run in {budget} s, and {floor} are needed: give more time (limits.robust), ask for fewer (limits.executions, limits.executions_java), or let one process run many inputs ([[pov]] batch)",
                self.runs
            )
        };
        let mut log = self.said.log.clone();
        for passing in &self.passing {
            let _ = writeln!(log, "not held against the patch: {passing}");
        }
        if self.blind > 0 {
            let _ = writeln!(
                log,
                "{} of {groups} ways to run a PoV show no crash when inputs are run in numbers, and tell nothing",
                self.blind
            );
        }
        Rung::new(RungName::Robust, holds, reason)
            .count("executions", self.runs)
            .count(WATCHED, self.said.watched)
            .count("other crashes", self.others.len() as u64)
            .doubts(self.others.clone())
            .log(log)
            .settled(self.runs >= ENOUGH && self.passing.is_empty())
    }
}

#[cfg(test)]
mod tests;
