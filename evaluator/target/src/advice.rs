//! Known causes of a baseline that failed: mistakes in a task's commands that
//! many people make, told with what to write instead.
//!
//! It reads commands and logs, and runs nothing. Advice is for people: it
//! changes no result and is never given to a model.

use crate::TargetError;
use crate::runner::{TargetTask, TestRun};
use patchwright_sandbox::Limit;
use patchwright_source::regex;
use std::path::Path;

/// Sanitizers by the names that their reports hold, and the flag of each.
const FLAGS: [(&str, &str); 5] = [
    ("AddressSanitizer", "address"),
    ("LeakSanitizer", "address"),
    ("UndefinedBehaviorSanitizer", "undefined"),
    ("MemorySanitizer", "memory"),
    ("ThreadSanitizer", "thread"),
];

/// Folders whose paths mean the same inside the sandbox.
const SHARED: &[&str] = &[
    "bin", "dev", "etc", "gnu", "lib", "lib32", "lib64", "nix", "opt", "proc", "sbin", "tmp", "usr",
];

/// Returns the commands of a task as they were run, for whoever looks for the fault.
pub fn commands_as_run(task: &TargetTask) -> Vec<String> {
    let povs = pov_commands(task).map(|command| format!("pov: {command}"));
    let build = format!("build: {}", task.commands.build);
    std::iter::once(build).chain(povs).collect()
}

fn pov_commands(task: &TargetTask) -> impl Iterator<Item = &str> {
    let of_povs = task.povs.iter().filter_map(|pov| pov.command.as_deref());
    task.commands.pov.as_deref().into_iter().chain(of_povs)
}

/// Returns the likely causes of a baseline that failed.
pub fn of_failure(task: &TargetTask, error: &TargetError) -> Vec<String> {
    let (TargetError::InvalidTask { log, .. } | TargetError::NotReproducible { log, .. }) = error
    else {
        return Vec::new();
    };
    let mut advice = of_commands(task);
    if matches!(error, TargetError::NotReproducible { .. }) {
        advice.extend(without_pov(task));
        advice.extend(going_on(log));
    }
    let host_path = regex!(r"/(?:home|root|Users)/\S*: (?:No such file|not found)");
    if host_path.is_match(log) && advice.is_empty() {
        advice.push(
            "a file was not found: commands see $TREE, $OUT, $TASK and the system's folders, \
             but not your home"
                .to_owned(),
        );
    }
    advice
}

/// Returns the likely cause of tests that fail on the unpatched tree.
pub fn of_tests(run: &TestRun) -> Option<String> {
    if run.execution.ending.success() {
        return None;
    }
    if run.execution.ending == patchwright_sandbox::Ending::Limit(Limit::WallTime) {
        return Some("the tests reached their time limit: raise limits.test".to_owned());
    }
    let text = run.execution.text();
    if text.contains("LeakSanitizer") {
        let advice = "LeakSanitizer ends the tests; if leaks are not what you test for, put \
                      ASAN_OPTIONS=detect_leaks=0 in front of the test command";
        return Some(advice.to_owned());
    }
    not_tested(&text)
}

/// Names the modules that Maven leaves out because they need one whose tests fail.
fn not_tested(log: &str) -> Option<String> {
    // A module that does not compile takes others with it too.
    if !log.contains("There are test failures") {
        return None;
    }
    let skipped = regex!(r"(?m)^\[INFO\] (\S.*?) \.{2,} SKIPPED").captures_iter(log);
    let names: Vec<&str> = skipped.map(|found| found.extract::<1>().1[0]).collect();
    let (first, more) = names.split_at(names.len().min(3));
    let more = match more.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    (!names.is_empty()).then(|| {
        format!(
            "Maven did not test what needs the module that fails ({}{more}): \
             -Dmaven.test.failure.ignore=true in the test command tests all",
            first.join(", ")
        )
    })
}

fn of_commands(task: &TargetTask) -> Vec<String> {
    let commands = &task.commands;
    let all = [
        ("build", Some(commands.build.as_str())),
        ("pov", commands.pov.as_deref()),
        ("test", commands.test.as_deref()),
        ("prepare", commands.prepare.as_deref()),
    ];
    let mut advice = Vec::new();
    for (name, command) in all {
        let Some(command) = command else { continue };
        if let Some(found) = emptied(command) {
            advice.push(format!(
                "the {name} command holds `{found}`, as if your shell had replaced $TREE, $OUT or \
                 $POV by nothing: put the command into single quotes"
            ));
        } else if let Some(path) = host_path(command) {
            advice.push(format!(
                "the {name} command names {path}, which commands do not see: use $TREE for the \
                 source tree, $TASK for the task's folder, $OUT for what the build makes"
            ));
        }
    }
    advice
}

