//! `patchwright init`: write the task file of a project by trying what works.

use super::task_flags::{CrashedTree, Sanitizer, name_of};
use crate::common::{Common, WrongInput, read_named, write_file};
use crate::display::{self, Display};
use crate::init::bench::Bench;
use crate::init::build_systems::{self, Proposal};
use crate::init::oss_fuzz::Project;
use crate::init::oss_fuzz::helper_script::HelperScript;
use crate::init::trials::{Built, Trials};
use crate::init::{self, Draft};
use crate::issue;
use anyhow::Context;
use clap::Args;
use patchwright_agent::task::Pov;
use patchwright_agent::task::file::{SourceKeys, TaskFile};
use patchwright_config::Settings;
use patchwright_crash::Tool;
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
    let complete = write(&loaded.settings, &arguments).await?.is_complete();
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", arguments.out.display())?;
    let next = if complete {
        format!("next: patchwright run {}", arguments.out.display())
    } else {
        "next: write the command that feeds $POV to the program (commands.pov) into the file"
            .to_owned()
    };
    writeln!(stdout, "{next}")?;
    Ok(ExitCode::from(u8::from(!complete)))
}

/// Tries commands and writes the task file, as [`run`] does, and prints nothing of the result.
pub(super) async fn write(settings: &Settings, arguments: &InitArguments) -> anyhow::Result<Draft> {
    let out = std::path::absolute(&arguments.out)?;
    if out.exists() && !arguments.force {
        let out = arguments.out.display();
        return Err(WrongInput(format!("{out} exists; replace it with --force")).into());
    }
    let folder = out.parent().context("--out names no file")?.to_path_buf();
    let display = display::of_settings(settings);
    let with_issue = with_issue(arguments, &folder, (settings, &display)).await?;
    let arguments = with_issue.as_ref().unwrap_or(arguments);
    let report = arguments.crashed.project.crash.as_deref();
    let log = report.map(read).transpose()?;
    let trials = Trials {
        settings,
        folder: folder.clone(),
        display: &display,
        report: log.as_deref().and_then(patchwright_crash::read_leading),
    };
    let copied = Project::has_copy(&folder);
    let found = Box::pin(draft(&trials, arguments, log)).await;
    if found.is_err() && !copied {
        Project::remove_copy(&folder);
    }
    let draft = found?;
    write_file(&out, init::render(&draft)?)?;
    display.close();
    Ok(draft)
}

/// Fetches the issue that is named, and returns the arguments with its report and inputs.
async fn with_issue(
    arguments: &InitArguments,
    folder: &Path,
    (settings, display): (&Settings, &Display),
) -> anyhow::Result<Option<InitArguments>> {
    let Some(url) = &arguments.crashed.issue else {
        return Ok(None);
    };
    let issue = issue::fetch(url, &folder.join("issue"), settings).await?;
    let inputs = counted(issue.inputs.len() as u64, "input");
    display.line(&format!("issue: {}; {inputs} found in it", issue.title));
    let mut arguments = arguments.clone();
    arguments.crashed.project.crash = Some(issue.report);
    arguments.title = Some(issue.title);
    if arguments.crashed.pov.is_empty() {
        arguments.candidates = issue.inputs;
    }
    Ok(Some(arguments))
}

async fn draft(
    trials: &Trials<'_>,
    arguments: &InitArguments,
    log: Option<String>,
) -> anyhow::Result<Draft> {
    let mut start = begin(arguments, &trials.folder, log)?;
    if let (Some(script), Some(project)) = (&arguments.helper, &arguments.oss_fuzz) {
        in_image(trials, arguments, (script, project), &mut start).await?;
    }
    Box::pin(find(trials, arguments, &start)).await
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
    log: Option<String>,
}

