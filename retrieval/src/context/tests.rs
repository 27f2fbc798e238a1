//! What a crash report brings along, and that it keeps to its budget.

use crate::engine::tests::fixture;
use crate::{Frame, Request, Role};

fn crash_in_add(budget: usize) -> Request {
    let frame = |function: &str, file: &str, line, depth| Frame {
        function: function.to_owned(),
        file: Some(file.to_owned()),
        line: Some(line),
        role: Role::Crash,
        depth,
    };
    Request {
        text: String::new(),
        frames: vec![
            frame("add", "/build/src/a.c", 7, 0),
            frame("run", "/build/src/a.c", 12, 1),
            frame("main", "/build/tests/test_a.c", 2, 2),
            frame("__libc_start_main", "../csu/libc-start.c", 360, 3),
        ],
        budget,
    }
}

#[test]
fn a_crash_brings_its_functions_and_their_types() {
    let (_folder, engine) = fixture();
    let context = engine.context(&crash_in_add(8_000));
    assert_eq!(context.intent, "BUG_FIX");
    assert_eq!(context.stack.len(), 3);
    assert_eq!(context.stack[0], "crash #0 add src/a.c:7");
    assert!(
        context.stack[2].ends_with("(harness)"),
        "{:?}",
        context.stack
    );
    let first = &context.snippets[0];
    assert_eq!(first.symbols, ["add"]);
    assert!(first.text.contains("p->x += by;"));
    assert_eq!(context.snippets[1].symbols, ["run"]);
    let cards: Vec<&str> = context
        .definitions
        .iter()
        .map(|card| card.name.as_str())
        .collect();
    assert!(
        cards.contains(&"point") && cards.contains(&"OUTER"),
        "{cards:?}"
    );
    let text = context.render();
    assert!(
        text.contains("about=\"add: crash stack, at line 7\""),
        "{text}"
    );
    assert!(text.contains("7:     p->x += by;"), "{text}");
    assert_eq!(context.tokens, text.len().div_ceil(4));
    assert_eq!(text, engine.context(&crash_in_add(8_000)).render());
}

#[test]
fn keeps_to_its_budget() {
    let (_folder, engine) = fixture();
    for budget in [60, 150, 300, 1_000] {
        let context = engine.context(&crash_in_add(budget));
        assert!(
            context.tokens <= budget.max(100),
            "{budget}: {}",
            context.tokens
        );
    }
}

#[test]
fn a_request_in_words_brings_what_it_names_or_means() {
    let (_folder, engine) = fixture();
    for (text, intent, symbol) in [
        ("where is `add` defined?", "DEFINITION_LOOKUP", "add"),
        ("who calls add()", "USAGE_EXPLORATION", "run"),
        ("fix what adds to a point", "BUG_FIX", "add"),
        ("ERROR: crash at src/a.c:12", "BUG_FIX", "run"),
        ("write tests for run()", "TEST_WRITING", "main"),
        ("zebra", "IMPLEMENTATION", "add"),
    ] {
        let request = Request {
            text: text.to_owned(),
            ..Request::default()
        };
        let context = engine.context(&request);
        assert_eq!(context.intent, intent, "{text}");
        let symbols: Vec<&String> = context
            .snippets
            .iter()
            .flat_map(|one| &one.symbols)
            .collect();
        assert!(
            symbols.iter().any(|name| *name == symbol),
            "{text}: {symbols:?}"
        );
    }
}
