//! The repository speaks of itself alone: no path of one machine, no word of
//! one workplace.

use super::{expect_none, files};

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
