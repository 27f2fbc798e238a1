//! Challenges: inputs that somebody wrote against a patch, a model say.
//!
//! What an input is worth is shown by running it, never by what its author says of
//! it. One on which the unpatched program crashes as on the PoV is a *variant*: a
//! patched program that still fails on it is refuted. One that the unpatched program
//! accepts is a *control*: a patched program that fails on it is refuted; one that
//! behaves differently is treated as on any derived input, by experiment and else by
//! a doubt, because the old program may be wrong there in silence. One on which both
//! fail at another place with an error of the PoV's kind refutes nothing, for it was
//! there before, and is told: the same mistake may stand there; one on which the patched
//! program no longer fails so is told with its answer. All others say nothing.

use super::outputs::differing;
use super::pool::{ComparedInput, InputKind};
use super::runs::BothRuns;
use super::{Comparison, NO_WAY};
use crate::attempt::AttemptFacts;
use crate::evidence::{Doubt, FoundInput, Rung, RungName};
use crate::rung::{Way, ways};
use patchwright_crash::feedback;
use patchwright_crash::signature::Change;
use patchwright_source::counted;
use patchwright_target::Result;
use patchwright_target::runner::{Baseline, BaselinePov, Capture, InputRun, Pov, Target};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;

/// Count of the controls that run the patched lines and are answered as before.
pub const CONTROLS_REACH: &str = "controls that run the patched lines";
/// Count of the patch's branches that the controls and the PoV do not account for.
pub const CONTROLS_LEAVE_OPEN: &str = "branches that controls leave open";

/// Word for an input on which the unpatched program fails otherwise than on the PoV.
const FAILS: &str = "makes the unpatched program fail in another way";
/// Inputs on which both programs fail that are looked at.
const MOST_FAILURES: usize = 3;
/// Ways to run the inputs.
const MOST_WAYS: usize = 4;

/// Words for a crash of the PoV's kind at another place, which the patch mends.
const ELSEWHERE: &str =
    "with an error of the PoV's kind at another place, and no longer the patched one";

/// An input against a patch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChallengeInput {
    /// Its name in logs and reports.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// The results of challenges.
#[derive(Debug, Clone)]
pub struct Challenged {
    /// The result, as part of the rung *same elsewhere*.
    pub result: Rung,
    /// The inputs that count, by their index.
    pub counted: Vec<usize>,
}

/// The way in which an input counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChallengeKind {
    Variant,
    Control,
}

/// The inputs that count, each with its way, and a line for each input.
#[derive(Default)]
struct Sorted {
    counted: BTreeMap<usize, ChallengeKind>,
    /// Inputs with a crash of the PoV's kind at another place, which the patch mends: whoever reads
    /// the patch sees its answers. They are no evidence, since a patch that refuses all has most.
    mended: Vec<usize>,
    /// The reasons why inputs show nothing, each with the number of them.
    dropped: BTreeMap<&'static str, u64>,
    log: String,
}

impl Sorted {
    fn is(&self, index: usize, kind: ChallengeKind) -> bool {
        self.counted.get(&index) == Some(&kind)
    }

    fn count(&self, kind: ChallengeKind) -> u64 {
        let counted = self.counted.values().filter(|one| **one == kind);
        counted.count() as u64
    }
}

/// Runs challenges on both programs.
///
/// # Errors
/// When the machinery fails.
pub async fn challenge(
    target: &dyn Target,
    baseline: &Baseline,
    attempt: &AttemptFacts,
    inputs: &[ChallengeInput],
) -> Result<Challenged> {
    let started = Instant::now();
    let inputs = inputs.iter().map(|input| {
        ComparedInput::new(InputKind::Derived, input.name.clone(), input.bytes.clone())
    });
    let inputs: Vec<ComparedInput> = inputs.collect();
    let mut all: Option<Challenged> = None;
    for way in ways_to_run(target, baseline)? {
        let mut comparison = Comparison::new((target, baseline, attempt), way).await?;
        let one = comparison.challenged(&inputs).await?;
        let one = match all.take() {
            None => one,
            Some(known) => known.and(one, &way.0.name()),
        };
        let refutes = one.result.holds == Some(false);
        all = Some(one);
        if refutes {
            break;
        }
    }
    let mut all = all.unwrap_or_else(|| Challenged {
        result: Rung::new(RungName::SameElsewhere, None, NO_WAY),
        counted: Vec::new(),
    });
    all.result.seconds = started.elapsed().as_secs_f64();
    Ok(all)
}

