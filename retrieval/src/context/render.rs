//! A context as text. Only what is in the context is written: nothing of the
//! clock and nothing of the machine.

use super::{Card, Context};
use crate::snippet::Snippet;
use std::fmt::Write as _;

pub(super) fn render(context: &Context) -> String {
    let (intent, confidence) = (&context.intent, context.confidence);
    format!(
        "<!-- intent: {intent}, confidence: {confidence:.2} -->\n{}",
        code(context)
    )
}

/// Renders the code alone.
pub(super) fn code(context: &Context) -> String {
    let mut out = String::new();
    if !context.stack.is_empty() {
        out.push_str("<stack>\n");
        for line in &context.stack {
            let _ = writeln!(out, "{line}");
        }
        out.push_str("</stack>\n");
    }
    if !context.snippets.is_empty() {
        out.push_str("<relevant_code>\n");
        for snippet in &context.snippets {
            out.push_str(&file_section(snippet));
        }
        out.push_str("</relevant_code>\n");
    }
    if !context.definitions.is_empty() {
        out.push_str("<definitions>\n");
        for card in &context.definitions {
            out.push_str(&card_section(card));
        }
        out.push_str("</definitions>\n");
    }
    out
}

/// One card with its head.
pub(super) fn card_section(card: &Card) -> String {
    let Card {
        kind,
        name,
        place,
        text,
        ..
    } = card;
    format!("[{kind}] {name}  {place}\n{text}")
}

/// One snippet with its tag.
pub(super) fn file_section(snippet: &Snippet) -> String {
    // Heads name their functions themselves.
    let mut about = if snippet.sparse {
        String::new()
    } else {
        snippet.symbols.join(", ")
    };
    if let Some(note) = &snippet.note {
        about = if about.is_empty() {
            note.clone()
        } else {
            format!("{about}: {note}")
        };
    }
    format!(
        "<file path=\"{}\" lines=\"{}-{}\" about=\"{}\">\n{}</file>\n",
        attribute(snippet.path.as_str()),
        snippet.start_line,
        snippet.end_line,
        attribute(&about),
        snippet.numbered()
    )
}

fn attribute(text: &str) -> String {
    text.replace('"', "'").replace(['\n', '\r'], " ")
}
