//! Ways to hand an input to Java code that is no program of the build: the `main` that a trace or
//! a report shows, and a launcher of ours that calls a method of a library.

use super::harnesses::Harness;
use super::options::path_of;
use crate::common::is_plain;
use patchwright_crash::{CrashReport, Frame};
use patchwright_retrieval::{FILE_SIZE_LIMIT, Index};
use patchwright_source::{Tree, TreePath, regex};
use std::collections::BTreeSet;
use std::path::Path;

/// Where builds and their preparation leave classes, and the libraries that they need.
const CLASSES: &str =
    "$OUT/launcher:$OUT/classes:$OUT/classes/java/main:$OUT/test-classes:$OUT/dependency/*:$OUT";
/// Our launcher, and its name in the task's folder.
const LAUNCHER: (&str, &str) = ("Launcher.java", include_str!("Launcher.java"));
/// Methods that are called, from the outermost.
const METHODS: usize = 5;
/// Callers of a trace's outermost method: how far up they are looked for, how many are found, and
/// how many of those are called, so that methods of the trace have their turn.
const UP: u32 = 2;
const FOUND: usize = 64;
const CALLERS: usize = 3;
/// The name of the method that a program starts with.
const MAIN: &str = "main";

/// Returns ways for a crash: the methods of the tree that its trace shows, the outermost first, and
/// then the class with a `main` that the report itself holds; without a report, programs of the tree.
/// They know no exceptions by which the library refuses an input: a right patch may end in one.
pub(super) fn ways(root: &Path, report: Option<&CrashReport>, log: Option<&str>) -> Vec<Harness> {
    let methods = report
        .map(|report| methods(root, report))
        .unwrap_or_default();
    let called = methods.iter().filter_map(|method| {
        let (class, method) = method.rsplit_once('.')?;
        way(class, method)
    });
    let ways = called.take(METHODS);
    let programs = log.is_none().then(|| programs(root));
    let ways = ways.chain(log.and_then(of_report));
    ways.chain(programs.into_iter().flatten()).collect()
}

/// Returns the programs of a tree: classes outside its tests with a `main`, those with the shortest
/// path first.
fn programs(root: &Path) -> Vec<Harness> {
    let Ok(tree) = Tree::open(root) else {
        return Vec::new();
    };
    let mut files = tree.files();
    files.retain(|path| path.extension() == Some("java") && !path.is_test());
    files.sort_by_key(|path| path.as_str().len());
    let program = |path: &TreePath| {
        let text = tree.read(path).ok()?;
        let text = text.decode(text.bytes());
        let package = regex!(r"(?m)^\s*package\s+([\w.]+)").captures(&text);
        let package = package.map_or_else(String::new, |found| format!("{}.", &found[1]));
        let class = path.file_name().strip_suffix(".java")?;
        let has_main = text.contains("static void main(");
        way(&format!("{package}{class}"), MAIN).filter(|_| has_main)
    };
    files.iter().filter_map(program).take(METHODS).collect()
}

/// Returns the methods of the tree that led to a crash, each once, the outermost first. A Java
/// machine keeps the innermost 1024 frames of a stack: where that of a recursion begins within the
/// tree, methods that call the outermost one come before it, the nearest first.
fn methods(root: &Path, report: &CrashReport) -> Vec<String> {
    let files = Tree::open(root).map(|tree| tree.files());
    let files = files.unwrap_or_default();
    let in_tree = |file: &str| path_of(file, &files).is_some();
    let own = |frame: &&Frame| frame.file.as_deref().is_some_and(in_tree);
    let frames = report.stacks.first().map(|stack| stack.frames.as_slice());
    let frames = frames.unwrap_or_default();
    let name = |frame: &Frame| frame.function.replace('$', ".");
    let outermost = frames.last().filter(|_| report.is_stack_overflow());
    let cut = outermost.filter(own).map(name);
    let callers = cut.and_then(|method| callers(root, &method));
    let mut methods = callers.unwrap_or_default();
    methods.truncate(CALLERS);
    methods.extend(frames.iter().rev().filter(own).map(name));
    let mut seen = BTreeSet::new();
    methods.retain(|method| seen.insert(method.clone()));
    methods
}

/// Returns the methods that call one, without tests; none where the tree cannot be indexed.
fn callers(root: &Path, method: &str) -> Option<Vec<String>> {
    let cache = tempfile::tempdir().ok()?;
    let index = Index::open(root, cache.path(), FILE_SIZE_LIMIT).ok()?;
    let calls = index.callers(method, UP, FOUND).ok()?;
    let sure = calls.into_iter().filter(|call| !call.by_name);
    let callers = sure.filter_map(|call| call.caller);
    let callers = callers.filter(|caller| !caller.path.is_test());
    let names = callers.map(|caller| caller.qualified());
    Some(names.filter(|name| name != method).collect())
}

