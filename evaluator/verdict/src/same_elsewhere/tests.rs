//! Patched programs that behave as before, and some that do not.

use super::{CONTROLS_REACH, ChallengeInput, challenge};
use crate::attempt::AttemptFacts;
use crate::evidence::AcceptedInput;
use crate::evidence::RungName;
use crate::ladder::Ladder;
use crate::tests::attempt;
use patchwright_source::{Language, Touched, TreePath};
use patchwright_target::runner::{Pov, Target, TargetTask};
use patchwright_target::test_support::{PARSE, open, task};
use std::fs;
use std::time::Duration;

/// Loses memory, and says so to the sanitizer.
const LEAK: &str = "#include <stdlib.h>\nconst char *__lsan_default_suppressions(void) { return \"leak:keep\"; }\nstatic __attribute__((noinline)) void keep(void) { void *volatile kept = malloc(9); kept = 0; }\n";

#[tokio::test]
async fn tells_a_fix_from_a_change_of_behaviour() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.same = Duration::from_secs(8);
    // A leak that the project knows by its name fails no input.
    let main = task.tree.join("main.c");
    let text = fs::read_to_string(&main).unwrap();
    let text = LEAK.to_owned() + &text.replace("  FILE", "  keep();\n  FILE");
    fs::write(main, text).unwrap();
    for (name, bytes) in [("a.bin", [3, 1]), ("b.bin", [7, 2]), ("c.bin", [8, 9])] {
        fs::write(folder.path().join(name), bytes).unwrap();
        task.harmless.push(folder.path().join(name));
    }
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    for (fix, holds, reason) in [
        (
            "if (n < 2 || b[0] > 8)",
            Some(true),
            "run the patched lines",
        ),
        (
            "if (n < 2 || b[0] > 7)",
            Some(false),
            "exit status 0 became exit status 1",
        ),
        // Seen by nobody but the debugger: the harness only looks at the sign.
        (
            "if (n >= 2 && b[0] == 7) return 5; if (n < 2 || b[0] > 8)",
            None,
            "parse (parse.c) returns 1; with the patch it returns 5",
        ),
    ] {
        let attempt = attempt_with(PARSE.replace("if (n < 2)", fix), (4, 4));
        let result = Ladder::new(&target, &baseline)
            .climb(&attempt, &[], RungName::SameElsewhere)
            .await
            .unwrap();
        assert_eq!(result.holds, holds, "{fix}: {result:#?}");
        assert!(result.reason.contains(reason), "{fix}: {}", result.reason);
        assert!(result.counts["given"] >= 1);
    }
}

/// A record says how long it is and begins with a number of two bytes, which is
/// read without a look at the length. The buffer ends where the input does.
const RECORD: &str = "#include <stdio.h>\n#include <stdlib.h>\nint record(const unsigned char *b, long n) {\n  if (n < 1 || b[0] >= n) return -1;\n  int number = b[1] << 8 | b[2];\n  printf(\"%d\\n\", number);\n  return 0;\n}\nint main(int n, char **v) {\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f) return 2;\n  unsigned char all[256];\n  long size = fread(all, 1, 256, f);\n  unsigned char *b = malloc(size);\n  for (long i = 0; i < size; i++) b[i] = all[i];\n  int bad = record(b, size);\n  free(b);\n  return bad ? 1 : 0;\n}\n";

#[tokio::test]
async fn only_mutants_as_malformed_as_the_pov_may_be_turned_away() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.same = Duration::from_secs(40);
    one_file(&task, RECORD);
    fs::write(folder.path().join("pov.bin"), [0]).unwrap();
    for number in 0..12_u8 {
        let file = folder.path().join(format!("{number}.bin"));
        fs::write(&file, [8, 1, number, 3, 4, 5, 6, 7, 8]).unwrap();
        task.harmless.push(file);
    }
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    for (refuses, holds) in [
        ("b[0] < 2", Some(true)),
        ("b[0] < 2 || b[1] > 1", Some(false)),
    ] {
        let text = RECORD.replace("n < 1 ||", &format!("n < 1 || {refuses} ||"));
        let attempt = attempt_with(text, (4, 4));
        let result = Ladder::new(&target, &baseline)
            .climb(&attempt, &[], RungName::SameElsewhere)
            .await
            .unwrap();
        assert_eq!(result.holds, holds, "{refuses}: {result:#?}");
        assert!(result.counts["mutants of given turned away"] >= 1);
        if holds == Some(true) {
            let shown = &result.counts["malformed mutants turned away"];
            assert_eq!(shown, &result.counts["mutants of given turned away"]);
            let mut doubts = result.doubts.iter();
            assert!(doubts.any(|doubt| doubt.what.contains("exit status 0 became exit status 1")));
        } else {
            assert!(
                result
                    .reason
                    .contains("became exit status 1 (mutants of given)")
            );
        }
    }
}

