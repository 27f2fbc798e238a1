//! Feedback about Java programs that hang or recurse without end,
//! by a real JVM.

use crate::attempt::AttemptFacts;
use crate::evidence::{Rung, RungName};
use patchwright_source::Changes;
use patchwright_source::{Language, TreePath};
use patchwright_target::LocalTarget;
use patchwright_target::runner::{Commands, Pov, Target, TargetTask};
use patchwright_target::test_support::open;
use std::fs;
use std::path::Path;
use std::time::Duration;

const JAVA: &str = "package p;

public class Reader {
    static int depth(String text, int at) {
        if (at >= text.length()) throw new IllegalStateException(\"no end\");
        return text.charAt(at) == ')' ? at : depth(text, at + 1);
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println(depth(\"((((\", 0));
    }
}
";

fn task(folder: &Path) -> TargetTask {
    let tree = folder.join("tree/src/p");
    fs::create_dir_all(&tree).unwrap();
    fs::write(tree.join("Reader.java"), JAVA).unwrap();
    fs::write(folder.join("pov"), "((((").unwrap();
    TargetTask {
        tree: folder.join("tree"),
        task_folder: folder.to_path_buf(),
        language: Language::Java,
        commands: Commands {
            build: "javac -g -d \"$OUT\" src/p/Reader.java".to_owned(),
            pov: Some("java -Xss512k -XX:TieredStopAtLevel=1 -cp \"$OUT\" p.Reader".to_owned()),
            ..Commands::default()
        },
        povs: vec![Pov {
            file: folder.join("pov"),
            timeout: Some(Duration::from_secs(5)),
            ..Pov::default()
        }],
        ..TargetTask::default()
    }
}

async fn silent(target: &LocalTarget, from: &str, to: &str) -> Rung {
    let baseline = target.baseline().await.unwrap();
    let path = TreePath::new("src/p/Reader.java").unwrap();
    let text = JAVA.replace(from, to);
    assert_ne!(text, JAVA);
    let attempt = AttemptFacts {
        changes: Changes {
            files: [(path, text.into_bytes())].into(),
            ..Changes::default()
        },
        ..AttemptFacts::default()
    };
    super::climb((target, &baseline, &attempt)).await.unwrap()
}

#[tokio::test]
async fn a_java_hang_and_a_recursion_are_told_by_the_stack_of_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let target = open(task(folder.path()), folder.path()).await;

    // A patch that waits instead: the thread dumps show where.
    let hangs =
        "if (at >= text.length()) { int i = 0;\n            while (at >= text.length()) { i++; } }";
    let check = "if (at >= text.length()) throw new IllegalStateException(\"no end\");";
    let result = silent(&target, check, hangs).await;
    assert_eq!((result.name, result.holds), (RungName::Silent, Some(false)));
    assert!(result.reason.contains("hangs"), "{}", result.reason);
    let feedback = result.feedback.unwrap();
    assert!(feedback.contains("p.Reader.depth"), "{feedback}");
    assert!(
        feedback.contains("p/Reader.java:5 [patched line 6]"),
        "{feedback}"
    );
    assert!(feedback.contains("repeats many times"), "{feedback}");
    for changing in ["tid=", "nid=", "cpu=", "0x"] {
        assert!(!feedback.contains(changing), "{changing}: {feedback}");
    }

    // A patch that recurses without end: the cycle is folded.
    let result = silent(
        &target,
        check,
        "if (at < 0) return at;\n        if (at >= text.length()) return depth(text, at);",
    )
    .await;
    assert_eq!(result.holds, Some(false));
    let feedback = result.feedback.unwrap();
    assert!(feedback.contains("StackOverflowError"), "{feedback}");
    assert!(feedback.contains("p.Reader.depth"), "{feedback}");
    assert!(
        feedback.matches("p.Reader.depth").count() < 20,
        "not folded: {feedback}"
    );
    assert!(feedback.contains("times"), "{feedback}");
}

#[tokio::test]
async fn a_checked_exception_instead_of_the_crash_is_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let target = open(task(folder.path()), folder.path()).await;
    let head = "(String text, int at) {\n        if (at >= text.length()) throw new ";
    for (thrown, holds) in [
        ("java.io.IOException", Some(true)),
        ("IllegalArgumentException", Some(false)),
    ] {
        let declared = head.replace(") {", ") throws java.io.IOException {") + thrown;
        let result = silent(&target, &format!("{head}IllegalStateException"), &declared).await;
        assert_eq!(result.holds, holds, "{}", result.reason);
        assert!(holds != Some(true) || result.reason.contains(thrown));
    }
}
