//! Branches of the patch: which ways out of them accepted inputs, tests and the PoV take.

use super::decisions::{conditions, decisions};
use super::reach::{ENOUGH_AIMED, Reach};
use crate::attempt::AttemptFacts;
use crate::review;
use patchwright_source::Language;
use patchwright_target::runner::{Counted, Coverage, LineRange, Way};
use std::collections::{BTreeMap, BTreeSet};

impl Reach {
    /// Tells whether a run takes a way out of a branch of the patch that the PoV takes and
    /// no accepted input does, though some come to that branch.
    pub(super) fn goes_as_the_pov(&self, run: &Coverage, attempt: &AttemptFacts) -> bool {
        let taken = |coverage: &Coverage, way: &Way| {
            coverage.branches.get(way).is_some_and(|count| *count > 0)
        };
        let reached = |(path, line, _): &Way| {
            let mut ways = self.accepted.branches.iter();
            ways.any(|((other, at, _), count)| other == path && at == line && *count > 0)
        };
        run.branches.keys().any(|way| {
            !self.all.calls.contains(way)
                && taken(run, way)
                && taken(&self.povs, way)
                && !taken(&self.accepted, way)
                && reached(way)
                && is_written(attempt, &self.counted, &way.0, way.1)
        })
    }

    /// Reads from the counts which ways of the patch's branches are not accounted for.
    pub(super) fn settle(&mut self, attempt: &AttemptFacts) {
        let places = places(&self.all, attempt, &self.counted);
        let ways = |coverage| ways(coverage, &places, &self.all.calls);
        let (all, accepted) = (ways(&self.all), ways(&self.accepted));
        let lines: Vec<_> = all.iter().collect();
        self.branches = lines.len();
        let written = attempt.written();
        (self.unaccounted, self.reasons) = account(&lines, &accepted, (self.aimed, &written));
    }
}

/// Returns the branches of which a way is not accounted for, and the reasons why others are.
fn account(
    lines: &[(&(&str, u32), &Ways)],
    accepted: &BTreeMap<(&str, u32), Ways>,
    (aimed, written): (u64, &[LineRange]),
) -> (Vec<String>, Vec<String>) {
    let taken = |place: &(&str, u32)| accepted.get(place).is_some_and(|ways| ways.taken > 0);
    let accepted_come = lines.iter().any(|(place, _)| taken(place));
    // Written in one piece with a branch above that accepted inputs pass by.
    let is_passed_by = |(path, line): (&str, u32)| {
        let piece = written.iter().find(|range| range.holds(path, line));
        let mut above = lines.iter().map(|(place, _)| *place);
        above.any(|place| {
            let (other, at) = *place;
            at < line && taken(place) && piece.is_some_and(|range| range.holds(other, at))
        })
    };
    let enough = aimed >= ENOUGH_AIMED;
    let (mut unaccounted, mut reasons) = (Vec::new(), Vec::new());
    for (place, seen) in lines {
        let (path, line) = *place;
        let by_accepted = accepted.get(place).copied().unwrap_or_default();
        let accounted = match (seen.taken, by_accepted.taken) {
            // Accepted inputs or tests take both ways.
            _ if by_accepted.both() => continue,
            (0, _) if enough && is_passed_by(**place) => Ok(format!(
                "{aimed} inputs aimed at the patch do not come there"
            )),
            (0, _) => Err("never reached"),
            // Behind another branch of the patch that accepted inputs pass by.
            (_, 0) if accepted_come => Ok("only the PoV and inputs like it come there".to_owned()),
            (_, 0) => Err("no accepted input comes there, and no test that is known to notice"),
            (all, fewer) if all > fewer => {
                Ok("the PoV and inputs like it take the other way".to_owned())
            }
            _ if enough => Ok(format!(
                "{aimed} inputs aimed at the patch do not take the other way"
            )),
            _ => Err("seen one way only"),
        };
        match accounted {
            Ok(reason) => reasons.push(format!("{path}:{line}: {reason}")),
            Err(why) => unaccounted.push(format!("{path}:{line} ({why})")),
        }
    }
    (unaccounted, reasons)
}

