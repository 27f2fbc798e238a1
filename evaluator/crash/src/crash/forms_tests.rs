//! Forms of pasted reports: each folder of `tests/fixtures/crashes/forms` is one.

use super::{CrashReport, parse, read_pasted, read_words};
use std::fmt::Write as _;
use std::path::Path;

/// Returns the facts that a text states in words, as lines of `right.txt`.
fn said(text: &str) -> Vec<String> {
    let Some(words) = read_words(text) else {
        return Vec::new();
    };
    let mut said = vec![format!("says kind: {}", words.kind.unwrap_or_default())];
    let mut add = |what: &str, names: Vec<String>| {
        said.extend(names.iter().map(|name| format!("says {what}: {name}")));
    };
    add("function", words.functions);
    add("class", words.classes);
    add("name", words.names);
    add(
        "file",
        words.files.iter().map(ToString::to_string).collect(),
    );
    add("option", words.options);
    add("version", words.versions);
    add("input", words.inputs);
    add("quoted", words.quoted);
    add(
        "command",
        words.commands.iter().map(ToString::to_string).collect(),
    );
    add(
        "missing",
        words.missing.iter().map(ToString::to_string).collect(),
    );
    said
}

/// Tells whether a line of `right.txt` is true of the reports of a text.
fn holds(fact: &str, reports: &[CrashReport]) -> bool {
    let Some(first) = reports.first() else {
        return fact == "no report";
    };
    let signature = first.signature(&|_| false).to_string();
    match fact.split_once(": ") {
        Some(("signature", expected)) => signature == expected,
        Some(("reports", count)) => reports.len().to_string() == count,
        Some((role @ ("crash" | "cause" | "allocated" | "freed" | "previous"), frame)) => {
            let stacks = first
                .stacks
                .iter()
                .filter(|stack| stack.role.as_str() == role);
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
        let said = said(&text);
        let is_said = |fact: &str| match fact.strip_prefix("not ") {
            Some(fact) => !said.iter().any(|known| known == fact),
            None => said.iter().any(|known| known == fact),
        };
        let is_true = |fact: &str| {
            if fact.contains("says ") {
                is_said(fact)
            } else {
                holds(fact, &reports)
            }
        };
        for fact in right.lines().filter(|fact| !is_true(fact)) {
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
                "{}: {fact:?} of {:#?} {said:#?}",
                folder.display(),
                seen.collect::<Vec<_>>()
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 120, "{count}");
}

/// Output of a run is judged, so nothing is read into it that only people write.
#[test]
fn output_of_a_run_holds_no_pasted_forms() {
    for text in [
        "java.lang.IllegalStateException: expected by a test\n",
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nIndexError: x\n",
        "TypeError: x\n    at f (/a.js:1:2)\n",
        "[pool www] child 7 exited on signal 11 (SIGSEGV)\n",
        "SIGSEGV: Illegal storage access.\n",
    ] {
        assert_eq!(parse(text), None, "{text}");
        assert_eq!(read_pasted(text).len(), 1, "{text}");
    }
}

/// Fails where a name that was read does not stand in the text.
fn expect_no_invention(text: &str) {
    // What wraps, quotes or escapes a name stands between its parts.
    let squeezed =
        |text: &str| text.replace(|c: char| c.is_whitespace() || "\\>|\u{1b}".contains(c), "");
    let bare = squeezed(&text.replace("<em>", "_").replace("</em>", "_"));
    let dotted = bare.replace('/', ".");
    let reports = read_pasted(text).into_iter().chain(parse(text));
    let frames = reports
        .flat_map(|report| report.stacks)
        .flat_map(|stack| stack.frames);
    for frame in frames {
        let file = frame.file.as_deref().unwrap_or_default();
        let name = file.rsplit('/').next().unwrap_or_default();
        // The folders of a Java file are those of its package; a log may name only the class.
        let languages = [".java", ".kt", ".scala", ".clj"];
        let file = languages
            .iter()
            .find_map(|end| name.strip_suffix(end))
            .unwrap_or(file);
        for name in [frame.function.as_str(), file] {
            let name = squeezed(name);
            // J9 has slashes in names.
            let stands = name == "??" || bare.contains(&name) || dotted.contains(&name);
            assert!(stands, "{name:?} is not in {text}");
        }
    }
    for fact in said(text) {
        let (what, name) = fact.split_once(": ").unwrap();
        let place = name.rsplit_once(':').filter(|_| what == "says file");
        let name = place.map_or(name, |(file, _)| file);
        if !["says kind", "says missing", "says command"].contains(&what) {
            assert!(
                bare.contains(&squeezed(name)),
                "{what} {name:?} is not in {text}"
            );
        }
    }
}

/// Logs are cut where a tracker's or a mail's limit lies, which is anywhere.
#[test]
fn every_name_that_is_given_stands_in_the_text() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/crashes");
    let forms = std::fs::read_dir(fixtures.join("forms")).unwrap();
    let forms = forms.map(|entry| entry.unwrap().path().join("report.txt"));
    let reports = std::fs::read_dir(fixtures.join("reports")).unwrap();
    let reports = reports.map(|entry| entry.unwrap().path());
    for path in forms.chain(reports).filter(|path| path.is_file()) {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        if text.len() > 20_000 {
            continue;
        }
        expect_no_invention(&text);
        for part in 1..6 {
            let cut = text.char_indices().nth(text.chars().count() * part / 6);
            let (head, tail) = text.split_at(cut.map_or(0, |(at, _)| at));
            expect_no_invention(head);
            expect_no_invention(tail);
        }
    }
}

/// A line that a log is cut to is not wrapped, and a fence ends the line that it stands in.
#[test]
fn no_name_is_put_together_of_two_pieces() {
    let words: String = (0..4_000).map(|number| format!("road{number} ")).collect();
    let long = format!("#1  {words}\n        ret = <optimized out>\n");
    let stop = "Program terminated with signal SIGSEGV, Segmentation fault.\n#0  0x07 in take (n=6) at a.c:3\n";
    expect_no_invention(&format!("{stop}{long}#2  0x09 in main () at a.c:9\n"));
    let cut = "==79== Invalid read of size 1\n==79==    at 0x484: strlen (in /usr/lib/vg.s```c\n==79==    by 0x497: fill (a.c:41)\n";
    expect_no_invention(&format!("It says:\n```\n{cut}"));
}
