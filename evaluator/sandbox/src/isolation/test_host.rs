//! The host of a unit test: the system's programs, and the helper, which Cargo
//! builds for integration tests only. A helper that is older than its sources
//! is built anew.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

use super::Host;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// Sources of the helper, below the crate.
const SOURCES: [&str; 5] = [
    "src/isolation",
    "src/process",
    "sandbox-exec.rs",
    "src/process.rs",
    "src/identity.rs",
];

/// Returns the host of a test.
pub fn host() -> Host {
    static HELPER: OnceLock<PathBuf> = OnceLock::new();
    Host::new(HELPER.get_or_init(helper).clone())
}

fn helper() -> PathBuf {
    // target/PROFILE/deps/NAME-HASH
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let helper = profile.join("sandbox-exec");
    let changed = SOURCES.map(|folder| newest(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)));
    let built = fs::metadata(&helper).and_then(|metadata| metadata.modified());
    if built.is_ok_and(|built| changed.iter().all(|changed| *changed <= built)) {
        return helper;
    }
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--locked", "--offline"]);
    build.args(["--package", env!("CARGO_PKG_NAME"), "--bin", "sandbox-exec"]);
    build.arg("--target-dir").arg(profile.parent().unwrap());
    if profile.ends_with("release") {
        build.arg("--release");
    }
    assert!(
        build.status().unwrap().success(),
        "the helper does not build"
    );
    helper
}

/// When a file, or one below a folder, was last changed.
fn newest(folder: &Path) -> SystemTime {
    let metadata = fs::metadata(folder).unwrap();
    if !metadata.is_dir() {
        return metadata.modified().unwrap();
    }
    let mut newest = SystemTime::UNIX_EPOCH;
    for entry in fs::read_dir(folder).unwrap().flatten() {
        newest = newest.max(self::newest(&entry.path()));
    }
    newest
}
