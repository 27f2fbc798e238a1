//! Difference of two sequences: the steps from the old one to the new one.

use similar::algorithms::{Capture, Compact, Replace, myers};
use std::collections::HashMap;
use std::hash::Hash;

pub use similar::DiffOp;

/// Computes the steps from one sequence to another by Myers' algorithm, equal parts included.
pub fn difference<T: Eq + Hash>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let mut numbers = HashMap::new();
    let mut number = |item| {
        let next = numbers.len();
        *numbers.entry(item).or_insert(next)
    };
    let old: Vec<usize> = old.iter().map(&mut number).collect();
    let new: Vec<usize> = new.iter().map(&mut number).collect();
    of_numbers(&old, &new)
}

/// Compares numbers that stand for the items. The algorithm is large: it is compiled for numbers
/// alone, and not once more for each kind of item.
fn of_numbers(old: &[usize], new: &[usize]) -> Vec<DiffOp> {
    let mut steps = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff(&mut steps, old, 0..old.len(), new, 0..new.len());
    steps.into_inner().into_inner().into_ops()
}

#[cfg(test)]
mod tests {
    use super::difference;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn steps_lead_from_the_old_to_the_new(
            old in prop::collection::vec("[a-c]?", 0..40),
            new in prop::collection::vec("[a-c]?", 0..40),
        ) {
            let steps = difference(&old, &new);
            let expected = similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new);
            prop_assert_eq!(&steps, &expected);
            let mut made: Vec<&String> = Vec::new();
            for step in &steps {
                let kept = old[step.old_range()].iter().collect::<Vec<_>>();
                let come = new[step.new_range()].iter().collect::<Vec<_>>();
                if step.tag() == similar::DiffTag::Equal {
                    prop_assert_eq!(&kept, &come);
                }
                made.extend(come);
            }
            prop_assert_eq!(made, new.iter().collect::<Vec<_>>());
        }
    }
}
