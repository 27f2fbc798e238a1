//! A crash report as people and as programs read it.

use patchwright_crash::{CrashReport, Frame, ReportInWords, Stack, is_only_shown, read_pasted};
use patchwright_retrieval::function_around;
use patchwright_source::{Language, Tree};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Most frames of a stack that are shown to people.
const SHOWN_FRAMES: usize = 16;

/// Describes the crash report that leads in a pasted text for people, else what the text says
/// in words; `None` when it does neither.
#[cfg(feature = "mcp")]
pub(crate) fn describe(text: &str, tree: Option<&Tree>) -> Option<String> {
    match in_tree(text, tree).into_iter().next() {
        Some((report, signature)) => Some(as_text(&report, &signature)),
        None => Some(words_as_text(&patchwright_crash::read_words(text)?)),
    }
}

/// A report that stands in words alone.
pub(crate) fn words_as_text(words: &ReportInWords) -> String {
    let kind = words.kind.as_deref().unwrap_or("unknown failure");
    let head = "in the reporter's words; no tool's report is in the text\nconfidence low";
    format!("{kind}, {head}\n{}", named_in_words(words))
}

/// Lists the names in a reporter's words, a line for each kind.
pub(crate) fn named_in_words(words: &ReportInWords) -> String {
    let Value::Object(mut rows) = json!(words) else {
        return String::new();
    };
    let commands = words.commands.iter().map(ToString::to_string);
    rows.insert("commands".to_owned(), commands.collect());
    let quoted = words.quoted.iter();
    let sizes = quoted.map(|text| format!("{} bytes", text.len()));
    rows.insert("quoted".to_owned(), sizes.collect());
    let mut text = String::new();
    for (title, names) in &rows {
        let names = names.as_array().into_iter().flatten();
        let names: Vec<&str> = names.filter_map(Value::as_str).collect();
        if !names.is_empty() {
            let _ = writeln!(text, "{title:<10} {}", names.join(", "));
        }
    }
    text
}

/// The reports in a pasted text with the paths of the tree, each with its signature; the one
/// that shows most of the project comes first.
pub(crate) fn in_tree(text: &str, tree: Option<&Tree>) -> Vec<(CrashReport, String)> {
    let reports = read_pasted(text).into_iter();
    reports.map(|report| placed(report, tree)).collect()
}

/// Returns a report with the paths and the functions of the tree, and its signature.
pub(crate) fn placed(mut report: CrashReport, tree: Option<&Tree>) -> (CrashReport, String) {
    if let Some(tree) = tree {
        report.rebase(&|path| tree.rebase(path).map(|path| path.to_string()));
        report.name_functions(&|file, line| function_at(tree, file, line));
    }
    let in_project = |frame: &Frame| {
        let place = tree.zip(frame.file.as_deref());
        place.is_some_and(|(tree, file)| tree.rebase(file).is_some())
    };
    let signature = report.signature(&in_project).to_string();
    (report, signature)
}

/// Returns the function of the tree around a line.
fn function_at(tree: &Tree, file: &str, line: u32) -> Option<String> {
    let path = tree.rebase(file)?;
    let text = tree.read(&path).ok()?;
    let language = Language::of_path(&path)?;
    Some(function_around(language, text.bytes(), line)?.0)
}

/// The report and its signature, stack by stack.
pub(crate) fn as_text(report: &CrashReport, signature: &str) -> String {
    let mut text = format!("{}\n", report.summary);
    let cwe = report.cwe.as_deref().unwrap_or("unknown");
    let _ = writeln!(text, "weakness   {cwe}");
    let _ = writeln!(text, "signature  {signature}");
    if report.cut {
        text.push_str("note       the stack is cut: the text ends in its middle\n");
    }
    if is_only_shown(report.tool) {
        let note = "are located and shown, but not repaired yet";
        let _ = writeln!(text, "note       crashes of {} {note}", report.tool);
    }
    for stack in &report.stacks {
        show(&mut text, stack);
    }
    text
}

