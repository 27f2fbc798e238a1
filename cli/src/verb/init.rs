//! `patchwright init`: write the task file of a project by trying what works.

use super::session::unless_stopped;
use super::task_flags::{CrashedTree, Sanitizer, name_of};
use crate::common::{Common, Stopped, WrongInput, read_named, real_path, write_file};
use crate::display::{self, Display};
use crate::init::build_systems;
use crate::init::oss_fuzz::helper_script::HelperScript;
use crate::init::oss_fuzz::{COPY, Project};
use crate::init::proposal::Proposal;
use crate::init::trials::{Built, Trials};
use crate::init::{self, Draft};
use crate::issue;
use anyhow::Context;
use clap::Args;
use patchwright_agent::record::result::TASK_FILE;
use patchwright_agent::task::file::{SourceKeys, TaskFile};
use patchwright_agent::task::{self, Pov, Task};
use patchwright_config::Settings;
use patchwright_source::{Language, counted};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct InitArguments {
    /// The source tree and its crash
    #[command(flatten)]
    pub crashed: CrashedTree,
    /// A project's folder of OSS-Fuzz or ClusterFuzzLite, with its build.sh
    #[arg(long, value_name = "DIR", conflicts_with = "build")]
    pub oss_fuzz: Option<PathBuf>,
    /// With --oss-fuzz: infra/helper.py of an OSS-Fuzz checkout; builds and runs in the project's own image
    #[arg(long, value_name = "FILE", requires = "oss_fuzz")]
    pub helper: Option<PathBuf>,
    /// With --oss-fuzz: the harness, a program of the build
    #[arg(long, value_name = "NAME", requires = "oss_fuzz")]
    pub harness: Option<String>,
    /// The task file to write
    #[arg(long, value_name = "FILE", default_value = "task.toml")]
    pub out: PathBuf,
    /// Replace a task file that is there
    #[arg(long)]
    pub force: bool,
    /// Ask nothing
    #[arg(long)]
    pub yes: bool,
    /// A line about the crash.
    #[arg(skip)]
    pub title: Option<String>,
    /// Inputs of which one may be the PoV.
    #[arg(skip)]
    pub candidates: Vec<PathBuf>,
}

/// Tries commands and writes the task file.
///
/// # Errors
/// There is no tree, nothing builds, or the file cannot be written.
pub(crate) async fn run(common: &Common, arguments: InitArguments) -> anyhow::Result<ExitCode> {
    let loaded = common.load(Vec::new())?;
    let out = arguments.out.display().to_string();
    let draft = write(&loaded.settings, arguments).await?;
    let complete = draft.is_complete();
    let lacking = "the command that feeds $POV to the program (commands.pov)";
    let next = if complete {
        format!("patchwright run {out}")
    } else {
        format!("write {lacking} into the file")
    };
    let missing = match (draft.keys.commands.test, &*draft.keys.inputs.harmless) {
        (None, _) => {
            "no tests were found (commands.test): without them the best ending is `plausible`\n"
        }
        (_, []) => {
            "no harmless inputs were found (inputs.harmless): without them *same elsewhere* may stay open\n"
        }
        _ => "",
    };
    writeln!(std::io::stdout(), "{out}\n{missing}next: {next}")?;
    Ok(ExitCode::from(u8::from(!complete)))
}

/// Tries commands and writes the task file, as [`run`] does, and prints nothing of the result.
pub(super) async fn write(
    settings: &Settings,
    mut arguments: InitArguments,
) -> anyhow::Result<Draft> {
    let out = std::path::absolute(&arguments.out)?;
    if out.exists() && !arguments.force {
        let out = arguments.out.display();
        return Err(WrongInput(format!("{out} exists; replace it with --force")).into());
    }
    let folder = out.parent().context("--out names no file")?.to_path_buf();
    let display = display::of_settings(settings);
    take_issue(&mut arguments, &folder, (settings, &display)).await?;
    let report = arguments.crashed.project.crash.as_deref();
    let log = report.map(|file| read_named("file", file, u64::MAX));
    let log = log.transpose()?;
    let log = log.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let trials = Trials {
        settings,
        folder: folder.clone(),
        display: &display,
        report: log.as_deref().and_then(patchwright_crash::read_leading),
        log,
    };
    let copy = folder.join(COPY);
    let copied = copy.exists();
    let found = Box::pin(draft(&trials, &arguments)).await;
    if found.is_err() && !copied {
        let _ = std::fs::remove_dir_all(copy);
    }
    let (draft, stopped) = found?;
    write_file(&out, init::render(&draft)?)?;
    display.close();
    if stopped {
        let out = arguments.out.display();
        let told =
            format!("stopped: {out} holds what was found until then; --force searches again");
        return Err(Stopped(told).into());
    }
    Ok(draft)
}

