//! Trees and queries that nobody meant well: a true answer or a clear reason,
//! in bounded time and memory, and never a panic.

#![expect(clippy::unwrap_used, reason = "what sets a test up fails with it")]

use patchwright_retrieval::{Engine, Memory, Query, Request, Settings};
use std::fs;
use std::path::{Path, PathBuf};

struct Scene {
    _folder: tempfile::TempDir,
    tree: PathBuf,
    cache: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        fs::create_dir_all(tree.join("src")).unwrap();
        Self {
            cache: folder.path().join("cache"),
            tree,
            _folder: folder,
        }
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.tree.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn open(&self) -> Engine {
        Engine::open(&self.tree, &self.cache, Settings::default()).unwrap()
    }
}

fn ask(engine: &Engine, kind: &str, body: &str) -> String {
    match Query::read(kind, body, &[]) {
        Ok(query) => Memory::default().render(1, &[engine.answer(&query)]),
        Err(reason) => reason,
    }
}

fn reason_of(engine: &Engine, name: &str) -> String {
    let skipped = &engine.report().skipped;
    let found = skipped.iter().find(|(path, _)| path.as_str() == name);
    found.map(|(_, reason)| reason.clone()).unwrap_or_default()
}

#[test]
fn code_as_it_comes_is_found_and_what_is_no_code_is_named() {
    let scene = Scene::new();
    scene.write(
        "src/latin.c",
        b"/* gr\xfc\xdfe */\nint latin(void)\n{\n    return 1; /* \xe9 */\n}\n",
    );
    scene.write("src/crlf.c", "int crlf(int a)\r\n{\r\n\treturn a;\r\n}\r\n");
    scene.write(
        "src/old.c",
        "int old(a, b)\n    int a;\n    char *b;\n{\n    return a + *b;\n}\n",
    );
    scene.write(
        "src/braces.c",
        "#ifdef A\nint first(int x) {\n#else\nint second(int x) {\n#endif\n    return x;\n}\nint after(void) { return 2; }\n",
    );
    scene.write(
        "src/line.js",
        format!("var a = \"{}\";\n", "x".repeat(1_000_000)),
    );
    scene.write("src/big.c", vec![b'\n'; 30 * 1024 * 1024]);
    scene.write("src/half.c", b"int half(void) { return \xff\xfe\x00; }");
    scene.write("src/-rf.c", "int dashed(void) { return 3; }\n");
    scene.write("src/$(touch x);`id`.c", "int quoted(void) { return 4; }\n");
    scene.write("src/empty.c", "");
    let engine = scene.open();
    for name in ["latin", "crlf", "old", "after", "dashed", "quoted"] {
        let answer = ask(&engine, "symbol", name);
        assert!(answer.contains(&format!("{name}(")), "{name}: {answer}");
    }
    assert!(reason_of(&engine, "src/line.js").contains("minified"));
    assert!(!reason_of(&engine, "src/big.c").is_empty());
    assert!(reason_of(&engine, "src/half.c").contains("binary"));
    assert!(!Path::new("x").exists());
}

#[cfg(unix)]
#[test]
fn links_lead_nowhere_else() {
    use std::os::unix::fs::symlink;
    let scene = Scene::new();
    scene.write("src/a.c", "int real(void) { return 1; }\n");
    symlink(".", scene.tree.join("src/self")).unwrap();
    symlink("../src", scene.tree.join("src/up")).unwrap();
    symlink("two", scene.tree.join("one")).unwrap();
    symlink("one", scene.tree.join("two")).unwrap();
    symlink("/etc", scene.tree.join("etc")).unwrap();
    let engine = scene.open();
    let files = engine.report().files;
    assert!(files < 10, "{files} files");
    for path in [
        "../../etc/passwd",
        "/etc/passwd",
        "etc/passwd",
        "src/../../../etc/passwd",
    ] {
        let answer = ask(&engine, "file", path);
        assert!(!answer.contains("root:"), "{path}: {answer}");
    }
}

#[test]
fn a_query_of_any_size_or_shape_gets_an_answer() {
    let scene = Scene::new();
    scene.write("src/a.c", "int real(int a)\n{\n    return a;\n}\n");
    let engine = scene.open();
    let long = "a".repeat(10 * 1024 * 1024);
    let bad = [
        long.as_str(),
        "-rf /",
        "--include=x",
        "$(id); `id` | cat > /x",
        "((((((([[[[[{{{{{",
        ".*+?^${}()|[]\\",
        "\0\0\0",
        "\u{fffd}\u{202e}\u{0}",
        "a\nb\r\nc\td",
    ];
    for kind in patchwright_retrieval::KINDS {
        for body in bad {
            let answer = ask(&engine, kind, body);
            assert!(!answer.is_empty(), "{kind}");
            assert!(answer.len() < 200_000, "{kind}: {}", answer.len());
        }
    }
    let context = engine
        .context(&Request {
            text: format!(
                "Traceback (most recent call last):\n{}\n{long}",
                "  File \"src/a.c\", line 3, in real\n".repeat(50_000)
            ),
            ..Request::default()
        })
        .unwrap();
    assert!(context.tokens <= 8_000);
}

#[test]
fn files_may_change_and_vanish_while_they_are_read() {
    let scene = Scene::new();
    let text =
        |round: usize| format!("int f{round}(int a)\n{{\n    return a + {round};\n}}\n").repeat(20);
    for number in 0..60 {
        scene.write(&format!("src/f{number}.c"), text(number));
    }
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for round in 0..40 {
                let path = scene.tree.join(format!("src/f{}.c", round % 60));
                let _ = fs::remove_file(&path);
                let _ = fs::write(scene.tree.join(format!("src/g{round}.c")), text(round));
                let _ = fs::write(&path, text(round + 1));
            }
        });
        for _ in 0..4 {
            let engine = scene.open();
            ask(&engine, "symbol", "f1");
            ask(&engine, "text", "return a");
            engine
                .context(&Request {
                    text: "what returns a".to_owned(),
                    ..Request::default()
                })
                .unwrap();
        }
    });
    assert!(ask(&scene.open(), "symbol", "f3").contains("f3("));
}

#[test]
fn many_files_are_no_reason_to_stop() {
    let scene = Scene::new();
    // 200,000 in the long run: enough for a tree of everything.
    let count = if option_env!("PATCHWRIGHT_SOAK").is_some() {
        200_000
    } else {
        1_500
    };
    for number in 0..count {
        let folder = format!("src/d{}", number % 500);
        if number < 500 {
            fs::create_dir_all(scene.tree.join(&folder)).unwrap();
        }
        fs::write(
            scene.tree.join(format!("{folder}/f{number}.c")),
            format!("int many{number}(void) {{ return {number}; }}\n"),
        )
        .unwrap();
    }
    let engine = scene.open();
    assert_eq!(engine.report().indexed, count);
    assert!(ask(&engine, "symbol", "many1234").contains("many1234("));
    let context = engine
        .context(&Request {
            text: "where is many77 defined?".to_owned(),
            ..Request::default()
        })
        .unwrap();
    assert!(context.snippets.iter().any(|one| one.symbols == ["many77"]));
}
