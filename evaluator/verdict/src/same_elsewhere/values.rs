//! Value comparison, for harnesses that show nothing: the values that leave the touched functions.
//!
//! The output of a harness is compared as such, and shows what it received. Where all outputs are
//! alike, a debugger for C and C++, and an agent in the JVM for Java, read what the harness
//! receives, which is behaviour, and what touched functions return to callers that are not
//! touched, of which a difference is a doubt at most. Values are compared by function and file:
//! how often and in which order functions are called is no difference, and neither is a function
//! that the compiler puts into its caller in one program only.

use super::Comparison;
use super::departure::{Departure, Values};
use super::doubts::{BOTH_REFUSE, Differing};
use super::outputs::half;
use super::pool::{ComparedInput, InputKind};
use super::runs::Part;
use patchwright_target::Result;
use patchwright_target::probe::{Expression, Probe};
use patchwright_target::runner::{Capture, Inputs};
use std::collections::BTreeMap;
use std::time::Duration;

/// Inputs of one round; the next round follows if there is time.
const ROUND: usize = 6;
/// The names of the counts of compared inputs, and of those with other values.
const COMPARED: &str = "values compared";
const OTHERWISE: &str = "inputs with other values";
/// The name of the count of inputs with the same values, of which one could be another.
pub(super) const SEEN: &str = "inputs with the same values";
/// The most inputs whose values are compared.
const MOST: usize = 64;
/// The most inputs with other values that are told.
const MOST_TOLD: u64 = 3;

impl Comparison<'_> {
    /// Compares values on some of the inputs whose outputs were the same; where no build with
    /// counters can be had, they also say which inputs reach the patch.
    pub(super) async fn values(&mut self) -> Result<Option<Differing>> {
        let nothing_to_see = !self.is_silent() && self.reach.is_some();
        if self.functions.is_empty() || self.compared.is_empty() || nothing_to_see {
            return Ok(None);
        }
        // Those that were seen to reach the patch tell most.
        let mut order = self.reaching.clone();
        if self.reach.is_none() {
            order = mixed(&self.compared);
        }
        for (round, chunk) in order.chunks(ROUND).take(MOST / ROUND).enumerate() {
            let left = self.clock.left(Part::VALUES);
            if round > 0 && left.is_zero() || self.counted(OTHERWISE) >= MOST_TOLD {
                break;
            }
            if let Some(difference) = self.round(chunk, left).await? {
                return Ok(Some(difference));
            }
        }
        if self.counted(COMPARED) == 0 {
            let why = self.why_unseen().await?;
            self.unseen.push(why.clone());
            self.values_unseen = Some(why);
        }
        Ok(None)
    }

    /// Tells whether the harness shows nothing of what it receives: all that it printed is alike
    /// but for numbers, such as the time that a fuzzer took.
    pub(super) fn is_silent(&self) -> bool {
        self.outputs_seen.len() <= 1
    }

    async fn round(
        &mut self,
        chunk: &[ComparedInput],
        left: Duration,
    ) -> Result<Option<Differing>> {
        let half = half(left, self.counted(COMPARED));
        let values = Capture::Values(self.functions.clone());
        let both = self.run_both(chunk, values, half).await?;
        let mut found = None;
        for (_, input, [before, after]) in both.pairs() {
            let values = Values::read(before);
            self.count(COMPARED, 1);
            self.count("reached a touched function", u64::from(values.reached));
            let is_seen = values.says_something() && values == Values::read(after);
            self.count(SEEN, u64::from(is_seen));
            if values.reached && self.reach.is_none() {
                self.reaching.push(input.clone());
            }
            // Of a mutant of a PoV nobody knows what it should be.
            if !self.is_silent() || input.kind == InputKind::Derived {
                continue;
            }
            if let Some(departure) = values.departure(&Values::read(after))
                && self.is_steady(input, &values).await?
            {
                let what = format!("{} ({})", departure.what, input.kind.as_str());
                let one = Differing::new(input.clone(), what, [before, after]);
                found = found.or(self.other_values(one, &departure).await?);
            }
        }
        Ok(found)
    }

    /// Tells whether the unpatched program returns the same values again.
    async fn is_steady(&self, input: &ComparedInput, values: &Values) -> Result<bool> {
        let how = Inputs {
            capture: Capture::Values(self.functions.clone()),
            ..self.again()
        };
        let one = std::slice::from_ref(input);
        let again = self.run(self.programs.old, one, how).await?;
        let run = again.get(&0);
        Ok(run.is_some_and(|run| Values::read(run) == *values))
    }

    /// Takes an input on which values differ: what the harness receives on a given input
    /// refutes, the rest is a doubt.
    async fn other_values(
        &mut self,
        mut one: Differing,
        departure: &Departure,
    ) -> Result<Option<Differing>> {
        self.count(OTHERWISE, 1);
        let given = matches!(one.input.kind, InputKind::Given | InputKind::OfTests);
        let refused = (departure.both_throw && !given).then(|| BOTH_REFUSE.to_owned());
        one.settled = self.accepted(&one).or(refused);
        self.settle_undefined(std::slice::from_mut(&mut one))
            .await?;
        if one.settled.is_none() && given && departure.at_harness {
            return Ok(Some(one));
        }
        self.keep_doubt(&one);
        Ok(None)
    }

    /// Returns why no value could be read.
    async fn why_unseen(&self) -> Result<String> {
        let lines = self.programs.attempt.touched.iter().filter_map(|touched| {
            Some(Probe {
                path: touched.path.clone(),
                line: touched.old.first()?.0,
                expression: Expression::read("1").ok()?,
            })
        });
        let probes: Vec<Probe> = lines.take(1).collect();
        let (old, pov) = (self.programs.old, self.programs.pov);
        let seen = self.programs.target.probe(old, pov, &probes).await?;
        let usual = || "no run came to an end under the debugger".to_owned();
        Ok(seen.problem.unwrap_or_else(usual))
    }
}

/// Orders the inputs by kind in turn, given ones first, since they are the likeliest to
/// reach a touched function. Of each kind those with a new output come first.
pub(super) fn mixed(inputs: &[ComparedInput]) -> Vec<ComparedInput> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, &ComparedInput)> = Vec::new();
    let mut inputs: Vec<&ComparedInput> = inputs.iter().collect();
    inputs.sort_by_key(|input| !input.fresh);
    for input in inputs {
        let rank = counts.entry(input.kind.as_str()).or_default();
        ranked.push((*rank, input));
        *rank += 1;
    }
    ranked.sort_by_key(|(rank, input)| (*rank, input.kind != InputKind::Given));
    ranked.into_iter().map(|(_, one)| one.clone()).collect()
}
