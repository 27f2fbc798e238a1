//! `patchwright completions` and `patchwright man`: files for a shell and for
//! `man`, made from the definition of the command line.

use super::CommandLine;
use crate::common::write_out;
use anyhow::Context;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// The folder that the pages go to, one for each subcommand
    pub folder: PathBuf,
}

/// Prints the completions of a shell.
///
/// # Errors
/// Standard output is closed.
pub(crate) fn completions(arguments: &CompletionsArguments) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    let mut command = CommandLine::command();
    clap_complete::generate(arguments.shell, &mut command, "patchwright", &mut text);
    write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the manual pages.
///
/// # Errors
/// The folder cannot be written.
pub(crate) fn man(arguments: &ManArguments) -> anyhow::Result<ExitCode> {
    let folder = &arguments.folder;
    let failed = || format!("{} cannot be written", folder.display());
    std::fs::create_dir_all(folder).with_context(failed)?;
    clap_mangen::generate_to(CommandLine::command(), folder).with_context(failed)?;
    Ok(ExitCode::SUCCESS)
}
