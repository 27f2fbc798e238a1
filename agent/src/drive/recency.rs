//! When the files of a tree were last changed, as far as the history of Git
//! tells. Optional: without a history, or when Git takes too long, nothing is
//! known and nothing waits.
//!
//! The tree is foreign: of its Git settings those that start programs are
//! switched off, and no protocol is allowed.

use patchwright_config::tool_environment;
use patchwright_retrieval::{Engine, RetrievalError, Settings};
use patchwright_source::TreePath;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Commits that are looked at: what is older is not recent.
const COMMITS: &str = "--max-count=400";
/// Longest time that Git may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most that is read of its answer, in bytes.
const MOST: u64 = 4 * 1024 * 1024;

/// Opens the index of a tree and tells it what was changed lately.
///
/// # Errors
/// The tree or the cache cannot be used.
pub fn open_engine(
    tree: &Path,
    cache: &Path,
    settings: Settings,
) -> Result<Engine, RetrievalError> {
    let mut engine = Engine::open(tree, cache, settings)?;
    engine.set_modified(&last_changes(tree));
    Ok(engine)
}

/// The time of the last change of the recently changed files, in seconds.
fn last_changes(tree: &Path) -> BTreeMap<TreePath, i64> {
    if !tree.join(".git").exists() {
        return BTreeMap::new();
    }
    let asked = Command::new("git")
        .args(["--no-pager", "--no-optional-locks"])
        .args(["-c", "core.fsmonitor=false", "-c", "core.quotepath=false"])
        .args(["-c", "log.showSignature=false", "-c", "log.mailmap=false"])
        .args(["log", COMMITS, "--no-merges", "--no-renames", "--relative"])
        .args(["--format=\u{1}%ct", "--name-only"])
        .env_clear()
        .envs(tool_environment())
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .current_dir(tree)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let answer = asked.ok().and_then(answer_of).unwrap_or_default();
    read(&answer)
}

/// Returns the output of a child, if it ends in time.
fn answer_of(mut child: Child) -> Option<String> {
    let out = child.stdout.take()?;
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        out.take(MOST).read_to_end(&mut bytes).map(|_| bytes)
    });
    let started = Instant::now();
    while !reader.is_finished() && started.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    // A killed child closes its output, so the reader ends too.
    let _ = child.kill();
    let _ = child.wait();
    let bytes = reader.join().ok()?.ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn read(log: &str) -> BTreeMap<TreePath, i64> {
    let mut changes = BTreeMap::new();
    let mut time = 0;
    for line in log.lines() {
        if let Some(stamp) = line.strip_prefix('\u{1}') {
            time = stamp.parse().unwrap_or_default();
        } else if let Ok(path) = TreePath::new(line) {
            let last: &mut i64 = changes.entry(path).or_insert(time);
            *last = (*last).max(time);
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::{last_changes, read};
    use patchwright_source::TreePath;
    use std::path::Path;
    use std::process::Command;

    fn git(tree: &Path, arguments: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(arguments)
            .current_dir(tree)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    }

    #[test]
    fn the_last_change_of_a_file_counts() {
        let times = read("\u{1}300\n\na.c\nsrc/b.c\n\u{1}200\n\na.c\nc.c\n");
        let time = |path: &str| times.get(&TreePath::new(path).unwrap()).copied();
        assert_eq!(
            (time("a.c"), time("src/b.c"), time("c.c"), time("d.c")),
            (Some(300), Some(300), Some(200), None)
        );
    }

    #[test]
    fn a_history_is_read_and_its_settings_start_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path();
        assert!(last_changes(tree).is_empty());
        git(tree, &["init", "-q"]);
        std::fs::write(tree.join("a.c"), "int a;\n").unwrap();
        git(tree, &["add", "."]);
        git(tree, &["commit", "-q", "-m", "one"]);
        let mark = tree.join("ran");
        let program = format!("touch {}", mark.display());
        git(tree, &["config", "core.fsmonitor", &program]);
        git(tree, &["config", "core.pager", &program]);
        let times = last_changes(tree);
        let path = TreePath::new("a.c").unwrap();
        assert!(times.get(&path).is_some_and(|time| *time > 0), "{times:?}");
        assert!(!mark.exists());
    }
}
