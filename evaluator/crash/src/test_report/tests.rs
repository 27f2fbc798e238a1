//! Reports of every family, and text that pretends to be one.

use super::{Status, TestReport, TestResult};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// Reads a log and shows it as `P name` lines, failures with their message.
fn shown(report: Option<&TestReport>) -> Vec<String> {
    let Some(report) = report else {
        return Vec::new();
    };
    report
        .tests
        .iter()
        .map(|(name, test)| {
            let status = format!("{:?}", test.status);
            let message = test.message.as_deref().unwrap_or_default();
            format!("{} {name} {message}", &status[..1])
                .trim_end()
                .to_owned()
        })
        .collect()
}

fn check(log: &str, expected: &[&str]) {
    assert_eq!(shown(TestReport::read_log(log).as_ref()), expected, "{log}");
}

/// Every tool's own output, from real runs of tests that pass, fail, crash, are
/// left out or expected to fail; `tests/fixtures/results/make.sh` made them.
#[test]
fn reads_what_every_tool_really_prints() {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/fixtures/results/reports"
    );
    let entries = std::fs::read_dir(Path::new(folder)).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut text = String::new();
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        let report = TestReport::read_file(name, &std::fs::read(&path).unwrap());
        let report = report.unwrap_or_else(|| panic!("{name} names no test"));
        let kind = if report.partial {
            "failures only"
        } else {
            "all"
        };
        let _ = writeln!(text, "## {name}: {kind}");
        for line in shown(Some(&report)) {
            let _ = writeln!(text, "{line}");
        }
    }
    for tool in [
        "automake", "ctest", "google", "maven", "prove", "pytest", "surefire", "tap",
    ] {
        assert!(text.contains(&format!("## {tool}")), "{tool}");
    }
    insta::assert_snapshot!("real", text);
}

#[test]
fn reads_ctest() {
    check(
        "Test project /build\n    Start 1: alpha\n1/4 Test #1: alpha ...............   Passed    0.01 sec\n\
         \x20   Start 2: beta\nexpected 3\n2/4 Test #2: beta ................***Failed    0.02 sec\n\
         3/4 Test #3: gamma ...............***Exception: SegFault  0.03 sec\n\
         4/4 Test #4: delta ...............***Not Run (Disabled)   0.00 sec\n\n\
         50% tests passed, 2 tests failed out of 4\n",
        &[
            "P alpha",
            "F beta Failed",
            "S delta",
            "F gamma Exception: SegFault",
        ],
    );
}

#[test]
fn reads_meson() {
    check(
        " 1/4 test_multi                OK              0.05s\n 2/4 core / two words         FAIL            0.10s   exit status 1\n\
         3/4 slow                      TIMEOUT        30.02s   killed by signal 15 SIGTERM\n4/4 other OK here             SKIP            0.01s\n\n\
         Ok:                 1\nFail:               1\n",
        &[
            "F core / two words FAIL",
            "S other OK here",
            "F slow TIMEOUT",
            "P test_multi",
        ],
    );
}

#[test]
fn what_a_failing_test_printed_stands_below_its_result() {
    let crash = "1: fine\n==9==ERROR: AddressSanitizer: heap-use-after-free on address 0x1";
    for log in [
        format!(
            "Test project /b\n    Start 1: a\n1/2 Test #1: a .....   Passed   0.01 sec\n    Start 2: b\n\
             2/2 Test #2: b .....***Failed   0.01 sec\n{crash}\n    Start 3: c\n3/3 Test #3: c .....***Failed   0.01 sec\n"
        ),
        format!(
            "ninja: no work\n1/3 a       OK      0.01s\n2/3 b       FAIL    0.01s   exit status 1\n{crash}\n\n\
             3/3 c       FAIL    0.01s   exit status 1\n\nFull log written to l.txt\n"
        ),
    ] {
        let report = TestReport::read_log(&log).unwrap();
        assert_eq!(report.tests["b"].details.as_deref(), Some(crash), "{log}");
        assert_eq!(report.tests["a"].details, None);
        assert_ne!(report.tests["c"].details.as_deref(), Some(crash));
    }
    // What fails within a test of Meson is named, what passes there is not.
    let within = "1/1 u       FAIL    0.01s   exit status 1\n1..2\nok 1 - x\nnot ok 2 - y\nFull log written to l.txt\n";
    check(within, &["F u FAIL", "F y"]);
}

#[test]
fn reads_google_test() {
    check(
        "[==========] Running 3 tests\n[ RUN      ] A.ok\n[       OK ] A.ok (0 ms)\n\
         [ RUN      ] A.bad\nx.cc:5: Failure\nExpected: 1\n[  FAILED  ] A.bad (1 ms)\n\
         [ RUN      ] A.skip\n[  SKIPPED ] A.skip (0 ms)\n[ RUN      ] A.dies\n",
        &["F A.bad x.cc:5: Failure", "F A.dies", "P A.ok", "S A.skip"],
    );
}

