//! Crash reports of macOS in JSON (`.ips`), put into the words of its older crash logs.

use patchwright_source::regex;
use serde_json::{Deserializer, Value};
use std::fmt::Write as _;

/// Returns the text before the JSON, and the crash in the form that [`super::forms`] reads.
pub(super) fn as_text(text: &str) -> Option<String> {
    text.find("\"faultingThread\"")?;
    // A header of one line stands before the report.
    let starts = regex!(r"(?m)^\{").find_iter(text);
    let starts: Vec<usize> = starts.map(|brace| brace.start()).collect();
    let head = text.get(..*starts.first()?)?;
    let read = |at: usize| {
        let json = Deserializer::from_str(text.get(at..)?);
        let value = json.into_iter::<Value>().next()?.ok()?;
        let thread = value.get("faultingThread")?.as_u64()?;
        let frames = value.pointer(&format!("/threads/{thread}/frames"))?;
        let frames = frames.as_array()?.clone();
        Some((value, frames))
    };
    let (report, frames) = starts.into_iter().take(MAX_STARTS).find_map(read)?;
    let string =
        |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let exception = |key: &str| string(report.pointer(&format!("/exception/{key}")));
    let mut log = head.to_owned();
    let (kind, signal) = (exception("type"), exception("signal"));
    let _ = writeln!(log, "Exception Type:  {kind} ({signal})");
    let _ = writeln!(log, "Exception Codes: {}", exception("subtype"));
    for (number, frame) in frames.iter().enumerate() {
        let image = frame.get("imageIndex").and_then(Value::as_u64).unwrap_or(0);
        let module = string(report.pointer(&format!("/usedImages/{image}/name")));
        let (symbol, file) = (string(frame.get("symbol")), string(frame.get("sourceFile")));
        let symbol = if symbol.is_empty() { "0x0" } else { &symbol };
        let _ = write!(log, "{number}   {module} 0x0 {symbol} + 0");
        if let Some(line) = frame.get("sourceLine").and_then(Value::as_u64) {
            let _ = write!(log, " ({file}:{line})");
        }
        log.push('\n');
    }
    Some(log)
}

/// Braces at the start of a line from which a report is read.
const MAX_STARTS: usize = 16;
