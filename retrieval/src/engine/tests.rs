//! Each kind of query over one small tree, as the model reads the answers.

use crate::{CrashFrame, Engine, Memory, Query, Role, Settings};

const A: &str = "\
#include \"a.h\"
#define INNER 4
#define OUTER (INNER * 2)
/* Adds what must be added. */
static int add(struct point *p, int by)
{
    p->x += by;
    return OUTER;
}
int run(struct point *p)
{
    return add(p, 3) + missing(p);
}
";
const HEADER: &str = "\
typedef struct point point_t;
struct point {
    int x;
    int y;
};
int run(struct point *p);
";
const JAVA: &str = "\
package org.a;
import java.util.List;
import java.util.Map;
public class B extends Base {
    int size(List<String> l) {
        return l.size();
    }
}
class Base {
    int size(List<String> l) { return 0; }
}
";

pub(crate) fn fixture() -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("tree");
    for (path, content) in [
        ("src/a.c", A),
        ("src/a.h", HEADER),
        ("java/org/a/B.java", JAVA),
        (
            "tests/test_a.c",
            "int run(void *p);\nint main(void) { return run(0); }\n",
        ),
        ("Makefile", "all:\n\tcc src/a.c\n"),
    ] {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    std::fs::write(root.join("blob.bin"), b"\0\0\0").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", root.join("link")).unwrap();
    let engine = Engine::open(&root, &folder.path().join("cache"), Settings::default()).unwrap();
    (folder, engine)
}

fn ask(engine: &Engine, kind: &str, body: &str) -> String {
    let query = Query::read(kind, body, &[]).unwrap();
    Memory::default().render(1, &[engine.answer(&query)])
}

#[track_caller]
fn check(engine: &Engine, kind: &str, body: &str, expected: &str) {
    let answer = ask(engine, kind, body);
    assert!(answer.contains(expected), "<{kind}> {body}: {answer}");
}

#[test]
fn answers_what_is_where() {
    let (_folder, engine) = fixture();
    for (kind, body, expected) in [
        ("symbol", "add", "src/a.c:4-9 [add] (function)"),
        ("symbol", "add", "7:     p->x += by;"),
        ("symbol", "point", "src/a.h:2-5 [point]"),
        ("symbol", "point", "typedef point_t, with point"),
        ("symbol", "OUTER", "macro INNER, named by OUTER"),
        ("symbol", "org.a.B.size", "imports java.util.{List, Map}"),
        ("symbol", "B#size", "java/org/a/B.java:5-7"),
        ("symbol", "poin", "no symbol poin; these names hold it"),
        ("symbol", "addd", "nearest: add"),
        (
            "symbol",
            "must be added",
            "nothing defines must be added; these lines hold it as text",
        ),
        (
            "symbol",
            "missing",
            "12:     return add(p, 3) + missing(p);",
        ),
        ("file", "src/a.c:5-6", "5: static int add"),
        (
            "file",
            "/build/src/a.c:7",
            "/build/src/a.c is src/a.c in this tree",
        ),
        ("file", "src/a.c:7", "in function add, lines 5-9"),
        ("file", "a.h", "a.h is src/a.h in this tree"),
        ("file", "../../etc/passwd", "outside the tree"),
        ("file", "link", "cannot be shown"),
        (
            "file",
            "blob.bin",
            "cannot be shown: blob.bin is binary, 3 bytes",
        ),
        ("file", "src/b.c", "nearest: src/a.c"),
        ("file", "src/a.c:99", "src/a.c has 13 lines"),
        ("text", "must be added", "src/a.c:1-9"),
        ("text", "cc src", "Makefile:1-2"),
        ("text", "x += by", "in function add, lines 5-9"),
        (
            "text",
            "not there",
            "nothing found: this text is in none of the",
        ),
        ("pattern", "add($P, $N)", "12:     return add(p, 3)"),
        ("pattern", "if (", "not understood"),
        (
            "rule",
            "<pattern>add($$$)</pattern><not><inside>if ($X) $Y</inside></not>",
            "src/a.c",
        ),
    ] {
        check(&engine, kind, body, expected);
    }
}

