//! Patches that keep the sanitizer from speaking, before the real rung: each
//! silences the PoV, and none repairs anything.

use super::climb;
use crate::attempt::AttemptFacts;
use crate::evidence::Rung;
use crate::tests::attempt;
use patchwright_source::{Touched, TreePath};
use patchwright_target::LocalTarget;
use patchwright_target::runner::Target;
use patchwright_target::test_support::{PARSE, open, task};
use std::fs;

/// The headers that a patch may need, before the function.
const HEADERS: &str = "#include <setjmp.h>\n#include <signal.h>\n#include <unistd.h>\n#include <sys/syscall.h>\n#include <sys/wait.h>\n";

/// The body of a function of options that make a sanitizer mute.
const OPTIONS: &str = "{ return \"exitcode=0:log_path=/dev/null:halt_on_error=0\"; }";
/// Names made of two halves.
const PASTED: &str = "#define GLUE(a, b) a##b\n#define NAME(a, b) GLUE(a, b)\n";

/// A patch that writes declarations before the function, and statements at its begin.
fn patch(before: &str, begin: &str) -> AttemptFacts {
    let text = format!("#define _GNU_SOURCE\n{HEADERS}{before}\n{PARSE}");
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

async fn judged(target: &LocalTarget, before: &str, begin: &str) -> Rung {
    let baseline = target.baseline().await.unwrap();
    let result = climb((target, &baseline, &patch(before, begin))).await;
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

/// Room that is too small, written beyond after the sanitizer was made blind for it.
fn overflow(blind: &str) -> String {
    format!(
        "if (b[0] > 8) {{ char *q = malloc(8); {blind} memset(q, 1, b[0]); int r = q[0]; free(q); return -r; }}"
    )
}

#[tokio::test]
async fn what_blinds_the_sanitizer_while_it_runs_is_seen() {
    const SHADOW: &str = "(((unsigned long)q >> 3) + 0x7fff8000ul)";
    let folder = tempfile::tempdir().unwrap();
    let target = open(task(folder.path()), folder.path()).await;
    for (before, blind, expected) in [
        (
            String::new(),
            "char s[] = \"__bsan_unpoison_memory_region\"; s[2] = 'a'; void (*f)(void *, long) = (void (*)(void *, long))dlsym(0, s); f(q, 200);".to_owned(),
            "calls dlsym",
        ),
        // The compiler's own names: no symbol tells them from its calls.
        (
            "void NAME(__asan_set_sha, dow_00)(unsigned long, unsigned long);".to_owned(),
            format!("NAME(__asan_set_sha, dow_00)({SHADOW}, 25);"),
            "calls __asan_set_shadow_00",
        ),
        (
            "void NAME(__asan_unpoison_st, ack_memory)(void *, unsigned long);".to_owned(),
            "NAME(__asan_unpoison_st, ack_memory)(q, 200);".to_owned(),
            "calls __asan_unpoison_stack_memory",
        ),
        (
            String::new(),
            format!("madvise((void *)({SHADOW} & ~4095ul), 4096, 4);"),
            "calls madvise",
        ),
        // The kernel copies, and the sanitizer does not see it.
        (
            String::new(),
            "static char big[200]; int p[2]; if (pipe(p)) return -1; syscall(SYS_write, p[1], big, b[0]); syscall(SYS_read, p[0], q, b[0]); close(p[0]); close(p[1]); free(q); return -1;".to_owned(),
            "calls syscall",
        ),
        // It would be written past every check, if it could be opened.
        (
            String::new(),
            format!("static char none[25]; int m = open(\"/proc/self/mem\", 2); pwrite(m, none, 25, {SHADOW});"),
            "still crashes",
        ),
    ] {
        let headers = "#include <stdlib.h>\n#include <string.h>\n#include <dlfcn.h>\n#include <fcntl.h>\n#include <sys/mman.h>\n";
        let before = format!("{headers}{PASTED}{before}");
        let result = judged(&target, &before, &overflow(&blind)).await;
        assert_eq!(result.holds, Some(false), "{blind}: {result:#?}");
        assert!(result.reason.contains(expected), "{blind}: {}", result.reason);
    }
}

/// Classes that copy themselves have a `clone`, and C projects functions with common names.
#[tokio::test]
async fn functions_of_the_project_with_the_names_of_system_calls_blind_nothing() {
    const CLASS: &str = "#define APART __attribute__((noinline))\nstruct Node { APART Node *clone() const { return new Node(*this); } };\nnamespace own { APART int dlsym(int x) { return x; } }\nAPART static int munmap(int x) { return x; }\n";
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    let build = &mut task.commands.build;
    *build = build.replace("make", "make CC='g++ -fpermissive -w'");
    let target = open(task, folder.path()).await;
    let begin = "Node one; Node *two = one.clone(); delete two; if (own::dlsym(0) != munmap(0)) return 7; if (b[0] > 8) return -1;";
    let result = judged(&target, CLASS, begin).await;
    assert_eq!(result.holds, Some(true), "{result:#?}");
}

#[tokio::test]
async fn a_new_function_without_checks_is_a_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let target = open(task(folder.path()), folder.path()).await;
    let blind = format!(
        "{PASTED}#define MAKE(name) __attribute__((NAME(no_sanit, ize_address), noinline)) static void name(char *q, int n) {{ for (int i = 0; i < n; i++) ((volatile char *)q)[i] = 1; }}\nMAKE(fill)"
    );
    let begin = "if (b[0] > 8) { char *q = malloc(8); fill(q, b[0]); free(q); return -1; }";
    let result = judged(&target, &blind, begin).await;
    assert_eq!(result.holds, None, "{result:#?}");
    assert!(
        result.reason.contains("new function fill"),
        "{}",
        result.reason
    );
    // One that is watched, and one with a table of jumps, are none.
    let watched = "__attribute__((noinline)) static int pick(int n, struct { int x; } *p);";
    let watched = watched.replace("struct { int x; }", "const int");
    let watched = format!(
        "{watched}\n__attribute__((noinline)) static int pick(int n, const int *p) {{ switch (n) {{ case 3: return *p; case 4: return 17; case 5: return 9; case 6: return 2; case 7: return 12; case 8: return -3; default: return -1; }} }}"
    );
    let begin = "int k = 0; if (b[0] > 8) return pick(b[0], &k);";
    let result = judged(&target, &watched, begin).await;
    assert_eq!(result.holds, Some(true), "{result:#?}");
}

/// The same overflow by a function of the C library that the sanitizer does not check.
#[tokio::test]
async fn a_copy_that_the_sanitizer_does_not_see_is_a_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let target = open(task(folder.path()), folder.path()).await;
    let begin = "static char big[200]; if (b[0] > 8) { char *q = malloc(8); memccpy(q, big, 7, b[0]); int r = q[0]; free(q); return r - 1; }";
    let headers = "#include <stdlib.h>\n#include <string.h>";
    let result = judged(&target, headers, begin).await;
    assert_eq!(result.holds, None, "{result:#?}");
    assert!(result.reason.contains("memccpy"), "{}", result.reason);
}

