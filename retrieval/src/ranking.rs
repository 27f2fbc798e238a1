//! Weights of what a context shows of a crash or a request: data that a command fits to
//! cases (`ranking.json`), not numbers of the code.
//!
//! Each is explained where it is applied ([`crate::context`]). Those of a crash multiply the weight
//! of the function that led there; those of a request are added to the logarithm of the odds.

use serde::{Deserialize, Serialize};

/// All fitted weights.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranking {
    pub crash: CrashWeights,
    /// Those that decide how much is shown of what was weighed.
    pub packing: PackingWeights,
    /// Those of a request in words.
    pub request: RequestWeights,
}

/// Weights of the functions around a crash; the top of its stack has 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrashWeights {
    /// The next function down a stack, against the one above.
    pub next_frame: f64,
    /// Harness code, allocators and other small functions that everybody calls: they are
    /// seldom wrong.
    pub common: f64,
    /// The stack that allocated or stored, against the one that crashed or freed.
    pub allocated: f64,
    /// Other stacks, such as a thread's creation.
    pub other_stack: f64,
    /// A called function, against its caller.
    pub called: f64,
    /// A called function of the same folder, against one of the same file.
    pub called_in_folder: f64,
    /// A called function that lies further away.
    pub called_elsewhere: f64,
    /// A call that sets what the line of the stack uses.
    pub sets: f64,
    /// A call that stands behind the line of the stack.
    pub later: f64,
    /// The power by which a call counts less the more calls follow it before the line.
    pub recency: f64,
    /// A function that writes what a line of a stack reads; of several each less.
    pub writer: f64,
    /// Functions of the stack of which lines are shown whatever they weigh, from the top, when
    /// no more than the usual is asked for.
    pub frames: f64,
    /// Further functions of the files shown that are named without their code.
    pub named: f64,
    /// One that calls lead to, by the logarithm of its weight, against that of its lines.
    pub reached: f64,
    /// The least weight of one that is named though no code of its file is shown.
    pub elsewhere: f64,
    /// A function that is named like one of the stack, against the logarithm of its lines.
    pub alike: f64,
}

/// Weights that decide how much of a definition is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackingWeights {
    /// Below it a function is not worth its tokens.
    pub floor: f64,
    /// Below it a definition is there for a few lines alone.
    pub likely: f64,
    /// From it on a definition is shown whole, and taken when the budget is nearly used.
    pub matters: f64,
    /// Tokens of a crash's context after which only what is likely is still taken.
    pub enough: f64,
    /// Past what is enough by this factor, only what matters most is taken.
    pub stretch: f64,
    /// Lines of a definition that are shown in full.
    pub body: f64,
    /// The fewest lines that are shown around lines of interest.
    pub window: f64,
    /// Lines before a line of interest that are shown before others: what is missing is mostly
    /// missing before the line that needs it.
    pub before: f64,
    /// The same behind it.
    pub behind: f64,
}

/// Log-odds of a request's candidates, and what is shown of those that they choose.
///
/// The first five weigh signals between 0 and 1, of which ten times the sum counts; a signal
/// that is not there is 0 for all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestWeights {
    /// Closeness in meaning, by embeddings where they are configured, else by the words of
    /// names and comments.
    pub semantic: f64,
    /// The request's own words.
    pub keyword: f64,
    /// The number of places that depend on it.
    pub in_degree: f64,
    /// The recency of its last change.
    pub recency: f64,
    /// The number of its calls.
    pub popularity: f64,
    /// Each doubling of the length: requests are mostly about the code where something is
    /// done.
    pub length: f64,
    /// Other candidates in the same file.
    pub crowd: f64,
    /// A definition in a file that the request names.
    pub in_named_file: f64,
    /// Penalty of tests when none are asked for.
    pub aside: f64,
    /// Penalty of types: requests are mostly about behaviour, and the members of a type are
    /// candidates themselves.
    pub types: f64,
    /// Share of the best below which a candidate is left.
    pub near_best: f64,
    /// Share of the likeliest file below which a further one is left.
    pub near_first_file: f64,
    /// Lines that are shown of the likeliest candidate.
    pub lines: f64,
    /// The least weight of a candidate that is shown.
    pub least: f64,
    /// Weight of a candidate beside what the request names, against one without names.
    pub beside_named: f64,
    /// Likeness from which on a misspelt name is taken.
    pub alike: f64,
    /// The first caller or test where the request asks for users, of several each a tenth less.
    pub user: f64,
    /// Tokens after which only what is likely is still taken. Answers get worse with length,
    /// and a request names few things.
    pub enough: f64,
}

impl Ranking {
    /// The weights that are shipped.
    pub fn shipped() -> Self {
        // A test reads the file strictly.
        serde_json::from_str(include_str!("ranking.json")).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Ranking;

    #[test]
    fn the_weights_that_are_shipped_are_all_there_and_make_sense() {
        let text = include_str!("ranking.json");
        let ranking: Ranking = serde_json::from_str(text).unwrap();
        assert_eq!(Ranking::shipped(), ranking);
        let packing = ranking.packing;
        assert!(packing.floor < packing.likely && packing.likely < packing.matters);
        assert!(packing.matters <= 1.0, "the top of a stack is shown whole");
        let written = serde_json::to_string_pretty(&ranking).unwrap() + "\n";
        assert_eq!(text, written, "as the command writes it");
    }
}
