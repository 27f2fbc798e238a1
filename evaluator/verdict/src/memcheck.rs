//! Memcheck: the command of a PoV under it, and what its log says. Which inputs run there and what counts
//! against a patch is the affair of the witness.

use patchwright_crash::{CrashReport, Tool};
use patchwright_target::quoted;
use patchwright_target::runner::program_and_arguments;

/// Runs a command under memcheck, with the programs that it starts. Interpreters are left out:
/// their own errors are none of the program's.
const MEMCHECK: &str = "exec valgrind --trace-children=yes '--trace-children-skip=*/python*,*/perl*,*/ruby*,*/node,*/java' --track-origins=yes --fullpath-after= --error-exitcode=86 --num-callers=24 ";
/// The line with which Valgrind ends its watch over a process.
const WATCHED: &str = "== ERROR SUMMARY: ";

/// Returns a command under memcheck. One that needs a shell has it watched too, which takes as
/// long again; the last line keeps the shell from turning into the program, so that both say how
/// they ended.
pub(crate) fn command(command: &str) -> String {
    if runs_program(command) {
        format!("{MEMCHECK}{command}")
    } else {
        format!("{MEMCHECK}sh -eu -c {}", quoted(&format!("{command}\n:")))
    }
}

/// Tells whether a command is one program of the build and its arguments.
pub(crate) fn runs_program(command: &str) -> bool {
    program_and_arguments(command).is_some()
}

/// Returns the errors of a log of a command, told without the folder of the tree: they stand apart by
/// empty lines of Valgrind's own. Nothing where it did not watch the program to its end.
pub(crate) fn errors(text: &str, command: &str, tree: &str) -> Option<Vec<CrashReport>> {
    // The shell of a command is watched too.
    if text.matches(WATCHED).count() <= usize::from(!runs_program(command)) {
        return None;
    }
    let own = text.lines().filter(|line| line.starts_with("=="));
    let own: Vec<&str> = own.collect();
    let errors = own.split(|line| line.ends_with("== "));
    let read = errors.filter_map(|error| patchwright_crash::parse(&(error.join("\n") + "\n")));
    let read = read.filter(|crash| crash.tool == Tool::Valgrind);
    Some(read.map(|crash| crash.without_folder(tree)).collect())
}

#[cfg(test)]
mod tests {
    use super::errors;

    #[test]
    fn errors_of_valgrind_are_read_one_by_one() {
        let log = "==7== Memcheck, a memory error detector\n==7== \n==7== Invalid write of size 1\n==7==    at 0x1: f (/a/b.c:3)\n==7==  Address 0x4 is 0 bytes after a block of size 8 alloc'd\n==7==    at 0x2: malloc (vg_replace_malloc.c:381)\n==7==    by 0x3: g (/a/b.c:9)\nsaid by the program\n==7== \n==7== Conditional jump or move depends on uninitialised value(s)\n==7==    at 0x5: h (/a/b.c:12)\n==7== \n==7== ERROR SUMMARY: 2 errors from 2 contexts\n";
        let kinds: Vec<String> = errors(log, "\"$OUT\"/b \"$POV\"", "/a")
            .unwrap()
            .into_iter()
            .map(|one| one.kind)
            .collect();
        assert_eq!(
            kinds,
            ["heap-buffer-overflow", "use-of-uninitialized-value"]
        );
    }
}
