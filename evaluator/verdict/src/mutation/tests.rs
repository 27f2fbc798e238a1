//! The sequence of mutations: the same each time, and nothing overgrown.

use super::{LARGEST, Mutator};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[test]
fn the_sequence_depends_on_the_seeds_alone_and_varies() {
    let seeds = || vec![b"GIF89a 12 34".to_vec(), vec![0; 9]];
    let inputs = Mutator::new(seeds()).take(2000);
    assert_eq!(inputs, Mutator::new(seeds()).take(2000));
    assert_ne!(
        inputs,
        Mutator::new(vec![b"GIF89a 12 35".to_vec()]).take(2000)
    );
    let distinct: BTreeSet<_> = inputs.iter().collect();
    assert!(distinct.len() > 1900, "{}", distinct.len());
    let has = |wanted: &[u8]| {
        inputs
            .iter()
            .any(|i| i.windows(wanted.len()).any(|w| w == wanted))
    };
    assert!(has(b"GIF89a 65536 34"), "numbers of text are replaced");
    assert!(inputs.iter().any(|i| i.len() < 4) && inputs.iter().any(|i| i.len() > 30));
}

#[test]
fn one_byte_less_and_one_more_come_first() {
    let pov = b"a_name_that_is_too_long=1\n".to_vec();
    let inputs = Mutator::nearest_first(vec![pov.clone()]).take(32);
    let next_to_it = |input: &&Vec<u8>| input.len().abs_diff(pov.len()) == 1;
    assert!(inputs.iter().filter(next_to_it).count() >= 16, "{inputs:?}");
    assert!(
        inputs.contains(&b"a_name_that_is_too_log=1\n".to_vec()),
        "{inputs:?}"
    );
}

proptest! {
    #[test]
    fn any_seed_will_do(seeds in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..4)) {
        for input in Mutator::new(seeds).take(300) {
            prop_assert!(input.len() <= LARGEST);
        }
    }
}
