//! Noise: what a program prints otherwise in each run, such as times, and which is no behaviour.
//! Learnt from runs of the unpatched program alone, so that no patch can make an answer noise: what
//! only the patched program prints otherwise in each run is a doubt.

use super::Comparison;
use super::doubts::Differing;
use super::runs::{BothRuns, digest};
use patchwright_target::Result;
use patchwright_target::runner::{InputRun, Inputs};
use std::collections::{BTreeMap, BTreeSet};

/// Lines that differ from run to run in their numbers alone, as digests without these.
#[derive(Debug, Default)]
pub(crate) struct Noise(BTreeSet<u64>);

/// Runs by the indexes of their inputs.
pub(crate) type Runs = BTreeMap<usize, InputRun>;

impl Noise {
    /// Learns from two runs of the unpatched program on each input.
    pub(crate) fn learn_from(&mut self, once: &Runs, again: &Runs) {
        for (index, again) in again {
            if let Some(once) = once.get(index) {
                self.learn(once, again);
            }
        }
    }

    /// Returns runs without what is noise in their outputs.
    pub(crate) fn without(&self, mut runs: Runs) -> Runs {
        for run in runs.values_mut() {
            let steady = lines(run).filter(|line| !self.0.contains(&digest(line)));
            run.output = steady.collect::<Vec<_>>().join(&b'\n');
        }
        runs
    }

    fn learn(&mut self, once: &InputRun, again: &InputRun) {
        let lines = lines(once).zip(lines(again));
        let differing =
            lines.filter(|(line, again)| line != again && digest(line) == digest(again));
        // A line of numbers alone is like all other such lines.
        let worded = differing.filter(|(line, _)| line.iter().any(u8::is_ascii_alphabetic));
        self.0.extend(worded.map(|(line, _)| digest(line)));
    }

    /// Tells whether two runs end alike and print the same but for noise.
    fn is_alike(&self, one: &InputRun, other: &InputRun) -> bool {
        let steady = |line: &&[u8]| !self.0.contains(&digest(line));
        one == other
            || one.ending == other.ending
                && lines(one).filter(steady).eq(lines(other).filter(steady))
    }
}

fn lines(run: &InputRun) -> impl Iterator<Item = &[u8]> {
    run.output.split(|byte| *byte == b'\n')
}

impl Comparison<'_> {
    /// Tells whether both programs behave alike.
    pub(super) fn is_alike(&self, [before, after]: [&InputRun; 2]) -> bool {
        self.noise.is_alike(before, after)
    }

    /// Tells whether they differ only in numbers that the patched program prints otherwise each time.
    pub(super) fn is_unsteady(&self, one: &Differing) -> bool {
        self.unsteady.is_alike(&one.before, &one.after)
    }

    /// Returns the differing inputs on which the unpatched program differs from itself by more than
    /// numbers in lines, or on which the patched one answers as it does in another run. All are run
    /// again, so that file names are equal.
    pub(super) async fn noisy(&mut self, both: &BothRuns<'_>) -> Result<BTreeSet<usize>> {
        let differing = both.pairs();
        let differing = differing.filter(|(.., [before, _])| !before.is_failure());
        let differing = differing.filter(|(.., runs)| !self.is_alike(*runs));
        let mut noisy: BTreeSet<usize> = differing.map(|(place, ..)| place).collect();
        if noisy.is_empty() {
            return Ok(noisy);
        }
        let old = self
            .run(self.programs.old, both.inputs, self.only(&noisy))
            .await?;
        self.noise.learn_from(&both.before, &old);
        self.unsteady.learn_from(&both.before, &old);
        let runs = |place: &usize| Some([both.before.get(place)?, both.after.get(place)?]);
        noisy.retain(|place| runs(place).is_some_and(|runs| !self.is_alike(runs)));
        if noisy.is_empty() {
            return Ok(noisy);
        }
        let new = self
            .run(&self.programs.new, both.inputs, self.only(&noisy))
            .await?;
        self.unsteady.learn_from(&both.after, &new);
        let is_once = |of: &Runs, place: &usize| {
            let runs = both.before.get(place).zip(of.get(place));
            runs.is_some_and(|(once, again)| self.is_alike([once, again]))
        };
        noisy.retain(|place| !is_once(&old, place) || is_once(&new, place));
        Ok(noisy)
    }

    fn only(&self, places: &BTreeSet<usize>) -> Inputs {
        Inputs {
            only: places.iter().copied().collect(),
            ..self.again()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{attempt_with, one_file};
    use super::{InputRun, Noise, Runs};
    use crate::evidence::RungName;
    use crate::ladder::Ladder;
    use patchwright_sandbox::Ending;
    use patchwright_target::runner::Target;
    use patchwright_target::test_support::{open, task};
    use std::fs;
    use std::time::Duration;

    #[test]
    fn lines_that_differ_in_their_numbers_from_run_to_run_are_noise() {
        let run = |text: &str| InputRun {
            index: 0,
            ending: Ending::Exited(0),
            output: text.into(),
        };
        let runs = |text| Runs::from([(0, run(text))]);
        let mut noise = Noise::default();
        let again = "took 12 ms\n8\nsum 5\n";
        noise.learn_from(&runs("took 3 ms\n7\nsum 5\n"), &runs(again));
        assert_eq!(noise.without(runs(again)), runs("8\nsum 5\n"));
        for (one, other, alike) in [
            ("took 4 ms\nsum 5\n", "took 0 ms\nsum 5\n", true),
            ("took 4 ms\nsum 5\n", "took 4 ms\nsum 6\n", false),
            ("took 4 s\n", "took 5 s\n", false),
            ("3\n", "4\n", false),
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
            assert!(compared >= Some(1), "{result:#?}");
        }
    }
}
