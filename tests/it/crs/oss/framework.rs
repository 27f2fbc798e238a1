//! The framework's side: folders, environment, a builder and a runner that
//! really build and run, without containers.

use super::super::served::Served;
use super::super::twins;
use axum::extract::{DefaultBodyLimit, Multipart, Path as Segment, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// In what this framework differs from the newest one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Habits {
    /// The runner runs numbered builds only.
    pub(super) numbered_only: bool,
    /// The project has no test script.
    pub(super) no_tests: bool,
    /// The builder forgets the first job.
    pub(super) forgets_once: bool,
}

#[derive(Debug)]
pub(super) struct Framework {
    house: Arc<House>,
    served: Served,
}

#[derive(Debug)]
struct House {
    folder: TempDir,
    habits: Habits,
    jobs: Mutex<BTreeMap<String, Value>>,
}

impl Framework {
    pub(super) fn start(habits: Habits) -> Self {
        let folder = TempDir::with_prefix("oss-crs-").expect("a folder");
        twins::write(&folder.path().join("source"));
        twins::write_povs(&folder.path().join("fetch/povs"));
        twins::write_seeds(&folder.path().join("fetch/seeds"));
        fs::create_dir(folder.path().join("submit")).expect("a folder");
        let house = Arc::new(House {
            folder,
            habits,
            jobs: Mutex::default(),
        });
        let (_, status) = house.compile("0", b"");
        assert!(status.status.success(), "{status:?}");
        let router = Router::new()
            .route("/health", get(|| async { Json(json!({ "status": "ok" })) }))
            .route("/build", post(build))
            .route("/test", post(test))
            .route("/status/{id}", get(status_of))
            .route("/run-pov", post(run_pov))
            .layer(DefaultBodyLimit::max(1 << 20))
            .with_state(house.clone());
        Self {
            house,
            served: Served::start(router),
        }
    }

    pub(super) fn environment(&self) -> Vec<(&'static str, String)> {
        let path = |name: &str| self.house.path(name).display().to_string();
        vec![
            ("OSS_CRS_RUN_ENV_TYPE", "local".into()),
            ("OSS_CRS_NAME", "patchwright".into()),
            ("OSS_CRS_TARGET", "twins".into()),
            ("OSS_CRS_TARGET_HARNESS", "harness".into()),
            ("OSS_CRS_TARGET_SOURCE", path("source")),
            ("OSS_CRS_FETCH_DIR", path("fetch")),
            ("OSS_CRS_SUBMIT_DIR", path("submit")),
            ("FUZZING_LANGUAGE", "c".into()),
            ("SANITIZER", "address".into()),
        ]
    }

    pub(super) fn sidecars(&self) -> String {
        self.served.url()
    }

    pub(super) fn remove_povs(&self) {
        fs::remove_dir_all(self.house.path("fetch/povs")).expect("a folder that goes");
    }

    /// The number of bundled reports in the folder of submissions.
    pub(super) fn reports(&self) -> usize {
        let files = crate::scene::files(&self.house.path("submit/reports"));
        let bundle = |file: &PathBuf| file.to_string_lossy().ends_with(".tar.gz");
        assert!(files.iter().all(bundle), "{files:?}");
        files.len()
    }

    /// Puts a file where the framework forwards those of an earlier run.
    pub(super) fn forward(&self, name: &str, text: &str) {
        let path = self.house.path("fetch").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// Lists the patches in the folder of submissions.
    pub(super) fn submitted(&self) -> Vec<String> {
        crate::scene::files(&self.house.path("submit/patches"))
            .iter()
            .map(|file| {
                assert_eq!(file.extension().unwrap_or_default(), "diff", "{file:?}");
                fs::read_to_string(file).expect("a patch")
            })
            .collect()
    }
}

impl House {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Applies a patch to a copy of the source and compiles it.
    fn compile(&self, number: &str, patch: &[u8]) -> (PathBuf, Output) {
        let place = self.path("builds").join(number);
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(place.join("build")).expect("a folder");
        twins::write(&place.join("src"));
        fs::write(place.join("patch.diff"), patch).expect("a file");
        let apply = if patch.is_empty() {
            "true"
        } else {
            "git apply --whitespace=nowarn ../patch.diff"
        };
        let script = format!("{apply} && {} ../build/harness main.c", twins::COMPILE);
        let output = sh(&script, &place.join("src"));
        (place, output)
    }