/// Fetches the issue that is named: its report and inputs become arguments.
async fn take_issue(
    arguments: &mut InitArguments,
    folder: &Path,
    (settings, display): (&Settings, &Display),
) -> anyhow::Result<()> {
    let Some(url) = &arguments.crashed.issue else {
        return Ok(());
    };
    let issue = issue::fetch(url, &folder.join("issue"), settings).await?;
    let inputs = counted(issue.inputs.len() as u64, "input");
    display.line(&format!("issue: {}; {inputs} found in it", issue.title));
    arguments.crashed.project.crash = Some(issue.report);
    arguments.title = Some(issue.title);
    if arguments.crashed.pov.is_empty() {
        arguments.candidates = issue.inputs;
    }
    Ok(())
}

/// Finds the task of a tree for a verb that has none, and asks nothing: its file is written into a
/// folder of the cache. None where no command was found by which an input crashes the tree.
pub(super) async fn task_of(
    settings: &Settings,
    crashed: CrashedTree,
    candidates: Vec<PathBuf>,
    folder: &Path,
) -> anyhow::Result<Option<Task>> {
    let file = folder.join(TASK_FILE);
    let arguments = InitArguments {
        crashed,
        candidates,
        out: file.clone(),
        force: true,
        yes: true,
        ..InitArguments::default()
    };
    let draft = Box::pin(write(settings, arguments)).await?;
    let read = draft.is_complete().then(|| task::read(&file));
    Ok(read.transpose()?)
}

/// Finds what works, and tells whether the search was stopped: the draft has what was found until
/// then, its build at least.
async fn draft(trials: &Trials<'_>, arguments: &InitArguments) -> anyhow::Result<(Draft, bool)> {
    let mut start = begin(trials, arguments)?;
    if let (Some(script), Some(project)) = (&arguments.helper, &arguments.oss_fuzz) {
        in_image(trials, arguments, (script, project), &mut start).await?;
    }
    let mut built = Box::pin(build(trials, arguments, &start)).await?;
    let search = Box::pin(find(trials, arguments, &start, &mut built));
    let stopped = unless_stopped(search).await.is_none();
    Ok((if stopped { built.settled } else { built.draft }, stopped))
}

/// The command of a harness that is named.
const OF_HARNESS: &str = r#""$OUT"/"$HARNESS" "$POV""#;
/// The same with the limits and the symbolizer of OSS-Fuzz's `run_fuzzer`.
const OF_HARNESS_IN_IMAGE: &str =
    r#"PATH="$OUT:$PATH" "$OUT"/"$HARNESS" -rss_limit_mb=2560 -timeout=25 "$POV""#;

/// The facts that are known before anything is tried.
struct Start {
    keys: TaskFile,
    tree: PathBuf,
    sanitizer: Sanitizer,
    proposals: Vec<Proposal>,
}

/// Builds the project's image with its own tooling, and checks with it what the task stands on:
/// the harnesses are built, and the PoVs crash. The build writes to a copy of the tree.
async fn in_image(
    trials: &Trials<'_>,
    arguments: &InitArguments,
    (script, project): (&Path, &Path),
    start: &mut Start,
) -> anyhow::Result<()> {
    let mut script = script.to_path_buf();
    if script.is_dir() {
        script.push("infra/helper.py");
    }
    let script = script.canonicalize().map_err(|error| {
        let script = script.display();
        WrongInput(format!("--helper: {script} cannot be opened: {error}"))
    })?;
    let checkout = script.parent().and_then(Path::parent);
    let checkout = checkout.context("--helper lies in no folder")?;
    let scratch = tempfile::Builder::new().prefix("patchwright-").tempdir()?;
    // Images are named after it, and names of images have no capitals.
    let copy = scratch.path().join(name_of(&start.tree).to_lowercase());
    let subject = Project::subject((project, &start.tree), (checkout, &copy))?;
    let socket = trials.settings.sandbox.engine.as_ref().map(Path::new);
    let subject = (subject, start.sanitizer.as_str());
    let script = HelperScript::open(&script, subject, socket, trials.display).await?;
    let copied = std::process::Command::new("cp")
        .args(["-R", "--preserve=mode,timestamps,links"])
        .args(["--reflink=auto", "--"])
        .args([&start.tree, &copy])
        .output()
        .context("the tree cannot be copied")?;
    if !copied.status.success() {
        let reason = String::from_utf8_lossy(&copied.stderr).into_owned();
        return Err(WrongInput(format!("the tree cannot be copied: {reason}")).into());
    }
    start.keys.image = Some(script.build_image().await?);
    let built = script.build_fuzzers(&copy).await?;
    let harness = arguments.harness.as_deref();
    refuse_unbuilt(harness, &built)?;
    if let Some(reason) = script.check_build(harness).await? {
        trials.tell("  it failed, which a harness that crashes at once may cause:");
        trials.tell(&reason);
    }
    if let Some(harness) = harness {
        for pov in &arguments.crashed.pov {
            let crash = script.reproduce(harness, pov).await?;
            trials.tell(&format!("  ok it crashes: {crash}"));
        }
    }
    Ok(())
}

