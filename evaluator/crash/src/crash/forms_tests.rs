//! Forms of pasted reports: each folder of `tests/fixtures/crashes/forms` is one.

use super::{CrashReport, parse, read_pasted};
use std::fmt::Write as _;
use std::path::Path;

/// Tells whether a line of `right.txt` is true of the reports of a text.
fn holds(fact: &str, reports: &[CrashReport]) -> bool {
    let Some(first) = reports.first() else {
        return fact == "no report";
    };
    let signature = first.signature(&|_| false).to_string();
    match fact.split_once(": ") {
        Some(("signature", expected)) => signature == expected,
        Some(("reports", count)) => reports.len().to_string() == count,
        Some((role @ ("crash" | "cause" | "allocated" | "freed"), frame)) => {
            let stacks = first
                .stacks
                .iter()
                .filter(|stack| stack.role.name() == role);
            let mut frames = stacks.flat_map(|stack| &stack.frames);
            frames.any(|known| known.to_string() == frame)
        }
        _ if fact == "cut" => first.cut,
        _ => first.summary.contains(fact),
    }
}

#[test]
fn reads_every_form_that_people_paste() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/crashes/forms");
    let mut wrong = String::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(text) = std::fs::read_to_string(folder.join("report.txt")) else {
            continue;
        };
        count += 1;
        let reports = read_pasted(&text);
        let right = std::fs::read_to_string(folder.join("right.txt")).unwrap();
        for fact in right.lines().filter(|fact| !holds(fact, &reports)) {
            let seen = reports.iter().map(|report| {
                let frames: Vec<String> = report
                    .stacks
                    .iter()
                    .flat_map(|stack| &stack.frames)
                    .map(ToString::to_string)
                    .collect();
                format!(
                    "{} [{}] {frames:?}",
                    report.summary,
                    report.signature(&|_| false)
                )
            });
            let _ = writeln!(
                wrong,
                "{}: {fact:?} of {:#?}",
                folder.display(),
                seen.collect::<Vec<_>>()
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 35, "{count}");
}

/// Output of a run is judged, so nothing is read into it that only people write.
#[test]
fn output_of_a_run_holds_no_pasted_forms() {
    for text in [
        "java.lang.IllegalStateException: expected by a test\n",
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nIndexError: x\n",
        "TypeError: x\n    at f (/a.js:1:2)\n",
    ] {
        assert_eq!(parse(text), None, "{text}");
        assert_eq!(read_pasted(text).len(), 1, "{text}");
    }
}
