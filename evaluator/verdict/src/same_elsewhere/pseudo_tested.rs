//! Tests at the patch: what they run of it, and whether they notice it. Where a patched function
//! that they run ends the program at once, and they end as before, what they run says nothing of
//! the patch.
//!
//! Functions whose work no test misses are called pseudo-tested, and are found by taking their
//! bodies away (R. Niedermayr, E. Juergens and S. Wagner, "Will my tests tell me if I break this
//! code?", 2016). A body that ends the program asks less of the tests: that they see a crash.

use super::Comparison;
use super::reach::{AtPatch, LEAST, Reach};
use super::runs::Part;
use crate::attempt::{self, AttemptFacts, name, nodes, rows};
use crate::rung::{patch, tested};
use patchwright_sandbox::process::Ending;
use patchwright_source::{Language, parse};
use patchwright_target::runner::{Coverage, LineRange, Observed, TestRun};
use patchwright_target::{Result, WorkTime};
use std::collections::BTreeSet;
use std::time::Duration;
use tree_sitter::Node;

/// The tests may take so many times as long as they did without counters.
const TESTS_SLOWER: u32 = 5;
/// Least time for the tests: what they reach is known only when they end.
const LEAST_TESTS: Duration = Duration::from_secs(20);
/// Functions that are looked at, and the time after which no further one is.
const MOST: usize = 3;
const TIME: Duration = Duration::from_mins(1);
/// Runs of the tests that have to fail: one alone may be an unsteady test.
const RUNS: usize = 2;
/// Code that ends the program. That of C is a declaration: C89 takes no other behind a statement.
const OF_C: &str = " __attribute__((unused)) int patchwright_end = (__builtin_trap(), 0);";
const OF_JAVA: &str = " if (true) throw new AssertionError();";

impl Comparison<'_> {
    /// Adds what the tests cover: where inputs leave something open, as far as they notice it.
    pub(super) async fn count_tests(&mut self, reach: &mut Reach) -> Result<()> {
        let (target, attempt) = (self.programs.target, self.programs.attempt);
        let few = reach.reached + self.calls_there() < target.task().limits.reached;
        if few || !reach.unaccounted.is_empty() {
            let usual = self.tests_time().unwrap_or_default() * TESTS_SLOWER + LEAST;
            let asked = Observed {
                functions: Vec::new(),
                counted: reach.counted.clone(),
                most: usual.min(self.clock.left(Part::LAST).max(LEAST_TESTS)),
            };
            let mut tests = self.tests_coverage.clone();
            if tests.is_none() {
                let run = target.observed_run(&reach.build, None, &asked).await?;
                tests = run.map(|run| run.coverage);
            }
            if let Some(tests) = tests {
                let at_patch = self.at_patch(&tests).await?;
                let counts = matches!(at_patch, AtPatch::Run | AtPatch::Miss);
                if counts {
                    reach.all.add(&tests);
                    reach.accepted.add(&tests);
                }
                reach.tests = Some(at_patch);
                reach.settle(attempt);
                // What they saw both ways is not turned round, whatever they notice.
                if !counts {
                    reach.all.add(&tests);
                }
            }
        } else if let Some(tests) = &self.tests_coverage {
            let reached = tests.reached();
            reach.tests = Some(if reached { AtPatch::Run } else { AtPatch::Miss });
            reach.all.add(tests);
            reach.accepted.add(tests);
            reach.settle(attempt);
        }
        Ok(())
    }

    /// Returns the compared calls of tests, which count as inputs do where the tests run the patch.
    pub(super) fn calls_there(&self) -> u64 {
        let there = self.tests_coverage.as_ref().is_some_and(Coverage::reached);
        if there { self.telling_calls } else { 0 }
    }

    /// Tells what tests with this coverage say of the patch: each patched function that they run
    /// has to be missed where it ends the program.
    async fn at_patch(&mut self, coverage: &Coverage) -> Result<AtPatch> {
        if !coverage.reached() {
            return Ok(AtPatch::Miss);
        }
        let (started, attempt) = (WorkTime::now(), self.programs.attempt);
        let endings = endings(attempt, &self.lines_of_patch().lines, coverage);
        let mut passing = self.tests.cloned();
        if !passing
            .as_ref()
            .is_some_and(|tests| tests.execution.ending.success())
        {
            // Tests that the patch repairs are missed, too.
            passing = self.tested(attempt).await?;
        }
        let mut found = AtPatch::Unclear;
        for ending in endings.iter().take(MOST) {
            found = self.missed(ending, passing.as_ref()).await?;
            if found != AtPatch::Run || started.elapsed() > TIME {
                break;
            }
        }
        self.clock.leave_out(started.elapsed());
        Ok(found)
    }

    /// Tells whether tests that pass fail once the program is changed so.
    async fn missed(&self, changed: &AttemptFacts, passing: Option<&TestRun>) -> Result<AtPatch> {
        for _ in 0..RUNS {
            let (Some(passing), Some(now)) = (passing, self.tested(changed).await?) else {
                return Ok(AtPatch::Unclear);
            };
            if let Ending::Limit(_) = now.execution.ending {
                return Ok(AtPatch::Unclear);
            }
            let rung = tested::judge(passing, &now, &BTreeSet::new(), &self.writer);
            match rung.holds {
                Some(false) => {}
                Some(true) => return Ok(AtPatch::NoticeNothing),
                None => return Ok(AtPatch::Unclear),
            }
        }
        Ok(AtPatch::Run)
    }

    /// Runs the tests of a changed program; nothing where it does not build.
    async fn tested(&self, changed: &AttemptFacts) -> Result<Option<TestRun>> {
        let target = self.programs.target;
        let build = patch::build(target, changed, &target.task().main_build()).await?;
        if !build.succeeded() {
            return Ok(None);
        }
        target.test(&build).await
    }
}

