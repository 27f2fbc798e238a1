//! What came of a task, while it happens and afterwards.

use super::{TASKS, handing_in, idle, refused, task};

#[test]
fn a_task_that_has_not_ended_has_nothing_yet() {
    let (_patchwright, daemon) = idle();
    assert_eq!(daemon.ask(&handing_in(&task("a"))).status, 201);
    for (what, words) in [
        ("report", "has not ended, it is queued"),
        ("patch", "has not ended"),
        ("journal", "has not begun"),
    ] {
        refused(&daemon.get(&format!("{TASKS}/a/{what}")), 404, words);
    }
}
