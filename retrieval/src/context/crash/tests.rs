//! Tests of the functions that a crash report brings beside its stack.

use crate::context::tests::tree_of;
use crate::{CrashFrame, Request, Role};

/// Returns what is shown for a stack, the top first, and why.
fn shown(files: &[(&str, &str)], stack: &[(&str, &str, u32)]) -> Vec<(String, String)> {
    let (_folder, engine) = tree_of(files);
    let frames = stack
        .iter()
        .enumerate()
        .map(|(depth, (function, file, line))| CrashFrame {
            function: (*function).to_owned(),
            file: Some((*file).to_owned()),
            line: Some(*line),
            role: Role::Crash,
            depth: depth as u32,
        });
    let request = Request {
        frames: frames.collect(),
        ..Request::default()
    };
    let snippets = engine.context(&request).snippets.into_iter();
    snippets
        .map(|one| (one.symbols.join(" "), one.note.unwrap_or_default()))
        .collect()
}

fn reason(shown: &[(String, String)], name: &str) -> Option<String> {
    let found = shown.iter().find(|(symbols, _)| symbols == name);
    found.map(|(_, why)| why.clone())
}

const BAG: &str = "struct bag { int *items; int used; int room; };

void bag_reset(struct bag *b)
{
    b->used = -1;
}

int bag_size(struct bag *b)
{
    return b->used;
}

int last_of(struct bag *b)
{
    int at = b->used;

    return b->items[at];
}
";

#[test]
fn who_sets_what_the_crashing_line_reads_comes_along() {
    let found = shown(&[("src/bag.c", BAG)], &[("last_of", "src/bag.c", 17)]);
    assert_eq!(
        reason(&found, "bag_reset").as_deref(),
        Some("writes used"),
        "{found:?}"
    );
    // Who merely reads it too says nothing.
    assert_eq!(reason(&found, "bag_size"), None, "{found:?}");
}

#[test]
fn what_everybody_sets_is_nobodys() {
    let many: String = (0..12)
        .map(|n| format!("void step_{n}(struct bag *b)\n{{\n    b->used = {n};\n}}\n\n"))
        .collect();
    let text = format!("{BAG}\n{many}");
    let found = shown(&[("src/bag.c", &text)], &[("last_of", "src/bag.c", 17)]);
    assert!(
        !found.iter().any(|(_, why)| why == "writes used"),
        "{found:?}"
    );
}

#[test]
fn the_entry_of_a_table_leads_to_who_fills_it() {
    let text = "def note(state, key):
    state['index'] = 1
    state['notes'].append(key)


def define(state, key, text):
    state['texts'][key] = text


def item(state, key):
    texts = state['texts']
    return texts[key].strip()


def render(state):
    notes = state.get('notes')
    return [
        item(state, key)
        for key in notes
    ]
";
    let found = shown(
        &[("pkg/notes.py", text)],
        &[("item", "pkg/notes.py", 12), ("render", "pkg/notes.py", 18)],
    );
    assert_eq!(
        reason(&found, "define").as_deref(),
        Some("writes texts"),
        "{found:?}"
    );
    // The loop over the list is in the caller, below the line of the stack.
    assert_eq!(
        reason(&found, "note").as_deref(),
        Some("writes notes"),
        "{found:?}"
    );
}

const COMPILER: &str = "class Compiler {
    Prog compile(Node node) {
        switch (node.op) {
            case 1: return one();
        }
        throw new IllegalStateException(\"unhandled\");
    }

    Prog start(Node from) {
        return compile(from);
    }
}
";
const PARSER: &str = "class Parser {
    static Node parse(String text) {
        return new Parser(text).parseAll();
    }

    private Node parseAll() {
        Node last = null;
        while (more()) {
            last = next(last);
        }
        return last;
    }
}
";
const PATTERN: &str = "class Pattern {
    static Prog prepare(String text) {
        Options options = Options.read(text);
        Node node = Parser.parse(text);
        return compiler.start(node);
    }

    static Prog entry(String text) {
        return prepare(text);
    }
}
";

#[test]
fn what_made_the_argument_that_crashed_comes_along() {
    let options = "class Options {\n    static Options read(String text) {\n        return new Options(text);\n    }\n}\n";
    let files = [
        ("src/a/Compiler.java", COMPILER),
        ("src/b/Parser.java", PARSER),
        ("src/c/Pattern.java", PATTERN),
        ("src/c/Options.java", options),
    ];
    let stack = [
        ("Compiler.compile", "src/a/Compiler.java", 6),
        ("Compiler.start", "src/a/Compiler.java", 10),
        ("Pattern.prepare", "src/c/Pattern.java", 5),
        ("Pattern.entry", "src/c/Pattern.java", 9),
    ];
    let found = shown(&files, &stack);
    // Handed on through two frames; what only hands on stands for what it calls.
    assert_eq!(
        reason(&found, "Parser.parseAll").as_deref(),
        Some("made what prepare handed on"),
        "{found:?}"
    );
    assert_eq!(reason(&found, "Options.read"), None, "{found:?}");
}

