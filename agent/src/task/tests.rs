//! Tests of task files, right and wrong.

use super::{Source, Task, TaskLimits, read};
use patchwright_sandbox::Image;
use patchwright_source::Language;
use std::time::Duration;

const GOOD: &str = r#"
id = "case-1"
language = "c"
[source]
path = "src"
[commands]
build = "make"
pov = './harness "$POV"'
[[pov]]
file = "pov/a"
timeout = "90s"
[limits]
usd = 1.5
wall = "1h 30m"
"#;

fn check(text: &str) -> Result<Task, String> {
    let folder = tempfile::tempdir().unwrap();
    for sub in ["src", "pov", "empty", "corpus"] {
        std::fs::create_dir(folder.path().join(sub)).unwrap();
    }
    for file in ["src/a.c", "pov/a", "corpus/1", "corpus/2"] {
        std::fs::write(folder.path().join(file), "x").unwrap();
    }
    std::fs::write(folder.path().join("task.toml"), text).unwrap();
    read(folder.path()).map_err(|error| error.to_string())
}

#[test]
fn reads_a_task() {
    let task = check(GOOD).unwrap();
    assert_eq!((task.id.as_str(), task.candidates), ("case-1", 1));
    assert!(matches!(task.source, Source::Path(path) if path.ends_with("src")));
    assert_eq!(task.povs[0].timeout, Some(Duration::from_secs(90)));
}

#[test]
fn reads_the_image_that_commands_run_in() {
    let with = |line: &str| {
        let text = GOOD.replace("id = \"case-1\"", &format!("id = \"case-1\"\n{line}"));
        check(&text).unwrap()
    };
    let name = "registry.example:5000/group/project@sha256:0f";
    let task = with(&format!("image = \"{name}\""));
    assert_eq!(task.image, Some(Image::Named(name.to_owned())));
    // Another machine finds the file in its own folder of the task.
    let task = with("dockerfile = \"src/a.c\"").moved_to("/elsewhere".as_ref());
    let file = "/elsewhere/src/a.c".into();
    assert_eq!(task.image, Some(Image::Dockerfile(file)));
}

#[test]
fn finds_harmless_inputs_in_order() {
    let task = check(&format!("{GOOD}\n[inputs]\nharmless = [\"corpus/*\"]\n")).unwrap();
    let names: Vec<_> = task
        .harmless
        .iter()
        .filter_map(|path| path.file_name())
        .collect();
    assert_eq!(names, ["1", "2"]);
}

#[test]
fn says_what_is_wrong_and_where() {
    for (from, to, expected) in [
        ("id = \"case-1\"", "id = \"a/b\"", "id: must be"),
        (
            "language = \"c\"",
            "language = \"cobol\"",
            "none of c, c++, java",
        ),
        (
            "language = \"c\"",
            "langage = \"c\"",
            "Did you mean `language`?",
        ),
        (
            "id = \"case-1\"",
            "id = \"case-1\"\nimage = \"-v /:/host\"",
            "no name of an image",
        ),
        (
            "id = \"case-1\"",
            "id = \"case-1\"\ndockerfile = \"none\"",
            "dockerfile",
        ),
        (
            "id = \"case-1\"",
            "id = \"case-1\"\nimage = \"a\"\ndockerfile = \"src/a.c\"",
            "not go along with image",
        ),
        ("path = \"src\"", "path = \"empty\"", "is empty"),
        ("path = \"src\"", "path = \"none\"", "cannot be opened"),
        ("path = \"src\"", "", "exactly one of"),
        ("path = \"src\"", "git = \"x\"", "source.revision"),
        ("build = \"make\"", "", "commands.build"),
        ("file = \"pov/a\"", "file = \"pov/none\"", "pov[0].file"),
        ("file = \"pov/a\"", "file = \"pov\"", "not a regular file"),
        ("timeout = \"90s\"", "timeout = \"soon\"", "pov[0].timeout"),
        ("timeout = \"90s\"", "timeout = 0", "pov[0].timeout"),
        ("timeout = \"90s\"", "build = \"memory\"", "[builds.memory]"),
        ("timeout = \"90s\"", "ran = \"(\"", "pov[0].ran"),
        ("usd = 1.5", "usd = \"x\"", "line"),
        ("[limits]", "[limits", "line"),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let error = check(&GOOD.replace(from, to)).unwrap_err();
        assert!(error.contains(expected), "{to}: {error}");
    }
    assert!(
        read(std::path::Path::new("/nowhere"))
            .unwrap_err()
            .to_string()
            .contains("no task file")
    );
}

#[test]
fn a_stored_task_is_read_again_and_so_is_one_of_an_earlier_version() {
    let task = check(&GOOD.replace("usd = 1.5", "usd = 1.5\npov = \"500ms\"")).unwrap();
    assert_eq!(task.language, Language::C);
    let stored = serde_json::to_value(&task).unwrap();
    assert_eq!(stored["limits"]["wall"], 5400);
    assert_eq!(stored["limits"]["pov"], 0.5);
    assert_eq!(stored["povs"][0]["timeout"], 90);
    assert_eq!(
        serde_json::from_value::<Task>(stored.clone()).unwrap(),
        task
    );
    let mut earlier = stored;
    earlier["limits"] =
        serde_json::json!({"usd": 1.5, "wall": "1h 30m", "pov": "500ms", "test": null});
    assert_eq!(serde_json::from_value::<Task>(earlier).unwrap(), task);
    assert!(serde_json::from_str::<TaskLimits>("{\"wall\": \"soon\"}").is_err());
}
