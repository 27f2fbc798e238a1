//! List of tasks and runs, with its filter.

use crate::layout::{ROOT, age, badge, escaped, page, run_path};
use crate::text::{counted, money, seconds, shown_line};
use crate::view::{ListView, is_live};
use maud::{Markup, html};
use patchwright_store::reviews::ListedTask;
use std::fmt::Write;

/// Writes the page of the list.
pub fn list(view: &ListView) -> String {
    let content = html! {
        h1 { "Tasks" }
        (counts(view))
        (filter(view))
        @if view.page.rows.is_empty() {
            p.empty { "Nothing matches. Hand a task in with " code { "patchwright submit" } ", or run one with " code { "patchwright run" } "." }
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Tasks" {
                table.list {
                    thead { tr {
                        th { "Task" } th { "Verdict" } th.num { "P(right)" } th.num { "Attempts" }
                        th.num { "Cost" } th.num { "Time" } th.num { "Age" } th { "Decisions" }
                    } }
                    tbody { @for row in &view.page.rows { (entry(row, &view.now)) } }
                }
            }
        }
        @if let Some((time, id)) = &view.page.next {
            nav.pages aria-label="More tasks" { a.button rel="next" href=(next(view, time, id)) { "Older tasks" } }
        }
    };
    page("Tasks", &view.viewer, None, &content)
}

fn entry(row: &ListedTask, now: &str) -> Markup {
    let word = if row.ending.is_empty() {
        &row.state
    } else {
        &row.ending
    };
    html! {
        tr {
            td {
                @if row.begun == 1 {
                    a.task href=(run_path(&row.id)) { (shown_line(&row.task)) }
                    div.id { (shown_line(&row.id)) }
                } @else {
                    span.task { (shown_line(&row.task)) }
                    div.id { "not begun" }
                }
            }
            td { (badge(word)) @if is_live(row) && !row.ending.is_empty() { " " (badge(&row.state)) } }
            td.num { @if let Some(right) = row.p_right { (format!("{:.0} %", 100.0 * right)) } @else { "–" } }
            td.num { @if let Some(number) = row.attempts { (number) } @else { "–" } }
            td.num { @if let Some(usd) = row.usd { (money(usd)) } @else { "–" } }
            td.num { @if let Some(time) = row.seconds { (seconds(time)) } @else { "–" } }
            td.num { time datetime=(row.created) title=(row.created) { (age(&row.created, now)) } }
            td { @if row.decisions > 0 { (counted(usize::try_from(row.decisions).unwrap_or_default(), "decision")) } }
        }
    }
}

/// Writes the number of tasks of each kind, each a link to them.
fn counts(view: &ListView) -> Markup {
    let mut kinds: Vec<(&str, &str, i64)> = Vec::new();
    for (state, ending, count) in &view.counts {
        let (key, word) = match ending.as_str() {
            "" => ("state", state.as_str()),
            ending => ("ending", ending),
        };
        match kinds
            .iter_mut()
            .find(|kind| (kind.0, kind.1) == (key, word))
        {
            Some(kind) => kind.2 += count,
            None => kinds.push((key, word, *count)),
        }
    }
    html! {
        ul.counts {
            li { a href=(ROOT) { "all" } }
            @for (key, word, count) in kinds {
                li { a href={ (ROOT) "?" (key) "=" (escaped(word)) } { (badge(word)) " " span.count { (count) } } }
            }
        }
    }
}

fn filter(view: &ListView) -> Markup {
    let filter = &view.filter;
    let states = [
        "queued",
        "running",
        "paused",
        "unfinished",
        "done",
        "canceled",
    ];
    let endings = [
        "verified",
        "plausible",
        "unverified",
        "proposed",
        "no_patch",
        "budget_exhausted",
        "deadline",
        "not_reproducible",
        "invalid_task",
        "infra_error",
        "canceled",
    ];
    html! {
        form.filter method="get" action=(ROOT) role="search" {
            label { "Search " input type="search" name="text" value=(filter.text) maxlength="200" placeholder="part of a task's name" data-key="/"; }
            label { "State " (choice("state", &states, &filter.state)) }
            label { "Verdict " (choice("ending", &endings, &filter.ending)) }
            button { "Filter" }
        }
    }
}

fn choice(name: &str, words: &[&str], chosen: &str) -> Markup {
    html! {
        select name=(name) {
            option value="" { "any" }
            @for word in words { option value=(word) selected[*word == chosen] { (word.replace('_', " ")) } }
        }
    }
}

fn next(view: &ListView, time: &str, id: &str) -> String {
    let filter = &view.filter;
    let mut address = format!("{ROOT}?time={}&id={}", escaped(time), escaped(id));
    for (name, value) in [
        ("text", &filter.text),
        ("state", &filter.state),
        ("ending", &filter.ending),
    ] {
        if !value.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(address, "&{name}={}", escaped(value));
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::list;
    use crate::view::ListView;
    use patchwright_store::reviews::{ListFilter, ListPage, ListedTask};

    #[test]
    fn a_hostile_name_is_text_and_the_next_page_keeps_the_filter() {
        let row = ListedTask {
            id: "r-1".to_owned(),
            task: "<img src=x onerror=alert(1)>\u{202e}".to_owned(),
            begun: 1,
            state: "done".to_owned(),
            ending: "no_patch".to_owned(),
            created: "2030-01-01T00:00:00.000Z".to_owned(),
            ended: None,
            attempts: Some(3),
            usd: Some(0.02),
            seconds: Some(70.0),
            p_right: Some(0.125),
            decisions: 1,
        };
        let view = ListView {
            page: ListPage {
                rows: vec![row],
                next: Some(("2030-01-01T00:00:00.000Z".to_owned(), "r-1".to_owned())),
            },
            filter: ListFilter {
                text: "\"><script>".to_owned(),
                ..ListFilter::default()
            },
            counts: vec![("done".into(), "no_patch".into(), 3)],
            now: "2030-01-01T02:00:00.000Z".to_owned(),
            ..ListView::default()
        };
        let page = list(&view);
        assert!(
            !page.contains("<img") && !page.contains("\"><script>"),
            "{page}"
        );
        for part in [
            "&lt;img src=x onerror=alert(1)&gt;<span class=\"hid\">U+202E</span>",
            "text=%22%3E%3Cscript%3E",
            "href=\"/review/runs/r-1\"",
            "$0.0200",
            "12 %",
            "2 h",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
}
