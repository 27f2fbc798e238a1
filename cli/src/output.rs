//! The folder that `--out` names: the report, the patch, the journal, and the
//! log of every rung, the inputs that were found, for people and programs that come later.

use crate::common::WrongInput;
use anyhow::Context;
use patchwright_agent::report::{Report, RungReport};
use patchwright_source::visible_line;
use patchwright_store::Store;
use std::path::Path;

/// The file that holds the run's id, from its first moment on.
pub(crate) const RUN: &str = "run";
/// The file that holds the smallest input that shows the crash.
pub(crate) const SMALLEST: &str = "pov.min";

/// Makes sure that a folder can be written, before anything is spent, and takes
/// away what an earlier run left there: nothing of it may pass for this one's.
pub(crate) fn prepare(folder: &Path, run: &str) -> anyhow::Result<()> {
    make(folder)?;
    save(&folder.join(RUN), format!("{run}\n").as_bytes())?;
    let of_attempts = ["logs", "found", "doubts"].into_iter().flat_map(|part| {
        let entries = std::fs::read_dir(folder.join(part)).into_iter().flatten();
        entries.flatten().map(|entry| entry.path()).filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("attempt-") || name.starts_with("baseline-")
        })
    });
    let files = [
        "report.json",
        "patch.diff",
        "test.diff",
        "journal.jsonl",
        "story.md",
        SMALLEST,
    ]
    .map(|name| folder.join(name));
    for file in files.into_iter().chain(of_attempts) {
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            done => done.with_context(|| unwritten(&file))?,
        }
    }
    Ok(())
}

/// Refuses a folder that holds the result of another run.
pub(crate) fn refuse_to_replace(folder: &Path, run: &str) -> Result<(), WrongInput> {
    let other = match std::fs::read_to_string(folder.join(RUN)) {
        Ok(other) if other.trim() == run => return Ok(()),
        Ok(other) => format!("run {}", visible_line(other.trim())),
        Err(_) if folder.join("report.json").exists() => "another run".to_owned(),
        Err(_) => return Ok(()),
    };
    let folder = folder.display();
    Err(WrongInput(format!(
        "--out: {folder} holds the result of {other}; name another folder, or replace it with --force"
    )))
}

fn make(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| unwritten(folder))
}

/// Writes `report.json`, `patch.diff`, `test.diff`, `pov.min`, `journal.jsonl`, `logs/` and the inputs
/// that refuted attempts, in `found/`, and those that show a doubt, in `doubts/`; returns
/// the report as it was written, its logs named by their files.
pub(crate) async fn write(folder: &Path, report: &Report, store: &Store) -> anyhow::Result<Report> {
    make(&folder.join("logs"))?;
    let mut report = report.clone();
    for command in &mut report.baseline {
        if let Some(hash) = command.log.take() {
            let name = file_name(&command.name);
            let path = format!("logs/baseline-{name}.log");
            command.log = bring_out(folder, path, &hash, store).await?;
        }
    }
    if let Some(smallest) = &mut report.smallest
        && let Some(hash) = smallest.input.take()
    {
        smallest.input = bring_out(folder, SMALLEST.to_owned(), &hash, store).await?;
    }
    let best = report.best.iter_mut();
    for attempt in report.attempts.iter_mut().chain(best) {
        for rung in &mut attempt.rungs {
            let name = format!("attempt-{}-{}", attempt.number, rung.name.replace(' ', "-"));
            bring_out_rung(folder, &name, rung, store).await?;
        }
    }
    if let Some(best) = &report.best {
        save(&folder.join("patch.diff"), &best.diff_bytes())?;
        if let Some(test) = best.test_diff() {
            save(&folder.join("test.diff"), test.as_bytes())?;
        }
    }
    if let Some(fix) = report.foreign_fix() {
        save(&folder.join("patch.diff"), fix.as_bytes())?;
    }
    let mut journal = String::new();
    for event in store.events(&report.run).await? {
        journal.push_str(&serde_json::to_string(&event)?);
        journal.push('\n');
    }
    save(&folder.join("journal.jsonl"), journal.as_bytes())?;
    save(
        &folder.join("report.json"),
        serde_json::to_string_pretty(&report)?.as_bytes(),
    )?;
    Ok(report)
}

/// Writes the log of a rung, the inputs that refuted the patch there, and those that
/// show a doubt.
async fn bring_out_rung(
    folder: &Path,
    name: &str,
    rung: &mut RungReport,
    store: &Store,
) -> anyhow::Result<()> {
    if let Some(hash) = rung.log.take() {
        rung.log = bring_out(folder, format!("logs/{name}.log"), &hash, store).await?;
    }
    let mut found = Vec::new();
    for (index, hash) in std::mem::take(&mut rung.found).iter().enumerate() {
        let path = format!("found/{name}-{}", index + 1);
        make(&folder.join("found"))?;
        found.extend(bring_out(folder, path, hash, store).await?);
    }
    rung.found = found;
    for (index, doubt) in rung.doubts.iter_mut().enumerate() {
        if let Some(hash) = doubt.input.take() {
            let path = format!("doubts/{name}-{}", index + 1);
            make(&folder.join("doubts"))?;
            doubt.input = bring_out(folder, path, &hash, store).await?;
        }
    }
    Ok(())
}

/// A name as a part of a file's name.
fn file_name(name: &str) -> String {
    let plain = |character: char| {
        if character.is_ascii_alphanumeric() || character == '.' {
            character
        } else {
            '-'
        }
    };
    name.chars().map(plain).collect()
}

/// Writes a blob as a file below the folder and gives its path there.
async fn bring_out(
    folder: &Path,
    path: String,
    hash: &str,
    store: &Store,
) -> anyhow::Result<Option<String>> {
    let Some(bytes) = store.blob(hash).await? else {
        return Ok(None);
    };
    save(&folder.join(&path), &bytes)?;
    Ok(Some(path))
}

fn save(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    std::fs::write(path, bytes).with_context(|| unwritten(path))
}

fn unwritten(path: &Path) -> String {
    format!("{} cannot be written", path.display())
}
