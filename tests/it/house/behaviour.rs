//! `docs/behaviour.md` names a test that exists for each of its sentences.

use super::{expect_none, files};
use regex::Regex;

const GUIDE: &str = "docs/behaviour.md";

#[test]
fn the_definitions_name_tests_that_exist() {
    let all = files(|path| path == GUIDE || path.starts_with("evaluator/"));
    let guide = all.iter().find(|file| file.path == GUIDE);
    let guide = &guide.expect("docs/behaviour.md").text;
    let name = Regex::new(r"`([a-z]+(?:_[a-z]+){2,})`").expect("a pattern");
    let names: Vec<&str> = name
        .captures_iter(guide)
        .filter_map(|found| Some(found.get(1)?.as_str()))
        .collect();
    assert!(names.len() > 9, "{names:?}");
    let is_missing = |name: &&str| {
        let head = format!("fn {name}(");
        !all.iter().any(|file| file.text.contains(&head))
    };
    let missing: Vec<String> = names
        .into_iter()
        .filter(is_missing)
        .map(str::to_owned)
        .collect();
    expect_none(&missing, "the tests that docs/behaviour.md names exist");
}
