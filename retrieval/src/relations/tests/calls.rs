//! Tests of the resolution of calls: it is decided by what is written, and by the
//! name alone only with a mark.

use crate::index::{Index, IndexLimits};

fn index_of(files: &[(&str, &str)]) -> (tempfile::TempDir, Index) {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    for (path, content) in files {
        let path = tree.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let cache = folder.path().join("cache");
    let index = Index::open(&tree, &cache, IndexLimits::default()).unwrap();
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