/// Returns the part of a command in which a variable seems to be missing.
fn emptied(command: &str) -> Option<&str> {
    // An option that wants a folder, with none behind it.
    let no_folder = regex!(r#"(?:^|\s)-(?:C|B|S|I|L|o)(?:\s{2,}|\s*$|\s+(?:&&|;|\|\||""))"#);
    let option = no_folder.find(command).map(|found| found.as_str().trim());
    let unknown = |(_, first): &(&str, &str)| !Path::new("/").join(first).exists();
    option.or_else(|| own_paths(command).find(unknown).map(|(path, _)| path))
}

/// Returns a path of a command that exists here and is not shown in the sandbox.
fn host_path(command: &str) -> Option<&str> {
    own_paths(command)
        .map(|(path, _)| path)
        .find(|path| Path::new(path).exists())
}

/// Returns the paths from the root that a command names, but for those that mean the same inside
/// the sandbox, each with its first part.
fn own_paths(command: &str) -> impl Iterator<Item = (&str, &str)> {
    let rooted = regex!(r#"(?:^|[\s=;&|(])["']{0,2}(/([A-Za-z0-9._+-]+)[^\s"';&|)]*)"#);
    rooted.captures_iter(command).filter_map(|path| {
        let (whole, first) = (path.get(1)?.as_str(), path.get(2)?.as_str());
        (!SHARED.contains(&first)).then_some((whole, first))
    })
}

fn without_pov(task: &TargetTask) -> Option<String> {
    let without = pov_commands(task).find(|command| !command.contains("POV"));
    without.map(|command| {
        format!("the pov command `{command}` does not use $POV, the path of the crashing input")
    })
}

/// Explains a report of undefined behaviour in the output of a program that did not end by it.
fn going_on(log: &str) -> Option<String> {
    log.contains(": runtime error: ").then(|| {
        "UndefinedBehaviorSanitizer reports an error and the program goes on: compile with \
         -fno-sanitize-recover=undefined, so that the report ends it"
            .to_owned()
    })
}

/// Returns the likely cause of PoVs that do not crash, from the log of a crash that
/// the task brought along.
pub fn of_report(task: &TargetTask, log: &str) -> Option<String> {
    let (sanitizer, flag) = FLAGS.iter().find(|(name, _)| log.contains(name))?;
    let build = task.commands.build.as_str();
    (!build.contains("-fsanitize") && !build.to_lowercase().contains("san")).then(|| {
        format!(
            "the crash report is {sanitizer}'s, and the build command names no sanitizer: compile \
             and link with -fsanitize={flag} -g"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::Commands;

    fn task(build: &str, pov: &str) -> TargetTask {
        TargetTask {
            commands: Commands {
                build: build.to_owned(),
                pov: Some(pov.to_owned()),
                ..Commands::default()
            },
            ..TargetTask::default()
        }
    }

    fn advice(build: &str, pov: &str) -> String {
        let error = TargetError::NotReproducible {
            reason: "a: exit status 0".to_owned(),
            log: String::new(),
        };
        of_failure(&task(build, pov), &error).join("\n")
    }

    #[test]
    fn variables_that_a_shell_replaced_are_noticed() {
        let good = "\"$OUT\"/harness \"$POV\"";
        for build in [
            "make -C  harness",
            "make -C && cp harness \"$OUT\"",
            "cc -o /harness-of-nobody a.c",
            "cd /harness-of-nobody; make",
        ] {
            let told = advice(build, good);
            assert!(told.contains("single quotes"), "{build}: {told}");
        }
        assert!(advice("make", "/harness-of-nobody").contains("single quotes"));
        for build in [
            "make -C \"$TREE\" harness && cp \"$TREE\"/harness \"$OUT\"",
            "cc -o \"$OUT\"/a -I /usr/include a.c >/dev/null 2>&1",
            "cmake -S \"$TREE\" -B \"$WORK\"/b && cmake --build \"$WORK\"/b",
        ] {
            assert_eq!(advice(build, good), "", "{build}");
        }
    }

    #[test]
    fn a_report_that_ends_no_program_is_noticed() {
        for (log, noticed) in [
            ("a.c:2:3: runtime error: index 8 out of bounds\n", true),
            ("done\n", false),
        ] {
            let error = TargetError::NotReproducible {
                reason: "a: exit status 0".to_owned(),
                log: log.to_owned(),
            };
            let told = of_failure(&task("make", "\"$OUT\"/a \"$POV\""), &error).join("\n");
            assert_eq!(told.contains("-fno-sanitize-recover"), noticed, "{told}");
        }
    }

    #[test]
    fn paths_of_the_host_are_noticed() {
        // A folder that every Linux system has (FHS 3.0) and no command sees.
        let told = advice("make -C /home", "\"$OUT\"/a \"$POV\"");
        assert!(told.contains("which commands do not see"), "{told}");
    }

    #[test]
    fn a_report_of_a_sanitizer_wants_one_in_the_build() {
        let log = "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60200000 at pc 0x1\n\
                   READ of size 1 at 0x60200000 thread T0\n    #0 0x1 in f /src/a.c:3:4\n";
        for (build, expected) in [
            ("make", true),
            ("make CFLAGS=-fsanitize=address", false),
            ("make asan", false),
        ] {
            let told = of_report(&task(build, "\"$POV\""), log);
            assert_eq!(told.is_some(), expected, "{build}: {told:?}");
        }
        assert_eq!(of_report(&task("make", "\"$POV\""), "no report"), None);
    }

    #[test]
    fn a_pov_command_without_its_input_is_noticed() {
        assert!(advice("make", "\"$OUT\"/a").contains("does not use $POV"));
    }
}
