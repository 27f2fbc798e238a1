//! Task check: refuses a task that could never run, before any command runs.

use super::INSIDE;
use crate::runner::{TargetTask, proof};
use crate::{Result, TargetError};
use std::path::{Component, Path};

/// Checks a task and makes its paths absolute.
pub(super) fn checked(mut task: TargetTask) -> Result<TargetTask> {
    let absolute = |path: &Path, what: &str| {
        std::fs::canonicalize(path).map_err(|e| {
            TargetError::invalid(format!("{what} {:?} cannot be found: {e}", path.display()))
        })
    };
    task.tree = absolute(&task.tree, "the source folder")?;
    task.task_folder = absolute(&task.task_folder, "the task's folder")?;
    for pov in &mut task.povs {
        pov.file = absolute(&pov.file, "the PoV")?;
        proof(pov.ran.as_deref())?;
        if let Some(name) = &pov.build
            && !task.builds.contains_key(name)
        {
            return Err(TargetError::invalid(format!(
                "a PoV asks for the build {name:?}, which is not among [builds]"
            )));
        }
        if pov.command.is_none() && task.commands.pov.is_none() {
            let name = pov.name();
            return Err(TargetError::invalid(format!("no command runs {name:?}")));
        }
    }
    if !task.tree.is_dir() {
        return Err(TargetError::invalid("the source is not a folder"));
    }
    if let Some(path) = &task.seen_as {
        check_seen_as(Path::new(path))?;
    }
    Ok(task)
}

/// Checks the path of the tree: absolute, without `..`, and not used by the system or the
/// sandbox.
fn check_seen_as(path: &Path) -> Result<()> {
    const TAKEN: &[&str] = &[
        "/bin", "/dev", "/etc", "/gnu", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt",
        "/proc", "/run", "/sbin", "/sys", "/tmp", "/usr", "/var", INSIDE,
    ];
    let plain = path
        .components()
        .all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let taken = TAKEN.iter().any(|taken| path.starts_with(taken));
    if path.is_absolute() && plain && !taken && path.components().count() > 1 {
        return Ok(());
    }
    Err(TargetError::invalid(format!(
        "seen_as = {:?} is no place where a tree can be shown: it must be absolute, without '..', and outside the system's folders",
        path.display()
    )))
}
