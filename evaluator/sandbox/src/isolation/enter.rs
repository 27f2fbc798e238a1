//! The last step before a command: our own program, called again, that gives
//! up what the command must not have and becomes it.
//!
//! It runs in every isolation, so that all of them promise the same: an
//! unprivileged user, no capability, no core dump, a session of its own, and a
//! filter of system calls. The command's own variables are set here and not
//! before: a loader that reads `LD_PRELOAD` must already be inside.

use super::landlock::{self, Fence};
use super::mounts;
use super::seccomp::{self, Surroundings};
use crate::identity::Ids;
use rustix::fs::{Gid, Uid};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

/// The first argument that makes our binary one of its own steps.
pub(super) const WORD: &str = "sandbox-exec";
/// Close the doors, then become the command.
pub(super) const ENTER: &str = "enter";
/// End everything of the own domain as soon as the supervisor lets go.
pub(super) const END_DOMAIN: &str = "end-domain";
/// Become a program that writes to its own folders only.
pub(super) const KEEP_TO: &str = "keep-to";
/// Start such a program for each of many inputs.
pub(super) const EACH: &str = "each";
/// The word between those of a step and the program behind them.
pub(super) const END_OF_WORDS: &str = "--";

/// Privileges that are given up before the command begins.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Doors {
    /// The user to become, as numbered in the namespace that the command runs in.
    pub(super) ids: Option<Ids>,
    /// Landlock's rules.
    pub(super) fence: Option<Fence>,
    /// True where the processes of the command share their numbers with others: then something
    /// has to stay behind that ends them.
    pub(super) ends_domain: bool,
    /// True when all but what the fence lets it write becomes read-only.
    pub(super) read_only: bool,
    /// The filter of system calls; nothing where it is on already, or not wanted.
    pub(super) filter: Option<Surroundings>,
    /// True when privileges are left alone, for a command without isolation.
    pub(super) keep_privileges: bool,
}

/// The way in which this step begins a command.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Become {
    pub(super) doors: Doors,
    /// Where it starts.
    pub(super) folder: OsString,
    /// Bytes of the largest file it may write.
    pub(super) file_size: u64,
    /// Variables that it has from whoever starts this step: a proxy's password must not stand
    /// in the words of a process, which every user of the machine can read.
    pub(super) handed_on: Vec<String>,
}

impl Become {
    /// Returns the words that tell it to [`enter`], with the command's own variables, its program
    /// and its arguments.
    pub(super) fn words(
        &self,
        environment: BTreeMap<String, OsString>,
        program: &[&str],
        arguments: &[OsString],
    ) -> Vec<OsString> {
        // What cannot be told is refused by who reads it.
        let told = serde_json::to_string(self).unwrap_or_default();
        let mut words: Vec<OsString> = vec![WORD.into(), ENTER.into(), told.into()];
        words.extend(environment.into_iter().map(|(name, value)| {
            let mut pair = OsString::from(name + "=");
            pair.push(value);
            pair
        }));
        words.push(END_OF_WORDS.into());
        words.extend(program.iter().map(OsString::from));
        words.extend_from_slice(arguments);
        words
    }
}

/// Closes the doors that the arguments name, and becomes the command.
pub(super) fn enter(arguments: &[OsString]) -> Result<ExitCode, Box<dyn Error>> {
    let (words, program) = before_program(arguments);
    let (told, variables) = words.split_first().ok_or("no step was told")?;
    let step: Become = serde_json::from_slice(told.as_bytes())?;
    let variables: Option<Vec<_>> = variables.iter().map(pair).collect();
    let variables = variables.ok_or("a variable lacks its value")?;
    let (program, arguments) = program.split_first().ok_or("no command was given")?;
    limit(step.file_size)?;
    close(&step.doors)?;
    // Only now: it may be closed to the user that we were.
    std::env::set_current_dir(&step.folder)
        .map_err(|e| format!("{}: {e}", step.folder.display()))?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear();
    command.envs(step.handed_on.iter().filter_map(|name| handed_on(name)));
    command.envs(variables);
    if step.doors.ends_domain || step.doors.keep_privileges {
        // What the supervisor orders by is none of the command's business.
        command.stdin(Stdio::null());
    }
    Err(command.exec().into())
}

/// Leaves a process behind that ends all others of its domain when our standard input closes.
/// The command will be in a domain below, from where it can neither signal nor trace that one.
fn leave_what_ends_domain() -> Result<(), Box<dyn Error>> {
    landlock::set_apart()?;
    let mut ending = Command::new("/proc/self/exe");
    ending.args([WORD, END_DOMAIN]);
    ending.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    landlock::set_apart()
}

/// Waits until the supervisor lets go, then ends everything else in this domain. The kernel
/// starts no process while it does so, and no signal leaves the domain.
pub(super) fn end_domain() -> Result<ExitCode, Box<dyn Error>> {
    std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink())?;
    let everything = nix::unistd::Pid::from_raw(-1);
    nix::sys::signal::kill(everything, nix::sys::signal::Signal::SIGKILL)?;
    Ok(ExitCode::SUCCESS)
}

