//! The command line: one file a subcommand.
//!
//! Each subcommand has its arguments and a function that runs it and yields
//! the exit status. Settings are loaded here and handed in; nothing below
//! reads the environment.

pub mod apply;
pub mod batch;
pub mod check;
mod client;
pub mod config;
pub mod context;
pub mod crash;
pub mod db;
pub mod evaluate;
pub mod events;
pub mod export;
pub mod judge;
pub mod mcp;
pub mod oss_crs;
pub mod replay;
pub mod resume;
pub mod retrieve;
pub mod run;
pub mod serve;
mod session;
pub mod show;
pub mod submit;
pub mod tasks;
pub mod token;
pub mod work;

use crate::settings::{Flag, Loaded, SettingsError, Sources};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;

/// Repairs crashes on its own, and proves every patch it gives out.
#[derive(Debug, Parser)]
#[command(name = "patchwright", version, max_term_width = 100)]
pub struct CommandLine {
    /// What holds for every subcommand.
    #[command(flatten)]
    pub common: Common,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Repair a crash and print the patch with its evidence
    Run(Box<run::RunArguments>),
    /// Climb the ladder with a patch that somebody else wrote
    Judge(judge::JudgeArguments),
    /// Print the diff that a reply stands for, or why there is none
    Apply(apply::ApplyArguments),
    /// Climb the ladder with a candidate that a dry run proposed
    Evaluate(evaluate::EvaluateArguments),
    /// Hand on a finished run: a folder with its story, a diff, a mail, a branch
    Export(export::ExportArguments),
    /// Read a crash report from a log
    Crash(crash::CrashArguments),
    /// Go on with a run that was cut off
    Resume(resume::ResumeArguments),
    /// Walk a finished run again, offline, and judge its patches anew
    Replay(replay::ReplayArguments),
    /// Index a source tree, and say what was skipped
    Index(retrieve::IndexArguments),
    /// Ask a source tree, as a model would
    Retrieve(retrieve::RetrieveArguments),
    /// Gather the code that a request or a crash report on standard input concerns
    Context(context::ContextArguments),
    /// Serve the code search to agents and editors (Model Context Protocol, standard input and output)
    Mcp(mcp::McpArguments),
    /// Say what works on this machine, and what to do about the rest
    Check(check::CheckArguments),
    /// Print every setting and where its value comes from
    Config(config::ConfigArguments),
    /// Show the report of a run, or how far it has come
    Show(show::ShowArguments),
    /// Many tasks at once.
    #[command(flatten)]
    Many(Many),
}

/// The subcommands for many tasks: the daemon, its callers, and a batch.
#[derive(Debug, Subcommand)]
pub enum Many {
    /// Take tasks in over HTTP and work them off
    Serve(serve::ServeArguments),
    /// Make, list and revoke the tokens of the daemon's callers
    Token(token::TokenArguments),
    /// Repair what lies in the folders of an OSS-CRS run, with its sidecars
    OssCrs(Box<oss_crs::OssCrsArguments>),
    /// Hand tasks to a daemon
    Submit(submit::SubmitArguments),
    /// List the tasks of a daemon
    Tasks(tasks::TasksArguments),
    /// Follow what happens to a task of a daemon
    Events(events::EventsArguments),
    /// Take tasks out of a daemon's queue, or kill what runs for them
    Cancel(tasks::CancelArguments),
    /// Work off a set of tasks, and print a table of what came of them
    Batch(batch::BatchArguments),
    /// Work off the tasks of a queue that a daemon fills
    Work(work::WorkArguments),
    /// Bring the database up to date, copy it, or forget what is old
    Db(db::DbArguments),
}

/// Flags of every subcommand.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Settings file, over the user's own
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder for runs and journals
    #[arg(long, global = true, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Set any setting, as in --set limits.attempts=3
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// How a result is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// The exit status of a wrong command line or configuration.
pub const USAGE: u8 = 2;

/// The exit status of a run that was left paused: not decided, to be resumed
/// later (what `sysexits.h` calls a temporary failure).
pub const PAUSED: u8 = 75;

/// Something that the user named and that is not there, in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongInput(pub String);

impl Common {
    /// Loads the settings, with the flags of a subcommand on top.
    pub fn load(&self, mut flags: Vec<Flag>) -> Result<Loaded, SettingsError> {
        for set in &self.set {
            let (key, value) = set.split_once('=').unwrap_or((set, ""));
            flags.push(flag("--set", key, value));
        }
        if let Some(state) = &self.state {
            flags.push(flag(
                "--state",
                "store.folder",
                &state.display().to_string(),
            ));
        }
        crate::settings::load(&Sources::from_process(self.config.clone(), flags))
    }
}

/// A flag that sets a setting.
pub(crate) fn flag(name: &str, key: &str, value: &str) -> Flag {
    Flag {
        name: name.to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
    }
}

/// Runs a subcommand.
///
/// # Errors
/// Whatever it could not deal with itself; the message is for people.
pub async fn execute(line: CommandLine) -> anyhow::Result<ExitCode> {
    match line.command {
        Command::Run(arguments) => run::run(&line.common, *arguments).await,
        Command::Judge(arguments) => Box::pin(judge::judge(&line.common, arguments)).await,
        Command::Apply(arguments) => apply::run(&arguments),
        Command::Evaluate(arguments) => Box::pin(evaluate::evaluate(&line.common, arguments)).await,
        Command::Export(arguments) => export::export(&line.common, arguments).await,
        Command::Crash(arguments) => crash::run(&arguments),
        Command::Resume(arguments) => Box::pin(resume::resume(&line.common, arguments)).await,
        Command::Replay(arguments) => Box::pin(replay::replay(&line.common, arguments)).await,
        Command::Check(arguments) => {
            check::run(&line.common, &arguments, crate::wire::host()).await
        }
        Command::Index(arguments) => retrieve::index(&line.common, &arguments),
        Command::Retrieve(arguments) => retrieve::retrieve(&line.common, &arguments).await,
        Command::Context(arguments) => context::context(&line.common, &arguments).await,
        Command::Mcp(arguments) => mcp::run(&line.common, arguments).await,
        Command::Config(arguments) => config::run(&line.common, &arguments),
        Command::Show(arguments) => show::run(&line.common, arguments).await,
        Command::Many(many) => execute_many(&line.common, many).await,
    }
}

async fn execute_many(common: &Common, many: Many) -> anyhow::Result<ExitCode> {
    match many {
        Many::Serve(arguments) => serve::run(common, arguments).await,
        Many::Token(arguments) => token::run(common, arguments).await,
        Many::OssCrs(arguments) => Box::pin(oss_crs::run(common, *arguments)).await,
        Many::Submit(arguments) => submit::run(common, &arguments).await,
        Many::Tasks(arguments) => tasks::list(common, &arguments).await,
        Many::Events(arguments) => events::run(common, &arguments).await,
        Many::Cancel(arguments) => tasks::cancel(common, &arguments).await,
        Many::Batch(arguments) => batch::run(common, &arguments).await,
        Many::Work(arguments) => work::run(common, &arguments).await,
        Many::Db(arguments) => db::run(common, &arguments).await,
    }
}
