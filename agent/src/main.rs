//! The binary: parses the command line and turns the outcome into an exit
//! status. Everything else is the library's.

use clap::Parser;
use patchwright::cli::{self, CommandLine};
use std::io::Write;
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
        return patchwright_evaluator::sandbox::enter_from_arguments();
    }
    let line = CommandLine::parse();
    let outcome = tokio::runtime::Runtime::new()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| {
            let outcome = runtime.block_on(cli::execute(line));
            // Blocking work that was overtaken by the end is not waited for.
            runtime.shutdown_background();
            outcome
        });
    outcome.unwrap_or_else(|error| {
        let _ = writeln!(std::io::stderr(), "patchwright: {}", told(&error));
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

/// What is wrong with the user's input is 2, everything else 5.
fn exit_code(error: &anyhow::Error) -> u8 {
    use patchwright::crs::oss::environment::EnvironmentError;
    use patchwright::model::ModelError;
    use patchwright::serve::api::ListenError;
    use patchwright::settings::SettingsError;
    use patchwright::store::StoreError;
    use patchwright::task::TaskError;
    use patchwright_retrieval::RetrievalError;

    // A model error comes here only from a transcript or a setting that cannot
    // be used: what an endpoint does is an ending.
    let wrong_input = error.is::<SettingsError>()
        || error.is::<cli::WrongInput>()
        || error.is::<TaskError>()
        || error.is::<ModelError>()
        || error.is::<patchwright::telemetry::TelemetryError>()
        || matches!(error.downcast_ref(), Some(ListenError::NoToken(_)))
        || error.is::<EnvironmentError>()
        || matches!(error.downcast_ref(), Some(StoreError::NoRun { .. }))
        || matches!(error.downcast_ref(), Some(RetrievalError::Source(_)));
    if wrong_input { cli::USAGE } else { 5 }
}
