//! Instrumented builds: an attempt's build in which some files are compiled again with
//! flags of our own.
//!
//! The build of the attempt is copied, the files are touched, and its command is run again
//! with stand-ins before the compilers on the path. So only what depends on these files is
//! compiled again, and the task needs to know nothing of it. A build without sanitizers wants
//! all code without them, so it begins with the tree before the build. Where a command itself
//! names its compilers by absolute paths, nothing is added. What is added to the unpatched
//! program serves all patches, and is kept in the cache.

use super::{BuildKey, Job, LocalTarget};
use crate::Result;
use crate::runner::{Build, BuildKind, Instrumentation};
use crate::workspace::{OUT, Workspace};
use patchwright_source::{Changes, Language, TreePath};
use std::ffi::OsString;
use std::sync::Arc;

/// The stand-in for each compiler.
pub(super) const COMPILER: &str = include_str!("programs/compiler.sh");
/// Puts stand-ins (`$2`) before the compilers on the path of the command `$1`, and in their place
/// where a configured build names them by their paths.
pub(super) const WITH_COMPILERS: &str = include_str!("programs/with_compilers.sh");
/// Begin of the name of the file by which the stand-in says what it added.
const BUILT_AS: &str = ".built_as_";
/// The variable that names what stand-ins add.
pub(super) const ADDED: &str = "PATCHWRIGHT_ADDED";

/// Builds an attempt with something added; nothing where that cannot be had.
pub(super) async fn build(
    target: &LocalTarget,
    changes: &Changes,
    name: &str,
    added: &Instrumentation,
) -> Result<Option<Build>> {
    if target.task.language == Language::Java {
        return counted_by_the_agent(target, changes, name, added).await;
    }
    let digest = format!("{added:?} {}", changes.digest());
    let kind = match added {
        Instrumentation::Plain => BuildKind::Clean,
        Instrumentation::Counters
        | Instrumentation::Recovery(_)
        | Instrumentation::Undefined(_) => BuildKind::Incremental,
    };
    let key = (digest, name.to_owned(), kind);
    if let Some(build) = target.at_hand(&key) {
        return Ok(usable(build, added));
    }
    let serves_all = changes.files.is_empty();
    if serves_all && let Some(build) = target.kept_build(changes, &key).await? {
        target.keep(key, &build);
        return Ok(usable(build, added));
    }
    let Some(workspace) = workspace_for(target, changes, &key, added).await? else {
        return Ok(None);
    };
    let arguments: [OsString; 2] = [(&target.task.commands.build).into(), COMPILER.into()];
    let script = format!("{WITH_COMPILERS}eval \"$1\"");
    let environment = [(ADDED, added.name().to_owned())];
    let job = Job {
        wall: target.task.limits.build,
        arguments: &arguments,
        environment: &environment,
        ..Job::writing(&script, &workspace, name)
    };
    let execution = target.command(job).await?;
    if !execution.ending.success() {
        tracing::info!(log = %execution.text(), added = added.name(), "no instrumented build");
    }
    let build = Build::in_workspace((name, &key.0), execution, workspace);
    if serves_all {
        target.keep_build(&key, &build).await?;
    }
    target.keep(key, &build);
    Ok(usable(build, added))
}

/// Returns a workspace in which the build's command compiles what the instrumentation is for.
async fn workspace_for(
    target: &LocalTarget,
    changes: &Changes,
    key: &BuildKey,
    added: &Instrumentation,
) -> Result<Option<Arc<Workspace>>> {
    if *added == Instrumentation::Plain {
        let workspace = target.changed(changes, key).await?;
        return Ok(Some(Arc::new(workspace)));
    }
    let plain = target.build_changed(changes, &key.1, key.2).await?;
    if !plain.succeeded() {
        return Ok(None);
    }
    let workspace = Arc::new(target.copy(plain.place()?).await?);
    workspace.touch(changes.files.keys().chain(added.files()))?;
    Ok(Some(workspace))
}

/// Returns the usual build of a Java program: the agent adds counters to it while its classes
/// are loaded, and nothing else.
async fn counted_by_the_agent(
    target: &LocalTarget,
    changes: &Changes,
    name: &str,
    added: &Instrumentation,
) -> Result<Option<Build>> {
    if *added != Instrumentation::Counters {
        return Ok(None);
    }
    let how = BuildKind::Incremental;
    let build = target.build_changed(changes, name, how).await?;
    if !build.succeeded() {
        return Ok(None);
    }
    let agent = target.compiled_agent(build.place()?).await?;
    Ok(agent.map(|_| build))
}

/// Returns the build where it has what was to be added.
fn usable(build: Build, added: &Instrumentation) -> Option<Build> {
    let place = build.workspace.as_ref()?;
    let mark = format!("{BUILT_AS}{}", added.name());
    let has_it = place.part(OUT).join(mark).is_file();
    (build.succeeded() && has_it).then_some(build)
}

impl Instrumentation {
    /// Returns the files that are compiled again besides those that the changes touch.
    fn files(&self) -> impl Iterator<Item = &TreePath> {
        let files = match self {
            Self::Counters | Self::Plain => None,
            Self::Recovery(files) | Self::Undefined(files) => Some(files),
        };
        files.into_iter().flatten()
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Counters => "counters",
            Self::Recovery(_) => "recovery",
            Self::Undefined(_) => "undefined",
            Self::Plain => "plain",
        }
    }
}
