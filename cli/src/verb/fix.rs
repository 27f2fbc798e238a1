//! `patchwright fix`: from a source tree and a crash to a mail with the patch, or the reason why
//! there is none.
//!
//! It does what `init`, `run` and `export` do, one after the other, and keeps what they write in
//! one folder. The model is tried before anything is built. Without one it ends after the
//! diagnosis, and says what to set.

use super::check;
use super::export;
use super::init::{self, InitArguments};
use super::model_arguments::ModelArguments;
use super::run;
use super::session::{self, OutputArguments};
use super::task_flags::{CrashedTree, name_of};
use crate::common::{Common, Format, USAGE, WrongInput, write_out};
use crate::upstream::HistoryQuestion;
use anyhow::Context;
use clap::Args;
use patchwright_agent::record::EndingKind;
use patchwright_agent::record::result::{MAIL, TASK_FILE};
use patchwright_agent::report::Report;
use patchwright_agent::task;
use patchwright_config::Loaded;
use patchwright_source::visible_line;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The folder of the result, beside the task and the mail.
const RESULT: &str = "result";
/// The line about tests where no command for them works.
const NO_TESTS: &str = "no command for them works here: name one as [commands] test in the task, else nothing tells what a patch breaks";

#[derive(Debug, Args)]
pub(crate) struct FixArguments {
    /// The source tree and its crash
    #[command(flatten)]
    pub crashed: CrashedTree,
    /// The model that answers
    #[command(flatten)]
    pub asked: ModelArguments,
    /// The folder for the task, the evidence and the mail; by default patchwright-NAME, by the name of the tree
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace what an earlier call wrote there
    #[arg(long)]
    pub force: bool,
    /// End as a duplicate where only known crashes are seen: a file with their signatures, or the word runs
    #[arg(long, value_name = "FILE|runs")]
    pub known: Option<String>,
}

/// Finds out how the project is built, repairs the crash and writes the mail.
///
/// # Errors
/// There is no crash to start from, the model's endpoint does not answer, nothing builds, or a
/// file cannot be written.
pub(crate) async fn run(common: &Common, arguments: FixArguments) -> anyhow::Result<ExitCode> {
    let crashed = &arguments.crashed;
    if crashed.pov.is_empty() && crashed.project.crash.is_none() && crashed.issue.is_none() {
        let what = "nothing to repair is named: give the crashing input with --pov FILE, the report with --crash FILE, or an \
                    issue of its project with --issue URL";
        return Err(WrongInput(what.to_owned()).into());
    }
    let mut flags = arguments.asked.settings();
    flags.extend(run::known_flag(arguments.known.as_deref())?);
    let loaded = common.load(flags)?;
    let lacking = who_answers(&loaded, &arguments.asked).await?;
    let named = || format!("patchwright-{}", name_of(&crashed.tree));
    let out = arguments.out.clone().unwrap_or_else(|| named().into());
    std::fs::create_dir_all(&out).with_context(|| format!("{} cannot be made", out.display()))?;
    let file = out.join(TASK_FILE);
    let draft = InitArguments {
        crashed: crashed.clone(),
        out: file.clone(),
        force: arguments.force,
        ..InitArguments::default()
    };
    let found = init::write(&loaded.settings, draft).await;
    // Where nothing was found, an empty folder is not left; one with something in it stays.
    let found = found.inspect_err(|_| drop(std::fs::remove_dir(&out)))?;
    say(&format!("task     {}", file.display()))?;
    let crash = &found.remarks.pov;
    if !crash.is_empty() {
        say(&format!("PoV      {crash}"))?;
    }
    let tests = Some(found.remarks.test.as_str()).filter(|seen| !seen.is_empty());
    let tests = tests.unwrap_or(NO_TESTS);
    say(&format!("tests    {tests}"))?;
    if !found.is_complete() {
        say(
            "stopped  no command was found by which the input crashes the program: give it with --force --feed, as in '\"$OUT\"/program \
             \"$POV\"' or 'java -cp \"$OUT\"/classes Main \"$POV\"'",
        )?;
        return Ok(ExitCode::from(1));
    }
    if let Some(lacking) = lacking {
        say(&format!("stopped  {lacking}"))?;
        say(&format!("then     patchwright run {}", file.display()))?;
        return Ok(ExitCode::from(USAGE));
    }
    let output = OutputArguments {
        out: Some(out.join(RESULT)),
        force: arguments.force,
        format: Format::Text,
    };
    let task = task::read(&file)?;
    let answers = patchwright_run::answers(&task, arguments.asked.replay.as_ref(), &loaded);
    let how = (answers.map_err(WrongInput)?, &HistoryQuestion::default());
    let asked = (&arguments.asked, &output);
    let report = Box::pin(run::repair((task, loaded), how, asked)).await?;
    conclude(common, &report, &out).await?;
    Ok(session::status(&report))
}

/// Asks the model's endpoint whether it is there; what is missing where none is named.
///
/// # Errors
/// The endpoint that is named does not answer.
async fn who_answers(loaded: &Loaded, asked: &ModelArguments) -> anyhow::Result<Option<String>> {
    if let Err(lacking) = patchwright_run::answering(None, asked.replay.as_ref(), loaded) {
        return Ok(Some(lacking));
    }
    if asked.replay.is_none()
        && let Some(problem) = check::model_problem(&loaded.settings).await
    {
        return Err(WrongInput(format!("the model does not answer: {problem}")).into());
    }
    Ok(None)
}

/// Writes the mail of a patch that stands, and says the next step.
async fn conclude(common: &Common, report: &Report, out: &Path) -> anyhow::Result<()> {
    let ending = EndingKind::read(&report.ending);
    let stands = matches!(ending, Some(EndingKind::Verified | EndingKind::Plausible));
    if !stands || report.best.is_none() {
        return say(&format!("no mail  {}", report.detail));
    }
    let mail = out.join(MAIL);
    export::write_mail(common, &report.run, &mail).await?;
    say(&format!("mail     {}", mail.display()))?;
    if ending == Some(EndingKind::Plausible) {
        say(
            "read it  nothing refutes the patch, and not everything could be checked: see the rungs above",
        )?;
    }
    say(&format!("next     git am {}", mail.display()))?;
    say(&format!("or       patchwright send {}", report.run))
}

fn say(line: &str) -> anyhow::Result<()> {
    write_out(format!("{}\n", visible_line(line)))
}