#[test]
fn answers_how_names_are_used() {
    let (_folder, engine) = fixture();
    for (kind, body, expected) in [
        ("references", "run", "tests/test_a.c"),
        ("callers", "add", "run calls add, depth 1"),
        (
            "callees",
            "run",
            "add src/a.c:5-9 (function), called at a.c:12",
        ),
        ("callees", "run", "not defined in the tree: missing"),
        ("path", "main -> add", "main -> run -> add"),
        ("implementations", "Base", "[org.a.B]"),
        ("similar", "add", "nothing found"),
        ("sql", "SELECT name FROM symbols WHERE name = 'add'", "add"),
        ("sql", "DELETE FROM symbol", "not understood"),
        ("search", "adding to a point", "src/a.c:5-9 [add]"),
        ("search", "the", "say nothing about code"),
        ("search", "zebra", "no definition speaks"),
        ("flow", "add: by", "in add: by -> p->x"),
        ("flow", "zebra", "no value moves to or from zebra"),
        ("more", "9", "no earlier query has the number 9"),
    ] {
        check(&engine, kind, body, expected);
    }
}

#[test]
fn who_uses_a_function_that_nobody_calls_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    std::fs::create_dir(&tree).unwrap();
    std::fs::write(
        tree.join("a.c"),
        "static int read_row(int n)\n{\n    return n;\n}\nstatic int alone(void) { return 1; }\nstruct methods m = { read_row };\n",
    )
    .unwrap();
    let engine = Engine::open(&tree, &folder.path().join("cache"), Settings::default()).unwrap();
    check(
        &engine,
        "callers",
        "read_row",
        "a pointer to it may be called",
    );
    check(
        &engine,
        "callers",
        "read_row",
        "6: struct methods m = { read_row };",
    );
    check(
        &engine,
        "callers",
        "alone",
        "nothing in the tree uses it by name",
    );
}

#[test]
fn the_same_question_gets_the_same_bytes() {
    let (_folder, engine) = fixture();
    for kind in ["symbol", "references", "callers", "text"] {
        assert_eq!(
            ask(&engine, kind, "run"),
            ask(&engine, kind, "run"),
            "{kind}"
        );
    }
}

#[test]
fn a_failure_of_the_index_is_told_and_not_taken_for_nothing_found() {
    let (_folder, engine) = fixture();
    ask(&engine, "search", "add point");
    let connection = engine.index.private_connection().unwrap();
    connection.execute_batch("DROP TABLE symbol").unwrap();
    for (kind, body) in [
        ("symbol", "add"),
        ("callers", "add"),
        ("text", "missing(p)"),
        ("search", "add point"),
    ] {
        let told = ask(&engine, kind, body);
        assert!(told.contains("stopped: the code index failed: "), "{told}");
    }
    let request = crate::Request {
        text: "fix `add`".to_owned(),
        ..crate::Request::default()
    };
    assert!(engine.context(&request).is_err());
}

#[test]
fn the_crash_comes_first() {
    let (_folder, mut engine) = fixture();
    let before = ask(&engine, "text", "run(");
    assert!(before.find("src/").unwrap() < before.find("tests/").unwrap());
    engine
        .set_crash(&[CrashFrame {
            function: "main".to_owned(),
            file: Some("/w/tests/test_a.c".to_owned()),
            line: Some(2),
            role: Role::Crash,
            depth: 0,
        }])
        .unwrap();
    let text = ask(&engine, "text", "run(");
    assert!(
        text.find("tests/").unwrap() < text.find("src/").unwrap(),
        "{text}"
    );
}

#[test]
fn an_answer_does_not_bury_its_reader() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("tree");
    std::fs::create_dir(&root).unwrap();
    let body = "    x += 1;\n".repeat(150);
    for number in 0..16 {
        let code = format!("static int same(int x)\n{{\n{body}    return x + {number};\n}}\n");
        std::fs::write(root.join(format!("f{number}.c")), code).unwrap();
    }
    let engine = Engine::open(&root, &folder.path().join("cache"), Settings::default()).unwrap();
    let answer = engine.answer(&Query::read("symbol", "same", &[]).unwrap());
    assert_eq!(answer.snippets.len(), 16);
    let lines: usize = answer.snippets.iter().map(crate::Snippet::line_count).sum();
    assert!((600..900).contains(&lines), "{lines}");
    assert!(
        answer.snippets[15]
            .note
            .as_ref()
            .unwrap()
            .contains("cut, ask for its lines")
    );
}

#[test]
fn knows_names_and_headers() {
    let (_folder, engine) = fixture();
    for (name, expected) in [
        ("add", true),
        ("point", true),
        ("a.h", true),
        ("src/a.h", true),
        ("nowhere", false),
        ("", false),
    ] {
        assert_eq!(engine.knows(name).unwrap(), expected, "{name}");
    }
}

