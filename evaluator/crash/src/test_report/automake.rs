//! Automake's parallel and serial harness: `PASS: name`, the sections of
//! `test-suite.log`, and `.trs` files; and scripts that write `PASS name`.

use super::{MAX_DETAILS, MAX_MESSAGE, NamedResults, Status, TestResult, lines, short};
use patchwright_source::regex;

pub(super) fn read(log: &str) -> NamedResults {
    let mut found: NamedResults = Vec::new();
    let mut section = false;
    let mut heading = 0;
    for line in lines(log) {
        if let Some((name, status)) = result(&line) {
            section = false;
            heading = line.trim_end().len();
            found.push((name.to_owned(), TestResult::new(status)));
        } else if let Some((_, test)) = found.last_mut()
            && test.status == Status::Failed
        {
            // In test-suite.log the name is underlined, and its log follows;
            // a longer line stands around the sums at the end.
            if line.starts_with("====") && line.len() == heading {
                section = true;
            } else if section {
                let details = test.details.get_or_insert_default();
                if details.len() + line.len() < MAX_DETAILS {
                    details.push_str(&line);
                    details.push('\n');
                }
                if test.message.is_none() {
                    test.message = short(line.trim(), MAX_MESSAGE);
                }
            }
        }
    }
    for (_, test) in &mut found {
        let whole = test.details.take();
        test.details = whole.and_then(|text| short(&text, MAX_DETAILS));
    }
    let automake = log.contains("# TOTAL:") || log.contains("tests passed") || found.len() > 1;
    if automake { found } else { Vec::new() }
}

fn result(line: &str) -> Option<(&str, Status)> {
    let found = regex!(r"^(X?PASS|X?FAIL|ERROR|SKIP)(:?) (.*)$").captures(line)?;
    let (_, [word, colon, name]) = found.extract();
    let name = name.trim_end();
    // Scripts write it without the colon, and then one word is the name.
    if colon.is_empty() && name.contains(' ') {
        return None;
    }
    // The counters at the end are aligned; sentences are no names.
    let name = name.split(" (exit status").next().unwrap_or(name);
    let words = name.split(' ').count();
    let looks = !name.is_empty() && !name.starts_with(' ') && name.len() < 300;
    let counter = name.bytes().all(|byte| byte.is_ascii_digit());
    let named =
        looks && !counter && (words <= 2 || name.contains(" - ") || name.contains(".test "));
    Some((name, Status::read(word)?)).filter(|_| named)
}

/// `:test-result: FAIL reason`, named after its file.
pub(super) fn read_trs(name: &str, text: &str) -> NamedResults {
    let base = name.rsplit('/').next().unwrap_or(name);
    let form = regex!("^:test-result: ((X?PASS|X?FAIL|ERROR|SKIP)(?: .*)?)$");
    let results = lines(text).filter_map(|line| {
        let (_, [words, word]) = form.captures(&line)?.extract();
        Some((Status::read(word)?, words.to_owned()))
    });
    let result = |(status, words): (Status, String)| TestResult::told(status, &words);
    let worst = results.max().map(result);
    let name = base.trim_end_matches(".trs").to_owned();
    worst.map(|result| (name, result)).into_iter().collect()
}