#[test]
fn reads_tap() {
    check(
        "1..5\nok 1 - one\nnot ok 2 - two\n#   at t/a.t line 5.\nok 3 # SKIP no net\n\
         not ok 4 - later # TODO soon\n",
        &[
            "S later",
            "P one",
            "F planned 5 tests, ran 4",
            "S test 3",
            "F two at t/a.t line 5.",
        ],
    );
    check("ok 1\n", &[]);
    check("okay\nnot okay\n", &[]);
}

#[test]
fn reads_prove() {
    check(
        "t/a.t .. ok\nt/b.t .. 1/3\nt/b.t .. Failed 1/3 subtests\nt/c.t .. skipped: no net\n\n\
         Test Summary Report\n-------------------\nt/b.t (Wstat: 256 Tests: 3 Failed: 1)\n  Failed test:  2\n",
        &["P t/a.t", "F t/b.t Failed 1/3 subtests", "S t/c.t"],
    );
}

#[test]
fn reads_automake() {
    check(
        "PASS: a\nFAIL: b\nSKIP: c\nXFAIL: d\nERROR: e\n# TOTAL: 5\n# FAIL: 1\nFAIL: b\n=======\n\nwrong sum\n",
        &["P a", "F b wrong sum", "S c", "S d", "F e"],
    );
    let report = TestReport::read_file("x/b.trs", b":test-result: FAIL\n:recheck: yes\n");
    assert_eq!(shown(report.as_ref()), ["F b FAIL"]);
    check(
        "PASS a.test\nFAIL b.test\nPASS all of them\nPASSED c\n",
        &["P a.test", "F b.test"],
    );
    check("ERROR: the disk is full of old things\n", &[]);
}

#[test]
fn reads_other_harnesses() {
    check(
        "test a::b ... ok\ntest a::c ... FAILED\n",
        &["P a::b", "F a::c"],
    );
    check("test_x (m.C.test_x) ... ok\n", &["P m.C.test_x"]);
    check(
        "t/test_a.py::test_x PASSED   [ 50%]\nt/test_a.py::test_y FAILED [100%]\n\
         FAILED t/test_a.py::test_y - assert 1 == 2\n",
        &[
            "P t/test_a.py::test_x",
            "F t/test_a.py::test_y assert 1 == 2",
        ],
    );
    check(
        "t.py::t[a FAILED b] PASSED   [ 50%]\nERROR u.py::t - setup FAILED\n",
        &["P t.py::t[a FAILED b]", "F u.py::t setup FAILED"],
    );
    check(
        "[ERROR] org.A.f -- Time elapsed: 0.1 s <<< FAILURE!\njava.lang.AssertionError: no\n\
         [ERROR] g(org.A)  Time elapsed: 0 s  <<< ERROR!\norg.B > h() PASSED\n",
        &[
            "F org.A.f java.lang.AssertionError: no",
            "F org.A.g",
            "P org.B.h",
        ],
    );
}

#[test]
fn what_passes_within_a_failing_test_of_ctest_is_not_missed_later() {
    let within = "[ RUN      ] S.a\n[       OK ] S.a (0 ms)\n[ RUN      ] S.b\nno\n[  FAILED  ] S.b (0 ms)\n";
    let log = |result: &str, printed: &str, summary: &str| {
        let text = format!(
            "[ RUN      ] Own.x\n[       OK ] Own.x (0 ms)\nTest project /b\n    Start 1: unit\n\
             1/1 Test #1: unit .....{result} 0.08 sec\n{printed}\n{summary}, out of 1\n"
        );
        TestReport::read_log(&text).unwrap()
    };
    let before = log("***Failed  ", within, "0% tests passed, 1 tests failed");
    check(
        "Test project /b\n1/1 Test #1: unit .....***Failed   0.08 sec\n[ RUN      ] S.a\n[       OK ] S.a (0 ms)\n",
        &["F unit Failed"],
    );
    assert!(before.tests.contains_key("S.b") && before.tests.contains_key("Own.x"));
    let after = log("   Passed  ", "", "100% tests passed, 0 tests failed");
    let compared = after.compare(&before, &BTreeSet::new());
    assert!(compared.holds(), "{compared:?}");
    assert_eq!(compared.fixed, ["unit"]);
}

#[test]
fn knows_when_only_failures_are_named() {
    let partial = |log| TestReport::read_log(log).unwrap().partial;
    assert!(partial("FAILED t/test_a.py::test_y - assert 1 == 2\n"));
    assert!(!partial("t/test_a.py::test_y PASSED\n"));
    assert!(!partial("PASS: a\nFAIL: b\n"));
}

const JUNIT: &str = r#"<?xml version="1.0"?>
<testsuite name="org.ATest" tests="5">
  <properties><property name="a" value="b"/></properties>
  <testcase name="ok" classname="org.ATest" time="0.1"><system-out>much</system-out></testcase>
  <testcase name="bad" classname="org.ATest">
    <failure message="expected: &lt;1&gt; &amp; was: &#60;2&#62;" type="org.opentest4j.AssertionFailedError"><![CDATA[org.x: expected
	at org.ATest.bad(ATest.java:12)]]></failure>
  </testcase>
  <testcase name="err" classname="org.ATest"><error type="java.lang.NullPointerException">trace &gt; here</error></testcase>
  <testcase name="no" classname="org.ATest"><skipped message="later"/></testcase>
  <testcase name="p" classname="org.ATest"/><testcase name="p" classname="org.ATest"><failure message="2nd"/></testcase>