/// Returns the ways to run an input: one for each build (a sanitizer, say), each command and each
/// crash of the PoVs.
fn ways_to_run<'a>(target: &'a dyn Target, baseline: &'a Baseline) -> Result<Vec<Way<'a>>> {
    let task = target.task();
    let how = |pov: &Pov| (task.build_of(pov), pov.command.clone(), pov.harness.clone());
    let alike =
        |one: &BaselinePov, other: &BaselinePov| match (&one.replay.crash, &other.replay.crash) {
            (Some(one), Some(other)) => task.change(one, other) == Change::Same,
            (one, other) => one.is_none() && other.is_none(),
        };
    let mut kept: Vec<Way<'_>> = Vec::new();
    for way in ways(target, baseline)? {
        let (pov, before, _) = way;
        let mut known = kept.iter();
        let is_known = known.any(|(one, seen, _)| how(one) == how(pov) && alike(seen, before));
        if before.reproduces() && !is_known {
            kept.push(way);
        }
    }
    kept.truncate(MOST_WAYS);
    Ok(kept)
}

impl Challenged {
    /// Adds the results of the same inputs run like another PoV: what refutes or is open in one
    /// way is so for both, and an input counts where it counts in either.
    fn and(mut self, other: Self, pov: &str) -> Self {
        for index in other.counted {
            if !self.counted.contains(&index) {
                self.counted.push(index);
            }
        }
        let (mut result, other) = (self.result, other.result);
        let log = format!("{}run like {pov}:\n{}", result.log.text(), other.log.text());
        result = result.log(log);
        for (name, count) in other.counts {
            let known = result.counts.entry(name).or_default();
            *known = count.max(*known);
        }
        result.doubts.extend(other.doubts);
        result.answers.extend(other.answers);
        let reason = format!("run like {pov}: {}", other.reason);
        if other.holds == Some(false) || result.holds == Some(true) {
            result.reason = format!("{reason}; {}", result.reason);
            result.holds = other.holds;
        } else {
            result.reason = format!("{}; {reason}", result.reason);
        }
        result.feedback = other.feedback.or(result.feedback);
        result.crash = other.crash.or(result.crash);
        result.found.extend(other.found);
        self.result = result;
        self
    }
}

