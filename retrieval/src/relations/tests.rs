//! Tests of the relations on one small program.

use crate::index::Index;
use crate::settings::FILE_SIZE_LIMIT;
use crate::symbol::{Symbol, UseKind};
use patchwright_source::TreePath;

const FILES: &[(&str, &str)] = &[
    (
        "include/buf.h",
        "typedef struct buf_st BUF;\n#define BUF_MIN 8\n#define BUF_GROW(n) ((n) + BUF_MIN)\n\
         int buf_add(BUF *b, int n);\nBUF *buf_new(void);\n",
    ),
    (
        "src/buf.c",
        "#include \"buf.h\"\n\nstruct buf_st {\n  int len;\n  int cap;\n};\n\n\
         int buf_add(BUF *b, int n) {\n  b->len += BUF_GROW(n);\n  return check(b);\n}\n\n\
         static int check(BUF *b) {\n  return b->len < b->cap;\n}\n\n\
         int buf_remove(BUF *b, int n) {\n  b->len -= BUF_GROW(n);\n  return check(b);\n}\n",
    ),
    (
        "src/main.c",
        "#include <buf.h>\n#include \"../include/buf.h\"\nint total;\nvoid run(void) {\n  \
         total = buf_add(0, 1);\n}\nint main(void) {\n  run();\n  run();\n  return total;\n}\n",
    ),
    (
        "java/a/b/Shape.java",
        "package a.b;\npublic interface Shape { int area(); }\n",
    ),
    (
        "java/a/b/Square.java",
        "package a.b;\nimport a.b.Shape;\nclass Square implements Shape {\n  int side;\n  \
         public int area() { return side * side; }\n  static class Small extends Square {\n    \
         public int area() { return 1; }\n  }\n}\n",
    ),
    (
        "cpp/n.cpp",
        "namespace one { struct A { void go(); int x; }; }\nnamespace two { struct A { void go(); }; }\n\
         void one::A::go() { x = 1; }\nvoid two::A::go() {}\n",
    ),
];

