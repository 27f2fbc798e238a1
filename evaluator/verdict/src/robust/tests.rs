//! Mutations against a patch that holds and against one that does not.

use crate::attempt::AttemptFacts;
use crate::evidence::RungName;
use crate::ladder::Ladder;
use crate::tests::attempt;
use patchwright_target::LocalTarget;
use patchwright_target::runner::Target;
use patchwright_target::test_support::{change, open, task};
use std::fs;
use std::path::Path;
use std::time::Duration;

#[tokio::test]
async fn a_fix_of_one_value_is_refuted_and_a_fix_of_the_cause_holds() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.robust = Duration::from_secs(6);
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    for (fix, holds) in [
        ("if (n < 2 || b[0] == 200)", false),
        ("if (n < 2 || b[0] > 100)", false),
        ("if (n < 2 || b[0] > 8)", true),
    ] {
        let attempt = attempt("if (n < 2)", fix);
        let result = Ladder::new(&target, &baseline)
            .climb(&attempt, &[], RungName::Robust)
            .await
            .unwrap();
        assert_eq!(result.holds, Some(holds), "{fix}: {result:#?}");
        assert!(result.counts["executions"] > 0, "{result:#?}");
        assert_eq!(result.found.len(), usize::from(!holds));
        let kind = result.crash.as_ref().map(|crash| crash.kind.as_str());
        assert_eq!(kind, (!holds).then_some("heap-buffer-overflow"));
        if let Some(found) = result.found.first() {
            assert!(found.blob.bytes()[0] > 8 && found.reason.contains("same crash"));
            assert!(result.feedback.unwrap().contains("The input: ("));
        }
    }
}

/// A fuzzer that tells of many executions, and that only a run on a PoV brings to the code under test.
const BUSY: &str = "#include <stdio.h>\n#include <string.h>\nint parse(const unsigned char *, long);\nint main(int n, char **v) {\n  unsigned char b[64];\n  fputs(\"INFO: Seed: 1\\n\", stderr);\n  if (v[1][0] == '-') { puts(strstr(v[1], \"-runs=0\") ? \"max_total_time\" : \"stat::number_of_executed_units: 100000\"); return 0; }\n  for (int at = 1; at < n; at++) { FILE *f = fopen(v[at], \"rb\"); if (!f) return 2; parse(b, fread(b, 1, 64, f)); fclose(f); }\n  return 0;\n}\n";

#[tokio::test]
async fn mutants_are_run_however_many_inputs_a_fuzzer_ran() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.robust = Duration::from_secs(6);
    fs::write(task.tree.join("main.c"), BUSY).unwrap();
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let attempt = attempt("if (n < 2)", "if (n < 2 || b[0] == 200)");
    let ladder = Ladder::new(&target, &baseline);
    let result = ladder.climb(&attempt, &[], RungName::Robust).await.unwrap();
    assert_eq!(result.holds, Some(false), "{result:#?}");
    assert!(result.counts["executions"] > 100_000, "{result:#?}");
}

/// Opens a program of which the PoV says one word, and a harmless input the other.
async fn of_two_words(folder: &Path, program: &str) -> LocalTarget {
    let mut task = task(folder);
    task.limits.robust = Duration::from_secs(10);
    fs::write(task.tree.join("parse.c"), program).unwrap();
    fs::write(folder.join("pov.bin"), "first 40").unwrap();
    let harmless = folder.join("harmless.bin");
    fs::write(&harmless, "other 3").unwrap();
    task.harmless.push(harmless);
    open(task, folder).await
}

fn rewriting(text: String) -> AttemptFacts {
    AttemptFacts {
        changes: change("parse.c", text),
        ..AttemptFacts::default()
    }
}

/// Two words lead to the same place; the PoV says one of them.
const CELLS: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint parse(const unsigned char *b, long n) {\n  char text[65] = {0};\n  memcpy(text, b, n);\n  char *cells = calloc(8, 1);\n  int at, r = -1;\n  if (sscanf(text, \"first %d\", &at) == 1) r = cells[at];\n  if (sscanf(text, \"other %d\", &at) == 1) r = cells[at];\n  free(cells);\n  return r;\n}\n";

#[tokio::test]
async fn a_fix_of_one_of_two_ways_is_refuted() {
    let folder = tempfile::tempdir().unwrap();
    let target = of_two_words(folder.path(), CELLS).await;
    let baseline = target.baseline().await.unwrap();
    let guard = "== 1 && at >= 0 && at < 8) r";
    let first = CELLS.replacen("== 1) r", guard, 1);
    for (text, holds) in [(first, false), (CELLS.replace("== 1) r", guard), true)] {
        let attempt = rewriting(text);
        let result = Ladder::new(&target, &baseline)
            .climb(&attempt, &[], RungName::Robust)
            .await
            .unwrap();
        assert_eq!(result.holds, Some(holds), "{result:#?}");
        let found: Vec<_> = result
            .found
            .iter()
            .map(|found| found.blob.bytes())
            .collect();
        assert_eq!(found.is_empty(), holds);
        assert!(found.iter().all(|bytes| *bytes == b"other 40"));
    }
}

/// The two words lead to functions of their own, of which each has its bug.
const TWO_BUGS: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#define CELL(name) __attribute__((noinline)) static int name(int at) { char *cells = calloc(8, 1); int r = cells[at]; free(cells); return r; }\nCELL(first)\nCELL(other)\nint parse(const unsigned char *b, long n) {\n  char text[65] = {0};\n  memcpy(text, b, n);\n  int at, r = -1;\n  if (sscanf(text, \"first %d\", &at) == 1) r = first(at);\n  if (sscanf(text, \"other %d\", &at) == 1) r = other(at);\n  return r;\n}\n";

#[tokio::test]
async fn a_crash_that_the_unpatched_program_has_at_another_place_is_told_and_refutes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let target = of_two_words(folder.path(), TWO_BUGS).await;
    let baseline = target.baseline().await.unwrap();
    let fix = TWO_BUGS.replace("== 1) r = first", "== 1 && at >= 0 && at < 8) r = first");
    let attempt = rewriting(fix);
    let result = Ladder::new(&target, &baseline)
        .climb(&attempt, &[], RungName::Robust)
        .await
        .unwrap();
    assert_eq!(result.holds, Some(true), "{result:#?}");
    assert!(result.found.is_empty());
    let [doubt] = result.doubts.as_slice() else {
        panic!("another crash: {result:#?}");
    };
    assert!(!doubt.is_open() && doubt.what.contains("in other"));
    assert_eq!(doubt.input.as_ref().unwrap().blob.bytes(), b"other 40");
}
