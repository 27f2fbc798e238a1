//! Abilities of a command under Landlock, or under nothing at all.
//!
//! These need the helper program, which only integration tests have at hand.
//! The same escapes from bubblewrap are unit tests beside the sandbox.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

use patchwright_sandbox::attack::attack;
use patchwright_sandbox::{Host, IsolationChoice, Sandbox, SandboxError};
use patchwright_target::{
    CommandLimits, Commands, LocalTarget, Pov, Target, TargetError, TargetTask,
};
use std::fs;
use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::Duration;

/// Every isolation that can be chosen.
const ISOLATIONS: [IsolationChoice; 3] = [
    IsolationChoice::Bubblewrap,
    IsolationChoice::Landlock,
    IsolationChoice::None,
];

fn host() -> Host {
    let beside = std::env::current_exe().unwrap().with_file_name(HELPER);
    if beside.is_file() {
        return Host::new(beside);
    }
    patchwright_sandbox::test_host::host()
}

/// The helper's name beside a copy of this program.
const HELPER: &str = "helper-of-the-test";
/// A user that has nothing to do with this machine.
const ORDINARY: u32 = 54_321;

/// A copy of this program and its helper, where every user gets to.
fn copies() -> tempfile::TempDir {
    let folder = tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(0o755))
        .tempdir()
        .unwrap();
    let this = std::env::current_exe().unwrap();
    fs::copy(this, folder.path().join("escapes")).unwrap();
    fs::copy(&host().helper, folder.path().join(HELPER)).unwrap();
    folder
}

