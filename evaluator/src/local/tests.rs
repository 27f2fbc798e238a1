//! A tiny C program, really built, crashed, repaired and tested in a sandbox.

use super::LocalTarget;
use crate::attempt::AttemptFacts;
use crate::evidence::{RungName, RungResult};
use crate::ladder::Ladder;
use crate::runner::{Commands, Outcome, Pov, Target, TargetTask};
use crate::sandbox::IsolationChoice;
use crate::sandbox::test_host::host;
use crate::verdict_cache::VerdictCache;
use crate::{Changes, TargetError};
use patchwright_source::{Language, Touched, TreePath};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const MAKEFILE: &str = "$(OUT)/prog: $(OUT)/main.o $(OUT)/parse.o\n\t$(CC) $(CFLAGS) $^ -o $@\n$(OUT)/%.o: %.c\n\techo built $< >>$(OUT)/what\n\t$(CC) $(CFLAGS) -c $< -o $@\n";
const MAIN: &str = "#include <stdio.h>\nint parse(const unsigned char *, long);\nint main(int n, char **v) {\n  unsigned char b[64];\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f) return 2;\n  long k = fread(b, 1, 64, f);\n  printf(\"Running: %ld\\n\", k);\n  return parse(b, k) < 0;\n}\n";
pub(crate) const PARSE: &str = "#include <stdlib.h>\n#include <string.h>\nint parse(const unsigned char *b, long n) {\n  if (n < 2) return -1;\n  char *p = malloc(8);\n  memset(p, 1, b[0]);\n  int r = p[0];\n  free(p);\n  return r;\n}\n";
const FIX: (&str, &str) = ("if (n < 2)", "if (n < 2 || b[0] > 8)");

