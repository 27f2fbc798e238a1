//! Opening, updating and surviving: what becomes of the database of a tree.

use super::Index;
use crate::settings::FILE_SIZE_LIMIT;
use crate::symbol::SymbolKind;
use patchwright_source::TreePath;
use std::path::{Path, PathBuf};

struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let fixture = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(fixture.tree()).unwrap();
        for (path, content) in files {
            fixture.write(path, content);
        }
        fixture
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn write(&self, path: &str, content: &[u8]) {
        let path = self.tree().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn open(&self) -> Index {
        Index::open(&self.tree(), &self.cache(), FILE_SIZE_LIMIT).unwrap()
    }

    fn database(&self) -> PathBuf {
        let folder = only_entry(&self.cache());
        let name = std::fs::read_to_string(folder.join("current")).unwrap();
        folder.join(name)
    }
}

fn only_entry(folder: &Path) -> PathBuf {
    let mut entries = std::fs::read_dir(folder).unwrap();
    let first = entries.next().unwrap().unwrap().path();
    assert!(entries.next().is_none());
    first
}

fn names(index: &Index, path: &str) -> Vec<String> {
    let path = TreePath::new(path).unwrap();
    let outline = index.outline(&path).unwrap();
    outline.into_iter().map(|symbol| symbol.name).collect()
}

#[test]
fn only_what_changed_is_parsed_again() {
    let fixture = Fixture::new(&[
        ("a.c", b"int a(void) { return b(); }\n"),
        ("b.c", b"int b(void) { return 1; }\n"),
        ("c.c", b"int c(void) { return 2; }\n"),
        ("README", b"no code\n"),
    ]);
    let index = fixture.open();
    let report = index.report();
    assert!(report.rebuilt);
    assert_eq!((report.files, report.indexed, report.parsed), (4, 3, 3));
    drop(index);

    let index = fixture.open();
    assert!(!index.report().rebuilt);
    assert_eq!(index.report().parsed, 0);
    drop(index);

    fixture.write(
        "b.c",
        b"int b(void) { return a(); }\nint b2(void) { return 1; }\n",
    );
    std::fs::remove_file(fixture.tree().join("c.c")).unwrap();
    fixture.write("d/e.c", b"int e(void) { return b2(); }\n");
    let index = fixture.open();
    assert_eq!((index.report().parsed, index.report().removed), (2, 1));
    assert_eq!(names(&index, "b.c"), ["b", "b2"]);
    assert_eq!(names(&index, "d/e.c"), ["e"]);
    assert!(index.definitions("c").unwrap().symbols.is_empty());
    let callers = |name: &str| -> Vec<String> {
        let calls = index.callers(name, 1, 10).unwrap();
        calls
            .into_iter()
            .filter_map(|call| call.caller)
            .map(|one| one.name)
            .collect()
    };
    assert_eq!(callers("a"), ["b"]);
    assert_eq!(callers("b"), ["a"]);
    assert_eq!(callers("b2"), ["e"]);
}

#[test]
fn an_update_and_a_new_build_agree() {
    let files: Vec<(String, String)> = (0..20)
        .map(|at| {
            let next = (at + 1) % 20;
            let code = format!("struct s{at} {{ int x{at}; }};\nint f{at}(struct s{next} *p) {{ return f{next}(p->x{next}); }}\n");
            (format!("f{at:02}.c"), code)
        })
        .collect();
    let fixture = Fixture::new(&[]);
    for (path, code) in &files {
        fixture.write(path, code.as_bytes());
        drop(fixture.open());
    }
    let updated = fixture.open();
    assert_eq!(updated.report().parsed, 0);
    let fresh = Index::open(
        &fixture.tree(),
        &fixture.folder.path().join("other"),
        FILE_SIZE_LIMIT,
    )
    .unwrap();
    for at in 0..20 {
        let name = format!("f{at}");
        let callers = |index: &Index| {
            let calls = index.callers(&name, 2, 100).unwrap();
            calls
                .into_iter()
                .map(|call| (call.path, call.lines, call.depth))
                .collect::<Vec<_>>()
        };
        assert_eq!(callers(&updated), callers(&fresh));
        let field = format!("x{at}");
        assert_eq!(
            updated.references(&field).unwrap(),
            fresh.references(&field).unwrap()
        );
    }
}

