//! Tests of what a crash report's stacks bring and in which order, one thing at a time:
//! each test fails when that one is gone.

use super::tree_of;
use crate::{Context, CrashFrame, Engine, Request, Role};

/// A stack of functions of `src/a.c` with their lines, from the top.
fn stack(role: Role, functions: &[(&str, &str, u32)]) -> Vec<CrashFrame> {
    let frames = (0..).zip(functions);
    frames
        .map(|(depth, (function, file, line))| CrashFrame {
            function: (*function).to_owned(),
            file: Some((*file).to_owned()),
            line: Some(*line),
            role,
            depth,
        })
        .collect()
}

fn context(engine: &Engine, frames: Vec<CrashFrame>) -> Context {
    engine
        .context(&Request {
            frames,
            ..Request::default()
        })
        .unwrap()
}

/// The functions that are shown, each with why.
fn shown(context: &Context) -> Vec<(String, String)> {
    let snippets = context.snippets.iter();
    let named = snippets.filter_map(|one| Some((one.symbols.first()?.clone(), one.note.clone()?)));
    named.collect()
}

fn why<'s>(found: &'s [(String, String)], name: &str) -> Option<&'s str> {
    let one = found.iter().find(|(symbol, _)| symbol == name);
    one.map(|(_, why)| why.as_str())
}

/// Functions of twelve lines, each of which does what its name says.
fn functions(names: &[(&str, &str)]) -> String {
    let filler = "    total += 1;\n".repeat(7);
    let one = |(name, calls): &(&str, &str)| {
        format!("int {name}(int n)\n{{\n    int total = n;\n{filler}    {calls}\n}}\n")
    };
    names.iter().map(one).collect::<Vec<_>>().join("\n")
}

const TOP: u32 = 11;

/// The last line of the nth function, where it calls.
fn line(nth: u32) -> u32 {
    TOP + 13 * nth
}

#[test]
fn stacks_are_weighed_by_role_and_depth_and_the_harness_is_left() {
    let text = functions(&[
        ("use_it", "return total;"),
        ("run_it", "return use_it(total);"),
        ("drop_it", "return total;"),
        ("make_it", "return total;"),
    ]);
    let (_folder, engine) = tree_of(&[
        ("src/a.c", &text),
        (
            "tests/fuzz.c",
            "int main(void)\n{\n    return run_it(0);\n}\n",
        ),
        (
            "src/tool.c",
            "int main(void)\n{\n    return run_it(1);\n}\n",
        ),
    ]);
    let frames = [
        stack(
            Role::Crash,
            &[
                ("use_it", "src/a.c", line(0)),
                ("run_it", "src/a.c", line(1)),
                ("main", "tests/fuzz.c", 3),
            ],
        ),
        stack(Role::Freed, &[("drop_it", "src/a.c", line(2))]),
        stack(Role::Allocated, &[("make_it", "src/a.c", line(3))]),
    ];
    let found = shown(&context(&engine, frames.concat()));
    let order: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        order,
        ["use_it", "drop_it", "run_it", "make_it"],
        "{found:?}"
    );
    let said = why(&found, "drop_it").unwrap_or_default();
    assert_eq!(said, format!("freed stack #0, at line {}", line(2)));
    for (file, mark) in [
        ("tests/fuzz.c", "harness"),
        ("src/tool.c", "entry of the program"),
    ] {
        let entry = context(&engine, stack(Role::Crash, &[("main", file, 3)]));
        assert_eq!(entry.stack, [format!("crash #0 main {file}:3 ({mark})")]);
    }
}

#[test]
fn a_function_that_is_cut_says_where_it_ends() {
    let rest = "  other();\n".repeat(400);
    let text = format!("int top(int total)\n{{\n  int left = total;\n  use(left);\n{rest}}}\n");
    let (_folder, engine) = tree_of(&[("src/a.c", &text)]);
    let found = shown(&context(
        &engine,
        stack(Role::Crash, &[("top", "src/a.c", 4)]),
    ));
    let said = why(&found, "top").unwrap_or_default();
    assert_eq!(said, "crash stack #0, at line 4; it goes on to line 405");
}

