//! Frame of every page, and the small parts that pages share.

use crate::text::shown_line;
use crate::view::Viewer;
use maud::{DOCTYPE, Markup, html};
use std::fmt::Write;

/// The path below which everything lies.
pub const ROOT: &str = "/review";

/// Writes a page. `live` is the address of its events.
pub(crate) fn page(title: &str, viewer: &Viewer, live: Option<&str>, content: &Markup) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="same-origin";
                title { (shown_title(title)) " · Patchwright" }
                link rel="icon" href={ (ROOT) "/icon.svg" };
                link rel="stylesheet" href={ (ROOT) "/style.css" };
                script src={ (ROOT) "/script.js" } defer {}
            }
            body data-events=[live] {
                a.skip href="#main" { "Skip to the content" }
                header.bar {
                    nav aria-label="Pages" {
                        a.brand href=(ROOT) { "Patchwright" }
                        a href=(ROOT) { "Tasks" }
                        a href={ (ROOT) "/plots" } { "Plots" }
                        a href={ (ROOT) "/decisions.csv" } { "Decisions (CSV)" }
                    }
                    @if !viewer.name.is_empty() {
                        div.who {
                            span { (shown_line(&viewer.name)) }
                            @if viewer.signed_in {
                                form method="post" action={ (ROOT) "/sign-out" } {
                                    button.plain { "Sign out" }
                                }
                            }
                        }
                    }
                }
                main #main { (content) }
            }
        }
    };
    markup.into_string()
}

/// A title holds no markup: hidden characters are written in plain text.
fn shown_title(title: &str) -> String {
    patchwright_source::visible_line(title).into_owned()
}

/// Writes an ending or a state as a badge.
pub(crate) fn badge(word: &str) -> Markup {
    let class = match word {
        "verified" | "approved" => "good",
        "plausible" | "proposed" | "unverified" => "fair",
        "no_patch" | "budget_exhausted" | "deadline" | "not_reproducible" | "rejected" => "bad",
        "invalid_task" | "infra_error" => "fault",
        "running" | "unfinished" | "queued" | "paused" => "live",
        _ => "none",
    };
    html! { span class={ "badge " (class) } { (word.replace('_', " ")) } }
}

/// Writes the symbol of a rung.
pub(crate) fn mark(holds: Option<bool>) -> Markup {
    let (class, symbol, word) = match holds {
        Some(true) => ("yes", "✓", "holds"),
        Some(false) => ("no", "✗", "refused"),
        None => ("open", "?", "open"),
    };
    html! { span class={ "mark " (class) } { span aria-hidden="true" { (symbol) } span.sr { (word) } } }
}

/// Writes a part that is fetched when somebody opens it.
pub(crate) fn lazy(summary: &Markup, from: &str, open: bool) -> Markup {
    html! {
        details.lazy data-load=(from) open[open] {
            summary { (summary) }
            div.loaded { a href=(from) { "Open" } }
        }
    }
}

/// Writes the address of a run.
pub(crate) fn run_path(run: &str) -> String {
    format!("{ROOT}/runs/{}", escaped(run))
}

/// Escapes a segment of an address.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'-' | b'_' | b'.' => out.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            byte => {
                // Writing to a string cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// Writes the age of a time for people; nothing when either cannot be read.
pub(crate) fn age(time: &str, now: &str) -> String {
    let read = |text: &str| text.parse::<jiff::Timestamp>().ok();
    let (Some(then), Some(now)) = (read(time), read(now)) else {
        return String::new();
    };
    let seconds = now.as_second().saturating_sub(then.as_second());
    match seconds {
        ..60 => "now".to_owned(),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::{age, escaped};

    #[test]
    fn ages_are_short_and_addresses_safe() {
        let now = "2030-01-03T00:00:00.000Z";
        for (time, expected) in [
            ("2030-01-02T23:59:30.000Z", "now"),
            ("2030-01-02T23:50:00.000Z", "10 min"),
            ("2030-01-02T01:00:00.000Z", "23 h"),
            ("2029-12-24T00:00:00.000Z", "10 d"),
            ("whenever", ""),
        ] {
            assert_eq!(age(time, now), expected);
        }
        assert_eq!(escaped("a/b\"<é"), "a%2Fb%22%3C%C3%A9");
    }
}
