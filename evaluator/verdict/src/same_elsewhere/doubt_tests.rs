//! Differences on PoVs and their mutants: those that an experiment settles, and doubts.

use super::tests::{attempt_with, one_file};
use crate::evidence::{Doubt, RungName};
use crate::ladder::Ladder;
use patchwright_target::runner::Target;
use patchwright_target::test_support::{open, task};
use std::fs;
use std::time::Duration;

/// Says what lies in a table of eight of which it fills four: beyond lies what
/// was there before. Writes past its end where the second byte says so.
const TABLE: &str = "#include <stdio.h>\n#include <stdlib.h>\nint look(const unsigned char *b, long n) {\n  unsigned char *table = malloc(8);\n  for (int i = 0; i < 4; i++) table[i] = i * 3;\n  if (b[1] == 200) table[9] = 1;\n  printf(\"%d\\n\", table[b[0] & 7]);\n  free(table);\n  return 0;\n}\nint main(int n, char **v) {\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f) return 2;\n  unsigned char b[64] = {0};\n  return look(b, fread(b, 1, 64, f)) ? 1 : 0;\n}\n";

#[tokio::test]
async fn a_difference_on_a_mutant_of_a_pov_is_settled_or_stays_a_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.same = Duration::from_mins(1);
    one_file(&task, TABLE);
    // No other file is called like it: all inputs are its mutants.
    task.povs[0].file = folder.path().join("pov.dat");
    fs::write(&task.povs[0].file, [1, 200]).unwrap();
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    for (fix, settled) in [
        // Also refuses what lies in the table and was never written.
        ("b[1] == 200 || (b[0] & 7) >= 4", true),
        // Refuses what was written: nobody can say why.
        ("b[1] == 200 || (b[0] & 7) >= 3", false),
    ] {
        let text = TABLE.replace(
            "  unsigned char *table",
            &format!("  if ({fix}) return -1;\n  unsigned char *table"),
        );
        let result = Ladder::new(&target, &baseline)
            .climb(&attempt_with(text, (4, 4)), &[], RungName::SameElsewhere)
            .await
            .unwrap();
        let expected = settled.then_some(true);
        assert_eq!(result.holds, expected, "{fix}: {result:#?}");
        let open: Vec<_> = result
            .doubts
            .iter()
            .filter(|doubt| doubt.is_open())
            .collect();
        assert_eq!(open.is_empty(), settled, "{fix}: {result:#?}");
        let why = |doubt: &Doubt| {
            doubt
                .settled
                .as_ref()
                .is_some_and(|why| why.contains("memory that it has not written"))
        };
        let is_question = |doubt: &&Doubt| doubt.what.contains("what a correct program says");
        let settled_ones = result
            .doubts
            .iter()
            .filter(|doubt| !doubt.is_open() && !is_question(doubt));
        assert!(
            result.doubts.iter().any(why) || !settled,
            "{fix}: {result:#?}"
        );
        assert_eq!(
            settled_ones.count() as u64,
            // How many inputs are aimed at the patch's numbers hangs on the time that is left.
            ["differences settled", "aimed and answered differently"]
                .iter()
                .filter_map(|name| result.counts.get(*name))
                .sum::<u64>(),
            "{fix}: {result:#?}"
        );
        for input in open.iter().filter_map(|doubt| doubt.input.as_ref()) {
            assert_eq!(input.blob.bytes()[0] & 7, 3, "{fix}: {input:#?}");
            assert!(input.before.contains('9') && input.after.contains("exit status 1"));
            assert!(input.change.contains(" at offset "), "{input:#?}");
        }
    }
}

/// Scales a number by a power of two, which is undefined from 31 on, and writes past the
/// end of a table where the second byte says so.
const SCALE: &str = "#include <stdio.h>\n#include <stdlib.h>\nint scale(const unsigned char *b, long n) {\n  volatile unsigned char *table = malloc(8);\n  if (b[1] == 200) table[9] = 1;\n  printf(\"%d\\n\", 1 << (b[0] & 63));\n  free((void *)table);\n  return 0;\n}\nint main(int n, char **v) {\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f) return 2;\n  unsigned char b[64] = {0};\n  return scale(b, fread(b, 1, 64, f)) ? 1 : 0;\n}\n";