fn said(what: &str) {
    let line = format!("##### {what}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

fn task(folder: &Path, test: &str) -> TargetTask {
    fs::create_dir_all(folder.join("tree")).unwrap();
    fs::write(folder.join("tree/Makefile"), "all:\n\ttouch $(OUT)/built\n").unwrap();
    fs::write(folder.join("pov"), "x").unwrap();
    TargetTask {
        tree: folder.join("tree"),
        task_folder: folder.to_path_buf(),
        commands: Commands {
            build: r#"make -s OUT="$OUT""#.to_owned(),
            pov: Some("kill -SEGV $$".to_owned()),
            test: Some(test.to_owned()),
            ..Commands::default()
        },
        povs: vec![Pov {
            file: folder.join("pov"),
            ..Pov::default()
        }],
        limits: CommandLimits {
            test: Duration::from_secs(4),
            processes: 60,
            disk: 32 << 20,
            ..CommandLimits::default()
        },
        ..TargetTask::default()
    }
}

/// Returns the output and the ending of the test command of a baseline.
async fn run(isolation: IsolationChoice, test: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let scratch = folder.path().join("scratch");
    let task = task(folder.path(), test);
    let target = LocalTarget::open(task, isolation, host(), &scratch)
        .await
        .unwrap();
    assert_eq!(target.isolation().kind, isolation);
    let baseline = target.baseline().await.unwrap();
    let execution = &baseline.tests.as_ref().unwrap().execution;
    (
        execution.text().trim().to_owned(),
        execution.ending.to_string(),
    )
}

/// Fails with the ways that led out of an isolation.
async fn holds(isolation: IsolationChoice) {
    let attack = attack(isolation, host()).await.unwrap();
    let escaped: Vec<_> = attack
        .escaped()
        .map(|escape| format!("{}: {}", escape.name, escape.detail))
        .collect();
    assert!(attack.escapes.len() > 80, "{:#?}", attack.escapes);
    assert!(escaped.is_empty(), "{isolation:?}: {escaped:#?}");
}

#[tokio::test]
async fn bubblewrap_holds() {
    holds(IsolationChoice::Bubblewrap).await;
}

#[tokio::test]
async fn landlock_holds() {
    holds(IsolationChoice::Landlock).await;
}

/// Root tries the same as an ordinary user; who is none cannot.
#[test]
fn an_ordinary_user_is_held_as_well() {
    if !rustix::process::geteuid().is_root() {
        return said("SKIPPED: only root can try the escapes as another user");
    }
    let folder = copies();
    let output = std::process::Command::new(folder.path().join("escapes"))
        .args(["--exact", "bubblewrap_holds", "landlock_holds"])
        // No control group is to be had there, which would end the processes too.
        .arg("what_forks_faster_than_it_is_listed_ends_too")
        .current_dir("/")
        .uid(ORDINARY)
        .gid(ORDINARY)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("3 passed"), "{text}");
}

/// Called by other tests in other surroundings: what is offered there must hold.
#[tokio::test]
#[ignore = "started by the tests that make the surroundings"]
async fn what_is_offered_here_holds() {
    let mut offered = 0;
    for isolation in [IsolationChoice::Bubblewrap, IsolationChoice::Landlock] {
        match Sandbox::open(isolation, host()).await {
            Ok(sandbox) => {
                let open = &sandbox.isolation().leaves_open;
                println!("{isolation:?} is offered: {open:?}");
                offered += 1;
                holds(isolation).await;
            }
            Err(error) => println!("{isolation:?} is refused: {error}"),
        }
    }
    println!("{offered} held");
}

/// A container without privileges, its root made of this machine's programs.
fn in_container(user: &str) -> Option<String> {
    let folder = copies();
    let root = folder.path().join("root");
    for point in [
        "usr",
        "etc/alternatives",
        "proc",
        "sys",
        "dev",
        "tmp",
        "run",
        "test",
    ] {
        fs::create_dir_all(root.join(point)).unwrap();
    }
    fs::write(root.join("etc/ld.so.cache"), "").unwrap();
    fs::set_permissions(root.join("tmp"), fs::Permissions::from_mode(0o1777)).unwrap();
    for name in ["bin", "sbin", "lib", "lib64"] {
        if let Ok(to) = fs::read_link(Path::new("/").join(name)) {
            std::os::unix::fs::symlink(to, root.join(name)).unwrap();
        }
    }
    let mut engine = std::process::Command::new("podman");
    engine.args(["run", "--rm", "--network", "none", "--user", user]);
    // It leaves a note of a container that ran out of memory where it was started.
    engine.current_dir(folder.path());
    // What the engine would set by itself may be more than its caller has.
    engine.args([
        "--ulimit",
        "nofile=4096:4096",
        "--ulimit",
        "nproc=4096:4096",
    ]);
    if Path::new("/usr/sbin/runc").exists() {
        engine.args(["--runtime", "runc"]);
    }
    for shown in ["/usr", "/etc/alternatives", "/etc/ld.so.cache"] {
        engine.args(["--volume", &format!("{shown}:{shown}:ro")]);
    }
    let test = format!("{}:/test:ro", folder.path().display());
    engine.args(["--volume", &test, "--tmpfs", "/tmp:mode=1777", "--rootfs"]);
    let output = engine
        .arg(&root)
        .args(["/test/escapes", "--exact", "--nocapture", "--ignored"])
        .arg("what_is_offered_here_holds")
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !text.contains("running 1 test") {
        let error = String::from_utf8_lossy(&output.stderr);
        said(&format!("SKIPPED: no container could be started: {error}"));
        return None;
    }
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(text)
}

#[test]
fn a_container_without_privileges_is_held_as_well() {
    for user in ["0", "1000"] {
        if let Some(text) = in_container(user) {
            assert!(!text.contains("\n0 held"), "as user {user}: {text}");
        }
    }
}

#[tokio::test]
async fn landlock_keeps_files_away() {
    let secret = tempfile::tempdir_in("/var/tmp").unwrap();
    fs::write(secret.path().join("key"), "secret").unwrap();
    let key = secret.path().join("key").display().to_string();
    for (script, expected) in [
        (format!("cat {key} 2>/dev/null || echo hidden"), "hidden"),
        (
            format!("(echo x >{key}) 2>/dev/null || echo refused"),
            "refused",
        ),
        (
            "cat /etc/shadow 2>/dev/null || echo hidden".to_owned(),
            "hidden",
        ),
        ("ls /root /home 2>/dev/null | wc -l".to_owned(), "0"),
        (
            "(echo x >/tmp/x-patchwright) 2>/dev/null || echo refused".to_owned(),
            "refused",
        ),
        (
            "echo x >\"$WORK\"/x && cat \"$WORK\"/x; mktemp >/dev/null".to_owned(),
            "x",
        ),
        ("cc --version | head -1 | cut -c1-2".to_owned(), "cc"),
        ("echo $TREE".to_owned(), "/patchwright/tree"),
    ] {
        let (text, _) = run(IsolationChoice::Landlock, &script).await;
        assert_eq!(text, expected, "{script}");
    }
    assert_eq!(fs::read(key).unwrap(), b"secret");
}

#[tokio::test]
async fn landlock_leaves_no_socket_but_pairs() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        r#"perl -MSocket -e '
        for my $kind (SOCK_STREAM, SOCK_DGRAM, SOCK_RAW) {{
            for my $family (PF_INET, 10, 16, 17) {{ socket(my $s, $family, $kind, 0) and print "socket $family $kind\n" }}
        }}
        socket(my $s, PF_UNIX, SOCK_STREAM, 0) and print "local socket\n";
        socketpair(my $a, my $b, PF_UNIX, SOCK_DGRAM, 0) and print "datagrams\n";
        socketpair(my $c, my $d, PF_UNIX, SOCK_STREAM, 0) or print "no pairs\n";
        print "done {port}\n"'"#
    );
    let (text, _) = run(IsolationChoice::Landlock, &script).await;
    assert_eq!(text, format!("done {port}"));
}

