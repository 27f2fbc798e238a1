//! Patches that keep the sanitizer from speaking, before the real rung: each
//! silences the PoV, and none repairs anything.

use super::climb;
use crate::attempt::AttemptFacts;
use crate::evidence::RungResult;
use crate::local::LocalTarget;
use crate::local::tests::{PARSE, attempt, open, task};
use crate::runner::Target;
use patchwright_source::{Touched, TreePath};
use std::fs;

/// The headers that a patch may need, before the function.
const HEADERS: &str = "#include <setjmp.h>\n#include <signal.h>\n#include <unistd.h>\n#include <sys/syscall.h>\n#include <sys/wait.h>\n";

/// The body of a function of options that make a sanitizer mute.
const OPTIONS: &str = "{ return \"exitcode=0:log_path=/dev/null:halt_on_error=0\"; }";
/// Names made of two halves.
const PASTED: &str = "#define GLUE(a, b) a##b\n#define NAME(a, b) GLUE(a, b)\n";

/// A patch that writes declarations before the function, and statements at its begin.
fn patch(before: &str, begin: &str) -> AttemptFacts {
    let text = format!("{HEADERS}{before}\n{PARSE}");
    let text = text.replace("  if (n < 2)", &format!("  {begin}\n  if (n < 2)"));
    let lines = u32::try_from(text.lines().count()).unwrap();
    let mut attempt = attempt("", "");
    let path = TreePath::new("parse.c").unwrap();
    attempt.changes.files.insert(path, text.into_bytes());
    attempt.touched = vec![Touched {
        path: TreePath::new("parse.c").unwrap(),
        new: vec![(1, lines)],
        old: vec![(1, lines)],
    }];
    attempt
}

async fn judged(target: &LocalTarget, before: &str, begin: &str) -> RungResult {
    let baseline = target.baseline().await.unwrap();
    let result = climb(target, &baseline, &patch(before, begin)).await;
    result.unwrap()
}

#[tokio::test]
async fn a_process_that_never_comes_back_is_not_silent() {
    let folder = tempfile::tempdir().unwrap();
    let target = open(task(folder.path()), folder.path()).await;
    for (before, begin, expected) in [
        ("", "if (b[0] > 8) syscall(231, 0);", "ended at once"),
        ("", "if (b[0] > 8) _Exit(0);", "ended at once"),
        ("", "if (b[0] > 8) quick_exit(0);", "in parse (parse.c"),
        ("", "if (b[0] > 8) exit(0);", "before the harness returns"),
        ("", "if (b[0] > 8) exit(1);", "before the harness returns"),
        (
            "",
            "if (b[0] > 8) execl(\"/bin/true\", \"true\", (char *)0);",
            "another program",
        ),
        (
            "",
            "if (b[0] > 8) { int c = fork(); if (c) { wait(0); return -1; } }",
            "still crashes",
        ),
        (
            "",
            "if (b[0] > 8 && fork()) return -1; else if (b[0] > 8) close(2), close(1);",
            "another process",
        ),
        (
            "static void leave(int s) { _exit(0); }",
            "signal(SIGCHLD, leave); if (b[0] > 8) { if (fork()) for (;;) pause(); }",
            "still makes the sanitizer report",
        ),
        (
            "static void leave(int s) { _exit(1); }",
            "if (b[0] > 8) { signal(SIGSEGV, leave); *(volatile int *)16 = 1; }",
            "SIGSEGV",
        ),
        (
            "static void leave(int s) { _exit(1); }",
            "if (b[0] > 8) { signal(SIGALRM, leave); alarm(1); pause(); }",
            "a signal handler",
        ),
        (
            "static jmp_buf back; static void jump(int s) { longjmp(back, 1); }",
            "if (b[0] > 8) { signal(SIGABRT, jump); if (setjmp(back)) return -1; abort(); }",
            "SIGABRT",
        ),
        (
            "static void late(void) { _exit(0); }",
            "if (b[0] > 8) { atexit(late); return -1; }",
            "in late (parse.c",
        ),
        ("", "if (b[0] > 8) raise(SIGKILL);", "not really run"),
    ] {
        let result = judged(&target, before, begin).await;
        assert_eq!(result.holds, Some(false), "{begin}: {result:#?}");
        assert!(
            result.reason.contains(expected),
            "{begin}: {}",
            result.reason
        );
        assert!(result.feedback.is_some(), "{begin}");
    }
}

#[tokio::test]
async fn a_sanitizer_that_cannot_speak_is_not_silent() {
    let folder = tempfile::tempdir().unwrap();
    let target = open(task(folder.path()), folder.path()).await;
    for (before, begin, expected) in [
        (
            format!("{PASTED}const char *NAME(__as, an_default_options)(void) {OPTIONS}"),
            "",
            "it defines __asan_default_options",
        ),
        (
            format!(
                "const char *quiet(void) __asm__(\"__asan_\" \"default_options\");\nconst char *quiet(void) {OPTIONS}"
            ),
            "",
            "it defines __asan_default_options",
        ),
        (
            format!(
                "{PASTED}void NAME(__asan_unpo, ison_memory_region)(void const volatile *, unsigned long);"
            ),
            "if (b[0] > 8) { NAME(__asan_unpo, ison_memory_region)(b, 8); return -1; }",
            "it calls __asan_unpoison_memory_region",
        ),
        (
            format!(
                "{PASTED}#define BLIND __attribute__((NAME(no_sanit, ize_address)))\nBLIND __attribute__((noinline)) int parse(const unsigned char *, long);"
            ),
            "if (b[0] > 8) { volatile char *q = malloc(8); q[20] = 1; free((void *)q); return -1; }",
            "no longer watches parse",
        ),
        // What the sanitizer says is lost, and the status is an ordinary refusal.
        (
            String::new(),
            "if (b[0] > 8) close(2);",
            "a sanitizer ends the program",
        ),
        (
            String::new(),
            "if (b[0] > 8) dup2(open(\"/dev/null\", 1), 2);",
            "a sanitizer ends the program",
        ),
    ] {
        let before = format!("#include <fcntl.h>\n{before}");
        let result = judged(&target, &before, begin).await;
        assert_eq!(result.holds, Some(false), "{before}{begin}: {result:#?}");
        assert!(
            result.reason.contains(expected),
            "{begin}: {}",
            result.reason
        );
    }
}

/// Programs that report errors by leaving: the way out was there before.
#[tokio::test]
async fn the_projects_own_way_to_leave_is_no_cheat() {
    let folder = tempfile::tempdir().unwrap();
    let task = task(folder.path());
    let main = fs::read_to_string(task.tree.join("main.c")).unwrap();
    let main = main
        .replace("int parse(", "#include <stdlib.h>\nvoid refuse(void) { exit(1); }\nvoid never(void) { exit(3); }\nint parse(")
        .replace("  return parse", "  if (k < 2) refuse();\n  return parse");
    fs::write(task.tree.join("main.c"), main).unwrap();
    let target = open(task, folder.path()).await;
    for (begin, holds) in [
        ("if (b[0] > 8) refuse();", Some(true)),
        // An error of the project's, but nothing was seen to leave that way.
        ("if (b[0] > 8) never();", None),
        ("if (b[0] > 8) return -1;", Some(true)),
    ] {
        let declared = "void refuse(void); void never(void);";
        let result = judged(&target, declared, begin).await;
        assert_eq!(result.holds, holds, "{begin}: {result:#?}");
        assert_eq!(result.doubts.len(), usize::from(holds.is_none()), "{begin}");
    }
}
