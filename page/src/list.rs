//! The list of tasks, with its filter.

use crate::template::{render, values};
use crate::view::ListView;
use minijinja::{Error, context};

/// Writes the page of tasks.
///
/// # Errors
/// The template does not fit the values.
pub fn list(view: &ListView) -> Result<String, Error> {
    render("list.html", context! { heading => "Tasks", ..values(view) })
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
        let page = list(&view).unwrap();
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