#[test]
fn a_file_touched_but_not_changed_is_not_parsed() {
    let fixture = Fixture::new(&[("a.c", b"int a;\n")]);
    drop(fixture.open());
    fixture.write("a.c", b"int a;\n");
    let index = fixture.open();
    assert_eq!((index.report().parsed, index.report().indexed), (0, 1));
    assert_eq!(names(&index, "a.c"), ["a"]);
}

#[test]
fn a_change_of_the_same_size_is_seen() {
    let fixture = Fixture::new(&[("a.c", b"int a;\n")]);
    drop(fixture.open());
    fixture.write("a.c", b"int b;\n");
    assert_eq!(names(&fixture.open(), "a.c"), ["b"]);
}

#[test]
fn other_limits_build_anew() {
    let fixture = Fixture::new(&[("a.c", b"int a;\n")]);
    drop(fixture.open());
    let limits = 3;
    let index = Index::open(&fixture.tree(), &fixture.cache(), limits).unwrap();
    assert!(index.report().rebuilt);
    let skipped: Vec<String> = index
        .report()
        .skipped
        .iter()
        .map(|(path, reason)| format!("{path}: {reason}"))
        .collect();
    assert_eq!(skipped, ["a.c: 7 bytes, more than the limit of 3"]);
}

#[test]
fn several_may_open_it_at_once() {
    let files: Vec<(String, String)> = (0..50)
        .map(|at| {
            (
                format!("f{at}.c"),
                format!("int f{at}(void) {{ return g(); }}\n"),
            )
        })
        .collect();
    let fixture = Fixture::new(&[]);
    for (path, code) in &files {
        fixture.write(path, code.as_bytes());
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let index = fixture.open();
                assert_eq!(index.callers("g", 1, 100).unwrap().len(), 50);
            });
        }
    });
}

#[test]
fn an_open_index_sees_the_update_of_another() {
    let fixture = Fixture::new(&[("a.c", b"int f(void) { return 1; }\n")]);
    let first = fixture.open();
    fixture.write("a.c", b"\n\nint f2(void) { return 1; }\n");
    fixture.write("0.c", b"int zero;\n");
    drop(fixture.open());
    assert_eq!(names(&first, "a.c"), ["f2"]);
    assert_eq!(first.definitions("zero").unwrap().symbols.len(), 1);
}

#[test]
fn a_template_is_read_where_its_header_is_not_made() {
    let template = b"#define SIZE @SIZE@\n@DECLARE@\nint f(int a);\n";
    let fixture = Fixture::new(&[("a.h.in", template), ("b.c", b"int b;\n")]);
    assert_eq!(names(&fixture.open(), "a.h.in"), ["SIZE", "f"]);
    assert_eq!(fixture.open().report().parsed, 0);
    fixture.write("a.h", b"#define SIZE 4\nint f(int a);\n");
    let index = fixture.open();
    assert!(names(&index, "a.h.in").is_empty());
    assert_eq!(names(&index, "a.h"), ["SIZE", "f"]);
    std::fs::remove_file(fixture.tree().join("a.h")).unwrap();
    assert_eq!(names(&fixture.open(), "a.h.in"), ["SIZE", "f"]);
}

#[test]
fn a_hold_keeps_what_is_read_as_it_was() {
    let fixture = Fixture::new(&[("a.c", b"int f(void) { return 1; }\n")]);
    let index = fixture.open();
    let hold = index.hold();
    assert_eq!(names(&index, "a.c"), ["f"]);
    fixture.write("a.c", b"\n\nint f2(void) { return 1; }\n");
    drop(fixture.open());
    assert_eq!(names(&index, "a.c"), ["f"]);
    index.look_anew();
    assert_eq!(names(&index, "a.c"), ["f2"]);
    fixture.write("a.c", b"int f3(void) { return 1; }\n");
    drop(fixture.open());
    assert_eq!(names(&index, "a.c"), ["f2"]);
    drop(hold);
    assert_eq!(names(&index, "a.c"), ["f3"]);
}

