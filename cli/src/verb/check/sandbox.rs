//! Check of the sandbox: commands are really kept apart, and toolchains work in there.
//!
//! One small task is built in the sandbox as any other. Its command tries what
//! must not succeed, and what it claims is held against what was seen from
//! outside; then it compiles a program with a bug that a sanitizer must find.

use std::collections::BTreeMap;
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};

use patchwright_sandbox::{Host, Isolation};
use patchwright_source::{Changes, Language};
use patchwright_target::{BuildKind, Commands, LocalTarget, Target, TargetError, TargetTask};
use secrecy::ExposeSecret;

use super::{Finding, State};
use patchwright_config::Settings;

/// The script that runs in the sandbox. `%FILE%`, `%TCP%` and `%UDP%` are replaced.
const SCRIPT: &str = include_str!("probe.sh");
/// Content of the file beside the sandbox, which nobody inside may read.
const CANARY: &str = "canary-that-nobody-reads";

/// Looks at the sandbox and, inside it, at the toolchains.
pub(super) async fn look(settings: &Settings, host: Host) -> Vec<Finding> {
    let failed = |detail: String| vec![Finding::new("sandbox", State::Failed, detail)];
    let trap = match Trap::set() {
        Ok(trap) => trap,
        Err(error) => return failed(format!("it cannot be tried: {error}")),
    };
    match trap.spring(settings, host).await {
        Ok((isolation, output)) => {
            let key = settings.model.api_key.expose_secret();
            let said = read(&output);
            let mut findings = vec![verdict(&isolation, &trap.escapes(&output, key), &said)];
            findings.extend(toolchains(&said));
            findings
        }
        Err(error) => failed(format!(
            "{error}; install bubblewrap (apt-get install bubblewrap), or set \
             sandbox.choice = \"none\" at your own risk"
        )),
    }
}

/// Places that a command in the sandbox must not reach.
struct Trap {
    folder: tempfile::TempDir,
    tcp: TcpListener,
    udp: UdpSocket,
}

impl Trap {
    fn set() -> io::Result<Self> {
        let trap = Self {
            folder: tempfile::tempdir()?,
            tcp: TcpListener::bind(("127.0.0.1", 0))?,
            udp: UdpSocket::bind(("127.0.0.1", 0))?,
        };
        trap.tcp.set_nonblocking(true)?;
        trap.udp.set_nonblocking(true)?;
        std::fs::write(trap.file(), CANARY)?;
        for folder in ["tree", "task", "scratch"] {
            std::fs::create_dir(trap.folder.path().join(folder))?;
        }
        std::fs::write(trap.folder.path().join("tree/empty"), "")?;
        Ok(trap)
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("canary")
    }

    async fn spring(
        &self,
        settings: &Settings,
        host: Host,
    ) -> Result<(Isolation, String), TargetError> {
        let port = |address: io::Result<std::net::SocketAddr>| {
            address.map_or_else(|_| "0".to_owned(), |address| address.port().to_string())
        };
        let script = SCRIPT
            .replace("%FILE%", &self.file().display().to_string())
            .replace("%TCP%", &port(self.tcp.local_addr()))
            .replace("%UDP%", &port(self.udp.local_addr()));
        let task = TargetTask {
            tree: self.folder.path().join("tree"),
            task_folder: self.folder.path().join("task"),
            commands: Commands {
                build: script,
                ..Commands::default()
            },
            language: Language::C,
            image: None,
            builds: BTreeMap::new(),
            povs: Vec::new(),
            harmless: Vec::new(),
            seen_as: None,
            limits: patchwright_run::own_command_limits(settings),
        };
        let scratch = self.folder.path().join("scratch");
        let choice = patchwright_run::isolation(settings);
        let target = LocalTarget::open(task, choice, host, &scratch).await?;
        let unchanged = Changes::default();
        let build = target.build(&unchanged, "", BuildKind::Clean).await?;
        Ok((target.isolation().clone(), build.execution.text()))
    }

    /// Returns the ways out that were seen from here.
    fn escapes(&self, output: &str, key: &str) -> Vec<&'static str> {
        let mut escapes = Vec::new();
        if output.contains(CANARY) {
            escapes.push("it reads files of this user");
        }
        let written = format!("{}.written", self.file().display());
        if Path::new(&written).exists() {
            escapes.push("it writes outside its workspace");
        }
        if self.tcp.accept().is_ok() {
            escapes.push("it reaches the network (TCP)");
        }
        if self.udp.recv(&mut [0; 16]).is_ok() {
            escapes.push("it reaches the network (UDP)");
        }
        if key.len() > 3 && output.contains(key) {
            escapes.push("it reads the model's key");
        }
        escapes
    }
}

/// The output of the script: what it says a value of, and the value.
type Said = BTreeMap<String, String>;

