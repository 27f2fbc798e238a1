//! OSS-Fuzz projects in their own images: `init --helper` in a real engine, with a stand-in for
//! the checkout's script and for the base images, which no registry is needed for.

use crate::scene::{GOOD, Scene};
use patchwright_tests::command::Finished;
use patchwright_tests::engine::Engine;
use patchwright_tests::model::ScriptedModel;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/oss-fuzz")
        .join(name)
}

/// The tree `records` and a checkout of OSS-Fuzz that has the project `records`.
fn scene() -> Scene {
    let scene = Scene::new();
    let tree = scene.patchwright.scratch("Records");
    fs::create_dir_all(&tree).unwrap();
    for file in ["src/records.c", "src/records.h", "harness.c"] {
        let name = Path::new(file).file_name().unwrap();
        fs::copy(scene.path(file), tree.join(name)).unwrap();
    }
    fs::copy(
        scene.path("pov/long-name.txt"),
        scene.patchwright.scratch("crash.txt"),
    )
    .unwrap();
    copy_files(
        &fixture("project"),
        &scene.patchwright.scratch("checkout/projects/records"),
    );
    write_script(&scene, "");
    scene
}

fn copy_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Puts the script into the checkout, with more Python before its last lines.
fn write_script(scene: &Scene, more: &str) {
    let script = fs::read_to_string(fixture("helper.py")).unwrap();
    let script = script.replace("if __name__", &format!("{more}\n\nif __name__"));
    write(scene, "checkout/infra/helper.py", &script);
}

