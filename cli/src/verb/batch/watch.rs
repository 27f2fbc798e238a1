//! Progress of a batch: a line for each task that has ended.

use crate::display::Display;
use patchwright_daemon::service::Service;
use patchwright_store::submissions::{TaskFilter, TaskRow};
use std::collections::BTreeSet;
use std::time::Duration;

/// Between two looks at the tasks.
const GLANCE: Duration = Duration::from_millis(300);
/// Tasks of one look.
const PAGE: u32 = 1000;

/// Waits until every task of a place is over, and says each.
pub(super) async fn until_all_over(
    service: &Service,
    place: &str,
    display: &Display,
) -> anyhow::Result<()> {
    let mut told = BTreeSet::new();
    loop {
        let tasks = all(service, place).await?;
        let over = tasks.iter().filter(|task| task.state.is_over());
        for task in over.rev() {
            if told.insert(task.id.clone()) {
                let (count, of) = (told.len(), tasks.len());
                let ending = task.ending.as_deref().unwrap_or_default();
                display.line(&format!("{count}/{of} {}: {ending}", task.id));
            }
        }
        if told.len() == tasks.len() {
            return Ok(());
        }
        tokio::time::sleep(GLANCE).await;
    }
}

/// Every task of a place, the newest first.
async fn all(service: &Service, place: &str) -> anyhow::Result<Vec<TaskRow>> {
    let mut filter = TaskFilter {
        place: Some(place.to_owned()),
        limit: Some(PAGE),
        ..TaskFilter::default()
    };
    let mut tasks = Vec::new();
    loop {
        let page = service.store().tasks(&filter).await?;
        tasks.extend(page.tasks);
        filter.cursor = page.next;
        if page.next.is_none() {
            return Ok(tasks);
        }
    }
}