/// Becomes a program, and what it writes stays in the folders that are named before it.
pub(super) fn keep_to(arguments: &[OsString]) -> Result<ExitCode, Box<dyn Error>> {
    let (own, rest) = before_program(arguments);
    let (program, arguments) = rest.split_first().ok_or("no program was given")?;
    landlock::keep_to(own)?;
    Err(Command::new(program).args(arguments).exec().into())
}

/// Takes the words of a step apart from the program behind them and its arguments.
pub(super) fn before_program(words: &[OsString]) -> (&[OsString], &[OsString]) {
    let mut parts = words.splitn(2, |word| word == END_OF_WORDS);
    let before = parts.next().unwrap_or_default();
    (before, parts.next().unwrap_or_default())
}

/// Returns a variable as it was given to this step.
#[expect(clippy::disallowed_methods, reason = "what one step gives to the next")]
pub(super) fn handed_on(name: &str) -> Option<(&str, OsString)> {
    Some((name, std::env::var_os(name)?))
}

fn pair(word: &OsString) -> Option<(&OsStr, &OsStr)> {
    let bytes = word.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=')?;
    let (name, value) = bytes.split_at(at);
    Some((OsStr::from_bytes(name), OsStr::from_bytes(value.get(1..)?)))
}

/// The largest core dump, in bytes. None is so small, so none is written. A host may have
/// a program that takes dumps, which runs as root outside of every isolation: the kernel
/// calls it whatever the limit is, 0 included, but for this one.
const CORE: u64 = 1;

/// No core dumps, and no file larger than allowed.
fn limit(file_size: u64) -> Result<(), Errno> {
    let at_most = |most: u64| Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    setrlimit(Resource::Core, at_most(CORE))?;
    setrlimit(Resource::Fsize, at_most(file_size))
}

/// The order matters: paths are opened while they can be reached, the user is
/// changed while that is allowed, and the filter comes when all is done.
fn close(doors: &Doors) -> Result<(), Box<dyn Error>> {
    if doors.keep_privileges {
        return Ok(());
    }
    if let (true, Some(fence)) = (doors.read_only, &doors.fence) {
        mounts::make_read_only(&fence.write)?;
    }
    let fence = doors.fence.as_ref().map(landlock::prepare).transpose()?;
    give_up_privileges(doors.ids)?;
    if doors.ends_domain {
        leave_what_ends_domain()?;
    }
    if let Some(fence) = fence {
        landlock::restrict(fence)?;
    }
    seccompiler::apply_filter(&seccomp::of_core_dumps()?)?;
    if let Some(around) = doors.filter {
        if let Some(second) = seccomp::of_own_files(around)? {
            seccompiler::apply_filter(&second)?;
        }
        seccompiler::apply_filter(&seccomp::program(around)?)?;
    }
    Ok(())
}

/// Becomes the user, and keeps no capability nor a way to one.
fn give_up_privileges(ids: Option<Ids>) -> Result<(), Errno> {
    for capability in CapabilitySet::all().iter() {
        // Only who holds CAP_SETPCAP may; without it, no program that is
        // started can gain any capability either, as the line below says.
        let _ = remove_capability_from_bounding_set(capability);
    }
    set_no_new_privs(true)?;
    clear_ambient_capability_set()?;
    if let Some(ids) = ids {
        let (user, group) = (Uid::from_raw(ids.user), Gid::from_raw(ids.group));
        set_thread_groups(&[])?;
        set_thread_res_gid(group, group, group)?;
        set_thread_res_uid(user, user, user)?;
    }
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, none)
}

#[cfg(test)]
mod tests {
    use super::{Become, Doors, Fence, before_program, pair};
    use std::collections::BTreeMap;
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    #[test]
    fn a_variable_may_hold_an_equals_sign() {
        let word = "A=b=c".into();
        assert_eq!(pair(&word), Some((OsStr::new("A"), OsStr::new("b=c"))));
        assert_eq!(pair(&"A".into()), None);
    }

    #[test]
    fn a_step_comes_back_with_every_byte() {
        let folder = OsString::from_vec(b"/a\xff b".to_vec());
        let fence = Fence {
            write: vec![folder.clone()],
            ..Fence::default()
        };
        let doors = Doors {
            fence: Some(fence),
            ..Doors::default()
        };
        let step = Become {
            doors,
            folder: folder.clone(),
            file_size: 7,
            handed_on: vec!["PROXY".to_owned()],
        };
        let environment = BTreeMap::from([("A".to_owned(), folder.clone())]);
        let words = step.words(environment, &["sh", "-c"], &["--".into()]);
        let (told, program) = before_program(&words[2..]);
        assert_eq!(program, ["sh", "-c", "--"]);
        let read: Become = serde_json::from_slice(told[0].as_bytes()).unwrap();
        assert_eq!(format!("{read:?}"), format!("{step:?}"));
        assert_eq!(pair(&told[1]), Some((OsStr::new("A"), folder.as_os_str())));
    }
}
