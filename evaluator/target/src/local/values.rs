//! Values inside a C or C++ program: return values of functions and values that the
//! harness receives, read by gdb.

/// Runs gdb over a batch; `$3` is the program for it.
pub(super) const VALUES: &str = r#"export TREE OUT WORK TASK NOTES JUDGED HARNESS SANITIZER JOBS
POV_COMMAND=$1; export POV_COMMAND; printf %s "$3" >"$NOTES/values.py"
exec gdb -nx -batch -x "$NOTES/values.py" >/dev/null 2>&1 </dev/null"#;
/// The commands for gdb with a batch.
pub(super) const VALUES_PROGRAM: &str = include_str!("programs/values.py");