    fn add(&self, id: &str, exit_code: i32, output: &Output, number: usize) -> Value {
        let mut jobs = self.jobs.lock().expect("the jobs");
        let forgets = self.habits.forgets_once && jobs.is_empty();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let result = json!({
            "exit_code": exit_code,
            "stdout": text(&output.stdout),
            "stderr": text(&output.stderr),
            "rebuild_id": number,
        });
        let job = json!({ "id": id, "status": "done", "result": result });
        let known = if forgets { "forgotten" } else { id };
        jobs.insert(known.to_owned(), job);
        json!({ "id": id, "status": "queued", "result": null })
    }

    fn next(&self) -> usize {
        self.jobs.lock().expect("the jobs").len() + 1
    }
}

fn sh(script: &str, folder: &Path) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(folder);
    command.output().expect("a shell")
}

async fn parts(mut form: Multipart) -> BTreeMap<String, Vec<u8>> {
    let mut parts = BTreeMap::new();
    while let Some(part) = form.next_field().await.expect("a form") {
        let name = part.name().expect("a name").to_owned();
        parts.insert(name, part.bytes().await.expect("a part").to_vec());
    }
    parts
}

type Answer = (StatusCode, Json<Value>);

fn refused() -> Answer {
    let reason = json!({ "error": "At least one of patch or fuzz_proj_patch must be provided" });
    (StatusCode::UNPROCESSABLE_ENTITY, Json(reason))
}

async fn build(State(house): State<Arc<House>>, form: Multipart) -> Answer {
    let parts = parts(form).await;
    assert_eq!(parts["crs_name"], b"patchwright");
    let patch = parts["patch"].clone();
    if patch.is_empty() {
        return refused();
    }
    let number = house.next();
    let (_, output) = house.compile(&number.to_string(), &patch);
    let code = output.status.code().unwrap_or(1);
    let id = format!("{number:012x}");
    (StatusCode::OK, Json(house.add(&id, code, &output, number)))
}

async fn test(State(house): State<Arc<House>>, form: Multipart) -> Answer {
    let parts = parts(form).await;
    if parts["patch"].is_empty() {
        return refused();
    }
    let number = house.next();
    let (place, mut output) = house.compile(&number.to_string(), &parts["patch"]);
    if house.habits.no_tests {
        output.stdout = b"No test script found (checked /src/run_tests.sh)\n".to_vec();
    } else if output.status.success() {
        output = sh("test \"$(build/harness)\" = 120", &place);
    }
    let code = output.status.code().unwrap_or(1);
    let id = format!("test:{number:012x}");
    (StatusCode::OK, Json(house.add(&id, code, &output, number)))
}

async fn status_of(State(house): State<Arc<House>>, Segment(id): Segment<String>) -> Answer {
    let jobs = house.jobs.lock().expect("the jobs");
    match jobs.get(&id) {
        Some(job) => (StatusCode::OK, Json(job.clone())),
        None => (
            StatusCode::NOT_FOUND,
            Json(json!({ "error": "Job not found", "id": id })),
        ),
    }
}

async fn run_pov(State(house): State<Arc<House>>, form: Multipart) -> Answer {
    let parts = parts(form).await;
    let text = |name: &str| String::from_utf8(parts[name].clone()).expect("text");
    if house.habits.numbered_only && !parts.contains_key("rebuild_id") {
        return refused();
    }
    let number = if parts.contains_key("rebuild_id") {
        text("rebuild_id")
    } else {
        "0".into()
    };
    let build = house.path("builds").join(number).join("build");
    let harness = build.join(text("harness_name"));
    if !harness.is_file() {
        let reason = format!("Harness binary not found: {}", harness.display());
        return (StatusCode::NOT_FOUND, Json(json!({ "error": reason })));
    }
    let file = tempfile::NamedTempFile::new_in(house.folder.path()).expect("a file");
    fs::write(file.path(), &parts["pov"]).expect("a file");
    let mut command = Command::new(harness);
    let output = command.arg(file.path()).output().expect("the harness");
    let code = output.status.code();
    let code = code.unwrap_or_else(|| -output.status.signal().unwrap_or(1));
    let answer = json!({
        "exit_code": code,
        "stdout": String::from_utf8_lossy(&output.stdout),
        "stderr": String::from_utf8_lossy(&output.stderr),
    });
    (StatusCode::OK, Json(answer))
}
