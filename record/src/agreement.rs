//! Agreement of candidates: which of them behave alike.

use crate::blob::Blob;
use crate::doubt::{Doubt, DoubtedInput};
use serde::{Deserialize, Serialize};

/// The behaviour of candidates of several lanes, compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Attempts that behave alike on every input; the largest cluster first.
    pub clusters: Vec<Vec<u32>>,
    /// Inputs on which attempts agree with each other and not with the unpatched program.
    pub apart: Vec<AgreedInput>,
    /// Inputs that the unpatched program accepts, and the attempts that answer them as it does;
    /// absent in journals of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub as_before: Vec<AgreedInput>,
    /// Some inputs on which attempts differ from each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub splits: Vec<Split>,
    /// Number of inputs that all were run on.
    pub inputs: u64,
    /// Duration in seconds.
    pub seconds: f64,
}

/// An input, and attempts that do the same on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgreedInput {
    pub blob: Blob,
    pub attempts: Vec<u32>,
}

/// An input on which attempts differ from each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// The input, with what was done to the PoV to get it.
    pub input: DoubtedInput,
    /// The attempts that do the same, the largest group first, and what they do.
    pub groups: Vec<(Vec<u32>, String)>,
}

impl Split {
    /// Returns the attempts that agree with each other and not with this one, and what
    /// they do.
    fn others(&self, attempt: u32) -> Option<&(Vec<u32>, String)> {
        let mut groups = self.groups.iter();
        groups.find(|(members, _)| members.len() > 1 && !members.contains(&attempt))
    }

    /// Returns the doubt about an attempt that stands alone on this input.
    pub fn doubt(&self, attempt: u32) -> Doubt {
        let (count, theirs) = self
            .others(attempt)
            .map_or((0, ""), |(members, shown)| (members.len(), shown.as_str()));
        let mut groups = self.groups.iter();
        let own = groups.find(|(members, _)| members.contains(&attempt));
        Doubt {
            what: format!(
                "{}: {count} independent candidates agree with each other and not with this patch; they do: {}",
                self.input.name,
                theirs.lines().collect::<Vec<_>>().join(" ")
            ),
            input: Some(DoubtedInput {
                after: own.map(|(_, shown)| shown.clone()).unwrap_or_default(),
                ..self.input.clone()
            }),
            ..Doubt::default()
        }
    }
}

impl Agreement {
    /// Returns an input on which an attempt behaves like no other and other attempts agree;
    /// none where it behaves like another one everywhere.
    pub fn alone(&self, attempt: u32) -> Option<&Split> {
        let mut splits = self.splits.iter();
        let others = self.others(attempt);
        splits.find(|split| others == 0 && split.others(attempt).is_some())
    }

    /// Returns how many other attempts answer an input as the unpatched program, which accepts it,
    /// where this one does not.
    pub fn against(&self, attempt: u32, input: &Blob) -> usize {
        let same = self.as_before.iter().find(|one| one.blob == *input);
        let same = same.map_or(&[][..], |one| &one.attempts);
        if same.contains(&attempt) {
            0
        } else {
            same.len()
        }
    }

    /// Returns the number of other attempts that behave like this one.
    pub fn others(&self, attempt: u32) -> usize {
        let cluster = self.clusters.iter().find(|one| one.contains(&attempt));
        cluster.map_or(0, |cluster| cluster.len() - 1)
    }
}
