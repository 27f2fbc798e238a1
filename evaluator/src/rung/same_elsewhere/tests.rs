//! Patched programs that behave as before, and some that do not.

use crate::ladder::{RungName, climb};
use crate::target::Target;
use crate::target::local::tests::{attempt, open, task};
use std::fs;
use std::time::Duration;

#[tokio::test]
async fn tells_a_fix_from_a_change_of_behaviour() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.same = Duration::from_secs(40);
    for (name, bytes) in [("a.bin", [3, 1]), ("b.bin", [7, 2]), ("c.bin", [8, 9])] {
        fs::write(folder.path().join(name), bytes).unwrap();
        task.harmless.push(folder.path().join(name));
    }
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    for (fix, holds, reason) in [
        (
            "if (n < 2 || b[0] > 8)",
            Some(true),
            "reach a touched function",
        ),
        (
            "if (n < 2 || b[0] > 7)",
            Some(false),
            "exit status 0 became exit status 1",
        ),
        // Seen by nobody but the debugger: the harness only looks at the sign.
        (
            "if (n >= 2 && b[0] == 7) return 5; if (n < 2 || b[0] > 8)",
            Some(false),
            "parse returns",
        ),
    ] {
        let mut attempt = attempt("if (n < 2)", fix);
        attempt.touched = vec![crate::Touched {
            path: "parse.c".to_owned(),
            old: vec![(4, 4)],
            new: vec![(4, 4)],
            functions: Vec::new(),
        }];
        let result = climb(&target, &baseline, &attempt, &[], RungName::SameElsewhere)
            .await
            .unwrap();
        assert_eq!(result.holds, holds, "{fix}: {result:#?}");
        assert!(result.reason.contains(reason), "{fix}: {}", result.reason);
        assert!(result.counts["given"] >= 1);
    }
}

#[test]
fn a_few_malformed_mutants_may_be_turned_away() {
    for (turned_away, same, many) in [
        (0, 0, false),
        (1, 0, true),
        (1, 8, true),
        (1, 9, false),
        (5, 45, false),
        (6, 45, true),
    ] {
        let told = super::too_many(turned_away, same);
        assert_eq!(told, many, "{turned_away} of {}", turned_away + same);
    }
}
