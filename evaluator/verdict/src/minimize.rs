//! Minimisation of a PoV: delta debugging in the sandbox.
//!
//! Parts of the input are left out, halves first and single bytes last (the algorithm ddmin
//! of Zeller and Hildebrandt), as long as the unpatched program crashes in the same way at
//! the same place. Many candidates are run in one batch, whose reports name no functions and
//! are compared by their frames in the program; the smallest one is run again alone and
//! compared by signature and line.

use crate::rung::{first_way, replay_input};
use patchwright_crash::{CrashReport, Frame, FrameOrigin};
use patchwright_record::SmallestRecord;
use patchwright_sandbox::Ending;
use patchwright_target::Result;
use patchwright_target::runner::{
    Baseline, BaselinePov, Build, InputRun, Inputs, Outcome, Pov, Target, content,
};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Candidates of one batch, and the bytes that they may have together.
const BATCH: usize = 32;
const BATCH_BYTES: usize = 64 << 20;
/// Frames of a report without names that have to be equal.
const FRAMES: usize = 4;
/// Least and most time for one input.
const EACH: (Duration, Duration) = (Duration::from_secs(5), Duration::from_mins(1));

/// Searches for the smallest input that shows the crash of the first PoV that crashes, for
/// no longer than the budget; it is minimal where no single byte can be left out.
///
/// Returns nothing for a hang, whose every run takes the whole time limit, and for a crash
/// that does not come every time.
///
/// # Errors
/// When the machinery fails.
pub async fn minimize(
    target: &dyn Target,
    baseline: &Baseline,
    budget: Duration,
) -> Result<Option<(SmallestRecord, Vec<u8>)>> {
    let Some((pov, before, build)) = first_way(target, baseline)? else {
        return Ok(None);
    };
    let reliable = before.crashes == before.runs && before.repeat == 1;
    if before.replay.outcome != Outcome::Crashed || !reliable {
        return Ok(None);
    }
    let original = content(pov)?;
    let mut search = Search {
        target,
        build,
        pov,
        before,
        until: Instant::now() + budget,
        known: None,
        runs: 0,
    };
    let (bytes, minimal) = search.reduce(original.clone()).await?;
    if bytes.len() < original.len() && !search.is_the_crash(&bytes).await? {
        return Ok(None);
    }
    let record = SmallestRecord {
        pov: pov.name(),
        original: original.len() as u64,
        bytes: bytes.len() as u64,
        runs: search.runs,
        minimal,
        ..SmallestRecord::default()
    };
    Ok(Some((record, bytes)))
}

struct Search<'a> {
    target: &'a dyn Target,
    build: &'a Build,
    pov: &'a Pov,
    before: &'a BaselinePov,
    until: Instant,
    /// The trace of the PoV in a batch.
    known: Option<Trace>,
    runs: u64,
}

/// The end of a run in a batch, and its first frames without addresses.
#[derive(Debug, PartialEq, Eq)]
struct Trace {
    ending: Ending,
    kind: Option<String>,
    frames: Vec<String>,
}

impl Trace {
    fn of(run: &InputRun) -> Self {
        let text = String::from_utf8_lossy(&run.output);
        let frames = text.lines().map(str::trim);
        let frames = frames.filter(|line| line.starts_with('#') || line.starts_with("at "));
        let words = |line: &str| -> Vec<String> {
            let words = line.split_whitespace();
            let words = words.filter(|word| !word.starts_with("0x"));
            words.map(str::to_owned).collect()
        };
        Self {
            ending: run.ending,
            kind: patchwright_crash::parse(&text).map(|report| report.kind),
            frames: frames
                .take(FRAMES)
                .map(|line| words(line).join(" "))
                .collect(),
        }
    }
}

