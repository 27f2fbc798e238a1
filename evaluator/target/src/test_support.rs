//! Tiny programs for tests: one in C and one in Java, really built and run in a sandbox.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

use crate::Result;
use crate::local::LocalTarget;
use crate::runner::{
    Build, BuildKind, CommandLimits, Commands, Counted, Coverage, Observed, Pov, Target, TargetTask,
};
use patchwright_sandbox::IsolationChoice;
use patchwright_sandbox::test_host::host;
use patchwright_source::{Changes, Language, TreePath};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

impl Default for TargetTask {
    /// Creates the task of a program in C without a tree, a command and a PoV.
    fn default() -> Self {
        Self {
            tree: PathBuf::new(),
            task_folder: PathBuf::new(),
            language: Language::C,
            image: None,
            commands: Commands::default(),
            builds: BTreeMap::new(),
            povs: Vec::new(),
            harmless: Vec::new(),
            seen_as: None,
            limits: CommandLimits::default(),
        }
    }
}

impl Default for CommandLimits {
    /// Creates limits that suit tiny programs; those of a task come from the settings.
    fn default() -> Self {
        let minutes = Duration::from_mins;
        Self {
            prepare: minutes(15),
            build: minutes(15),
            pov: minutes(1),
            test: minutes(15),
            memory: 8 << 30,
            processes: 2048,
            output: 4 << 20,
            file: 2 << 30,
            disk: 10 << 30,
            jobs: 2,
            robust: Duration::from_secs(8),
            same: Duration::from_secs(45),
            executions: 1,
            compared: 400,
            reached: 3,
        }
    }
}

/// Builds the C program, and writes down what was compiled.
pub const MAKEFILE: &str = "$(OUT)/prog: $(OUT)/main.o $(OUT)/parse.o\n\t$(CC) $(CFLAGS) $^ -o $@\n$(OUT)/%.o: %.c\n\techo built $< >>$(OUT)/what\n\t$(CC) $(CFLAGS) -c $< -o $@\n";
const MAIN: &str = "#include <stdio.h>\nint parse(const unsigned char *, long);\nint main(int n, char **v) {\n  unsigned char b[64];\n  FILE *f = fopen(v[1], \"rb\");\n  if (!f) return 2;\n  long k = fread(b, 1, 64, f);\n  printf(\"Running: %ld\\n\", k);\n  return parse(b, k) < 0;\n}\n";
/// Writes as many bytes as the input says into eight.
pub const PARSE: &str = "#include <stdlib.h>\n#include <string.h>\nint parse(const unsigned char *b, long n) {\n  if (n < 2) return -1;\n  char *p = malloc(8);\n  memset(p, 1, b[0]);\n  int r = p[0];\n  free(p);\n  return r;\n}\n";
/// Replaces the first by the second to repair it.
pub const FIX: (&str, &str) = ("if (n < 2)", "if (n < 2 || b[0] > 8)");

