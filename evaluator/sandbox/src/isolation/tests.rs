//! Escapes from bubblewrap; those from Landlock need the helper and are integration tests.

use super::test_host::host;
use super::{
    Command, Isolation, IsolationChoice, Mode, Own, Place, Sandbox, StrongerSandbox, World,
};
use crate::process::{Ending, Execution, Limit, Limits};
use std::collections::BTreeMap;
use std::os::linux::net::SocketAddrExt;
use std::path::Path;
use std::time::Duration;

fn limits() -> Limits {
    Limits {
        wall: Duration::from_secs(20),
        idle: None,
        memory: 512 << 20,
        processes: 100,
        output: 64 << 10,
        disk: 64 << 20,
    }
}

async fn run(script: &str, folder: &Path, limits: Limits) -> Execution {
    let sandbox = Sandbox::open(IsolationChoice::Bubblewrap, host())
        .await
        .unwrap();
    run_in(&sandbox, script, folder, limits).await
}

async fn run_in(sandbox: &Sandbox, script: &str, folder: &Path, limits: Limits) -> Execution {
    crate::contained_path::give_all(folder).unwrap();
    let places = [Place {
        host: folder.to_path_buf(),
        inside: "/patchwright/work".into(),
        writable: true,
    }];
    let command = Command {
        script,
        arguments: &[],
        places: &places,
        folder: Path::new("/patchwright/work"),
        environment: BTreeMap::from([("HOME".to_owned(), "/patchwright/work".into())]),
        network: false,
        limits,
        file_size: 32 << 20,
    };
    sandbox.run(command).await.unwrap()
}

async fn check(script: &str, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let execution = run(script, folder.path(), limits()).await;
    assert_eq!(execution.text().trim(), expected, "{script}");
}

#[tokio::test]
async fn sees_its_own_world_only() {
    let secret = tempfile::tempdir_in("/var/tmp").unwrap();
    std::fs::write(secret.path().join("key"), "secret").unwrap();
    let read = format!(
        "cat {}/key 2>/dev/null || echo hidden",
        secret.path().display()
    );
    check(&read, "hidden").await;
    for (script, expected) in [
        ("ls -A /root /home 2>/dev/null | wc -l", "0"),
        ("cat /etc/shadow 2>/dev/null || echo hidden", "hidden"),
        (
            "env | cut -d= -f1 | sort | tr '\\n' ' '",
            "HOME LANG PATH PWD",
        ),
        ("(echo x >/usr/x) 2>/dev/null || echo refused", "refused"),
        ("(mkdir /new) 2>/dev/null || echo refused", "refused"),
        ("(echo x >/dev/x) 2>/dev/null || echo refused", "refused"),
        ("echo x >here && cat here", "x"),
        (
            "id -u; touch x; tar cf a.tar --owner=7 --group=7 x && tar xf a.tar && echo unpacked",
            "1000\nunpacked",
        ),
        ("pwd; cat", "/patchwright/work"),
        (
            "grep CapEff /proc/self/status | cut -f2",
            "0000000000000000",
        ),
    ] {
        check(script, expected).await;
    }
}

/// A container lets bubblewrap mount `/proc` and refuses to set a name; debuggers and leak
/// checks need the first only.
#[tokio::test]
async fn has_its_own_processes_where_the_name_cannot_be_set() {
    let mut sandbox = Sandbox::open(IsolationChoice::Bubblewrap, host())
        .await
        .unwrap();
    sandbox.world = World::Host(Mode::Bubblewrap(Own::Proc));
    let folder = tempfile::tempdir().unwrap();
    let script = "test -e /proc/self/task/$$ && cat /proc/1/comm && uname -n";
    let execution = run_in(&sandbox, script, folder.path(), limits()).await;
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_eq!(execution.text().trim(), format!("bwrap\n{}", name.trim()));
}

#[tokio::test]
async fn reaches_no_network() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        r#"perl -MSocket -e '
        socket(my $t, PF_INET, SOCK_STREAM, 0) or print "no tcp\n";
        connect($t, sockaddr_in({port}, inet_aton("127.0.0.1"))) and print "tcp leaks\n";
        socket(my $u, PF_INET, SOCK_DGRAM, 0) and send($u, "x", 0, sockaddr_in(53, inet_aton("10.255.255.53"))) and print "udp leaks\n";
        socket(my $r, PF_INET, SOCK_RAW, 1) and print "raw leaks\n";
        print "done\n"'"#
    );
    check(&script, "done").await;
}

