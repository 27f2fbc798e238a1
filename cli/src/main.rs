//! The binary `patchwright`: parses the command line and turns the outcome into
//! an exit status.

mod common;
mod crash_text;
mod display;
mod export;
mod git;
mod init;
mod issue;
#[cfg(feature = "mcp")]
mod mcp;
mod output;
#[cfg(feature = "daemon")]
mod reviewed;
mod revisions;
mod story;
mod upstream;
mod verb;

use crate::common::{Stopped, USAGE, WrongInput, tell};
use crate::verb::CommandLine;
use clap::Parser;
use std::process::ExitCode;

/// Half the work of an index is small pieces of memory, in the parsers' C as
/// well as here: their `malloc` is this one too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The sandbox runs this binary again to close the doors behind itself.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == "sandbox-exec")
    {
        return patchwright_sandbox::enter_from_arguments();
    }
    patchwright_sandbox::hide_this_process();
    let line = CommandLine::parse();
    let outcome = tokio::runtime::Runtime::new()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| {
            let outcome = runtime.block_on(verb::execute(line));
            // Blocking work that was overtaken by the end is not waited for.
            runtime.shutdown_background();
            outcome
        });
    outcome.unwrap_or_else(|error| {
        let told = format!("patchwright: {}", told(&error));
        let _ = tell(&patchwright_source::visible(&told));
        ExitCode::from(exit_code(&error))
    })
}

/// An error with its causes; one that was told with the error before it is not
/// told again.
fn told(error: &anyhow::Error) -> String {
    let mut told = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !told.contains(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    told
}

/// Returns 2 for a fault of the user's input, 130 where it was stopped, 5 for everything else.
fn exit_code(error: &anyhow::Error) -> u8 {
    use patchwright_agent::task::TaskError;
    use patchwright_config::SettingsError;
    use patchwright_model::ModelError;
    use patchwright_retrieval::RetrievalError;
    use patchwright_store::StoreError;

    // A model error comes here only from a transcript or a setting that cannot
    // be used: what an endpoint does is an ending.
    let wrong_input = error.is::<SettingsError>()
        || error.is::<WrongInput>()
        || error.is::<TaskError>()
        || error.is::<ModelError>()
        || matches!(error.downcast_ref(), Some(StoreError::NoRun { .. }))
        || matches!(error.downcast_ref(), Some(RetrievalError::Source(_)));
    if error.is::<Stopped>() {
        return 130;
    }
    if wrong_input { USAGE } else { 5 }
}
