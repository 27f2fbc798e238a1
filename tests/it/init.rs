//! `patchwright init`: a task file from what works, that a repair then uses.

use crate::scene::{GOOD, Scene};
use patchwright_tests::model::ScriptedModel;
use std::fs;
use std::path::{Path, PathBuf};

/// A project as its author has it: a Makefile with a test target, samples, no task.
const MAKEFILE: &str = "CFLAGS = -O2
records: harness.o records.o
\t$(CC) $(CFLAGS) -o $@ harness.o records.o
helper: helper.o
\t$(CC) -o $@ helper.o
all: records helper
check: records
\t./records
.DEFAULT_GOAL = all
";

pub(crate) fn project(scene: &Scene) -> PathBuf {
    let tree = scene.patchwright.scratch("project");
    fs::create_dir_all(tree.join("samples")).unwrap();
    for file in ["src/records.c", "src/records.h", "harness.c"] {
        let name = Path::new(file).file_name().unwrap();
        fs::copy(scene.path(file), tree.join(name)).unwrap();
    }
    for entry in fs::read_dir(scene.path("corpus")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.path().with_extension("txt");
        fs::copy(
            entry.path(),
            tree.join("samples").join(name.file_name().unwrap()),
        )
        .unwrap();
    }
    fs::write(tree.join("Makefile"), MAKEFILE).unwrap();
    fs::write(tree.join("helper.c"), "int main(void) { return 0; }\n").unwrap();
    tree
}

#[test]
fn a_task_is_found_by_trying_and_repaired() {
    let scene = Scene::new();
    project(&scene);
    fs::copy(
        scene.path("pov/long-name.txt"),
        scene.patchwright.scratch("crash.txt"),
    )
    .unwrap();
    let arguments = ["init", "project", "--pov", "crash.txt"];
    let told = scene.plain(&arguments);
    assert_eq!(told.code, Some(0), "{told:#?}");
    assert!(
        told.stdout.contains("next: patchwright run task.toml"),
        "{told:#?}"
    );
    let file = fs::read_to_string(scene.patchwright.scratch("task.toml")).unwrap();
    for words in [
        "language = \"c\"",
        "path = \"project\"",
        "build = 'ASAN_OPTIONS=detect_leaks=0 make -C \"$TREE\"",
        "pov = '\"$TREE\"/records \"$POV\"'",
        "# 6 tests pass, 0 fail",
        "harmless = [\"project/samples/*.txt\"]",
        "# crashes here: AddressSanitizer: heap-buffer-overflow",
    ] {
        assert!(file.contains(words), "{words:?} is missing in {file}");
    }
    let again = scene.plain(&arguments);
    assert_eq!(again.code, Some(2), "{again:#?}");
    assert!(again.stderr.contains("replace it with --force"));

    let model = ScriptedModel::start([GOOD]).unwrap();
    let endpoint = model.base_url();
    let told = scene.json(&["run", "task.toml", "--model", "m", "--base-url", &endpoint]);
    assert_eq!(told.rung(1, "silent")["holds"], true, "{told:#?}");
    assert_eq!(told.rung(1, "tested")["holds"], true, "{told:#?}");
}