/// Expected result of each line of the next test.
const APART: &str = "hidden
hidden
0
refused
refused
refused
x
0000000000000000
/patchwright/tree
139
no way out
";

/// Bubblewrap's own tests ask one thing a command; a container takes longer to start.
#[tokio::test]
async fn what_has_a_root_of_its_own_sees_nothing_else() {
    let secret = tempfile::tempdir_in("/var/tmp").unwrap();
    fs::write(secret.path().join("key"), "secret").unwrap();
    let key = secret.path().join("key").display().to_string();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let name = format!("patchwright-apart-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _listener = UnixListener::bind_addr(&address).unwrap();
    let script = format!(
        r#"cat {key} 2>/dev/null || echo hidden
        cat /etc/shadow 2>/dev/null || echo hidden
        ls -A /root /home 2>/dev/null | wc -l
        (echo x >/usr/x) 2>/dev/null || echo refused
        (mkdir /new) 2>/dev/null || echo refused
        (echo x >"$TASK/x") 2>/dev/null || echo refused
        echo x >"$WORK/x"; cat "$WORK/x"; cat >/tmp/x-patchwright
        grep CapEff /proc/self/status | cut -f2
        pwd
        sh -c 'kill -SEGV $$' 2>/dev/null || echo $?
        perl -MSocket -e '
        socket(my $t, PF_INET, SOCK_STREAM, 0);
        connect($t, sockaddr_in({port}, inet_aton("127.0.0.1"))) and print "tcp leaks\n";
        socket(my $u, PF_INET, SOCK_DGRAM, 0) and send($u, "x", 0, sockaddr_in(53, inet_aton("10.255.255.53"))) and print "udp leaks\n";
        socket(my $r, PF_INET, SOCK_RAW, 1) and print "raw leaks\n";
        socket(my $s, PF_UNIX, SOCK_STREAM, 0);
        connect($s, pack("S a*", 1, "\0{name}")) and print "abstract leaks\n";
        print "no way out\n"'"#
    );
    for isolation in ISOLATIONS {
        if matches!(isolation, IsolationChoice::Landlock | IsolationChoice::None) {
            continue;
        }
        let (text, ending) = run(isolation, &script).await;
        assert_eq!(text, APART.trim(), "{isolation:?}");
        assert_eq!(ending, "exit status 0");
        assert!(!Path::new("/tmp/x-patchwright").exists(), "{isolation:?}");
    }
    assert_eq!(fs::read(key).unwrap(), b"secret");
}

#[tokio::test]
async fn every_isolation_keeps_to_its_limits() {
    for isolation in ISOLATIONS {
        for (script, expected) in [
            ("exit 7", "exit status 7"),
            ("kill -ABRT $$", "signal 6"),
            ("sleep 60", "hit its time limit"),
            (
                "for i in $(seq 90); do sleep 30 & done; wait",
                "hit its limit of processes",
            ),
            (
                "for i in 1 2 3; do head -c 20000000 /dev/zero >$WORK/$i; done; sleep 30",
                "hit its disk limit",
            ),
        ] {
            let (_, ending) = run(isolation, script).await;
            assert_eq!(ending, expected, "{isolation:?}: {script}");
        }
    }
}

#[tokio::test]
async fn nothing_outlives_its_command() {
    for isolation in ISOLATIONS {
        let folder = tempfile::tempdir().unwrap();
        let mark = format!("31{}.5", std::process::id());
        for script in [
            format!("setsid sh -c 'setsid sleep {mark} & sleep {mark}' >/dev/null 2>&1 & exit 0"),
            format!("setsid sleep {mark} & sleep {mark}"),
            format!("for i in $(seq 100); do sleep {mark} & done; wait"),
        ] {
            let (_, ending) = run(isolation, &script).await;
            assert!(ending != "exit status 1", "{ending}");
            assert!(!running(&mark), "{isolation:?} {script}");
        }
        drop(folder);
    }
}

/// Processes that are another one each millisecond and hear no signal: compiled, because an
/// interpreter forks too slowly to get away.
const RESTLESS: &str = r#"cat >"$OUT/MARK.c" <<'END'
#include <signal.h>
#include <time.h>
#include <unistd.h>
int main(void) {
  time_t end = time(0) + 40;
  for (int i = 1; i < 65; i++) signal(i, SIG_IGN);
  for (int i = 0; i < 16; i++)
    if (fork() == 0) {
      setsid(); close(0); close(1); close(2);
      while (time(0) < end) { if (fork() > 0) _exit(0); usleep(200); }
      _exit(0);
    }
}
END
cc -o "$OUT/MARK" "$OUT/MARK.c" && exec "$OUT/MARK""#;

#[tokio::test]
async fn what_forks_faster_than_it_is_listed_ends_too() {
    for isolation in [IsolationChoice::Bubblewrap, IsolationChoice::Landlock] {
        let mark = format!("restless-{}", std::process::id());
        let (_, ending) = run(isolation, &RESTLESS.replace("MARK", &mark)).await;
        // On a busy machine the dead that nobody has collected yet go beyond the limit.
        let endings = ["exit status 0", "hit its limit of processes"];
        assert!(
            endings.contains(&ending.as_str()),
            "{isolation:?}: {ending}"
        );
        assert!(!running(&mark), "{isolation:?}");
    }
}

fn running(mark: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(mark))
    })
}

