//! The cases and the trees that they are about.

use super::frames;
use super::score::Hunks;
use patchwright_retrieval::Request;
use patchwright_source::TreePath;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A request or a crash report, and what belongs to it.
pub(super) struct Case {
    pub(super) id: String,
    pub(super) half: String,
    pub(super) is_crash: bool,
    /// A crash whose fix is not in the function on top of its stack.
    pub(super) is_far: bool,
    pub(super) request: Request,
    /// Says what the request should be taken for.
    pub(super) intent: Option<String>,
    pub(super) files: Vec<String>,
    pub(super) functions: Vec<String>,
    pub(super) tree: String,
    fixed: Option<String>,
    /// Lines that the fix changes, where the case says so itself.
    pub(super) lines: Option<Hunks>,
    /// The folder of a crash case.
    folder: Option<PathBuf>,
}

/// Where a case's tree lies, and the tree without the bug.
pub(super) struct Place {
    pub(super) tree: PathBuf,
    pub(super) repaired: Option<PathBuf>,
}

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/quality")
}

/// Where fetched trees are kept from run to run.
pub(super) fn store(given: Option<String>) -> PathBuf {
    let given = given.map(PathBuf::from);
    given.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("quality"))
}

/// Names the cases that only a run which asks for them measures.
const MEASURED_ONCE: &str = "measured-once";

/// Names the reports of crashes that maintainers repaired in a public repository.
const REAL: &str = "real";

/// All cases, or those of a half, and the crash reports and requests of a further folder and file;
/// those of one tree after each other.
pub(super) fn read(
    half: Option<&str>,
    further: Option<&str>,
    requested: Option<&str>,
) -> Vec<Case> {
    if half == Some(MEASURED_ONCE) {
        return crashes(&here().join(MEASURED_ONCE));
    }
    if half == Some(REAL) {
        return real_crashes();
    }
    let mut cases = crashes(&here().join("cases"));
    cases.extend(further.iter().flat_map(|folder| crashes(Path::new(folder))));
    cases.extend(requests(&here().join("requests.toml")));
    cases.extend(requested.iter().flat_map(|file| requests(Path::new(file))));
    cases.retain(|case| half.is_none_or(|half| case.half == half));
    cases.sort_by(|a, b| (&a.tree, &a.folder, &a.id).cmp(&(&b.tree, &b.folder, &b.id)));
    cases
}

fn read_toml(path: &Path) -> toml::Table {
    let text = std::fs::read_to_string(path).expect("a file of the benchmark");
    text.parse().expect("TOML")
}

fn text(table: &toml::Table, key: &str) -> Option<String> {
    Some(table.get(key)?.as_str()?.to_owned())
}

fn list(table: &toml::Table, key: &str) -> Vec<String> {
    let values = table[key].as_array().expect("a list").iter();
    values
        .map(|value| value.as_str().expect("text").to_owned())
        .collect()
}

fn crashes(folder: &Path) -> Vec<Case> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the cases")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders.into_iter().map(crash).collect()
}

fn crash(folder: PathBuf) -> Case {
    let table = read_toml(&folder.join("case.toml"));
    let log = std::fs::read(folder.join("crash.log")).expect("a crash report");
    let log = String::from_utf8_lossy(&log).into_owned();
    let functions = list(&table, "functions");
    let top = text(&table, "crashes_in").expect("where it crashes");
    Case {
        id: folder.file_name().unwrap().to_string_lossy().into_owned(),
        half: text(&table, "half").unwrap_or_else(|| "further".to_owned()),
        is_crash: true,
        is_far: !functions.contains(&top),
        request: Request {
            frames: frames::read(&log),
            text: log,
            ..Request::default()
        },
        intent: Some("BUG_FIX".to_owned()),
        files: list(&table, "files"),
        functions,
        tree: text(&table, "tree").unwrap(),
        fixed: text(&table, "fixed"),
        lines: None,
        folder: Some(folder),
    }
}

/// A report, the commit at which it was seen, and what the maintainers' fix changed there.
#[derive(Deserialize)]
struct RealCrash {
    id: String,
    repository: String,
    commit: String,
    files: Vec<String>,
    functions: Vec<String>,
    lines: BTreeMap<String, Vec<(u32, u32)>>,
    is_on_stack: bool,
    report: String,
}

fn real_crashes() -> Vec<Case> {
    let text = std::fs::read_to_string(here().join("real.json")).expect("a file of the benchmark");
    let read: Vec<RealCrash> = serde_json::from_str(&text).expect("real crashes");
    let mut cases: Vec<Case> = read.into_iter().map(real_crash).collect();
    cases.sort_by(|a, b| a.tree.cmp(&b.tree));
    cases
}

