//! Comparison of two programs that come from different trees: a fix on the main line, and the
//! same fix on an older branch.
//!
//! Only inputs that both accept are compared, since branches may differ in what they refuse. A
//! difference refutes nothing: whoever maintains the branch knows whether it is meant.

use crate::agreement::{Runs, inputs_of, runs};
use crate::same_elsewhere::shown;
use patchwright_source::Changes;
use patchwright_target::Result;
use patchwright_target::runner::{BuildKind, Inputs, Pov, Target};

/// The behaviour of two programs on the same inputs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Number of inputs that both accept, and on which each of them does the same twice.
    pub inputs: usize,
    /// Number of those on which they end and print alike.
    pub alike: usize,
    /// An input on which they do not, and what each does.
    pub differing: Option<(Vec<u8>, [String; 2])>,
    /// The reason why no input was compared, where none was.
    pub missing: Option<String>,
}

impl Comparison {
    fn missing(reason: &str) -> Self {
        Self {
            missing: Some(reason.to_owned()),
            ..Self::default()
        }
    }
}

/// Builds the trees of two targets as they are, and compares the programs by the command of their
/// first PoV. Each target has the name under which it is told.
///
/// # Errors
/// When the machinery fails. Where a tree does not build, no input is compared.
pub async fn compare(one: (&str, &dyn Target), other: (&str, &dyn Target)) -> Result<Comparison> {
    let Some(pov) = one.1.task().povs.first() else {
        return Ok(Comparison::missing("the task has no PoV"));
    };
    let inputs = inputs_of(one.1, pov, &[])?;
    let does_not_build = |name| Comparison::missing(&format!("{name} does not build"));
    let Some(ours) = accepted(one.1, pov, &inputs).await? else {
        return Ok(does_not_build(one.0));
    };
    let Some(theirs) = accepted(other.1, pov, &inputs).await? else {
        return Ok(does_not_build(other.0));
    };
    let mut found = Comparison::default();
    for (at, run) in &ours {
        let Some(their) = theirs.get(at) else {
            continue;
        };
        found.inputs += 1;
        if run == their {
            found.alike += 1;
        } else if found.differing.is_none() {
            let bytes = inputs.contents.get(*at).cloned().unwrap_or_default();
            found.differing = Some((bytes, [shown(run), shown(their)]));
        }
    }
    let none = found.inputs == 0;
    found.missing = none.then(|| "no input is accepted by both".to_owned());
    Ok(found)
}

/// The runs in which a program accepts the input and does the same again; none where it does not
/// build.
async fn accepted(target: &dyn Target, pov: &Pov, inputs: &Inputs) -> Result<Option<Runs>> {
    let name = target.task().build_of(pov);
    let unchanged = Changes::default();
    let build = target.build(&unchanged, &name, BuildKind::Clean).await?;
    if !build.succeeded() {
        return Ok(None);
    }
    let again = runs(target, &build, pov, inputs).await?;
    let mut first = runs(target, &build, pov, inputs).await?;
    first.retain(|index, run| run.ending.success() && again.get(index) == Some(run));
    Ok(Some(first))
}

#[cfg(test)]
mod tests {
    use super::compare;
    use patchwright_target::test_support::{open, task};

    #[tokio::test]
    async fn programs_are_compared_where_both_accept() {
        let folders = [(), ()].map(|()| tempfile::tempdir().unwrap());
        let [mut one, other] = folders.each_ref().map(|folder| task(folder.path()));
        for (name, bytes) in [
            ("short", &[1, 1][..]),
            ("long", &[1; 5]),
            ("large", &[6, 1]),
        ] {
            let file = folders[0].path().join(name);
            std::fs::write(&file, bytes).unwrap();
            one.harmless.push(file);
        }
        let shorter = |name: &str, from: &str, to: &str| {
            let code = other.tree.join(name);
            let text = std::fs::read_to_string(&code).unwrap();
            assert!(text.contains(from));
            std::fs::write(&code, text.replace(from, to)).unwrap();
        };
        shorter("main.c", "n\", k)", "n\", k > 2 ? 2 : k)");
        shorter("parse.c", "if (n < 2)", "if (n < 2 || b[0] > 4)");
        let one = open(one, folders[0].path()).await;
        let changed = open(other.clone(), folders[1].path()).await;
        let same = compare(("one", &one), ("itself", &one)).await.unwrap();
        assert!(same.inputs > 0 && same.alike == same.inputs, "{same:?}");
        let found = compare(("one", &one), ("other", &changed)).await.unwrap();
        assert!(0 < found.alike && found.alike < found.inputs, "{found:?}");
        assert!(found.inputs < same.inputs, "{found:?} {same:?}");
        let (input, shown) = found.differing.unwrap();
        assert_eq!(input, [1; 5]);
        assert!(shown[1].contains("Running: 2"), "{shown:?}");
        shorter("main.c", "return 2", "return 2 +");
        let broken = open(other, folders[1].path()).await;
        let found = compare(("one", &one), ("other", &broken)).await.unwrap();
        assert_eq!(found.missing.unwrap(), "other does not build");
    }
}
