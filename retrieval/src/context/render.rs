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
    // The code of a frame says itself where it stands on the stack.
    let mut stack = context
        .stack
        .iter()
        .filter(|frame| !is_shown(context, frame));
    if let Some(first) = stack.next() {
        let _ = writeln!(out, "<stack>\n{first}");
        for frame in stack {
            let _ = writeln!(out, "{frame}");
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

/// Tells whether a snippet shows the line of a frame, as the stack section tells it.
fn is_shown(context: &Context, frame: &str) -> bool {
    let Some((place, line)) = frame.rsplit_once(':') else {
        return false;
    };
    let Ok(line) = line.parse::<u32>() else {
        return false;
    };
    let mut snippets = context.snippets.iter();
    snippets.any(|snippet| {
        let mut ranges = snippet.ranges().into_iter();
        !snippet.sparse
            && place.ends_with(&format!(" {}", snippet.path))
            && ranges.any(|(first, last)| (first..=last).contains(&line))
    })
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
        let names = snippet.symbols.iter();
        let names: Vec<&str> = names
            .map(|name| without_package(name, snippet.path.folder()))
            .collect();
        names.join(", ")
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

/// A name without the package that the folder of its file says as well: `org.a.B.run` in
/// `src/main/java/org/a` is `B.run`.
fn without_package<'n>(name: &'n str, folder: &str) -> &'n str {
    let package = folder.replace('/', ".");
    let starts = package.match_indices('.').map(|(at, _)| at + 1);
    std::iter::once(0)
        .chain(starts)
        .filter_map(|at| package.get(at..))
        .filter(|part| !part.is_empty())
        .find_map(|part| name.strip_prefix(part)?.strip_prefix('.'))
        .unwrap_or(name)
}

fn attribute(text: &str) -> String {
    text.replace('"', "'").replace(['\n', '\r'], " ")
}
