//! A crash report as people and as programs read it.

use patchwright_crash::{CrashReport, Frame, Stack, is_only_shown, read_pasted};
use patchwright_source::Tree;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Most frames of a stack that are shown to people.
const SHOWN_FRAMES: usize = 16;

/// Describes the crash report that leads in a pasted text for people; `None` when it holds
/// none.
pub(crate) fn describe(text: &str, tree: Option<&Tree>) -> Option<String> {
    let (report, signature) = in_tree(text, tree).into_iter().next()?;
    Some(as_text(&report, &signature))
}

/// The reports in a pasted text with the paths of the tree, each with its signature; the one
/// that shows most of the project comes first.
pub(crate) fn in_tree(text: &str, tree: Option<&Tree>) -> Vec<(CrashReport, String)> {
    let reports = read_pasted(text).into_iter();
    reports.map(|report| placed(report, tree)).collect()
}

fn placed(mut report: CrashReport, tree: Option<&Tree>) -> (CrashReport, String) {
    if let Some(tree) = tree {
        report.rebase(&|path| tree.rebase(path).map(|path| path.to_string()));
    }
    let in_project = |frame: &Frame| {
        let file = frame.file.as_deref();
        let known = |tree: &Tree| file.is_some_and(|file| tree.rebase(file).is_some());
        tree.is_some_and(known)
    };
    let signature = report.signature(&in_project).to_string();
    (report, signature)
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
        let tool = report.tool;
        let _ = writeln!(
            text,
            "note       crashes of {tool} are located and shown, but not repaired yet"
        );
    }
    for stack in &report.stacks {
        show(&mut text, stack);
    }
    text
}

fn show(text: &mut String, stack: &Stack) {
    let _ = writeln!(text, "\n{}", stack.role.name());
    for (number, frame) in stack.frames.iter().take(SHOWN_FRAMES).enumerate() {
        let _ = writeln!(text, "  #{number:<3} {frame}");
    }
    if stack.frames.len() > SHOWN_FRAMES {
        let _ = writeln!(text, "  .. {} more", stack.frames.len() - SHOWN_FRAMES);
    }
}

/// The report's own form, and the signature as one string.
pub(crate) fn as_json(report: &CrashReport, signature: &str) -> serde_json::Result<Value> {
    Ok(json!({
        "tool": report.tool,
        "kind": report.kind,
        "cwe": report.cwe,
        "access": report.access,
        "stacks": serde_json::to_value(&report.stacks)?,
        "signature": signature,
        "summary": report.summary,
        "purified": report.purified,
        "cut": report.cut,
        "repaired": !is_only_shown(report.tool),
    }))
}

#[cfg(test)]
mod tests {
    use super::{as_json, as_text};
    use patchwright_crash::parse;

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
        let value = as_json(&report, &signature).unwrap();
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
}
