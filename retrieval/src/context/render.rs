//! A context as text. Only what is in the context is written: nothing of the
//! clock and nothing of the machine.

use super::{Card, Context};
use crate::snippet::Snippet;

impl Context {
    /// The text that the model reads: sections in XML-like tags, code with
    /// numbered lines. The same context gives the same bytes.
    pub fn render(&self) -> String {
        let (intent, confidence) = (&self.intent, self.confidence);
        let code = self.render_code();
        format!("<!-- intent: {intent}, confidence: {confidence:.2} -->\n{code}")
    }

    /// Returns the text without the remark about the kind of request.
    pub fn render_code(&self) -> String {
        // The code of a frame says itself where it stands on the stack.
        let frames = self.stack.iter().filter(|frame| !is_shown(self, frame));
        section("stack", frames.map(|frame| format!("{frame}\n")))
            + &section("relevant_code", self.snippets.iter().map(file_section))
            + &section("definitions", self.definitions.iter().map(card_section))
    }
}

/// Parts in a tag; nothing where there are none.
fn section(tag: &str, parts: impl Iterator<Item = String>) -> String {
    match parts.collect::<String>() {
        parts if parts.is_empty() => parts,
        parts => format!("<{tag}>\n{parts}</{tag}>\n"),
    }
}

/// Tells whether a snippet shows the line of a frame, as the stack section tells it.
fn is_shown(context: &Context, frame: &str) -> bool {
    let Some((place, line)) = frame.rsplit_once(':') else {
        return false;
    };
    let Ok(line) = line.parse::<u32>() else {
        return false;
    };
    context.snippets.iter().any(|snippet| {
        !snippet.sparse && place.ends_with(&format!(" {}", snippet.path)) && snippet.has_line(line)
    })
}

/// One card with its head.
pub(super) fn card_section(card: &Card) -> String {
    let (kind, name) = (&card.kind, &card.name);
    format!("[{kind}] {name}  {}\n{}", card.place, card.text)
}

/// One snippet with its tag.
pub(super) fn file_section(snippet: &Snippet) -> String {
    // Heads name their functions themselves.
    let names = snippet.symbols.iter().filter(|_| !snippet.sparse);
    let names = names.map(|name| without_package(name, snippet.path.folder()));
    let names = names.collect::<Vec<_>>().join(", ");
    let about = match (names.as_str(), &snippet.note) {
        (_, None) => names,
        ("", Some(note)) => note.clone(),
        (names, Some(note)) => format!("{names}: {note}"),
    };
    // Of heads only their own lines are shown.
    let (first, last) = (snippet.start_line, snippet.end_line);
    let lines = format!(" lines=\"{first}-{last}\"");
    let lines = Some(lines).filter(|_| !snippet.sparse).unwrap_or_default();
    format!(
        "<file path=\"{}\"{lines} about=\"{}\">\n{}</file>\n",
        attribute(snippet.path.as_str()),
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
