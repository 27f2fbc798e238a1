//! Tests of the debugger: real programs of C, C++ and Java under gdb and the JDK's debugger.

use crate::inspect;
use crate::local::LocalTarget;
use crate::probe::{Expression, Probe};
use crate::runner::{Commands, Pov, Target, TargetTask};
use patchwright_sandbox::IsolationChoice;
use patchwright_sandbox::test_host::host;
use patchwright_source::{Changes, Language, TreePath};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

const C: &str = "#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { int count; const char *name; struct item *next; unsigned char raw[4]; };

static int sum(struct item *it, int n) {
  int total = 0;
  for (int i = 0; i < n; i++) {
    total += it->count * i;
  }
  return total;
}

int unused(int x) { return x; }

int main(int argc, char **argv) {
  struct item one = {3, \"hello\", 0, {1, 2, 200, 4}};
  char *text = malloc(8);
  int r = sum(&one, 20);
  printf(\"%d\\n\", r);
  memset(text, 1, 8 + argc);
  return text[0];
}
";

const CPP: &str = "#include <string>
#include <vector>
struct Shape { virtual ~Shape() {} int id = 4; };
struct Box : Shape { std::string tag = \"box\"; };
namespace geo {
int area(const std::vector<int> &sides, const Shape &shape, const std::string &name) {
  int sum = shape.id;
  for (int side : sides) sum += side;
  return sum + (int)name.size();
}
}
int main() {
  Box box;
  std::vector<int> sides{1, 2, 3};
  int sum = geo::area(sides, box, \"a name\");
  sides[sum] = 1;
  return sum;
}
";

const JAVA: &str = "package p;
import java.util.ArrayList;
import java.util.List;

public class Stack {
    private final List<String> names = new ArrayList<>();
    int[] sizes = {1, 2, 3};
    Stack next; static char mark = 'm';

    int sum(int n) {
        int total = 0;
        for (int i = 0; i < n; i++) {
            total += sizes[i % 3];
            names.add(\"n\" + i);
        }
        // a comment
        return total;
    }

    static void unused(int x) {
        System.out.println(x);
    }

    public static void main(String[] arguments) {
        Stack stack = new Stack();
        int t = stack.sum(20);
        stack.sizes[t] = 1;
    }
}
";

fn task(folder: &Path, language: &str, file: (&str, &str), build: &str, pov: &str) -> TargetTask {
    let path = folder.join("tree").join(file.0);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, file.1).unwrap();
    fs::write(folder.join("pov.bin"), "x").unwrap();
    TargetTask {
        tree: folder.join("tree"),
        task_folder: folder.to_path_buf(),
        language: Language::read(language).unwrap(),
        commands: Commands {
            build: build.to_owned(),
            pov: Some(pov.to_owned()),
            ..Commands::default()
        },
        povs: vec![Pov {
            file: folder.join("pov.bin"),
            timeout: Some(Duration::from_secs(20)),
            harness: Some("prog".to_owned()),
            ..Pov::default()
        }],
        builds: BTreeMap::new(),
        ..TargetTask::default()
    }
}

fn question(path: &str, line: u32, expression: &str) -> Probe {
    Probe {
        path: TreePath::new(path).unwrap(),
        line,
        expression: Expression::read(expression).unwrap(),
    }
}

/// Asks everything at once and compares; nothing may hold an address.
async fn check(
    target: &LocalTarget,
    path: &str,
    changes: Option<&Changes>,
    cases: &[(u32, &str, &str)],
) {
    let baseline = target.baseline().await.unwrap();
    let questions: Vec<Probe> = cases
        .iter()
        .map(|(line, expression, _)| question(path, *line, expression))
        .collect();
    let answers = inspect(target, &baseline, changes, None, &questions)
        .await
        .unwrap();
    assert_eq!(answers.len(), cases.len());
    for ((line, expression, expected), answer) in cases.iter().zip(&answers) {
        assert!(
            answer.contains(expected),
            "{expression} at {line}: {answer}"
        );
        assert!(
            !answer.contains("0x") && !answer.contains("id="),
            "{answer}"
        );
    }
    let again = inspect(target, &baseline, changes, None, &questions)
        .await
        .unwrap();
    assert_eq!(answers, again, "the same run gives the same answers");
}

async fn open(task: TargetTask, folder: &Path) -> LocalTarget {
    let scratch = folder.join("scratch");
    LocalTarget::open(task, IsolationChoice::Bubblewrap, host(), &scratch)
        .await
        .unwrap()
}

const C_BUILD: &str = r#"gcc -g -O0 -fsanitize=address src/a.c -o "$OUT"/prog"#;

#[tokio::test]
async fn gdb_looks_at_c() {
    let folder = tempfile::tempdir().unwrap();
    let task = task(
        folder.path(),
        "c",
        ("src/a.c", C),
        C_BUILD,
        r#""$OUT"/$HARNESS "$POV""#,
    );
    let target = open(task, folder.path()).await;
    check(&target, "src/a.c", None, &[
        (9, "total", "reached 20 times:\n  hits 1-2: 0\n  hit 3: 3\n  hit 4: 9\n  hit 5: 18\n  hit 6: 30\n  hit 7: 45\n  hits 8-16: left out\n  hit 17: 360\n  hit 18: 408\n  hit 19: 459\n  hit 20: 513\n  least 0 (hit 1), most 513 (hit 20)\nThen the program ended with exit status 1."),
        (9, "it->name", "hits 1-20: a pointer to 'hello'"),
        (9, "it->next->count", "hits 1-20: (cannot be read: it leads to null)"),
        (9, "(long)it", "hits 1-20: an address"),
        (20, "one", "hit 1: {count = 3, name = a pointer to 'hello', next = null, raw = '\\x01\\x02\\xc8\\x04'}"),
        (21, "r == 570 && one.raw[2] > 128", "hit 1: 1"),
        (21, "nope", "No symbol \"nope\" in current context"),
        (21, "(unused)(3)", "would call a function of the program"),
        (13, "one", "line 13 holds no code and was not come to; the nearest lines with code are 12 and 14"),
        (14, "x", "line 14 is never reached; the program ended with exit status 1"),
    ])
    .await;

    let longer = C.replace(
        "  int total = 0;",
        "  if (!it) return 0;\n  if (n > 6) n = 6;\n  int total = 0;",
    );
    let changed = Changes {
        files: [(TreePath::new("src/a.c").unwrap(), longer.into_bytes())].into(),
        ..Changes::default()
    };
    check(
        &target,
        "src/a.c",
        Some(&changed),
        &[
            (9, "total", "reached 6 times:"),
            (14, "x", "line 14 [patched line 16] is never reached"),
        ],
    )
    .await;
}

/// `n` is dead where the second call is made; the compiler forgets it.
const OPTIMISED: &str = "#include <stdlib.h>
#define TWICE(x) ((x) + (x))
static __attribute__((noinline)) int use(int v) { return abs(v) + 1; }
static __attribute__((noinline)) int f(int a) {
  int n = use(a) * 3;
  int m = use(n);
  int k = use(m + 7);
  return k + use(k);
}
int main(int argc, char **argv) {
  char *text = malloc(1);
  return text[f(argc)];
}
";

#[tokio::test]
async fn gdb_looks_around_where_the_compiler_kept_no_value() {
    let folder = tempfile::tempdir().unwrap();
    let build = r#"gcc -g -O1 -fsanitize=address src/a.c -o "$OUT"/prog"#;
    let pov = r#""$OUT"/prog "$POV""#;
    let target = open(
        task(folder.path(), "c", ("src/a.c", OPTIMISED), build, pov),
        folder.path(),
    )
    .await;
    check(&target, "src/a.c", None, &[
        (8, "n + 1", "reached once:\n  hit 1: optimised out\nThe compiler kept no value of it there. At line 6 of the same function, reached once:\n  hit 1: 10\nThen the program ended with exit status 1."),
        (8, "k", "reached once:\n  hit 1: 18\nThen the program ended"),
        (6, "m", "hit 1: optimised out\nThe compiler kept no value of it there. At line 7 of the same function, reached once:\n  hit 1: 10"),
        (6, "LIMIT", "No symbol \"LIMIT\" in current context: it is not in scope there, or a macro"),
    ])
    .await;
}

/// The compiler writes what follows the loop twice: gdb alone stops at the way on which the
/// loop is not entered.
const TWICE: &str = "#include <stdlib.h>
int most = 7;
int parts(const char *t, int n) {
  int count = 1;
  for (int i = 0; i < n; i++) count += t[i] == ',';
  if (n && t[0] == '!') return -1;
  if (count > most) count = most;
  char *p = malloc(8);
  p[0] = n && t[0] == '?' ? 2 : 1;
  count += p[0];
  return count;
}
int main(int argc, char **argv) {
  char *text = malloc(1);
  return text[parts(argv[0], argc)];
}
";

#[tokio::test]
async fn gdb_stops_at_all_places_that_the_compiler_made_of_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let build = r#"gcc -g -O1 -fsanitize=address src/a.c -o "$OUT"/prog"#;
    let pov = r#""$OUT"/prog "$POV""#;
    let task = task(folder.path(), "c", ("src/a.c", TWICE), build, pov);
    let target = open(task, folder.path()).await;
    let answers = [(
        7,
        "most",
        "reached once:\n  hit 1: 7\nThen the program ended",
    )];
    check(&target, "src/a.c", None, &answers).await;
}

#[tokio::test]
async fn gdb_looks_at_cpp_through_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let build = r#"g++ -g -O0 -fsanitize=address src/a.cc -o "$OUT"/prog"#;
    let pov = r#"true; cat "$POV" | "$OUT"/prog"#;
    let target = open(
        task(folder.path(), "c++", ("src/a.cc", CPP), build, pov),
        folder.path(),
    )
    .await;
    check(
        &target,
        "src/a.cc",
        None,
        &[
            (
                9,
                "sides",
                "hit 1: std::vector of length 3, capacity 3 {1, 2, 3}",
            ),
            (9, "name", "hit 1: 'a name'"),
            (9, "sides[1] + shape.id", "hit 1: 6"),
            (
                8,
                "sum",
                "reached once:\n  hit 1: 4\nThen the program ended",
            ),
            (15, "box", "hit 1: {Shape = {id = 4}, tag = 'box'}"),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_command_without_a_program_of_the_build_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let pov = r#"test -e "$OUT"/prog; sh -c 'kill -SEGV $$'"#;
    let task = task(folder.path(), "c", ("src/a.c", C), C_BUILD, pov);
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let asked = [question("src/a.c", 9, "total")];
    let answers = inspect(&target, &baseline, None, None, &asked)
        .await
        .unwrap();
    assert!(
        answers[0].contains("runs no program of the build"),
        "{answers:?}"
    );
}

#[tokio::test]
async fn the_debugger_of_the_jdk_looks_at_java() {
    let folder = tempfile::tempdir().unwrap();
    let path = "src/main/java/p/Stack.java";
    let build = r#"javac -g -d "$OUT" src/main/java/p/*.java"#;
    let pov = r#"java -XX:TieredStopAtLevel=1 -cp "$OUT" p.Stack"#;
    let target = open(
        task(folder.path(), "java", (path, JAVA), build, pov),
        folder.path(),
    )
    .await;
    check(&target, path, None, &[
        (13, "total", "reached 20 times:\n  hit 1: 0\n  hit 2: 1\n  hit 3: 3\n"),
        (17, "this", "hit 1: Stack {names = ArrayList {elementData = Object[22], size = 20, modCount = 20}, sizes = int[3] {1, 2, 3}, next = null}"),
        (17, "names.size", "hit 1: 20"),
        (17, "nope", "(Name unknown: nope)"),
        (13, "i > 2 && total < 10", "hits 1-3: false\n  hits 4-6: true\n  hits 7-20: false"),
        (13, "(byte)(total + 120) < 0 || !(i != 5)", "hits 1-5: false\n  hits 6-20: true"),
        (13, "(i)!= 0 ? sizes[i % sizes.length] : -1", "hit 1: -1\n  hit 2: 2\n  hit 3: 3\n  hit 4: 1"),
        (17, "next != null && next.sizes[7] > 0", "hit 1: false"),
        (17, "next == null | this.next == this", "hit 1: true"),
        (17, "sizes[3]", "hit 1: (no element 3: the array has 3)"),
        (17, "total / (sizes[0] - 1)", "hit 1: (division by zero)"),
        (17, "Stack.mark == 'm' && p.Stack.mark > 64 && mark != '\\n'", "hit 1: true"),
        (17, "total >>> 1 ^ 3L << 40 >> 40", "hit 1: 16"),
        (17, "total * 1.5f - ~n", "hit 1: 79.5"),
        (17, "(double)total / 2", "hit 1: 19.5"),
        (17, "names == null ? 0 : names.size << 31 - 4", "hit 1: -1610612736"),
        (17, "total && true", "hit 1: (a condition is missing: this is neither true nor false)"),
        (17, "sizes@2", "hit 1: (Java has no @ there)"),
        (27, "t >= stack.sizes.length", "hit 1: true\nThen the program ended with exit status 1."),
        (27, "stack.next.sizes", "hit 1: ("),
        (16, "total", "line 16 holds no code and was not come to; the nearest lines with code are 14 and 17"),
        (21, "x", "line 21 is never reached; the program ended with exit status 1"),
    ])
    .await;
}