pub(crate) fn task(folder: &Path) -> TargetTask {
    let tree = folder.join("tree");
    fs::create_dir_all(&tree).unwrap();
    for (name, text) in [("Makefile", MAKEFILE), ("main.c", MAIN), ("parse.c", PARSE)] {
        fs::write(tree.join(name), text).unwrap();
    }
    fs::write(folder.join("pov.bin"), [200, 0]).unwrap();
    fs::write(folder.join("good.bin"), [3, 0]).unwrap();
    let flags = "-fsanitize=address -g -O1".to_owned();
    TargetTask {
        tree,
        task_folder: folder.to_path_buf(),
        language: Language::C,
        commands: Commands {
            prepare: None,
            build: r#"make -s CFLAGS="$CFLAGS" OUT="$OUT""#.to_owned(),
            pov: Some(r#""$OUT"/prog "$POV""#.to_owned()),
            test: Some(r#""$OUT"/prog "$TASK"/good.bin"#.to_owned()),
            reports: Vec::new(),
        },
        builds: BTreeMap::from([(
            "address".to_owned(),
            BTreeMap::from([("CFLAGS".to_owned(), flags)]),
        )]),
        povs: vec![Pov {
            file: folder.join("pov.bin"),
            timeout: Some(std::time::Duration::from_secs(4)),
            ..Pov::default()
        }],
        ..TargetTask::default()
    }
}

/// Takes the first line of a text; a text of one line crashes it.
pub(crate) const LINES: &str = "package p;
public class Lines {
    public static String first(String text, boolean upper) {
        int end = text.indexOf('\\n');
        String line = text.substring(0, end);
        return upper ? line.toUpperCase() : line;
    }
}
";
/// Its harness, and tests that look at nothing.
const JAVA: [(&str, &str); 2] = [
    (
        "Harness.java",
        "import java.nio.file.*;
public class Harness {
    public static void main(String[] a) throws Exception {
        p.Lines.first(new String(Files.readAllBytes(Paths.get(a[0]))), false);
    }
}
",
    ),
    (
        "Tests.java",
        "public class Tests {
    public static void main(String[] a) {
        for (String text : new String[] {\"a\\nb\", \"one\\ntwo\", \"three\\n\\n\"}) {
            p.Lines.first(text, false);
            p.Lines.first(text, true);
        }
        System.out.println(\"1..1\\nok 1 - lines\");
    }
}
",
    ),
];

/// A tiny Java program.
pub(crate) fn java_task(folder: &Path) -> TargetTask {
    let tree = folder.join("tree");
    fs::create_dir_all(tree.join("p")).unwrap();
    for (name, text) in JAVA.into_iter().chain([("p/Lines.java", LINES)]) {
        fs::write(tree.join(name), text).unwrap();
    }
    fs::write(folder.join("pov"), "of one line").unwrap();
    let run = |class: &str| format!("java -cp \"$OUT/classes:$OUT/tests\" {class}");
    TargetTask {
        tree,
        task_folder: folder.to_path_buf(),
        language: Language::Java,
        commands: Commands {
            build: "javac -g -d \"$OUT/classes\" p/Lines.java\njavac -cp \"$OUT/classes\" -d \"$OUT/tests\" Harness.java Tests.java".to_owned(),
            pov: Some(run("Harness \"$POV\"")),
            test: Some(run("Tests")),
            ..Commands::default()
        },
        povs: vec![Pov {
            file: folder.join("pov"),
            ..Pov::default()
        }],
        ..TargetTask::default()
    }
}

/// An attempt that replaces text of the Java program, and touches these lines.
pub(crate) fn java_attempt(from: &str, to: &str, lines: (u32, u32)) -> AttemptFacts {
    let path = TreePath::new("p/Lines.java").unwrap();
    let text = LINES.replace(from, to);
    assert_ne!(text, LINES);
    AttemptFacts {
        changes: Changes {
            files: [(path.clone(), text.into_bytes())].into(),
            ..Changes::default()
        },
        touched: vec![Touched {
            path,
            old: vec![lines],
            new: vec![lines],
        }],
        ..AttemptFacts::default()
    }
}

pub(crate) async fn open(task: TargetTask, folder: &Path) -> LocalTarget {
    let scratch = folder.join("scratch");
    LocalTarget::open(task, IsolationChoice::Bubblewrap, host(), &scratch)
        .await
        .unwrap()
}

pub(crate) fn attempt(from: &str, to: &str) -> AttemptFacts {
    let text = PARSE.replace(from, to);
    let changes = Changes {
        files: [(TreePath::new("parse.c").unwrap(), text.into_bytes())].into(),
        ..Changes::default()
    };
    AttemptFacts {
        changes,
        ..AttemptFacts::default()
    }
}

pub(super) async fn climb_to_tested(
    target: &LocalTarget,
    attempt: &AttemptFacts,
) -> Vec<RungResult> {
    climb_recalling(target, None, attempt).await
}

/// Climbs with verdicts of earlier climbs.
pub(crate) async fn climb_recalling(
    target: &LocalTarget,
    verdicts: Option<&VerdictCache>,
    attempt: &AttemptFacts,
) -> Vec<RungResult> {
    let baseline = target.baseline().await.unwrap();
    let mut climbed = Vec::new();
    for rung in RungName::ALL.into_iter().take(5) {
        let ladder = Ladder::new(target, &baseline).with_verdicts(verdicts);
        let result = ladder.climb(attempt, &climbed, rung).await.unwrap();
        let stop = result.holds == Some(false);
        climbed.push(result);
        if stop {
            break;
        }
    }
    climbed
}

#[tokio::test]
async fn a_right_patch_climbs_and_builds_only_what_changed() {
    let folder = tempfile::tempdir().unwrap();
    let target = open(task(folder.path()), folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    assert_eq!(baseline.povs[0].replay.outcome, Outcome::Crashed);
    let fix = attempt(FIX.0, FIX.1);
    let climbed = climb_to_tested(&target, &fix).await;
    let holds: Vec<_> = climbed.iter().map(|rung| rung.holds).collect();
    assert_eq!(holds, [Some(true); 5], "{climbed:#?}");
    let build = target
        .build(&fix.changes, "address", crate::BuildKind::Incremental)
        .await
        .unwrap();
    let what = fs::read_to_string(build.place().unwrap().part("out").join("what")).unwrap();
    assert_eq!(what, "built main.c\nbuilt parse.c\nbuilt parse.c\n");
    let confirmed = crate::confirm(&target, &baseline, &fix).await.unwrap();
    assert_eq!(
        (confirmed.name, confirmed.holds),
        (RungName::Tested, Some(true))
    );
    drop((build, baseline));
    let scratch = folder.path().join("scratch");
    drop(target);
    assert_eq!(
        fs::read_dir(scratch).unwrap().count(),
        0,
        "something was left behind"
    );
}

/// The build says nowhere how often it ran, so a clean one gives the same files: then the
/// tests, which leave a mark, are not run again.
#[tokio::test]
async fn tests_are_run_again_on_a_clean_build_only_where_it_gives_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    let makefile = MAKEFILE.replace("\techo built $< >>$(OUT)/what\n", "");
    fs::write(task.tree.join("Makefile"), &makefile).unwrap();
    let target = open(task.clone(), folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let fix = attempt(FIX.0, FIX.1);
    climb_to_tested(&target, &fix).await;
    let same = crate::confirm(&target, &baseline, &fix).await.unwrap();
    assert_eq!((same.name, same.holds), (RungName::Builds, Some(true)));
    drop((baseline, target));

    // The header is no prerequisite of any rule: the first build stays stale.
    let (old, new) = (
        "#include <stdlib.h>",
        "#include \"limit.h\"\n#include <stdlib.h>",
    );
    fs::write(task.tree.join("parse.c"), PARSE.replace(old, new)).unwrap();
    fs::write(task.tree.join("limit.h"), "#define LIMIT 255\n").unwrap();
    let text = PARSE
        .replace(old, new)
        .replace(FIX.0, "if (n < 2 || b[0] > LIMIT)");
    fs::write(task.tree.join("parse.c"), text).unwrap();
    task.task_folder = folder.path().join("task");
    fs::create_dir(&task.task_folder).unwrap();
    fs::write(task.task_folder.join("good.bin"), [3, 0]).unwrap();
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let mut fix = attempt("", "");
    let path = TreePath::new("limit.h").unwrap();
    fix.changes.files = [(path, b"#define LIMIT 2\n".to_vec())].into();
    let clean = crate::confirm(&target, &baseline, &fix).await.unwrap();
    assert_eq!((clean.name, clean.holds), (RungName::Tested, Some(false)));
}

#[tokio::test]
async fn each_wrong_patch_stops_at_its_rung() {
    let folder = tempfile::tempdir().unwrap();
    let target = open(task(folder.path()), folder.path()).await;
    for (to, rung, reason) in [
        (
            "if (n < 2 || c > 8)",
            RungName::Builds,
            "the build \"address\" failed",
        ),
        (
            "if (n < 1)",
            RungName::Silent,
            "still crashes: it is the same crash",
        ),
        ("while (b[0] > 8) {} if (n < 2)", RungName::Silent, "hangs"),
        (
            "if (b[0] > 8) exit(127); if (n < 2)",
            RungName::Silent,
            "not really run",
        ),
        ("if (n < 3)", RungName::Tested, "the test command fails"),
    ] {
        let climbed = climb_to_tested(&target, &attempt(FIX.0, to)).await;
        let last = climbed.last().unwrap();
        assert_eq!(
            (last.name, last.holds),
            (rung, Some(false)),
            "{to}: {last:#?}"
        );
        assert!(last.reason.contains(reason), "{to}: {}", last.reason);
        assert!(last.feedback.is_some());
        // A hang comes with the stack of the program at work.
        let crashed = ["still crashes", "hangs"]
            .iter()
            .any(|word| reason.contains(word));
        assert_eq!(last.crash.is_some(), crashed, "{to}: {last:#?}");
    }
}

#[tokio::test]
async fn a_task_that_cannot_be_judged_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let mut broken = task(folder.path());
    broken.commands.build = "echo no rule; exit 2".to_owned();
    let error = open(broken, folder.path())
        .await
        .baseline()
        .await
        .unwrap_err();
    let TargetError::InvalidTask { reason, log } = error else {
        panic!("{error}");
    };
    assert!(reason.contains("exit status 2") && log.contains("no rule"));

    let mut tame = task(folder.path());
    fs::write(folder.path().join("pov.bin"), [1, 0]).unwrap();
    tame.commands.pov = Some(
        r#"echo "==1==ERROR: AddressSanitizer: heap-buffer-overflow on"; "$OUT"/prog "$POV""#
            .to_owned(),
    );
    let error = open(tame, folder.path())
        .await
        .baseline()
        .await
        .unwrap_err();
    assert!(
        matches!(error, TargetError::NotReproducible { .. }),
        "{error}"
    );

    for (path, fine) in [
        ("/src/prog", true),
        ("/usr/x", false),
        ("src", false),
        ("/a/../etc", false),
        ("/", false),
    ] {
        let mut seen = task(folder.path());
        seen.seen_as = Some(path.to_owned());
        let scratch = folder.path().join("scratch");
        let opened = LocalTarget::open(seen, IsolationChoice::Bubblewrap, host(), &scratch).await;
        assert_eq!(opened.is_ok(), fine, "{path}");
    }
}

#[tokio::test]
async fn commands_see_the_same_paths_and_no_foreign_variables() {
    let folder = tempfile::tempdir().unwrap();
    let mut other = task(folder.path());
    other.seen_as = Some("/src/prog".to_owned());
    other.commands.prepare = Some("echo ready >\"$HOME\"/prepared".to_owned());
    other.commands.test = Some("cat \"$HOME\"/prepared; pwd; env | sort".to_owned());
    let target = open(other, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let text = baseline.tests.as_ref().unwrap().execution.text();
    let expected = "ready\n/src/prog\nCFLAGS=-fsanitize=address -g -O1\nHARNESS=\nHOME=/patchwright/home\nJOBS=2\nLANG=C.UTF-8\nOUT=/patchwright/out\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nPWD=/src/prog\nSANITIZER=address\nTASK=/patchwright/task\nTREE=/src/prog\nUBSAN_OPTIONS=print_stacktrace=1\nWORK=/patchwright/work\n";
    assert_eq!(text, expected);
}

#[tokio::test]
async fn a_build_with_bad_manners_is_built_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut rude = task(folder.path());
    let mark = format!("27{}.5", std::process::id());
    let manners = format!("cat; head -c 400 /dev/urandom; setsid sleep {mark} & ");
    rude.commands.build.insert_str(0, &manners);
    let target = open(rude, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    assert!(baseline.builds["address"].succeeded());
    let left = fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&mark))
    });
    assert!(!left, "a process was left behind");
}

