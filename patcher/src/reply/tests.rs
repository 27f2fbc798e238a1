//! Replies of every kind, also broken ones: nothing panics, nothing is invented.

use super::read;
use proptest::prelude::*;

proptest! {
    #[test]
    fn never_panics(text in any::<String>(), cut_off in any::<bool>()) {
        read(&text, cut_off);
    }
}