#[tokio::test]
async fn abstract_sockets_of_the_host_are_not_reached() {
    let name = format!("patchwright-test-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
    let script = format!(
        r#"perl -MSocket -e 'socket(my $s, PF_UNIX, SOCK_STREAM, 0); print connect($s, pack("S a*", 1, "\0{name}")) ? "leaks" : "refused"'"#
    );
    check(&script, "refused").await;
}

#[tokio::test]
async fn limits_end_everything() {
    let quick = Limits {
        wall: Duration::from_millis(400),
        ..limits()
    };
    let small = Limits {
        processes: 30,
        memory: 100 << 20,
        disk: 10 << 20,
        ..limits()
    };
    for (script, limits, expected) in [
        ("sleep 60", quick, Limit::WallTime),
        ("setsid sleep 60; true", quick, Limit::WallTime),
        (
            "for i in $(seq 60); do sleep 30 & done; wait",
            small,
            Limit::Processes,
        ),
        (
            "perl -e '$x = \"a\" x 300_000_000; sleep 30'",
            small,
            Limit::Memory,
        ),
        (
            "for i in 1 2 3; do head -c 20000000 /dev/zero >$i; done; sleep 30",
            small,
            Limit::Disk,
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let execution = run(script, folder.path(), limits).await;
        assert_eq!(execution.ending, Ending::Limit(expected), "{script}");
    }
}

#[tokio::test]
async fn a_child_that_left_its_session_dies_with_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let script = "setsid sh -c 'while :; do date +%N >alive; sleep 0.02; done' & sleep 0.2; exit 3";
    let execution = run(script, folder.path(), limits()).await;
    assert_eq!(execution.ending, Ending::Exited(3));
    let read = || std::fs::read(folder.path().join("alive")).unwrap();
    let before = read();
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(before, read());
}

#[tokio::test]
async fn tells_exits_and_signals_apart_and_bounds_output_and_files() {
    let folder = tempfile::tempdir().unwrap();
    for (script, expected) in [
        ("exit 7", Ending::Exited(7)),
        ("sh -c 'kill -SEGV $$'", Ending::Signal(11)),
        ("kill -ABRT $$", Ending::Signal(6)),
        ("head -c 50000000 /dev/zero >big", Ending::Signal(25)),
    ] {
        let execution = run(script, folder.path(), limits()).await;
        assert_eq!(execution.ending, expected, "{script}");
    }
    let flood = run(
        "head -c 30000000 /dev/zero; echo end",
        folder.path(),
        limits(),
    )
    .await;
    assert_eq!(flood.output.total, 30_000_004);
    assert!(flood.output.head.len() + flood.output.tail.len() <= 64 << 10);
    assert!(flood.text().ends_with("end\n"));
}

#[tokio::test]
async fn dropping_the_future_kills_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let script = "while :; do date +%N >alive; sleep 0.02; done";
    let pending = run(script, folder.path(), limits());
    let begun = async {
        while !folder.path().join("alive").exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        _ = pending => panic!("it ended by itself"),
        () = begun => {}
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let read = || std::fs::read(folder.path().join("alive")).unwrap();
    let before = read();
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(before, read());
}

#[tokio::test]
async fn the_password_of_a_proxy_stands_in_the_words_of_no_process() {
    let mut host = host();
    let proxy = "http://bob:PROXYSECRET@127.0.0.1:9".to_owned();
    host.network_variables
        .insert("https_proxy".to_owned(), proxy);
    let sandbox = Sandbox::open(IsolationChoice::Bubblewrap, host)
        .await
        .unwrap();
    let command = Command {
        script: "sleep 2; echo $https_proxy",
        arguments: &[],
        places: &[],
        folder: Path::new("/"),
        environment: BTreeMap::new(),
        network: true,
        limits: limits(),
        file_size: 1 << 20,
    };
    let words = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes
            .filter(|entry| {
                let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                String::from_utf8_lossy(&words).contains("PROXYSECRET")
            })
            .count()
    };
    let (execution, told) = tokio::join!(sandbox.run(command), words);
    assert_eq!(told, 0);
    assert!(execution.unwrap().text().contains("bob:PROXYSECRET"));
}

#[test]
fn a_fall_back_is_told_with_its_reason() {
    let isolation = Isolation {
        kind: IsolationChoice::Landlock,
        leaves_open: Vec::new(),
        passed_over: vec![StrongerSandbox {
            isolation: IsolationChoice::Bubblewrap,
            reason: "no bwrap".to_owned(),
        }],
    };
    let told = isolation.to_string();
    assert_eq!(told, "landlock; not bubblewrap: no bwrap");
    let written = serde_json::to_value(&isolation).unwrap();
    assert_eq!(written["isolation"], "landlock");
    assert_eq!(written["not_used"][0]["isolation"], "bubblewrap");
}