/// Returns the patch with an end of the program in one function that holds some of the lines and
/// was run, for each such function.
fn endings(attempt: &AttemptFacts, lines: &[LineRange], coverage: &Coverage) -> Vec<AttemptFacts> {
    let mut endings = Vec::new();
    for (path, text) in &attempt.changes.files {
        let language = Language::of(path, text);
        let tree = language.and_then(|language| parse(language, text));
        for node in tree.iter().flat_map(|tree| nodes(tree.root_node())) {
            let (first, last) = rows(node);
            let meets = |range: &LineRange| {
                range.path == path.as_str() && range.first <= last && range.last >= first
            };
            if lines.iter().any(meets)
                && was_run(coverage, (path.as_str(), first, last), name(node, text))
                && let Some((at, end)) = start(node, text)
            {
                let mut changed = AttemptFacts {
                    changes: attempt.changes.clone(),
                    ..AttemptFacts::default()
                };
                let text = changed.changes.files.entry(path.clone()).or_default();
                text.splice(at..at, end.bytes());
                endings.push(changed);
            }
        }
    }
    endings
}

/// Tells whether a function was run: by its lines where lines were counted, else by its name.
fn was_run(
    coverage: &Coverage,
    (path, first, last): (&str, u32, u32),
    name: Option<String>,
) -> bool {
    if coverage.lines.is_empty() {
        let runs = name.and_then(|name| coverage.functions.get(attempt::last(&name)));
        return runs.is_some_and(|runs| *runs > 0);
    }
    let mut lines = coverage.lines.iter().filter(|(_, runs)| **runs > 0);
    lines.any(|((of, line), _)| of == path && (first..=last).contains(line))
}

