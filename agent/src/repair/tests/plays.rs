//! Replies that were written for known patches from their prompts alone (`tests/plays`), read as the run reads them.

use crate::repair::opinion::{self, Opinion};
use patchwright_model::{Role, recorded};
use patchwright_patcher::reply;
use std::path::Path;

const PLAYS: [&str; 47] = [
    "jq-gh-2825-right-1",
    "jq-gh-2825-right-2",
    "jq-gh-2825-right-3",
    "jq-gh-2825-right-7",
    "wabt-gh-2509-wrong-4",
    "wabt-gh-2509-wrong-5",
    "xml-commit-0bcd05c-wrong-1",
    "xml-commit-0bcd05c-wrong-14",
    "xml-commit-0bcd05c-wrong-16",
    "xml-commit-0bcd05c-wrong-18",
    "xml-commit-0bcd05c-wrong-4",
    "xml-commit-45752d2-right-4",
    "xml-commit-45752d2-right-5",
    "xml-commit-45752d2-wrong-2",
    "xml-commit-45752d2-wrong-4",
    "xml-commit-45752d2-wrong-5",
    "xml-commit-7482f41-right-1",
    "xml-commit-7482f41-right-12",
    "xml-commit-7482f41-right-13",
    "xml-commit-7482f41-right-2",
    "xml-commit-7482f41-right-3",
    "xml-commit-7482f41-right-5",
    "xml-commit-7482f41-right-6",
    "xml-commit-7482f41-right-7",
    "xml-commit-7482f41-right-9",
    "xml-commit-7482f41-wrong-1",
    "xml-commit-7482f41-wrong-6",
    "xml-commit-a820dbe-right-1",
    "xml-commit-a820dbe-right-2",
    "xml-commit-a820dbe-right-3",
    "xml-commit-a820dbe-wrong-1",
    "xml-commit-db07dd6-wrong-10",
    "xml-commit-db07dd6-wrong-7",
    "xml-commit-db07dd6-wrong-8",
    "xml-commit-f4029cd-right-1",
    "xml-commit-f4029cd-right-4",
    "xml-commit-f4029cd-right-5",
    "xml-commit-f4029cd-right-6",
    "xml-commit-f4029cd-right-7",
    "xml-commit-f4029cd-wrong-10",
    "xml-commit-f4029cd-wrong-11",
    "xml-commit-f4029cd-wrong-4",
    "xml-commit-f4029cd-wrong-5",
    "xml-gh-491-wrong-4",
    "xml-gh-491-wrong-5",
    "xml-gh-491-wrong-6",
    "xml-gh-491-wrong-7",
];

#[test]
fn every_reply_of_the_plays_says_what_was_asked_for() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/plays");
    let (mut verdicts, mut challenges, mut patches) = (0, 0, 0);
    for play in PLAYS {
        let file = folder.join(format!("{play}.jsonl"));
        for exchange in recorded::read(&file).unwrap() {
            let messages = &exchange.request.messages;
            let asked = messages.iter().rfind(|one| one.role == Role::User).unwrap();
            let (asked, text) = (&asked.text, &exchange.reply.text);
            if asked.contains("Decide again.") {
                verdicts += 1;
                let upheld = matches!(opinion::verdict(text), Some(Opinion::Objects(_)));
                assert_eq!(opinion::shown(text).is_some(), upheld, "{text}");
            } else if asked.contains("# Your verdict") {
                verdicts += 1;
                let objects = matches!(opinion::verdict(text).unwrap(), Opinion::Objects(_));
                assert_eq!(!reply::challenges(text).is_empty(), objects, "{text}");
            } else if asked.contains("# Your inputs") {
                challenges += 1;
                assert!(reply::challenges(text).len() >= 8, "{text}");
            } else {
                patches += 1;
                let read = reply::read(text, false);
                assert!(read.problems.is_empty(), "{:?}", read.problems);
                assert!(read.patch.is_some() || !read.queries.is_empty(), "{text}");
            }
        }
    }
    assert!(
        verdicts >= 40 && challenges >= 25 && patches >= 30,
        "{verdicts} {challenges} {patches}"
    );
}
