//! Mutations against a patch that holds and against one that does not.

use super::hex;
use crate::ladder::{RungName, climb};
use crate::target::Target;
use crate::target::local::tests::{attempt, open, task};
use std::time::Duration;

#[tokio::test]
async fn a_fix_of_one_value_is_refuted_and_a_fix_of_the_cause_holds() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.robust = Duration::from_secs(6);
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    for (fix, holds) in [
        ("if (n < 2 || b[0] == 200)", false),
        ("if (n < 2 || b[0] > 100)", false),
        ("if (n < 2 || b[0] > 8)", true),
    ] {
        let attempt = attempt("if (n < 2)", fix);
        let result = climb(&target, &baseline, &attempt, &[], RungName::Robust)
            .await
            .unwrap();
        assert_eq!(result.holds, Some(holds), "{fix}: {result:#?}");
        assert!(result.counts["executions"] > 0, "{result:#?}");
        assert_eq!(result.found.len(), usize::from(!holds));
        if let Some(found) = result.found.first() {
            assert!(found.bytes[0] > 8 && found.reason.contains("same crash"));
            assert!(result.feedback.unwrap().contains("The input has"));
        }
    }
}

#[test]
fn dumps_like_a_hex_editor() {
    let text = hex(b"GIF89a\x00\xff");
    assert!(text.contains("0000  47 49 46 38 39 61 00 ff "), "{text}");
    assert!(text.trim_end().ends_with("GIF89a.."), "{text}");
    assert!(hex(&[0; 300]).contains("the first 256") && hex(&[0; 300]).lines().count() == 17);
}
