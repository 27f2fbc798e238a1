//! Crashes told apart, proof of having run, flaky PoVs and PoVs with sanitizers
//! of their own, by a small C program.

use crate::attempt::AttemptFacts;
use crate::evidence::{Rung, RungName};
use crate::tests::attempt;
use patchwright_source::Changes;
use patchwright_source::TreePath;
use patchwright_target::LocalTarget;
use patchwright_target::runner::{Pov, Target};
use patchwright_target::test_support::{PARSE, lines, open, task};
use std::collections::BTreeMap;
use std::fs;

async fn climb(target: &LocalTarget, attempt: &AttemptFacts) -> Rung {
    let baseline = target.baseline().await.unwrap();
    let result = super::climb((target, &baseline, attempt));
    let result = result.await.unwrap();
    assert_eq!(result.name, RungName::Silent);
    result
}

/// An attempt that writes a file anew.
fn written(path: &str, text: String) -> AttemptFacts {
    let files = [(TreePath::new(path).unwrap(), text.into_bytes())].into();
    let changes = Changes {
        files,
        ..Changes::default()
    };
    AttemptFacts {
        changes,
        ..AttemptFacts::default()
    }
}

#[tokio::test]
async fn the_same_crash_one_that_moved_and_a_new_one_are_told_apart() {
    const HEAD: &str = "int parse(const unsigned char *b, long n) {\n  if (n < 2) return -1;\n";
    let folder = tempfile::tempdir().unwrap();
    let target = open(task(folder.path()), folder.path()).await;
    for (before, first, expected) in [
        (
            "",
            "if (n < 1) return -1;",
            "it is the same crash as before",
        ),
        (
            "static void fill(char *p, int k) { p[k] = 1; }\n",
            "if (b[0] > 8) { char *q = malloc(4); fill(q, b[0]); return 0; }",
            "the crash has moved",
        ),
        (
            "static void late(void) { volatile char *q = malloc(4); free((void *)q); q[1] = 1; }\n",
            "if (b[0] > 8) { atexit(late); return 0; }",
            "it is a new crash",
        ),
    ] {
        let head = HEAD.replace("if (n < 2) return -1;", first);
        let result = climb(&target, &attempt(HEAD, &format!("{before}{head}"))).await;
        assert_eq!(result.holds, Some(false), "{first}");
        assert!(
            result.reason.contains(expected),
            "{first}: {}",
            result.reason
        );
    }
}

#[tokio::test]
async fn a_pov_that_no_longer_shows_that_it_ran_is_not_silent() {
    for (ran, expected) in [
        (None, "the line \"Running: \" that showed it is missing"),
        (Some("^Running: [0-9]"), "it never printed what shows"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        let main = fs::read_to_string(task.tree.join("main.c")).unwrap();
        let main = main.replace("  return parse", "  fflush(stdout);\n  return parse");
        fs::write(task.tree.join("main.c"), &main).unwrap();
        task.povs[0].ran = ran.map(str::to_owned);
        let target = open(task, folder.path()).await;
        let leaves = main.replace("if (!f) return 2;", "if (f) return 0;");
        let result = climb(&target, &written("main.c", leaves)).await;
        assert_eq!(result.holds, Some(false), "{ran:?}");
        assert!(
            result.reason.contains("not really run"),
            "{}",
            result.reason
        );
        assert!(result.reason.contains(expected), "{}", result.reason);
    }
}

/// The command crashes every second time: two of five runs of the unpatched program.
#[tokio::test]
async fn a_flaky_pov_is_repeated_until_luck_is_no_explanation() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.commands.pov =
        Some(r#"read n <"$TASK"/turns; [ $n = 1 ] || exit 0; "$OUT"/prog "$POV""#.to_owned());
    let _turns = lines(folder.path(), "turns", &"0\n1\n".repeat(99));
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    assert_eq!((baseline.povs[0].crashes, baseline.povs[0].runs), (2, 5));
    for (to, holds, runs) in [
        ("if (n < 2 || b[0] > 8)", true, 10..=10),
        ("if (n < 1)", false, 1..=2),
    ] {
        let result = climb(&target, &attempt("if (n < 2)", to)).await;
        assert_eq!(result.holds, Some(holds), "{to}: {}", result.reason);
        assert!(runs.contains(&result.counts["runs"]), "{to}: {result:#?}");
    }
}

#[tokio::test]
async fn each_pov_runs_under_the_sanitizer_of_its_own() {
    const BOTH: (&str, &str) = (
        "int r = p[0];",
        "int r = p[0], big = 2147483647;\n  if (n == 3) r = big + b[2];",
    );
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    let parse = PARSE.replace(BOTH.0, BOTH.1);
    fs::write(task.tree.join("parse.c"), &parse).unwrap();
    let flags = "-fsanitize=undefined -fno-sanitize-recover=all -g".to_owned();
    let build = BTreeMap::from([("CFLAGS".to_owned(), flags)]);
    task.builds.insert("undefined".to_owned(), build);
    task.povs[0].build = Some("address".to_owned());
    fs::write(folder.path().join("sum.bin"), [3, 0, 9]).unwrap();
    task.povs.push(Pov {
        file: folder.path().join("sum.bin"),
        build: Some("undefined".to_owned()),
        ..task.povs[0].clone()
    });
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let tools = baseline.povs.iter().map(|pov| {
        let crash = pov.replay.crash.as_ref().unwrap();
        crash.tool.to_string()
    });
    let tools: Vec<_> = tools.collect();
    assert_eq!(tools, ["AddressSanitizer", "UndefinedBehaviorSanitizer"]);
    let one = parse.replace("if (n < 2)", "if (n < 2 || b[0] > 8)");
    let result = climb(&target, &written("parse.c", one.clone())).await;
    assert_eq!(result.holds, Some(false), "{}", result.reason);
    assert!(
        result.reason.starts_with("sum.bin still crashes"),
        "{}",
        result.reason
    );
    let both = one.replace("r = big + b[2]", "r = big");
    let result = climb(&target, &written("parse.c", both)).await;
    assert_eq!(result.holds, Some(true), "{}", result.reason);
    assert_eq!((result.counts["povs"], result.counts["runs"]), (2, 2));
}

/// Sleeps beyond the time limit, the first time that it is run and never again.
const SLOW_ONCE: &str = "#include <fcntl.h>\n#include <unistd.h>\nstatic void slow_once(void) {\n  char c;\n  if (read(open(getenv(\"TURNS\"), O_RDONLY | O_NONBLOCK), &c, 1) == 1) sleep(30);\n}\nint parse(";

#[tokio::test]
async fn a_time_limit_of_the_patched_program_alone_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.commands.pov = Some(r#"TURNS="$TASK"/turns "$OUT"/prog "$POV""#.to_owned());
    let _turns = lines(folder.path(), "turns", "x");
    let target = open(task, folder.path()).await;
    for (late, holds) in [("slow_once();", true), ("for (;;) sleep(1);", false)] {
        let text = PARSE.replace("int parse(", SLOW_ONCE);
        let fix = format!("{late} if (n < 2 || b[0] > 8)");
        let text = text.replace("if (n < 2)", &fix);
        let result = climb(&target, &written("parse.c", text)).await;
        assert_eq!(result.holds, Some(holds), "{late}: {result:#?}");
    }
}