impl Comparison<'_> {
    async fn challenged(&mut self, inputs: &[ComparedInput]) -> Result<Challenged> {
        let budget = self.each() * (inputs.len() as u32).max(1);
        let both = self.run_both(inputs, Capture::Outputs, budget).await?;
        let sorted = self.sorted(inputs, &both).await?;
        self.count("challenges: variants", sorted.count(ChallengeKind::Variant));
        self.count("challenges: controls", sorted.count(ChallengeKind::Control));
        let counted = sorted.counted.keys().copied().collect();
        for (place, input, [_, after]) in both.pairs() {
            if after.is_failure()
                && let Some(kind) = sorted.counted.get(&place)
                && let Some(result) = self.still_fails(input, *kind).await?
            {
                return Ok(Challenged { result, counted });
            }
        }
        for (place, input, [_, after]) in both.pairs() {
            if sorted.is(place, ChallengeKind::Variant) || sorted.mended.contains(&place) {
                self.keep_answer(&input.name, &input.bytes, after);
            }
        }
        self.tell_same_mistakes(&both).await?;
        self.compare_controls(&sorted, &both).await?;
        self.reach_of_controls().await?;
        let result = self.challenges_held(&sorted);
        Ok(Challenged { result, counted })
    }

    /// Tells on which inputs both programs fail with an error of the PoV's kind at another place.
    async fn tell_same_mistakes(&mut self, both: &BothRuns<'_>) -> Result<()> {
        let programs = &self.programs;
        let Some(of_the_pov) = programs.crash() else {
            return Ok(());
        };
        let failing = both.pairs();
        let failing = failing.filter(|(.., runs)| runs.iter().all(|run| run.is_failure()));
        for (_, input, _) in failing.take(MOST_FAILURES) {
            let now = programs.replay(&programs.new, &input.bytes).await?;
            let same = now.crash.filter(|crash| crash.kind == of_the_pov.kind);
            let Some(crash) = same else { continue };
            self.result.answers.push(format!(
                "{}: both programs fail on it, with an error of the same kind at another place: {}\nThe input: {}",
                input.name,
                crash.summary,
                feedback::input(&input.bytes)
            ));
        }
        Ok(())
    }

    /// Counts which controls that both programs answer alike run the patched lines.
    async fn reach_of_controls(&mut self) -> Result<()> {
        if self.compared.is_empty() {
            return Ok(());
        }
        self.measure_reach().await?;
        let Some(mut reach) = self.reach.take() else {
            return Ok(());
        };
        reach.settle(self.programs.attempt);
        self.count(CONTROLS_REACH, reach.reached);
        self.count(CONTROLS_LEAVE_OPEN, reach.unaccounted.len() as u64);
        Ok(())
    }

    /// Tells by running which inputs count, and as what.
    async fn sorted(&self, inputs: &[ComparedInput], both: &BothRuns<'_>) -> Result<Sorted> {
        let mut sorted = Sorted::default();
        for (index, input) in inputs.iter().enumerate() {
            let run = both.before.get(&index);
            let fails = run.is_some_and(InputRun::is_failure);
            let mended = both.after.get(&index).is_some_and(|run| !run.is_failure());
            let what = if fails && self.crashes_as_the_pov(&input.bytes).await? {
                sorted.counted.insert(index, ChallengeKind::Variant);
                "makes the unpatched program crash as the PoV does".to_owned()
            } else if fails && mended && self.is_of_the_povs_kind(input).await? {
                sorted.mended.push(index);
                format!("makes the unpatched program crash {ELSEWHERE}")
            } else if run.is_some_and(|run| !fails && run.ending.success()) {
                sorted.counted.insert(index, ChallengeKind::Control);
                "is accepted by the unpatched program".to_owned()
            } else {
                let (why, what) = match run {
                    Some(_) if fails => ("fail there in another way", FAILS),
                    Some(_) => ("are refused there", "is refused by the unpatched program"),
                    None => ("were not run in time", "was not run: there was no time"),
                };
                *sorted.dropped.entry(why).or_default() += 1;
                let ending = run.map(|run| format!(" ({})", run.ending));
                what.to_owned() + &ending.unwrap_or_default()
            };
            // Writing to a string cannot fail.
            let _ = writeln!(sorted.log, "{} {what}", input.name);
        }
        Ok(sorted)
    }

    /// Tells whether the unpatched program has a crash of the PoV's kind on an input.
    async fn is_of_the_povs_kind(&self, input: &ComparedInput) -> Result<bool> {
        let programs = &self.programs;
        let crash = programs.replay(programs.old, &input.bytes).await?.crash;
        let pov = programs.crash();
        Ok(crash.is_some_and(|crash| pov.is_some_and(|pov| pov.kind == crash.kind)))
    }

    /// The refutation by an input on which the patched program fails, once more and
    /// alone.
    async fn still_fails(
        &self,
        input: &ComparedInput,
        kind: ChallengeKind,
    ) -> Result<Option<Rung>> {
        let programs = &self.programs;
        let now = programs.replay(&programs.new, &input.bytes).await?;
        if !now.outcome.is_failure() {
            return Ok(None);
        }
        let what = match kind {
            ChallengeKind::Variant => {
                "reaches the same defect on another way, and the patched program still fails on it"
            }
            ChallengeKind::Control => {
                let unpatched = programs.replay(programs.old, &input.bytes).await?;
                if unpatched.outcome.is_failure() {
                    return Ok(None);
                }
                "is accepted by the unpatched program, and the patched program fails on it"
            }
        };
        let reason = format!("{} {what}", input.name);
        let shown = now.execution.text();
        let failed = (now.crash.as_ref(), shown.as_str());
        let feedback = self.writer.run(&reason, programs.crash(), failed);
        let mut result = self
            .rung(Some(false), reason.clone())
            .feedback(feedback)
            .log(shown)
            .crash(now.crash.clone().map(|crash| self.writer.kept(crash)));
        result.found.push(FoundInput {
            blob: input.bytes.clone().into(),
            reason,
            pov: programs.pov.name(),
        });
        Ok(Some(result))
    }

    /// Compares the behaviours on controls; differences become doubts.
    async fn compare_controls(&mut self, sorted: &Sorted, both: &BothRuns<'_>) -> Result<()> {
        let unsteady = self.unsteady(both).await?;
        for (place, input, [old, new]) in both.pairs() {
            if !sorted.is(place, ChallengeKind::Control) || unsteady.old.contains(&place) {
                continue;
            }
            if self.is_alike([old, new]) {
                self.count("challenges answered alike", 1);
                let name = format!("{}, with and without the patch", input.name);
                self.keep_answer(&name, &input.bytes, new);
                self.compared.push(input.clone());
                continue;
            }
            let mut one = differing(input.clone(), [old, new]);
            one.settled = self.accepted(&one);
            if one.settled.is_some() {
                self.keep_doubt(&one);
            } else {
                self.differing.push(one);
            }
        }
        self.settle_differences().await
    }

    fn challenges_held(&self, sorted: &Sorted) -> Rung {
        let mut told = format!(
            "challenges that crash the unpatched program and no longer the patched one: {}; that it accepts: {}, {} of them answered as before",
            sorted.count(ChallengeKind::Variant),
            sorted.count(ChallengeKind::Control),
            self.counted("challenges answered alike"),
        );
        if !sorted.mended.is_empty() {
            let count = sorted.mended.len();
            let _ = write!(told, "; that crash the unpatched one {ELSEWHERE}: {count}");
        }
        for (why, count) in &sorted.dropped {
            let _ = write!(told, "; that show nothing, for they {why}: {count}");
        }
        let doubts = &self.result.doubts;
        let open: Vec<&Doubt> = doubts.iter().filter(|doubt| doubt.is_open()).collect();
        if let Some(first) = open.first() {
            let challenges = counted(open.len() as u64, "challenge");
            told = format!(
                "{challenges} answered differently, which no experiment settles; {}; {told}",
                first.what
            );
        }
        let holds = open.is_empty().then_some(true);
        let mut log = sorted.log.clone();
        for doubt in doubts {
            let _ = writeln!(log, "{doubt}");
        }
        self.rung(holds, told).log(log)
    }
}

