//! P(right): the probability that an attempt is right, from the evidence about it.
//!
//! A logistic model over a few figures of the evidence. Its weights are data
//! (`probability/weights.json`), made by `scripts/fit-probability.py` from judged
//! patches that are known to be right or wrong (`probability/judged.jsonl`); the program
//! fits nothing. Where no weights were fitted there is no number.

use crate::record::{Attempt, Doubt, Rung};
use patchwright_verdict::RungName;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[derive(Debug, Default, Deserialize)]
struct Weights {
    /// Log-odds of a patch whose figures are all average.
    intercept: f64,
    /// The weights; none where nothing was fitted.
    features: Vec<Weight>,
}

/// One figure: its scale, and the part that it has in the log-odds.
#[derive(Debug, Deserialize)]
struct Weight {
    name: String,
    mean: f64,
    scale: f64,
    /// The greatest that was judged: nothing is known of figures beyond it.
    most: f64,
    #[serde(rename = "weight")]
    factor: f64,
}

static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| {
    // A file that cannot be read gives no number; a test reads it strictly.
    serde_json::from_str(include_str!("probability/weights.json")).unwrap_or_default()
});

/// Returns the probability that an attempt is right; none where a rung refutes it, or where the
/// rung that tells most was not come to.
pub(crate) fn of_right(attempt: &Attempt) -> Option<f64> {
    let judged = attempt.refuted_by().is_none() && attempt.rung(SAME).is_some();
    judged.then(|| WEIGHTS.of(&features(attempt))).flatten()
}

impl Weights {
    fn of(&self, figures: &BTreeMap<String, f64>) -> Option<f64> {
        if self.features.is_empty() {
            return None;
        }
        let parts = self.features.iter().map(|one| {
            let figure = figures.get(&one.name).copied().unwrap_or(one.mean);
            one.factor * (figure.min(one.most) - one.mean) / one.scale.max(f64::EPSILON)
        });
        let odds: f64 = self.intercept + parts.sum::<f64>();
        Some(1.0 / (1.0 + (-odds).exp()))
    }
}

/// The rung that most figures are about.
const SAME: RungName = RungName::SameElsewhere;

/// Figures that are counts of a rung, summed.
const COUNTS: [(&str, RungName, &[&str]); 8] = [
    ("objections", RungName::Reviewed, &["objections"]),
    ("tests", RungName::Tested, &["tests"]),
    ("executions", RungName::Robust, &["executions"]),
    (
        "inputs compared",
        SAME,
        &["given", "of tests", "mutants of given", "derived", "aimed"],
    ),
    ("reached the patch", SAME, &["reached the patch"]),
    ("values compared", SAME, &["values compared"]),
    (
        "derived answered differently",
        SAME,
        &["derived and answered differently"],
    ),
    (
        "challenges",
        SAME,
        &["challenges: variants", "challenges: controls"],
    ),
];

/// Returns the figures of the evidence about an attempt, by name. Counts are taken as
/// logarithms: the tenth input tells more than the thousandth.
pub(crate) fn features(attempt: &Attempt) -> BTreeMap<String, f64> {
    let doubts = |open: bool| {
        let all = attempt.rungs.iter().flat_map(|rung| &rung.doubts);
        all.filter(|doubt| doubt.is_open() == open).count() as f64
    };
    let is = |holds: Option<bool>| {
        let like = |rung: &&Rung| rung.holds == holds;
        attempt.rungs.iter().filter(like).count() as f64
    };
    // Nearly half of the patches were judged without a reader: that nobody has read one is
    // neither for it nor against it. `verified` asks for a reader apart from this.
    let is_unread = |rung: &Rung| rung.holds.is_none() && !rung.doubts.iter().any(Doubt::is_open);
    let unread = attempt.rung(RungName::Reviewed).is_some_and(is_unread);
    let same = |name| counted(attempt, SAME, &[name]);
    let before = attempt.number.saturating_sub(1);
    let branches = same("branches of the patch").max(1.0);
    let unknown = same("branches not accounted for") / branches;
    let others = [
        ("refuted", is(Some(false))),
        ("open rungs", is(None) - f64::from(u8::from(unread))),
        ("open doubts", doubts(true).ln_1p()),
        ("settled doubts", doubts(false).ln_1p()),
        ("lines changed", (attempt.lines_changed() as f64).ln_1p()),
        ("attempts before", f64::from(before).ln_1p()),
        (
            "tests reach the patch",
            same("tests reach the patch").min(1.0),
        ),
        ("branches not accounted for", unknown),
        ("candidates that agree", same("candidates that agree")),
    ];
    let counts = COUNTS.map(|(name, rung, of)| (name, counted(attempt, rung, of).ln_1p()));
    let figures = counts.into_iter().chain(others);
    figures
        .map(|(name, figure)| (name.to_owned(), figure))
        .collect()
}