pub(crate) fn fixture() -> (tempfile::TempDir, Index) {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    for (path, content) in FILES {
        let path = tree.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let cache = folder.path().join("cache");
    let index = Index::open(&tree, &cache, FILE_SIZE_LIMIT).unwrap();
    (folder, index)
}

fn places(symbols: &[Symbol]) -> Vec<String> {
    symbols
        .iter()
        .map(|symbol| format!("{}:{} {}", symbol.path, symbol.start_line, symbol.kind))
        .collect()
}

#[track_caller]
pub(crate) fn defined(index: &Index, name: &str, expected: &[&str]) {
    let found = index.definitions(name).unwrap();
    assert_eq!(places(&found.symbols), expected, "{name}");
}

#[test]
fn definitions_by_plain_and_qualified_names() {
    let (_folder, index) = fixture();
    defined(&index, "buf_add", &["src/buf.c:8 function"]);
    defined(&index, "buf_new", &["include/buf.h:5 prototype"]);
    defined(&index, "BUF", &["include/buf.h:1 typedef"]);
    defined(&index, "one::A::go", &["cpp/n.cpp:3 method"]);
    defined(
        &index,
        "one::A::go(int, char*) const",
        &["cpp/n.cpp:3 method"],
    );
    defined(
        &index,
        "A::go",
        &["cpp/n.cpp:3 method", "cpp/n.cpp:4 method"],
    );
    defined(&index, "buf_st::len", &["src/buf.c:4 field"]);
    for name in [
        "a.b.Square.area",
        "Square.area",
        "Square#area",
        "a/b/Square.area",
    ] {
        defined(&index, name, &["java/a/b/Square.java:5 method"]);
    }
    defined(
        &index,
        "a.b.Square$Small.area",
        &["java/a/b/Square.java:7 method"],
    );
    defined(&index, "nothing", &[]);
    defined(&index, "", &[]);
    let found = index.definitions("wrong.pack.Square.area").unwrap();
    assert_eq!(found.ignored, ["wrong", "pack"]);
    assert_eq!(places(&found.symbols), ["java/a/b/Square.java:5 method"]);
}

#[test]
fn strange_names_find_nothing_and_break_nothing() {
    let (_folder, index) = fixture();
    let long = "x".repeat(10_000_000);
    let names = [
        "'; DROP TABLE symbol; --",
        "$(rm -rf /)",
        "-rf",
        "a[",
        "(",
        "\0",
        "%",
        "_",
        "*",
        "::",
        "../../etc/passwd",
        "\u{202e}abc",
        long.as_str(),
    ];
    for name in names {
        assert!(index.definitions(name).unwrap().symbols.is_empty());
        assert!(index.references(name).unwrap().is_empty());
        assert!(index.callers(name, 3, 10).unwrap().is_empty());
        assert!(index.call_path(name, name).unwrap().is_empty());
        assert!(index.implementations(name).unwrap().is_empty());
        index.nearest(name, 3).unwrap();
        assert!(!index.knows(name).unwrap());
    }
    defined(&index, "run", &["src/main.c:4 function"]);
}

#[test]
fn references_tell_reads_writes_and_calls() {
    let (_folder, index) = fixture();
    let uses = |name: &str| -> Vec<(String, u32, UseKind)> {
        let uses = index.references(name).unwrap();
        uses.into_iter()
            .map(|one| (one.path.to_string(), one.line, one.kind))
            .collect()
    };
    let main = |line, kind| ("src/main.c".to_owned(), line, kind);
    assert_eq!(
        uses("total"),
        [main(5, UseKind::Write), main(10, UseKind::Read)]
    );
    assert_eq!(
        uses("run"),
        [main(8, UseKind::Call), main(9, UseKind::Call)]
    );
    let len: Vec<(u32, UseKind)> = uses("len").into_iter().map(|one| (one.1, one.2)).collect();
    assert_eq!(
        len,
        [
            (9, UseKind::Write),
            (14, UseKind::Read),
            (18, UseKind::Write)
        ]
    );
    assert_eq!(uses("b"), []);
    assert_eq!(
        uses("BUF_MIN"),
        [("include/buf.h".to_owned(), 3, UseKind::Read)]
    );
}

#[test]
fn calls_up_down_and_through() {
    let (_folder, index) = fixture();
    let show = |calls: Vec<crate::symbol::Call>| -> Vec<String> {
        calls
            .into_iter()
            .map(|call| {
                let caller = call.caller.map_or_else(String::new, |one| one.name);
                format!("{caller}>{} {:?} {}", call.callee, call.lines, call.depth)
            })
            .collect()
    };
    assert_eq!(
        show(index.callers("check", 3, 50).unwrap()),
        [
            "buf_add>check [10] 1",
            "buf_remove>check [19] 1",
            "run>buf_add [5] 2",
            "main>run [8, 9] 3"
        ]
    );
    assert_eq!(
        show(index.callees("run", 2, 50).unwrap()),
        [
            "run>buf_add [5] 1",
            "buf_add>BUF_GROW [9] 2",
            "buf_add>check [10] 2"
        ]
    );
    assert_eq!(
        show(index.call_path("main", "check").unwrap()),
        [
            "main>run [8, 9] 1",
            "run>buf_add [5] 2",
            "buf_add>check [10] 3"
        ]
    );
    assert!(index.call_path("check", "main").unwrap().is_empty());
}

#[test]
fn types_and_what_is_made_of_them() {
    let (_folder, index) = fixture();
    let one = |name: &str| index.definitions(name).unwrap().symbols.remove(0);
    assert_eq!(
        places(&index.type_pair(&one("BUF")).unwrap()),
        ["src/buf.c:3 struct"]
    );
    assert_eq!(
        places(&index.type_pair(&one("buf_st")).unwrap()),
        ["include/buf.h:1 typedef"]
    );
    let members: Vec<String> = index
        .members(&one("buf_st"))
        .unwrap()
        .into_iter()
        .map(|one| one.name)
        .collect();
    assert_eq!(members, ["len", "cap"]);
    assert_eq!(
        places(&index.macros_named_by(&one("BUF_GROW")).unwrap()),
        ["include/buf.h:2 macro"]
    );
    assert_eq!(
        places(&index.implementations("Shape").unwrap()),
        [
            "java/a/b/Square.java:3 class",
            "java/a/b/Square.java:6 class"
        ]
    );
    assert_eq!(
        places(&index.implementations("Shape.area").unwrap()),
        [
            "java/a/b/Square.java:5 method",
            "java/a/b/Square.java:7 method"
        ]
    );
}

#[test]
fn places_and_files() {
    let (_folder, index) = fixture();
    let path = TreePath::new("src/buf.c").unwrap();
    let around = |line: u32| index.enclosing(&path, line).unwrap().map(|one| one.name);
    assert_eq!(around(1), None);
    assert_eq!(around(4).as_deref(), Some("buf_st"));
    assert_eq!(around(9).as_deref(), Some("buf_add"));
    assert_eq!(around(12), None);
    assert_eq!(around(14).as_deref(), Some("check"));
    assert_eq!(around(99), None);
    let small = TreePath::new("java/a/b/Square.java").unwrap();
    let inner = index.enclosing(&small, 7).unwrap().unwrap();
    assert_eq!(inner.qualified(), "a.b.Square.Small.area");
    let main = TreePath::new("src/main.c").unwrap();
    let imports = index.imports(&main).unwrap();
    let lines: Vec<u32> = imports.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [1, 2]);
}