/// Returns where the body of a function begins, and what ends the program there. The call of
/// another constructor is always the first statement.
fn start(node: Node<'_>, text: &[u8]) -> Option<(usize, &'static str)> {
    // To a grammar of C, what macros begin may be a function.
    let declarator = node.child_by_field_name("declarator");
    let is_function = |declarator| nodes(declarator).any(|one| one.kind() == "function_declarator");
    let end = match node.kind() {
        "function_definition" if declarator.is_some_and(is_function) => OF_C,
        "method_declaration" | "constructor_declaration" => OF_JAVA,
        _ => return None,
    };
    let body = node.child_by_field_name("body")?;
    let mut cursor = body.walk();
    let mut statements = body.named_children(&mut cursor);
    let first = statements.find(|one| !one.is_extra());
    let called = first.filter(|first| first.kind() == "explicit_constructor_invocation");
    let at = called.map_or(body.start_byte() + 1, |call| call.end_byte());
    (text.get(body.start_byte()) == Some(&b'{')).then_some((at, end))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LIST, attempt_with, one_file};
    use super::{OF_C, OF_JAVA, endings, start};
    use crate::AttemptFacts;
    use crate::attempt::nodes;
    use crate::evidence::{Rung, RungName};
    use crate::ladder::Ladder;
    use patchwright_source::{Language, TreePath, parse};
    use patchwright_target::runner::{Coverage, LineRange, Target};
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
        // It fails before the patch, and by it alone.
        let of_crash = r#"ASAN_OPTIONS=exitcode=101 "$OUT"/prog "$TASK"/pov.bin || [ $? -lt 100 ]"#;
        let repaired = tested_by(of_crash).await;
        assert_eq!(repaired.counts["tests reach the patch"], 1, "{repaired:#?}");
        let ignoring = tested_by(r#""$OUT"/prog "$TASK"/few.bin || :"#).await;
        assert_eq!(ignoring.counts["tests reach the patch"], 0, "{ignoring:#?}");
        let told = "the tests do, but end as before where a patched function ends the program";
        assert!(ignoring.reason.contains(told), "{}", ignoring.reason);
        assert_eq!((noticing.holds, ignoring.holds), (Some(true), None));
    }

    #[test]
    fn each_patched_function_ends_the_program_once() {
        const C: &str = "int a(int x)\n{\n  return x;\n}\nint b;\nint c(void) { return 0; }\n";
        const CPP: &str = "namespace n {\nclass A {\n  A() {}\n  int f()\n  { return 1; }\n};\n}\n";
        const JAVA: &str = "class A extends B {\n  A() {\n    // why\n    super(1);\n    f();\n  }\n  int f() { return 1; }\n}\n";
        for (path, text, lines, expected) in [
            ("a.c", C, (3, 3), vec![("{\n  return", OF_C)]),
            (
                "a.c",
                C,
                (3, 6),
                vec![("{ return 0", OF_C), ("{\n  return", OF_C)],
            ),
            ("a.c", C, (5, 5), vec![]),
            ("a.h", CPP, (5, 5), vec![("{ return 1", OF_C)]),
            ("A.java", JAVA, (7, 7), vec![("{ return 1", OF_JAVA)]),
        ] {
            let path = TreePath::new(path).unwrap();
            let mut attempt = AttemptFacts::default();
            let changed = &mut attempt.changes.files;
            changed.insert(path.clone(), text.as_bytes().to_vec());
            let range = LineRange {
                path: path.to_string(),
                first: lines.0,
                last: lines.1,
            };
            let run = Coverage::read("F\ta\t1\nF\tc\t1\nF\tf\t1\n");
            let ended = endings(&attempt, &[range], &run).into_iter();
            let ended = ended.map(|one| String::from_utf8(one.changes.files[&path].clone()));
            let ended: Vec<String> = ended.map(Result::unwrap).collect();
            let expected = expected.iter().map(|(at, end)| {
                let with_end = at.replacen('{', &format!("{{{end}"), 1);
                text.replacen(at, &with_end, 1)
            });
            assert_eq!(ended, expected.collect::<Vec<_>>());
        }
        let tree = parse(Language::Java, JAVA.as_bytes()).unwrap();
        let constructor = nodes(tree.root_node());
        let mut constructor = constructor.filter(|node| node.kind() == "constructor_declaration");
        let (at, _) = start(constructor.next().unwrap(), JAVA.as_bytes()).unwrap();
        assert_eq!(
            JAVA.get(..at).unwrap().lines().last(),
            Some("    super(1);")
        );
    }

    #[test]
    fn code_that_is_not_run_is_not_missed() {
        const C: &str = "int a(int x)\n{\n  return x;\n}\nint b;\nint c(void) { return 0; }\n";
        let mut attempt = AttemptFacts::default();
        let path = TreePath::new("a.c").unwrap();
        attempt.changes.files.insert(path, C.as_bytes().to_vec());
        let all = LineRange {
            path: "a.c".to_owned(),
            first: 1,
            last: 6,
        };
        for (counts, expected) in [
            ("F\tc\t1\n", 1),
            ("", 0),
            // Of functions with one name the counter tells lines alone.
            ("F\ta\t1\nF\tc\t1\nL\ta.c\t3\t0\nL\ta.c\t6\t2\n", 1),
        ] {
            let run = Coverage::read(counts);
            assert_eq!(
                endings(&attempt, std::slice::from_ref(&all), &run).len(),
                expected
            );
        }
    }
}
