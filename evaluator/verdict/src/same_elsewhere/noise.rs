//! Noise: numbers that a program prints otherwise in each run, such as times, and which are no
//! behaviour. They are learnt from runs of the unpatched program on given inputs alone: no patch and
//! no undefined run can make an answer noise.

use super::Comparison;
use super::pool::InputKind;
use super::runs::BothRuns;
use patchwright_source::Pattern;
use patchwright_target::Result;
use patchwright_target::runner::{InputRun, Inputs};
use std::collections::BTreeSet;

/// Runs of the unpatched program by which numbers are told from noise.
const REPEATS: usize = 3;

/// Numbers that differ from run to run: the words of a line, and which of its numbers it is.
#[derive(Debug, Default)]
pub(super) struct Noise(BTreeSet<(String, usize)>);

/// Differing inputs on which one of the programs does not answer the same twice.
#[derive(Debug, Default)]
pub(super) struct Unsteady {
    /// The unpatched program differs from itself.
    pub(super) old: BTreeSet<usize>,
    /// Only the patched one does.
    pub(super) new: BTreeSet<usize>,
}

impl Noise {
    /// Learns from two runs of a program on one input. Lines in another order are no such numbers.
    fn learn(&mut self, once: &InputRun, again: &InputRun) {
        let [once, again] = [text(once), text(again)];
        let sorted = [&once, &again].map(|text| text.lines().collect::<BTreeSet<&str>>());
        if sorted[0] == sorted[1] || in_words(&once) != in_words(&again) {
            return;
        }
        for (once, again) in once.lines().zip(again.lines()) {
            let words = in_words(once);
            // A line of numbers alone is like all other such lines.
            if words.contains(char::is_alphabetic) {
                let numbers = numbers(once).zip(numbers(again)).enumerate();
                let differing = numbers.filter(|(_, (once, again))| once != again);
                self.0
                    .extend(differing.map(|(place, _)| (words.clone(), place)));
            }
        }
    }

    /// Tells whether two runs end alike and print the same but for noise.
    fn is_alike(&self, one: &InputRun, other: &InputRun) -> bool {
        one == other || one.ending == other.ending && self.without(one) == self.without(other)
    }

    /// Returns the lines of a run, each as its words and the numbers that are no noise.
    fn without(&self, run: &InputRun) -> Vec<(String, Vec<String>)> {
        let lines = text(run);
        let lines = lines.split('\n').map(|line| {
            let words = in_words(line);
            let numbers = numbers(line).enumerate().map(|(place, number)| {
                let known = (words.clone(), place);
                let number = if self.0.contains(&known) { "" } else { number };
                number.to_owned()
            });
            (words.clone(), numbers.collect())
        });
        lines.collect()
    }
}

/// Returns an output with a character for each byte.
fn text(run: &InputRun) -> String {
    run.output.iter().map(|byte| char::from(*byte)).collect()
}

/// A number with the blanks that fill it up.
static NUMBER: Pattern = Pattern::new(r" *[0-9]+(?:\.[0-9]+)*");

fn numbers(line: &str) -> impl Iterator<Item = &str> {
    NUMBER.find_iter(line).map(|number| number.as_str())
}

/// Returns a text without its numbers.
fn in_words(text: &str) -> String {
    NUMBER.replace_all(text, "#").into_owned()
}

fn says_the_same([one, other]: [&InputRun; 2]) -> bool {
    one.ending == other.ending && in_words(&text(one)) == in_words(&text(other))
}

