//! Asks a debugger what the model wants to know of a running program.

use super::Drive;
use super::failure::{Failure, retried};
use super::summary::head;
use crate::record::{Attempt, Outcome, ProbeQuestion, Probed, StepId};
use crate::repair::Run;
use itertools::Itertools;
use patchwright_source::Tree;
use patchwright_target::inspect;
use patchwright_target::probe::{Expression, Probe};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Instant;

/// The questions of each run, with the places of their answers. A run is that of a build on an
/// input: of an attempt or of the unpatched program, on a blob or on the PoV.
type Runs = BTreeMap<(Option<u32>, Option<String>), Vec<(usize, Probe)>>;

impl Drive {
    pub(super) async fn probe(
        &self,
        id: StepId,
        questions: Vec<ProbeQuestion>,
        run: &Run,
    ) -> Result<Outcome, Failure> {
        let words = questions.iter();
        let mut words = words.map(|one| format!("{} at {}:{}", one.expression, one.file, one.line));
        let summary = format!("probing {}", head(&words.join(", ")));
        let body = json!({ "probes": questions });
        self.intend(id, "probe", summary, body).await?;
        let (baseline, target) = (self.target_baseline().await?, self.target()?);
        let started = Instant::now();
        let (mut answers, runs) = self.sorted(&questions, run.attempts());
        for ((number, blob), asked) in runs {
            let facts = match number.and_then(|number| run.attempt(number)) {
                Some(attempt) => Some(self.facts(attempt).await?),
                None => None,
            };
            let input = match &blob {
                Some(blob) => self.journal.blob(blob).await?,
                None => None,
            };
            let (places, probes): (Vec<usize>, Vec<Probe>) = asked.into_iter().unzip();
            let changes = facts.as_deref().map(|facts| &facts.changes);
            let target = target.as_ref();
            let look = || inspect(target, &baseline, changes, input.as_deref(), &probes);
            let texts = retried(look).await?;
            for (place, text) in places.into_iter().zip(texts) {
                put(&mut answers, place, text);
            }
        }
        Ok(Outcome::Probed(Probed {
            answers,
            seconds: started.elapsed().as_secs_f64(),
        }))
    }

    /// The answers to what cannot be asked, with room for the others, and what can.
    fn sorted(&self, questions: &[ProbeQuestion], attempts: &[Attempt]) -> (Vec<String>, Runs) {
        let mut answers = vec![String::new(); questions.len()];
        let mut runs = Runs::new();
        for (place, question) in questions.iter().enumerate() {
            let input = question.named_input(attempts).transpose();
            let readable = readable(&self.parts.tree, question);
            match readable.and_then(|probe| Ok((probe, input?))) {
                Ok((probe, input)) => {
                    let blob = input.map(|input| input.blob.hash().to_owned());
                    let asked = runs.entry((question.attempt, blob)).or_default();
                    asked.push((place, probe));
                }
                Err(reason) => put(&mut answers, place, format!("not asked: {reason}")),
            }
        }
        (answers, runs)
    }
}

fn put(answers: &mut [String], place: usize, text: String) {
    if let Some(answer) = answers.get_mut(place) {
        *answer = text;
    }
}

/// A question that a debugger can be asked, or why not.
fn readable(tree: &Tree, question: &ProbeQuestion) -> Result<Probe, String> {
    let path = tree
        .rebase(&question.file)
        .ok_or_else(|| format!("there is no file {:?} in the tree", question.file))?;
    let lines = tree
        .read(&path)
        .map(|file| String::from_utf8_lossy(file.bytes()).lines().count())
        .map_err(|error| error.to_string())?;
    if question.line == 0 || question.line as usize > lines {
        return Err(format!(
            "line {} is not one of {path}, which has {lines} lines",
            question.line
        ));
    }
    let expression = Expression::read(&question.expression)?;
    Ok(Probe {
        path,
        line: question.line,
        expression,
    })
}

#[cfg(test)]
mod tests {
    use super::readable;
    use crate::record::ProbeQuestion;
    use patchwright_source::Tree;

    #[test]
    fn what_cannot_be_asked_is_told() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/a.c"), "1\n2\n").unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        for (file, line, expression, expected) in [
            ("src/a.c", 2, "n", Ok("src/a.c")),
            ("/build/src/a.c", 1, "n", Ok("src/a.c")),
            ("src/b.c", 1, "n", Err("no file")),
            ("../../etc/passwd", 1, "n", Err("no file")),
            ("src/a.c", 3, "n", Err("which has 2 lines")),
            ("src/a.c", 0, "n", Err("which has 2 lines")),
            ("src/a.c", 1, "system(\"id\")", Err("text constants")),
            ("src/a.c", 1, "f(n)", Err("calls are not made")),
        ] {
            let question = ProbeQuestion {
                file: file.into(),
                line,
                expression: expression.into(),
                attempt: None,
                input: None,
            };
            match (readable(&tree, &question), expected) {
                (Ok(probe), Ok(path)) => assert_eq!(probe.path.as_str(), path),
                (Err(reason), Err(part)) => assert!(reason.contains(part), "{reason}"),
                (found, _) => panic!("{file}:{line} {expression}: {found:?}"),
            }
        }
    }
}