/// Creates the task of the C program.
///
/// # Panics
/// A file cannot be written, or the test asks for something that is not there.
pub fn task(folder: &Path) -> TargetTask {
    let tree = folder.join("tree");
    fs::create_dir_all(&tree).unwrap();
    for (name, text) in [("Makefile", MAKEFILE), ("main.c", MAIN), ("parse.c", PARSE)] {
        fs::write(tree.join(name), text).unwrap();
    }
    fs::write(folder.join("pov.bin"), [200, 0]).unwrap();
    fs::write(folder.join("good.bin"), [3, 0]).unwrap();
    let flags = "-fsanitize=address -g -O1".to_owned();
    TargetTask {
        tree,
        task_folder: folder.to_path_buf(),
        language: Language::C,
        commands: Commands {
            prepare: None,
            build: r#"make -s CFLAGS="$CFLAGS" OUT="$OUT""#.to_owned(),
            pov: Some(r#""$OUT"/prog "$POV""#.to_owned()),
            test: Some(r#""$OUT"/prog "$TASK"/good.bin"#.to_owned()),
            reports: Vec::new(),
        },
        builds: BTreeMap::from([(
            "address".to_owned(),
            BTreeMap::from([("CFLAGS".to_owned(), flags)]),
        )]),
        povs: vec![Pov {
            file: folder.join("pov.bin"),
            timeout: Some(std::time::Duration::from_secs(4)),
            ..Pov::default()
        }],
        ..TargetTask::default()
    }
}

/// Makes a file in a task's folder of which each reader takes a line, as long as it is held:
/// what a program writes is gone after its run, and so it can behave otherwise the next time.
///
/// # Panics
/// The file cannot be made.
pub fn lines(folder: &Path, name: &str, text: &str) -> fs::File {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.join(name);
    let _ = fs::remove_file(&path);
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let mut held = fs::File::options()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    held.write_all(text.as_bytes()).unwrap();
    held
}

/// Takes the first line of a text; a text of one line crashes it.
pub const LINES: &str = "package p;
public class Lines {
    public static String first(String text, boolean upper) {
        int end = text.indexOf('\\n');
        String line = text.substring(0, end);
        return upper ? line.toUpperCase() : line;
    }
}
";
/// Its harness, and tests that look at nothing.
const JAVA: [(&str, &str); 2] = [
    (
        "Harness.java",
        "import java.nio.file.*;
public class Harness {
    public static void main(String[] a) throws Exception {
        p.Lines.first(new String(Files.readAllBytes(Paths.get(a[0]))), false);
    }
}
",
    ),
    (
        "Tests.java",
        "public class Tests {
    public static void main(String[] a) throws Exception {
        for (String text : new String[] {\"a\\nb\", \"one\\ntwo\", \"three\\n\\n\"}) {
            p.Lines.first(text, false);
            p.Lines.first(text, true);
        }
        System.out.println(\"1..1\\nok 1 - lines\");
    }
}
",
    ),
];

/// Creates the task of the Java program.
///
/// # Panics
/// A file cannot be written, or the test asks for something that is not there.
pub fn java_task(folder: &Path) -> TargetTask {
    let tree = folder.join("tree");
    fs::create_dir_all(tree.join("p")).unwrap();
    for (name, text) in JAVA.into_iter().chain([("p/Lines.java", LINES)]) {
        fs::write(tree.join(name), text).unwrap();
    }
    fs::write(folder.join("pov"), "of one line").unwrap();
    let run = |class: &str| format!("java -cp \"$OUT/classes:$OUT/tests\" {class}");
    TargetTask {
        tree,
        task_folder: folder.to_path_buf(),
        language: Language::Java,
        commands: Commands {
            build: "javac -g -d \"$OUT/classes\" p/Lines.java\njavac -cp \"$OUT/classes\" -d \"$OUT/tests\" Harness.java Tests.java".to_owned(),
            pov: Some(run("Harness \"$POV\"")),
            test: Some(run("Tests")),
            ..Commands::default()
        },
        povs: vec![Pov {
            file: folder.join("pov"),
            ..Pov::default()
        }],
        ..TargetTask::default()
    }
}

/// Opens a task with its scratch folder below this one.
///
/// # Panics
/// A file cannot be written, or the test asks for something that is not there.
pub async fn open(task: TargetTask, folder: &Path) -> LocalTarget {
    let scratch = folder.join("scratch");
    LocalTarget::open(task, IsolationChoice::Bubblewrap, host(), &scratch)
        .await
        .unwrap()
}

/// Builds the C program with code in it that attacks what watches it.
///
/// # Panics
/// A file cannot be written, or the test asks for something that is not there.
pub async fn attacking(folder: &Path, code: &str) -> (LocalTarget, Build) {
    let task = task(folder);
    let headers =
        "#include <fcntl.h>\n#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\n";
    let text = headers.to_owned() + &PARSE.replace("if (n < 2)", code);
    fs::write(task.tree.join("parse.c"), text).unwrap();
    let target = open(task, folder).await;
    let unchanged = Changes::default();
    let build = target.build(&unchanged, "address", BuildKind::Clean);
    let build = build.await.unwrap();
    (target, build)
}

/// Runs the tests on a build with counters, and returns what they cover.
pub async fn covered_by_tests(
    target: &LocalTarget,
    build: &Build,
    counted: &Counted,
    most: Duration,
) -> Result<Option<Coverage>> {
    let asked = Observed {
        functions: Vec::new(),
        counted: counted.clone(),
        most,
    };
    let run = target.observed_run(build, None, &asked).await?;
    Ok(run.map(|run| run.coverage))
}

/// Replaces text of the C program.
pub fn changed(from: &str, to: &str) -> Changes {
    change("parse.c", PARSE.replace(from, to))
}

/// Replaces text of the Java program.
///
/// # Panics
/// A file cannot be written, or the test asks for something that is not there.
pub fn java_changed(from: &str, to: &str) -> Changes {
    let text = LINES.replace(from, to);
    assert_ne!(text, LINES);
    change("p/Lines.java", text)
}

/// Creates the change of one file.
///
/// # Panics
/// A file cannot be written, or the test asks for something that is not there.
pub fn change(path: &str, text: String) -> Changes {
    Changes {
        files: [(TreePath::new(path).unwrap(), text.into_bytes())].into(),
        ..Changes::default()
    }
}

/// Returns a part of a build's workspace, such as `out`.
///
/// # Panics
/// A file cannot be written, or the test asks for something that is not there.
pub fn part(build: &Build, part: &str) -> PathBuf {
    build.place().unwrap().part(part)
}
