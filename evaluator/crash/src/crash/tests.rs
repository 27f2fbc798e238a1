//! All fixture reports: how each is parsed and purified, and what must hold
//! for every one of them.

use super::{CrashReport, Role, parse};
use proptest::prelude::*;
use regex::Regex;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The fixture reports by name.
fn fixtures() -> BTreeMap<String, String> {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/fixtures/crashes/reports"
    );
    let entries = std::fs::read_dir(Path::new(folder)).unwrap();
    entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), text)
        })
        .collect()
}

fn parsed() -> Vec<(String, String, CrashReport)> {
    fixtures()
        .into_iter()
        .map(|(name, text)| {
            let report = parse(&text).unwrap_or_else(|| panic!("{name} is not recognised"));
            (name, text, report)
        })
        .collect()
}

/// A report in a form that is good to compare: of each stack its role, its
/// length and its top.
fn shown(report: &CrashReport) -> String {
    let mut text = format!("{} | {}", report.tool, report.kind);
    let _ = writeln!(text, " | {}", report.cwe.as_deref().unwrap_or("no CWE"));
    if let Some(access) = &report.access {
        let words = super::purify::describe_access(access);
        let _ = writeln!(text, "access: {words}");
    }
    let _ = writeln!(text, "summary: {}", report.summary);
    let _ = writeln!(text, "signature: {}", report.signature(&|_| false));
    for stack in &report.stacks {
        // The top of a stack that overflowed is chance.
        let shown = if report.is_stack_overflow() { 0 } else { 4 };
        let top: Vec<String> = stack
            .frames
            .iter()
            .take(shown)
            .map(ToString::to_string)
            .collect();
        let _ = writeln!(
            text,
            "{} of {}: {}",
            stack.role.as_str(),
            stack.frames.len(),
            top.join(" < ")
        );
    }
    for line in report.purified.lines() {
        let _ = writeln!(text, "  | {line}");
    }
    text
}

#[test]
fn parses_and_purifies_every_report() {
    let mut families: BTreeMap<String, String> = BTreeMap::new();
    for (name, _, report) in parsed() {
        let family = name
            .rsplit_once("--")
            .map_or(name.as_str(), |(family, _)| family);
        let family = family.split('-').take(2).collect::<Vec<_>>();
        let family = match family.as_slice() {
            [first @ ("asan" | "ubsan" | "tsan"), second] => format!("{first}_{second}"),
            [first, ..] => (*first).to_owned(),
            [] => String::new(),
        };
        let text = families.entry(family).or_default();
        let _ = write!(text, "## {name}\n{}\n", shown(&report));
    }
    for (family, text) in families {
        insta::assert_snapshot!(family, text);
    }
}

#[test]
fn there_are_enough_reports_of_every_family() {
    let reports = parsed();
    assert!(reports.len() >= 80, "{}", reports.len());
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (_, _, report) in &reports {
        *counts.entry(report.tool.to_string()).or_default() += 1;
    }
    for (tool, least) in [
        ("AddressSanitizer", 40),
        ("LeakSanitizer", 3),
        ("MemorySanitizer", 6),
        ("ThreadSanitizer", 12),
        ("UndefinedBehaviorSanitizer", 25),
        ("libFuzzer", 6),
        ("Jazzer", 10),
        ("Java", 12),
        ("JVM", 3),
        ("Valgrind", 10),
        ("gdb", 5),
        ("glibc", 6),
        ("Rust", 4),
        ("signal", 4),
    ] {
        let count = counts.get(tool).copied().unwrap_or(0);
        assert!(count >= least, "{tool}: {count} of {least}");
    }
}

/// Less common forms of reports, and the number of fixtures that have each.
#[test]
fn there_are_reports_of_every_form() {
    let fixtures = fixtures();
    for (form, least) in [
        (r"\(/[^ )]*\+0x[0-9a-f]+\)", 20),
        (r"in \w.*<.*>.* /src", 4),
        (r"\.rs:[0-9]", 4),
        (r"in second_inlined ", 2),
        (r"free\(\): invalid pointer", 1),
        (r"stack smashing detected", 1),
        (r"A fatal error has been detected by the Java", 4),
        (r"(?m)^C  \[", 2),
        (r"\(Native Method\)", 2),
        (r"Caused by: ", 6),
        (r"Suppressed: ", 1),
        (r"libFuzzer: timeout", 2),
        (r"libFuzzer: out-of-memory", 1),
        (r"libFuzzer: deadly signal", 2),
        (r"FuzzerSecurityIssue", 4),
        (r"Program (received|terminated with) signal", 5),
    ] {
        let form = Regex::new(form).unwrap();
        let count = fixtures.values().filter(|text| form.is_match(text)).count();
        assert!(count >= least, "{form}: {count} of {least}");
    }
}

