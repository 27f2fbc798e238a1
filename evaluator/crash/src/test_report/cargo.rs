//! Output of Rust's test harness and of Python's unittest with `-v`:
//! `test a::b ... ok`, `test_b (pkg.Case.test_b) ... ok`.

use super::{NamedResults, Status, TestResult, lines};

pub(super) fn read(log: &str) -> NamedResults {
    lines(log)
        .filter_map(|line| {
            let (name, word) = line.rsplit_once(" ... ")?;
            let status = match word.trim() {
                "ok" => Status::Passed,
                "FAILED" | "FAIL" | "ERROR" => Status::Failed,
                word if word.starts_with("ignored") || word.starts_with("skipped") => {
                    Status::Skipped
                }
                _ => return None,
            };
            let name = match name.strip_prefix("test ") {
                Some(name) => name.to_owned(),
                None => unittest(name)?,
            };
            Some((name, TestResult::new(status)))
        })
        .collect()
}

/// `test_b (pkg.Case.test_b)`; older releases leave the method out.
fn unittest(name: &str) -> Option<String> {
    let (method, rest) = name.split_once(" (")?;
    let class = rest.split_once(')')?.0;
    if !method.starts_with("test") || method.contains(' ') {
        return None;
    }
    Some(if class.ends_with(method) {
        class.to_owned()
    } else {
        format!("{class}.{method}")
    })
}
