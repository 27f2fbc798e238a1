//! Logs of compilers, crashes and tests, and what a repairer reads of them.

use super::{LineMap, LocationTranslator, build, crash, diagnostics, excerpt, tests};
use crate::crash::parse;
use crate::test_report::TestReport;
use patchwright_source::TreePath;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A tree of two files, one of which the patch made three lines longer.
fn with_places<T>(run: impl FnOnce(&LocationTranslator<'_>) -> T) -> T {
    let pristine: String = (1..=40).fold(String::new(), |text, n| text + &format!("line {n}\n"));
    let patched = pristine.replace("line 10\n", "line 10\nA\nB\nC\n");
    let patched = patched.replace("line 20\nline 21\n", "X\n");
    let map = LineMap::between(&pristine, &patched);
    let path = |text| TreePath::new(text).unwrap();
    let changed = BTreeMap::from([
        (path("src/a.c"), map.clone()),
        (path("src/main/java/org/acme/Shop.java"), map),
    ]);
    let rebase = |path: &str| {
        ["src/a.c", "src/b.c", "src/main/java/org/acme/Shop.java"]
            .iter()
            .find(|known| path == **known || path.ends_with(&format!("/{known}")))
            .map(|known| (*known).to_owned())
    };
    run(&LocationTranslator {
        roots: &["/box/tree".to_owned()],
        rebase: &rebase,
        changed: &changed,
    })
}

fn built(log: &str) -> String {
    with_places(|places| build(log, places, 2_000))
}

#[test]
fn shows_every_distinct_error_of_gcc() {
    let log = "gcc -c src/a.c\nIn file included from src/b.c:1:\nsrc/a.c: In function \u{2018}f\u{2019}:\n\
        src/a.c:15:3: warning: unused variable \u{2018}y\u{2019} [-Wunused-variable]\n   15 |   int y;\n      |       ^\n\
        /box/tree/src/a.c: In function \u{2018}g\u{2019}:\n\
        /box/tree/src/a.c:14:5: \u{1b}[31merror: \u{1b}[0m\u{2018}x\u{2019} undeclared\n   14 |   x = 1;\n      |     ^\n\
        /box/tree/src/a.c:14:5: note: each undeclared identifier is reported only once\n\
        src/b.c:3:1: fatal error: none.h: No such file or directory\ncompilation terminated.\n\
        /box/tree/src/a.c:14:5: error: \u{2018}x\u{2019} undeclared\n\
        make[1]: *** [Makefile:3: a.o] Error 1\nmake: *** [Makefile:9: all] Error 2\n";
    assert_eq!(
        built(log),
        "src/a.c: In function \u{2018}g\u{2019}:\n\
         src/a.c:11 [patched line 14]:5: error: \u{2018}x\u{2019} undeclared\n   14 |   x = 1;\n      |     ^\n\
         src/a.c:11 [patched line 14]:5: note: each undeclared identifier is reported only once\n\
         src/b.c:3:1: fatal error: none.h: No such file or directory\n"
    );
}

#[test]
fn shows_the_errors_of_linkers_and_tools() {
    for (log, expected) in [
        (
            "/usr/bin/ld: /tmp/ccX1.o: in function `main':\n/box/tree/src/a.c:12: undefined reference to `g'\ncollect2: error: ld returned 1 exit status\n",
            "/usr/bin/ld: <temporary file>: in function `main':\nsrc/a.c:10+ [patched line 12]: undefined reference to `g'\ncollect2: error: ld returned 1 exit status\n",
        ),
        (
            "ld.lld: error: undefined symbol: g\n>>> referenced by a.c:3\n>>>               a.o:(main)\nclang: error: linker command failed with exit code 1\n",
            "ld.lld: error: undefined symbol: g\n>>> referenced by a.c:3\n>>>               a.o:(main)\nclang: error: linker command failed with exit code 1\n",
        ),
        (
            "-- Looking for x\nCMake Error at CMakeLists.txt:3 (message):\n  no zlib\n\n\n-- Configuring incomplete, errors occurred!\n",
            "CMake Error at CMakeLists.txt:3 (message):\n  no zlib\n",
        ),
        (
            "make: *** No rule to make target 'x.c', needed by 'x.o'.  Stop.\n",
            "make: *** No rule to make target 'x.c', needed by 'x.o'.  Stop.\n",
        ),
        ("sh: 1: flex: not found\n", "sh: 1: flex: not found\n"),
        (
            "[INFO] Compiling\n[ERROR] COMPILATION ERROR : \n[ERROR] /box/tree/src/main/java/org/acme/Shop.java:[17,8] cannot find symbol\n[ERROR]   symbol:   class X\n[INFO] 1 error\n[ERROR] Failed to execute goal a:b:compile: Compilation failure\n[ERROR] /box/tree/src/main/java/org/acme/Shop.java:[17,8] cannot find symbol\n[ERROR]   symbol:   class X\n[ERROR] -> [Help 1]\n",
            "src/main/java/org/acme/Shop.java:14 [patched line 17]:8 cannot find symbol\n",
        ),
        (
            "> Task :compileJava FAILED\nsrc/main/java/org/acme/Shop.java:5: error: ';' expected\n    int x\n         ^\n1 error\n\n* What went wrong:\nExecution failed for task ':compileJava'.\n> Compilation failed\n\n* Try:\n",
            "src/main/java/org/acme/Shop.java:5: error: ';' expected\n    int x\n         ^\n* What went wrong:\nExecution failed for task ':compileJava'.\n",
        ),
    ] {
        let text = built(log);
        assert!(
            text.contains(expected.trim_start_matches("[ERROR] ")),
            "{log}\n->\n{text}"
        );
    }
}

#[test]
fn names_an_error_once() {
    let log = "[ERROR] /t/Shop.java:[1,2] no\n[ERROR] Failed to execute goal x\n[ERROR] /t/Shop.java:[1,2] no\n[ERROR] /t/Cart.java:[-1,-1] no\n";
    assert_eq!(diagnostics(log).len(), 3);
}

#[test]
fn tells_errors_of_one_line_apart_and_passes_over_candidates() {
    let javac = "Shop.java:4: error: cannot find symbol\n  f(a, b);\n    ^\n  symbol:   variable a\n\
        Shop.java:4: error: cannot find symbol\n  f(a, b);\n       ^\n  symbol:   variable b\n2 errors\n";
    assert_eq!(diagnostics(javac).len(), 2);
    let template = "src/a.h: In instantiation of \u{2018}T f(T)\u{2019}:\nsrc/b.c:9:15:   required from here\n\
        src/a.h:2:4: error: no match\n    2 | x\n      | ^\n/usr/include/c++/12/x.h:1:1: note: candidate: f\n\
        \x20   1 | y\n      | ^\nsrc/b.c:3:3: note: here\n";
    assert_eq!(
        built(template),
        "src/a.h: In instantiation of \u{2018}T f(T)\u{2019}:\nsrc/b.c:9:15:   required from here\n\
         src/a.h:2:4: error: no match\n    2 | x\n      | ^\nsrc/b.c:3:3: note: here\n"
    );
}

#[test]
fn keeps_both_ends_within_the_budget() {
    let log: String = (0..5_000).fold(String::new(), |text, n| {
        text + &format!("step {n} of many\n")
    });
    let text = with_places(|places| excerpt(&log, places, 200));
    assert!(text.len() <= 650, "{}", text.len());
    assert!(text.starts_with("step 0 of many") && text.ends_with("step 4999 of many"));
    assert!(text.contains("lines left out"));
    let log = "same\n".repeat(100)
        + "[ 45%] Building C object a.o\n\n\n\nTotal time: 3.2 s at 2026-01-02T03:04:05Z pid=77\n";
    let text = with_places(|places| excerpt(&log, places, 200));
    assert_eq!(
        text,
        "same\n(the line above repeats many times)\n\nTotal <time> at <time>"
    );
}

const ASAN: &str = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60200000001a at pc 0x1 bp 0x2 sp 0x3\n\
    READ of size 1 at 0x60200000001a thread T0\n    #0 0x1 in f /box/tree/src/a.c:17:3\n    #1 0x2 in g /box/tree/src/b.c:9\n\nSUMMARY: x\n";

#[test]
fn tells_how_a_crash_changed() {
    let before = parse(ASAN).unwrap();
    let same = with_places(|places| crash(Some(&before), &before, &|_| false, places, 1_000));
    assert!(
        same.starts_with("It is the same crash as before.\n"),
        "{same}"
    );
    assert!(
        same.contains("at f src/a.c:14 [patched line 17]:3\n"),
        "{same}"
    );
    let moved = parse(&ASAN.replace(" in f ", " in h ").replace("READ", "WRITE")).unwrap();
    let moved = with_places(|places| crash(Some(&before), &moved, &|_| false, places, 1_000));
    assert!(moved.starts_with("The crash has moved.\n"), "{moved}");
    for words in [
        "access before: read",
        "access now: write",
        "no longer on the stack: f",
        "new on the stack: h",
    ] {
        assert!(moved.contains(words), "{words}: {moved}");
    }
    let other = parse("x: b.c:3: main: Assertion `a' failed.\n").unwrap();
    let other = with_places(|places| crash(Some(&before), &other, &|_| false, places, 1_000));
    assert!(other.starts_with("It is a new crash"), "{other}");
}

#[test]
fn shows_broken_tests_with_their_stack() {
    let xml = |failure: &str| {
        format!(
            "<testsuite><testcase classname=\"org.acme.T\" name=\"a\">{failure}</testcase></testsuite>"
        )
    };
    let before = TestReport::read_file("a.xml", xml("").as_bytes()).unwrap();
    let now = TestReport::read_file(
        "a.xml",
        xml("<failure message=\"expected 1\">java.lang.AssertionError: expected 1\n\tat org.junit.Assert.fail(Assert.java:89)\n\tat org.acme.Shop.sell(Shop.java:17)\n\tat org.acme.T.a(T.java:9)\n\tat jdk.internal.reflect.X.y(X.java:1)\n</failure>").as_bytes(),
    )
    .unwrap();
    let comparison = now.compare(&before, &BTreeSet::new());
    let text = with_places(|places| tests(&comparison, &now, "", places, 1_000));
    assert_eq!(
        text,
        "1 test failing now and not before:\n\norg.acme.T.a\n  java.lang.AssertionError: expected 1\n  \tat org.acme.Shop.sell(Shop.java:14 [patched line 17])\n  \tat org.acme.T.a(T.java:9)\n"
    );
    let comparison = TestReport::default().compare(&before, &BTreeSet::new());
    let text = with_places(|places| {
        tests(
            &comparison,
            &TestReport::default(),
            "log line\n",
            places,
            1_000,
        )
    });
    assert!(
        text.contains("- missing: org.acme.T.a") && text.contains("log line"),
        "{text}"
    );
}

proptest! {
    #[test]
    fn never_panics_and_keeps_the_budget(log in "(?s)(src/a\\.c:[0-9]{1,3}:[0-9]: error: |\\[ERROR\\] |make: \\*\\*\\* |In file included from|\\^|[a-z é:/.\n\t\u{1b}\\[]){0,60}") {
        with_places(|places| {
            let _ = build(&log, places, 100);
            let text = excerpt(&log, places, 100);
            assert!(text.len() <= 300 + 200 + text.lines().count() * 20, "{}", text.len());
        });
    }
}