#[test]
fn bad_files_are_skipped_and_named() {
    let mut long = b"int x[] = {".to_vec();
    long.extend(b"1,".repeat(500_000));
    long.extend(b"};\n");
    let fixture = Fixture::new(&[
        (".gitignore", b"*.c\n"),
        ("ignored.c", b"int ignored;\n"),
        ("long.c", &long),
        ("binary.c", b"int a;\0\0\n"),
        ("latin.c", b"/* \xfc */ int gr\xf6sse; // \xe4\n"),
        ("crlf.c", b"int one(void)\r\n{\r\n}\r\nint two;\r\n"),
        ("empty.c", b""),
        ("open.c", b"int f(void) {\n  if (x) {\n"),
    ]);
    std::os::unix::fs::symlink("..", fixture.tree().join("loop")).unwrap();
    std::os::unix::fs::symlink("self.c", fixture.tree().join("self.c")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", fixture.tree().join("out.c")).unwrap();
    let index = fixture.open();
    assert_eq!(names(&index, "ignored.c"), ["ignored"]);
    assert_eq!(names(&index, "latin.c"), ["gr\u{f6}sse"]);
    assert_eq!(names(&index, "crlf.c"), ["one", "two"]);
    assert_eq!(names(&index, "open.c"), ["f"]);
    let one = index.definitions("one").unwrap().symbols.remove(0);
    assert_eq!(
        (one.start_line, one.end_line, one.kind),
        (1, 3, SymbolKind::Function)
    );
    let skipped: Vec<&str> = index
        .report()
        .skipped
        .iter()
        .map(|(path, _)| path.as_str())
        .collect();
    assert_eq!(skipped, ["binary.c", "long.c"]);
    assert!(index.report().skipped[1].1.contains("line 1 has"));
}

#[test]
fn a_cache_that_cannot_be_written_is_an_error() {
    let fixture = Fixture::new(&[("a.c", b"int a;\n")]);
    let file = fixture.folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Index::open(&fixture.tree(), &file, FILE_SIZE_LIMIT).unwrap_err();
    assert!(error.to_string().contains("cache folder"), "{error}");
}

#[test]
fn damaged_databases_are_built_anew() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 5] = [
        ("truncated", |path| {
            let length = std::fs::metadata(path).unwrap().len();
            std::fs::OpenOptions::new()
                .write(true)
                .open(path)
                .unwrap()
                .set_len(length / 2)
                .unwrap();
        }),
        ("no database", |path| {
            std::fs::write(path, "x".repeat(100_000)).unwrap();
        }),
        ("empty", |path| std::fs::write(path, "").unwrap()),
        ("gone", |path| std::fs::remove_file(path).unwrap()),
        ("other version", |path| {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.pragma_update(None, "user_version", 0).unwrap();
        }),
    ];
    for (what, damage) in damages {
        let fixture = Fixture::new(&[("a.c", b"int f(void) { return 1; }\n")]);
        drop(fixture.open());
        let before = fixture.database();
        damage(&before);
        let index = fixture.open();
        assert!(index.report().rebuilt, "{what}");
        assert_eq!(names(&index, "a.c"), ["f"], "{what}");
        assert_ne!(fixture.database(), before, "{what}");
        assert!(!before.exists(), "{what}");
    }
}

#[test]
fn damage_found_while_reading_leads_to_a_new_build() {
    let fixture = Fixture::new(&[("a.c", b"int f(void) { return g(); }\n")]);
    drop(fixture.open());
    let path = fixture.database();
    let mut bytes = std::fs::read(&path).unwrap();
    for page in bytes.chunks_mut(8192).skip(2) {
        page.fill(0xa5);
    }
    std::fs::write(&path, bytes).unwrap();
    // Either opening sees it, or asking does; after that it is sound again.
    if let Ok(index) = Index::open(&fixture.tree(), &fixture.cache(), FILE_SIZE_LIMIT) {
        let _ = index.definitions("f");
        let _ = index.references("g");
    }
    let index = fixture.open();
    assert_eq!(names(&index, "a.c"), ["f"]);
    assert_eq!(index.references("g").unwrap().len(), 1);
}

#[test]
fn what_another_process_has_not_yet_moved_from_its_log_is_no_damage() {
    let fixture = Fixture::new(&[("a.c", b"int f(void) { return 1; }\n")]);
    let first = fixture.open();
    let code: String = (0..2000).map(|at| format!("int added_{at};\n")).collect();
    fixture.write("b.c", code.as_bytes());
    // The first keeps the log open: the database is longer than its file.
    drop(fixture.open());
    assert!(!fixture.open().report().rebuilt);
    assert_eq!(first.definitions("added_7").unwrap().symbols.len(), 1);
}