#[test]
fn likeness() {
    let (_folder, index) = fixture();
    let names = index.nearest("buf_ad", 2).unwrap();
    assert_eq!(names.first().map(String::as_str), Some("buf_add"));
    assert_eq!(index.names_with("BUF_", 2).unwrap(), ["buf_st", "BUF_MIN"]);
    let add = index.definitions("buf_add").unwrap().symbols.remove(0);
    let similar = index.similar(&add, 3).unwrap();
    let first = similar.first().unwrap();
    assert_eq!(first.symbol.name, "buf_remove");
    assert_eq!(first.shared, ["BUF_GROW", "check"]);
    assert!(index.knows("buf_new").unwrap() && index.knows("BUF").unwrap());
    assert!(index.knows("buf.h").unwrap() && !index.knows("buf_newer").unwrap());
}

fn index_of(files: &[(&str, &str)]) -> (tempfile::TempDir, Index) {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    for (path, content) in files {
        let path = tree.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let cache = folder.path().join("cache");
    let index = Index::open(&tree, &cache, FILE_SIZE_LIMIT).unwrap();
    (folder, index)
}

/// `caller -> path:line of what is called`, `?` where only the name says so.
fn callees(index: &Index, name: &str) -> Vec<String> {
    let calls = index.callees(name, 1, 100).unwrap();
    let mut shown: Vec<String> = calls
        .into_iter()
        .map(|call| {
            let mark = if call.by_name { "?" } else { "" };
            let target = call.target.map_or_else(
                || "-".to_owned(),
                |target| format!("{}:{}", target.path, target.start_line),
            );
            format!("{}{mark} {target}", call.callee)
        })
        .collect();
    shown.sort();
    shown
}

fn callers(index: &Index, name: &str) -> Vec<String> {
    let calls = index.callers(name, 1, 100).unwrap();
    let names = calls.into_iter().map(|call| {
        let mark = if call.by_name { "?" } else { "" };
        format!(
            "{}{mark}",
            call.caller.map_or_else(String::new, |one| one.name)
        )
    });
    names.collect()
}

/// jsoup: `List.get` is not `HttpConnection.get`.
#[test]
fn the_declared_type_of_the_receiver_decides_in_java() {
    let (_folder, index) = index_of(&[
        (
            "a/Connection.java",
            "package a;\nclass Connection {\n  Document get() { return null; }\n  \
             Document get(int n) { return null; }\n}\n",
        ),
        (
            "a/Special.java",
            "package a;\nclass Special extends Connection {\n  Document get() { return null; }\n}\n",
        ),
        (
            "a/User.java",
            "package a;\nimport java.util.List;\nclass User {\n  Connection held;\n  \
             void lists(List<String> list) {\n    list.get(0);\n  }\n  \
             void one(Connection c) {\n    c.get();\n  }\n  \
             void field() {\n    held.get(1);\n  }\n  \
             void chain() {\n    make().get();\n  }\n  \
             Connection make() { return new Connection(); }\n}\n",
        ),
    ]);
    assert_eq!(callees(&index, "User.lists"), ["get -"]);
    assert_eq!(callees(&index, "User.one"), ["get a/Connection.java:3"]);
    assert_eq!(callees(&index, "User.field"), ["get a/Connection.java:4"]);
    assert_eq!(
        callees(&index, "User.chain"),
        ["get? a/Connection.java:3", "make a/User.java:17"]
    );
    // A subclass may be meant where its base is written.
    assert_eq!(callers(&index, "Special.get"), ["one?", "chain?"]);
    let path = index.call_path("User.lists", "Connection.get").unwrap();
    assert!(path.is_empty(), "{path:?}");
    let path = index.call_path("User.chain", "Connection.get").unwrap();
    assert!(path[0].by_name, "{path:?}");
}

#[test]
fn callers_of_a_method_are_not_those_of_its_namesake() {
    let (_folder, index) = index_of(&[(
        "make.cc",
        "struct A { static int make() { return 1; } int run() { return make(); } };\n\
         struct B { static int make() { return 2; } int run_b() { return make(); } };\n\
         int both() { return A::make() + B::make(); }\nint of_b(B &b) { return b.make(); }\n",
    )]);
    assert_eq!(callers(&index, "A::make"), ["run", "both"]);
    assert_eq!(callers(&index, "B::make"), ["run_b", "both", "of_b"]);
}

#[test]
fn static_functions_and_copies_of_a_library_call_their_own() {
    let code =
        "static int check(int n) { return n; }\nint step(int n) { return check(n) + grow(n); }\n";
    let (_folder, index) = index_of(&[
        ("one/a.c", code),
        ("one/b.c", "int grow(int n) { return n; }\n"),
        ("two/a.c", code),
        ("two/b.c", "int grow(int n) { return n; }\n"),
        (
            "two/c.c",
            "int other(struct ops *ops) { return ops->grow(1) + check(2); }\n",
        ),
    ]);
    let calls = index.callers("grow", 1, 100).unwrap();
    for call in &calls {
        let target = call.target.as_ref().unwrap();
        assert_eq!(call.path.folder(), target.path.folder());
        assert!(!call.by_name);
    }
    assert_eq!(calls.len(), 2);
    // A pointer in a member is no function, and a static one of another file is
    // out of reach.
    assert_eq!(callees(&index, "other"), ["check -", "grow -"]);
}

/// PCRE2: `PRIV(strlen)` is not the C library's `strlen`.
#[test]
fn a_name_that_a_macro_makes_is_not_called_from_elsewhere() {
    let (_folder, index) = index_of(&[
        (
            "deps/string.c",
            "int PRIV(strlen)(char *s)\n{\n  return 0;\n}\n",
        ),
        ("src/a.c", "int size(char *s) { return strlen(s); }\n"),
    ]);
    assert_eq!(callees(&index, "size"), ["strlen -"]);
}

#[test]
fn the_number_of_arguments_tells_overloads_apart() {
    let (_folder, index) = index_of(&[(
        "put.cc",
        "void put(int a) {}\nvoid put(int a, int b) {}\nvoid put(int a, int b, int c, int d = 0) {}\n\
         void one() { put(1); }\nvoid three() { put(1, 2, 3); }\nvoid five() { put(1, 2, 3, 4, 5); }\n",
    )]);
    assert_eq!(callees(&index, "one"), ["put put.cc:1"]);
    assert_eq!(callees(&index, "three"), ["put put.cc:3"]);
    assert_eq!(callees(&index, "five"), ["put -"]);
}