#[test]
fn nothing_of_a_run_is_left() {
    let address = Regex::new(r"\b0x[0-9a-f]{5,}|==[0-9]+==|/tmp/|pid[=:]|BuildId|\btid=").unwrap();
    for (name, _, report) in parsed() {
        for text in [&report.purified, &report.summary] {
            let found = address.find(text).map(|found| found.as_str());
            assert_eq!(found, None, "{name}: {text}");
        }
    }
}

/// A second run has other addresses and process ids, and nothing else.
#[test]
fn another_run_reads_the_same() {
    let address = Regex::new(r"\b0x[0-9a-f]{6,16}\b").unwrap();
    let pid = Regex::new(r"==[0-9]{3,7}==").unwrap();
    let seed = Regex::new(r"(?m)^INFO: Seed: [0-9]+$").unwrap();
    for (name, text, report) in parsed() {
        let other = address.replace_all(&text, |found: &regex::Captures<'_>| {
            let digits = found[0].trim_start_matches("0x");
            // What is close to null is part of the program.
            if u64::from_str_radix(digits, 16).is_ok_and(|address| address < 0x10000) {
                return found[0].to_owned();
            }
            format!("0x7{}", &"f0123456789abcdef"[..digits.len() - 1])
        });
        let other = pid.replace_all(&other, "==4242==");
        let other = seed.replace_all(&other, "INFO: Seed: 1");
        let again = parse(&other).unwrap();
        assert_eq!(again.purified, report.purified, "{name}");
        assert_eq!(again.summary, report.summary, "{name}");
        let signature = |report: &CrashReport| report.signature(&|_| false);
        assert_eq!(signature(&again), signature(&report), "{name}");
    }
}

/// The frame in which an endless recursion runs out of stack is random.
#[test]
fn a_recursion_reads_the_same_wherever_it_ends() {
    let frames = ["even", "depth", "odd", "depth"];
    let reports: Vec<CrashReport> = (0..4)
        .map(|start| {
            let mut text = "Exception in thread \"main\" java.lang.StackOverflowError\n".to_owned();
            for index in start..start + 1024 {
                let _ = writeln!(text, "\tat a.B.{}(B.java:{})", frames[index % 4], index % 4);
            }
            parse(&text).unwrap()
        })
        .collect();
    for report in &reports {
        assert_eq!(report.purified, reports[0].purified);
        assert_eq!(report.summary, reports[0].summary);
        assert_eq!(
            report.signature(&|_| false),
            reports[0].signature(&|_| false)
        );
    }
    let killed = |pid: u32| {
        parse(&format!(
            "bash: line 1: {pid} Segmentation fault      ./x\n"
        ))
        .unwrap()
    };
    assert_eq!(killed(123), killed(4567));
}

/// A log has other things before and after the report, and colours.
#[test]
fn a_report_is_found_in_a_log() {
    for (name, text, report) in parsed() {
        let log =
            format!("building..\n\u{1b}[32mok\u{1b}[0m\nrunning\n\n{text}\n[exit 1]\n$ next\n");
        let again = parse(&log).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(again.kind, report.kind, "{name}");
        assert_eq!(again.purified, report.purified, "{name}");
        let windows = parse(&text.replace('\n', "\r\n")).unwrap();
        assert_eq!(windows.purified, report.purified, "{name}");
    }
}

#[test]
fn a_report_survives_its_json_form() {
    for (name, _, report) in parsed() {
        let json = serde_json::to_string(&report).unwrap();
        let again: CrashReport = serde_json::from_str(&json).unwrap();
        assert_eq!(again, report, "{name}");
    }
}

#[test]
fn finds_nothing_in_nothing() {
    for text in [
        "==1==ERROR: AddressSanitizer failed to allocate 0xdff bytes of memory on request",
        "",
        "hello\n",
        "\n\n\n",
        "==1==ERROR: \n",
        "#0 0x1 in f",
        "Error: no such file\n",
    ] {
        assert_eq!(parse(text), None, "{text:?}");
    }
}