fn write(scene: &Scene, name: &str, text: &str) {
    let file = scene.patchwright.scratch(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// `init` of the tree with a project's folder.
fn init(scene: &Scene, project: &str, more: &[&str]) -> Finished {
    let mut arguments = vec!["init", "Records", "--oss-fuzz", project, "--helper"];
    arguments.extend(["checkout", "--pov", "crash.txt", "--yes"]);
    arguments.extend(more);
    scene.plain(&arguments)
}

fn refused(scene: &Scene, told: &Finished, code: i32, words: &str) {
    assert_eq!(told.code, Some(code), "{told:#?}");
    assert!(told.stderr.contains(words), "{words:?} is not in {told:#?}");
    for made in ["task.toml", "oss-fuzz"] {
        assert!(!scene.patchwright.scratch(made).exists(), "{made} is left");
    }
}

#[test]
fn what_a_checkout_does_not_have_is_told() {
    let scene = scene();
    let none = scene.patchwright.scratch("none.sock").display().to_string();
    let scene = scene.with("PATCHWRIGHT_SANDBOX__ENGINE", &none);
    let project = "checkout/projects/records";
    let told = init(&scene, project, &["--harness", "fuzzer"]);
    refused(&scene, &told, 5, "the container engine does not answer");

    let elsewhere = scene.patchwright.scratch("elsewhere/records");
    copy_files(&fixture("project"), &elsewhere);
    let told = init(&scene, "elsewhere/records", &[]);
    refused(&scene, &told, 2, "is none: copy it there");
    let foreign = scene.patchwright.scratch("other/.clusterfuzzlite");
    copy_files(&fixture("project"), &foreign);
    let told = init(&scene, "other/.clusterfuzzlite", &[]);
    refused(&scene, &told, 2, "belongs to another tree");
    fs::remove_file(elsewhere.join("build.sh")).unwrap();
    let told = init(&scene, "elsewhere/records", &[]);
    refused(&scene, &told, 2, "build.sh cannot be read");
    fs::remove_dir_all(scene.patchwright.scratch("checkout/infra")).unwrap();
    let told = init(&scene, project, &[]);
    refused(&scene, &told, 2, "infra/helper.py cannot be opened");
}

/// All in one test: the engine starts once.
#[test]
#[ignore = "builds images for minutes: run by `make soak`"]
fn projects_are_built_and_repaired_in_their_images() {
    let engine = match Engine::start() {
        Ok(engine) => engine,
        Err(reason) => {
            let line = format!("##### SKIPPED: no container engine: {reason}\n");
            return std::io::stderr().write_all(line.as_bytes()).unwrap();
        }
    };
    for name in ["base-builder", "base-runner"] {
        let name = format!("gcr.io/oss-fuzz-base/{name}");
        let mut build = engine.podman();
        build.args(["build", "--quiet", "--tag", &name]);
        let built = build.arg(fixture("base")).output().unwrap();
        assert!(built.status.success(), "{built:#?}");
    }
    a_project_of_the_checkout_is_repaired(&engine);
    a_script_of_another_age_is_understood_or_refused(&engine);
    a_tree_with_clusterfuzzlite_is_its_own_project(&engine);
    an_engine_that_ends_is_told(engine);
}

fn with(engine: &Engine) -> Scene {
    scene().with(
        "PATCHWRIGHT_SANDBOX__ENGINE",
        &engine.socket().display().to_string(),
    )
}

fn task_file(scene: &Scene, words: &[&str]) {
    let file = fs::read_to_string(scene.patchwright.scratch("task.toml")).unwrap();
    for words in words {
        assert!(file.contains(words), "{words:?} is missing in {file}");
    }
}

fn a_project_of_the_checkout_is_repaired(engine: &Engine) {
    let scene = with(engine);
    let told = init(
        &scene,
        "checkout/projects/records",
        &["--harness", "fuzzer"],
    );
    assert_eq!(told.code, Some(0), "{told:#?}");
    assert_eq!(engine.containers(), "", "nothing is left behind");
    task_file(
        &scene,
        &[
            "image = \"gcr.io/oss-fuzz/records\"",
            "seen_as = \"/src/records\"",
            "# crashes here: AddressSanitizer: heap-buffer-overflow",
            "bash \"$SRC\"/run_tests.sh",
            "# 6 tests pass, 0 fail",
        ],
    );
    let tree = fs::read_dir(scene.patchwright.scratch("Records")).unwrap();
    assert_eq!(tree.count(), 3, "the builds wrote to a copy");

    let model = ScriptedModel::start([GOOD]).unwrap();
    let endpoint = model.base_url();
    let told = scene.json(&["run", "task.toml", "--model", "m", "--base-url", &endpoint]);
    assert_eq!(told.rung(1, "silent")["holds"], true, "{told:#?}");
    assert_eq!(told.rung(1, "tested")["holds"], true, "{told:#?}");
    assert_eq!(engine.containers(), "", "nothing is left behind");
}

fn a_script_of_another_age_is_understood_or_refused(engine: &Engine) {
    let scene = with(engine);
    let script = fs::read_to_string(fixture("helper.py")).unwrap();
    let old = script.replace("AGE = 2026", "AGE = 2018");
    write(&scene, "checkout/infra/helper.py", &old);
    // It builds up to the harness, which is not there.
    let project = "checkout/projects/records";
    let told = init(&scene, project, &["--harness", "fuzer"]);
    let words = "the build makes no \"fuzer\"; it makes fuzzer, records";
    refused(&scene, &told, 2, words);
    let told = init(&scene, project, &["--sanitizer", "undefined"]);
    // Where the client loses the status of a container that ends at once, our own build fails.
    refused(&scene, &told, 2, "flags: unbound variable");
    let own = scene.patchwright.scratch("Records/.clusterfuzzlite");
    copy_files(&fixture("project"), &own);
    let told = init(&scene, "Records/.clusterfuzzlite", &[]);
    refused(&scene, &told, 2, "knows no --external");
    write(
        &scene,
        "checkout/infra/helper.py",
        "import no_such_module\n",
    );
    let told = init(&scene, project, &[]);
    refused(&scene, &told, 2, "No module named 'no_such_module'");
    assert_eq!(engine.containers(), "", "nothing is left behind");
}

fn a_tree_with_clusterfuzzlite_is_its_own_project(engine: &Engine) {
    let scene = with(engine);
    let own = scene.patchwright.scratch("Records/.clusterfuzzlite");
    copy_files(&fixture("project"), &own);
    // The context of the image is the whole tree.
    let docker = fs::read_to_string(own.join("Dockerfile")).unwrap();
    let words = docker.split(' ').map(|word| match word {
        "build.sh" | "run_tests.sh" | "fuzzer.c" => format!(".clusterfuzzlite/{word}"),
        word => word.to_owned(),
    });
    let docker = words.collect::<Vec<_>>().join(" ");
    fs::write(own.join("Dockerfile"), docker).unwrap();
    let arguments = ["--harness", "fuzzer"];
    let told = init(&scene, "Records/.clusterfuzzlite", &arguments);
    assert_eq!(told.code, Some(0), "{told:#?}");
    task_file(
        &scene,
        &["image = \"gcr.io/oss-fuzz/records\"", "# 6 tests pass"],
    );
}

fn an_engine_that_ends_is_told(engine: Engine) {
    let scene = with(&engine);
    let said = scene.patchwright.scratch("said").display().to_string();
    // The script is stopped in the middle until its engine is gone.
    let wait = format!(
        "def build_fuzzers(project, args, build=build_fuzzers):\n  import time\n  open({said:?}, 'w').close()\n  while \
         os.path.exists({said:?}):\n    time.sleep(0.1)\n  return build(project, args)"
    );
    write_script(&scene, &wait);
    std::thread::scope(|threads| {
        let told = threads.spawn(|| {
            let arguments = ["--harness", "fuzzer"];
            init(&scene, "checkout/projects/records", &arguments)
        });
        while !Path::new(&said).exists() && !told.is_finished() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        drop(engine);
        fs::remove_file(&said).unwrap();
        let told = told.join().unwrap();
        refused(&scene, &told, 5, "the container engine does not answer");
    });
}