#[test]
fn an_oss_fuzz_project_is_taken_as_it_is() {
    let scene = Scene::new();
    let tree = project(&scene);
    fs::remove_file(tree.join("Makefile")).unwrap();
    let folder = scene.patchwright.scratch("projects/records");
    fs::create_dir_all(&folder).unwrap();
    let build = "#!/bin/bash -eu
$CC $CFLAGS -c records.c -o $WORK/records.o
$CC $CFLAGS -I. -c $SRC/fuzzer.c -o $WORK/fuzzer.o
$CXX $CXXFLAGS $LIB_FUZZING_ENGINE $WORK/fuzzer.o $WORK/records.o -o $OUT/fuzzer
";
    let fuzzer = "#include \"records.h\"
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct record *first;
  records_read((const char *)data, size, &first);
  records_free(first);
  return 0;
}
";
    for (name, text) in [
        (
            "project.yaml",
            "language: c\nmain_repo: \"https://example.org/records\"\n",
        ),
        ("Dockerfile", "FROM base\nWORKDIR $SRC/records\n"),
        ("build.sh", build),
        ("fuzzer.c", fuzzer),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    let pov = scene.path("pov/long-name.txt").display().to_string();
    let arguments = ["init", "project", "--oss-fuzz", "projects/records"];
    let arguments = [&arguments[..], &["--harness", "fuzzer", "--testcase", &pov]].concat();
    let told = scene.plain(&arguments);
    assert_eq!(told.code, Some(0), "{told:#?}");
    let file = fs::read_to_string(scene.patchwright.scratch("task.toml")).unwrap();
    assert!(
        file.contains("harness = \"fuzzer\"") && file.contains("# crashes here:"),
        "{file}"
    );
}

#[test]
fn what_cannot_be_found_is_told() {
    let scene = Scene::new();
    let tree = project(&scene);
    fs::write(
        tree.join("Makefile"),
        "all:\n\techo no compiler; lexer-of-nobody\n",
    )
    .unwrap();
    let told = scene.plain(&["init", "project"]);
    assert_eq!(told.code, Some(2), "{told:#?}");
    assert!(told.stderr.contains("| no compiler"), "{told:#?}");
    let next = "install what is missing here (lexer-of-nobody), or name the command with --build";
    assert!(told.stderr.contains(next), "{told:#?}");
    assert!(!scene.patchwright.scratch("task.toml").exists());
    let told = scene.plain(&["init", "nowhere"]);
    assert_eq!(told.code, Some(2), "{told:#?}");
    let told = scene.plain(&["init", "project", "--oss-fuzz", "project"]);
    assert!(told.stderr.contains("build.sh cannot be read"), "{told:#?}");
}

/// A library of headers alone, whose programs are examples behind an option.
const HEADERS: [(&str, &str); 3] = [
    (
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.10)\nproject(fold C)\ninclude(CTest)\noption(BUILD_EXAMPLES \"Build the examples\" OFF)\nadd_library(fold INTERFACE)\ntarget_include_directories(fold INTERFACE .)\nif(BUILD_EXAMPLES)\n  add_executable(sum sum.c)\n  target_link_libraries(sum fold)\nendif()\n",
    ),
    (
        "fold.h",
        "static int fold(const char *text, int length) { char sum[8]; for (int at = 0; at < length; at++) sum[at] = text[at]; return sum[0]; }\n",
    ),
    (
        "sum.c",
        "#include \"fold.h\"\n#include <stdio.h>\nint main(int argc, char **argv) { char text[64]; FILE *file = argc > 1 ? fopen(argv[1], \"rb\") : 0; if (!file) return 2; return fold(text, (int)fread(text, 1, 64, file)) == 'x'; }\n",
    ),
];

