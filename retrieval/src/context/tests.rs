//! Tests of the context of a crash report and of its budget.

mod beside;
mod cards;
mod crashes;
mod named;
mod requests;
mod shares;

use crate::engine::tests::fixture;
use crate::{CrashFrame, Engine, Request, Role, Settings};
use patchwright_source::TreePath;

fn crash_in_add(budget: usize) -> Request {
    let frame = |function: &str, file: &str, line, depth| CrashFrame {
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
        ..Request::default()
    }
}

#[test]
fn a_crash_brings_its_functions_and_their_types() {
    let (_folder, engine) = fixture();
    let context = engine.context(&crash_in_add(8_000)).unwrap();
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
        text.contains("about=\"add: crash stack #0, at line 7\""),
        "{text}"
    );
    assert!(text.contains("7:     p->x += by;"), "{text}");
    assert_eq!(context.tokens, text.len().div_ceil(4));
    assert_eq!(text, engine.context(&crash_in_add(8_000)).unwrap().render());
}

#[test]
fn keeps_to_its_budget() {
    let (_folder, engine) = fixture();
    for budget in [60, 150, 300, 1_000] {
        let context = engine.context(&crash_in_add(budget)).unwrap();
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
    ] {
        let request = Request {
            text: text.to_owned(),
            ..Request::default()
        };
        let context = engine.context(&request).unwrap();
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

pub(crate) fn tree_of(files: &[(&str, &str)]) -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("tree");
    for (path, content) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let cache = folder.path().join("cache");
    let engine = Engine::open(&root, &cache, Settings::default()).unwrap();
    (folder, engine)
}

fn symbols(engine: &Engine, text: &str) -> Vec<String> {
    let request = Request {
        text: text.to_owned(),
        ..Request::default()
    };
    let context = engine.context(&request).unwrap();
    let snippets = context.snippets.into_iter();
    snippets.flat_map(|one| one.symbols).collect()
}

#[test]
fn what_changed_recently_comes_first_of_what_is_alike() {
    let body = "int parse_header(int a)\n{\n    return a;\n}\n";
    let (_folder, mut engine) = tree_of(&[("src/a/one.c", body), ("src/b/two.c", body)]);
    let first = |engine: &Engine| {
        let request = Request {
            text: "parsing of a header fails".to_owned(),
            ..Request::default()
        };
        engine.context(&request).unwrap().snippets[0]
            .path
            .to_string()
    };
    assert_eq!(first(&engine), "src/a/one.c");
    engine.set_modified(&[(TreePath::new("src/b/two.c").unwrap(), 1_000)].into());
    assert_eq!(first(&engine), "src/b/two.c");
}

#[test]
fn a_request_finds_shortened_names() {
    let (_folder, engine) = tree_of(&[(
        "src/a.c",
        "static int low(int n)\n{\n    return n - 1;\n}\n\nint buf_len(int n)\n{\n    return low(n);\n}\n\n\
         int colour(int n)\n{\n    return n;\n}\n",
    )]);
    let found = symbols(&engine, "the length of the buffer is one too small");
    assert_eq!(found, ["buf_len"]);
}

#[test]
fn a_name_that_many_define_elsewhere_means_none_of_them() {
    let token = |n: usize| {
        let text = format!(
            "class Token{n} {{\n    int getKind() {{ return {n}; }}\n    int only{n}() {{ return {n}; }}\n}}\n"
        );
        (format!("src/Token{n}.java"), text)
    };
    let tokens: Vec<(String, String)> = (0..6).map(token).collect();
    let mut files = vec![
        (
            "src/Scanner.java",
            "interface Scanner {\n    boolean check(int kind);\n}\n",
        ),
        (
            "src/ScannerImpl.java",
            "class ScannerImpl implements Scanner {\n    public boolean check(int kind) {\n        \
             return list.get(0).getKind() == first.only3();\n    }\n}\n",
        ),
        (
            "src/Parser.java",
            "class Parser {\n    boolean parse() {\n        return scanner.check(1);\n    }\n}\n",
        ),
    ];
    files.extend(
        tokens
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str())),
    );
    let (_folder, engine) = tree_of(&files);
    let frame = |function: &str, file: &str, depth| CrashFrame {
        function: function.to_owned(),
        file: Some(file.to_owned()),
        line: Some(3),
        role: Role::Crash,
        depth,
    };
    let request = Request {
        frames: vec![
            frame("ScannerImpl.check", "ScannerImpl.java", 0),
            frame("Parser.parse", "Parser.java", 1),
        ],
        ..Request::default()
    };
    let context = engine.context(&request).unwrap();
    let found: Vec<String> = context
        .snippets
        .into_iter()
        .flat_map(|one| one.symbols)
        .collect();
    // Six classes have the one, one has the other; of the interface's method
    // the stack has the implementation.
    assert!(found.contains(&"Token3.only3".to_owned()), "{found:?}");
    assert!(
        !found.iter().any(|one| one.ends_with("getKind")),
        "{found:?}"
    );
    assert!(!found.contains(&"Scanner.check".to_owned()), "{found:?}");
}

/// Returns what a published pipeline missed because requests say it in other words
/// than the names: an abbreviation, a helper, a word that it took for noise.
#[test]
fn what_others_lost_is_found() {
    let tree = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/quality/losses");
    let cache = tempfile::tempdir().unwrap();
    let engine = Engine::open(&tree, cache.path(), Settings::default()).unwrap();
    for (text, wanted) in [
        (
            "fix the bug in context_pruning.py where get_relevant_context returns early without \
             running the DFS",
            ["get_relevant_context", "context_dfs"],
        ),
        (
            "implement a new symbol resolver that uses tree-sitter to find definitions",
            ["extract_definitions", "get_parser"],
        ),
        (
            "add validation for file paths in the modify agent",
            ["validate_and_parse_function_call", "handle_function_call"],
        ),
    ] {
        let found = symbols(&engine, text);
        for name in wanted {
            assert!(found.iter().any(|one| one == name), "{text}: {found:?}");
        }
    }
}
