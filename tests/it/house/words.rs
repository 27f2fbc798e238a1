//! The repository speaks of itself alone: no path of one machine, no word of
//! one workplace.

use super::{Source, expect_none, files, rust};

/// Joined here, so that this file does not hold them.
const FORBIDDEN: &[(&str, &str)] = &[
    ("/wo", "rk/"),
    ("/fa", "rm/"),
    ("../sha", "red"),
    (".libr", "ary"),
    ("before-", "stop"),
    ("relay", ".py"),
    ("Co-Authored", "-By"),
];

#[test]
fn speaks_of_itself_alone() {
    let mut problems = Vec::new();
    for file in files(|path| path != "Cargo.lock") {
        for (number, line) in file.text.lines().enumerate() {
            for (start, end) in FORBIDDEN {
                let word = format!("{start}{end}");
                if says(line, &word) {
                    problems.push(format!("{}:{}: {word}", file.path, number + 1));
                }
            }
        }
    }
    expect_none(&problems, "a word that has no place here");
}

/// A path counts only where it starts: as a part of a longer one it names nobody's machine.
fn says(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let inside = before.is_some_and(|c| c.is_alphanumeric() || "_-./}".contains(c));
        !(inside && word.starts_with('/'))
    })
}

#[test]
fn sees_paths_where_they_start() {
    let word = format!("/wo{}", "rk/");
    assert!(says(&format!("cd {word}main"), &word));
    assert!(says(&format!("\"{word}main\""), &word));
    assert!(!says(&format!("$scratch{word}home"), &word));
}

/// Crates whose documentation opens with a noun phrase or a verb.
const PLAIN: [&str; 12] = [
    "agent/",
    "cli/",
    "config/",
    "daemon/",
    "evaluator/",
    "model/",
    "page/",
    "patcher/",
    "retrieval/",
    "source/",
    "store/",
    "tests/",
];
/// First words of indirect questions.
const QUESTIONS: [&str; 5] = ["What", "How", "Whether", "Who", "Of"];

#[test]
fn documentation_says_what_a_thing_is() {
    let plain = |file: &Source| PLAIN.iter().any(|crate_| file.path.starts_with(crate_));
    let mut problems = Vec::new();
    for file in rust().iter().filter(|file| plain(file)) {
        problems.extend(questions(&file.text).map(|line| format!("{}:{line}", file.path)));
    }
    let rule = "the first line of documentation is a noun phrase, or a verb in the third person";
    expect_none(&problems, rule);
}

/// Returns the numbers and texts of the lines that open documentation with a question.
fn questions(text: &str) -> impl Iterator<Item = String> {
    let mut above = "";
    text.lines().enumerate().filter_map(move |(number, line)| {
        let line = line.trim();
        let before = std::mem::replace(&mut above, line);
        let mark = ["/// ", "//! "]
            .into_iter()
            .find(|mark| line.starts_with(mark))?;
        let opens = !before.starts_with(mark.trim_end());
        let word = line[mark.len()..].split(' ').next()?;
        (opens && QUESTIONS.contains(&word)).then(|| format!("{}: {line}", number + 1))
    })
}

#[test]
fn sees_a_question_where_documentation_opens() {
    let question = ["/// ", "What it is"].concat();
    let text = format!(
        "{question}.\nfn a() {{}}\n/// Reads.\n{question}.\nfn b() {{}}\n    {question}!\n"
    );
    let found: Vec<String> = questions(&text).collect();
    assert_eq!(
        found,
        [format!("1: {question}."), format!("6: {question}!")]
    );
}