#[test]
fn what_the_top_calls_comes_along_three_calls_away() {
    let text = functions(&[
        ("top", "return low(total);"),
        ("low", "return lower(total);"),
        ("lower", "return lowest(total);"),
        ("lowest", "return beyond(total);"),
        ("beyond", "return total;"),
    ]);
    let (_folder, engine) = tree_of(&[("src/a.c", &text)]);
    let frames = stack(Role::Crash, &[("top", "src/a.c", line(0))]);
    let context = context(&engine, frames);
    let found = shown(&context);
    for (name, expected) in [
        ("top", format!("crash stack #0, at line {}", line(0))),
        ("low", "called by top".to_owned()),
        ("lower", "called by low".to_owned()),
    ] {
        assert_eq!(why(&found, name), Some(expected.as_str()), "{found:?}");
    }
    let said = why(&found, "lowest").unwrap_or_default();
    assert!(said.starts_with("further functions"), "{found:?}");
}

/// A function of many lines, and where its nth line stands.
fn long(name: &str, at: u32) -> (String, u32) {
    let filler =
        |count: u32| (0..count).fold(String::new(), |all, n| all + &format!("    log_{n}();\n"));
    let text = format!(
        "int {name}(int n)\n{{\n{}    n = step(n);\n{}    return n;\n}}\n\n",
        filler(at),
        filler(at)
    );
    (text, at + 3)
}

#[test]
fn each_of_the_first_frames_shows_its_line_with_what_stands_before_it() {
    let names: Vec<String> = (0..8).map(|n| format!("level_{n}")).collect();
    let mut text = String::new();
    let mut places: Vec<(&str, &str, u32)> = Vec::new();
    for name in &names {
        let before = u32::try_from(text.lines().count()).unwrap();
        let (code, at) = long(name, 60);
        places.push((name, "src/a.c", before + at));
        text += &code;
    }
    let (_folder, engine) = tree_of(&[("src/a.c", &text)]);
    let context = context(&engine, stack(Role::Crash, &places));
    for (name, _, line) in places.iter().take(5) {
        let one = context.snippets.iter().find(|one| one.symbols == [*name]);
        let ranges = one.map(crate::Snippet::ranges).unwrap_or_default();
        let shows = |at: u32| {
            ranges
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&at))
        };
        assert!(shows(*line) && shows(line - 5), "{name} {line}: {ranges:?}");
    }
    // A frame whose code is shown is not told once more.
    let text = context.render();
    let told = text.split("</stack>").next().unwrap();
    assert!(told.contains("#7 level_7"), "{text}");
    assert!(!told.contains("#4 level_4"), "{text}");
    assert_eq!(context.stack.len(), 8);
}

#[test]
fn what_everybody_allocates_with_is_passed_over() {
    let users: Vec<String> = (0..20).map(|n| format!("user_{n}")).collect();
    let names: Vec<(&str, &str)> = [
        ("use_it", "return total;"),
        ("reserve", "return total;"),
        ("fetch", "return reserve(total);"),
        ("make_it", "return fetch(total);"),
    ]
    .into_iter()
    .chain(users.iter().map(|name| (name.as_str(), "fetch(total);")))
    .collect();
    let frames = [
        stack(Role::Crash, &[("use_it", "src/a.c", line(0))]),
        stack(
            Role::Allocated,
            &[
                ("reserve", "src/a.c", line(1)),
                ("fetch", "src/a.c", line(2)),
                ("make_it", "src/a.c", line(3)),
            ],
        ),
    ]
    .concat();
    let order = |count: usize| {
        let text = functions(names.get(..count).unwrap_or(&names));
        let (_folder, engine) = tree_of(&[("src/a.c", &text)]);
        let found = shown(&context(&engine, frames.clone()));
        let names = found.into_iter().map(|(name, _)| name);
        names.take(3).collect::<Vec<_>>()
    };
    assert_eq!(order(usize::MAX).get(..2).unwrap(), ["use_it", "make_it"]);
    // What only one function calls may well be wrong itself.
    assert_eq!(order(4).get(..2).unwrap(), ["use_it", "reserve"]);
}

#[test]
fn a_frame_that_many_call_is_told_as_a_frame() {
    let users: Vec<String> = (0..20).map(|n| format!("user_{n}")).collect();
    let calls = users.iter().map(|name| (name.as_str(), "fetch(total);"));
    let frames = [("fetch", "return total;"), ("top", "return fetch(total);")];
    let text = functions(&frames.into_iter().chain(calls).collect::<Vec<_>>());
    let (_folder, engine) = tree_of(&[("src/a.c", &text)]);
    let frames = [("fetch", "src/a.c", line(0)), ("top", "src/a.c", line(1))];
    let found = shown(&context(&engine, stack(Role::Crash, &frames)));
    let said = format!("crash stack #0, at line {}", line(0));
    assert_eq!(why(&found, "fetch"), Some(said.as_str()), "{found:?}");
}