/// The ways out of one line's branches: all of them, and those that were taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Ways {
    all: usize,
    taken: usize,
}

impl Ways {
    /// Tells whether one of the line's conditions was seen both ways.
    fn both(self) -> bool {
        self.taken > self.all / 2
    }
}

/// Lines of the patch that have branches, each with the line that stands for it: of a condition
/// on several lines the first one that the patch wrote, so that it counts as on a single line.
type Places<'a> = BTreeMap<(&'a str, u32), u32>;

fn places<'a>(all: &'a Coverage, attempt: &'a AttemptFacts, counted: &Counted) -> Places<'a> {
    // Nothing is decided where the compiler only sees to what a call may throw.
    let branches = all.branches.keys().filter(|way| !all.calls.contains(*way));
    let places = branches.map(|(path, line, _)| ((path.as_str(), *line), *line));
    let places = places.filter(|((path, line), _)| is_written(attempt, counted, path, *line));
    let mut places: Places<'a> = places.collect();
    for (name, bytes) in &attempt.changes.files {
        let Some(language) = Language::of(name, bytes) else {
            continue;
        };
        if let Some(decisions) = decisions(language, bytes) {
            let decides = |line: &u32| {
                let mut ranges = decisions.iter();
                ranges.any(|(first, last)| (*first..=*last).contains(line))
            };
            places.retain(|(path, line), _| *path != name.as_str() || decides(line));
        }
        for (first, last) in conditions(language, bytes) {
            let here = (name.as_str(), first)..=(name.as_str(), last);
            let mut lines = places.range_mut(here);
            let head = lines.next().map(|(_, line)| *line);
            lines.for_each(|(_, line)| *line = head.unwrap_or(*line));
        }
    }
    places
}

/// Returns the ways out of branches by file and line, at the lines that stand for them.
fn ways<'a>(
    coverage: &'a Coverage,
    places: &Places<'_>,
    calls: &BTreeSet<Way>,
) -> BTreeMap<(&'a str, u32), Ways> {
    let mut ways: BTreeMap<(&str, u32), Ways> = BTreeMap::new();
    let branches = coverage.branches.iter();
    for (way, taken) in branches.filter(|(way, _)| !calls.contains(*way)) {
        let (path, line, _) = way;
        if let Some(line) = places.get(&(path.as_str(), *line)) {
            let ways = ways.entry((path, *line)).or_default();
            ways.all += 1;
            ways.taken += usize::from(*taken > 0);
        }
    }
    ways
}

/// Tells whether the patch wrote a line, and not only a comment there.
pub(super) fn is_written(attempt: &AttemptFacts, counted: &Counted, path: &str, line: u32) -> bool {
    if !counted.lines.iter().any(|range| range.holds(path, line)) {
        return false;
    }
    let mut files = attempt.changes.files.iter();
    let text = files.find(|(name, _)| name.as_str() == path);
    let text = text.map(|(_, bytes)| String::from_utf8_lossy(bytes));
    let code = text.and_then(|text| {
        let at = (line as usize).checked_sub(1)?;
        Some(review::bare(text.lines().nth(at)?))
    });
    let mut written = attempt.written().into_iter();
    code.is_some_and(|code| !code.is_empty()) && written.any(|range| range.holds(path, line))
}

#[cfg(test)]
mod tests {
    use super::{ENOUGH_AIMED, Ways, account, conditions, places, ways};
    use crate::attempt::AttemptFacts;
    use patchwright_source::{Language, Touched, TreePath};
    use patchwright_target::runner::{Counted, Coverage, LineRange};
    use std::collections::BTreeMap;

    const SPLIT: &str = "int f(int a, int b) {\n  if (a > 3\n      || (b < 2 &&\n          b > a))\n    return 1;\n  return a\n    + b;\n}\n";

