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
    let snippets = engine.context(&request).unwrap().snippets.into_iter();
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
    let said = reason(&found, "bag_size");
    assert_eq!(said.as_deref(), Some(NAMED), "{found:?}");
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

/// Functions of five lines, each with what its fourth line does.
fn short(functions: &[(&str, &str)]) -> String {
    let one = |(name, does): &(&str, &str)| {
        format!("int {name}(int n)\n{{\n    int total = n;\n    {does}\n}}\n")
    };
    functions.iter().map(one).collect()
}

/// Returns how a function stands among those that are shown or named, the first with 0.
fn place(shown: &[(String, String)], name: &str) -> usize {
    let mut names = shown.iter().flat_map(|(names, _)| names.split(' '));
    names.position(|one| one == name).unwrap_or(usize::MAX)
}

#[test]
fn of_what_a_frame_called_the_latest_before_its_line_comes_first() {
    let text = format!(
        "{}int run(int n)\n{{\n    first(n);\n    second(n);\n    third(n);\n    return top(n) + late(n);\n}}\n",
        short(&[
            ("top", "return total;"),
            ("first", "return total;"),
            ("second", "return total;"),
            ("third", "return total;"),
            ("late", "return total;"),
        ])
    );
    let found = shown(
        &[("src/a.c", &text)],
        &[("top", "src/a.c", 4), ("run", "src/a.c", 31)],
    );
    let order: Vec<usize> = ["late", "third", "second", "first"]
        .iter()
        .map(|name| place(&found, name))
        .collect();
    // On the line itself, then the nearer before the farther.
    assert!(order.is_sorted(), "{order:?} {found:?}");
    let behind = text.replace(
        "return top(n) + late(n);",
        "n = top(n);\n    return late(n);",
    );
    let found = shown(
        &[("src/a.c", &behind)],
        &[("top", "src/a.c", 4), ("run", "src/a.c", 31)],
    );
    assert!(place(&found, "late") > place(&found, "third"), "{found:?}");
}

#[test]
fn a_call_that_sets_what_the_line_reads_counts_more() {
    let text = format!(
        "{}int run(int n)\n{{\n    int at = make(n);\n    int other = note(n);\n    return top(at);\n}}\n",
        short(&[
            ("top", "return total;"),
            ("make", "return total;"),
            ("note", "return total;"),
        ])
    );
    let stack = [("top", "src/a.c", 4), ("run", "src/a.c", 20)];
    let found = shown(&[("src/a.c", &text)], &stack);
    assert!(place(&found, "make") < place(&found, "note"), "{found:?}");
    let plain = text.replace("int at = make(n)", "int at = n; make(n)");
    let found = shown(&[("src/a.c", &plain)], &stack);
    assert!(place(&found, "note") < place(&found, "make"), "{found:?}");
}

/// Says of a function that it is named without its code.
const NAMED: &str = "further functions, by their first lines";

fn named(found: &[(String, String)]) -> Vec<&str> {
    let heads = found.iter().filter(|(_, why)| why == NAMED);
    heads.flat_map(|(names, _)| names.split(' ')).collect()
}

#[test]
fn what_ran_shortly_before_is_named_in_other_files_too() {
    let filler = "    total += 1;\n".repeat(120);
    let function = |name: &str, calls: &str| {
        format!("int {name}(int n)\n{{\n    int total = n;\n{filler}    {calls}\n}}\n\n")
    };
    let files = [
        ("src/a.c", function("top", "far(n); return total;")),
        ("src/b.c", function("far", "return farther(total);")),
        ("src/c.c", function("farther", "return total;")),
        ("src/d.c", function("unrelated", "return total;")),
    ];
    let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
    let found = shown(&files, &[("top", "src/a.c", 124)]);
    assert_eq!(named(&found), ["far"], "{found:?}");
}

#[test]
fn functions_named_like_those_of_the_stack_and_long_ones_are_named() {
    let function = |name: &str, lines: usize| {
        let filler = "    n += 1;\n".repeat(lines);
        format!("int {name}(int n)\n{{\n{filler}    return n;\n}}\n\n")
    };
    let many: String = (0..40).map(|n| function(&format!("get_{n}"), 1)).collect();
    let text = [
        function("read_left_part", 1),
        function("write_all", 60),
        many,
        function("read_right_part", 1),
    ]
    .concat();
    let other = function("read_middle_part", 60);
    let found = shown(
        &[("src/a.c", &text), ("src/b.c", &other)],
        &[("read_left_part", "src/a.c", 4)],
    );
    let mut named = named(&found);
    assert_eq!(named.len(), 30, "{found:?}");
    named.retain(|name| !name.starts_with("get_"));
    assert_eq!(named, ["read_right_part", "write_all"], "{found:?}");
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
    let context = engine.context(&request).unwrap();
    let code = context.snippets.first().map_or("", |one| one.text.as_str());
    for expected in ["at = b->room - 3;", "if (b->room > 2)", "items[at]"] {
        assert!(code.contains(expected), "{expected}: {code}");
    }
    assert!(code.lines().count() < 160, "{code}");
}

const UNPACKED: &str = "package p;
public class Unpacked {
    static void each(Reader reader, Back back) {
        reader.next(back);
    }
    public static class Writer implements Back {
        public Writer(int to) {
        }
        public void entry(String name) {
            write(name);
        }
    }
}
";

const FUZZER: &str = "package fuzz;
public class UnpackedFuzzer {
    public static void fuzzerTestOneInput(byte[] data) {
        unpack(data);
        throw new IllegalStateException();
    }
    static void unpack(byte[] data) {
        Unpacked.each(new Reader(data), new Unpacked.Writer(1));
    }
}
";

#[test]
fn where_the_harness_saw_it_what_it_called_is_shown_and_what_an_object_is_called_back_for() {
    let files = [
        ("src/p/Unpacked.java", UNPACKED),
        ("fuzz/UnpackedFuzzer.java", FUZZER),
    ];
    let frame = (
        "fuzz.UnpackedFuzzer.fuzzerTestOneInput",
        "fuzz/UnpackedFuzzer.java",
        5,
    );
    let found = shown(&files, &[frame]);
    for (name, why) in [
        ("p.Unpacked.each", "called by unpack"),
        (
            "p.Unpacked.Writer.entry",
            "a method of Writer, which is made",
        ),
    ] {
        assert_eq!(reason(&found, name).as_deref(), Some(why), "{found:?}");
    }
}
