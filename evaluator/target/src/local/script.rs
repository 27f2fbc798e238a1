//! Scripts of somebody else: a short Python program runs in the sandbox, and what it
//! writes to its standard output is an input for the program under repair.

use super::{Job, LocalTarget};
use crate::Result;
use crate::runner::{Build, content};
use std::time::Duration;

/// Runs the script with the first PoV as its argument; its messages go to the output of the
/// command.
const RUN: &str = r#"python3 -I -S "$NOTES/make.py" "$NOTES/pov" >"$NOTES/made" </dev/null"#;
/// Time for one script.
const WALL: Duration = Duration::from_secs(10);
/// The largest input that one may write.
const LARGEST: u64 = 1 << 20;
/// Characters of its messages that are told.
const MESSAGE: usize = 300;

/// Runs a script; the tree is there to be read and nothing of it can be written.
pub(super) async fn run(
    target: &LocalTarget,
    build: &Build,
    script: &str,
) -> Result<Result<Vec<u8>, String>> {
    let folder = target.batch_folder()?;
    folder.put("make.py", script.as_bytes())?;
    if let Some(pov) = target.task.povs.first() {
        folder.put("pov", &content(pov)?)?;
    }
    let job = Job {
        wall: WALL,
        notes: Some(folder.path()),
        ..Job::new(RUN, build.place()?, &build.name)
    };
    let execution = target.command(job).await?;
    if !execution.ending.success() {
        let text = execution.text();
        let last = text.trim().lines().last().unwrap_or_default();
        let last: String = last.chars().take(MESSAGE).collect();
        let ending = execution.ending;
        return Ok(Err(format!("the script ended with {ending}: {last}")));
    }
    let made = folder.left()?.read("made", LARGEST);
    let made = made.map_err(|_| format!("the script wrote no file of at most {LARGEST} bytes"));
    Ok(made)
}