/// Lines that begin reports, over and over, and lines without end.
const TROUBLE: [&str; 22] = [
    "==1==ERROR: AddressSanitizer: x\n#0 0x1 in f a.c:1\n",
    "Caused by: a.BException: x\n\tat a.B.c(B.java:1)\n\t... 1 more\n",
    "((((((((",
    "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x0\n",
    "    #1 0x1 in f<int>(int) /src/a.cc:1:1\n",
    "    #0 0x1 in f /src/a.cc:1:1\n",
    "\tat a.B.c(B.java:1)\n",
    "a.BException: x\n",
    "== Java Exception: a.B: x\nCaused by: a.C: y\n",
    "#0  f (a=1) at a.c:1\n",
    "==1== Invalid read of size 4\n==1==    at 0x1: f (a.c:1)\n",
    "a.c:1: runtime error: shift exponent\n",
    "thread 'a' panicked at a.rs:1:1:\n",
    "Full thread dump x\n\"a\" #1 prio=5 tid=0x1\n",
    "# A fatal error has been detected by the Java Runtime\n",
    "a: a.c:1: f: Assertion `x' failed.\n",
    "==1== ERROR: libFuzzer: timeout\n",
    "Segmentation fault ",
    "<<<<((>>))",
    "0x1 ",
    "\u{1b}[",
    "\u{e9}: ",
];

/// Work per byte must not grow with the input: three of these at full size,
/// where anything quadratic would not end, the others at a tenth.
#[test]
fn ten_megabytes_are_no_trouble() {
    let size = 10 * 1024 * 1024;
    for (number, piece) in TROUBLE.iter().enumerate() {
        let size = if number < 3 { size } else { size / 10 };
        let text = piece.repeat(size / piece.len());
        if let Some(report) = parse(&text) {
            assert!(report.purified.len() < 1024 * 1024, "{piece:?}");
            assert!(report.stacks.len() <= 64, "{piece:?}");
            let _ = report.signature(&|_| true);
        }
    }
}

#[test]
fn paths_are_rebased() {
    let mut report = parse(&fixtures()["asan-gcc-heap-read"]).unwrap();
    assert!(report.summary.contains(" /src/crashes/address.c:"));
    let short = report.clone().without_folder("/src/crashes").summary;
    assert!(
        short.contains(" address.c:") && !short.contains("/src"),
        "{short}"
    );
    report.rebase(&|path| path.strip_prefix("/src/crashes/").map(str::to_owned));
    let stack = report.main_stack().unwrap();
    assert_eq!(stack.role, Role::Crash);
    assert_eq!(stack.frames[0].file.as_deref(), Some("address.c"));
    assert!(report.purified.contains("at read_at address.c:"));
    assert!(!report.purified.contains("/src/crashes") && !report.summary.contains("/src/crashes"));
}

/// Pieces of reports in any order.
const PIECES: &str = "(?s)(==1==ERROR: AddressSanitizer: |==1==ERROR: LeakSanitizer: |heap-buffer-overflow on address 0x1\n\
    |READ of size |    #[01] 0x1 in |f\\(int\\) |/src/a\\.c:|SUMMARY: |\n|\tat a\\.B\\.c\\(B\\.java:1\\)\n|Caused by: |Suppressed: \
    |\t\\.\\.\\. [0-9]{1,20} more\n|Exception in thread \"main\" |a\\.BException: |== Java Exception: |#[0-9]  f \\(\\) at |==1== \
    |Invalid read of size |   at 0x1: |thread 'x' panicked at |runtime error: |'|é|\u{1b}\\[3|\\(|\\)|\\+0x|\\[1, 2\\) 'a' |<== Memory access at offset \
    |[0-9]{1,25}|Assertion `|: |WARNING: ThreadSanitizer: |is located |bytes to the right of |-byte region|\\[|# |C  \\[|Full thread dump |\"a\" prio=){0,40}";

proptest! {
    #[test]
    fn parsing_never_panics(text in PIECES) {
        if let Some(mut report) = parse(&text) {
            let _ = report.signature(&|_| true);
            let _ = crate::signature::compare(&report.clone(), &report, &|_| false);
            report.rebase(&|path| Some(format!("x{path}")));
        }
    }

    #[test]
    fn cut_reports_never_panic(name in 0usize..400, from in 0usize..3000, to in 0usize..3000) {
        let fixtures: Vec<String> = fixtures().into_values().collect();
        let text = &fixtures[name % fixtures.len()];
        let (from, to) = (from.min(to).min(text.len()), from.max(to).min(text.len()));
        let _ = parse(&text[text.floor_char_boundary(from)..text.floor_char_boundary(to)]);
    }
}