#[tokio::test]
async fn many_mutants_of_a_given_input_follow_its_first_ones() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.same = Duration::from_mins(1);
    one_file(&task, RECORD);
    fs::write(folder.path().join("pov.bin"), [0]).unwrap();
    let given = folder.path().join("given.bin");
    fs::write(&given, [2, 1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    task.harmless.push(given);
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    for (first, holds) in [("", Some(true)), ("if (n == 5) number = 0;\n", Some(false))] {
        let text = RECORD
            .replace("n < 1 ||", "n < 3 ||")
            .replace("  printf", &format!("  {first}  printf"));
        let attempt = attempt_with(text, (4, 6));
        let result = Ladder::new(&target, &baseline)
            .climb(&attempt, &[], RungName::SameElsewhere)
            .await
            .unwrap();
        assert_eq!(result.holds, holds, "{result:#?}");
        assert!(result.counts["further mutants"] >= 1, "{result:#?}");
        let further = result.reason.contains("(further mutants)");
        assert_eq!(further, holds == Some(false), "{}", result.reason);
    }
}

#[tokio::test]
async fn challenges_count_by_what_running_them_shows() {
    let folder = tempfile::tempdir().unwrap();
    let task = task(folder.path());
    one_file(&task, RECORD);
    fs::write(folder.path().join("pov.bin"), [0]).unwrap();
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let inputs = challenges();
    for (refuses, holds, reason) in [
        (
            "n < 3",
            Some(true),
            "no longer the patched one: 1; that it accepts: 2, 2 of them answered as before; that show nothing, for they are refused there: 1",
        ),
        ("n == 1", Some(false), "challenge 1 reaches the same defect"),
        (
            "n < 3 || b[1] > 8",
            None,
            "challenge 4: exit status 0 became exit status 1",
        ),
    ] {
        let text = RECORD.replace("n < 1 ||", &format!("n < 1 || {refuses} ||"));
        let attempt = attempt_with(text, (4, 4));
        let told = challenge(&target, &baseline, &attempt, &inputs)
            .await
            .unwrap();
        let result = &told.result;
        assert_eq!(result.holds, holds, "{refuses}: {result:#?}");
        assert!(result.reason.contains(reason), "{result:#?}");
        assert_eq!(told.counted, [0, 1, 3]);
        assert_eq!(result.counts["challenges: variants"], 1);
        assert_eq!(result.counts["challenges: controls"], 2);
        assert_eq!(result.found.len(), usize::from(holds == Some(false)));
        if holds == Some(true) {
            let [variant, control] = result.answers.as_slice() else {
                panic!("an answer to the variant and one to a control: {result:#?}");
            };
            assert!(variant.starts_with("challenge 1: "), "{variant}");
            assert!(variant.contains("exit status 1"), "{variant}");
            let both = "challenge 2, with and without the patch: exit status 0";
            assert!(control.starts_with(both), "{control}");
            assert_eq!(result.counts[CONTROLS_REACH], 2, "{result:#?}");
        }
    }
}

fn challenges() -> [ChallengeInput; 4] {
    let input = |number: usize, bytes: &[u8]| ChallengeInput {
        name: format!("challenge {number}"),
        bytes: bytes.to_vec(),
    };
    [
        // Reads beyond the end as the PoV does.
        input(1, &[0, 1]),
        input(2, &[2, 1, 7]),
        // Refused by the unpatched program: says nothing.
        input(3, &[9, 1]),
        input(4, &[2, 9, 7]),
    ]
}

#[tokio::test]
async fn an_answer_that_was_found_right_is_no_doubt_and_another_one_is() {
    let folder = tempfile::tempdir().unwrap();
    let task = task(folder.path());
    one_file(&task, RECORD);
    fs::write(folder.path().join("pov.bin"), [0]).unwrap();
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let text = RECORD.replace("n < 1 ||", "n < 1 || n < 3 || b[1] > 8 ||");
    let mut attempt = attempt_with(text, (4, 4));
    let mut answer = String::new();
    for expected in [None, Some(true), None] {
        let told = challenge(&target, &baseline, &attempt, &challenges())
            .await
            .unwrap();
        assert_eq!(told.result.holds, expected, "{answer}: {told:#?}");
        let doubt = &told.result.doubts[0];
        assert_eq!(doubt.settled.is_some(), expected.is_some());
        answer = match answer.as_str() {
            "" => doubt.input.as_ref().unwrap().after.clone(),
            _ => "exit status 9".to_owned(),
        };
        attempt.accepted = vec![AcceptedInput {
            blob: vec![2, 9, 7].into(),
            answer: answer.clone(),
            reason: "the critic agrees".to_owned(),
        }];
    }
}

/// A challenge that counts only where it is run like the second PoV.
#[tokio::test]
async fn challenges_are_run_like_each_pov() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    one_file(&task, RECORD);
    fs::write(folder.path().join("pov.bin"), [0]).unwrap();
    let other = Pov {
        command: Some(r#"tail -c +2 "$POV" >"$WORK"/cut; "$OUT"/prog "$WORK"/cut"#.to_owned()),
        file: folder.path().join("other.bin"),
        ..task.povs[0].clone()
    };
    fs::write(&other.file, [5, 0]).unwrap();
    task.povs.push(other);
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let text = RECORD.replace("n < 1 ||", "n < 1 || n == 1 ||");
    let attempt = attempt_with(text, (4, 4));
    let only_there = ChallengeInput {
        name: "challenge 1".to_owned(),
        bytes: vec![9, 0, 1],
    };
    let told = challenge(&target, &baseline, &attempt, &[only_there])
        .await
        .unwrap();
    assert_eq!(told.counted, [0], "{told:#?}");
    assert_eq!(told.result.counts["challenges: variants"], 1, "{told:#?}");
    let reason = "run like other.bin: challenge 1 reaches the same defect";
    assert!(told.result.reason.contains(reason), "{told:#?}");
    assert_eq!(told.result.holds, Some(false));
}

/// A harness for libFuzzer. Its records may say any size, and the patch brings a number of two
/// bytes that no mutant is likely to hit.
const FUZZER: &str = "#include <stdlib.h>\n#include <string.h>\nstatic volatile char seen;\nint LLVMFuzzerTestOneInput(const unsigned char *b, unsigned long n) {\n  if (n != 6 || b[2] != 'R') return 0;\n  char *p = malloc(8);\n  memset(p, 1, b[5]);\n  seen = p[0];\n  free(p);\n  return 0;\n}\n";

#[tokio::test]
async fn the_projects_own_fuzzer_finds_both_sides_of_a_new_branch() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.commands.build = r#"clang $CFLAGS -fsanitize=fuzzer parse.c -o "$OUT"/prog"#.to_owned();
    task.commands.test = None;
    fs::write(task.tree.join("parse.c"), FUZZER).unwrap();
    fs::write(folder.path().join("pov.bin"), [0, 0, b'R', 0, 0, 200]).unwrap();
    task.limits.same = Duration::from_secs(20);
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let fix = "  if (b[5] > 8) return 0;\n  unsigned of = (b[0] ^ 0x35) << 8 | (b[1] ^ 0x5a);\n  if (of == 40000u - 1234u) return 0;\n  char *p";
    let attempt = attempt_with(FUZZER.replace("  char *p", fix), (6, 8));
    let result = Ladder::new(&target, &baseline)
        .climb(&attempt, &[], RungName::SameElsewhere)
        .await
        .unwrap();
    assert!(result.counts["found by the fuzzer"] > 0, "{result:#?}");
    assert_eq!(
        result.counts["branches not accounted for"], 0,
        "{result:#?}"
    );
    assert!(!result.log.text().contains("do not take"), "{result:#?}");
}

