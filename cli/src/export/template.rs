//! Templates of the exports, and the filters that only they use.

use patchwright_agent::record::statement;
use patchwright_agent::report::Report;
use patchwright_agent::template::{self, Error, environment};
use patchwright_agent::templates;
use patchwright_source::visible_line;
use serde_json::Value;

/// Columns of a message (Documentation/SubmittingPatches of git).
pub(super) const COLUMNS: usize = 72;

const TEMPLATES: &[(&str, &str)] = templates! { "templates/":
    "answer.txt" "attached.txt" "body.txt" "candidate.md" "evidence.txt" "letter.txt" "mail.txt"
    "openvex.json" "pull_request.md" "quilt.txt" "sarif.json" "story.md" "words.txt"
};

pub(crate) fn render(name: &str, values: &Value) -> Result<String, Error> {
    let mut environment = environment()?;
    environment.add_filter("plain", |text: &str| plain(text));
    environment.add_filter("quoted", |text: &str| quoted(text));
    environment.add_filter("wrapped", wrapped);
    environment.add_filter("in_short", |text: &str| in_short(text));
    environment.add_filter("statement", |text: &str| statement(text).to_owned());
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    template::render(&environment, name, values)
}

/// Foreign words on one line, without the marks that Markdown reads.
fn plain(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut plain = String::with_capacity(words.len());
    for character in visible_line(&words).chars() {
        if matches!(character, '`' | '*' | '_' | '<' | '[' | ']' | '#' | '\\') {
            plain.push('\\');
        }
        plain.push(character);
    }
    plain
}

/// Foreign words in Markdown: visible, and without HTML.
fn quoted(text: &str) -> String {
    let lines: Vec<String> = text
        .trim()
        .lines()
        .map(|line| visible_line(line).replace('<', "&lt;"))
        .collect();
    lines.join("\n") + "\n"
}

/// Says how a run ended, without what its rungs say to whoever runs Patchwright.
pub(crate) fn ending(report: &Report) -> String {
    let rungs = report.best.iter().flat_map(|best| &best.rungs);
    let open = rungs.filter(|rung| rung.holds.is_none());
    let open: Vec<String> = open
        .map(|rung| {
            let reason = rung.reason.lines().next().unwrap_or_default();
            format!("{} ({})", rung.name, statement(reason))
        })
        .collect();
    if open.is_empty() {
        return report.detail.clone();
    }
    format!("not everything could be checked: {}", open.join(", "))
}

/// Returns the first two sentences of an explanation, which say what was wrong, and the first of its second
/// paragraph, which says what was done.
fn in_short(explanation: &str) -> String {
    let mut paragraphs = explanation.trim().split("\n\n");
    let cause = sentences(paragraphs.next().unwrap_or_default(), 2);
    let is_text = |text: &&str| text.trim_start().starts_with(char::is_alphabetic);
    let done = paragraphs.next().filter(is_text);
    let done = done.map(|done| sentences(done, 1));
    [cause, done.unwrap_or_default()].join("\n\n")
}

/// Returns the first sentences of a text.
fn sentences(text: &str, count: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut ends = text.match_indices(". ").filter(|(at, _)| {
        let next = text.get(at + 2..).and_then(|rest| rest.chars().next());
        next.is_some_and(|next| !next.is_lowercase())
    });
    let end = ends.nth(count - 1).map_or(text.len(), |(at, _)| at + 1);
    text.get(..end).unwrap_or_default().to_owned()
}

/// Text in lines of a message. A line that would end the message or begin a patch
/// is moved in.
fn wrapped(text: &str, columns: usize) -> String {
    let mut wrapped = String::new();
    for paragraph in text.trim().split("\n\n") {
        let mut column = 0;
        for word in paragraph.split_whitespace() {
            let word = visible_line(word);
            if column > 0 && column + 1 + word.chars().count() > columns {
                wrapped.push('\n');
                column = 0;
            }
            let mut marks = ["---", "diff", "Index:", "From"].iter();
            if column > 0 || marks.any(|mark| word.starts_with(mark)) {
                wrapped.push(' ');
                column += 1;
            }
            wrapped.push_str(&word);
            column += word.chars().count();
        }
        wrapped.push_str("\n\n");
    }
    wrapped.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, in_short, wrapped};

    #[test]
    fn a_message_says_what_was_wrong_and_what_was_done() {
        let cause = "A sum\nwraps. It is taken for small. More is known.";
        assert_eq!(
            in_short(&format!(
                "{cause}\n\nIt is checked now. Nothing else is.\n\nAnd so on."
            )),
            "A sum wraps. It is taken for small.\n\nIt is checked now."
        );
        assert_eq!(wrapped(&in_short("One."), COLUMNS), "One.\n");
        assert_eq!(in_short("One.\n\n- `a.c`: checks n").trim(), "One.");
    }

    #[test]
    fn text_is_wrapped_and_begins_no_patch() {
        let text = format!("{} end\n\n--- a/b\nFrom me", "word ".repeat(20));
        let wrapped = wrapped(&text, COLUMNS);
        assert!(wrapped.lines().all(|line| line.len() <= 72), "{wrapped}");
        assert!(wrapped.ends_with(" end\n\n --- a/b From me\n"), "{wrapped}");
    }
}