#[tokio::test]
async fn a_difference_where_behaviour_is_undefined_is_settled() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.same = Duration::from_secs(40);
    one_file(&task, SCALE);
    task.povs[0].file = folder.path().join("pov.dat");
    fs::write(&task.povs[0].file, [40, 200]).unwrap();
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let fix = "  if (b[1] == 200 || (b[0] & 63) > 30) return -1;\n  volatile unsigned char *table";
    let text = SCALE.replace("  volatile unsigned char *table", fix);
    let ladder = Ladder::new(&target, &baseline);
    let attempt = attempt_with(text, (4, 4));
    let result = ladder.climb(&attempt, &[], RungName::SameElsewhere);
    let result = result.await.unwrap();
    let why = |doubt: &Doubt| {
        doubt
            .settled
            .as_ref()
            .is_some_and(|why| why.contains("UndefinedBehaviorSanitizer"))
    };
    assert!(result.doubts.iter().any(why), "{result:#?}");
    assert!(!result.doubts.iter().any(Doubt::is_open), "{result:#?}");
}

/// Looks at a number of a table of which only four were written, and writes past its end
/// where the second byte says so. No number that memory is filled with is rare.
const RARE: &str = "#include <stdio.h>\n#include <stdlib.h>\nint rare(const unsigned char *b, long n) {\n  volatile int *table = malloc(8 * sizeof *table);\n  for (int i = 0; i < 4; i++) table[i] = i;\n  if (b[1] == 200) table[9] = 1;\n  if (table[b[0] & 7] == 123456) puts(\"rare\");\n  puts(\"looked\");\n  free((void *)table);\n  return 0;\n}\nint main(int n, char **v) {\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f) return 2;\n  unsigned char b[64] = {0};\n  return rare(b, fread(b, 1, 64, f)) ? 1 : 0;\n}\n";

#[tokio::test]
async fn a_difference_where_memory_was_never_written_is_settled() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.same = Duration::from_mins(2);
    one_file(&task, RARE);
    task.povs[0].file = folder.path().join("pov.dat");
    fs::write(&task.povs[0].file, [1, 200]).unwrap();
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let fix = "  if (b[1] == 200 || (b[0] & 7) >= 4) return -1;\n  volatile int *table";
    let text = RARE.replace("  volatile int *table", fix);
    let result = Ladder::new(&target, &baseline)
        .climb(&attempt_with(text, (4, 4)), &[], RungName::SameElsewhere)
        .await
        .unwrap();
    let why = |doubt: &Doubt| {
        let settled = doubt.settled.as_ref();
        settled.is_some_and(|why| why.contains("memcheck"))
    };
    assert!(result.doubts.iter().any(why), "{result:#?}");
    assert!(!result.doubts.iter().any(Doubt::is_open), "{result:#?}");
    let experiment = "experiment: the unpatched program under Valgrind's memcheck";
    assert!(result.log.text().contains(experiment), "{result:#?}");
}

/// Looks at a byte that its input names, in a buffer that is seldom full.
const LOOK: &str = "#include <stdio.h>\n#include <stdlib.h>\nint look(const unsigned char *b, long n) {\n  unsigned char *p = malloc(32);\n  for (long i = 0; i < n; i++) p[i] = b[i];\n  if (p[b[0]] == 77) puts(\"rare\");\n  puts(\"done\");\n  free(p);\n  return 0;\n}\nint main(int n, char **v) {\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f) return 2;\n  unsigned char all[32];\n  long size = fread(all, 1, 32, f);\n  return size < 1 ? 1 : look(all, size);\n}\n";

#[tokio::test]
async fn a_mutant_of_a_given_input_that_reads_unwritten_memory_refutes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.same = Duration::from_secs(40);
    one_file(&task, LOOK);
    for number in 1..8_u8 {
        let file = folder.path().join(format!("{number}.bin"));
        fs::write(&file, [number, 1, 2, 3, 4, 5, 6, 7]).unwrap();
        task.harmless.push(file);
    }
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    for (bound, refuted) in [("b[0] >= n", false), ("b[0] > 4", true)] {
        let guard = format!("if ({bound}) return puts(\"out of range\") < 0;\n  unsigned char *p");
        let text = LOOK.replace("unsigned char *p", &guard);
        let ladder = Ladder::new(&target, &baseline);
        let attempt = attempt_with(text, (4, 4));
        let result = ladder.climb(&attempt, &[], RungName::SameElsewhere).await;
        let result = result.unwrap();
        assert_eq!(result.holds == Some(false), refuted, "{bound}: {result:#?}");
        let settled = result
            .doubts
            .iter()
            .filter_map(|doubt| doubt.settled.as_ref());
        let seen = settled.filter(|why| why.contains("memcheck")).count();
        assert_eq!(seen > 0, !refuted, "{bound}: {result:#?}");
    }
}

