//! The sandbox as the program chooses it: the strongest that works here, told
//! with the reason when it is a weaker one, and attacked through `check --attack`.

use crate::scene::{Scene, files};
use patchwright_tests::command::{Finished, binary, search_path};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A user that has nothing to do with this machine.
const ORDINARY: u32 = 54_321;
/// A patch that changes nothing of the crash, so that the ladder ends early.
const USELESS: &str = "--- a/records.c
+++ b/records.c
@@ -4,7 +4,7 @@
 #include <string.h>
 
 static char *copy_name(const char *text, size_t length) {
-  char *name = malloc(NAME_LIMIT + 1);
+  char *name = malloc(NAME_LIMIT + 2);
   memcpy(name, text, length);
   name[length] = '\\0';
   return name;
";

/// The user that runs the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum User {
    Current,
    Ordinary,
}

impl User {
    /// The users that this process can start a program as.
    fn all() -> Vec<Self> {
        if is_root() {
            return vec![Self::Current, Self::Ordinary];
        }
        skipped("only root can start the program as another user");
        vec![Self::Current]
    }

    /// Makes a command this user's.
    fn starts(self, command: &mut Command) {
        if self == Self::Ordinary {
            command.uid(ORDINARY).gid(ORDINARY);
        }
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0)
}

fn skipped(what: &str) {
    let line = format!("##### SKIPPED: {what}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// A scene whose program, folders and task every user gets to, and an ordinary one owns.
fn scene(user: User) -> Scene {
    let scene = Scene::new().with("PATCHWRIGHT_MODEL__API_KEY", "");
    fs::write(scene.patchwright.scratch("a.diff"), USELESS).unwrap();
    let folder = scene.patchwright.folder();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.join("patchwright");
    fs::hard_link(binary().unwrap(), &program)
        .or_else(|_| fs::copy(binary().unwrap(), &program).map(|_| ()))
        .unwrap();
    if user == User::Ordinary {
        let mut own = files(folder);
        own.retain(|file| *file != program);
        let folders: Vec<_> = own.iter().flat_map(|file| file.ancestors()).collect();
        for path in folders.iter().filter(|path| path.starts_with(folder)) {
            lchown(path, Some(ORDINARY), Some(ORDINARY)).unwrap();
        }
        for name in ["home", "state", "cache", "config", "scratch"] {
            lchown(folder.join(name), Some(ORDINARY), Some(ORDINARY)).unwrap();
        }
    }
    scene
}

/// Runs a command line of the program's copy, as a user; `before` starts it.
fn run(scene: &Scene, user: User, (before, arguments): (&[&str], &[&str])) -> Finished {
    let patchwright = &scene.patchwright;
    let inner = patchwright.command(arguments).unwrap();
    let program = patchwright.folder().join("patchwright");
    let mut words: Vec<_> = before.iter().map(Into::into).collect();
    words.push(program.into_os_string());
    words.extend(inner.get_args().map(ToOwned::to_owned));
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env_clear();
    command.current_dir(patchwright.folder().join("scratch"));
    for (name, value) in inner.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    user.starts(&mut command);
    let output = command.output().unwrap();
    let finished = Finished {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    scene.check(&finished);
    finished
}

/// Tells whether `bwrap` by itself can make what the sandbox is made of.
fn bubblewrap_works(user: User) -> bool {
    let mut command = Command::new("bwrap");
    command.args(["--unshare-all", "--uid", "1000", "--ro-bind", "/", "/"]);
    command.args(["--dev", "/dev", "--", "/bin/true"]);
    user.starts(command.current_dir("/"));
    command.status().is_ok_and(|status| status.success())
}

/// Judges the useless patch; the report's words on the sandbox.
fn judged(scene: &Scene, user: User, (before, more): (&[&str], &[&str])) -> (Value, Finished) {
    let mut arguments = vec!["judge", "records", "--patch", "a.diff", "--format", "json"];
    arguments.extend(more);
    let finished = run(scene, user, (before, &arguments));
    let report: Value = serde_json::from_str(&finished.stdout)
        .unwrap_or_else(|error| panic!("{error}: {finished:#?}"));
    let rungs = &report["attempts"][0]["rungs"];
    let holds: Vec<_> = rungs.as_array().into_iter().flatten().collect();
    let last = holds.last().map(|rung| (&rung["name"], &rung["holds"]));
    assert_eq!(last, Some((&json!("silent"), &json!(false))), "{report:#}");
    assert_eq!(holds.len(), 4, "{report:#}");
    (report["sandbox"].clone(), finished)
}

#[test]
fn bubblewrap_is_taken_where_it_works() {
    for user in User::all() {
        if !bubblewrap_works(user) {
            skipped(&format!("bubblewrap does not work here as {user:?}"));
            continue;
        }
        let (sandbox, finished) = judged(&scene(user), user, (&[], &[]));
        assert_eq!(sandbox["isolation"], "bubblewrap", "{user:?}: {sandbox:#}");
        assert_eq!(sandbox["not_used"], json!([]), "{user:?}");
        let told = finished.stderr.contains("sandbox: bubblewrap\n");
        assert!(told, "{user:?}: {finished:#?}");
    }
}

#[test]
fn the_same_commands_run_under_landlock() {
    let choice = ["--set", "sandbox.choice=landlock"];
    for user in User::all() {
        let (sandbox, _) = judged(&scene(user), user, (&[], &choice));
        assert_eq!(sandbox["isolation"], "landlock", "{user:?}: {sandbox:#}");
        assert_eq!(sandbox["not_used"], json!([]), "{user:?}");
        assert!(!sandbox["leaves_open"].as_array().unwrap().is_empty());
    }
}

#[test]
fn a_weaker_isolation_is_told_with_the_reason() {
    if !is_root() || !bubblewrap_works(User::Current) {
        return skipped("only root can hide a program of the system");
    }
    let hidden: Vec<_> = std::env::split_paths(&search_path())
        .map(|folder| folder.join("bwrap").display().to_string())
        .filter(|path| fs::canonicalize(path).is_ok_and(|real| real.as_os_str() == path.as_str()))
        .collect();
    let mut before = vec!["bwrap", "--die-with-parent", "--dev-bind", "/", "/"];
    for path in &hidden {
        before.extend(["--ro-bind", "/dev/null", path]);
    }
    before.push("--");
    let scene = scene(User::Current);
    let (sandbox, finished) = judged(&scene, User::Current, (&before, &[]));
    assert_eq!(sandbox["isolation"], "landlock", "{sandbox:#}");
    let stronger = &sandbox["not_used"][0];
    assert_eq!(stronger["isolation"], "bubblewrap", "{sandbox:#}");
    let reason = stronger["reason"].as_str().unwrap();
    assert!(reason.contains("bwrap"), "{reason}");
    let told = format!("sandbox: landlock; not bubblewrap: {reason}");
    assert!(finished.stderr.contains(&told), "{finished:#?}");
    // The report for people says it as well.
    let arguments = ["judge", "records", "--patch", "a.diff"];
    let shown = run(&scene, User::Current, (&before, &arguments)).stdout;
    assert!(shown.contains(&told), "{shown}");
}

/// The last line that `check --attack` prints of an isolation.
fn held(text: &str, isolation: &str) -> Option<(u32, u32)> {
    let prefix = format!("{isolation}: ");
    let line = text.lines().find_map(|line| line.strip_prefix(&prefix))?;
    let (held, all) = line.strip_suffix(" held")?.split_once(" of ")?;
    Some((held.parse().ok()?, all.parse().ok()?))
}

#[test]
fn every_isolation_holds_against_the_attack() {
    for user in User::all() {
        let finished = run(&scene(user), user, (&[], &["check", "--attack"]));
        assert_eq!(finished.code, Some(0), "{user:?}: {finished:#?}");
        let offered = bubblewrap_works(user).then_some("bubblewrap");
        for isolation in offered.into_iter().chain(["landlock"]) {
            let (held, all) = held(&finished.stdout, isolation)
                .unwrap_or_else(|| panic!("{user:?}, {isolation}: {finished:#?}"));
            assert!(held == all && all > 90, "{user:?}: {finished:#?}");
        }
    }
}

/// A user namespace in which no other can be made, as a container's filter has it.
const NO_NAMESPACES: [&str; 7] = [
    "unshare",
    "--map-root-user",
    "sh",
    "-c",
    "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$@\"",
    "sh",
    "env",
];

#[test]
fn what_leaves_the_users_files_open_is_taken_only_on_request() {
    if !is_root() || !bubblewrap_works(User::Ordinary) {
        return skipped("an ordinary user without user namespaces cannot be had here");
    }
    let user = User::Ordinary;
    let scene = scene(user);
    let attack = ["check", "--attack"];
    let finished = run(&scene, user, (&NO_NAMESPACES, &attack));
    assert_eq!(finished.code, Some(5), "{finished:#?}");
    for isolation in ["bubblewrap", "landlock"] {
        let line = format!("{isolation}: not attacked: ");
        assert!(finished.stdout.contains(&line), "{finished:#?}");
    }
    assert!(
        finished.stdout.contains("sandbox.choice = \"landlock\""),
        "{finished:#?}"
    );

    // What gets out then is shown, and is a failure.
    let choice = ["check", "--attack", "--set", "sandbox.choice=landlock"];
    let finished = run(&scene, user, (&NO_NAMESPACES, &choice));
    assert_eq!(finished.code, Some(5), "{finished:#?}");
    assert!(
        finished
            .stdout
            .contains("ESCAPED  changes the mode of a file outside"),
        "{finished:#?}"
    );
    let (held, all) = held(&finished.stdout, "landlock").unwrap();
    assert!(held < all && held > 90, "{finished:#?}");

    let none = ["check", "--attack", "--set", "sandbox.choice=none"];
    assert_eq!(run(&scene, user, (&[], &none)).code, Some(5));
}

#[test]
fn root_without_its_capabilities_is_refused() {
    if !is_root() {
        return skipped("only root can give capabilities up");
    }
    let scene = scene(User::Current);
    let before = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"];
    let arguments = ["judge", "records", "--patch", "a.diff", "--format", "json"];
    let finished = run(&scene, User::Current, (&before, &arguments));
    assert_eq!(finished.code, Some(5), "{finished:#?}");
    let report: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(report["ending"], "infra_error", "{report:#}");
    let detail = report["detail"].as_str().unwrap();
    assert!(detail.contains("root lacks CAP_CHOWN"), "{detail}");
}