#[test]
fn what_ran_on_the_way_is_named_where_its_code_is_not_shown() {
    let filler = "    total += 1;\n".repeat(7);
    let function = |name: &str, calls: &str| {
        format!("int {name}(int n)\n{{\n    int total = n;\n{filler}    {calls}\n}}\n\n")
    };
    let text = [
        function("top", "return total;"),
        function("run", "first(n); return top(total);"),
        function("first", "return second(total) + far(total);"),
        function("second", "return third(total);"),
        function("third", "return fourth(total);"),
        function("fourth", "return total;"),
    ]
    .concat();
    let files = [
        ("src/a.c", text.as_str()),
        ("src/b.c", &function("far", "return farther(total);")),
        ("src/c.c", &function("farther", "return total;")),
    ];
    let found = shown(&files, &[("top", "src/a.c", 11), ("run", "src/a.c", 24)]);
    let heads = found.iter().find(|(_, why)| why.contains("by their first"));
    // Three calls away, and no further; no further file.
    assert_eq!(
        heads.map(|(names, _)| names.as_str()),
        Some("second third"),
        "{found:?}"
    );
}

#[test]
fn of_many_that_ran_those_before_the_call_and_the_longer_ones_are_named() {
    let function = |name: &str, lines: usize, calls: &str| {
        let filler = "    total += 1;\n".repeat(lines);
        format!("int {name}(int n)\n{{\n    int total = n;\n{filler}    {calls}\n}}\n\n")
    };
    let names = |head: &str| -> Vec<String> { (0..7).map(|n| format!("{head}_{n}")).collect() };
    let (early, late) = (names("early"), names("late"));
    let calls = |names: &[String]| -> String {
        let calls = names.iter().map(|name| format!("{name}(n); "));
        calls.collect::<String>() + "return total;"
    };
    let text: String = [
        function("top", 7, "return total;"),
        function(
            "run",
            7,
            "before(n); total = top(total);\n    return after(total);",
        ),
        function("before", 7, "return before_that(total);"),
        function("after", 7, "return after_that(total);"),
    ]
    .into_iter()
    .chain(late.iter().map(|name| {
        function(
            name,
            if name.ends_with('6') { 9 } else { 4 },
            "return total;",
        )
    }))
    .chain(early.iter().map(|name| function(name, 4, "return total;")))
    .chain([
        function("before_that", 7, &calls(&early)),
        function("after_that", 7, &calls(&late)),
    ])
    .collect();
    let found = shown(
        &[("src/a.c", &text)],
        &[("top", "src/a.c", 11), ("run", "src/a.c", 24)],
    );
    let heads = found.iter().find(|(_, why)| why.contains("by their first"));
    let named: Vec<&str> = heads.map_or(Vec::new(), |(names, _)| names.split(' ').collect());
    assert_eq!(named.len(), 10, "{found:?}");
    assert!(
        early.iter().all(|name| named.contains(&name.as_str())),
        "{named:?}"
    );
    assert!(named.contains(&"late_6"), "{named:?}");
}

#[test]
fn of_a_long_function_that_crashed_the_lines_that_its_line_depends_on_are_shown() {
    let filler = |lines: usize| "    if (b->used) {\n        total += 1;\n    }\n".repeat(lines);
    let text = format!(
        "int last_of(struct bag *b)\n{{\n    int total = 0;\n    int at = 0;\n{}    if (b->room > 2) {{\n        \
         at = b->room - 3;\n    }}\n{}    return b->items[at];\n}}\n",
        filler(60),
        filler(60)
    );
    let line = u32::try_from(text.lines().count()).unwrap() - 1;
    let (_folder, engine) = tree_of(&[("src/bag.c", &text)]);
    let request = Request {
        frames: vec![CrashFrame {
            function: "last_of".to_owned(),
            file: Some("src/bag.c".to_owned()),
            line: Some(line),
            role: Role::Crash,
            depth: 0,
        }],
        ..Request::default()
    };
    let context = engine.context(&request);
    let code = context.snippets.first().map_or("", |one| one.text.as_str());
    for expected in ["at = b->room - 3;", "if (b->room > 2)", "items[at]"] {
        assert!(code.contains(expected), "{expected}: {code}");
    }
    assert!(code.lines().count() < 160, "{code}");
}