impl Comparison<'_> {
    /// Tells whether both programs behave alike.
    pub(super) fn is_alike(&self, [before, after]: [&InputRun; 2]) -> bool {
        self.noise.is_alike(before, after)
    }

    /// Tells whether a program answers an input in two ways: otherwise in words, or in numbers where it
    /// gave the same ones before.
    pub(super) fn is_otherwise(&self, usual: [&InputRun; 2], run: &InputRun) -> bool {
        if usual[0] == usual[1] {
            return !self.is_alike([usual[0], run]);
        }
        says_the_same(usual) && !says_the_same([usual[0], run])
    }

    /// Learns noise, and returns the differing inputs on which one of the programs is unsteady. They
    /// are run again under the same names. A difference in words counts where both programs keep to
    /// theirs, whatever numbers stand between.
    pub(super) async fn unsteady(&mut self, both: &BothRuns<'_>) -> Result<Unsteady> {
        let mut differing = self.differing_places(both);
        let mut unsteady = Unsteady::default();
        if differing.is_empty() {
            return Ok(unsteady);
        }
        let given = both.pairs().filter(|(_, input, [before, _])| {
            input.kind == InputKind::Given && before.ending.success()
        });
        let given: BTreeSet<usize> = given.map(|(place, ..)| place).collect();
        let mut repeats = Vec::new();
        while repeats.len() < REPEATS {
            let again = self.only(differing.union(&given));
            let old = self.run(self.programs.old, both.inputs, again).await?;
            for place in &given {
                if let (Some(once), Some(again)) = (both.before.get(place), old.get(place)) {
                    self.noise.learn(once, again);
                }
            }
            repeats.push(old);
            differing = self.differing_places(both);
            let mut pairs = both.pairs();
            // Numbers of few values agree by chance.
            if !pairs.any(|(place, _, runs)| differing.contains(&place) && says_the_same(runs)) {
                break;
            }
        }
        if differing.is_empty() {
            return Ok(unsteady);
        }
        let again = self.only(differing.iter());
        let new = self.run(&self.programs.new, both.inputs, again).await?;
        for (place, _, [before, after]) in both.pairs() {
            if !differing.contains(&place) {
                continue;
            }
            let olds: Option<Vec<&InputRun>> = repeats.iter().map(|old| old.get(&place)).collect();
            let (Some(olds), Some(new)) = (olds, new.get(&place)) else {
                unsteady.old.insert(place);
                continue;
            };
            let (old_differs, new_differs) = if says_the_same([before, after]) {
                // Of numbers beside noise it is not known what else is noise.
                let differs = olds.iter().any(|old| !self.is_alike([before, old]));
                (
                    differs,
                    after != new || olds.iter().any(|old| before != *old),
                )
            } else {
                let as_before = says_the_same([before, new]) && !after.is_failure();
                let differs = olds.iter().any(|old| !says_the_same([before, old]));
                (differs, as_before)
            };
            if old_differs {
                unsteady.old.insert(place);
            } else if new_differs {
                unsteady.new.insert(place);
            }
        }
        Ok(unsteady)
    }

    fn differing_places(&self, both: &BothRuns<'_>) -> BTreeSet<usize> {
        let differing = both.pairs();
        let differing = differing.filter(|(.., [before, _])| !before.is_failure());
        let differing = differing.filter(|(.., runs)| !self.is_alike(*runs));
        differing.map(|(place, ..)| place).collect()
    }

    fn only<'a>(&self, places: impl Iterator<Item = &'a usize>) -> Inputs {
        Inputs {
            only: places.copied().collect(),
            ..self.again()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{attempt_with, one_file};
    use super::{InputRun, Noise};
    use crate::evidence::RungName;
    use crate::ladder::Ladder;
    use patchwright_record::Doubt;
    use patchwright_sandbox::Ending;
    use patchwright_target::runner::Target;
    use patchwright_target::test_support::{open, task};
    use std::fs;
    use std::time::Duration;

    #[test]
    fn numbers_that_differ_from_run_to_run_are_noise() {
        let run = |text: &str| InputRun {
            index: 0,
            ending: Ending::Exited(0),
            output: text.into(),
        };
        let mut noise = Noise::default();
        let learnt = [
            ("5 in   9 ms\n7\nsum 5\n", "5 in 12.5 ms\n8\nsum 5\n"),
            // Two threads, one of which was the first.
            ("item 1\nitem 2\n", "item 2\nitem 1\n"),
        ];
        for (once, again) in learnt {
            noise.learn(&run(once), &run(again));
        }
        for (one, other, alike) in [
            ("5 in 4 ms\nsum 5\n", "5 in 0.25 ms\nsum 5\n", true),
            ("5 in 4 ms\nsum 5\n", "6 in 4 ms\nsum 5\n", false),
            ("5 in 4 ms\n5 in 3 ms\n", "5 in 4 ms\n", false),
            ("5 in 4 ms\nsum 5\n", "5 in 4 ms\nsum 6\n", false),
            ("took 4 s\n", "took 5 s\n", false),
            ("item 1\n", "item 2\n", false),
            ("7\n", "8\n", false),
        ] {
            assert_eq!(
                noise.is_alike(&run(one), &run(other)),
                alike,
                "{one} {other}"
            );
        }
    }

    /// Writes past eight bytes, and tells how long it took.
    const TIMED: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\nint parse(const unsigned char *b, long n) {\n  if (n < 2) return -1;\n  char *p = malloc(8);\n  memset(p, 1, b[0]);\n  printf(\"%d of %d\\n\", p[0], b[1]);\n  free(p);\n  return 0;\n}\nint main(int n, char **v) {\n  unsigned char b[64];\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f) return 2;\n  long k = fread(b, 1, 64, f);\n  int bad = parse(b, k) < 0;\n  struct timespec t;\n  clock_gettime(CLOCK_MONOTONIC, &t);\n  printf(\"took %ld ms\\n\", t.tv_nsec / 1000 % 5);\n  return bad;\n}\n";

    #[tokio::test]
    async fn times_that_a_program_prints_are_no_difference() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        task.limits.same = Duration::from_secs(8);
        one_file(&task, TIMED);
        for (name, bytes) in [("a.bin", [3, 1]), ("b.bin", [8, 9])] {
            fs::write(folder.path().join(name), bytes).unwrap();
            task.harmless.push(folder.path().join(name));
        }
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        for (old, new, holds) in [
            ("if (n < 2)", "if (n < 2 || b[0] > 8)", Some(true)),
            ("of %d", "of %u.", Some(false)),
            ("b[1]);", "b[1] ^ (int)clock());", None),
        ] {
            let attempt = attempt_with(TIMED.replace(old, new), (6, 9));
            let ladder = Ladder::new(&target, &baseline);
            let result = ladder.climb(&attempt, &[], RungName::SameElsewhere).await;
            let result = result.unwrap();
            assert_eq!(result.holds, holds, "{new}: {result:#?}");
            let compared = result.counts.get("given").copied();
            assert_eq!(compared >= Some(1), holds.is_some(), "{result:#?}");
            let open = result.doubts.iter().any(Doubt::is_open);
            assert!(open != (holds == Some(true)), "{result:#?}");
        }
    }
}
