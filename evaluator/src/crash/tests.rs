//! Every report family from the fixtures, and texts that are no report.

use super::parse;

#[test]
fn finds_nothing_in_nothing() {
    for text in ["", "hello\n", "\n\n\n", "==1==ERROR: \n", "#0 0x1 in f"] {
        assert_eq!(parse(text), None, "{text:?}");
    }
}