#[tokio::test]
async fn a_build_that_the_system_kills_is_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let mut killed = task(folder.path());
    killed.commands.build =
        "echo 'gcc: fatal error: Killed signal terminated program cc1'; exit 1".to_owned();
    let error = open(killed, folder.path())
        .await
        .baseline()
        .await
        .unwrap_err();
    assert!(
        matches!(error, TargetError::Infrastructure { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn what_is_forged_is_not_believed() {
    let report = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000011 at pc 0x1 bp 0x2 sp 0x3\nREAD of size 1 at 0x602000000011 thread T0\n    #0 0x401 in parse /patchwright/tree/parse.c:3:5\nSUMMARY: AddressSanitizer: heap-buffer-overflow";
    let folder = tempfile::tempdir().unwrap();
    let mut forged = task(folder.path());
    forged.commands.pov = Some(format!("echo '{report}'; echo ok"));
    let target = open(forged, folder.path()).await;
    let error = target.baseline().await.unwrap_err();
    assert!(
        matches!(error, TargetError::NotReproducible { .. }),
        "a report on a clean exit: {error}"
    );

    // Passed by name, failed by status.
    let folder = tempfile::tempdir().unwrap();
    let mut forged = task(folder.path());
    let test =
        r#"echo "ok 1 - all"; echo "1..1"; grep -q "b\\[0\\] > 8" parse.c && exit 1; exit 0"#;
    forged.commands.test = Some(test.to_owned());
    let target = open(forged, folder.path()).await;
    let climbed = climb_to_tested(&target, &attempt(FIX.0, FIX.1)).await;
    let last = climbed.last().unwrap();
    assert_eq!((last.name, last.holds), (RungName::Tested, Some(false)));
}

#[tokio::test]
async fn a_flood_of_results_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let mut flood = task(folder.path());
    flood.commands.test = Some(
        r#"{ echo "<testsuite>"; yes "<testcase name='a'/>" | head -c 50000000; } >flood.xml"#
            .to_owned(),
    );
    flood.commands.reports = vec!["*.xml".to_owned()];
    let target = open(flood, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let tests = baseline.tests.as_ref().unwrap();
    assert!(tests.execution.ending.success() && tests.reports.is_empty());
}

#[tokio::test]
async fn a_missing_compiler_is_told_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut without = task(folder.path());
    without.commands.build = "no-such-compiler parse.c".to_owned();
    let target = open(without, folder.path()).await;
    match target.baseline().await.unwrap_err() {
        TargetError::InvalidTask { reason, log } => {
            assert!(reason.contains("127"), "{reason}");
            assert!(log.contains("no-such-compiler"), "{log}");
        }
        other => panic!("{other}"),
    }
}
