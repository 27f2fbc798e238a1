//! Leaks of the unpatched program: a patched program that leaks what the unpatched one leaks
//! on the same input is no worse.
//!
//! The unpatched program is ended by its crash before leaks are looked for. So it is built
//! with checks that let it go on, and run to its end.

use super::Programs;
use patchwright_crash::Tool;
use patchwright_source::{Changes, regex};
use patchwright_target::Result;
use patchwright_target::runner::{InputRun, Instrumentation, Pov, Replay};
use std::collections::BTreeMap;

/// Lets a program go on after an error.
const GO_ON: &str = r#"for patchwright_tool in ASAN UBSAN; do
  eval "export ${patchwright_tool}_OPTIONS=\"\${${patchwright_tool}_OPTIONS:+\$${patchwright_tool}_OPTIONS:}halt_on_error=0\""
done
"#;
/// The begin of a report of leaks.
const LEAKS: &str = "ERROR: LeakSanitizer";

/// Tells whether a run found nothing but leaks that the unpatched program has too, on the
/// input of a PoV or another one that is run like it.
pub(crate) async fn is_old(programs: &Programs<'_>, pov: &Pov, now: &Replay) -> Result<bool> {
    let (target, known) = (programs.target, programs.crash());
    let task = target.task();
    let command = pov.command.as_ref().or(task.commands.pov.as_ref());
    let tool = now.crash.as_ref().map(|crash| crash.tool);
    let (Some(Tool::LeakSanitizer), Some(known), Some(command)) = (tool, known, command) else {
        return Ok(false);
    };
    let added = Instrumentation::Recovery(task.files_of(known));
    let name = task.build_of(pov);
    let nothing = Changes::default();
    let build = target.instrumented_build(&nothing, &name, &added);
    let Some(build) = build.await? else {
        return Ok(false);
    };
    let going_on = Pov {
        command: Some(format!("{GO_ON}{command}")),
        ..pov.clone()
    };
    let old = target.replay(&build, &going_on).await?;
    let (old, new) = (leaks(&old.execution.text()), leaks(&now.execution.text()));
    let known = |(stack, count): (&Vec<String>, &usize)| old.get(stack) >= Some(count);
    Ok(!new.is_empty() && new.iter().all(known))
}

/// Tells whether a run failed by a leak.
pub(crate) fn fails(run: &InputRun) -> bool {
    run.is_failure() && String::from_utf8_lossy(&run.output).contains(LEAKS)
}

/// Returns the functions that allocated what leaked, innermost first, and how many leaks of
/// a report they have.
fn leaks(text: &str) -> BTreeMap<Vec<String>, usize> {
    let frame = regex!(r"^\s*#\d+ 0x[0-9a-f]+ in (\S+)");
    let report = text.find(LEAKS).and_then(|at| text.get(at..));
    let blocks = report.unwrap_or_default().split("\n\n");
    let mut found = BTreeMap::new();
    for block in blocks.filter(|block| block.contains(" leak of ")) {
        let frames = block.lines().filter_map(|line| frame.captures(line));
        let names = frames.filter_map(|frame| frame.get(1));
        let stack = names.map(|name| name.as_str().to_owned()).collect();
        *found.entry(stack).or_default() += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::evidence::RungName;
    use crate::ladder::Ladder;
    use crate::tests::attempt;
    use patchwright_target::runner::Target;
    use patchwright_target::test_support::{PARSE, open, task};
    use std::fs;

    #[tokio::test]
    async fn a_leak_of_the_unpatched_program_is_not_held_against_a_patch() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        let leaky = |text: &str| text.replace("  free(p);\n", "");
        // The write past the end is small enough to be survived.
        let text = leaky(PARSE).replace("memset(p, 1, b[0]);", "p[b[0] & 15] = 1;");
        fs::write(task.tree.join("parse.c"), &text).unwrap();
        fs::write(folder.path().join("pov.bin"), [9, 0]).unwrap();
        task.commands.test = None;
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        for (fix, holds) in [
            ("b[0] & 7] = 1;", true),
            ("b[0] & 7] = 1; char *volatile q = malloc(3); q = 0;", false),
        ] {
            let mut fixed = attempt("", "");
            let text = text.replace("b[0] & 15] = 1;", fix).into_bytes();
            fixed
                .changes
                .files
                .values_mut()
                .for_each(|file| file.clone_from(&text));
            let ladder = Ladder::new(&target, &baseline);
            let result = ladder.climb(&fixed, &[], RungName::Silent).await.unwrap();
            assert_eq!(result.holds, Some(holds), "{fix}: {result:#?}");
            if holds {
                let settled = result.doubts.iter().filter(|doubt| !doubt.is_open());
                assert_eq!(settled.count(), 1, "{result:#?}");
            }
        }
    }
}