/// Reads the output of the script: a name, a tab, a value; nothing is said by an empty one.
fn read(output: &str) -> Said {
    let pairs = output.lines().filter_map(|line| {
        let (name, value) = line.split_once('\t')?;
        Some((name.to_owned(), value.trim().to_owned()))
    });
    pairs.filter(|(_, value)| !value.is_empty()).collect()
}

fn verdict(isolation: &Isolation, escapes: &[&str], said: &Said) -> Finding {
    let kind = isolation.kind;
    if !said.contains_key("end") {
        let detail = format!("{kind}: the probe did not come to its end");
        return Finding::new("sandbox", State::Failed, detail);
    }
    let mut parts = vec![kind.to_string()];
    if !isolation.leaves_open.is_empty() {
        parts.push(format!("leaves open: {}", isolation.leaves_open.join(", ")));
    }
    parts.extend(isolation.passed_over.iter().map(ToString::to_string));
    if said.get("network").is_none_or(|network| network != "tried") {
        parts.push("the network was not tried: there is no bash".to_owned());
    }
    let detail = parts.join("; ");
    if escapes.is_empty() {
        return Finding::new("sandbox", State::Ok, detail);
    }
    let detail = format!("{detail}; PROBED: {}", escapes.join(", "));
    Finding::new("sandbox", State::Failed, detail)
}

/// The toolchains, a line each: the name, the parts of which one must work, the parts whose
/// versions are told, and the packages to install.
const TOOLCHAINS: &str = "\
c; cc sanitizer, clang sanitizer; cc, clang; gcc libc6-dev
c++; c++ sanitizer, clang++ sanitizer; c++, clang++; g++
java; javac; java, mvn; default-jdk-headless maven
debugger; gdb, jdb; gdb; gdb";

fn toolchains(said: &Said) -> Vec<Finding> {
    let mut findings = Vec::new();
    for line in TOOLCHAINS.lines() {
        let [name, any_of, told, packages] = line.split("; ").collect::<Vec<_>>()[..] else {
            continue;
        };
        let works = any_of.split(", ").any(|part| said.contains_key(part));
        let versions = told.split(", ").filter_map(|part| said.get(part));
        let versions: Vec<&str> = versions.map(String::as_str).collect();
        let versions = versions.join("; ");
        let install = format!("apt-get install {packages}");
        let (state, detail) = match (works, versions.as_str()) {
            (true, _) => (State::Ok, versions),
            (false, "") => (State::Missing, install),
            (false, versions) => {
                let detail = format!("{versions} does not work in the sandbox; {install}");
                (State::Missing, detail)
            }
        };
        findings.push(Finding::new(name, state, detail));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use patchwright_sandbox::{IsolationChoice, StrongerSandbox};

    fn landlock() -> Isolation {
        Isolation {
            kind: IsolationChoice::Landlock,
            leaves_open: vec!["the host's /proc".to_owned()],
            passed_over: vec![StrongerSandbox {
                isolation: IsolationChoice::Bubblewrap,
                reason: "not there".to_owned(),
            }],
        }
    }

    #[test]
    fn what_got_out_is_a_failure_whatever_the_sandbox_says_of_itself() {
        let trap = Trap::set().unwrap();
        let address = trap.udp.local_addr().unwrap();
        UdpSocket::bind(("127.0.0.1", 0))
            .unwrap()
            .send_to(b"x", address)
            .unwrap();
        std::fs::write(format!("{}.written", trap.file().display()), "").unwrap();
        let escapes = trap.escapes(&format!("A={CANARY}\nKEY=secret"), "secret");
        assert_eq!(escapes.len(), 4, "{escapes:?}");
        let said = read("end\tyes\nnetwork\ttried\n");
        let finding = verdict(&landlock(), &escapes, &said);
        assert_eq!(finding.state, State::Failed);
        let clean = verdict(&landlock(), &[], &said);
        assert_eq!(clean.state, State::Ok);
        let expected = "landlock; leaves open: the host's /proc; not bubblewrap: not there";
        assert_eq!(clean.detail, expected);
    }

    #[test]
    fn a_probe_that_broke_off_proves_nothing() {
        let finding = verdict(&landlock(), &[], &read("network\ttried\n"));
        assert_eq!(finding.state, State::Failed);
    }

    #[test]
    fn a_compiler_counts_when_its_sanitizer_finds_the_bug() {
        let said = read("cc\tcc 12.2\ncc sanitizer\tworks\nc++\tg++ 12.2\nc++ sanitizer\t\n");
        let found: Vec<_> = toolchains(&said)
            .into_iter()
            .map(|finding| (finding.name, finding.state))
            .collect();
        assert_eq!(
            found,
            [
                ("c", State::Ok),
                ("c++", State::Missing),
                ("java", State::Missing),
                ("debugger", State::Missing),
            ]
        );
    }
}