/// Refuses a harness that is not among the programs of a build.
fn refuse_unbuilt(harness: Option<&str>, built: &[String]) -> Result<(), WrongInput> {
    let Some(harness) = harness.filter(|name| !built.iter().any(|known| known == name)) else {
        return Ok(());
    };
    let built = match built {
        [] => "nothing".to_owned(),
        built => built.join(", "),
    };
    Err(WrongInput(format!(
        "--harness: the build makes no {harness:?}; it makes {built}"
    )))
}

fn begin(trials: &Trials<'_>, arguments: &InitArguments) -> anyhow::Result<Start> {
    let (folder, log) = (trials.folder.as_path(), trials.log.as_deref());
    let tree = arguments.crashed.tree.canonicalize().map_err(|error| {
        let tree = arguments.crashed.tree.display();
        WrongInput(format!("the source tree {tree} cannot be opened: {error}"))
    })?;
    expect_povs(&arguments.crashed.pov)?;
    let project = arguments.oss_fuzz.as_deref().map(Project::read);
    let project = project.transpose()?;
    let given = &arguments.crashed.project;
    let language: Language = match &project {
        Some(project) if given.language.is_none() => project.language,
        _ => given.language(&tree, log)?,
    };
    let reported = || Sanitizer::of_report(trials.report.as_ref());
    let sanitizer = given.sanitizer.unwrap_or_else(reported);
    let mut keys = keys(arguments, (&tree, folder), language);
    let mut proposals = build_systems::proposals(&tree, language, log)?;
    if let (Some(project), Some(source)) = (project, &arguments.oss_fuzz) {
        Project::copy(source, folder)?;
        let variables = if arguments.helper.is_some() {
            keys.source.seen_as = Some(project.place.clone());
            proposals = vec![project.in_image()];
            project.image_variables(sanitizer.as_str())
        } else {
            proposals = vec![project.proposal()];
            project.variables(sanitizer.as_str(), has_clang())
        };
        keys.builds.insert(sanitizer.to_string(), variables);
    } else if language != Language::Java {
        keys.builds
            .insert(sanitizer.to_string(), sanitizer.variables());
    }
    if let Some(build) = &given.build {
        proposals = vec![Proposal::given(build, &proposals)];
    }
    for proposal in &mut proposals {
        if let Some(test) = &given.test {
            proposal.tests = vec![test.clone()];
        }
        if let Some(prepare) = &given.prepare {
            proposal.prepare = Some(prepare.clone());
        }
    }
    Ok(Start {
        keys,
        tree,
        sanitizer,
        proposals,
    })
}

/// Refuses inputs that are named and cannot be opened.
pub(super) fn expect_povs(povs: &[PathBuf]) -> Result<(), WrongInput> {
    for pov in povs {
        let file = pov.display();
        let unread = |error| WrongInput(format!("--pov: {file} cannot be opened: {error}"));
        std::fs::File::open(pov).map_err(unread)?;
    }
    Ok(())
}