fn real_crash(crash: RealCrash) -> Case {
    let lines = crash.lines.iter().flat_map(|(path, ranges)| {
        let path = TreePath::new(path).expect("a path");
        ranges.iter().map(move |range| (path.clone(), *range))
    });
    Case {
        id: crash.id,
        half: if crash.is_on_stack {
            "on stack".to_owned()
        } else {
            "off stack".to_owned()
        },
        is_crash: true,
        is_far: !crash.is_on_stack,
        request: Request {
            frames: frames::read(&crash.report),
            text: crash.report,
            ..Request::default()
        },
        intent: Some("BUG_FIX".to_owned()),
        files: crash.files,
        functions: crash.functions,
        tree: format!("{}-{}", crash.repository, crash.commit),
        fixed: None,
        lines: Some(lines.collect()),
        folder: None,
    }
}

fn requests(file: &Path) -> Vec<Case> {
    let table = read_toml(file);
    let requests = table["request"].as_array().expect("requests").iter();
    requests
        .map(|request| {
            let request = request.as_table().unwrap();
            let words = text(request, "text").unwrap();
            let tree = text(request, "tree").unwrap();
            let head: String = words.chars().take(30).collect();
            Case {
                id: format!("{tree}: {}", head.replace('\n', " ")),
                half: text(request, "half").unwrap(),
                is_crash: false,
                is_far: false,
                request: Request {
                    text: words,
                    budget: 0,
                    ..Request::default()
                },
                intent: text(request, "intent"),
                files: list(request, "files"),
                functions: list(request, "functions"),
                tree,
                fixed: text(request, "fixed"),
                lines: None,
                folder: None,
            }
        })
        .collect()
}

/// The tree of a case, fetched if it is not there yet; with a check removed
/// and files laid over where the case says so.
pub(super) fn prepare(store: &Path, case: &Case) -> Option<Place> {
    let published = fetch(store, &case.tree)?;
    let change = |name: &str| {
        let path = case.folder.as_ref()?.join(name);
        path.exists().then_some(path)
    };
    let (removed, over) = (change("removed.diff"), change("over"));
    let repaired = match (&removed, &case.fixed) {
        (Some(_), _) => Some(published.clone()),
        (None, Some(fixed)) => fetch(store, fixed),
        (None, None) => None,
    };
    if removed.is_none() && over.is_none() {
        return Some(Place {
            tree: published,
            repaired,
        });
    }
    let tree = store.join("cases").join(&case.id);
    if !tree.is_dir() {
        let being_made = store.join("cases").join(format!("{}.part", case.id));
        let _ = std::fs::remove_dir_all(&being_made);
        std::fs::create_dir_all(store.join("cases")).ok()?;
        succeeds(
            Command::new("cp")
                .arg("-R")
                .arg(&published)
                .arg(&being_made),
        )?;
        if let Some(over) = over {
            // A file that stands elsewhere in the repository is a link here.
            succeeds(
                Command::new("cp")
                    .arg("-RL")
                    .arg(over.join("."))
                    .arg(&being_made),
            )?;
        }
        if let Some(diff) = removed {
            let mut patch = Command::new("patch");
            succeeds(
                patch
                    .args(["-s", "-p1", "-d"])
                    .arg(&being_made)
                    .arg("-i")
                    .arg(diff),
            )?;
        }
        std::fs::rename(&being_made, &tree).ok()?;
    }
    Some(Place { tree, repaired })
}

fn fetch(store: &Path, name: &str) -> Option<PathBuf> {
    let tree = store.join("trees").join(name);
    if tree.is_dir() {
        return Some(tree);
    }
    let table = read_toml(&here().join("trees.toml"));
    let known = table["trees"].as_table().unwrap();
    let recipe = match name.rsplit_once('-') {
        Some((repository, commit)) if repository.contains('/') => {
            ["git", repository, commit].map(str::to_owned).to_vec()
        }
        _ => list(known, name),
    };
    let being_made = store.join("trees").join(format!("{name}.part"));
    let _ = std::fs::remove_dir_all(&being_made);
    std::fs::create_dir_all(&being_made).ok()?;
    succeeds(
        Command::new(here().join("fetch.sh"))
            .args(recipe)
            .arg(&being_made),
    )?;
    std::fs::rename(&being_made, &tree).ok()?;
    Some(tree)
}

fn succeeds(command: &mut Command) -> Option<()> {
    command.status().ok()?.success().then_some(())
}