fn show(text: &mut String, stack: &Stack) {
    let _ = writeln!(text, "\n{}", stack.role.as_str());
    for (number, frame) in stack.frames.iter().take(SHOWN_FRAMES).enumerate() {
        let _ = writeln!(text, "  #{number:<3} {frame}");
    }
    if stack.frames.len() > SHOWN_FRAMES {
        let _ = writeln!(text, "  .. {} more", stack.frames.len() - SHOWN_FRAMES);
    }
}

/// The report's own form, and the signature as one string.
pub(crate) fn as_json(
    report: &CrashReport,
    signature: &str,
    words: Option<&ReportInWords>,
) -> Value {
    json!({
        "tool": report.tool,
        "kind": report.kind,
        "cwe": report.cwe,
        "access": report.access,
        "stacks": report.stacks,
        "signature": signature,
        "summary": report.summary,
        "purified": report.purified,
        "cut": report.cut,
        "confidence": "high",
        "words": words,
        "repaired": !is_only_shown(report.tool),
    })
}

#[cfg(test)]
mod tests {
    use super::{as_json, as_text, describe};
    use patchwright_crash::parse;
    use patchwright_source::Tree;

    const REPORT: &str = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60200000001a at pc 0x1 bp 0x2 sp 0x3\n\
        WRITE of size 4 at 0x60200000001a thread T0\n    #0 0x1 in fill /src/a.c:17:3\n    #1 0x2 in main /src/a.c:40\n\n\
        0x60200000001a is located 0 bytes after 10-byte region [0x602000000010,0x60200000001a)\n\
        allocated by thread T0 here:\n    #0 0x1 in malloc (/out/x+0x1)\n    #1 0x2 in make /src/a.c:9\n\nSUMMARY: x\n";

    #[test]
    fn people_see_the_stacks() {
        let report = parse(REPORT).unwrap();
        let text = as_text(&report, "s");
        for words in [
            "CWE-122",
            "\ncrash\n  #0   fill /src/a.c:17:3\n",
            "\nallocated\n",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }

    #[test]
    fn the_json_form_stays() {
        let report = parse(REPORT).unwrap();
        let signature = report.signature(&|_| false).to_string();
        let value = as_json(&report, &signature, None);
        assert_eq!(value["tool"], "AddressSanitizer");
        assert_eq!(value["kind"], "heap-buffer-overflow");
        assert_eq!(value["cwe"], "CWE-122");
        assert_eq!(value["access"]["operation"], "write");
        assert_eq!(value["access"]["size"], 4);
        assert_eq!(value["access"]["distance"], 0);
        assert_eq!(value["signature"], "heap-buffer-overflow | fill | main");
        let frame = &value["stacks"][0]["frames"][0];
        assert_eq!(value["stacks"][0]["role"], "crash");
        assert_eq!(value["stacks"][1]["role"], "allocated");
        assert_eq!(
            frame.to_string(),
            r#"{"function":"fill","file":"/src/a.c","line":17,"column":3}"#
        );
        assert!(
            value["summary"]
                .as_str()
                .unwrap()
                .contains("in fill /src/a.c:17:3")
        );
    }
    #[test]
    fn a_place_without_a_function_is_found_in_the_tree() {
        let folder = tempfile::tempdir().unwrap();
        let code = "static int order(int a)\n{\n    return a;\n}\n";
        std::fs::write(folder.path().join("comp.c"), code).unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        let log = "/home/u/lib/comp.c:3:9: runtime error: null pointer passed as argument 1, which is declared to never be null\n";
        let text = describe(log, Some(&tree)).unwrap();
        assert!(text.contains(" in order comp.c:3:9\n"), "{text}");
        assert!(
            text.contains("signature  invalid-null-argument | order\n"),
            "{text}"
        );
    }

    #[test]
    fn words_alone_are_a_report() {
        let text = describe("tap hangs in `inlet_skip` (inlet.c:212)\n", None).unwrap();
        let expected = [
            "timeout, in the reporter's words",
            "confidence low\nfunctions  inlet_skip\nfiles      inlet.c:212\n",
            "missing    the output with error and stack, the input",
        ];
        for words in expected {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert_eq!(describe("all is well", None), None);
    }
}