fn has_clang() -> bool {
    std::process::Command::new("clang")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

fn keys(arguments: &InitArguments, (tree, folder): (&Path, &Path), language: Language) -> TaskFile {
    let source = SourceKeys {
        path: Some(seen_from(folder, tree)),
        ..SourceKeys::default()
    };
    let mut keys = TaskFile::new(name_of(tree), language.to_string(), source);
    let povs = arguments.crashed.pov.iter();
    keys.pov = povs.map(|file| pov(arguments, folder, file)).collect();
    keys.title.clone_from(&arguments.title);
    let report = arguments.crashed.project.crash.as_deref();
    keys.crash.report = report.map(|file| seen_from(folder, file));
    keys
}

fn pov(arguments: &InitArguments, folder: &Path, file: &Path) -> Pov {
    Pov {
        file: seen_from(folder, file).into(),
        harness: arguments.harness.clone(),
        ..Pov::default()
    }
}

/// A path relative to the task's folder where it lies below, else absolute.
fn seen_from(folder: &Path, path: &Path) -> String {
    let path = real_path(path);
    match path.strip_prefix(real_path(folder)) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// Finds a build. Where nothing builds, a command is asked for on a terminal.
async fn build(
    trials: &Trials<'_>,
    arguments: &InitArguments,
    start: &Start,
) -> anyhow::Result<Built> {
    let (keys, proposals) = (&start.keys, &start.proposals);
    let mut tried = !proposals.is_empty();
    let mut given = Box::pin(trials.build(keys, proposals)).await;
    let built = loop {
        let missing = match given {
            Ok(built) => break built,
            Err(missing) => missing,
        };
        let question = "a command that builds $TREE into $OUT";
        let Some(command) = ask(arguments, trials.display, question).await else {
            return Err(build_systems::nothing_builds((&start.tree, tried), missing).into());
        };
        tried = true;
        let asked = Proposal::given(&command, proposals);
        given = Box::pin(trials.build(keys, &[asked])).await;
    };
    // The harnesses of Java are scripts, and only programs are listed.
    if !built.draft.is_java() {
        let in_out = |program: &String| Some(program.strip_prefix("\"$OUT\"/")?.to_owned());
        let names: Vec<String> = built.programs.iter().filter_map(in_out).collect();
        refuse_unbuilt(arguments.harness.as_deref(), &names)?;
    }
    Ok(built)
}

/// Finds what works on a build: the PoV's command, the tests, harmless inputs. What cannot be found
/// is asked for on a terminal.
async fn find(trials: &Trials<'_>, arguments: &InitArguments, start: &Start, built: &mut Built) {
    find_pov(trials, arguments, built).await;
    built.settled = built.draft.clone();
    // Where its own build system has no tests, another one of its folder may have some.
    let mut beside = start.proposals.clone();
    beside.retain(|proposal| proposal.folder == built.proposal.folder);
    beside.insert(0, built.proposal.clone());
    let mut asked = Proposal::given("", &beside);
    let mut found = trials.find_tests(built, &asked).await
        || trials.find_tests_by_options(built, &start.proposals).await;
    while !found {
        let question = "a command that runs the tests (empty: there are none)";
        let Some(command) = ask(arguments, trials.display, question).await else {
            break;
        };
        asked.tests = vec![command];
        found = trials.find_tests(built, &asked).await;
    }
    built.settled = built.draft.clone();
    trials.find_harmless(built, &start.tree).await;
}

async fn find_pov(trials: &Trials<'_>, arguments: &InitArguments, built: &mut Built) {
    let candidates = arguments.candidates.iter();
    let mut choices: Vec<Vec<Pov>> = candidates
        .map(|file| vec![pov(arguments, &trials.folder, file)])
        .collect();
    if choices.is_empty() {
        choices.push(built.draft.keys.pov.clone());
    }
    let of_harness = arguments.harness.as_ref().map(|_| match arguments.helper {
        Some(_) => OF_HARNESS_IN_IMAGE,
        None => OF_HARNESS,
    });
    let feed = arguments.crashed.feed.as_deref().or(of_harness);
    for povs in &choices {
        built.draft.keys.pov.clone_from(povs);
        let Some(pov) = povs.first() else { return };
        if !arguments.candidates.is_empty() {
            let file = pov.file.display();
            trials.tell(&format!("PoV: trying {file}"));
        }
        let found = match feed {
            Some(command) => trials.try_given(built, command).await,
            None => trials.find_pov(built).await,
        };
        if found {
            return;
        }
    }
    built.draft.keys.pov = choices.swap_remove(0);
    let question = "a command that feeds $POV to the program and crashes (empty: later)";
    while let Some(command) = ask(arguments, trials.display, question).await {
        if trials.try_given(built, &command).await {
            return;
        }
    }
}

/// Asks for a command on a terminal; nothing where there is none, or for an empty line.
async fn ask(arguments: &InitArguments, display: &Display, question: &str) -> Option<String> {
    if arguments.yes || !std::io::stdin().is_terminal() {
        return None;
    }
    let question = format!("{question}\n> ");
    let typed = move || {
        let mut stderr = std::io::stderr();
        stderr.write_all(question.as_bytes()).ok()?;
        stderr.flush().ok()?;
        std::io::stdin().lines().next()?.ok()
    };
    let line = display
        .pause(tokio::task::spawn_blocking(typed))
        .await
        .ok()??;
    Some(line.trim().to_owned()).filter(|line| !line.is_empty())
}
