//! SQL over the documented views: what it answers, and what it may not do.

use super::SqlLimits;
use crate::error::RetrievalError;
use crate::relations::tests::{defined, fixture};
use std::time::Duration;

#[test]
fn sql_answers_over_the_documented_views() {
    let (_folder, index) = fixture();
    let ask = |sql: &str| index.sql(sql, SqlLimits::default()).unwrap().rows;
    assert_eq!(
        ask("SELECT name, kind, path, line FROM symbols WHERE name = 'buf_add' ORDER BY path"),
        [
            ["buf_add", "prototype", "include/buf.h", "4"],
            ["buf_add", "function", "src/buf.c", "8"]
        ]
    );
    assert_eq!(
        ask("SELECT caller, path, line, lines FROM calls WHERE callee = 'run'"),
        [["main", "src/main.c", "8", "8,9"]]
    );
    assert_eq!(
        ask(
            "SELECT path, line, kind, (SELECT name FROM symbols WHERE id = symbol_id) FROM uses WHERE name = 'total' ORDER BY line"
        ),
        [
            ["src/main.c", "5", "write", "run"],
            ["src/main.c", "10", "read", "main"]
        ]
    );
    assert_eq!(
        ask("SELECT path FROM includes WHERE target = 'buf.h' ORDER BY path"),
        [["src/buf.c"], ["src/main.c"]]
    );
    assert_eq!(
        ask("SELECT name, base FROM inherits ORDER BY line"),
        [["Square", "Shape"], ["Small", "Square"]]
    );
    assert_eq!(
        ask("SELECT count(*) FROM files WHERE language = 'java'"),
        [["2"]]
    );
    let names = ask(
        "SELECT s.name FROM symbols s JOIN symbols p ON p.id = s.parent WHERE p.name = 'buf_st'",
    );
    assert_eq!(names, [["len"], ["cap"]]);
}

#[test]
fn sql_can_only_read_and_not_for_long() {
    let (_folder, index) = fixture();
    let refused = |sql: &str| match index.sql(sql, SqlLimits::default()) {
        Err(RetrievalError::Sql { reason }) => reason,
        other => panic!("{sql}: {other:?}"),
    };
    for sql in [
        "DELETE FROM symbol",
        "DROP VIEW symbols",
        "INSERT INTO name VALUES (99, 'x')",
        "UPDATE symbol SET line = 1",
        "CREATE TABLE t(x)",
        "CREATE TEMP TABLE t(x)",
        "PRAGMA query_only = 0",
        "PRAGMA table_info(symbol)",
        "ATTACH '/tmp/x.db' AS x",
        "VACUUM INTO '/tmp/x.db'",
        "SELECT load_extension('x')",
        "SELECT writefile('/tmp/x', 'y')",
        "BEGIN",
        "SELECT 1; SELECT 2",
        "SELECT nothing FROM symbols",
        "SELEC",
        "",
    ] {
        assert!(!refused(sql).is_empty(), "{sql}");
    }
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let limits = SqlLimits {
        time: Duration::from_millis(50),
        ..SqlLimits::default()
    };
    let Err(RetrievalError::Sql { reason }) = index.sql(endless, limits) else {
        panic!("it ended");
    };
    assert!(reason.contains("longer than"), "{reason}");
    let limits = SqlLimits {
        rows: 2,
        ..SqlLimits::default()
    };
    let answer = index.sql("SELECT name FROM symbols", limits).unwrap();
    assert!(answer.more && answer.rows.len() == 2);
    defined(&index, "run", &["src/main.c:4 function"]);
}