fn write(scene: &Scene, folder: &str, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = scene.patchwright.scratch(folder).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn examples_are_built_where_a_build_makes_no_program() {
    let scene = Scene::new();
    write(&scene, "fold", &HEADERS);
    let samples = [
        ("samples/one.txt", "one"),
        ("samples/two.txt", "two"),
        (
            "Makefile",
            "check:\n\t@echo PASS: sum-1\n\t@echo PASS: sum-2\n",
        ),
    ];
    write(&scene, "fold", &samples);
    // As fuzzers name what they find.
    let pov = "crash-0a4d55a8";
    write(&scene, ".", &[(pov, "a text of more than eight letters\n")]);
    let told = scene.plain(&["init", "fold", "--pov", pov]);
    assert_eq!(told.code, Some(0), "{told:#?}");
    for line in [
        "  it builds, and makes no program",
        "1 program found",
        "PoV: \"$OUT\"/build/sum \"$POV\": ok, it crashes: AddressSanitizer: stack-buffer-overflow",
        "no test command: ",
        "ok 2 tests pass, 0 fail",
        "fold/samples/*.txt\n  ok 2 files, none crashes",
    ] {
        assert!(told.stderr.contains(line), "{line}: {told:#?}");
    }
    let task = fs::read_to_string(scene.patchwright.scratch("task.toml")).unwrap();
    assert!(task.contains("-DBUILD_EXAMPLES=ON"), "{task}");
    assert!(task.contains("\ntest = 'make -C"), "{task}");
    let bare = "cmake_minimum_required(VERSION 3.10)\nproject(fold C)\n";
    write(&scene, "fold", &[("CMakeLists.txt", bare)]);
    let told = scene.plain(&["init", "fold", "--pov", pov, "--force"]);
    assert_eq!(told.code, Some(2), "{told:#?}");
    assert!(
        told.stderr
            .contains("what it needs; these files have a main: sum.c"),
        "{told:#?}"
    );
}

#[test]
fn tests_that_cannot_be_built_that_leak_or_are_optional_stop_nothing() {
    let scene = Scene::new();
    write(&scene, "fold", &HEADERS);
    let crash = ("crash.txt", "a text of more than eight letters\n");
    write(&scene, ".", &[crash]);
    let leak = "#include <stdlib.h>\nint main(void) { char *volatile text = malloc(9); text[0] = 1; text = 0; return 0; }\n";
    let head = "cmake_minimum_required(VERSION 3.10)\nproject(fold C)\ninclude(CTest)\nadd_executable(sum sum.c)\n";
    for (tests, told_of, kept) in [
        (
            "if(BUILD_TESTING)\n  message(FATAL_ERROR \"no Ruby\")\nendif()\n",
            "CMake without its tests: built here",
            "-DBUILD_TESTING=false",
        ),
        (
            "add_executable(leak leak.c)\nadd_test(NAME leak COMMAND leak)\n",
            "trying without looking for leaks",
            "detect_leaks=0\"; ctest",
        ),
        (
            "add_test(NAME long COMMAND sum ${CMAKE_SOURCE_DIR}/long.txt)\n",
            "ok the tests crash as the PoV does",
            "\ntest = ",
        ),
        (
            "option(FOLD_TESTS \"tests\" OFF)\nif(FOLD_TESTS)\n  add_test(NAME short COMMAND sum /dev/null)\nendif()\n",
            "ok 1 tests pass, 0 fail",
            "-DFOLD_TESTS=ON",
        ),
    ] {
        let cmake = format!("{head}{tests}");
        let long = ("long.txt", crash.1);
        let files = [("CMakeLists.txt", cmake.as_str()), ("leak.c", leak), long];
        write(&scene, "fold", &files);
        let told = scene.plain(&["init", "fold", "--pov", "crash.txt", "--force"]);
        assert_eq!(told.code, Some(0), "{told:#?}");
        let task = fs::read_to_string(scene.patchwright.scratch("task.toml")).unwrap();
        let found = told.stderr.contains(told_of) && task.contains(kept);
        assert!(found, "{told:#?}\n{task}");
    }
}

/// A library of Java that reads one number more than there is.
const FOLD: &str = r#"package org.acme;
public class Fold {
    private int sum;
    public static class Parser {
        public Fold parse(String text) {
            if (text.isEmpty()) throw new IllegalArgumentException("empty");
            Fold fold = new Fold();
            String[] words = text.trim().split(" ");
            int count = Integer.parseInt(words[0]);
            for (int at = 1; at <= count; at++) fold.sum += words[at].length();
            return fold;
        }
        public Parser(Options options, Style style) { options.words.size(); style.name.length(); }
    }
    public static class Options {
        final java.util.Map<String, String> words;
        Options(java.util.Map<String, String> words, Object other) { this.words = words; other.hashCode(); }
        public static Builder builder() { return new Builder(); }
    }
    public static class Style {
        final String name;
        private Style(Object name) { this.name = name.toString(); }
    }
    public static Style style() { return new Style("plain"); }
    public static class Builder {
        public Options build() { return new Options(java.util.Map.of(), ""); }
    }
    public String toString() { return "sum " + sum; }
}
"#;
/// The trace that a user of the library saw.
const TRACE: &str = "Exception in thread \"main\" java.lang.ArrayIndexOutOfBoundsException: Index 2 out of bounds for length 2
\tat org.acme.Fold$Parser.parse(Fold.java:10)
\tat com.example.Main.main(Main.java:7)
";

#[test]
fn a_library_of_java_is_called_as_its_trace_tells() {
    let scene = Scene::new();
    write(
        &scene,
        "fold",
        &[
            ("src/org/acme/Fold.java", FOLD),
            ("samples/a.txt", "1 a"),
            ("samples/b.txt", ""),
            ("samples/c.txt", "9 c"),
        ],
    );
    write(&scene, ".", &[("crash.txt", "2 a"), ("trace.log", TRACE)]);
    let build =
        "mkdir -p \"$OUT\"/classes && javac -d \"$OUT\"/classes \"$TREE\"/src/org/acme/Fold.java";
    let words = ["init", "fold", "--pov", "crash.txt", "--crash", "trace.log"];
    let told = scene.plain(&[&words[..], &["--build", build, "--prepare", "true"]].concat());
    assert_eq!(told.code, Some(0), "{told:#?}");
    let task = fs::read_to_string(scene.patchwright.scratch("task.toml")).unwrap();
    for part in [
        "prepare = \"true\"",
        " \"$TASK\"/Launcher.java'",
        " Launcher org.acme.Fold.Parser parse \"$POV\"'",
        "# tried here: 2 of 3 files; 1 crash",
        "harmless = [\"fold/samples/a.txt\", \"fold/samples/b.txt\"]",
    ] {
        assert!(task.contains(part), "{part}: {task}");
    }
    assert!(scene.patchwright.scratch("Launcher.java").is_file());
}

#[test]
fn a_program_that_a_report_of_java_holds_is_run() {
    let scene = Scene::new();
    write(&scene, "fold", &[("src/org/acme/Fold.java", FOLD)]);
    let main = "package com.example;\nimport java.nio.file.*;\npublic class Main {\n  public static void main(String[] args) throws Exception {\n    System.out.println(new org.acme.Fold.Parser(org.acme.Fold.Options.builder().build(), org.acme.Fold.style()).parse(Files.readString(Path.of(args[0]))));\n  }\n}\n";
    let report = format!("It fails on two:\n\n```java\n{main}```\n");
    let files = [("crash.txt", "2 a"), ("issue.md", report.as_str())];
    write(&scene, ".", &files);
    let build =
        "mkdir -p \"$OUT\"/classes && javac -d \"$OUT\"/classes \"$TREE\"/src/org/acme/Fold.java";
    let words = ["init", "fold", "--pov", "crash.txt", "--crash", "issue.md"];
    let told = scene.plain(&[&words[..], &["--build", build]].concat());
    assert_eq!(told.code, Some(0), "{told:#?}");
    let task = fs::read_to_string(scene.patchwright.scratch("task.toml")).unwrap();
    assert!(task.contains(" com.example.Main \"$POV\"'"), "{task}");
}

#[test]
fn a_harness_that_waits_for_a_driver_gets_ours() {
    let scene = Scene::new();
    write(
        &scene,
        "fold",
        &[
            (
                "Makefile",
                "all: libfold.a helper\nLDLIBS = -fopenmp\nlibfold.a: src/fold.o\n\tar rcs $@ $^\n",
            ),
            (
                "include/fold.h",
                "int fold(const char *text, unsigned long length);\n",
            ),
            (
                "src/fold.c",
                "int omp_get_max_threads(void);\nint fold(const char *text, unsigned long length) { char sum[8] = {omp_get_max_threads()}; for (unsigned long at = 0; at < length; at++) sum[at] = text[at]; return sum[0]; }\n",
            ),
            ("helper.c", "int main(void) { return 0; }\n"),
            ("fuzz/corpus/a", "a"),
            ("fuzz/corpus/b", "b"),
            (
                "fuzz/fuzz_fold.cc",
                "extern \"C\" {\n#include \"fold.h\"\n}\nextern \"C\" int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return fold(data, size) & 0; }\n",
            ),
        ],
    );
    let pov = [("crash", "a text of more than eight letters\n")];
    write(&scene, ".", &pov);
    let told = scene.plain(&["init", "fold", "--language", "c", "--pov", "crash"]);
    assert_eq!(told.code, Some(0), "{told:#?}");
    let line =
        "PoV: \"$OUT\"/fuzz_fold \"$POV\": ok, it crashes: AddressSanitizer: stack-buffer-overflow";
    assert!(told.stderr.contains(line), "{told:#?}");
    let task = fs::read_to_string(scene.patchwright.scratch("task.toml")).unwrap();
    for line in [
        "fuzz_fold is called by a file beside this one",
        "harmless = [\"fold/fuzz/corpus/a\", \"fold/fuzz/corpus/b\"]",
    ] {
        assert!(task.contains(line), "{line}: {task}");
    }
    for name in ["standalone.c", "harness.sh"] {
        assert!(scene.patchwright.scratch(name).is_file(), "{name}");
    }
}

/// Programs of which one cannot be built here, one crashes with anything, and one wants an option.
const PROGRAMS: [(&str, &str); 7] = [
    (
        "Makefile",
        "PROGRAMS = always convert prompt viewer\nall: $(PROGRAMS)\ncheck: convert\n\t@echo PASS: convert-1\n\t@echo PASS: convert-2\n",
    ),
    ("viewer.c", "#include <no-such-library.h>\n"),
    (
        "always.c",
        "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv) { FILE *file = argc > 1 ? fopen(argv[1], \"rb\") : 0; char *one = malloc(1); return file ? one[argc] : 0; }\n",
    ),
    (
        "convert.c",
        "#include <stdio.h>\n#include <string.h>\nint main(int argc, char **argv) { char text[64], copy[8]; if (argc < 3) return puts(\"usage: convert -e FILE\") < 0; FILE *file = strcmp(argv[1], \"-e\") ? 0 : fopen(argv[2], \"rb\"); if (!file) return 2; size_t size = fread(text, 1, 64, file); for (size_t at = 0; at < size; at++) copy[at] = text[at]; return copy[0] == 'x'; }\n",
    ),
    (
        "prompt.c",
        "#include <stdio.h>\n#include <sys/stat.h>\nint main(int argc, char **argv) { char copy[8]; int at = 0, c = 0; struct stat in; fstat(0, &in); if (argv[1] || !argc || !S_ISREG(in.st_mode)) return 2; while (c != 'm') { c = getchar(); if (c != EOF) copy[at++] = c; } return copy[0]; }\n",
    ),
    ("samples/one.txt", "one"),
    ("samples/two.txt", "two"),
];

#[test]
fn the_program_is_found_among_those_that_fail_mislead_or_want_an_option() {
    let scene = Scene::new();
    write(&scene, "programs", &PROGRAMS);
    let pov = [("crash.txt", "a text of more than eight letters\n")];
    write(&scene, ".", &pov);
    let told = scene.plain(&["init", "programs", "--pov", "crash.txt"]);
    assert_eq!(told.code, Some(0), "{told:#?}");
    for line in [
        "  it failed: ",
        "PoV: \"$TREE\"/always \"$POV\": in doubt, an empty input brings it too: ",
        "PoV: \"$TREE\"/prompt <\"$POV\": in doubt, it does not end on an empty input: ",
        "PoV: \"$TREE\"/convert -e \"$POV\": ok, it crashes: AddressSanitizer: stack-buffer-overflow",
        "  ok 2 files, none crashes",
    ] {
        assert!(told.stderr.contains(line), "{line}: {told:#?}");
    }
    let task = fs::read_to_string(scene.patchwright.scratch("task.toml")).unwrap();
    assert!(
        task.contains("CXXFLAGS-}\" always convert prompt'\n"),
        "{task}"
    );
    assert!(task.contains("# 2 tests pass, 0 fail"), "{task}");
}

#[test]
fn flags_that_reach_no_compiler_are_told() {
    let scene = Scene::new();
    let tree = project(&scene);
    let makefile = "all:\n\tcc -o records harness.c records.c\n";
    fs::write(tree.join("Makefile"), makefile).unwrap();
    let told = scene.plain(&["init", "project", "--language", "jaca"]);
    assert_eq!(told.code, Some(2), "{told:#?}");
    assert!(told.stderr.contains("did you mean java?"), "{told:#?}");
    let told = scene.plain(&["init", "project", "--language", "cpp"]);
    assert_eq!(told.code, Some(0), "{told:#?}");
    let line = "CFLAGS did not reach the compiler";
    assert!(told.stderr.contains(line), "{told:#?}");
    assert!(told.stdout.contains("no tests were found"), "{told:#?}");
    let task = fs::read_to_string(scene.patchwright.scratch("task.toml")).unwrap();
    assert!(
        task.contains("\n# No program of it holds a sanitizer"),
        "{task}"
    );
    // Its Makefile has no tests.
    assert!(!task.contains("\ntest = "), "{task}");
}

/// A reader that leaks with any input, and the report of a crash in the same function that only
/// another program shows.
const LEAKY: [(&str, &str); 3] = [
    (
        "leaky/read.c",
        "#include <stdlib.h>\nint read_all(int n) {\n  char *volatile kept = malloc(n + 1);\n  kept[0] = 'x';\n  kept = NULL;\n  \
         return n;\n}\nint main(int n, char **v) {\n  (void)v;\n  return n > 1 ? read_all(n) - n : 2;\n}\n",
    ),
    ("leaky/Makefile", "read: read.c\n\t$(CC) -o read read.c\n"),
    (
        "report.txt",
        "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x5020000d4cd3 at pc 0x1 bp 0x2 sp 0x3\n\
         READ of size 1 at 0x5020000d4cd3 thread T0\n    #0 0x1 in next_byte /src/read.c:9:3\n    \
         #1 0x2 in read_all /src/read.c:4:3\n    #2 0x3 in main /src/read.c:9:3\n",
    ),
];

#[test]
fn a_leak_beside_the_reported_crash_is_another_one() {
    let scene = Scene::new();
    write(&scene, ".", &LEAKY);
    write(&scene, ".", &[("poc.bin", "x")]);
    let arguments = ["init", "leaky", "--pov", "poc.bin", "--crash", "report.txt"];
    let told = scene.plain(&arguments);
    assert_eq!(told.code, Some(1), "{told:#?}");
    let line = "another crash, not the reported one: LeakSanitizer: memory-leak in read_all";
    assert!(told.stderr.contains(line), "{told:#?}");
    // A leak that only the PoV brings is kept for the last.
    let main = "#include <stdio.h>\n#include <stdlib.h>\nint main(int n, char **v) { FILE *file = n > 1 ? fopen(v[1], \"rb\") : 0; int at = file ? fgetc(file) : EOF;";
    let leak = "char *volatile kept = at == EOF ? NULL : malloc(9); kept = NULL; return 0;";
    let crash = "volatile int all[9] = {0}; return at == EOF ? 0 : all[9 + at % 2];";
    let [leak, crash] = [leak, crash].map(|end| format!("{main} {end} }}\n"));
    let files = [("read.c", leak.as_str()), ("longer.c", &crash)];
    write(&scene, "leaky", &files);
    write(&scene, "leaky", &[("Makefile", "all: read longer\n")]);
    let told = scene.plain(&["init", "leaky", "--pov", "poc.bin", "--force"]);
    assert_eq!(told.code, Some(0), "{told:#?}");
    for line in [
        "read \"$POV\": in doubt, a leak may not be the input's: LeakSanitizer: ",
        "longer \"$POV\": ok, it crashes: AddressSanitizer: stack-buffer-overflow",
    ] {
        assert!(told.stderr.contains(line), "{line}: {told:#?}");
    }
}
