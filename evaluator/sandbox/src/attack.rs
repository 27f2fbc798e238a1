//! Attempts to get out of a sandbox, made for real: an operator sees what holds
//! on his own machine before he trusts it with code, and the tests see it too.
//!
//! A script tries what a hostile build would, from inside; whatever leaves a
//! trace is judged from outside. Nothing is harmed where one succeeds: what is
//! read, written, signalled or connected to is set up here for the purpose.

mod outside;

use crate::identity;
use crate::isolation::{Command, Host, Image, Isolation, IsolationChoice, Place, Sandbox};
use crate::process::{Ending, Execution, Limits};
use crate::{Result, SandboxError};
use outside::Outside;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Hands the attack to Perl, which has every system call and is part of most systems.
const SCRIPT: &str = r#"command -v perl >/dev/null || { echo "there is no perl"; exit 3; }
exec perl -e "$1""#;
const ATTACK: &str = include_str!("attack/attack.pl");
const EXHAUSTIONS: &str = include_str!("attack/exhaustions.pl");
/// The last line of an attack that was carried through.
const END: &str = "end\treached\t";
/// Where a command with a root of its own sees its folder.
const INSIDE: &str = "/patchwright/work";

/// One way out that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Escape {
    /// The way, as in "reads a file outside".
    pub name: String,
    /// True when the sandbox held.
    pub held: bool,
    /// Answer of the system.
    pub detail: String,
}

/// Result of an attack on one isolation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attack {
    /// The isolation, and what it leaves open.
    pub isolation: Isolation,
    /// Every way that was tried.
    pub escapes: Vec<Escape>,
}

impl Attack {
    /// The ways that led out.
    pub fn escaped(&self) -> impl Iterator<Item = &Escape> {
        self.escapes.iter().filter(|escape| !escape.held)
    }
}

/// Attacks an isolation. An error says that it does not work here, or that the
/// attack itself could not be carried through: neither means that it held.
pub async fn attack(choice: IsolationChoice, host: Host) -> Result<Attack> {
    carry_out(Sandbox::open(choice, host).await?).await
}

/// Attacks the containers of an image, which must have a shell and Python.
pub async fn attack_in(image: &Image, host: Host) -> Result<Attack> {
    carry_out(Sandbox::in_container(image, host).await?).await
}

async fn carry_out(sandbox: Sandbox) -> Result<Attack> {
    let field = Field::new(sandbox)?;
    let outside = Outside::set_up(&field.base.path().join("outside"))?;
    let loader = outside.for_loader();
    field.run("exit 0", limits(), ("", &loader)).await?;
    let limits = Limits {
        wall: Duration::from_mins(1),
        ..limits()
    };
    let variables = outside.variables();
    let execution = field.run(SCRIPT, limits, (ATTACK, &variables)).await?;
    let text = execution.text();
    if !text.lines().any(|line| line == END) {
        let last = text.lines().next_back().unwrap_or_default();
        let ending = execution.ending;
        let what = format!("the attack did not come to its end ({ending}): {last}");
        return Err(SandboxError::machinery(what, "attack"));
    }
    let mut escapes: Vec<Escape> = text.lines().filter_map(read_line).collect();
    escapes.extend(outside.seen());
    for exhaustion in EXHAUSTIONS.split("\n### ").skip(1) {
        let (name, script) = exhaustion.split_once('\n').unwrap_or((exhaustion, ""));
        escapes.push(field.exhaust(name, script).await?);
    }
    Ok(Attack {
        isolation: field.sandbox.isolation().clone(),
        escapes,
    })
}

fn read_line(line: &str) -> Option<Escape> {
    let mut parts = line.splitn(3, '\t');
    let (name, result, detail) = (parts.next()?, parts.next()?, parts.next()?);
    let held = match result {
        "held" => true,
        "escaped" => false,
        _ => return None,
    };
    Some(escape(name, held, detail))
}

