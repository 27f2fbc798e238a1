//! The folder that `--out` names: the report, the patch, the journal, and the
//! log of every rung, the inputs that were found, for people and programs that come later.

use crate::common::{WrongInput, plain_name, unwritten, write_file};
use anyhow::Context;
use patchwright_agent::record::result::{RESULT_FILES, RESULT_FOLDERS, RUN_FILE, SMALLEST};
use patchwright_agent::report::{Report, RungReport};
use patchwright_source::visible_line;
use patchwright_store::Store;
use std::path::Path;

/// Makes sure that a folder can be written, before anything is spent, and takes
/// away what an earlier run left there: nothing of it may pass for this one's. The result of
/// another run is replaced only by force.
pub(crate) fn prepare(folder: &Path, run: &str, force: bool) -> anyhow::Result<()> {
    if !force {
        refuse_to_replace(folder, run)?;
    }
    make(folder)?;
    write_file(&folder.join(RUN_FILE), format!("{run}\n"))?;
    let of_attempts = RESULT_FOLDERS.into_iter().flat_map(|part| {
        let entries = std::fs::read_dir(folder.join(part)).into_iter().flatten();
        entries.flatten().map(|entry| entry.path()).filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("attempt-") || name.starts_with("baseline-")
        })
    });
    let files = RESULT_FILES.into_iter().map(|name| folder.join(name));
    for file in files.chain(of_attempts) {
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            done => done.with_context(|| unwritten(&file))?,
        }
    }
    Ok(())
}

/// Refuses a folder that holds the result of another run.
fn refuse_to_replace(folder: &Path, run: &str) -> Result<(), WrongInput> {
    let other = match std::fs::read_to_string(folder.join(RUN_FILE)) {
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
        let name = plain_name(&command.name, ".", usize::MAX);
        let path = format!("logs/baseline-{name}.log");
        bring_out(folder, path, &mut command.log, store).await?;
    }
    if let Some(smallest) = &mut report.smallest {
        bring_out(folder, SMALLEST.to_owned(), &mut smallest.input, store).await?;
    }
    let best = report.best.iter_mut();
    for attempt in report.attempts.iter_mut().chain(best) {
        for rung in &mut attempt.rungs {
            let name = format!("attempt-{}-{}", attempt.number, rung.name.replace(' ', "-"));
            bring_out_rung(folder, &name, rung, store).await?;
        }
    }
    if let Some(best) = &report.best {
        write_file(&folder.join("patch.diff"), best.diff_bytes())?;
        if let Some(test) = best.test_diff() {
            write_file(&folder.join("test.diff"), test)?;
        }
    }
    if let Some(fix) = report.foreign_fix() {
        write_file(&folder.join("patch.diff"), fix)?;
    }
    let mut journal = String::new();
    for event in store.events(&report.run).await? {
        journal.push_str(&serde_json::to_string(&event)?);
        journal.push('\n');
    }
    write_file(&folder.join("journal.jsonl"), journal)?;
    let text = serde_json::to_string_pretty(&report)?;
    write_file(&folder.join("report.json"), text)?;
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
    bring_out(folder, format!("logs/{name}.log"), &mut rung.log, store).await?;
    for (number, hash) in (1..).zip(std::mem::take(&mut rung.found)) {
        let mut input = Some(hash);
        let path = format!("found/{name}-{number}");
        bring_out(folder, path, &mut input, store).await?;
        rung.found.extend(input);
    }
    for (number, doubt) in (1..).zip(&mut rung.doubts) {
        let path = format!("doubts/{name}-{number}");
        bring_out(folder, path, &mut doubt.input, store).await?;
    }
    Ok(())
}

/// Writes a blob as a file below the folder, and its path there in the place of its hash.
async fn bring_out(
    folder: &Path,
    path: String,
    place: &mut Option<String>,
    store: &Store,
) -> anyhow::Result<()> {
    let Some(hash) = place.take() else {
        return Ok(());
    };
    if let Some(bytes) = store.blob(&hash).await? {
        let file = folder.join(&path);
        make(file.parent().unwrap_or(folder))?;
        write_file(&file, bytes)?;
        *place = Some(path);
    }
    Ok(())
}
