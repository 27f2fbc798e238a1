//! Probes: which isolations work on this machine, tried by running the smallest command in each.

use super::bubblewrap::Own;
use super::{Command, Host, IsolationChoice, Mode, execute, landlock};
use crate::identity::{self, Caller};
use crate::process::Limits;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Tells whether [`IsolationChoice::Auto`] would take an isolation; else the reason why not.
pub async fn offered(kind: IsolationChoice, host: &Host) -> Result<(), String> {
    let found = probe(kind, host).await?;
    accept(IsolationChoice::Auto, found).map(drop)
}

/// An isolation that works, with all that it leaves open.
pub(super) type Probed = (Mode, Vec<String>);

/// Refuses what only the user's own word may choose: an isolation in which a
/// command could change files of the user that runs us.
pub(super) fn accept(choice: IsolationChoice, found: Probed) -> Result<Probed, String> {
    let open = found.0 == Mode::Landlock { own_mounts: false };
    if choice == IsolationChoice::Auto && open && identity::of_commands().is_none() {
        return Err(
            "without user namespaces, commands could change modes and times of this user's files; \
             allow user namespaces, or accept that with sandbox.choice = \"landlock\""
                .to_owned(),
        );
    }
    Ok(found)
}

/// Tries an isolation by running the smallest command in it.
pub(super) async fn probe(kind: IsolationChoice, host: &Host) -> Result<Probed, String> {
    match kind {
        IsolationChoice::Auto => Err("no isolation by itself".to_owned()),
        IsolationChoice::Container => Err("only a task that names an image has one".to_owned()),
        IsolationChoice::Remote => Err("not an isolation of this machine".to_owned()),
        IsolationChoice::Bubblewrap => {
            // A container may keep parts back; what was wrong at first is told where none works.
            let all = Mode::Bubblewrap(Own::ProcAndName);
            let Err(refusal) = attempt(all, host).await else {
                return Ok((all, Own::ProcAndName.leaves_open()));
            };
            for own in [Own::Proc, Own::Nothing] {
                if attempt(Mode::Bubblewrap(own), host).await.is_ok() {
                    return Ok((Mode::Bubblewrap(own), own.leaves_open()));
                }
            }
            Err(refusal)
        }
        IsolationChoice::Landlock => {
            let closed = Mode::Landlock { own_mounts: true };
            if attempt(closed, host).await.is_ok() {
                return Ok((closed, landlock::leaves_open(true)));
            }
            let open = Mode::Landlock { own_mounts: false };
            attempt(open, host).await?;
            Ok((open, landlock::leaves_open(false)))
        }
        IsolationChoice::None => attempt(Mode::Bare, host).await.map(|()| {
            let open = "everything: files, network and processes of this user";
            (Mode::Bare, vec![open.to_owned()])
        }),
    }
}

/// Fails unless the command is as unprivileged as every isolation promises:
/// what the kernel says of it, and whether it could set something of the host.
const PROBE: &str = include_str!("programs/probe.sh");

async fn attempt(mode: Mode, host: &Host) -> Result<(), String> {
    let isolated = mode != Mode::Bare;
    if let (true, Caller::Stuck(reason)) = (isolated, identity::caller()) {
        return Err(format!(
            "{reason}; run as an ordinary user, or give root back what the container took away"
        ));
    }
    let command = Command {
        script: if isolated { PROBE } else { "exit 0" },
        arguments: &[],
        places: &[],
        folder: Path::new("/"),
        environment: BTreeMap::new(),
        network: false,
        limits: Limits {
            wall: Duration::from_secs(10),
            idle: None,
            memory: 1 << 30,
            processes: 64,
            output: 4096,
            disk: 1 << 20,
        },
        file_size: 1 << 20,
    };
    let execution = execute(mode, host, &command)
        .await
        .map_err(|error| error.to_string())?;
    if execution.ending.success() {
        return Ok(());
    }
    let text = execution.text();
    let first = text.lines().next().unwrap_or_default();
    Err(format!("{}: {first}", execution.ending))
}