#[cfg(test)]
mod tests {
    use super::ChallengeInput;
    use crate::same_elsewhere::tests::{attempt_with, one_file};
    use patchwright_target::runner::Target;
    use patchwright_target::test_support::{open, task};
    use std::fs;

    const READERS: &str = "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((noinline)) int low(const unsigned char *b, long n) { return b[n]; }\n__attribute__((noinline)) int high(const unsigned char *b, long n) { return b[n + 1]; }\nint record(const unsigned char *b, long n) {\n  if (n < 1) return -1;\n  if (b[0] == 0) printf(\"%d\\n\", low(b, n));\n  if (b[0] == 1) printf(\"%d\\n\", high(b, n));\n  return 0;\n}\nint main(int n, char **v) {\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f) return 2;\n  unsigned char all[256];\n  long size = fread(all, 1, 256, f);\n  unsigned char *b = malloc(size);\n  for (long i = 0; i < size; i++) b[i] = all[i];\n  int bad = record(b, size);\n  free(b);\n  return bad ? 1 : 0;\n}\n";

    #[tokio::test]
    async fn a_crash_of_the_povs_kind_elsewhere_is_told_where_the_patch_mends_it() {
        let folder = tempfile::tempdir().unwrap();
        let task = task(folder.path());
        one_file(&task, READERS);
        fs::write(folder.path().join("pov.bin"), [0]).unwrap();
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        let inputs = [ChallengeInput {
            name: "challenge 1".to_owned(),
            bytes: vec![1],
        }];
        for (refuses, told) in [("b[0] < 2", true), ("b[0] == 0", false)] {
            let text = READERS.replace("n < 1", &format!("n < 1 || {refuses}"));
            let attempt = attempt_with(text, (6, 6));
            let run = super::challenge(&target, &baseline, &attempt, &inputs);
            let result = run.await.unwrap().result;
            assert_eq!(result.counts["challenges: variants"], 0, "{result:#?}");
            let words = format!("{}: 1", super::ELSEWHERE);
            assert_eq!(result.reason.contains(&words), told, "{result:#?}");
            let mut answers = result.answers.iter();
            let shown = answers.any(|answer| answer.contains("challenge 1: exit status 1"));
            assert_eq!(shown, told, "{result:#?}");
        }
    }
}