</testsuite>"#;

#[test]
fn reads_junit() {
    let report = TestReport::read_file("TEST-a.xml", JUNIT.as_bytes()).unwrap();
    assert_eq!(
        shown(Some(&report)),
        [
            "F org.ATest.bad org.opentest4j.AssertionFailedError: expected: <1> & was: <2>",
            "F org.ATest.err java.lang.NullPointerException",
            "S org.ATest.no later",
            "P org.ATest.ok",
            "P org.ATest.p",
            "F org.ATest.p (2) 2nd",
        ]
    );
    let details = |name: &str| report.tests[name].details.clone().unwrap();
    assert!(details("org.ATest.bad").contains("ATest.java:12"));
    assert_eq!(details("org.ATest.err"), "trace > here");
    assert!(!report.partial);
    assert_eq!(report.count(Status::Failed), 3);
}

#[test]
fn junit_expands_no_entities() {
    let bomb = r#"<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>
<testsuite><testcase name="&b;"><failure>&b;&b; <![CDATA[x]]></failure></testcase></testsuite>"#;
    let report = TestReport::read_file("a.xml", bomb.as_bytes()).unwrap();
    assert_eq!(shown(Some(&report)), ["F &b;  x"]);
}

#[test]
fn a_cut_off_junit_file_keeps_what_it_has() {
    let cut = &JUNIT[..JUNIT.find("<testcase name=\"no\"").unwrap()];
    let report = TestReport::read_file("a.xml", cut.as_bytes()).unwrap();
    assert_eq!(report.tests.len(), 3);
    assert!(report.partial);
    assert_eq!(
        TestReport::read_file("a.xml", b"<html><body/></html>"),
        None
    );
}

#[test]
fn compares_with_the_baseline() {
    let before =
        TestReport::read_log("PASS: a\nFAIL: b\nPASS: c\nPASS: d\nFAIL: e\nPASS: f\n").unwrap();
    let after = TestReport::read_log(
        "FAIL: a\nFAIL: b\nPASS: c\nSKIP: d\nPASS: e\nFAIL: new\nFAIL: shaky\n",
    )
    .unwrap();
    let flaky = BTreeSet::from(["shaky".to_owned()]);
    let comparison = after.compare(&before, &flaky);
    assert_eq!(comparison.broken, ["a", "new"]);
    assert_eq!(comparison.still_failing, ["b"]);
    assert_eq!(comparison.missing, ["d", "f"]);
    assert_eq!(comparison.fixed, ["e"]);
    assert_eq!(comparison.flaky, ["shaky"]);
    assert!(!comparison.holds());
    assert!(before.compare(&before, &flaky).holds());
    assert_eq!(before.unstable(&before), BTreeSet::new());
    assert_eq!(before.unstable(&after).len(), 6);
}

proptest! {
    #[test]
    fn never_panics(text in "(?s)(ok |not ok |1\\.\\.|# |PASS: |<testcase |<failure |/>|[a-z0-9 .\n<>&;\"=]){0,80}") {
        let _ = TestReport::read_log(&text);
        let _ = TestReport::read_file("a.xml", text.as_bytes());
        let _ = TestReport::read_file("a.xml", format!("<testsuite>{text}").as_bytes());
        let _ = TestReport::read_file("a.trs", text.as_bytes());
    }
}

/// The output of tests may be huge; it is dropped, and the text of a failure is kept up
/// to a limit.
#[test]
fn fifty_megabytes_of_output_are_passed_over() {
    let noise = "all is &lt;well&gt;\n".repeat(50 * 1024 * 1024 / 19);
    let xml = format!(
        "<testsuite><testcase classname=\"A\" name=\"a\"><system-out>{noise}</system-out></testcase>\
         <testcase classname=\"A\" name=\"b\"><failure>{}</failure></testcase></testsuite>",
        &noise[..1024 * 1024 - 6]
    );
    let report = TestReport::read_file("a.xml", xml.as_bytes()).unwrap();
    assert_eq!(report.tests["A.a"], TestResult::new(Status::Passed));
    let details = report.tests["A.b"].details.as_ref().unwrap();
    assert!(details.len() < 20_000, "{}", details.len());
}

#[test]
fn a_goal_that_make_does_not_know_runs_nothing() {
    let none = TestReport::default();
    let nothing = |log: &str| none.nothing_run(log);
    let of_a_folder =
        nothing("make: Entering directory '/b'\nmake: Nothing to be done for '../t/test'.\n");
    let told = "make: Nothing to be done for '../t/test'";
    assert_eq!(of_a_folder.as_deref(), Some(told));
    assert!(nothing("gmake: 'check' is up to date.").is_some());
    for ran in [
        "make[1]: Nothing to be done for 'check'.\nrunning t1\n",
        "make: Nothing to be done for 'all'.\n",
        "make: 'tests/run' is up to date.\n",
        "make: Nothing to be done for 'unittest'.\n",
    ] {
        assert_eq!(nothing(ran), None);
    }
}
