//! Edits whose place is known, disturbed as models disturb what they copy, in all
//! forms: none lands elsewhere than where it belongs.
//!
//! The draw is fixed and takes files of moderate length; `soak.rs` draws 20,000
//! from all of them.

#[path = "../../benches/diffs/perturb.rs"]
mod perturb;

use crate::raw_diffs::{cases, unpack};
use perturb::disturb::Dice;
use perturb::{Base, Outcome};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tempfile::TempDir;

/// Disturbed edits of one draw.
const TRIALS: usize = 500;

/// Edits of longer files are left to the soak, in lines.
const LONGEST: usize = 3_000;

/// Part of the disturbed edits that has to find its place, in percent: a locator that
/// refuses all would pass otherwise.
const RIGHT: usize = 60;

#[test]
fn disturbed_edits_land_where_they_belong_or_nowhere() {
    check_draw(17, TRIALS, LONGEST);
}

/// Part of the undisturbed edits that has to find its place in every form, in percent:
/// the few others stand twice, indentation aside, and say little.
const UNDISTURBED: usize = 97;

#[test]
fn undisturbed_edits_land_where_they_belong() {
    let trees: Vec<_> = cases()
        .into_iter()
        .map(|case| (unpack(&case), case))
        .collect();
    let bases = bases(&trees, LONGEST / 2);
    let (mut done, mut right) = (0, 0);
    for trial in bases.iter().flat_map(Base::undisturbed) {
        done += 1;
        match trial.outcome {
            Outcome::Right => right += 1,
            Outcome::Refused => {}
            Outcome::Named | Outcome::Wrong(_) => panic!("lands elsewhere:\n{}", trial.text),
        }
    }
    assert!(right * 100 >= done * UNDISTURBED, "{right} of {done}");
}

/// The edits of files up to a length.
fn bases(trees: &[(TempDir, PathBuf)], longest: usize) -> Vec<Base> {
    trees
        .iter()
        .filter_map(|(tree, case)| Base::read(case, tree.path()))
        .map(|base| base.up_to(longest))
        .filter(|base| !base.sketches.is_empty())
        .collect()
}

/// Places a draw of disturbed edits of files up to a length.
pub(crate) fn check_draw(seed: u64, trials: usize, longest: usize) {
    let trees: Vec<_> = cases()
        .into_iter()
        .map(|case| (unpack(&case), case))
        .collect();
    let bases = bases(&trees, longest);
    let mut dice = Dice(seed);
    let mut right: BTreeMap<&str, usize> = BTreeMap::new();
    let mut done = 0;
    while done < trials {
        let base = dice.one_of(&bases).unwrap();
        let Some(trial) = base.trial(&mut dice, true) else {
            continue;
        };
        done += 1;
        match trial.outcome {
            Outcome::Right => *right.entry(trial.form).or_default() += 1,
            Outcome::Refused | Outcome::Named => {}
            Outcome::Wrong(diff) => {
                panic!("{:?} lands elsewhere:\n{}\n{diff}", trial.names, trial.text)
            }
        }
    }
    let all: usize = right.values().sum();
    assert!(all * 100 >= trials * RIGHT, "{right:?} of {trials}");
    assert_eq!(right.len(), 3, "a form is never taken: {right:?}");
}
