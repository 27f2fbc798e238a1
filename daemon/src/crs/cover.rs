//! The smallest set of patches that stops every PoV that some patch stops.
//!
//! Pure: it is told which patch stops which PoV and says which patches to give
//! out. It does not run anything, and it does not say whether a patch is right;
//! that is in the evidence it is told.

use itertools::Itertools;
use patchwright_agent::record::EndingKind;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Sets that are tried. Of a dozen patches there are a few thousand; beyond this the best
/// cover found so far is taken.
const SETS: usize = 50_000;

/// A patch, as far as the choice needs it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidate {
    /// The PoVs that it was seen to stop.
    pub stops: BTreeSet<String>,
    /// The doubt that it leaves; 0 for a patch that climbed every rung.
    pub doubt: u32,
}

/// Returns the doubt that a run leaves that ended so; nothing when it has
/// no patch to give out.
pub fn doubt_of(ending: EndingKind) -> Option<u32> {
    match ending {
        EndingKind::Verified => Some(0),
        EndingKind::Plausible => Some(1),
        EndingKind::Unverified => Some(2),
        _ => None,
    }
}

/// Chooses as few candidates as possible that together stop everything that
/// any of them stops: by number first, then by least doubt, then by order.
/// The answer holds their places, ascending.
pub fn smallest(candidates: &[Candidate]) -> Vec<usize> {
    let all: BTreeSet<&String> = candidates.iter().flat_map(|one| &one.stops).collect();
    let greedy = greedy(candidates, &all);
    let useful = candidates.iter().enumerate();
    let useful = useful.filter(|(_, one)| !one.stops.is_empty());
    let sets = (0..=greedy.len()).flat_map(|size| useful.clone().combinations(size));
    let covers = sets.take(SETS).filter(|set| {
        let stopped = set.iter().flat_map(|(_, one)| &one.stops);
        stopped.collect::<BTreeSet<_>>() == all
    });
    let best = covers.chain([greedy]).min_by_key(|set| {
        let doubt: u32 = set.iter().map(|(_, one)| one.doubt).sum();
        (set.len(), doubt, places(set))
    });
    best.map_or_else(Vec::new, |best| places(&best))
}

fn places(set: &[(usize, &Candidate)]) -> Vec<usize> {
    set.iter().map(|(place, _)| *place).collect()
}

/// The patch that stops the most of what is open, again and again.
fn greedy<'c>(candidates: &'c [Candidate], all: &BTreeSet<&String>) -> Vec<(usize, &'c Candidate)> {
    let mut open = all.clone();
    let mut chosen = Vec::new();
    while !open.is_empty() {
        let next = candidates.iter().enumerate().max_by_key(|(place, one)| {
            let gain = open.iter().filter(|pov| one.stops.contains(**pov));
            (gain.count(), Reverse((one.doubt, *place)))
        });
        let Some((place, one)) = next else { break };
        chosen.push((place, one));
        open.retain(|pov| !one.stops.contains(*pov));
    }
    chosen.sort_by_key(|(place, _)| *place);
    chosen
}

#[cfg(test)]
mod tests {
    use super::{Candidate, smallest};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// `"ab 1"`: stops a and b, with doubt 1.
    fn candidates(written: &[&str]) -> Vec<Candidate> {
        let read = |text: &&str| {
            let (stops, doubt) = text.split_once(' ').unwrap_or((text, "0"));
            Candidate {
                stops: stops.chars().map(String::from).collect(),
                doubt: doubt.parse().unwrap(),
            }
        };
        written.iter().map(read).collect()
    }

    #[test]
    fn as_few_patches_as_possible() {
        for (patches, expected) in [
            (&[][..], &[][..]),
            (&[""], &[]),
            (&["a", "b"], &[0, 1]),
            (&["a", "ab", "b"], &[1]),
            // The biggest bite first would take three.
            (&["abcd", "abe", "cdf"], &[1, 2]),
            // The same PoVs: the better evidence, else the first.
            (&["a 2", "a 1"], &[1]),
            (&["a", "a"], &[0]),
            // Fewer patches count for more than better evidence.
            (&["a", "b", "ab 9"], &[2]),
            (&["ab 1", "ab 1", "bc 1", "c"], &[0, 3]),
        ] {
            assert_eq!(smallest(&candidates(patches)), expected, "{patches:?}");
        }
    }

    #[test]
    fn ends_soon_on_many_patches() {
        let many: Vec<Candidate> = (0_u64..60)
            .map(|n| Candidate {
                stops: (0..80)
                    .filter(|pov| (n * 31 + pov * 17 + n * pov) % 7 == 0)
                    .map(|pov| pov.to_string())
                    .collect(),
                doubt: 0,
            })
            .collect();
        let all: BTreeSet<_> = many.iter().flat_map(|one| &one.stops).collect();
        let chosen = smallest(&many);
        let stopped: BTreeSet<_> = chosen
            .iter()
            .flat_map(|place| &many[*place].stops)
            .collect();
        assert_eq!(stopped, all);
    }

    proptest! {
        #[test]
        fn no_smaller_set_stops_as_much(
            stops in prop::collection::vec(prop::collection::btree_set("[a-f]", 0..4), 0..8),
        ) {
            let patches: Vec<Candidate> =
                stops.into_iter().map(|stops| Candidate { stops, doubt: 0 }).collect();
            let all: BTreeSet<&String> = patches.iter().flat_map(|one| &one.stops).collect();
            let covers = |set: u32| {
                let stopped: BTreeSet<&String> = patches
                    .iter()
                    .enumerate()
                    .filter(|(place, _)| set & (1 << place) != 0)
                    .flat_map(|(_, one)| &one.stops)
                    .collect();
                stopped == all
            };
            let least = (0..1_u32 << patches.len()).filter(|set| covers(*set)).map(u32::count_ones).min();
            let chosen = smallest(&patches);
            let set = chosen.iter().fold(0_u32, |set, place| set | 1 << place);
            prop_assert!(covers(set));
            prop_assert_eq!(Some(set.count_ones()), least);
        }
    }
}