/// Adds the bytes of a file and one behind them, and shows nothing.
const SILENT: &str = "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((noinline)) int sum(const unsigned char *b, long n) {\n  int all = 0;\n  for (long i = 0; i < n + (b[0] == 200); i++) all += b[i];\n  return all;\n}\nint main(int n, char **v) {\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f) return 2;\n  unsigned char all[256];\n  long size = fread(all, 1, 256, f);\n  if (size < 1) return 0;\n  unsigned char *b = malloc(size);\n  for (long i = 0; i < size; i++) b[i] = all[i];\n  int all_bytes = sum(b, size);\n  free(b);\n  return all_bytes < 0;\n}\n";

#[tokio::test]
async fn a_program_that_shows_nothing_is_known_by_its_values_or_not_at_all() {
    for (head, add, holds) in [
        ("int sum(", "b[i]", Some(true)),
        ("int sum(", "b[i] + 1", None),
        ("void sum(", "b[i]", None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        task.limits.same = Duration::from_secs(10);
        let mut silent = SILENT.replace("int sum(", head);
        if head.starts_with("void") {
            silent = silent
                .replace("return all;", "summed = all;")
                .replace("__attribute__", "int summed;\n__attribute__")
                .replace("int all_bytes = ", "")
                .replace("all_bytes < 0", "0");
        }
        one_file(&task, &silent);
        task.povs[0].file = folder.path().join("pov.dat");
        fs::write(&task.povs[0].file, [200, 1, 2]).unwrap();
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        let fixed = silent.replace("n + (b[0] == 200)", "n");
        let attempt = attempt_with(
            fixed.replace("b[i];\n  return", &format!("{add};\n  return")),
            (5, 5),
        );
        let result = Ladder::new(&target, &baseline)
            .climb(&attempt, &[], RungName::SameElsewhere)
            .await
            .unwrap();
        let mut answers = result.answers.iter();
        let told = answers.any(|answer| answer.contains("values: sum (parse.c) returns 203"));
        assert_eq!(told, holds.is_some(), "{result:#?}");
        assert_eq!(result.holds, holds, "{head} {add}: {result:#?}");
    }
}

/// Counts the lines of a text, and looks at the byte behind a carriage return, which may
/// be the one behind the text.
const LINES: &str = "#include <stdio.h>\n#include <stdlib.h>\nint lines(const unsigned char *b, long n) {\n  int count = 0;\n  for (long i = 0; i < n; i++) {\n    if (b[i] == '\\r' && b[i + 1] != '\\n') count++;\n    else if (b[i] == '\\n') count++;\n  }\n  printf(\"%d lines\\n\", count);\n  return 0;\n}\nint main(int n, char **v) {\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f) return 2;\n  unsigned char all[256];\n  long size = fread(all, 1, 256, f);\n  unsigned char *b = malloc(size);\n  for (long i = 0; i < size; i++) b[i] = all[i];\n  int bad = lines(b, size);\n  free(b);\n  return bad ? 1 : 0;\n}\n";

#[tokio::test]
async fn what_the_unpatched_program_says_past_its_fault_is_no_reference() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.same = Duration::from_secs(30);
    one_file(&task, LINES);
    task.povs[0].file = folder.path().join("pov.txt");
    fs::write(&task.povs[0].file, "first\r\nsecond\r").unwrap();
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    for fix in [
        "(i + 1 == n || b[i + 1] != '\\n')",
        "i + 1 < n && b[i + 1] != '\\n'",
    ] {
        let attempt = attempt_with(LINES.replace("b[i + 1] != '\\n'", fix), (6, 6));
        let result = Ladder::new(&target, &baseline)
            .climb(&attempt, &[], RungName::SameElsewhere)
            .await
            .unwrap();
        assert!(result.answers[0].starts_with("the PoV: "), "{result:#?}");
        assert!(result.answers.len() <= 3, "{result:#?}");
        let mut asked = result.doubts.iter();
        let asked: Vec<_> = asked
            .by_ref()
            .filter(|doubt| doubt.what.contains("what a correct program says"))
            .collect();
        let [question] = asked.as_slice() else {
            panic!("one question for all such inputs: {result:#?}");
        };
        assert!(!question.is_open(), "{fix}: {result:#?}");
        assert_eq!(result.holds, Some(true), "{fix}: {result:#?}");
    }
}

