//! Runs the inputs that a model wrote against an attempt.

use super::Drive;
use super::failure::{Failure, known, retried};
use crate::journal::Result;
use crate::record::{Blob, ChallengeRecord, ChallengeSource, ChallengedRecord, Outcome, StepId};
use crate::repair::Run;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use patchwright_patcher::reply::{ChallengeForm, RawChallenge};
use patchwright_target::{Baseline, Target, TargetError};
use patchwright_verdict::{Candidate, ChallengeInput, agreement, challenge};
use serde_json::json;

/// The largest input, in bytes.
const LARGEST: usize = 1 << 20;

impl Drive {
    /// Runs inputs; `log` names the log of the rung so far, which the new one continues.
    pub(super) async fn challenge(
        &self,
        id: StepId,
        number: u32,
        (inputs, log): (Vec<ChallengeRecord>, Blob),
        run: &Run,
    ) -> Result<Outcome, Failure> {
        let (attempt, target) = (known(run, number)?, self.target()?);
        let summary = format!("attempt {number}: running {} challenges", inputs.len());
        let body = json!({ "attempt": number, "inputs": inputs });
        self.intend(id, "challenges", summary, body).await?;
        let baseline = self.target_baseline().await?;
        let facts = self.facts(attempt).await?;
        let facts = self.with_inputs(facts, Vec::new(), run).await?;
        let target = target.as_ref();
        let (made, unmade) = self.made(target, &baseline, inputs).await?;
        let told = retried(|| challenge(target, &baseline, &facts, &made)).await?;
        let mut kept = Vec::new();
        for input in told.counted.iter().filter_map(|index| made.get(*index)) {
            let blob = Blob::Kept(self.journal.keep(&input.bytes).await?);
            kept.push(ChallengeRecord {
                name: input.name.clone(),
                source: ChallengeSource::Kept(blob),
            });
        }
        let mut result = told.result;
        for reason in &unmade {
            result.reason = format!("{}; {reason}", result.reason);
        }
        let mut lines: Vec<String> = result.log.text().lines().map(ToOwned::to_owned).collect();
        lines.extend(unmade);
        result.log = self.continued(&log, &lines).await?.into_bytes().into();
        let rung = self.kept(result).await?;
        Ok(Outcome::Challenged(ChallengedRecord { rung, kept, lines }))
    }

    /// Returns a rung's log, which stands among the blobs, with lines added to it.
    async fn continued(&self, before: &Blob, lines: &[String]) -> Result<String> {
        let before = self.journal.blob(before.hash()).await?.unwrap_or_default();
        let mut log = String::from_utf8_lossy(&before).into_owned();
        if !log.is_empty() && !log.ends_with('\n') {
            log.push('\n');
        }
        log.push_str(&lines.join("\n"));
        Ok(log)
    }

    /// The bytes of the inputs; and why some of them could not be made.
    async fn made(
        &self,
        target: &dyn Target,
        baseline: &Baseline,
        inputs: Vec<ChallengeRecord>,
    ) -> Result<(Vec<ChallengeInput>, Vec<String>), Failure> {
        let (mut made, mut unmade) = (Vec::new(), Vec::new());
        for ChallengeRecord { name, source } in inputs {
            let bytes = match source {
                ChallengeSource::Kept(blob) => {
                    let bytes = self.journal.blob(blob.hash()).await?;
                    bytes.ok_or_else(|| "it is no longer kept".to_owned())
                }
                ChallengeSource::Written(raw) => bytes_of(target, baseline, &raw).await?,
            };
            match bytes {
                Ok(bytes) if made.iter().any(|one: &ChallengeInput| one.bytes == bytes) => {}
                Ok(bytes) => made.push(ChallengeInput { name, bytes }),
                Err(reason) => unmade.push(format!("{name} could not be made: {reason}")),
            }
        }
        Ok((made, unmade))
    }