/// Names a word by its number, in a call that may throw; 0 is none.
const WORDS: &str = "#include <cstdio>\n#include <string>\nstatic const char *words[4] = {\"a\", \"b\", \"c\", \"d\"};\nstatic std::string shown(const std::string &text) {\n  if (text.size() > 60) throw 1;\n  return text + \".\";\n}\nstatic std::string word(unsigned number) {\n  return shown(std::string(words[number]) + \"!\");\n}\nint main(int, char **v) {\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f) return 2;\n  unsigned char b[64] = {0};\n  if (fread(b, 1, 64, f) < 1 || !b[0]) return 0;\n  puts(word(b[0]).c_str());\n  return 0;\n}\n";

/// Compilers count for a call in C++ a way for what it may throw, and say so only where it ran.
#[tokio::test]
async fn what_a_call_may_throw_is_no_branch_of_the_patch() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.language = Language::Cpp;
    task.commands.build = r#"g++ $CFLAGS words.cc -o "$OUT"/prog"#.to_owned();
    fs::write(task.tree.join("words.cc"), WORDS).unwrap();
    task.limits.same = Duration::from_secs(20);
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    for (fix, branches) in [
        ("words[number & 3]", 0),
        ("words[number < 4 ? number : 0]", 1),
    ] {
        let path = TreePath::new("words.cc").unwrap();
        let text = WORDS.replace("words[number]", fix);
        let mut attempt = AttemptFacts::default();
        attempt.changes.files = [(path.clone(), text.into_bytes())].into();
        attempt.touched = vec![Touched {
            path,
            old: vec![(9, 9)],
            new: vec![(9, 9)],
        }];
        let result = Ladder::new(&target, &baseline)
            .climb(&attempt, &[], RungName::SameElsewhere)
            .await
            .unwrap();
        assert!(result.counts["reached the patch"] > 0, "{fix}: {result:#?}");
        let counted = result.counts["branches of the patch"];
        assert_eq!(counted, branches, "{fix}: {result:#?}");
        let open = result.counts["branches not accounted for"];
        assert_eq!(open, 0, "{fix}: {result:#?}");
    }
}