#[tokio::test]
async fn a_broken_input_that_is_accepted_while_those_near_it_are_refused_is_a_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.same = Duration::from_secs(30);
    let strict = FILLED.replace(
        "n < 3 || b[0] != 'R'",
        "n != 4 || b[0] != 'R' || b[3] != '!'",
    );
    one_file(&task, &strict);
    task.povs[0].file = folder.path().join("pov.dat");
    fs::write(&task.povs[0].file, [b'R', 7, 31, b'!']).unwrap();
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    for (answer, open) in [("-1", false), ("0", true)] {
        let guard = format!("  if (b[1] == 7 && (b[2] & 31) > 24) return {answer};\n  if (b[1]");
        let text = strict.replace("  if (b[1]", &guard);
        let result = Ladder::new(&target, &baseline)
            .climb(&attempt_with(text, (6, 6)), &[], RungName::SameElsewhere)
            .await
            .unwrap();
        let mut doubts = result.doubts.iter().filter(|doubt| doubt.is_open());
        let accepted = doubts.any(|doubt| doubt.what.starts_with("the PoV: accepted now"));
        assert_eq!(accepted, open, "{answer}: {result:#?}");
    }
}

/// Fills as many bytes as the number says, of 64 that there are.
const COUNTED: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint main(int n, char **v) {\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f) return 2;\n  int count = 0;\n  if (fscanf(f, \"n=%d\", &count) != 1 || count < 0) return 3;\n  char *b = malloc(64);\n  memset(b, 7, count);\n  printf(\"%d\\n\", b[0]);\n  free(b);\n  return 0;\n}\n";

#[tokio::test]
async fn a_number_that_is_refused_while_others_are_accepted_is_a_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.same = Duration::from_secs(30);
    one_file(&task, COUNTED);
    task.povs[0].file = folder.path().join("pov.txt");
    fs::write(&task.povs[0].file, "n=70\n").unwrap();
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    for (answer, open) in [(3, true), (0, false)] {
        let guard = format!("  if (count > 64) return {answer};\n  char *b");
        let text = COUNTED.replace("  char *b", &guard);
        let result = Ladder::new(&target, &baseline)
            .climb(&attempt_with(text, (9, 9)), &[], RungName::SameElsewhere)
            .await
            .unwrap();
        let mut doubts = result.doubts.iter().filter(|doubt| doubt.is_open());
        let stands_out = doubts.any(|doubt| {
            doubt.what.starts_with("the PoV: ") && doubt.what.contains("in numbers alone")
        });
        assert_eq!(stands_out, open, "{answer}: {result:#?}");
    }
}

/// Reads a number of two bytes from each record of the type 7, and passes over others.
const TYPED: &str = "#include <stdio.h>\n#include <stdlib.h>\nint record(const unsigned char *b, long n) {\n  if (n < 2 || b[0] != 'R') return -1;\n  if (b[1] != 7) return 0;\n  printf(\"%d\\n\", b[2] << 8 | b[3]);\n  return 0;\n}\nint main(int n, char **v) {\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f) return 2;\n  unsigned char all[256];\n  long size = fread(all, 1, 256, f);\n  unsigned char *b = malloc(size);\n  for (long i = 0; i < size; i++) b[i] = all[i];\n  int bad = record(b, size);\n  free(b);\n  return bad ? 1 : 0;\n}\n";

#[tokio::test]
async fn a_derived_input_that_is_refused_as_the_pov_is_no_doubt() {
    for (floor, holds) in [(3, Some(true)), (1000, None)] {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        task.limits.same = Duration::from_secs(20);
        task.limits.reached = floor;
        one_file(&task, TYPED);
        task.povs[0].file = folder.path().join("pov.dat");
        fs::write(&task.povs[0].file, [b'R', 7]).unwrap();
        for number in 0..6 {
            let file = folder.path().join(format!("{number}.bin"));
            fs::write(&file, [b'R', 7, 0, number, 1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
            task.harmless.push(file);
        }
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        // Refuses short records of other types as well, which were passed over.
        let fix = TYPED.replace("  if (b[1]", "  if (n < 4) return -1;\n  if (b[1]");
        let result = Ladder::new(&target, &baseline)
            .climb(&attempt_with(fix, (5, 5)), &[], RungName::SameElsewhere)
            .await
            .unwrap();
        assert_eq!(result.holds, holds, "{floor}: {result:#?}");
        let derived = result.doubts.iter().filter(|doubt| {
            let of_pov = doubt.what.starts_with("mutant ") && doubt.what.contains("of a PoV");
            of_pov
                && doubt
                    .what
                    .contains("exit status 0 became exit status 1 (derived)")
        });
        let why: Vec<_> = derived.map(|doubt| doubt.settled.clone()).collect();
        assert!(!why.is_empty(), "{floor}: {result:#?}");
        let settled = |why: &Option<String>| {
            why.as_ref()
                .is_some_and(|why| why.contains("on which it refuses the PoV"))
        };
        assert_eq!(
            why.iter().any(settled),
            holds.is_some(),
            "{floor}: {result:#?}"
        );
    }
}

/// Fills as much of a table as a record of the type 7 says, and past its end from 25 on.
const FILLED: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint record(const unsigned char *b, long n) {\n  if (n < 3 || b[0] != 'R') return -1;\n  if (b[1] != 7) return 0;\n  char *table = malloc(24);\n  memset(table, 1, b[2] & 31);\n  printf(\"%d of %d\\n\", b[2], table[0]);\n  free(table);\n  return 0;\n}\nint main(int n, char **v) {\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f) return 2;\n  unsigned char b[64] = {0};\n  return record(b, fread(b, 1, 64, f)) ? 1 : 0;\n}\n";

#[tokio::test]
async fn a_guard_against_a_write_that_refuses_too_much_is_a_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.same = Duration::from_mins(1);
    one_file(&task, FILLED);
    // No other file is called like it: all inputs are its mutants.
    task.povs[0].file = folder.path().join("pov.dat");
    fs::write(&task.povs[0].file, [b'R', 7, 31]).unwrap();
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    for (bound, holds) in [(24, Some(true)), (8, None)] {
        let guard = format!("  if (b[1] == 7 && (b[2] & 31) > {bound}) return -1;\n  if (b[1]");
        let text = FILLED.replace("  if (b[1]", &guard);
        let result = Ladder::new(&target, &baseline)
            .climb(&attempt_with(text, (6, 6)), &[], RungName::SameElsewhere)
            .await
            .unwrap();
        assert_eq!(result.holds, holds, "{bound}: {result:#?}");
        let open = result.doubts.iter().filter(|doubt| doubt.is_open());
        let inputs: Vec<_> = open.filter_map(|doubt| doubt.input.as_ref()).collect();
        assert_eq!(inputs.is_empty(), holds.is_some(), "{bound}: {result:#?}");
        for input in inputs {
            assert!(
                (9..25).contains(&(input.blob.bytes()[2] & 31)),
                "{input:#?}"
            );
        }
    }
}

/// Counts the brackets that a text opens, one call deeper for each.
const NESTED: &str = "#include <stdio.h>\n#include <stdlib.h>\nstatic char text[1 << 18];\nint depth(int at) {\n  volatile char room[2000];\n  room[at % 2000] = 1;\n  return text[at] == '(' ? depth(at + 1) + room[at % 2000] : 0;\n}\nint main(int n, char **v) {\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f)\n    return 2;\n  fread(text, 1, sizeof text - 1, f);\n  printf(\"depth %d\\n\", depth(0));\n  return 0;\n}\n";

#[tokio::test]
async fn a_given_input_beyond_the_bound_of_a_recursion_is_a_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.same = Duration::from_secs(8);
    one_file(&task, NESTED);
    task.povs[0].file = folder.path().join("pov.txt");
    for (name, depth) in [("pov.txt", 20_000), ("flat.txt", 3), ("deep.txt", 300)] {
        let file = folder.path().join(name);
        fs::write(&file, "(".repeat(depth)).unwrap();
        task.harmless.extend((name != "pov.txt").then_some(file));
    }
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let bound = "  if (at > 200) exit(printf(\"too deep: %d\\n\", at) > 0);\n  volatile";
    for (count, holds, open) in [("+ room", None, true), ("+ 2 * room", Some(false), false)] {
        let text = NESTED.replace("  volatile", bound).replace("+ room", count);
        let result = Ladder::new(&target, &baseline)
            .climb(&attempt_with(text, (5, 5)), &[], RungName::SameElsewhere)
            .await
            .unwrap();
        assert_eq!(result.holds, holds, "{count}: {result:#?}");
        let mut doubts = result.doubts.iter().filter(|doubt| doubt.is_open());
        let told = doubts
            .any(|doubt| doubt.what.contains("deep.txt") && doubt.what.contains("bound too low"));
        assert_eq!(told, open, "{count}: {result:#?}");
    }
}
