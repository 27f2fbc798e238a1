//! Tests that notice nothing: they run the patched functions, and succeed too where each of these
//! ends the program at once. What they run then says nothing of the patch.
//!
//! Functions whose work no test misses are called pseudo-tested, and are found by taking their
//! bodies away (R. Niedermayr, E. Juergens and S. Wagner, "Will my tests tell me if I break this
//! code?", 2016). A body that ends the program asks less of the tests: that they see a crash.

use super::Comparison;
use crate::attempt::{AttemptFacts, nodes, rows};
use crate::rung::tested;
use patchwright_source::{Changes, Language, parse};
use patchwright_target::runner::BuildKind;
use patchwright_target::{Result, WorkTime};
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::Node;

/// Code that ends the program. That of C is a declaration: C89 takes no other behind a statement.
const OF_C: &str = " __attribute__((unused)) int patchwright_end = (__builtin_trap(), 0);";
const OF_JAVA: &str = " if (true) throw new AssertionError();";

impl Comparison<'_> {
    /// Tells whether the tests fail where each touched function ends the program; not so where
    /// that cannot be built or tested.
    pub(super) async fn tests_notice(&mut self) -> Result<bool> {
        let (ending, target) = (ending(self.programs.attempt), self.programs.target);
        let (Some(changes), Some(before)) = (ending, self.tests) else {
            return Ok(true);
        };
        let (started, name) = (WorkTime::now(), target.task().main_build());
        let kind = BuildKind::Incremental;
        let build = target.build(&changes, &name, kind).await?;
        let run = target.test(&build).await?.filter(|_| build.succeeded());
        self.clock.leave_out(started.elapsed());
        let rung = run.map(|now| tested::judge(before, &now, &BTreeSet::new(), &self.writer));
        Ok(rung.is_some_and(|rung| rung.holds == Some(false)))
    }
}

/// Returns the patch with an end of the program at the beginning of each touched function; none
/// where it touches no function.
fn ending(attempt: &AttemptFacts) -> Option<Changes> {
    let mut changes = attempt.changes.clone();
    for touched in &attempt.touched {
        let path = changes.new_name(&touched.path).clone();
        let (Some(language), Some(text)) = (Language::of_path(&path), changes.files.get_mut(&path))
        else {
            continue;
        };
        let tree = parse(language, text);
        let functions = tree.iter().flat_map(|tree| nodes(tree.root_node()));
        let written = functions.filter(|node| {
            let (first, last) = rows(*node);
            (first..=last).any(|line| touched.wrote(line))
        });
        let starts: BTreeMap<usize, &str> = written.filter_map(start).collect();
        for (at, end) in starts.into_iter().rev() {
            text.splice(at..at, end.bytes());
        }
    }
    (changes != attempt.changes).then_some(changes)
}

/// Returns where the body of a function begins, and what ends the program there. The call of
/// another constructor is always the first statement.
fn start(node: Node<'_>) -> Option<(usize, &'static str)> {
    let end = match node.kind() {
        "function_definition" => OF_C,
        "method_declaration" | "constructor_declaration" => OF_JAVA,
        _ => return None,
    };
    let body = node.child_by_field_name("body")?;
    let first = body.named_child(0);
    let called = first.filter(|first| first.kind() == "explicit_constructor_invocation");
    Some((
        called.map_or(body.start_byte() + 1, |call| call.end_byte()),
        end,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LIST, attempt_with, one_file};
    use super::{OF_C, OF_JAVA, ending};
    use crate::AttemptFacts;
    use crate::evidence::{Rung, RungName};
    use crate::ladder::Ladder;
    use patchwright_source::{Touched, TreePath};
    use patchwright_target::runner::Target;
    use patchwright_target::test_support::{open, task};
    use std::fs;
    use std::time::Duration;

    /// Climbs the rung with a right patch that too few inputs reach, and tests that do.
    async fn tested_by(test: &str) -> Rung {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        task.limits.same = Duration::from_secs(3);
        task.limits.reached = 10_000;
        one_file(&task, LIST);
        fs::write(folder.path().join("pov.bin"), "!").unwrap();
        fs::write(folder.path().join("few.bin"), "a, b, c").unwrap();
        task.harmless.push(folder.path().join("few.bin"));
        task.commands.test = Some(test.to_owned());
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        let fix = "  if (n && t[0] == '!') return -1;\n  char *p";
        let attempt = attempt_with(LIST.replace("  char *p", fix), (7, 7));
        let ladder = Ladder::new(&target, &baseline);
        let rung = ladder.climb(&attempt, &[], RungName::SameElsewhere).await;
        rung.unwrap()
    }

    #[tokio::test]
    async fn tests_that_cannot_fail_are_no_evidence() {
        let noticing = tested_by(r#""$OUT"/prog "$TASK"/few.bin"#).await;
        assert_eq!(noticing.counts["tests reach the patch"], 1, "{noticing:#?}");
        let ignoring = tested_by(r#""$OUT"/prog "$TASK"/few.bin || :"#).await;
        assert_eq!(ignoring.counts["tests reach the patch"], 0, "{ignoring:#?}");
        let told = "the tests succeed too where each patched function ends the program";
        assert!(ignoring.reason.contains(told), "{}", ignoring.reason);
        assert_eq!((noticing.holds, ignoring.holds), (Some(true), None));
    }

    #[test]
    fn each_touched_function_ends_the_program() {
        const C: &str = "int a(int x)\n{\n  return x;\n}\nint b;\nint c(void) { return 0; }\n";
        const JAVA: &str = "class A extends B {\n  A() {\n    super(1);\n    f();\n  }\n  int f() { return 1; }\n}\n";
        for (path, text, lines, expected) in [
            (
                "a.c",
                C,
                (3, 3),
                Some(C.replacen('{', &format!("{{{OF_C}"), 1)),
            ),
            ("a.c", C, (3, 6), Some(C.replace('{', &format!("{{{OF_C}")))),
            ("a.c", C, (5, 5), None),
            (
                "A.java",
                JAVA,
                (4, 6),
                Some(
                    JAVA.replace("super(1);", &format!("super(1);{OF_JAVA}"))
                        .replace("f() {", &format!("f() {{{OF_JAVA}")),
                ),
            ),
        ] {
            let path = TreePath::new(path).unwrap();
            let mut attempt = AttemptFacts::default();
            let changed = &mut attempt.changes.files;
            changed.insert(path.clone(), text.as_bytes().to_vec());
            attempt.touched.push(Touched {
                path: path.clone(),
                old: Vec::new(),
                new: vec![lines],
            });
            let ended = ending(&attempt).map(|changes| changes.files[&path].clone());
            let ended = ended.map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(ended, expected);
        }
    }
}
