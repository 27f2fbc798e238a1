//! The budget of a context by parts: each part has its share, and what one
//! leaves is for all. It counts tokens and knows nothing of code.

use crate::intent::Shares;

/// A part of a context that has a share of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// Cards of what the code names.
    Definitions,
    /// The code itself.
    Snippets,
    /// Code of other files that it uses.
    Imports,
    /// Tests of it.
    Tests,
    /// Its callers.
    Callers,
}

impl Part {
    pub(crate) const ALL: [Self; 5] = [
        Self::Definitions,
        Self::Snippets,
        Self::Imports,
        Self::Tests,
        Self::Callers,
    ];

    /// Its share of the budget, in hundredths.
    pub(crate) fn of(self, shares: Shares) -> u32 {
        match self {
            Self::Definitions => shares.definitions,
            Self::Snippets => shares.snippets,
            Self::Imports => shares.imports,
            Self::Tests => shares.tests,
            Self::Callers => shares.callers,
        }
    }
}

/// Tokens that are left, for each part and in all.
#[derive(Debug)]
pub(super) struct Budget {
    own: [(Part, usize); 5],
    common: usize,
}

impl Budget {
    pub(super) fn of(tokens: usize, shares: Shares) -> Self {
        let own = Part::ALL.map(|part| (part, tokens * part.of(shares) as usize / 100));
        let divided: usize = own.iter().map(|(_, tokens)| tokens).sum();
        Self {
            own,
            common: tokens.saturating_sub(divided),
        }
    }

    /// Returns what a part may still take: its own, then what others left.
    pub(super) fn left(&self, part: Part) -> usize {
        let own = self.own.iter().find(|(one, _)| *one == part);
        own.map_or(0, |(_, tokens)| *tokens) + self.common
    }

    pub(super) fn spend(&mut self, part: Part, tokens: usize) {
        let mut rest = tokens;
        for (one, own) in &mut self.own {
            if *one == part {
                let paid = rest.min(*own);
                *own -= paid;
                rest -= paid;
            }
        }
        self.common = self.common.saturating_sub(rest);
    }

    /// A part is done: what it leaves is for all.
    pub(super) fn hand_on(&mut self, part: Part) {
        for (one, own) in &mut self.own {
            if *one == part {
                self.common += std::mem::take(own);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Part};
    use crate::intent::Shares;

    const SHARES: Shares = Shares {
        definitions: 30,
        snippets: 25,
        imports: 10,
        tests: 20,
        callers: 15,
    };

    #[test]
    fn each_part_has_its_share() {
        let budget = Budget::of(1_000, SHARES);
        let left = Part::ALL.map(|part| budget.left(part));
        assert_eq!(left, [300, 250, 100, 200, 150]);
    }

    #[test]
    fn what_one_leaves_is_for_all_and_is_spent_once() {
        let mut budget = Budget::of(1_000, SHARES);
        budget.spend(Part::Tests, 50);
        budget.hand_on(Part::Tests);
        assert_eq!(budget.left(Part::Tests), 150);
        assert_eq!(budget.left(Part::Snippets), 400);
        budget.spend(Part::Snippets, 300);
        assert_eq!(budget.left(Part::Snippets), 100);
        assert_eq!(budget.left(Part::Definitions), 400);
        budget.spend(Part::Definitions, 1_000_000);
        assert_eq!(budget.left(Part::Definitions), 0);
        assert_eq!(budget.left(Part::Callers), 150);
    }
}