impl Search<'_> {
    /// Leaves out chunks of ever smaller size; tells also whether single bytes were tried to
    /// the end.
    async fn reduce(&mut self, original: Vec<u8>) -> Result<(Vec<u8>, bool)> {
        let mut best = original;
        let seen = self.run(vec![best.clone()]).await?;
        self.known = seen.first().filter(|run| run.is_failure()).map(Trace::of);
        if self.known.is_none() {
            return Ok((best, false));
        }
        let mut chunk = best.len().div_ceil(2);
        while chunk > 0 && !best.is_empty() {
            let before = best.len();
            if !self.pass(&mut best, chunk).await? {
                return Ok((best, false));
            }
            // A byte that was needed may be free once a later one is gone.
            if chunk > 1 || best.len() == before {
                chunk /= 2;
            }
        }
        Ok((best, true))
    }

    /// Tries every chunk of one size; false when the time was over before.
    async fn pass(&mut self, best: &mut Vec<u8>, chunk: usize) -> Result<bool> {
        let mut from = 0;
        while from < best.len() {
            if Instant::now() >= self.until {
                return Ok(false);
            }
            let ranges = ranges(best.len(), from, chunk);
            let end = ranges.last().map_or(best.len(), |range| range.end);
            let free = self.free(best, &ranges).await?;
            let gone: usize = free.iter().map(ExactSizeIterator::len).sum();
            *best = without(best, &free);
            from = end - gone;
        }
        Ok(Instant::now() < self.until)
    }

    /// Returns the ranges that can be left out together.
    async fn free(&mut self, best: &[u8], ranges: &[Range<usize>]) -> Result<Vec<Range<usize>>> {
        let contents = ranges.iter();
        let contents = contents.map(|range| without(best, std::slice::from_ref(range)));
        let failing = self.crashing(contents.collect()).await?.into_iter();
        let failing = failing.filter_map(|index| ranges.get(index).cloned());
        let failing: Vec<Range<usize>> = failing.collect();
        // As many together as that works for.
        let mut together = failing.len();
        while together > 1 {
            let free = failing.get(..together).unwrap_or_default();
            if !self.crashing(vec![without(best, free)]).await?.is_empty() {
                break;
            }
            together /= 2;
        }
        Ok(failing.into_iter().take(together).collect())
    }

    /// Returns the indexes of the inputs that crash as the PoV does.
    async fn crashing(&mut self, contents: Vec<Vec<u8>>) -> Result<Vec<usize>> {
        let runs = self.run(contents).await?;
        let failing = runs.iter().filter(|run| run.is_failure());
        let crashing = failing.filter(|run| self.known.as_ref() == Some(&Trace::of(run)));
        Ok(crashing.map(|run| run.index).collect())
    }

    async fn run(&mut self, contents: Vec<Vec<u8>>) -> Result<Vec<InputRun>> {
        let left = self.until.saturating_duration_since(Instant::now());
        let inputs = Inputs::new(contents, left, self.before.time_limit(10, EACH));
        let runs = self.target.run_inputs(self.build, self.pov, &inputs);
        let runs = runs.await?;
        self.runs += runs.len() as u64;
        Ok(runs)
    }

    /// Tells whether an input shows the crash of the PoV, by a report with names.
    async fn is_the_crash(&mut self, input: &[u8]) -> Result<bool> {
        let known = &self.before.replay;
        let replay = replay_input(self.target, self.build, self.pov, input).await?;
        self.runs += 1;
        if replay.outcome != Outcome::Crashed || known.execution.ending != replay.execution.ending {
            return Ok(false);
        }
        let in_project = |frame: &Frame| self.target.task().in_project(frame);
        let identity =
            |crash: &CrashReport| (crash.signature(&in_project), place(crash, &in_project));
        Ok(known.crash.as_ref().map(identity) == replay.crash.as_ref().map(identity))
    }
}

/// Returns file and line of the innermost frame of the project.
fn place(
    crash: &CrashReport,
    in_project: &dyn Fn(&Frame) -> bool,
) -> Option<(Option<String>, Option<u32>)> {
    let frames = crash.main_stack()?.frames.iter();
    let mut frames = frames.filter(|frame| FrameOrigin::of(frame) == FrameOrigin::Project);
    let own = frames.clone().find(|frame| in_project(frame));
    let frame = own.or_else(|| frames.next())?;
    Some((frame.file.clone(), frame.line))
}

/// Returns the next chunks of an input for one batch.
fn ranges(length: usize, from: usize, chunk: usize) -> Vec<Range<usize>> {
    let most = (BATCH_BYTES / length.max(1)).clamp(1, BATCH);
    let starts = (from..length).step_by(chunk.max(1)).take(most);
    starts
        .map(|start| start..(start + chunk).min(length))
        .collect()
}

/// Returns an input without these parts, which are in order and apart from each other.
fn without(input: &[u8], parts: &[Range<usize>]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(input.len());
    let mut from = 0;
    for part in parts {
        kept.extend_from_slice(input.get(from..part.start).unwrap_or_default());
        from = part.end;
    }
    kept.extend_from_slice(input.get(from..).unwrap_or_default());
    kept
}

#[cfg(test)]
mod tests {
    use super::{minimize, ranges, without};
    use patchwright_target::runner::Target;
    use patchwright_target::test_support::{open, task};
    use std::fs;
    use std::time::Duration;

    #[test]
    fn parts_are_left_out() {
        assert_eq!(without(b"abcdef", &[0..2, 4..5]), b"cdf");
        assert_eq!(without(b"abc", &[]), b"abc");
        assert_eq!(without(b"abc", &[0..1, 1..3]), b"");
        assert_eq!(ranges(5, 2, 2), [2..4, 4..5]);
        assert_eq!(ranges(1 << 26, 0, 1 << 20).len(), 1);
    }

    /// Crashes with a first byte of more than 8 and at least two bytes; another crash, at
    /// another line, where the third byte is `x`.
    const PARSE: &str = "#include <stdlib.h>\n#include <string.h>\nint parse(const unsigned char *b, long n) {\n  if (n < 2) return -1;\n  char *p = malloc(8);\n  if (n == 5 && b[1] == 'x')\n    memset(p, 1, b[0]);\n  if (memchr(b, 'K', n)) memset(p, 1, b[0]);\n  int r = p[0];\n  free(p);\n  return r;\n}\n";

    #[tokio::test]
    async fn a_pov_shrinks_to_what_the_same_crash_needs() {
        let folder = tempfile::tempdir().unwrap();
        let task = task(folder.path());
        fs::write(task.tree.join("parse.c"), PARSE).unwrap();
        let mut pov = vec![200; 60];
        pov[1] = b'x';
        pov[40] = b'K';
        fs::write(folder.path().join("pov.bin"), pov).unwrap();
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        let budget = Duration::from_mins(1);
        let smallest = minimize(&target, &baseline, budget).await.unwrap();
        let (smallest, bytes) = smallest.unwrap();
        // `Kx` has too small a length to crash, and five bytes with `x` crash elsewhere.
        assert_eq!((smallest.original, smallest.minimal), (60, true));
        assert_eq!(bytes.len(), 2, "{smallest:?}");
        assert!(bytes.contains(&b'K'), "{smallest:?}");
        let none = minimize(&target, &baseline, Duration::ZERO).await.unwrap();
        let (none, bytes) = none.unwrap();
        assert_eq!((bytes.len(), none.minimal, none.runs), (60, false, 0));
    }
}
