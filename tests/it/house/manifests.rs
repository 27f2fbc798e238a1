//! Package manifests: what every package takes from the workspace, and the
//! toolchain that builds it.

use super::{expect_none, files, root};
use std::fs;
use toml::Table;

/// Keys of `[package]` that are the same for all packages.
const SHARED: [&str; 5] = ["version", "edition", "rust-version", "license", "publish"];

fn table(path: &str) -> Table {
    let text = fs::read_to_string(root().join(path)).expect("a file at the root");
    text.parse().expect("a TOML file")
}

#[test]
fn packages_share_version_licence_and_lints() {
    let manifests = files(|path| path.ends_with("/Cargo.toml"));
    assert!(
        !manifests.is_empty(),
        "no package below {}",
        root().display()
    );
    let mut problems = Vec::new();
    for manifest in manifests {
        let read: Table = manifest.text.parse().expect("a manifest");
        let shared = |key: &str| read["package"].get(key)?.get("workspace")?.as_bool();
        for key in SHARED.iter().filter(|key| shared(key) != Some(true)) {
            problems.push(format!(
                "{}: {key}.workspace = true is missing",
                manifest.path
            ));
        }
        let lints = read.get("lints").and_then(|lints| lints.get("workspace"));
        if lints.and_then(toml::Value::as_bool) != Some(true) {
            problems.push(format!(
                "{}: [lints] workspace = true is missing",
                manifest.path
            ));
        }
    }
    expect_none(&problems, "what a package takes from the workspace");
}

#[test]
fn the_toolchain_is_new_enough() {
    let parts = |version: &str| -> Vec<u32> {
        let parts = version.split('.').take(2);
        parts.map(|part| part.parse().expect("a number")).collect()
    };
    let toolchain = table("rust-toolchain.toml");
    let channel = toolchain["toolchain"]["channel"]
        .as_str()
        .expect("a channel");
    let workspace = table("Cargo.toml");
    let least = workspace["workspace"]["package"]["rust-version"].as_str();
    let least = least.expect("the oldest Rust that works");
    assert!(
        parts(channel) >= parts(least),
        "{channel} is older than {least}"
    );
}
