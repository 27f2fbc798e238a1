//! A task as the evaluator wants it, and what its commands may see of this
//! machine.

use crate::limits::{bounded, command_limits};
use patchwright_agent::task::Task;
use patchwright_config::{SandboxChoice, Settings, Sources};
use patchwright_sandbox::{Host, IsolationChoice};
use patchwright_target::{Pov, TargetTask};
use std::path::Path;

/// Variables of commands that have network: none of them is a secret.
const NETWORK_VARIABLES: [&str; 9] = [
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CARGO_HTTP_CAINFO",
];

/// Returns the task for a target whose tree was checked out.
pub fn target_task(task: &Task, settings: &Settings, tree: &Path) -> TargetTask {
    let bounded_pov = |pov: &Pov| Pov {
        timeout: pov
            .timeout
            .map(|own| bounded(task.sender, Some(own), settings.limits.pov)),
        ..pov.clone()
    };
    TargetTask {
        tree: tree.to_path_buf(),
        task_folder: task.folder.clone(),
        language: task.language,
        commands: task.commands.clone(),
        builds: task.builds.clone(),
        povs: task.povs.iter().map(bounded_pov).collect(),
        harmless: task.harmless.clone(),
        seen_as: task.seen_as.clone(),
        image: task.image.clone(),
        limits: command_limits(task, settings),
    }
}

/// A link to our own program, also when its file has been replaced since.
const OURSELVES: &str = "/proc/self/exe";

/// The isolation that the settings ask for.
pub fn isolation(settings: &Settings) -> IsolationChoice {
    match settings.sandbox.choice {
        SandboxChoice::Auto => IsolationChoice::Auto,
        SandboxChoice::Bubblewrap => IsolationChoice::Bubblewrap,
        SandboxChoice::Landlock => IsolationChoice::Landlock,
        SandboxChoice::None => IsolationChoice::None,
    }
}

/// Returns the part of this machine that commands may see: the programs on the path and the
/// toolchains that they need, and nothing of a home.
pub fn host() -> Host {
    let variables = Sources::from_process(None, Vec::new()).variables;
    let home = variables.get("HOME").map(Path::new);
    let path = variables.get("PATH").map_or("", String::as_str);
    // Bubblewrap shows our program to the command, and in its own process the link
    // is its own: it needs the path. Only a program whose file is gone has none.
    let program = std::fs::read_link(OURSELVES).ok();
    let program = program.filter(|program| program.is_file());
    let program = program.unwrap_or_else(|| OURSELVES.into());
    let mut host = Host::from_path(program, path, home);
    let found = NETWORK_VARIABLES
        .iter()
        .filter_map(|name| variables.get_key_value(*name));
    host.network_variables = found
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    // Root in a user namespace cannot give files away, and tar tries to.
    host.variables
        .insert("TAR_OPTIONS".to_owned(), "--no-same-owner".to_owned());
    host
}
