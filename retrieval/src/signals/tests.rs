//! Tests of what signals change and what they leave as it is.

use super::{Choice, by_words, fuse};
use crate::{CrashFrame, Engine, Query, Request, Role, Settings};
use proptest::prelude::*;
use tempfile::TempDir;

fn engine_of(files: &[(&str, &str)]) -> (Engine, [TempDir; 2]) {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [tree, cache] = &folders;
    for (name, text) in files {
        std::fs::write(tree.path().join(name), text).unwrap();
    }
    let engine = Engine::open(tree.path(), cache.path(), Settings::default()).unwrap();
    (engine, folders)
}

const SOURCE: &str = "/* Reads the length of a profile. */
int read_length(const char *p) { return p[0]; }
/* Copies a profile. */
int copy_profile(char *to, const char *from) { return read_length(from); }
int check_limit(int length) { return length < 80; }
int unrelated(void) { return 0; }
";

fn id(engine: &Engine, name: &str) -> i64 {
    engine.named(name).first().unwrap().id
}

#[test]
fn rankings_are_fused_by_reciprocal_rank() {
    for (rankings, fused) in [
        (vec![], vec![]),
        (vec![vec![3, 1]], vec![3, 1]),
        (vec![vec![1, 2], vec![2, 1]], vec![1, 2]),
        (vec![vec![1, 2, 3], vec![3, 2], vec![3]], vec![3, 2, 1]),
        (vec![vec![1, 1, 2], vec![2]], vec![2, 1]),
    ] {
        assert_eq!(fuse(&rankings), fused, "{rankings:?}");
    }
}

proptest! {
    #[test]
    fn fusing_loses_and_invents_nothing(rankings in proptest::collection::vec(
        proptest::collection::vec(0_i64..30, 0..20), 0..5)) {
        let fused = fuse(&rankings);
        let mut all: Vec<i64> = rankings.concat();
        all.sort_unstable();
        all.dedup();
        let mut sorted = fused.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, all);
    }
}

#[test]
fn what_signals_prefer_comes_first_and_only_for_these_words() {
    let (engine, _folders) = engine_of(&[("a.c", SOURCE)]);
    let first = |words: &str| {
        let query = Query::Search {
            words: words.into(),
        };
        engine.answer(&query).snippets[0].symbols[0].clone()
    };
    let in_context = |text: &str| {
        let request = Request {
            text: text.into(),
            ..Request::default()
        };
        engine.context(&request).snippets[0].symbols.clone()
    };
    assert_ne!(first("profile length"), "check_limit");
    let order = ["check_limit", "unrelated"].map(|name| id(&engine, name));
    engine.prefer("profile length", order.to_vec());
    assert_eq!(first(" profile length "), "check_limit");
    assert_ne!(first("length profile"), "check_limit");
    assert_eq!(in_context("profile length"), ["check_limit"]);
    assert_ne!(in_context("length of a profile"), ["check_limit"]);
}

#[test]
fn a_crash_gets_what_signals_add() {
    let (engine, _folders) = engine_of(&[("a.c", SOURCE)]);
    let request = Request {
        text: "==1==ERROR: AddressSanitizer: heap-buffer-overflow".into(),
        frames: vec![CrashFrame {
            function: "copy_profile".into(),
            file: Some("a.c".into()),
            line: Some(4),
            role: Role::Crash,
            depth: 0,
        }],
        budget: 0,
    };
    let names = |engine: &Engine| -> Vec<String> {
        let context = engine.context(&request);
        context
            .snippets
            .into_iter()
            .flat_map(|snippet| snippet.symbols)
            .collect()
    };
    let words = engine.words_of(&request);
    assert!(
        words.contains("heap-buffer-overflow") && words.contains("copy_profile"),
        "{words}"
    );
    assert!(!names(&engine).contains(&"unrelated".to_owned()));
    engine.prefer(&words, vec![id(&engine, "unrelated")]);
    assert!(names(&engine).contains(&"unrelated".to_owned()));
}

#[test]
fn candidates_come_with_their_text_and_further_words_widen_the_choice() {
    let (engine, _folders) = engine_of(&[("a.c", SOURCE)]);
    let few = engine.candidates("profile", "");
    assert!(few.list.iter().all(|one| one.name != "check_limit"));
    assert!(few.list[0].text.contains("profile") && few.list[0].place.starts_with("a.c:"));
    let more = engine.candidates("profile", "limit");
    assert!(more.list.iter().any(|one| one.name == "check_limit"));
    assert_eq!(more.rankings.len(), 2);
    let order = by_words("check the limit", &more.list);
    assert_eq!(order[0], id(&engine, "check_limit"));
}

#[test]
fn hits_and_rows_lead_to_definitions() {
    let (engine, _folders) = engine_of(&[("a.c", SOURCE)]);
    let query = Query::read("pattern", "return $X;", &[]).unwrap();
    let found = engine.candidates_in(&engine.answer(&query));
    assert!(
        found.iter().any(|one| one.name == "check_limit"),
        "{found:?}"
    );
    let named = |statement: &str| engine.definitions_in(&engine.rows(statement).unwrap());
    let callers = "SELECT caller FROM calls WHERE callee = 'read_length'";
    assert_eq!(named(callers), [id(&engine, "copy_profile")]);
    let places = "SELECT path, line FROM calls WHERE callee = 'read_length'";
    assert_eq!(named(places), [id(&engine, "copy_profile")]);
    assert!(named("SELECT count(*) FROM symbols").is_empty());
}

#[test]
fn a_context_is_made_of_what_was_chosen() {
    let (engine, _folders) = engine_of(&[("a.c", SOURCE)]);
    let choice = |name: &str, weight| Choice {
        id: id(&engine, name),
        weight,
        why: "chosen".into(),
    };
    let request = Request {
        text: "fix the profile".into(),
        ..Request::default()
    };
    let context = engine.context_of(
        &request,
        &[choice("unrelated", 0.9), choice("check_limit", 0.5)],
    );
    let names: Vec<&str> = context
        .snippets
        .iter()
        .map(|one| one.symbols[0].as_str())
        .collect();
    assert_eq!(names, ["unrelated", "check_limit"]);
    assert_eq!(context.intent, "BUG_FIX");
    assert!(context.tokens > 0);
}
