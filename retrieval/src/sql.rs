//! Read-only SQL over the documented views.
//!
//! Read-only by construction: an authorizer lets nothing pass but reading and
//! a list of harmless functions, the statement is stopped after a set time,
//! and the answer ends after a set number of rows.

use crate::error::RetrievalError;
use crate::index::Index;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode};
use std::time::{Duration, Instant};

/// The largest value, in bytes, that a statement may make.
const VALUE_LIMIT: i32 = 1_000_000;

/// Virtual-machine steps between two looks at the clock.
const STEPS: i32 = 10_000;

/// Most rows of an answer.
const ROWS: usize = 100;
/// Most time for a statement.
const TIME: Duration = Duration::from_secs(2);
/// Most characters of a value that are shown.
const WIDTH: usize = 400;

/// The answer to a statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SqlAnswer {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, as text.
    pub rows: Vec<Vec<String>>,
    /// True when there were more rows.
    pub more: bool,
}

impl Index {
    /// Answers one SELECT over the documented views.
    pub fn sql(&self, statement: &str) -> Result<SqlAnswer, RetrievalError> {
        self.sql_within(statement, TIME)
    }

    fn sql_within(&self, statement: &str, time: Duration) -> Result<SqlAnswer, RetrievalError> {
        crate::flow::keep_for_sql(self, statement)?;
        let connection = self.private_connection()?;
        restrict(&connection, time)?;
        let answered = answer(&connection, statement);
        answered.map_err(|error| RetrievalError::Sql(explain(&error, time)))
    }
}

fn restrict(connection: &Connection, time: Duration) -> Result<(), RetrievalError> {
    connection.pragma_update(None, "query_only", true)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_LIMIT)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    let started = Instant::now();
    connection.progress_handler(STEPS, Some(move || started.elapsed() > time))?;
    connection.authorizer(Some(judge))?;
    Ok(())
}

fn judge(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => {
            Authorization::Allow
        }
        AuthAction::Function { function_name } if is_harmless(function_name) => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

/// Functions that compute and do nothing else.
const HARMLESS: &str = "abs avg coalesce count dense_rank glob group_concat ifnull iif instr json_each \
     json_array_length json_extract lag lead length like lower ltrim max min nullif \
     printf format rank replace round row_number rtrim string_agg substr substring sum \
     total trim typeof upper -> ->>";

fn is_harmless(function: &str) -> bool {
    let name = function.to_ascii_lowercase();
    HARMLESS.split(' ').any(|known| known == name)
}

fn answer(connection: &Connection, statement: &str) -> rusqlite::Result<SqlAnswer> {
    let mut statement = connection.prepare(statement)?;
    let columns = statement.column_names().into_iter();
    let mut answer = SqlAnswer {
        columns: columns.map(str::to_owned).collect(),
        ..SqlAnswer::default()
    };
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if answer.rows.len() == ROWS {
            answer.more = true;
            break;
        }
        let values = (0..answer.columns.len()).map(|at| Ok(show(row.get_ref(at)?)));
        answer.rows.push(values.collect::<rusqlite::Result<_>>()?);
    }
    Ok(answer)
}

fn show(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text);
            let mut shown: String = text.chars().take(WIDTH).collect();
            if shown.len() < text.len() {
                shown.push_str("...");
            }
            shown
        }
        ValueRef::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}

fn explain(error: &rusqlite::Error, time: Duration) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => format!(
            "it ran longer than {:.1} seconds: add conditions on names or paths, or a LIMIT",
            time.as_secs_f64()
        ),
        Some(ErrorCode::AuthorizationForStatementDenied) => {
            "only SELECT over the documented views is allowed".to_owned()
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use crate::error::RetrievalError;
    use crate::relations::tests::{defined, fixture};
    use std::time::Duration;

    #[test]
    fn sql_answers_over_the_documented_views() {
        let (_folder, index) = fixture();
        let ask = |sql: &str| index.sql(sql).unwrap().rows;
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
        let refused = |sql: &str| match index.sql(sql) {
            Err(RetrievalError::Sql(reason)) => reason,
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
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        let moment = Duration::from_millis(50);
        let Err(RetrievalError::Sql(reason)) = index.sql_within(endless, moment) else {
            panic!("it ended");
        };
        assert!(reason.contains("longer than"), "{reason}");
        let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 101) SELECT i FROM n";
        let answer = index.sql(many).unwrap();
        assert!(answer.more && answer.rows.len() == 100);
        defined(&index, "run", &["src/main.c:4 function"]);
    }
}