#[tokio::test]
async fn landlock_fences_off_other_processes() {
    let mut victim = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap();
    let script = format!("kill -9 {} 2>/dev/null || echo refused", victim.id());
    let (text, _) = run(IsolationChoice::Landlock, &script).await;
    assert_eq!(text, "refused");
    assert!(victim.try_wait().unwrap().is_none());
    victim.kill().unwrap();
    victim.wait().unwrap();
}

#[tokio::test]
async fn without_its_helper_no_command_runs() {
    for isolation in ISOLATIONS {
        let folder = tempfile::tempdir().unwrap();
        let opened = LocalTarget::open(
            task(folder.path(), "true"),
            isolation,
            Host::new(folder.path().join("no-helper")),
            folder.path(),
        );
        let error = opened.await.unwrap_err();
        assert!(
            matches!(
                error,
                TargetError::Sandbox(SandboxError::Infrastructure { .. })
            ),
            "{error}"
        );
    }
}

#[tokio::test]
async fn what_the_caller_holds_open_stays_outside() {
    let secret = tempfile::tempdir_in("/var/tmp").unwrap();
    let open = fs::File::open(secret.path()).unwrap();
    rustix::io::fcntl_setfd(&open, rustix::io::FdFlags::empty()).unwrap();
    for isolation in ISOLATIONS {
        let script = "for fd in /proc/self/fd/*; do readlink $fd || true; done";
        let (text, _) = run(isolation, script).await;
        let inside = secret.path().display().to_string();
        assert!(!text.contains(&inside), "{isolation:?}: {text}");
        assert!(text.contains("pipe:"), "{isolation:?}: {text}");
    }
}

#[tokio::test]
async fn without_bubblewrap_the_next_isolation_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let host = Host {
        path: vec![folder.path().to_path_buf()],
        ..host()
    };
    let target = LocalTarget::open(
        task(folder.path(), "true"),
        IsolationChoice::Auto,
        host,
        folder.path(),
    );
    let target = target.await.unwrap();
    let isolation = target.isolation();
    assert_eq!(isolation.kind, IsolationChoice::Landlock);
    let passed_over = &isolation.passed_over[0];
    assert_eq!(passed_over.isolation, IsolationChoice::Bubblewrap);
    assert!(!passed_over.reason.is_empty());
}
