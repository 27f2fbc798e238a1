//! Tests of the flow: hand-checked cases, marked in their own code.
//!
//! `@<` marks a line from which the asked value comes, `@>` one to which it
//! goes. Precision and recall over all marked lines are printed and held.

mod classes;
mod locals;
mod members;

use crate::flow::{Direction, GuardKind};
use crate::index::Index;
use crate::settings::FILE_SIZE_LIMIT;
use patchwright_source::TreePath;
use std::collections::BTreeSet;

/// Title, file, question, and code with its marks.
type Case = (&'static str, &'static str, &'static str, &'static str);

fn index(name: &str, code: &str) -> (tempfile::TempDir, Index) {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    std::fs::create_dir(&tree).unwrap();
    std::fs::write(tree.join(name), code).unwrap();
    let cache = folder.path().join("cache");
    let index = Index::open(&tree, &cache, FILE_SIZE_LIMIT).unwrap();
    (folder, index)
}

fn marked(code: &str, marks: [&str; 2]) -> BTreeSet<u32> {
    code.lines()
        .zip(1..)
        .filter(|(line, _)| marks.iter().any(|mark| line.contains(mark)))
        .map(|(_, number)| number)
        .collect()
}

#[derive(Default)]
struct Score {
    right: usize,
    wrong: usize,
    missed: usize,
}

impl Score {
    fn add(&mut self, found: &BTreeSet<u32>, expected: &BTreeSet<u32>) {
        self.right += found.intersection(expected).count();
        self.wrong += found.difference(expected).count();
        self.missed += expected.difference(found).count();
    }

    fn precision(&self) -> f64 {
        self.right as f64 / (self.right + self.wrong) as f64
    }

    fn recall(&self) -> f64 {
        self.right as f64 / (self.right + self.missed) as f64
    }
}

#[test]
fn flow_is_right_on_hand_checked_cases() {
    let cases = [members::CASES, locals::CASES, classes::CASES].concat();
    assert!(cases.len() >= 40);
    let mut scores = [Score::default(), Score::default()];
    for (title, file, query, code) in cases {
        let (_folder, index) = index(file, code);
        let steps = index.flow(query, &[]).unwrap();
        let directions = [
            (Direction::Origin, ["@<", "@<>"]),
            (Direction::Use, ["@>", "@<>"]),
        ];
        for ((direction, marks), score) in directions.into_iter().zip(&mut scores) {
            let found: BTreeSet<u32> = steps
                .iter()
                .filter(|step| step.direction == direction)
                .map(|step| step.line)
                .collect();
            let expected = marked(code, marks);
            if found != expected {
                println!("{title}: {direction:?} found {found:?}, expected {expected:?}");
            }
            score.add(&found, &expected);
        }
    }
    for (score, name) in scores.iter().zip(["origins", "uses"]) {
        println!(
            "{name}: precision {:.3}, recall {:.3} ({} right, {} wrong, {} missed)",
            score.precision(),
            score.recall(),
            score.right,
            score.wrong,
            score.missed
        );
        assert!(score.precision() >= 0.9, "{name}");
        assert!(score.recall() >= 0.9, "{name}");
    }
}

#[test]
fn a_variable_is_looked_for_in_the_functions_near() {
    let code = "int f(int n) {\n  int m = n;\n  return m;\n}\nint m;\nint g(void) {\n  m = 3;\n  return m;\n}\n";
    let (_folder, index) = index("a.c", code);
    let f = index.definitions("f").unwrap().symbols;
    let lines = |near: &[crate::symbol::Symbol]| -> Vec<u32> {
        let steps = index.flow("m", near).unwrap();
        steps
            .into_iter()
            .filter(|step| step.direction == Direction::Origin)
            .map(|step| step.line)
            .collect()
    };
    assert_eq!(lines(&f), [2]);
    assert_eq!(lines(&[]), [7]);
}

#[test]
fn guards_of_a_line() {
    let code = "int f(struct s *p, int n) {\n  if (!p)\n    return 0;\n#ifdef DEBUG\n  log(p);\n#endif\n  \
        while (n > 0) {\n    if (n == 3) {\n      a(n);\n    } else {\n      b(n);\n    }\n    n--;\n  }\n  \
        switch (n) {\n  case 1:\n    c(n);\n    break;\n  }\n  return 1;\n}\n";
    let (_folder, index) = index("a.c", code);
    let path = TreePath::new("a.c").unwrap();
    let guards = |line: u32| -> Vec<(GuardKind, String, u32)> {
        let function = index.enclosing_function(&path, line).unwrap().unwrap();
        let analysis = index.analysis(&function);
        let guards = analysis.guards.iter();
        guards
            .filter(|guard| (guard.line..=guard.end_line).contains(&line))
            .map(|guard| (guard.kind, guard.condition.clone(), guard.condition_line))
            .collect()
    };
    let passed = (GuardKind::Passed, "!p".to_owned(), 2);
    let round = (GuardKind::Loop, "n > 0".to_owned(), 7);
    assert_eq!(guards(3), [(GuardKind::Holds, "!p".to_owned(), 2)]);
    assert_eq!(
        guards(5),
        [
            passed.clone(),
            (GuardKind::Preprocessor, "DEBUG".to_owned(), 4)
        ]
    );
    assert_eq!(
        guards(9),
        [
            passed.clone(),
            round.clone(),
            (GuardKind::Holds, "n == 3".to_owned(), 8)
        ]
    );
    assert_eq!(
        guards(11),
        [
            passed.clone(),
            round,
            (GuardKind::Fails, "n == 3".to_owned(), 8)
        ]
    );
    assert_eq!(guards(17), [passed, (GuardKind::Case, "1".to_owned(), 16)]);
}

#[test]
fn sql_sees_guards_and_flows_of_the_functions_it_names() {
    let code = "int f(int n) {\n  if (n > 2) {\n    return n;\n  }\n  return 0;\n}\n";
    let (_folder, index) = index("a.c", code);
    let sql = "SELECT line, condition FROM guards WHERE function = 'f' AND kind = 'holds'";
    for _ in 0..2 {
        let answer = index.sql(sql).unwrap();
        assert_eq!(answer.rows, [["2", "n > 2"]]);
    }
    let sql = "SELECT line, source, target FROM flows WHERE function = 'f' ORDER BY line, kind";
    let answer = index.sql(sql).unwrap();
    assert_eq!(
        answer.rows,
        [
            ["2", "n", "(n > 2)"],
            ["3", "n", "return"],
            ["5", "0", "return"]
        ]
    );
}
