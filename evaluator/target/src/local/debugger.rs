//! Debugger: runs a PoV under gdb for C and C++, and under the debugger interface of the
//! JDK for Java, whose expressions `Expression.java` evaluates.
//!
//! The debugger runs inside the sandbox, beside the program. Their output is read back as
//! untrusted data.

use super::stage::PovRun;
use crate::Result;
use crate::probe::{Observations, Probe};
use crate::runner::Build;
use crate::workspace::programs::programs;
use crate::workspace::{OUT, TREE};
use patchwright_sandbox::Ending;
use patchwright_source::Language;
use std::time::Duration;

/// Time for the program under the debugger: not less than a PoV has without one.
pub(super) const TIME: Duration = Duration::from_mins(1);
/// Time for the debugger to start and to write its observations.
pub(super) const MORE: Duration = Duration::from_secs(20);
/// Programs of a folder that are watched; their names have to fit into a variable.
const MOST: usize = 512;
/// Bytes of an answer that are read back.
pub(super) const LIMIT: u64 = 4 << 20;

/// Runs the PoV's command with each program of the build under gdb; `$2` is the
/// program for it, and `OUT_PROGRAMS` and `TREE_PROGRAMS` name the programs. The command sees a copy of the build, made of links, in which a script
/// that calls gdb replaces each program; of a command that does not name `$OUT` the
/// programs lie in the tree, which is copied in the same way. So other programs that the shell starts do not
/// matter, and each gdb has one program.
pub(super) const STAND_INS: &str = include_str!("programs/stand_ins.sh");
const GDB_PROGRAM: &str = include_str!("programs/probe.py");

/// Returns what compiles and runs a program that uses the debugger for Java; it starts the PoV
/// itself.
pub(super) fn java(program: &str) -> String {
    format!(
        r#"command -v java >/dev/null || {{ echo "java is not installed here"; exit 3; }}
printf %s "$2" >"$NOTES/{program}.java"
java --list-modules | grep -q '^jdk.jdi@' || {{ echo "the java here has no debugger (module jdk.jdi)"; exit 3; }}
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC --add-modules jdk.jdi "$NOTES/{program}.java" "$1" >/dev/null 2>&1 </dev/null"#
    )
}
/// The debugger for Java in one file, since `java` runs a single source file.
const JAVA_PROGRAM: &str = concat!(
    include_str!("programs/Probe.java"),
    include_str!("programs/Expression.java"),
    include_str!("programs/Listening.java")
);

/// Returns the variables that name the programs of a build for [`STAND_INS`].
pub(super) fn names_of_programs(build: &Build) -> Result<[(&'static str, String); 2]> {
    let programs = programs(build.place()?.root());
    let names = |part: &str| {
        let of_part = programs.iter().filter(|program| program.part == part);
        let names = of_part.filter(|program| program.runs && !program.path.contains('\n'));
        let names = names.take(MOST).map(|program| program.path.as_str());
        names.collect::<Vec<&str>>().join("\n")
    };
    Ok([("OUT_PROGRAMS", names(OUT)), ("TREE_PROGRAMS", names(TREE))])
}

/// Asks all probes in one run.
pub(super) async fn run(run: PovRun<'_>, probes: &[Probe]) -> Result<Observations> {
    let rows: Vec<String> = probes
        .iter()
        .map(|probe| format!("{}\t{}\t{}", probe.path, probe.line, probe.expression))
        .collect();
    let mut environment = vec![
        ("PROBES", rows.join("\n")),
        ("PROBE_SECONDS", TIME.as_secs().to_string()),
    ];
    environment.extend(names_of_programs(run.build)?);
    let (script, program) = if run.target.task.language == Language::Java {
        (java("Probe"), JAVA_PROGRAM)
    } else {
        (STAND_INS.to_owned(), GDB_PROGRAM)
    };
    let how = (script.as_str(), program);
    let (folder, execution) = run.watched(how, &environment, TIME + MORE).await?;
    let answer = folder.left()?.read("answer.json", LIMIT).ok();
    let answer = answer.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    Ok(answer.unwrap_or_else(|| Observations {
        problem: Some(match (execution.ending, execution.text().lines().next()) {
            (Ending::Exited(3), Some(line)) => line.to_owned(),
            (Ending::Limit(_), _) => "it came to no end".to_owned(),
            _ => "the command runs no program of the build that could be looked at".to_owned(),
        }),
        ..Observations::default()
    }))
}