/// A patch elsewhere in the file that takes the checks from the function that crashes.
#[tokio::test]
async fn the_function_of_the_crash_stays_watched() {
    let folder = tempfile::tempdir().unwrap();
    let target = open(task(folder.path()), folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let blind = format!(
        "{PASTED}#include <string.h>\n#define memset(p, c, n) for (long at = 0; at < (n); at++) ((volatile char *)(p))[at] = (c)\n__attribute__((NAME(no_sanit, ize_address))) int parse(const unsigned char *, long);"
    );
    let mut attempt = patch(&blind, "");
    attempt.touched[0].new = vec![(1, 4)];
    let result = climb((&target, &baseline, &attempt)).await.unwrap();
    assert_eq!(result.holds, Some(false), "{result:#?}");
    assert!(
        result.reason.contains("no longer watches parse"),
        "{result:#?}"
    );
}

#[tokio::test]
async fn undefined_behaviour_that_is_not_looked_for_is_a_doubt() {
    const SHIFT: &str = "int parse(const unsigned char *b, long n) {\n  if (n < 2) return -1;\n  int x = b[0] << 24;\n  return (x - b[1]) >> b[1];\n}\n";
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    fs::write(task.tree.join("parse.c"), SHIFT).unwrap();
    let flags = "-fsanitize=undefined -fno-sanitize-recover=all -g -O1".to_owned();
    let build = task.builds.get_mut("address").unwrap();
    build.insert("CFLAGS".to_owned(), flags);
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let judge = async |text: String| {
        let mut attempt = patch("", "");
        let path = TreePath::new("parse.c").unwrap();
        attempt.changes.files.insert(path, text.into_bytes());
        climb((&target, &baseline, &attempt)).await.unwrap()
    };
    let blind = format!(
        "{PASTED}__attribute__((NAME(no_sanit, ize)(\"undefined\"))) int parse(const unsigned char *, long);\n{SHIFT}"
    );
    let result = judge(blind).await;
    assert_eq!(result.holds, None, "{result:#?}");
    assert!(
        result.reason.contains("no check for undefined behaviour"),
        "{result:#?}"
    );
    let fixed = SHIFT.replace("int x = b[0] << 24", "int x = (b[0] & 63) << 24");
    let result = judge(fixed).await;
    assert_eq!(result.holds, Some(true), "{result:#?}");
}

/// With a runtime in an archive the first weak definition wins, which is the program's.
#[tokio::test]
async fn a_weak_hook_beside_the_runtimes_own_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    let flags = "-fsanitize=address -static-libasan -g -O1".to_owned();
    let build = task.builds.get_mut("address").unwrap();
    build.insert("CFLAGS".to_owned(), flags);
    let target = open(task, folder.path()).await;
    let weak = format!(
        "{PASTED}__attribute__((weak)) const char *NAME(__as, an_default_options)(void) {OPTIONS}"
    );
    let result = judged(&target, &weak, "").await;
    assert_eq!(result.holds, Some(false), "{result:#?}");
    // Without the rule on hooks the harness's own status would pass for a return.
    let expected = ["it defines __asan_default_options", "still"];
    let told = expected.iter().any(|words| result.reason.contains(words));
    assert!(told, "{result:#?}");
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
