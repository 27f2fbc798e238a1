//! Departure: the first function whose values differ between two runs of one input.

use super::test_calls::{all, tells, told};
use patchwright_target::runner::InputRun;
use std::collections::{BTreeMap, BTreeSet};

/// The ends of each function: the values that it returned, and other ways out of it.
type Ends = BTreeMap<String, BTreeSet<String>>;

/// The values of one run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Values {
    /// True where a touched function was called.
    pub(super) reached: bool,
    /// True where more happened than was written down.
    cut_off: bool,
    /// The values that the harness received, by the function that it called.
    received: Ends,
    /// The values that touched functions returned to callers that are not touched.
    returned: Ends,
}

/// The first function of which the values differ.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Departure {
    /// The function, and what it returns in both programs.
    pub(super) what: String,
    pub(super) at_harness: bool,
    pub(super) both_throw: bool,
}

impl Values {
    pub(super) fn read(run: &InputRun) -> Self {
        let text = String::from_utf8_lossy(&run.output);
        let mut values = Self {
            reached: !text.starts_with("0 calls"),
            cut_off: text.lines().any(|line| line == "and so on"),
            ..Self::default()
        };
        for line in text.lines() {
            let mut parts = line.splitn(3, '\t');
            let ends = match parts.next() {
                Some("harness") => &mut values.received,
                Some("returned") => &mut values.returned,
                _ => continue,
            };
            if let (Some(function), Some(end)) = (parts.next(), parts.next()) {
                let ends = ends.entry(function.to_owned()).or_default();
                ends.insert(end.to_owned());
            }
        }
        values
    }

    /// Tells whether a value was seen that could be another one.
    pub(super) fn says_something(&self) -> bool {
        let ends = self.received.values().chain(self.returned.values());
        ends.flatten().any(|end| tells(end))
    }

    /// Says what the harness receives, or else what touched functions return.
    pub(super) fn in_words(&self) -> String {
        let received = Some(&self.received).filter(|ends| !ends.is_empty());
        let ends = received.unwrap_or(&self.returned);
        let of_function = |(function, ends)| format!("{function} {}", all(ends));
        ends.iter().map(of_function).collect::<Vec<_>>().join("; ")
    }

    /// Compares with the patched program: functions that both programs were seen to leave.
    pub(super) fn departure(&self, patched: &Self) -> Option<Departure> {
        if self.cut_off || patched.cut_off {
            return None;
        }
        let first = |old: &Ends, new: &Ends, at_harness| {
            let both = old.iter();
            let mut both = both.filter_map(|(name, old)| Some((name, old, new.get(name)?)));
            let (name, old, new) = both.find(|(_, old, new)| old != new)?;
            let (old, new) = (told(old, new), told(new, old));
            Some(Departure {
                what: format!("{name} {old}; with the patch it {new}"),
                at_harness,
                both_throw: old.starts_with("throws ") && new.starts_with("throws "),
            })
        };
        first(&self.received, &patched.received, true)
            .or_else(|| first(&self.returned, &patched.returned, false))
    }
}

#[cfg(test)]
mod tests {
    use super::Values;
    use patchwright_sandbox::process::Ending;
    use patchwright_target::runner::InputRun;

    fn values(text: &str) -> Values {
        Values::read(&InputRun {
            index: 0,
            ending: Ending::Exited(0),
            output: text.as_bytes().to_vec(),
        })
    }

    #[test]
    fn order_and_number_of_calls_are_no_difference() {
        let old = values("3 calls\nreturned\tf (a.c)\treturns 1\nreturned\tg (a.c)\treturns 0\n");
        for (new, expected) in [
            (
                "1 calls\nreturned\tg (a.c)\treturns 0\nreturned\tf (a.c)\treturns 1\n",
                None,
            ),
            (
                "9 calls\nreturned\tf (a.c)\treturns 1\nreturned\tf (a.c)\treturns 1\n",
                None,
            ),
            // Put into its caller by the compiler, so that the caller's value is seen.
            (
                "2 calls\nreturned\th (a.c)\treturns 7\nreturned\tg (a.c)\treturns 0\n",
                None,
            ),
            (
                "3 calls\nreturned\tf (a.c)\treturns 2\n",
                Some("f (a.c) returns 1; with the patch it returns 2"),
            ),
            ("3 calls\nreturned\tf (a.c)\treturns 2\nand so on\n", None),
            ("", None),
        ] {
            let found = old.departure(&values(new)).map(|departure| departure.what);
            assert_eq!(found.as_deref(), expected, "{new}");
        }
    }

    #[test]
    fn what_the_harness_receives_comes_first() {
        let old = values("1 calls\nreturned\ta\treturns 1\nharness\tp\tthrows A\n");
        let new = values("1 calls\nreturned\ta\treturns 2\nharness\tp\tthrows B\n");
        let found = old.departure(&new).unwrap();
        assert_eq!(found.what, "p throws A; with the patch it throws B");
        assert!(found.at_harness && found.both_throw && old.reached);
        assert_eq!(old.in_words(), "p throws A");
        let unseen =
            values("2 calls\nreturned\tf (a.c)\treturns 1\nreturned\tf (a.c)\treturns 2\n");
        assert_eq!(unseen.in_words(), "f (a.c) returns 1 or returns 2");
        assert!(!values("0 calls\n").reached);
        assert!(
            old.says_something()
                && !values("1 calls\nreturned\ta\treturns an object\n").says_something()
        );
    }
}