    pub(super) async fn agree(
        &self,
        id: StepId,
        (numbers, inputs): (Vec<u32>, Vec<ChallengeRecord>),
        run: &Run,
    ) -> Result<Outcome, Failure> {
        let summary = format!("comparing the behaviour of attempts {numbers:?}");
        self.intend(id, "agree", summary, json!({ "attempts": numbers }))
            .await?;
        let target = self.target()?;
        let mut candidates = Vec::new();
        for number in numbers {
            let changes = self.facts(known(run, number)?).await?.changes.clone();
            candidates.push(Candidate { number, changes });
        }
        let (mut blobs, mut given) = (Vec::new(), Vec::new());
        for ChallengeRecord { name, source } in inputs {
            if let ChallengeSource::Kept(blob) = source
                && !blobs.contains(&blob)
                && let Some(bytes) = self.journal.blob(blob.hash()).await?
            {
                blobs.push(blob);
                given.push(ChallengeInput { name, bytes });
            }
        }
        let baseline = self.target_baseline().await?;
        let compared = || agreement(target.as_ref(), &baseline, &candidates, &given);
        let mut found = retried(compared).await?;
        let agreed = found.apart.iter_mut().chain(&mut found.as_before);
        let agreed = agreed.map(|one| &mut one.blob);
        let splits = found.splits.iter_mut().map(|split| &mut split.input.blob);
        for blob in agreed.chain(splits) {
            self.keep(blob).await?;
        }
        Ok(Outcome::Agreed(found))
    }
}

/// The bytes of an input as it was written, or why it has none.
async fn bytes_of(
    target: &dyn Target,
    baseline: &Baseline,
    raw: &RawChallenge,
) -> Result<Result<Vec<u8>, String>, TargetError> {
    let bytes = match raw.form {
        ChallengeForm::Python => {
            let Some(build) = baseline.builds.values().next() else {
                return Ok(Err(
                    "there is no build beside which a script could run".to_owned()
                ));
            };
            target.run_script(build, &raw.body).await?
        }
        _ => written(raw),
    };
    Ok(bytes.and_then(|bytes| match bytes.len() {
        0..=LARGEST => Ok(bytes),
        length => Err(format!("it has {length} bytes, and {LARGEST} are the most")),
    }))
}

fn written(raw: &RawChallenge) -> Result<Vec<u8>, String> {
    let packed: String = raw.body.split_whitespace().collect();
    match raw.form {
        ChallengeForm::Hex => {
            let digits = packed.strip_prefix("0x").unwrap_or(&packed);
            hex::decode(digits).map_err(|_| "it is no hex".to_owned())
        }
        ChallengeForm::Base64 => STANDARD
            .decode(&packed)
            .or_else(|_| STANDARD_NO_PAD.decode(&packed))
            .map_err(|error| format!("it is no base64: {error}")),
        ChallengeForm::Text | ChallengeForm::Python => Ok(raw.body.clone().into_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::written;
    use patchwright_patcher::reply::{ChallengeForm, RawChallenge};

    #[test]
    fn an_input_is_decoded_as_it_was_written() {
        for (form, body, expected) in [
            (ChallengeForm::Text, " a\n", Ok(&b" a\n"[..])),
            (ChallengeForm::Hex, "42 5A\n68", Ok(b"BZh")),
            (ChallengeForm::Hex, "0x4142", Ok(b"AB")),
            (ChallengeForm::Hex, "414", Err("no hex")),
            (ChallengeForm::Hex, "+1", Err("no hex")),
            (ChallengeForm::Hex, "\u{e4}", Err("no hex")),
            (ChallengeForm::Base64, "Qlpo\nOQ==", Ok(b"BZh9")),
            (ChallengeForm::Base64, "QlpoOQ", Ok(b"BZh9")),
            (ChallengeForm::Base64, "!", Err("no base64")),
        ] {
            let raw = RawChallenge {
                form,
                why: String::new(),
                body: body.to_owned(),
            };
            match (written(&raw), expected) {
                (Ok(bytes), Ok(wanted)) => assert_eq!(bytes, wanted, "{body}"),
                (Err(reason), Err(part)) => assert!(reason.contains(part), "{reason}"),
                (found, _) => panic!("{form:?} {body}: {found:?}"),
            }
        }
    }
}
