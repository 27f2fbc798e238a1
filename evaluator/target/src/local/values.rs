//! Values inside a C or C++ program: return values of functions and values that the
//! harness receives, read by gdb.

/// Runs gdb over a batch; `$3` is the program for it.
pub(super) const VALUES: &str = r#"export TREE OUT WORK TASK NOTES JUDGED HARNESS SANITIZER JOBS
POV_COMMAND=$1; export POV_COMMAND; printf %s "$3" >"$NOTES/values.py"
exec gdb -nx -batch -x "$NOTES/values.py" >/dev/null 2>&1 </dev/null"#;
/// The commands for gdb with a batch.
pub(super) const VALUES_PROGRAM: &str = include_str!("programs/values.py");

/// Splits a command line that is one program of the build with its arguments:
/// `"$OUT"/name "$POV"`. Any other one needs a shell.
pub fn program_and_arguments(command: &str) -> Option<(&str, &str)> {
    if command.contains([';', '|', '&', '<', '>', '\n', '`', '(', ')']) {
        return None;
    }
    let rest = ["\"$OUT\"/", "\"${OUT}\"/", "$OUT/", "\"$OUT/"]
        .iter()
        .find_map(|start| command.trim().strip_prefix(start))?;
    let (program, arguments) = rest.split_once(' ').unwrap_or((rest, ""));
    let program = program.trim_end_matches('"');
    let usual = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    (!program.is_empty() && program.chars().all(usual)).then_some((program, arguments))
}

#[cfg(test)]
mod tests {
    use super::program_and_arguments;

    #[test]
    fn takes_plain_command_lines_apart() {
        for (command, expected) in [
            ("\"$OUT\"/harness \"$POV\"", Some(("harness", "\"$POV\""))),
            ("$OUT/bin/x -a $POV", Some(("bin/x", "-a $POV"))),
            ("\"$OUT/x\" y", Some(("x", "y"))),
            ("\"$OUT\"/x <\"$POV\"", None),
            ("cd x && \"$OUT\"/x", None),
            ("java -jar x", None),
            ("\"$OUT\"/$HARNESS", None),
        ] {
            assert_eq!(program_and_arguments(command), expected, "{command}");
        }
    }
}
