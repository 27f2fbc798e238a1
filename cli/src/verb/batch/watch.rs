//! Progress of a batch: a moving line for each task that is worked
//! on, and a line that stays for each that has ended.

use crate::display::{self, Display};
use indicatif::{MultiProgress, ProgressBar};
use patchwright_agent::progress::Observer;
use patchwright_config::Settings;
use patchwright_daemon::service::Service;
use patchwright_daemon::worker::Observers;
use patchwright_store::submissions::{TaskFilter, TaskRow};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Between two looks at the tasks.
const GLANCE: Duration = Duration::from_millis(300);
/// Tasks of one look.
const PAGE: u32 = 1000;

/// The lines of a batch.
#[derive(Debug)]
pub(super) struct Watch {
    bars: Option<MultiProgress>,
    /// Where lines go that stay, but on a terminal.
    display: Display,
}

impl Watch {
    pub(super) fn new(settings: &Settings) -> Self {
        let display = display::of_settings(settings);
        let bars = display.is_terminal().then(MultiProgress::new);
        display.close();
        Self { bars, display }
    }

    /// A moving line for each task, where there is a terminal.
    pub(super) fn observers(&self) -> Observers {
        let bars = self.bars.clone();
        Arc::new(move |task| match &bars {
            Some(bars) => Display::batch(bars.add(ProgressBar::new_spinner()), task).observer(),
            None => Observer::silent(),
        })
    }

    /// Waits until every task of a place is over, and says each.
    pub(super) async fn until_all_over(
        &self,
        service: &Service,
        place: &str,
    ) -> anyhow::Result<()> {
        let mut told = BTreeSet::new();
        loop {
            let tasks = all(service, place).await?;
            let over = tasks.iter().filter(|task| task.state.is_over());
            for task in over.rev() {
                if told.insert(task.id.clone()) {
                    self.tell(task, (told.len(), tasks.len()));
                }
            }
            if told.len() == tasks.len() {
                return Ok(());
            }
            tokio::time::sleep(GLANCE).await;
        }
    }

    fn tell(&self, task: &TaskRow, (count, of): (usize, usize)) {
        let ending = task.ending.as_deref().unwrap_or_default();
        let line = format!("{count}/{of} {}: {ending}", task.id);
        match &self.bars {
            Some(bars) => {
                let _ = bars.println(line);
            }
            None => self.display.line(&line),
        }
    }

    /// Takes the moving lines away.
    pub(super) fn close(&self) {
        if let Some(bars) = &self.bars {
            let _ = bars.clear();
        }
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