#[test]
fn a_large_file_comes_as_its_outline() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("tree");
    std::fs::create_dir(&root).unwrap();
    let pair = "struct one { int a; }; struct two { int b; };\n".to_owned();
    let code: String = (0..400).fold(pair, |code, n| {
        code + &format!("int f{n}(void) {{ return {n}; }}\n")
    });
    std::fs::write(root.join("big.c"), code).unwrap();
    let body: String = (0..400).fold(String::new(), |code, n| {
        code + &format!("    if (x > {n})\n        y({n});\n")
    });
    std::fs::write(
        root.join("long.c"),
        format!("int g(int x)\n{{\n{body}    return x;\n}}\n"),
    )
    .unwrap();
    let engine = Engine::open(&root, &folder.path().join("cache"), Settings::default()).unwrap();
    let outline = ask(&engine, "file", "big.c");
    assert!(
        outline.contains("big.c has 401 lines: its outline"),
        "{outline}"
    );
    assert!(outline.contains("int f7(void)"), "{outline}");
    assert_eq!(outline.matches("struct two").count(), 1, "{outline}");
    let long = ask(&engine, "symbol", "g");
    assert!(
        long.contains("lines") && long.contains("not shown"),
        "{long}"
    );
    assert!(long.lines().count() < 250, "{}", long.lines().count());
    let range = ask(&engine, "file", "long.c:1-800");
    assert!(
        range.contains("at most 300 lines at a time; go on with long.c:301-800"),
        "{range}"
    );
}

#[test]
fn six_hits_of_a_text_are_shown_and_the_others_counted() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("tree");
    std::fs::create_dir(&root).unwrap();
    for number in 0..9 {
        std::fs::write(root.join(format!("f{number}.c")), "int wanted;\n").unwrap();
    }
    let engine = Engine::open(&root, &folder.path().join("cache"), Settings::default()).unwrap();
    let query = Query::read("text", "wanted", &[]).unwrap();
    let answer = engine.answer(&query);
    assert_eq!((answer.shown, answer.total), (6, 9));
    let next = Query::Next {
        query: Box::new(query),
        skip: 6,
    };
    assert_eq!(engine.answer(&next).shown, 3);
}

#[test]
fn a_wrong_path_names_the_nearest() {
    let (_folder, engine) = fixture();
    let ask = |kind: &str, body: &str, path: &str| {
        let attributes = [("path".to_owned(), path.to_owned())];
        let query = Query::read(kind, body, &attributes).unwrap();
        Memory::default().render(1, &[engine.answer(&query)])
    };
    for (path, expected) in [
        ("src/b.c", "no file or folder src/b.c; nearest: src/a.c"),
        ("test", "src/a.c"),
        ("/build/x/src", "src/a.c:1-9"),
        ("srcs", "no file or folder srcs; nearest: src"),
    ] {
        let answer = ask("text", "must be added", path);
        let missing = path == "test" && answer.contains("in none of the");
        assert!(missing || answer.contains(expected), "{path}: {answer}");
    }
    let answer = ask("pattern", "add($A, $B)", "nowhere/at/all.c");
    assert!(
        answer.contains("no file or folder nowhere/at/all.c"),
        "{answer}"
    );
}

#[test]
fn a_search_finds_what_the_documentation_says() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("tree");
    std::fs::create_dir_all(root.join("docs")).unwrap();
    let guide = "# Guide\n\nHow to install it.\n\n## Retries\n\nA lease that expires is granted again by the scheduler.\n\nThe end.\n";
    std::fs::write(root.join("docs/guide.md"), guide).unwrap();
    std::fs::write(root.join("a.c"), "int run(int n)\n{\n    return n;\n}\n").unwrap();
    let engine = Engine::open(&root, &folder.path().join("cache"), Settings::default()).unwrap();
    let answer = ask(&engine, "search", "when is an expired lease granted again");
    assert!(answer.contains("docs/guide.md:5-7"), "{answer}");
    assert!(answer.contains("(documentation)"), "{answer}");
    let answer = ask(&engine, "search", "colour of a pixel");
    assert!(answer.contains("and no documentation"), "{answer}");
}

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
        let request = crate::Request { text, frames, budget: 500, ..crate::Request::default() };
        let context = shared().context(&request).unwrap();
        proptest::prop_assert!(context.tokens <= 700, "{}", context.tokens);
    }
}