/// Returns what a table of a generator holds lies in no definition; the report's number
/// of a frame stays although frames above it lie outside the tree.
#[test]
fn a_frame_without_a_definition_shows_the_lines_around_it_under_its_own_number() {
    let rules: String = (1..=200).fold(String::new(), |all, n| {
        all + &format!("rule{n}: TOKEN {{ reduce({n}); }}\n")
    });
    let (_folder, engine) = tree_of(&[
        ("lib/grammar.y", &rules),
        ("lib/other.c", "int start(void)\n{\n    return 1;\n}\n"),
    ]);
    let mut frames = stack(
        Role::Crash,
        &[
            ("memcpy", "../sysdeps/x86_64/memcpy.S", 10),
            ("yyparse", "/build/x/lib/grammar.y", 120),
        ],
    );
    frames.extend(stack(
        Role::Freed,
        &[("free", "", 0), ("start", "/w/lib/other.c", 3)],
    ));
    let context = context(&engine, frames);
    assert_eq!(
        context.stack,
        [
            "crash #1 yyparse lib/grammar.y:120",
            "freed #1 start lib/other.c:3"
        ]
    );
    let first = &context.snippets[0];
    assert_eq!(first.place(), "lib/grammar.y:90-149");
    assert_eq!(first.symbols, ["yyparse"]);
}

#[test]
fn a_path_of_a_report_is_matched_by_its_end() {
    let (_folder, engine) = tree_of(&[
        (
            "core/json/read.c",
            "int read_it(int n)\n{\n    return n;\n}\n",
        ),
        ("compat/memcpy.c", "void *copy(void)\n{\n    return 0;\n}\n"),
    ]);
    let found = context(
        &engine,
        stack(
            Role::Crash,
            &[
                // The name alone is that of a file of the C library.
                ("memcpy", "/build/glibc/string/memcpy.c", 2),
                ("read_it", "/build/project/src/json/read.c", 3),
            ],
        ),
    );
    assert_eq!(found.stack, ["crash #1 read_it core/json/read.c:3"]);
}

/// libsass: lines of a macro that the report calls `perform` stand in no
/// definition, and `perform` is called everywhere.
#[test]
fn a_frame_without_a_definition_is_no_allocator() {
    let callers: String = (0..30)
        .map(|n| format!("int user_{n}(struct node *n)\n{{\n    return perform(n);\n}}\n"))
        .collect();
    let code = functions(&[("drop_it", "free(total);"), ("other", "return total;")]);
    let macros =
        "#define ATTACH(x) int perform(struct node *n) \\\n  { return run(n); }\n\nATTACH(a)\n";
    let (_folder, engine) = tree_of(&[
        ("src/a.c", &code),
        ("src/u.c", &callers),
        ("src/m.def", macros),
        ("src/b.c", "int crash(int *p)\n{\n    return *p;\n}\n"),
    ]);
    let mut frames = stack(Role::Crash, &[("crash", "src/b.c", 3)]);
    frames.extend(stack(
        Role::Freed,
        &[("drop_it", "src/a.c", TOP), ("perform", "src/m.def", 4)],
    ));
    let located = engine.locate(&frames).unwrap();
    assert_eq!(located.len(), 3);
    let freed = located.iter().filter(|place| place.role == Role::Freed);
    let wrappers: Vec<&str> = freed
        .filter(|place| place.is_wrapper)
        .map(|place| place.symbol.name.as_str())
        .collect();
    assert!(wrappers.is_empty(), "{wrappers:?}");
}

#[test]
fn a_frame_that_allocated_shows_its_lines_beside_a_deep_stack() {
    let filler = "    total += 1;\n".repeat(160);
    let make =
        format!("int make(int n)\n{{\n    int total = n;\n{filler}    return take(total);\n}}\n");
    let deep = functions(&[
        ("one", "return n;"),
        ("two", "return one(n);"),
        ("three", "return two(n);"),
    ]);
    let (_folder, engine) = tree_of(&[("src/a.c", &deep), ("src/make.c", &make)]);
    let of_a = |name, nth| (name, "src/a.c", line(nth));
    let mut frames = stack(
        Role::Crash,
        &[of_a("one", 0), of_a("two", 1), of_a("three", 2)],
    );
    frames.extend(stack(Role::Allocated, &[("make", "src/make.c", 164)]));
    let found = context(&engine, frames).snippets;
    let made = found.iter().find(|one| one.symbols == ["make"]);
    assert!(made.is_some_and(|one| one.line_count() > 20), "{found:?}");
}
