//! `patchwright batch`: every task once, a report in every format, and finished
//! tasks are not repeated.

use super::farm::{Database, Farm};
use std::fs;

#[tokio::test]
async fn a_batch_is_worked_off_and_reported_and_not_done_again() {
    let farm = Farm::new(Database::Sqlite, "0s").await;
    let folder = farm.write("b-one");
    let folder = folder.parent().unwrap();
    farm.write("a-two");
    fs::create_dir(folder.join("c-wrong")).unwrap();
    fs::write(folder.join("c-wrong/task.toml"), "id = 1\n").unwrap();
    let run = |arguments: &[&str]| {
        let arguments = [&["batch", "tasks", "--workers", "2"], arguments].concat();
        let output = farm.command(&arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (code, json, told) = run(&["--report", "json"]);
    assert_eq!(code, Some(1), "{told}");
    let rows: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(rows[0]["task"], "a-two");
    let endings: Vec<_> = (0..3)
        .map(|row| rows[row]["ending"].as_str().unwrap())
        .collect();
    assert_eq!(
        endings,
        ["plausible", "plausible", "invalid_task"],
        "{rows:#}"
    );
    assert!(told.contains("2/2"), "{told}");
    let (_, junit, _) = run(&["--report", "junit"]);
    assert!(
        junit.contains("tests=\"3\" failures=\"2\" errors=\"1\" skipped=\"0\""),
        "{junit}"
    );
    let (_, table, told) = run(&[]);
    assert!(told.contains("c-wrong/task.toml: invalid_task: "), "{told}");
    assert!(table.contains("0 of 3 verified"), "{table}");
    let row = farm.row("a-two").await;
    assert!(table.contains(row.run.as_deref().unwrap()), "{table}");
    assert_eq!((row.claims, row.origin.as_str()), (1, "batch"));
    // A task that changed is said, and worked on when asked for.
    fs::write(folder.join("a-two/pov"), "y").unwrap();
    let file = folder.join("a-two/task.toml");
    let changed = fs::read_to_string(&file)
        .unwrap()
        .replace("wall = \"3h\"", "wall = \"1h\"");
    fs::write(&file, changed).unwrap();
    let (_, markdown, _) = run(&["--report", "markdown"]);
    assert!(markdown.contains("| a-two | invalid_task |"), "{markdown}");
    let (_, csv, _) = run(&["--report", "csv", "--again"]);
    assert!(csv.contains("a-two,plausible"), "{csv}");
    assert_ne!(farm.row("a-two").await.run, row.run);
}
