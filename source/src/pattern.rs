//! Built-in regular expressions: those that are part of the program.
//!
//! One that does not compile is a fault of the program, and it stops there. If
//! it matched nothing instead, it would switch off the rule or the parser that
//! relies on it, and nobody would be told.

use regex::{Error, Regex, RegexSet};
use std::ops::Deref;
use std::sync::OnceLock;

/// A built-in regular expression, which is compiled at its first use.
#[derive(Debug)]
pub struct Pattern {
    expression: &'static str,
    compiled: OnceLock<Regex>,
}

impl Pattern {
    pub const fn new(expression: &'static str) -> Self {
        Self {
            expression,
            compiled: OnceLock::new(),
        }
    }
}

impl Deref for Pattern {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        self.compiled
            .get_or_init(|| built_in_regex(self.expression))
    }
}

/// Compiles a built-in regular expression.
pub fn built_in_regex(expression: &str) -> Regex {
    compiled(Regex::new(expression))
}

/// Returns a built-in regular expression, which is compiled at its first use.
#[macro_export]
macro_rules! regex {
    ($expression:expr) => {{
        static PATTERN: $crate::Pattern = $crate::Pattern::new($expression);
        &*PATTERN
    }};
}

/// Compiles a set of built-in regular expressions.
pub fn built_in_regex_set<'a>(expressions: impl IntoIterator<Item = &'a str>) -> RegexSet {
    compiled(RegexSet::new(expressions))
}

#[expect(
    clippy::panic,
    reason = "a built-in expression that does not compile must never match nothing instead"
)]
fn compiled<T>(made: Result<T, Error>) -> T {
    made.unwrap_or_else(|error| panic!("a built-in regular expression does not compile: {error}"))
}

#[cfg(test)]
mod tests {
    use super::{built_in_regex, built_in_regex_set};

    #[test]
    fn what_compiles_matches() {
        assert!(built_in_regex("^a+$").is_match("aa"));
        assert!(crate::regex!(concat!("^a", "+$")).is_match("aa"));
        assert!(built_in_regex_set(["a", "b"]).is_match("b"));
    }

    #[test]
    #[should_panic(expected = "does not compile")]
    fn an_expression_that_does_not_compile_stops_the_program() {
        built_in_regex("(");
    }

    #[test]
    #[should_panic(expected = "does not compile")]
    fn one_of_a_set_stops_it_too() {
        built_in_regex_set(["a", "["]);
    }
}
