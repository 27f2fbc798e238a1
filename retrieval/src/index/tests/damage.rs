//! Databases that are damaged, and one that only looks so.

use super::{Fixture, names};
use crate::index::{Index, IndexLimits};
use std::path::Path;

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
    if let Ok(index) = Index::open(&fixture.tree(), &fixture.cache(), IndexLimits::default()) {
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