#[tokio::test]
async fn the_same_mistake_at_another_place_is_told_and_refutes_nothing() {
    const TWICE: &str = "__attribute__((noinline)) static int twice(const unsigned char *b) { char *q = malloc(8); memset(q, 2, b[1]); int r = q[0]; free(q); return r; }\nint parse(";
    let twice = |text: &str| {
        let text = text.replace("int parse(", TWICE);
        text.replace("  if (n < 2", "  if (n == 3) return twice(b);\n  if (n < 2")
    };
    let folder = tempfile::tempdir().unwrap();
    let task = task(folder.path());
    fs::write(task.tree.join("parse.c"), twice(PARSE)).unwrap();
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let input = |name: &str, bytes: &[u8]| ChallengeInput {
        name: name.to_owned(),
        bytes: bytes.to_vec(),
    };
    let inputs = [input("elsewhere", &[1, 200, 0]), input("fine", &[3, 1])];
    let fix = PARSE.replace("if (n < 2)", "if (n < 2 || b[0] > 8)");
    let attempt = attempt_with(twice(&fix), (6, 6));
    let told = challenge(&target, &baseline, &attempt, &inputs).await;
    let told = told.unwrap();
    assert_ne!(told.result.holds, Some(false), "{told:#?}");
    let mut answers = told.result.answers.iter();
    let same = answers.any(|answer| {
        answer.starts_with("elsewhere: both programs fail") && answer.contains("in twice")
    });
    assert!(same, "{told:#?}");
}

#[tokio::test]
async fn a_script_runs_in_the_sandbox_and_gives_bytes_or_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let target = open(task(folder.path()), folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let build = baseline.builds.values().next().unwrap();
    let made = target.run_script(
        build,
        "import sys; sys.stdout.buffer.write(bytes([7, 0]) * 3)",
    );
    assert_eq!(made.await.unwrap(), Ok(vec![7, 0, 7, 0, 7, 0]));
    let from_the_pov = "import sys; sys.stdout.buffer.write(open(sys.argv[1], 'rb').read() * 2)";
    let made = target.run_script(build, from_the_pov).await.unwrap();
    let pov = fs::read(&target.task().povs[0].file).unwrap();
    assert_eq!(made, Ok(pov.repeat(2)));
    for (script, part) in [
        ("raise ValueError('no such thing')", "no such thing"),
        (
            "import urllib.request as r; r.urlopen('http://127.0.0.1:9')",
            "rror",
        ),
        (
            "import os; open(os.environ['TREE'] + '/parse.c', 'w')",
            "rror",
        ),
    ] {
        let reason = target.run_script(build, script).await.unwrap().unwrap_err();
        assert!(reason.contains(part), "{script}: {reason}");
    }
}

