//! Builds as they occur, each with its compiler and sanitizer: the crash is
//! seen for what it is, and a right patch climbs on what was built before.

use super::{climb_to_tested, open};
use crate::attempt::AttemptFacts;
use patchwright_source::Changes;
use patchwright_source::{Language, TreePath};
use patchwright_target::LocalTarget;
use patchwright_target::runner::{Capture, Commands, Counted, Coverage, Inputs, Instrumentation};
use patchwright_target::runner::{Pov, Target, TargetTask};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Code that crashes on an input that begins with `x`, the sanitizer that sees it,
/// and what makes it right.
struct Defect {
    compiler: &'static str,
    flags: &'static str,
    kind: &'static str,
    code: &'static str,
    fix: (&'static str, &'static str),
}

const UNSET: Defect = Defect {
    compiler: "clang",
    flags: "-fsanitize=memory",
    kind: "use-of-uninitialized-value",
    code: "int parse(char c) { int *p = malloc(8); if (c != 'x') *p = 1; int r = *p ? 0 : 3; free(p); return r; }",
    fix: ("malloc(8)", "calloc(2, 4)"),
};
const RACE: Defect = Defect {
    compiler: "gcc",
    flags: "-fsanitize=thread -pthread",
    kind: "data-race",
    code: "static int n; static void *add(void *c) { if (*(char *)c == 'x') for (int i = 0; i < 9999; i++) n++; return 0; }\nint parse(char c) { pthread_t a, b; pthread_create(&a, 0, add, &c); pthread_create(&b, 0, add, &c); pthread_join(a, 0); pthread_join(b, 0); return 0; }",
    fix: ("n++", "__atomic_add_fetch(&n, 1, 5)"),
};
const LEAK: Defect = Defect {
    compiler: "clang",
    flags: "-fsanitize=leak",
    kind: "memory-leak",
    code: "static void *kept; int parse(char c) { kept = malloc(80); if (c != 'x') free(kept); kept = 0; return 0; }",
    fix: ("if (c != 'x') free", "free"),
};
const SHIFT: Defect = Defect {
    compiler: "gcc",
    flags: "-fsanitize=undefined -fno-sanitize-recover=all",
    kind: "shift",
    code: "int parse(char c) { int by = c == 'x' ? 40 : 3; return (1 << by) == 0; }",
    fix: ("1 << by", "1 << (by & 31)"),
};
const BEYOND: Defect = Defect {
    compiler: "gcc",
    flags: "-fsanitize=address",
    kind: "heap-buffer-overflow",
    code: "int parse(char c) { char *p = malloc(8); p[c == 'x' ? 8 : 0] = 0; free(p); return 0; }",
    fix: ("? 8 : 0", "? 7 : 0"),
};

const HEAD: &str = "#include <pthread.h>\n#include <stdlib.h>\n";
const MAIN: &str = "#include <stdio.h>\nint parse(char c);\nint main(int n, char **v) { FILE *f = fopen(v[n - 1], \"rb\"); char c = f ? fgetc(f) : 0; if (f) fclose(f); return parse(c); }\n";

/// A build system: the files that it reads, and the command line.
type System = (&'static [(&'static str, &'static str)], &'static str);

const SCRIPT: System = (
    &[(
        "build.sh",
        "for part in main parse; do [ \"$OUT/$part.o\" -nt \"$part.c\" ] || { $CC $CFLAGS -c $part.c -o \"$OUT/$part.o\"; echo $part >>\"$OUT/what\"; }; done\n$CC $CFLAGS \"$OUT\"/*.o -o \"$OUT/prog\"\n",
    )],
    "sh -eu build.sh",
);
const CMAKE: System = (
    &[
        (
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(prog main.c parse.c)\nset_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE \"sh ${CMAKE_SOURCE_DIR}/launch.sh\")\n",
        ),
        ("launch.sh", LAUNCH),
    ],
    "[ -f \"$OUT\"/build.ninja ] || cmake -G Ninja -S . -B \"$OUT\" >/dev/null; ninja -C \"$OUT\"",
);
/// The same as CMake's makefiles, which lie in the tree.
const CMAKE_IN_TREE: System = (
    CMAKE.0,
    "[ -f build/Makefile ] || cmake -S . -B build >/dev/null; make -s -C build; cp build/prog \"$OUT\"",
);
const AUTOTOOLS: System = (
    &[
        (
            "configure.ac",
            "AC_INIT([p], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
        ),
        (
            "Makefile.am",
            "bin_PROGRAMS = prog\nprog_SOURCES = main.c parse.c\n",
        ),
        ("launch.sh", LAUNCH),
    ],
    "[ -f configure ] || autoreconf -i; cd \"$OUT\"; [ -f Makefile ] || \"$TREE\"/configure -q CC=\"$CC\"; make -s CC=\"sh $TREE/launch.sh $CC\"",
);
/// Writes down which sources are compiled.
const LAUNCH: &str = "for word; do case $word in *parse.c) echo parse >>\"$OUT/what\";; *main.c) echo main >>\"$OUT/what\";; esac; done\nexec \"$@\"\n";

