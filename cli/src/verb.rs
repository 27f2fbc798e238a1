//! The command line: one file a subcommand, or for those that are alike.
//!
//! Each subcommand has its arguments and a function that runs it and yields
//! the exit status. Settings are loaded here and handed in; nothing below
//! reads the environment. The features of this crate leave out what a repair of one crash needs
//! not: the daemon with the verbs for many tasks, and the server for editors.

pub(crate) mod apply;
pub(crate) mod audit;
pub(crate) mod backport;
#[cfg(feature = "daemon")]
pub(crate) mod batch;
pub(crate) mod check;
mod client;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod crash;
#[cfg(feature = "daemon")]
pub(crate) mod db;
pub(crate) mod export;
pub(crate) mod fix;
pub(crate) mod init;
pub(crate) mod judge;
pub(crate) mod manual;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod model_arguments;
#[cfg(feature = "daemon")]
pub(crate) mod oss_crs;
pub(crate) mod resume;
pub(crate) mod retrieve;
#[cfg(feature = "daemon")]
pub(crate) mod review;
#[cfg(feature = "daemon")]
pub(crate) mod revise;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod send;
#[cfg(feature = "daemon")]
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod show;
pub(crate) mod siblings;
#[cfg(feature = "daemon")]
pub(crate) mod submit;
mod task_flags;
#[cfg(feature = "daemon")]
pub(crate) mod tasks;
#[cfg(feature = "daemon")]
pub(crate) mod token;

use crate::common::Common;
use clap::{Parser, Subcommand};
use session::Refused;
use std::process::ExitCode;

/// Repairs crashes on its own, and proves every patch it gives out.
#[derive(Debug, Parser)]
#[command(name = "patchwright", version, max_term_width = 100)]
pub(crate) struct CommandLine {
    /// Flags of every subcommand.
    #[command(flatten)]
    pub common: Common,
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// From a source tree and a crash to a mail with the patch: init, run and export in one
    Fix(Box<fix::FixArguments>),
    /// Repair a crash and print the patch with its evidence
    Run(Box<run::RunArguments>),
    /// Write the task file of a project by trying what works
    Init(Box<init::InitArguments>),
    /// Climb the ladder with a candidate that a dry run proposed
    Evaluate(judge::EvaluateArguments),
    /// Make another attempt, because a candidate is wrong; the reason or review is the issue to solve
    #[cfg(feature = "daemon")]
    #[command(visible_alias = "reply")]
    Revise(revise::ReviseArguments),
    /// Hand on a finished run: a folder with its story, a diff, a mail, a branch
    Export(export::ExportArguments),
    /// Open a draft pull request with a patch, or send it by mail, after one look and one yes
    Send(send::SendArguments),
    /// Go on with a run that was cut off
    Resume(resume::ResumeArguments),
    /// Walk a finished run again, offline, and judge its patches anew
    Replay(resume::ReplayArguments),
    /// Climb the ladder with a patch that somebody else wrote
    Judge(judge::JudgeArguments),
    /// Carry a fix to other branches, and prove it on each
    Backport(backport::BackportArguments),
    /// Judge an old fix against the tree before it, and name the later commits to the same functions
    Audit(audit::AuditArguments),
    /// Find the places that may have the flaw that a fix repaired elsewhere
    Siblings(siblings::SiblingsArguments),
    /// Read a crash report from a log
    Crash(crash::CrashArguments),
    /// Gather the code that a request or a crash report concerns
    Context(context::ContextArguments),
    /// Index a source tree, and say what was skipped
    Index(retrieve::IndexArguments),
    /// Ask a source tree, as a model would
    Retrieve(retrieve::RetrieveArguments),
    /// Serve the code search to agents and editors (Model Context Protocol, standard input and output)
    #[cfg(feature = "mcp")]
    Mcp(mcp::McpArguments),
    /// Print the diff that a reply stands for, or why there is none
    Apply(apply::ApplyArguments),
    /// Say what works on this machine, and what to do about the rest
    Check(check::CheckArguments),
    /// Print every setting and where its value comes from
    Config(config::ConfigArguments),
    /// Show the report of a run, or how far it has come
    Show(show::ShowArguments),
    /// Show a run, or all runs of this machine, in the browser, and decide about candidates
    #[cfg(feature = "daemon")]
    Review(review::ReviewArguments),
    /// Print what people decided about candidates
    Decisions(runs::DecisionsArguments),
    /// List the runs of this machine
    Runs(runs::RunsArguments),
    /// Print the completions of a shell
    Completions(manual::CompletionsArguments),
    /// Write the manual pages
    Man(manual::ManArguments),
    /// Many tasks at once.
    #[cfg(feature = "daemon")]
    #[command(flatten)]
    Many(Many),
}