/// Returns the way by a method; none where a name is no plain one: it becomes part of a command.
fn way(class: &str, method: &str) -> Option<Harness> {
    // The launcher takes a dot for the dollar of a nested class.
    let class = class.replace('$', ".");
    let called = shlex::try_quote(method).ok()?;
    (is_name(&class) && (method == "<init>" || is_name(method))).then_some(())?;
    if method == MAIN {
        return Some(Harness::java(class.clone(), &class, None));
    }
    let words = format!("Launcher {class} {called}");
    let name = format!("{class}.{method}");
    Some(Harness::java(name, &words, Some(LAUNCHER)))
}

/// Tells whether a name of a report means nothing to a shell.
fn is_name(name: &str) -> bool {
    !name.is_empty() && is_plain(name, "._")
}

/// Returns the class with a `main` that the text of a report holds, as a program that reads a file.
fn of_report(log: &str) -> Option<Harness> {
    let blocks = log.split("```").skip(1).step_by(2);
    let source = blocks
        .filter_map(|block| Some(block.split_once('\n')?.1))
        .find(|block| block.contains(" main(String") && block.contains("args[0]"))?;
    let word = |key: &str, ends: &[char]| {
        let (_, rest) = source.split_once(key)?;
        let word = rest.split(ends).next()?.trim();
        is_name(word).then(|| word.to_owned())
    };
    let class = word("class ", &[' ', '{', '\n'])?;
    let name = match word("package ", &[';']) {
        Some(package) => format!("{package}.{class}"),
        None => class.clone(),
    };
    let file = format!("{class}.java");
    Some(Harness::java(name.clone(), &name, Some((&file, source))))
}