/// The sandbox and the folder it is attacked in.
struct Field {
    sandbox: Sandbox,
    base: tempfile::TempDir,
}

impl Field {
    fn new(sandbox: Sandbox) -> Result<Self> {
        // Nothing but the isolation may stand between the attack and what it
        // goes for, so all of this can be reached by everybody.
        let base = tempfile::Builder::new()
            .prefix("patchwright-attack-")
            .tempdir()
            .and_then(|base| open_to_all(base.path(), 0o755).map(|()| base))
            .map_err(|e| SandboxError::io("no folder for an attack", "temporary folder", e))?;
        Ok(Self { sandbox, base })
    }

    /// An empty folder of the command's own.
    fn work(&self) -> Result<PathBuf> {
        let work = self.base.path().join("work");
        crate::contained_path::remove_folder(&work);
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&work)
            .and_then(|()| identity::give(&work))
            .map_err(|e| SandboxError::io("no folder for an attack", &work, e))?;
        Ok(work)
    }

    async fn run(
        &self,
        script: &str,
        limits: Limits,
        (argument, variables): (&str, &[(&str, String)]),
    ) -> Result<Execution> {
        let host = self.work()?;
        let maps = self.sandbox.maps_paths();
        let inside = if maps { INSIDE.into() } else { host.clone() };
        let mut environment: BTreeMap<String, OsString> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.into()))
            .collect();
        for name in ["WORK", "HOME", "TMPDIR"] {
            environment.insert(name.to_owned(), inside.clone().into());
        }
        let place = Place {
            host,
            inside: inside.clone(),
            writable: true,
        };
        self.sandbox
            .run(Command {
                script,
                arguments: &[argument.into()],
                places: &[place],
                folder: &inside,
                environment,
                network: false,
                limits,
                file_size: limits.disk.saturating_mul(16),
            })
            .await
    }

    /// Has a command use more than it may; it must be stopped or refused.
    async fn exhaust(&self, name: &str, script: &str) -> Result<Escape> {
        let execution = self.run(SCRIPT, limits(), (script, &[])).await?;
        let text = execution.text();
        let refused = text.lines().find(|line| line.starts_with("refused"));
        let detail = match (execution.ending, refused) {
            (Ending::Limit(_), _) => execution.ending.to_string(),
            (Ending::Exited(0), Some(line)) => line.to_owned(),
            (Ending::Exited(0), None) => "it was neither stopped nor refused".to_owned(),
            (ending, _) => format!("{ending}: {}", text.lines().next().unwrap_or_default()),
        };
        let stopped = matches!(execution.ending, Ending::Limit(_));
        let held = stopped || (execution.ending.success() && refused.is_some());
        Ok(escape(name, held, detail))
    }
}

/// Limits of an attacking command.
fn limits() -> Limits {
    Limits {
        wall: Duration::from_secs(30),
        idle: None,
        memory: 256 << 20,
        processes: 100,
        output: 256 << 10,
        disk: 64 << 20,
    }
}

/// Tells whether a process of the host has this word among its arguments.
fn runs(word: &str) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .any(|line| {
            line.split(|byte| *byte == 0)
                .any(|part| part == word.as_bytes())
        })
}

fn escape(name: &str, held: bool, detail: impl Into<String>) -> Escape {
    Escape {
        name: name.to_owned(),
        held,
        detail: detail.into(),
    }
}

/// A file that everybody may read and write.
fn open_to_all(path: &Path, mode: u32) -> std::io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::read_line;

    #[test]
    fn reads_what_an_attack_prints() {
        let held = read_line("reads a file outside\theld\tno").unwrap();
        assert!(held.held && held.detail == "no");
        assert!(!read_line("x\tescaped\t").unwrap().held);
        for other in ["x", "x\theld", "end\treached\t", "a\tb\tc"] {
            assert!(read_line(other).is_none(), "{other}");
        }
    }
}