/// The subcommands for many tasks: the daemon, its callers, and a batch.
#[cfg(feature = "daemon")]
#[derive(Debug, Subcommand)]
pub(crate) enum Many {
    /// Take tasks in over HTTP and work them off
    Serve(serve::ServeArguments),
    /// Make, list and revoke the tokens of the daemon's callers
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Repair what lies in the folders of an OSS-CRS run, with its sidecars
    OssCrs(Box<oss_crs::OssCrsArguments>),
    /// Hand tasks to a daemon
    Submit(submit::SubmitArguments),
    /// List the tasks of a daemon
    Tasks(tasks::TasksArguments),
    /// Follow what happens to a task of a daemon
    Events(tasks::EventsArguments),
    /// Take tasks out of a daemon's queue, or kill what runs for them
    Cancel(tasks::CancelArguments),
    /// Work off a set of tasks, and print a table of what came of them
    Batch(batch::BatchArguments),
    /// Work off the tasks of a queue that a daemon fills
    Work(serve::WorkArguments),
    /// Bring the database up to date, copy it, or forget what is old
    #[command(subcommand)]
    Db(db::DbCommand),
}

/// Runs a subcommand. A task that is refused is reported as a run that ended so.
///
/// # Errors
/// Whatever it could not deal with itself; the message is for people.
pub(crate) async fn execute(line: CommandLine) -> anyhow::Result<ExitCode> {
    let outcome = execute_command(line).await;
    outcome.or_else(|error| error.downcast::<Refused>()?.report())
}

#[expect(
    clippy::cognitive_complexity,
    reason = "each command is an arm, and an arm only passes it on"
)]
async fn execute_command(CommandLine { common, command }: CommandLine) -> anyhow::Result<ExitCode> {
    let common = &common;
    match command {
        Command::Fix(arguments) => Box::pin(fix::run(common, *arguments)).await,
        Command::Run(arguments) => Box::pin(run::run(common, *arguments)).await,
        Command::Init(arguments) => Box::pin(init::run(common, *arguments)).await,
        Command::Evaluate(arguments) => Box::pin(judge::evaluate(common, arguments)).await,
        #[cfg(feature = "daemon")]
        Command::Revise(arguments) => Box::pin(revise::run(common, arguments)).await,
        Command::Export(arguments) => export::run(common, arguments).await,
        Command::Send(arguments) => send::send(common, arguments).await,
        Command::Resume(arguments) => Box::pin(resume::run(common, arguments)).await,
        Command::Replay(arguments) => Box::pin(resume::replay(common, arguments)).await,
        Command::Judge(arguments) => Box::pin(judge::judge(common, arguments)).await,
        Command::Backport(arguments) => Box::pin(backport::run(common, arguments)).await,
        Command::Siblings(arguments) => siblings::run(common, arguments).await,
        Command::Audit(arguments) => Box::pin(audit::run(common, arguments)).await,
        Command::Crash(arguments) => crash::run(&arguments),
        Command::Context(arguments) => context::run(common, &arguments).await,
        Command::Index(arguments) => retrieve::index(common, &arguments),
        Command::Retrieve(arguments) => retrieve::retrieve(common, &arguments).await,
        #[cfg(feature = "mcp")]
        Command::Mcp(arguments) => mcp::run(common, arguments).await,
        Command::Apply(arguments) => apply::run(&arguments),
        Command::Check(arguments) => check::run(common, &arguments, patchwright_run::host()).await,
        Command::Completions(arguments) => manual::completions(&arguments),
        Command::Man(arguments) => manual::man(&arguments),
        Command::Runs(arguments) => runs::list(common, &arguments).await,
        Command::Config(arguments) => config::run(common, &arguments),
        #[cfg(feature = "daemon")]
        Command::Review(arguments) => review::run(common, arguments).await,
        Command::Decisions(arguments) => runs::decisions(common, &arguments).await,
        Command::Show(arguments) => show::run(common, arguments).await,
        #[cfg(feature = "daemon")]
        Command::Many(many) => execute_many(common, many).await,
    }
}

#[cfg(feature = "daemon")]
async fn execute_many(common: &Common, many: Many) -> anyhow::Result<ExitCode> {
    match many {
        Many::Serve(arguments) => serve::run(common, arguments).await,
        Many::Token(command) => token::run(common, command).await,
        Many::OssCrs(arguments) => Box::pin(oss_crs::run(common, *arguments)).await,
        Many::Submit(arguments) => submit::run(common, &arguments).await,
        Many::Tasks(arguments) => tasks::list(common, &arguments).await,
        Many::Events(arguments) => tasks::follow(common, &arguments).await,
        Many::Cancel(arguments) => tasks::cancel(common, &arguments).await,
        Many::Batch(arguments) => batch::run(common, &arguments).await,
        Many::Work(arguments) => serve::work(common, &arguments).await,
        Many::Db(command) => db::run(common, &command).await,
    }
}
