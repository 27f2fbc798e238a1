//! Fetch: the command that fills a tree once, with network where it needs that.

use super::baseline::succeeded;
use super::command::CommandView;
use super::shown::Showing;
use super::{INSIDE, Scratch};
use crate::runner::CommandLimits;
use crate::workspace::{TREE, copy_tree};
use crate::{Result, TargetError};
use patchwright_sandbox::Execution;
use patchwright_sandbox::contained_path::give_all;
use patchwright_sandbox::identity;
use patchwright_sandbox::{Command, Host, IsolationChoice, Sandbox};
use std::path::Path;

/// Surroundings of a command that fills a tree.
#[derive(Debug)]
pub struct FetchPlace {
    pub isolation: IsolationChoice,
    pub host: Host,
    /// True where it gets the tree from other machines.
    pub network: bool,
}

/// Fills the folder `into` by a command of the task. The folder must exist
/// and be empty; the command sees it as `$TREE` and has an empty home.
pub async fn fetch(
    command: &str,
    task_folder: &Path,
    into: &Path,
    place: FetchPlace,
    limits: &CommandLimits,
) -> Result<Execution> {
    let sandbox = Sandbox::open(place.isolation, place.host).await?;
    let maps_paths = sandbox.maps_paths();
    let beside = into.parent().unwrap_or(into);
    let scratch = Scratch::open(beside, &sandbox)?;
    let reached = maps_paths || identity::can_reach(&into.join(TREE));
    let tree = if reached {
        into.to_path_buf()
    } else {
        scratch.path().join(TREE)
    };
    let showing = Showing {
        maps_paths,
        except: beside.to_path_buf(),
    };
    let task = showing.show(task_folder, &scratch.path().join("task"))?;
    let mut seen = seen(&sandbox, &task, &tree, scratch.path())?;
    let jobs = limits.jobs.to_string();
    seen.environment.insert("JOBS".to_owned(), jobs.into());
    let execution = sandbox
        .run(Command {
            script: command,
            arguments: &[],
            places: &seen.places,
            folder: &seen.tree(),
            environment: seen.environment,
            network: place.network,
            limits: limits.of_command(limits.prepare, None),
            file_size: limits.file,
        })
        .await?;
    succeeded(&execution, "the fetch command")?;
    if !reached {
        copy_tree(&tree, into, None)?;
    }
    Ok(execution)
}

/// Returns the folders that the command sees, the tree first, and their variables.
fn seen(sandbox: &Sandbox, task_folder: &Path, into: &Path, scratch: &Path) -> Result<CommandView> {
    let mut view = CommandView {
        maps_paths: sandbox.maps_paths(),
        ..CommandView::default()
    };
    for (name, part, host, writable) in [
        ("TREE", "tree", into.to_path_buf(), true),
        ("TASK", "task", task_folder.to_path_buf(), false),
        ("HOME", "home", scratch.join("home"), true),
        ("WORK", "work", scratch.join("work"), true),
    ] {
        std::fs::create_dir_all(&host)
            .map_err(|e| TargetError::io("a folder could not be made", &host, e))?;
        let host = std::fs::canonicalize(&host)
            .map_err(|e| TargetError::io("a folder cannot be found", &host, e))?;
        if writable {
            give_all(&host)
                .map_err(|e| TargetError::io("a folder cannot be given away", &host, e))?;
        }
        let inside = view.show(name, (host, Path::new(INSIDE).join(part)), writable);
        if name == "HOME" && sandbox.needs_configuration() {
            let configuration = Sandbox::configuration(scratch, &inside)?;
            view.places.push(configuration);
        }
    }
    Ok(view)
}

#[cfg(test)]
mod tests {
    use super::{FetchPlace, fetch};
    use crate::runner::CommandLimits;
    use patchwright_sandbox::IsolationChoice;
    use patchwright_sandbox::test_host::host;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[tokio::test]
    async fn fills_a_tree_that_lies_where_nobody_else_gets_to() {
        for isolation in [IsolationChoice::Bubblewrap, IsolationChoice::Landlock] {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            for name in ["task", "sources", "sources/tree"] {
                fs::create_dir(at(name)).unwrap();
                fs::set_permissions(at(name), fs::Permissions::from_mode(0o700)).unwrap();
            }
            fs::write(at("task/part"), "part").unwrap();
            fs::set_permissions(at("task/part"), fs::Permissions::from_mode(0o600)).unwrap();
            let command = r#"cp "$TASK"/part "$TREE"/copy; echo x >"$HOME"/x; echo y >"$WORK"/y"#;
            let (tree, limits) = (at("sources/tree"), CommandLimits::default());
            let by = FetchPlace {
                isolation,
                host: host(),
                network: false,
            };
            let fetched = fetch(command, &at("task"), &tree, by, &limits).await;
            fetched.unwrap();
            assert_eq!(fs::read(tree.join("copy")).unwrap(), b"part");
            assert_eq!(fs::read_dir(at("sources")).unwrap().count(), 1);
        }
    }
}
