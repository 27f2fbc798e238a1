//! Folding of repetitions: recursion in stacks, repeated lines in logs.

/// The longest cycle that is recognised. Recursive descent through a dozen
/// functions is common, through more than 32 is not.
const MAX_PERIOD: usize = 32;
/// The fewest consecutive turns of a cycle that are folded.
const MIN_TIMES: usize = 3;

/// A run of items: `items[start..start + period]`, `times` times in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fold {
    /// Index of the first item.
    pub start: usize,
    /// Number of items of one turn.
    pub period: usize,
    /// Number of whole turns; 1 for items that do not repeat.
    pub times: usize,
}

/// Splits a list into runs, which together cover it in order.
///
/// Takes linear time: a run that is too short to fold is given up after a bounded
/// number of comparisons, one that folds is skipped.
pub fn fold<T: PartialEq>(items: &[T]) -> Vec<Fold> {
    let mut folds: Vec<Fold> = Vec::new();
    let mut at = 0;
    while at < items.len() {
        let rest = items.get(at..).unwrap_or_default();
        let (period, times) = cycle(rest).unwrap_or((1, 1));
        match folds.last_mut() {
            Some(last) if times == 1 && last.times == 1 => last.period += 1,
            _ => folds.push(Fold {
                start: at,
                period,
                times,
            }),
        }
        at += period * times;
    }
    folds
}

/// Finds the shortest cycle that the list begins with.
fn cycle<T: PartialEq>(items: &[T]) -> Option<(usize, usize)> {
    (1..=MAX_PERIOD.min(items.len() / MIN_TIMES)).find_map(|period| {
        let shifted = items.get(period..)?;
        let pairs = items.iter().zip(shifted);
        let same = pairs.take_while(|(a, b)| a == b).count();
        let times = same / period + 1;
        (times >= MIN_TIMES).then_some((period, times))
    })
}

#[cfg(test)]
mod tests {
    use super::fold;
    use proptest::prelude::*;

    fn shown(items: &str) -> Vec<(String, usize)> {
        let items: Vec<char> = items.chars().collect();
        fold(&items)
            .iter()
            .map(|run| {
                (
                    items[run.start..run.start + run.period].iter().collect(),
                    run.times,
                )
            })
            .collect()
    }

    fn check(items: &str, expected: &[(&str, usize)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(a, n)| ((*a).to_owned(), *n))
            .collect();
        assert_eq!(shown(items), expected, "{items}");
    }

    #[test]
    fn finds_the_shortest_cycle() {
        check("", &[]);
        check("abc", &[("abc", 1)]);
        check("aab", &[("aab", 1)]);
        check("aaab", &[("a", 3), ("b", 1)]);
        check("xabababy", &[("x", 1), ("ab", 3), ("y", 1)]);
        check("abcabcabcab", &[("abc", 3), ("ab", 1)]);
    }

    proptest! {
        #[test]
        fn loses_nothing(items in "[ab]{0,60}") {
            let unfolded: String = shown(&items).into_iter().map(|(run, n)| run.repeat(n)).collect();
            prop_assert_eq!(unfolded, items);
        }
    }
}