/// Builds the project's image with its own tooling, and checks with it what the task stands on:
/// the harnesses are built, and the PoVs crash. The build writes to a copy of the tree.
async fn in_image(
    trials: &Trials<'_>,
    arguments: &InitArguments,
    (script, project): (&Path, &Path),
    start: &mut Start,
) -> anyhow::Result<()> {
    let script = if script.is_dir() {
        script.join("infra/helper.py")
    } else {
        script.to_path_buf()
    };
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
    let subject = (subject, start.sanitizer.name());
    let script = HelperScript::open(&script, subject, socket, trials.display).await?;
    let copied = std::process::Command::new("cp")
        .args([
            "-R",
            "--preserve=mode,timestamps,links",
            "--reflink=auto",
            "--",
        ])
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
        trials
            .display
            .line("  it failed, which a harness that crashes at once may cause:");
        trials.display.line(&reason);
    }
    for pov in harness
        .map(|_| &arguments.crashed.pov)
        .into_iter()
        .flatten()
    {
        let crash = script.reproduce(harness.unwrap_or_default(), pov).await?;
        trials.display.line(&format!("  ok it crashes: {crash}"));
    }
    Ok(())
}

/// Refuses a harness that is not among the programs of a build.
fn refuse_unbuilt(harness: Option<&str>, built: &[String]) -> Result<(), WrongInput> {
    let Some(harness) = harness.filter(|name| !built.iter().any(|known| known == name)) else {
        return Ok(());
    };
    let built = if built.is_empty() {
        "nothing".to_owned()
    } else {
        built.join(", ")
    };
    Err(WrongInput(format!(
        "--harness: the build makes no {harness:?}; it makes {built}"
    )))
}

fn begin(arguments: &InitArguments, folder: &Path, log: Option<String>) -> anyhow::Result<Start> {
    let tree = arguments.crashed.tree.canonicalize().map_err(|error| {
        let tree = arguments.crashed.tree.display();
        WrongInput(format!("the source tree {tree} cannot be opened: {error}"))
    })?;
    for pov in &arguments.crashed.pov {
        std::fs::File::open(pov).map_err(|error| {
            WrongInput(format!(
                "--pov: {} cannot be opened: {error}",
                pov.display()
            ))
        })?;
    }
    let project = arguments
        .oss_fuzz
        .as_deref()
        .map(Project::read)
        .transpose()?;
    let given = &arguments.crashed.project;
    let language: Language = match &project {
        Some(project) if given.language.is_none() => project.language,
        _ => given.language(&tree, log.as_deref())?,
    };
    let reported = || of_report(log.as_deref());
    let sanitizer = given.sanitizer.unwrap_or_else(reported);
    let mut keys = keys(arguments, (&tree, folder), language);
    let mut proposals = build_systems::proposals(&tree, language)?;
    if let (Some(project), Some(source)) = (project, &arguments.oss_fuzz) {
        Project::copy(source, folder)?;
        let variables = if arguments.helper.is_some() {
            keys.source.seen_as = Some(project.place.clone());
            proposals = vec![project.in_image()];
            project.image_variables(sanitizer.name())
        } else {
            proposals = vec![project.proposal()];
            project.variables(sanitizer.name(), has_clang())
        };
        keys.builds.insert(sanitizer.name().to_owned(), variables);
    } else if language != Language::Java {
        keys.builds
            .insert(sanitizer.name().to_owned(), sanitizer.variables());
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
        log,
    })
}

