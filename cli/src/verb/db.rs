//! `patchwright db`: bring the database up to date, or copy it while it is used.

use crate::common::Common;
use clap::Subcommand;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Actions on the database.
#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// Bring the tables up to date; every command does so when it opens the store
    Migrate,
    /// Copy the database to a file while it is used
    Backup {
        /// The file; it must not be there
        file: PathBuf,
    },
    /// Forget what ended before queue.keep; a daemon does so every hour
    Prune,
}

/// Does it.
///
/// # Errors
/// When the store cannot be opened, or the copy cannot be written.
pub(crate) async fn run(common: &Common, command: &DbCommand) -> anyhow::Result<ExitCode> {
    let (loaded, store) = common.open().await?;
    let mut out = std::io::stdout();
    match command {
        DbCommand::Migrate => writeln!(out, "the database is up to date")?,
        DbCommand::Backup { file } => {
            store.back_up(file).await?;
            writeln!(out, "copied to {}", file.display())?;
        }
        DbCommand::Prune => {
            let pruned = store.prune(loaded.settings.queue.keep).await?;
            let (tasks, runs, blobs) = (pruned.tasks, pruned.runs, pruned.blobs);
            writeln!(out, "forgot {tasks} tasks, {runs} runs and {blobs} logs")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
