//! Probes of a round: which build is asked, and what was asked before.

use super::attempt::Attempt;
use itertools::Itertools;
use patchwright_patcher::Probe;
use patchwright_record::DoubtedInput;
use serde::{Deserialize, Serialize};

/// The word by which a probe asks the lane's last patch that was built.
const ATTEMPT: [&str; 4] = ["attempt", "patch", "patched", "last"];

/// A probe with the build that it is asked of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeQuestion {
    /// The file, as it was written.
    pub file: String,
    /// The line of the pristine tree.
    pub line: u32,
    /// The expression, as it was written.
    pub expression: String,
    /// The attempt whose build is asked; nothing for the unpatched program.
    pub attempt: Option<u32>,
    /// The name of the input that the program is run on; nothing for the PoV.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
}

/// The answers to probes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Probed {
    /// One text for each probe, in order.
    pub answers: Vec<String>,
    /// Seconds spent in commands.
    pub seconds: f64,
}

/// One probe of a round as the model is told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProbeTold {
    pub expression: String,
    pub place: String,
    /// The build in words.
    pub build: String,
    /// The round that answered it before.
    pub round: Option<u32>,
    /// The answer of this round.
    pub answer: String,
}

impl ProbeQuestion {
    /// Settles which build is asked; `built` is the last attempt that was.
    pub(crate) fn of(probe: &Probe, built: Option<u32>) -> Self {
        let build = probe.build.as_deref();
        let wants_attempt = build.is_some_and(|word| ATTEMPT.contains(&word));
        Self {
            file: probe.file.clone(),
            line: probe.line,
            expression: probe.expression.split_whitespace().join(" "),
            attempt: built.filter(|_| wants_attempt),
            input: probe.input.clone(),
        }
    }

    /// Names the build that is asked and the input it runs on.
    fn build_in_words(&self) -> String {
        let build = self.attempt.map_or_else(
            || "the unpatched program".to_owned(),
            |number| format!("the program with the patch of attempt {number}"),
        );
        match &self.input {
            Some(input) => {
                let plain = input.chars().filter(|one| !one.is_control() && *one != '`');
                let name: String = plain.take(80).collect();
                format!("{build} on the input {name}")
            }
            None => build,
        }
    }

    /// Returns the input that it names: of the attempts' differences the latest of that
    /// name, which may be written in short ("mutant 25").
    pub(crate) fn named_input<'a>(
        &self,
        attempts: &'a [Attempt],
    ) -> Option<Result<&'a DoubtedInput, String>> {
        let wanted = self.input.as_ref()?.trim().to_lowercase();
        let known = || {
            let rungs = attempts.iter().rev().flat_map(|attempt| &attempt.rungs);
            rungs
                .flat_map(|rung| &rung.doubts)
                .filter_map(|doubt| doubt.input.as_ref())
        };
        let fits = |name: &str| {
            let name = name.to_lowercase();
            let rest = name.strip_prefix(&wanted);
            rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        };
        let found = known().find(|input| !wanted.is_empty() && fits(&input.name));
        Some(found.ok_or_else(|| {
            let names: Vec<&str> = known().take(8).map(|input| input.name.as_str()).collect();
            match names.as_slice() {
                [] => "no input has a name yet; leave out input=".to_owned(),
                names => format!("no input has this name; there are: {}", names.join(", ")),
            }
        }))
    }

    pub(crate) fn told(&self, round: Option<u32>, answer: String) -> ProbeTold {
        let expression = self.expression.replace('`', "'");
        ProbeTold {
            expression: expression.chars().take(200).collect(),
            place: format!("{}:{}", self.file, self.line),
            build: self.build_in_words(),
            round,
            answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ProbeQuestion;
    use crate::record::{Attempt, Blob, Doubt, DoubtedInput, Rung};
    use patchwright_patcher::{Patch, Probe};
    use patchwright_verdict::RungName;

    fn attempt(number: u32, names: &[&str]) -> Attempt {
        let doubts = names.iter().map(|name| Doubt {
            input: Some(DoubtedInput {
                name: (*name).to_owned(),
                blob: Blob::Kept(format!("{number} {name}")),
                ..DoubtedInput::default()
            }),
            ..Doubt::default()
        });
        let mut rung = Rung::new(RungName::SameElsewhere, Some(false), "differs");
        rung.doubts = doubts.collect();
        Attempt {
            number,
            lane: 1,
            patch: Patch::default(),
            diff: String::new(),
            latin1: false,
            surroundings: String::new(),
            normal_form: String::new(),
            warnings: Vec::new(),
            rungs: vec![rung],
            withdrawn: false,
            regression: None,
        }
    }

    #[test]
    fn an_input_is_named_in_full_or_in_short() {
        let attempts = [
            attempt(1, &["mutant 2 of a PoV", "mutant 25 of a PoV"]),
            attempt(2, &["mutant 2 of a PoV", "good.txt"]),
        ];
        for (name, expected) in [
            ("mutant 25", Ok("1 mutant 25 of a PoV")),
            ("Mutant 25 of a PoV", Ok("1 mutant 25 of a PoV")),
            ("mutant 2", Ok("2 mutant 2 of a PoV")),
            ("good.txt", Ok("2 good.txt")),
            ("mutant", Ok("2 mutant 2 of a PoV")),
            ("mutant 3", Err("there are: ")),
            (" ", Err("there are: ")),
        ] {
            let probe = Probe {
                input: Some(name.to_owned()),
                ..Probe::default()
            };
            let question = ProbeQuestion::of(&probe, None);
            match (question.named_input(&attempts).unwrap(), expected) {
                (Ok(found), Ok(blob)) => assert_eq!(found.blob.hash(), blob, "{name}"),
                (Err(reason), Err(part)) => assert!(reason.contains(part), "{reason}"),
                (found, _) => panic!("{name}: {found:?}"),
            }
            assert!(
                question
                    .told(None, String::new())
                    .build
                    .contains("on the input")
            );
        }
        let plain = ProbeQuestion::of(&Probe::default(), None);
        assert!(plain.named_input(&attempts).is_none());
    }
}
