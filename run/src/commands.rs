//! A task as the evaluator wants it: its limits under the operator's ceiling, and what its
//! commands may see of this machine.

use patchwright_agent::record::RunLimits;
use patchwright_agent::task::{Sender, Task};
use patchwright_config::{SandboxChoice, Settings, Sources};
use patchwright_sandbox::{Host, IsolationChoice};
use patchwright_source::Language;
use patchwright_target::{CommandLimits, Pov, TargetTask};
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
    let bounded_time = |own| bounded(task.sender, Some(own), settings.limits.pov);
    let bounded_pov = |pov: &Pov| Pov {
        timeout: pov.timeout.map(bounded_time),
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
    // Build tools of Java take the JDK that JAVA_HOME names before the one of the path.
    let jdk = variables.get("JAVA_HOME");
    let path = jdk.map_or_else(|| path.to_owned(), |jdk| format!("{jdk}/bin:{path}"));
    // Bubblewrap shows our program to the command, and in its own process the link
    // is its own: it needs the path. Only a program whose file is gone has none.
    let program = std::fs::read_link(OURSELVES).ok();
    let program = program.filter(|program| program.is_file());
    let program = program.unwrap_or_else(|| OURSELVES.into());
    let mut host = Host::from_path(program, &path, home);
    let found = NETWORK_VARIABLES.iter();
    let found = found.filter_map(|name| variables.get_key_value(*name));
    let found = found.map(|(name, value)| (name.clone(), value.clone()));
    host.network_variables = found.collect();
    // Root in a user namespace cannot give files away, and tar tries to.
    host.variables
        .insert("TAR_OPTIONS".to_owned(), "--no-same-owner".to_owned());
    host
}

/// Bytes that a command may write in all.
const DISK: u64 = 10 << 30;

/// The limits of a run: the task's own over those of the settings, which stay
/// the ceiling for a task that somebody else handed in.
pub fn limits(task: &Task, settings: &Settings) -> RunLimits {
    let (own, all, sender) = (&task.limits, &settings.limits, task.sender);
    let usd = match (own.usd, all.usd) {
        (Some(own), Some(all)) => Some(bounded(sender, Some(own), all)),
        (own, all) => own.or(all),
    };
    RunLimits {
        attempts: bounded(sender, own.attempts, all.attempts),
        rounds: bounded(sender, own.rounds, all.rounds),
        format_retries: bounded(sender, own.format_retries, all.format_retries),
        tokens: Some(bounded(sender, own.tokens, all.tokens)),
        usd,
        wall: bounded(sender, own.wall, all.wall),
        contests: all.contests,
        challenges: all.challenges,
        challenge_inputs: all.challenge_inputs,
        candidates: all.candidates,
        regression_tests: all.regression_tests,
        minimize: all.minimize,
        probability: all.probability,
    }
}

/// Returns a limit of a task, or of the settings where it names none. Only a
/// user of this machine may raise what the settings allow.
pub(crate) fn bounded<T: PartialOrd>(sender: Sender, own: Option<T>, all: T) -> T {
    match own {
        Some(own) if sender.is_local() || own < all => own,
        _ => all,
    }
}

/// Returns the limits of each command of a task.
pub(crate) fn command_limits(task: &Task, settings: &Settings) -> CommandLimits {
    let (own, all) = (&task.limits, &settings.limits);
    let time = |own, all| bounded(task.sender, own, all);
    CommandLimits {
        build: time(own.build, all.build),
        pov: time(own.pov, all.pov),
        test: time(own.test, all.test),
        robust: time(own.robust, all.robust),
        same: time(own.same, all.same),
        executions: match task.language {
            Language::Java => all.executions_java,
            _ => all.executions,
        },
        ..own_command_limits(settings)
    }
}

/// Returns the limits of a command of our own, which belongs to no task.
pub fn own_command_limits(settings: &Settings) -> CommandLimits {
    let (limits, sandbox) = (&settings.limits, &settings.sandbox);
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    CommandLimits {
        prepare: limits.prepare,
        build: limits.build,
        pov: limits.pov,
        test: limits.test,
        robust: limits.robust,
        same: limits.same,
        executions: limits.executions,
        compared: limits.compared,
        reached: limits.reached,
        memory: sandbox.memory_mb << 20,
        processes: sandbox.processes,
        output: (sandbox.output_kb << 10) as usize,
        file: sandbox.file_mb << 20,
        disk: DISK,
        jobs: if sandbox.jobs == 0 {
            processors
        } else {
            sandbox.jobs
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patchwright_agent::task::from_file;
    use serde_json::{Value, json};
    use std::path::Path;
    use std::time::Duration;

    fn task(limits: &Value, sender: Sender) -> Task {
        let keys = json!({
            "id": "a", "language": "c", "mode": "dry-run", "limits": limits,
            "source": {"git": "https://example.com/a", "revision": "main"},
        });
        let keys = serde_json::from_value(keys).unwrap();
        let task = from_file(keys, Path::new("/task"), Path::new("task")).unwrap();
        Task { sender, ..task }
    }

    /// The limits of a run and of its commands, for comparison.
    fn shown(limits: &Value, sender: Sender, settings: &Settings) -> String {
        let task = task(limits, sender);
        let commands = command_limits(&task, settings);
        let times = [
            commands.build,
            commands.pov,
            commands.test,
            commands.robust,
            commands.same,
        ];
        format!("{:?} {times:?}", super::limits(&task, settings))
    }

    #[test]
    fn only_a_user_of_this_machine_raises_limits() {
        let settings = Settings::with(&[("limits.usd", "0.15")]).unwrap();
        let nothing = shown(&json!({}), Sender::Local, &settings);
        let more = [
            ("attempts", json!(9999)),
            ("rounds", json!(9999)),
            ("format_retries", json!(9999)),
            ("tokens", json!(9_999_999_999_u64)),
            ("usd", json!(100.0)),
            ("wall", json!("900h")),
            ("build", json!("900h")),
            ("pov", json!("900h")),
            ("test", json!("900h")),
            ("robust", json!("900h")),
            ("same", json!("900h")),
        ];
        for (key, value) in more {
            let limits = json!({ key: value });
            assert_ne!(shown(&limits, Sender::Local, &settings), nothing, "{key}");
            for sender in [Sender::Remote, Sender::Crs] {
                assert_eq!(shown(&limits, sender, &settings), nothing, "{key}");
            }
        }
        let less = task(&json!({"usd": 0.1, "wall": "1s"}), Sender::Remote);
        let less = limits(&less, &settings);
        assert_eq!((less.usd, less.wall), (Some(0.1), Duration::from_secs(1)));
        let unlimited = Settings::with(&[]).unwrap();
        let own = task(&json!({"usd": 0.1}), Sender::Remote);
        assert_eq!(limits(&own, &unlimited).usd, Some(0.1));
    }
}