/// Counts the parts of a list, and has a defect elsewhere.
pub(super) const LIST: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint parts(const char *t, int n) {\n  int count = 1;\n  for (int i = 0; i < n; i++) count += t[i] == ',';\n  char *p = malloc(8);\n  memset(p, 1, n && t[0] == '!' ? 200 : 8);\n  count += p[0] - 1;\n  free(p);\n  printf(\"%d parts\\n\", count);\n  return 0;\n}\nint main(int n, char **v) {\n  static char all[100000];\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f) return 2;\n  return parts(all, fread(all, 1, sizeof all, f)) ? 1 : 0;\n}\n";

#[tokio::test]
async fn a_bound_that_stops_short_shows_on_inputs_that_are_aimed_at_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.same = Duration::from_secs(12);
    one_file(&task, LIST);
    fs::write(folder.path().join("pov.bin"), "!").unwrap();
    fs::write(folder.path().join("few.bin"), "a, b, c").unwrap();
    task.harmless.push(folder.path().join("few.bin"));
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    for (also, holds) in [
        // More is refused: that may be what the repair is about.
        ("  if (count > 700) return -1;\n", Some(true)),
        ("  if (count > 700) count = 700;\n", Some(false)),
    ] {
        let fix = format!("  if (n && t[0] == '!') return -1;\n{also}");
        let text = LIST.replace("  char *p", &format!("{fix}  char *p"));
        let mut attempt = attempt_with(text, (7, 8));
        attempt.diff = format!("--- a/parse.c\n+++ b/parse.c\n@@ -7,0 +7,2 @@\n+{fix}")
            .replace("\n  if (count", "\n+  if (count");
        let result = Ladder::new(&target, &baseline)
            .climb(&attempt, &[], RungName::SameElsewhere)
            .await
            .unwrap();
        assert_eq!(result.holds, holds, "{also}: {result:#?}");
        let aimed = result.counts.get("aimed").copied();
        assert!(aimed > Some(0), "{also}: {result:#?}");
        if holds == Some(false) {
            assert!(result.reason.contains("(aimed)"), "{}", result.reason);
        }
    }
}

#[tokio::test]
async fn a_bound_that_the_patch_does_not_write_is_read_where_it_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.same = Duration::from_secs(12);
    let list = LIST.replace("int parts(", "int most = 20011;\nint parts(");
    one_file(&task, &list);
    fs::write(folder.path().join("pov.bin"), "!").unwrap();
    fs::write(folder.path().join("few.bin"), "a, b, c").unwrap();
    task.harmless.push(folder.path().join("few.bin"));
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let fix = "  if (n && t[0] == '!') return -1;\n  if (count > most) count = most;\n  char *p";
    let mut attempt = attempt_with(list.replace("  char *p", fix), (8, 9));
    attempt.diff =
        "--- a/parse.c\n+++ b/parse.c\n@@ -8,0 +8,1 @@\n+  if (count > most) count = most;\n"
            .into();
    let result = Ladder::new(&target, &baseline)
        .climb(&attempt, &[], RungName::SameElsewhere)
        .await
        .unwrap();
    assert_eq!(result.holds, Some(false), "{result:#?}");
    assert!(result.reason.contains("(aimed)"), "{}", result.reason);
    assert!(
        result.counts["values that the patch compares"] > 0,
        "{result:#?}"
    );
}

#[tokio::test]
async fn inputs_that_are_aimed_at_the_patch_count_where_too_few_come_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.same = Duration::from_secs(12);
    task.limits.reached = 10_000;
    one_file(&task, LIST);
    fs::write(folder.path().join("pov.bin"), "!").unwrap();
    fs::write(folder.path().join("few.bin"), "a, b, c").unwrap();
    task.harmless.push(folder.path().join("few.bin"));
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let fix = "  if (n && t[0] == '!') return -1;\n  char *p";
    let attempt = attempt_with(LIST.replace("  char *p", fix), (7, 7));
    let result = Ladder::new(&target, &baseline)
        .climb(&attempt, &[], RungName::SameElsewhere)
        .await
        .unwrap();
    let counts = &result.counts;
    assert!(counts["aimed and reached the patch"] > 0, "{result:#?}");
    assert!(counts["reached the patch"] > counts["aimed and reached the patch"]);
}

/// Makes `parse.c` the whole program.
pub(super) fn one_file(task: &TargetTask, text: &str) {
    fs::write(task.tree.join("parse.c"), text).unwrap();
    let makefile = "$(OUT)/prog: parse.c\n\t$(CC) $(CFLAGS) $< -o $@\n";
    fs::write(task.tree.join("Makefile"), makefile).unwrap();
}

/// A change of `parse.c` that touches some lines.
pub(super) fn attempt_with(text: String, lines: (u32, u32)) -> AttemptFacts {
    let mut attempt = attempt("", "");
    let path = TreePath::new("parse.c").unwrap();
    attempt.changes.files.insert(path, text.into_bytes());
    attempt.touched = vec![Touched {
        path: TreePath::new("parse.c").unwrap(),
        old: vec![lines],
        new: vec![lines],
    }];
    attempt
}