fn task(folder: &Path, defect: &Defect, (files, build): System) -> TargetTask {
    let tree = folder.join("tree");
    fs::create_dir_all(&tree).unwrap();
    let parse = format!("{HEAD}{}\n", defect.code);
    for (name, text) in files.iter().chain(&[("main.c", MAIN), ("parse.c", &parse)]) {
        fs::write(tree.join(name), text).unwrap();
    }
    fs::write(folder.join("pov.bin"), "x").unwrap();
    fs::write(folder.join("good.bin"), "y").unwrap();
    let variables = [
        ("CC", defect.compiler.to_owned()),
        ("CFLAGS", format!("{} -g -O0", defect.flags)),
        ("TSAN_OPTIONS", "exitcode=66".to_owned()),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value));
    TargetTask {
        tree,
        task_folder: folder.to_path_buf(),
        language: Language::C,
        commands: Commands {
            build: build.to_owned(),
            pov: Some(r#""$OUT"/prog "$POV""#.to_owned()),
            test: Some(r#""$OUT"/prog "$TASK"/good.bin"#.to_owned()),
            ..Commands::default()
        },
        builds: BTreeMap::from([("one".to_owned(), BTreeMap::from(variables))]),
        povs: vec![Pov {
            file: folder.join("pov.bin"),
            ..Pov::default()
        }],
        ..TargetTask::default()
    }
}

fn fixed(defect: &Defect) -> AttemptFacts {
    let code = defect.code.replacen(defect.fix.0, defect.fix.1, 1);
    assert_ne!(code, defect.code);
    let path = TreePath::new("parse.c").unwrap();
    AttemptFacts {
        changes: Changes {
            files: [(path, format!("{HEAD}{code}\n").into_bytes())].into(),
            ..Changes::default()
        },
        ..AttemptFacts::default()
    }
}

/// Returns the files that were compiled for an attempt, beyond the baseline.
async fn compiled(target: &LocalTarget, attempt: &AttemptFacts) -> String {
    let how = patchwright_target::BuildKind::Incremental;
    let build = target.build(&attempt.changes, "one", how).await.unwrap();
    let out = patchwright_target::test_support::part(&build, "out");
    let all = fs::read_to_string(out.join("what")).unwrap();
    all.lines().skip(2).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn every_sanitizer_and_build_system_is_really_built_with() {
    for (defect, system) in [
        (UNSET, SCRIPT),
        (RACE, SCRIPT),
        (LEAK, SCRIPT),
        (SHIFT, SCRIPT),
        (BEYOND, CMAKE),
        (BEYOND, AUTOTOOLS),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let target = open(task(folder.path(), &defect, system), folder.path()).await;
        let what = format!("{} by {}", defect.flags, system.1);
        let baseline = target.baseline().await;
        let baseline = baseline.unwrap_or_else(|error| panic!("{what}: {error:?}"));
        let replay = &baseline.povs[0].replay;
        let crash = replay
            .crash
            .as_ref()
            .unwrap_or_else(|| panic!("{what}: {}", replay.execution.text()));
        assert_eq!(crash.kind, defect.kind, "{what}: {}", crash.summary);
        let stack = crash.main_stack().into_iter();
        let mut frames = stack.flat_map(|stack| &stack.frames);
        let called = frames.any(|frame| frame.function == "main");
        assert!(
            called || defect.kind == RACE.kind || defect.kind == LEAK.kind,
            "{what}: {crash:#?}"
        );
        let fix = fixed(&defect);
        let climbed = climb_to_tested(&target, &fix).await;
        let holds: Vec<_> = climbed.iter().map(|rung| rung.holds).collect();
        assert_eq!(holds, [Some(true); 5], "{what}: {climbed:#?}");
        assert_eq!(compiled(&target, &fix).await, "parse", "{what}");
    }
}

/// Builds as CMake configures them, which name the compilers by their paths.
#[tokio::test]
async fn counters_come_into_configured_builds() {
    for system in [CMAKE, CMAKE_IN_TREE, AUTOTOOLS] {
        let folder = tempfile::tempdir().unwrap();
        let target = open(task(folder.path(), &BEYOND, system), folder.path()).await;
        let fix = fixed(&BEYOND);
        let counters = Instrumentation::Counters;
        let build = target.instrumented_build(&fix.changes, "one", &counters);
        let build = build.await.unwrap();
        let build = build.unwrap_or_else(|| panic!("no counters: {}", system.1));
        let inputs = Inputs {
            contents: vec![b"y".to_vec()],
            budget: Duration::from_mins(1),
            each: Duration::from_secs(10),
            capture: Capture::Coverage(Counted {
                lines: Vec::new(),
                functions: vec!["parse".to_owned()],
            }),
            ..Inputs::default()
        };
        let runs = target.run_inputs(&build, &target.task().povs[0], &inputs);
        let runs = runs.await.unwrap();
        let coverage = Coverage::read(&String::from_utf8_lossy(&runs[0].output));
        assert_eq!(coverage.functions.get("parse"), Some(&1), "{}", system.1);
    }
}
