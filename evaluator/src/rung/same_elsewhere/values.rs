//! What the touched functions and their callers return.
//!
//! Most harnesses print nothing, so outputs alone hardly tell two programs
//! apart. For C and C++ a debugger reads return values; for Java the JVM says
//! which methods a run came by, and values are not compared.

use super::{Comparison, Difference};
use crate::TargetError;
use crate::target::{InputRun, Wanted};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Inputs that are looked at in the first round; if they take little time, more follow.
const ROUND: usize = 16;
/// Inputs that are looked at at most.
const MOST: usize = 64;

impl Comparison<'_> {
    /// Compares return values on some of the inputs whose outputs were the same.
    pub(super) async fn values(
        &mut self,
        left: Duration,
    ) -> Result<Option<Difference>, TargetError> {
        if self.functions.is_empty() || self.compared.is_empty() {
            return Ok(None);
        }
        if self.target.task().language == "java" {
            self.methods(left).await?;
            return Ok(None);
        }
        let started = Instant::now();
        let mut at = 0;
        while at < MOST.min(self.compared.len()) && started.elapsed() < left.mul_f64(0.6) {
            let chunk: Vec<_> = self.compared.iter().skip(at).take(ROUND).cloned().collect();
            at += ROUND;
            let third = left.saturating_sub(started.elapsed()) / 3;
            let wanted = || Wanted::Values(self.functions.clone());
            let (old, new) = self.builds;
            let first = self.run(old, &chunk, wanted(), third).await?;
            let second = self.run(old, &chunk, wanted(), third).await?;
            let patched = self.run(new, &chunk, wanted(), third).await?;
            let (mut seen, mut reached) = (0, 0);
            let mut found = None;
            for (index, input) in chunk.iter().enumerate() {
                let Some((before, after)) = same_twice(index, &first, &second, &patched) else {
                    continue;
                };
                seen += 1;
                reached += u64::from(!before.starts_with("0 calls"));
                if before == after {
                    continue;
                }
                let difference = difference(input, &before, &after);
                if input.kind == super::Kind::Derived {
                    self.doubts
                        .push(format!("{}: {}", difference.input, difference.what));
                    continue;
                }
                found = found.or(Some(difference));
            }
            if seen > 0 {
                self.count("values compared", seen);
                self.count("reached a touched function", reached);
            }
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Counts the inputs on which a Java program comes by a touched method.
    async fn methods(&mut self, left: Duration) -> Result<(), TargetError> {
        let chunk: Vec<_> = self.compared.iter().take(ROUND).cloned().collect();
        let runs = self
            .run(self.builds.1, &chunk, Wanted::Methods, left)
            .await?;
        let mut reached = 0;
        let mut seen = 0;
        for run in runs.values() {
            let text = String::from_utf8_lossy(&run.output);
            // The JVM prints `java/lang/Object.<init>:()V`, one a line.
            if !text.contains(".<init>:(") {
                continue;
            }
            seen += 1;
            let comes_by = self.functions.iter().any(|function| {
                let name = function.rsplit(['.', ':', '#']).next().unwrap_or(function);
                text.contains(&format!(".{name}:("))
            });
            reached += u64::from(comes_by);
        }
        if seen > 0 {
            self.count("reached a touched function", reached);
        }
        Ok(())
    }
}

fn same_twice(
    index: usize,
    first: &BTreeMap<usize, InputRun>,
    second: &BTreeMap<usize, InputRun>,
    patched: &BTreeMap<usize, InputRun>,
) -> Option<(String, String)> {
    let text = |runs: &BTreeMap<usize, InputRun>| {
        let run = runs.get(&index)?;
        Some(String::from_utf8_lossy(&run.output).into_owned())
    };
    let (before, again) = (text(first)?, text(second)?);
    (before == again).then_some((before, text(patched)?))
}

fn difference(input: &super::Input, before: &str, after: &str) -> Difference {
    let differing = before
        .lines()
        .zip(after.lines())
        .skip(1)
        .find(|(old, new)| old != new);
    let what = match differing {
        Some((old, new)) => format!("{old:?} became {new:?}"),
        None => "touched functions are called more or less often".to_owned(),
    };
    Difference {
        input: input.name.clone(),
        what: format!("{what} ({})", input.kind.name()),
        old: before.to_owned(),
        new: after.to_owned(),
    }
}