fn read(file: &Path) -> anyhow::Result<String> {
    let bytes = read_named("file", file, u64::MAX)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn has_clang() -> bool {
    std::process::Command::new("clang")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

/// The sanitizer that made a report.
fn of_report(log: Option<&str>) -> Sanitizer {
    match log
        .and_then(patchwright_crash::read_leading)
        .map(|report| report.tool)
    {
        Some(Tool::UndefinedBehaviorSanitizer) => Sanitizer::Undefined,
        Some(Tool::MemorySanitizer) => Sanitizer::Memory,
        Some(Tool::ThreadSanitizer) => Sanitizer::Thread,
        _ => Sanitizer::Address,
    }
}

fn keys(arguments: &InitArguments, (tree, folder): (&Path, &Path), language: Language) -> TaskFile {
    let source = SourceKeys {
        path: Some(seen_from(folder, tree)),
        ..SourceKeys::default()
    };
    let name = Some(name_of(tree)).filter(|name| !name.is_empty());
    let id = name.unwrap_or_else(|| "task".to_owned());
    let mut keys = TaskFile::new(id, language.to_string(), source);
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
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let folder = folder
        .canonicalize()
        .unwrap_or_else(|_| folder.to_path_buf());
    match path.strip_prefix(&folder) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// Finds what works: the build, the PoV's command, the tests, harmless inputs. What
/// cannot be found is asked for on a terminal.
async fn find(
    trials: &Trials<'_>,
    arguments: &InitArguments,
    start: &Start,
) -> anyhow::Result<Draft> {
    let (keys, proposals) = (&start.keys, &start.proposals);
    let mut built = trials.build(keys, proposals).await;
    while built.is_none() {
        let question = "a command that builds $TREE into $OUT";
        let Some(command) = ask(arguments, trials.display, question) else {
            return Err(build_systems::nothing_builds(&start.tree).into());
        };
        let asked = Proposal::given(&command, proposals);
        built = trials.build(keys, &[asked]).await;
    }
    let Built {
        draft,
        proposal,
        programs,
        mut bench,
        ..
    } = built.context("something was built")?;
    // The harnesses of Java are scripts, and only programs are listed.
    if draft.keys.language != Language::Java.to_string() {
        let in_out = programs
            .iter()
            .filter_map(|program| program.strip_prefix("\"$OUT\"/"));
        let names: Vec<String> = in_out.map(str::to_owned).collect();
        refuse_unbuilt(arguments.harness.as_deref(), &names)?;
    }
    let mut draft = find_pov(
        trials,
        arguments,
        draft,
        (&mut bench, &programs, start.log.as_deref()),
    )
    .await;
    let mut tested = trials.find_tests(&mut draft, &bench, &proposal).await;
    while !tested {
        let question = "a command that runs the tests (empty: there are none)";
        let Some(command) = ask(arguments, trials.display, question) else {
            break;
        };
        let asked = Proposal {
            tests: vec![command],
            ..proposal.clone()
        };
        tested = trials.find_tests(&mut draft, &bench, &asked).await;
    }
    trials.find_harmless(&mut draft, &bench, &start.tree).await;
    Ok(draft)
}

async fn find_pov(
    trials: &Trials<'_>,
    arguments: &InitArguments,
    mut draft: Draft,
    (bench, programs, log): (&mut Bench, &[String], Option<&str>),
) -> Draft {
    let mut choices = vec![draft.keys.pov.clone()];
    if !arguments.candidates.is_empty() {
        let candidates = arguments.candidates.iter();
        choices = candidates
            .map(|file| vec![pov(arguments, &trials.folder, file)])
            .collect();
    }
    let of_harness = arguments.harness.as_ref().map(|_| match arguments.helper {
        Some(_) => OF_HARNESS_IN_IMAGE,
        None => OF_HARNESS,
    });
    let feed = arguments.crashed.feed.as_deref().or(of_harness);
    let mut found = false;
    for povs in &choices {
        draft.keys.pov.clone_from(povs);
        if let (Some(pov), false) = (povs.first(), arguments.candidates.is_empty()) {
            trials
                .display
                .line(&format!("PoV: trying {}", pov.file.display()));
        }
        found = match feed {
            _ if povs.is_empty() => return draft,
            Some(command) => trials.try_given(&mut draft, bench, command).await,
            None => trials.find_pov(&mut draft, (bench, programs), log).await,
        };
        if found {
            return draft;
        }
    }
    draft.keys.pov = choices.swap_remove(0);
    while !found {
        let question = "a command that feeds $POV to the program and crashes (empty: later)";
        let Some(command) = ask(arguments, trials.display, question) else {
            break;
        };
        found = trials.try_given(&mut draft, bench, &command).await;
    }
    draft
}

/// Asks for a command on a terminal; nothing where there is none, or for an empty line.
fn ask(arguments: &InitArguments, display: &Display, question: &str) -> Option<String> {
    if arguments.yes || !std::io::stdin().is_terminal() {
        return None;
    }
    display.pause(|| {
        let mut stderr = std::io::stderr();
        write!(stderr, "{question}\n> ").ok()?;
        stderr.flush().ok()?;
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).ok()?;
        Some(line.trim().to_owned()).filter(|line| !line.is_empty())
    })
}
