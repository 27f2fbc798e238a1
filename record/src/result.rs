//! Names of what a run leaves on disk, for whoever writes it, replaces it, or has to leave it out.

/// The file of a task, and the mail that is made of a patch beside it.
pub const TASK_FILE: &str = "task.toml";
/// See [`TASK_FILE`].
pub const MAIL: &str = "patch.mbox";
/// The file of a result that holds the run's id, from its first moment on.
pub const RUN_FILE: &str = "run";
/// The file of a result that holds the smallest input which shows the crash.
pub const SMALLEST: &str = "pov.min";
/// The other files of a result.
pub const RESULT_FILES: [&str; 6] = [
    "report.json",
    "patch.diff",
    "test.diff",
    "journal.jsonl",
    "story.md",
    SMALLEST,
];
/// Its folders, with a file for each attempt.
pub const RESULT_FOLDERS: [&str; 3] = ["logs", "found", "doubts"];

/// Tells whether a name is one of those in the folder of a result.
pub fn is_of_result(name: &str) -> bool {
    name == RUN_FILE || RESULT_FILES.contains(&name) || RESULT_FOLDERS.contains(&name)
}