impl Harness {
    /// A class that is called with these words, and its source where it is none of the build.
    fn java(name: String, words: &str, source: Option<(&str, &str)>) -> Self {
        let compiled = source.map_or_else(String::new, |(file, _)| {
            format!(r#"javac -cp "{CLASSES}" -d "$OUT"/launcher "$TASK"/{file}"#)
        });
        let beside = source.map(|(file, text)| (file.to_owned(), text.to_owned()));
        Self {
            name,
            link: compiled,
            feed: format!(r#"java -cp "{CLASSES}" {words} "$POV""#),
            beside: beside.into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LAUNCHER, ways};
    use std::fs;

    #[test]
    fn methods_of_the_tree_are_called_from_the_outermost() {
        let folder = tempfile::tempdir().unwrap();
        let sources = folder.path().join("src/main/java/org/acme");
        fs::create_dir_all(&sources).unwrap();
        for name in ["Fold", "Reader"] {
            fs::write(sources.join(format!("{name}.java")), "class X {}").unwrap();
        }
        let trace = "Exception in thread \"main\" java.lang.StringIndexOutOfBoundsException: 4\n\tat java.base/java.lang.String.charAt(String.java:1)\n\tat org.acme.Reader.next(Reader.java:7)\n\tat org.acme.Fold.read(Fold.java:3)\n\tat org.other.Main.main(Main.java:5)\n";
        let report = patchwright_crash::read_leading(trace);
        let found = ways(folder.path(), report.as_ref(), Some(trace));
        let names: Vec<&str> = found.iter().map(|way| way.name.as_str()).collect();
        assert_eq!(names, ["org.acme.Fold.read", "org.acme.Reader.next"]);
        assert!(
            found[0]
                .feed
                .ends_with(r#" Launcher org.acme.Fold read "$POV""#)
        );
        assert!(found[0].link.ends_with(r#" "$TASK"/Launcher.java"#));
        for (class, method, expected) in [
            ("a.B$C", "<init>", Some(" Launcher a.B.C '<init>' \"$POV\"")),
            ("a.B", "main", Some(" a.B \"$POV\"")),
            ("a.B;id", "f", None),
            ("a.B", "lambda$f$0", None),
            ("a.B", "`id`", None),
        ] {
            let feed = super::way(class, method).map(|way| way.feed);
            let ends = feed
                .as_deref()
                .zip(expected)
                .map(|(feed, end)| feed.ends_with(end));
            assert_eq!(ends, expected.map(|_| true), "{class} {method}: {feed:?}");
            assert_eq!(feed.is_some(), expected.is_some(), "{class} {method}");
        }
    }

    #[test]
    fn without_a_trace_programs_of_the_tree_are_called() {
        let folder = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let main = "{ public static void main(String[] args) {} }";
        file(
            "src/org/acme/Show.java",
            &format!("package org.acme;\nclass Show {main}"),
        );
        file("Main.java", &format!("class Main {main}"));
        file("src/org/acme/Fold.java", "package org.acme;\nclass Fold {}");
        file("test/ShowTest.java", &format!("class ShowTest {main}"));
        let found = ways(folder.path(), None, None);
        let names: Vec<&str> = found.iter().map(|way| way.name.as_str()).collect();
        assert_eq!(names, ["Main", "org.acme.Show"]);
        assert!(found[1].feed.ends_with(r#" org.acme.Show "$POV""#));
    }

    #[test]
    fn callers_of_a_cut_trace_are_called_first() {
        let folder = tempfile::tempdir().unwrap();
        let text = "package org.acme;\nclass Fold {\n  static int all(String x) {\n    return read(x);\n  }\n  private static int read(String x) {\n    return read(x) + more(x);\n  }\n}\n";
        let sources = folder.path().join("org/acme");
        fs::create_dir_all(&sources).unwrap();
        fs::write(sources.join("Fold.java"), text).unwrap();
        let frame = "\tat org.acme.Fold.read(Fold.java:7)\n".repeat(9);
        let cut = format!("java.lang.StackOverflowError\n{frame}");
        for (end, expected) in [
            ("", &["org.acme.Fold.all", "org.acme.Fold.read"][..]),
            (
                "\tat org.other.Main.main(Main.java:5)\n",
                &["org.acme.Fold.read"],
            ),
        ] {
            let trace = format!("{cut}{end}");
            let report = patchwright_crash::read_leading(&trace);
            let found = ways(folder.path(), report.as_ref(), Some(&trace));
            let names: Vec<&str> = found.iter().map(|way| way.name.as_str()).collect();
            assert_eq!(names, expected);
        }
    }

    #[test]
    fn a_program_that_the_report_holds_is_run() {
        let folder = tempfile::tempdir().unwrap();
        let text = "It fails:\n```java\npackage a.b;\npublic class Main {\n  public static void main(String[] args) { new X(args[0]); }\n}\n```\n";
        let found = ways(folder.path(), None, Some(text));
        let [way] = &found[..] else {
            panic!("{found:?}");
        };
        assert!(way.feed.ends_with(r#" a.b.Main "$POV""#));
        assert_eq!(way.beside[0].0, "Main.java");
        assert!(ways(folder.path(), None, Some("```\nclass A {}\n```")).is_empty());
    }

    #[test]
    fn results_are_told_by_their_public_methods() {
        let folder = tempfile::tempdir().unwrap();
        let run = |program: &str, words: &[&str]| {
            let mut command = std::process::Command::new(program);
            let ran = command.args(words).current_dir(folder.path()).output();
            let ran = ran.unwrap();
            assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
            (ran.status.code(), String::from_utf8(ran.stdout).unwrap())
        };
        let page = "import java.util.*;\npublic class Page {\n  public static Page open(String text) { new Exception(\"logged\").printStackTrace(); throw new IllegalArgumentException(\"no page\"); }\n  Page parent; List<Page> parts = new ArrayList<>(); String text;\n  public static Page parse(String text) { Page page = new Page(); page.text = text.trim();\n    if (text.contains(\" \")) for (String word : text.trim().split(\" \")) { Page part = parse(word); part.parent = page; page.parts.add(part); }\n    return page; }\n  public Page getParent() { return parent; }\n  public List<Page> getParts() { return parts; }\n  public String getText() { return text; }\n  public Set<Page> getSet() { return new HashSet<>(parts); }\n  public int[] getSizes() { return new int[] {text.length()}; }\n  public int getNone() { throw new IllegalStateException(\"at \" + hashCode()); }\n  public int take() { throw new Error(); }\n  public String toString() { return \"Page{}\"; }\n}\n";
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("Page.java", page);
        write(LAUNCHER.0, LAUNCHER.1);
        write("input", "a b\n");
        run("javac", &["Page.java", "Launcher.java"]);
        let none = "getNone=java.lang.IllegalStateException";
        let expected = format!(
            "Page{{}}\n#0 Page {none} getParent=null getParts=2[#1, #2] getSet=2[..] getSizes=[3] getText=a b\n\
             #1 Page {none} getParent=#0 getParts=0[] getSet=0[] getSizes=[1] getText=a\n\
             #2 Page {none} getParent=#0 getParts=0[] getSet=0[] getSizes=[1] getText=b\n"
        );
        let parse = ["Launcher", "Page", "parse", "input"];
        assert_eq!(run("java", &parse), (Some(0), expected));
        let refused = "refused: java.lang.IllegalArgumentException: no page\n".to_owned();
        let open = ["Launcher", "Page", "open", "input"];
        assert_eq!(run("java", &open), (Some(3), refused));
    }
}
