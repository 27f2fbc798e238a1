//! Runs a PoV under a debugger that looks at lines: gdb for C and C++, the
//! debugger interface of the JDK for Java, which has no evaluator of its own
//! worth the name: `Expression.java` is ours.
//!
//! The debugger runs inside the sandbox, beside the program that it looks at.
//! What the two leave behind is read back as data that nobody vouches for.

use super::local::{Job, LocalTarget};
use super::{Build, Pov, inputs};
use crate::TargetError;
use crate::beneath::Beneath;
use crate::probe::{Probe, Sights};
use std::ffi::OsString;
use std::time::Duration;

/// Time that the program gets under the debugger.
const TIME: Duration = Duration::from_secs(30);
/// Time that the debugger gets to begin and to write down what it saw.
const MORE: Duration = Duration::from_secs(20);
/// Bytes of an answer that are read back.
const LIMIT: u64 = 4 << 20;

/// Runs gdb; `$2` is the program for it.
const GDB: &str = r#"command -v gdb >/dev/null || { echo "gdb is not installed here"; exit 3; }
POV_COMMAND=$1; export POV_COMMAND; printf %s "$2" >"$WORK/probe.py"
exec gdb -nx -batch -x "$WORK/probe.py" >/dev/null 2>&1 </dev/null"#;
/// What gdb does.
const GDB_PROGRAM: &str = include_str!("probe/gdb.py");

/// Compiles and runs the debugger for Java; it starts the PoV itself.
const JAVA: &str = r#"command -v java >/dev/null || { echo "java is not installed here"; exit 3; }
printf %s "$2" >"$WORK/Probe.java"
java --list-modules | grep -q '^jdk.jdi@' || { echo "the java here has no debugger (module jdk.jdi)"; exit 3; }
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC --add-modules jdk.jdi "$WORK/Probe.java" "$1" >/dev/null 2>&1 </dev/null"#;
/// What the debugger for Java does: one file, as `java` runs no more than one.
const JAVA_PROGRAM: &str = concat!(
    include_str!("probe/Probe.java"),
    include_str!("probe/Expression.java")
);

/// How often a run is tried in which gdb came by nothing: among the processes
/// of a shell it loses the one that matters now and then.
const TRIES: u32 = 3;

/// Asks all probes in one run.
pub(super) async fn run(
    target: &LocalTarget,
    build: &Build,
    pov: &Pov,
    probes: &[Probe],
) -> Result<Sights, TargetError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let sights = look(target, build, pov, probes).await?;
        let blind = sights.problem.is_none() && sights.probes.iter().all(|sight| !sight.known);
        if !blind || target.is_java() || tries >= TRIES {
            return Ok(sights);
        }
    }
}

async fn look(
    target: &LocalTarget,
    build: &Build,
    pov: &Pov,
    probes: &[Probe],
) -> Result<Sights, TargetError> {
    let command = target.pov_command(pov)?;
    let folder = target.batch_folder()?;
    let rows: Vec<String> = probes
        .iter()
        .map(|probe| format!("{}\t{}\t{}", probe.path, probe.line, probe.expression))
        .collect();
    let mut environment = vec![
        ("PROBES", rows.join("\n")),
        ("PROBE_SECONDS", TIME.as_secs().to_string()),
    ];
    // Without a shell between them the debugger is faster and sees more.
    let named = inputs::with_harness(command, pov.harness.as_deref());
    if let Some((program, arguments)) = inputs::plain(&named) {
        environment.push(("PROGRAM", program.to_owned()));
        environment.push(("ARGUMENTS", arguments.to_owned()));
    }
    let (script, program) = if target.is_java() {
        (JAVA, JAVA_PROGRAM)
    } else {
        (GDB, GDB_PROGRAM)
    };
    let arguments: [OsString; 2] = [command.into(), program.into()];
    let job = Job {
        wall: TIME + MORE,
        arguments: &arguments,
        environment: &environment,
        pov: Some(&pov.file),
        harness: pov.harness.as_deref(),
        work: Some(folder.path()),
        ..Job::new(script, build.place()?, &build.name)
    };
    let execution = target.command(job).await?;
    let answer = Beneath::open(folder.path())
        .and_then(|folder| folder.read("answer.json", LIMIT))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    Ok(answer.unwrap_or_else(|| Sights {
        problem: Some(match execution.text().lines().next() {
            Some(line) if execution.ending == crate::Ending::Exited(3) => line.to_owned(),
            _ => "it came to no end".to_owned(),
        }),
        ..Sights::default()
    }))
}

#[cfg(test)]
mod tests;