/// Sums counts of a rung.
fn counted(attempt: &Attempt, rung: RungName, names: &[&str]) -> f64 {
    let counts = attempt.rung(rung).map(|rung| &rung.counts);
    let found = names.iter().filter_map(|name| counts?.get(*name));
    found.sum::<u64>() as f64
}

#[cfg(test)]
mod tests {
    use super::{Weight, Weights, features, of_right};
    use crate::record::{Attempt, Doubt, Rung};
    use patchwright_patcher::Patch;
    use patchwright_verdict::RungName;

    fn attempt() -> Attempt {
        let mut same = Rung::new(RungName::SameElsewhere, Some(false), "differs");
        same.counts = [("given", 3), ("derived", 4), ("reached the patch", 2)]
            .map(|(name, count)| (name.to_owned(), count))
            .into();
        same.doubts = vec![Doubt::default()];
        Attempt {
            number: 2,
            lane: 1,
            patch: Patch::default(),
            diff: "--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-x\n+y\n".into(),
            latin1: false,
            surroundings: String::new(),
            normal_form: String::new(),
            warnings: Vec::new(),
            rungs: vec![same],
            withdrawn: false,
            regression: None,
        }
    }

    #[test]
    fn figures_are_read_from_the_evidence() {
        let figures = features(&attempt());
        for (name, expected) in [
            ("refuted", 1.0),
            ("open rungs", 0.0),
            ("open doubts", f64::ln_1p(1.0)),
            ("inputs compared", f64::ln_1p(7.0)),
            ("reached the patch", f64::ln_1p(2.0)),
            ("lines changed", f64::ln_1p(2.0)),
            ("attempts before", f64::ln_1p(1.0)),
        ] {
            assert!(
                (figures[name] - expected).abs() < 1e-9,
                "{name}: {figures:?}"
            );
        }
    }

    #[test]
    fn that_nobody_has_read_a_patch_is_no_evidence() {
        let mut unread = attempt();
        let reviewed = Rung::new(RungName::Reviewed, None, "nobody has reviewed it");
        unread.rungs.push(reviewed);
        assert!(features(&unread)["open rungs"].abs() < 1e-9);
        unread.rungs[1].doubts.push(Doubt::new("a test is gone"));
        assert!((features(&unread)["open rungs"] - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_number_follows_the_weights_as_far_as_patches_were_judged() {
        let weights = |weight, most| Weights {
            intercept: 0.0,
            features: vec![Weight {
                name: "refuted".into(),
                mean: 0.5,
                scale: 0.5,
                most,
                factor: weight,
            }],
        };
        let figures = features(&attempt());
        let right = weights(-2.0, 1.0).of(&figures).unwrap();
        assert!(
            (right - 1.0 / (1.0 + 2.0_f64.exp())).abs() < 1e-9,
            "{right}"
        );
        for even in [weights(0.0, 1.0), weights(-2.0, 0.5)] {
            assert!((even.of(&figures).unwrap() - 0.5).abs() < 1e-9);
        }
        assert_eq!(Weights::default().of(&figures), None);
    }

    #[test]
    fn the_weights_that_are_shipped_name_known_figures() {
        let text = include_str!("probability/weights.json");
        let weights: Weights = serde_json::from_str(text).unwrap();
        let figures = features(&attempt());
        for one in &weights.features {
            assert!(figures.contains_key(one.name.as_str()), "{}", one.name);
            assert!(one.scale > 0.0 && one.factor.is_finite(), "{one:?}");
        }
    }

    #[test]
    fn an_open_rung_makes_a_patch_less_probable_and_a_refuted_one_has_no_number() {
        let with = |holds| {
            let mut attempt = attempt();
            attempt.rungs[0].holds = holds;
            of_right(&attempt)
        };
        let (held, open) = (with(Some(true)).unwrap(), with(None).unwrap());
        assert!(held > 0.5 && open < 0.5, "{held} {open}");
        assert_eq!(with(Some(false)), None);
        let mut stopped = attempt();
        stopped.rungs = vec![Rung::new(RungName::Silent, Some(true), "no crash")];
        assert_eq!(of_right(&stopped), None);
    }
}
