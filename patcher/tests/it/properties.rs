//! Properties of every reply, every file and every edit.
//!
//! `PROPTEST_CASES` sets how many are tried; `soak.rs` tries them for a time.

mod checks;

use checks::{
    arbitrary_file, check_copied, check_rewritten, check_soup, check_twice, copied, rewrite, soup,
    twice,
};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn reading_never_panics(text in any::<String>(), cut_off in any::<bool>()) {
        patchwright_patcher::reply::read(&text, cut_off);
    }

    #[test]
    fn soup_of_tags_is_read_and_placed_safely(text in soup(), cut_off in any::<bool>()) {
        check_soup(&text, cut_off);
    }

    #[test]
    fn what_is_applied_reverses(file in arbitrary_file(), edits in rewrite()) {
        check_rewritten(&file, &edits);
    }

    #[test]
    fn a_copied_original_is_placed_where_it_belongs(case in copied()) {
        check_copied(&case);
    }

    #[test]
    fn an_original_that_stands_twice_is_never_placed(case in twice()) {
        check_twice(&case);
    }
}
