//! Edits whose place is certain, disturbed as models disturb what they copy:
//! none of them may land elsewhere. `make soak` places 20,000.

use crate::perturb::disturb::Dice;
use crate::perturb::{Base, Outcome};
use std::path::Path;

/// How many disturbed edits are placed.
const COUNT: usize = if cfg!(feature = "soak") { 20_000 } else { 300 };

/// The same edits are disturbed in the same way on every machine.
const SEED: u64 = 17;

/// At least this part of them is placed, in percent: a patcher that refuses
/// everything misplaces nothing.
const PLACED: usize = 40;

fn bases() -> Vec<Base> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/diffs");
    let mut folders: Vec<_> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    folders
        .iter()
        .filter_map(|folder| Base::read(folder))
        .collect()
}

fn check(by_share: bool) {
    let bases = bases();
    let mut dice = Dice(SEED);
    let (mut done, mut placed) = (0, 0);
    let mut wrong = Vec::new();
    while done < COUNT {
        let base = dice.one_of(&bases).unwrap();
        let Some(trial) = base.trial(&mut dice, by_share) else {
            continue;
        };
        done += 1;
        match trial.outcome {
            Outcome::Refused => {}
            Outcome::Right => placed += 1,
            Outcome::Wrong(diff) => {
                wrong.push(format!(
                    "{:?}\n{}\ntaken as\n{diff}",
                    trial.names, trial.text
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {COUNT}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(
        placed * 100 >= COUNT * PLACED,
        "only {placed} of {COUNT} were placed"
    );
}

#[test]
fn edits_disturbed_as_often_as_models_do_land_where_they_belong() {
    check(true);
}

#[test]
fn edits_disturbed_in_every_way_alike_land_where_they_belong() {
    check(false);
}
