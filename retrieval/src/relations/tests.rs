//! Tests of the relations on one small program.

mod calls;

use crate::index::{Index, IndexLimits};
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
    let index = Index::open(&tree, &cache, IndexLimits::default()).unwrap();
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
    assert_eq!(index.bases(&one("Square")).unwrap(), ["Shape"]);
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
    let header = TreePath::new("include/buf.h").unwrap();
    let importers: Vec<String> = index
        .importers(&header)
        .unwrap()
        .into_iter()
        .map(|import| format!("{}:{}", import.path, import.line))
        .collect();
    assert_eq!(importers, ["src/buf.c:1", "src/main.c:1", "src/main.c:2"]);
    for import in index
        .imports(&TreePath::new("src/main.c").unwrap())
        .unwrap()
    {
        assert_eq!(index.imported_files(&import), std::slice::from_ref(&header));
    }
    let shape = TreePath::new("java/a/b/Shape.java").unwrap();
    assert_eq!(index.importers(&shape).unwrap().len(), 1);
}

#[test]
fn likeness() {
    let (_folder, index) = fixture();
    let names: Vec<String> = index
        .nearest("buf_ad", 2)
        .unwrap()
        .into_iter()
        .map(|one| one.name)
        .collect();
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