    #[test]
    fn a_condition_on_several_lines_is_one() {
        assert_eq!(conditions(Language::C, SPLIT.as_bytes()), [(6, 7), (2, 4)]);
        let path = TreePath::new("a.c").unwrap();
        for (wrote, places_of, open) in [
            ((2, 4), vec![(2, 2), (3, 2), (4, 2)], 0),
            // What the patch left as it was stands for nothing.
            ((3, 4), vec![(3, 3), (4, 3)], 1),
        ] {
            let mut attempt = AttemptFacts::default();
            attempt.changes.files.insert(path.clone(), SPLIT.into());
            attempt.touched = vec![Touched {
                path: path.clone(),
                old: vec![],
                new: vec![wrote],
            }];
            let range = LineRange {
                path: "a.c".into(),
                first: 1,
                last: 8,
            };
            let counted = Counted {
                lines: vec![range],
                functions: vec![],
            };
            let mut all = Coverage::default();
            // The first two lines were seen both ways, the third never.
            for (line, taken) in [(2, [1, 4]), (3, [4, 2]), (4, [0, 0])] {
                for (way, count) in taken.into_iter().enumerate() {
                    let way = ("a.c".to_owned(), line, u32::try_from(way).unwrap());
                    all.branches.insert(way, count);
                }
            }
            let places = places(&all, &attempt, &counted);
            let lines: Vec<_> = places.iter().map(|((_, at), line)| (*at, *line)).collect();
            assert_eq!(lines, places_of);
            let ways = ways(&all, &places, &all.calls);
            let (unaccounted, _) = account(&ways.iter().collect::<Vec<_>>(), &ways, (0, &[]));
            assert_eq!(unaccounted.len(), open, "{unaccounted:?}");
        }
    }

    #[test]
    fn a_branch_behind_another_may_be_the_povs_alone() {
        let way = |taken| Ways { all: 2, taken };
        let all = BTreeMap::from([(("a.c", 4), way(2)), (("a.c", 5), way(2))]);
        for (guard, open) in [(way(1), 0), (way(0), 2)] {
            let accepted = BTreeMap::from([(("a.c", 4), guard), (("a.c", 5), way(0))]);
            let lines: Vec<_> = all.iter().collect();
            let (unaccounted, reasons) = account(&lines, &accepted, (9, &[]));
            assert_eq!((unaccounted.len(), reasons.len()), (open, 2 - open));
        }
        // One that nothing comes to, where many inputs pass by; in another place of the file
        // they do not.
        let all = BTreeMap::from([(("a.c", 4), way(1)), (("a.c", 5), way(0))]);
        for (aimed, first, open) in [
            (ENOUGH_AIMED - 1, 3, 2),
            (ENOUGH_AIMED, 3, 0),
            (ENOUGH_AIMED, 5, 1),
        ] {
            let lines: Vec<_> = all.iter().collect();
            let written = LineRange {
                path: "a.c".into(),
                first,
                last: 6,
            };
            let (unaccounted, reasons) = account(&lines, &all, (aimed, &[written]));
            assert_eq!((unaccounted.len(), reasons.len()), (open, 2 - open));
        }
    }

    #[test]
    fn a_way_that_no_accepted_input_takes_needs_another_that_does() {
        let ways = |all, taken| Ways { all, taken };
        for (seen, accepted, expected) in [
            (ways(2, 2), ways(2, 2), ""),
            (ways(2, 2), ways(2, 1), "take the other way"),
            (ways(2, 1), ways(2, 1), "seen one way only"),
            (ways(2, 1), ways(2, 0), "no accepted input"),
            (ways(2, 2), ways(2, 0), "no accepted input"),
            (ways(2, 0), ways(2, 0), "never reached"),
            // Two conditions on one line, of which one was seen both ways.
            (ways(4, 3), ways(4, 3), ""),
            (ways(4, 2), ways(4, 2), "seen one way only"),
        ] {
            let accepted_ways = BTreeMap::from([(("a.c", 4), accepted)]);
            let (open, known) = account(&[(&("a.c", 4), &seen)], &accepted_ways, (0, &[]));
            let told = [open, known].concat();
            assert_eq!(told.len(), usize::from(!expected.is_empty()), "{told:?}");
            let found = told.iter().all(|told| told.contains(expected));
            assert!(found, "{seen:?} {accepted:?} {told:?}");
        }
    }
}
