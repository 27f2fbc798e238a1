//! Queries and reports that nobody means well.

use super::fixture;
use crate::{CrashFrame, Engine, Memory, Query, Role};

/// One engine for all cases of the property below.
fn shared() -> &'static Engine {
    static SHARED: std::sync::OnceLock<(tempfile::TempDir, Engine)> = std::sync::OnceLock::new();
    &SHARED.get_or_init(fixture).1
}

#[test]
fn hostile_queries_get_true_answers() {
    let engine = shared();
    let long = "x".repeat(3_999);
    for kind in crate::KINDS {
        for body in [
            "$(id)",
            "`id`",
            "../../etc/passwd",
            "/etc/passwd",
            "-rf",
            "--help",
            "a'b;--",
            ".*[",
            "::",
            "C$",
            "a\\",
            "operator",
            "<init>",
            "%s%n",
            "\u{202e}x",
            &long,
            "a -> $(b)",
            "1",
            "SELECT load_extension('x')",
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c",
        ] {
            let Ok(query) = Query::read(kind, body, &[]) else {
                continue;
            };
            let answer = engine.answer(&query);
            let text = Memory::default().render(1, std::slice::from_ref(&answer));
            assert!(!text.contains("root:"), "<{kind}> {body}: {text}");
            assert!(text.len() < 20_000, "<{kind}> {body}");
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]
    #[test]
    fn any_report_gets_a_context(
        functions in proptest::collection::vec("(add|run|main|[a-zA-Z:.$<>()~ ]{0,20})", 1..6),
        file in "(/src/a.c|src/../a.h|B.java|\\PC{0,20})",
        line in proptest::prelude::any::<u32>(),
        text in "\\PC{0,80}",
    ) {
        let frames: Vec<CrashFrame> = (0..)
            .zip(&functions)
            .map(|(depth, function)| CrashFrame {
                function: function.clone(),
                file: (depth % 2 == 0).then(|| file.clone()),
                line: (depth % 3 != 2).then_some(line % 20),
                role: [Role::Crash, Role::Freed, Role::Allocated][depth as usize % 3],
                depth,
            })
            .collect();
        let request = crate::Request { text, frames, budget: 500 };
        let context = shared().context(&request);
        proptest::prop_assert!(context.tokens <= 700, "{}", context.tokens);
    }
}
