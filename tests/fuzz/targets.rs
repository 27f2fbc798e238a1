//! The fuzz targets: each reader of untrusted text, and its corpus.

use crate::http::Daemon;
use patchwright_crash::CrashReport;
use patchwright_crash::test_report::TestReport;
use patchwright_patcher::{Guard, Patch, prepare, read_diff_bytes, reply};
use patchwright_source::{Tree, UNKNOWN_FUNCTION};
use regex::Regex;
use std::fmt::Debug;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// One reader of untrusted text.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Inputs to begin with.
    pub(crate) corpus: Vec<Vec<u8>>,
    /// Reads one input and returns what kind of answer it was; panics at a fault.
    pub(crate) run: Reader,
}

/// Reads one input and returns the kind of its answer.
type Reader = Box<dyn Fn(&[u8]) -> u64>;
/// Makes a target, by its name.
type Maker = (&'static str, fn() -> Target);

/// Returns the targets whose names hold one of these words, or all.
pub(crate) fn targets(words: &[String]) -> Vec<Target> {
    let makers: [Maker; 7] = [
        ("crash", crashes),
        ("pasted", pasted),
        ("test-report", test_reports),
        ("junit", junit),
        ("diff", diffs),
        ("reply", replies),
        ("http", http),
    ];
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    let chosen = makers.iter().filter(|(name, _)| wanted(name));
    chosen.map(|(_, make)| make()).collect()
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn ends_in(name: &str, extension: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|end| end == extension)
}

/// Reads all files below a folder whose names pass.
fn files(folder: &str, pass: fn(&str) -> bool) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut folders = vec![repository(folder)];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries.flatten() {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if pass(&entry.file_name().to_string_lossy()) {
                found.push((entry.path(), fs::read(entry.path()).unwrap()));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "{folder} has no input");
    found.into_iter().map(|(_, bytes)| bytes).collect()
}

/// Returns a number for what an answer is made of: its words without numbers.
fn shape(answer: &impl Debug) -> u64 {
    let text = format!("{answer:?}");
    let mut hasher = DefaultHasher::new();
    let words = text.split(|c: char| !c.is_alphabetic()).take(200);
    words.for_each(|word| word.hash(&mut hasher));
    hasher.finish()
}

fn crashes() -> Target {
    Target {
        name: "crash",
        corpus: files("tests/fixtures/crashes/reports", |_| true),
        run: Box::new(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            let Some(report) = patchwright_crash::parse(&text) else {
                return 0;
            };
            assert_eq!(
                Some(&report),
                patchwright_crash::parse(&text).as_ref(),
                "read twice"
            );
            assert_stands(&report, &text);
            let frames = report.stacks.iter().map(|stack| stack.frames.len().min(3));
            let frames: Vec<usize> = frames.take(3).collect();
            shape(&(report.tool, &report.kind, report.access.is_some())) ^ shape(&frames)
        }),
    }
}

/// Fails where a frame has a name that does not stand in the text: nothing is invented.
fn assert_stands(report: &CrashReport, text: &str) {
    let text = searched(text);
    for frame in report.stacks.iter().flat_map(|stack| &stack.frames) {
        let function = frame.function.as_str();
        assert!(
            function == UNKNOWN_FUNCTION || text.contains(&squeezed(function)),
            "{function} is not in the text"
        );
        // A log has the folders of a Java file as its package, and may name only the class.
        let file = frame.file.as_deref().unwrap_or_default();
        let stands = |part: &str| text.contains(&squeezed(part));
        let (folder, name) = file.rsplit_once('/').unwrap_or_default();
        let named = stands(name) || name.strip_suffix(".java").is_some_and(stands);
        let packaged = named && stands(&folder.replace('/', "."));
        assert!(stands(file) || packaged, "{file} is not in the text");
    }
}

/// A text in which names are searched: as it is, and with the dots that J9 writes as slashes. Jira
/// shows what stands between two low lines as emphasis.
fn searched(text: &str) -> String {
    let text = squeezed(&text.replace("<em>", "_").replace("</em>", "_"));
    format!("{text}\n{}", text.replace('/', "."))
}

/// Drops what stands between the parts of a name that was wrapped, quoted, coloured or escaped.
fn squeezed(text: &str) -> String {
    static COLOUR: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\x1b\[[0-?]*[ -/]*[@-~]|\[(?:\d+;)*\d+m").unwrap());
    let kept = |c: &char| !c.is_whitespace() && !c.is_control() && !"\\>|".contains(*c);
    let text = COLOUR.replace_all(text, "");
    text.chars().filter(kept).collect()
}

fn pasted() -> Target {
    Target {
        name: "pasted",
        corpus: files("tests/fixtures/crashes/forms", |name| name == "report.txt"),
        run: Box::new(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            let reports = patchwright_crash::read_pasted(&text);
            for report in &reports {
                assert_stands(report, &text);
            }
            let words = patchwright_crash::read_words(&text).unwrap_or_default();
            let bare = searched(&text);
            let files = words.files.iter().map(|place| &place.file);
            let commands = words.commands.iter();
            let commands =
                commands.flat_map(|command| command.arguments.iter().chain([&command.program]));
            let names = [
                &words.functions,
                &words.classes,
                &words.names,
                &words.options,
            ]
            .into_iter()
            .chain([&words.versions, &words.inputs]);
            for name in names.flatten().chain(files).chain(commands) {
                assert!(bare.contains(&squeezed(name)), "{name} is not in the text");
            }
            let kinds: Vec<_> = reports
                .iter()
                .map(|report| (report.tool, &report.kind))
                .collect();
            shape(&(
                kinds,
                words.kind,
                words.functions.len().min(3),
                words.commands.len().min(2),
            ))
        }),
    }
}

fn test_reports() -> Target {
    Target {
        name: "test-report",
        corpus: files("tests/fixtures/results/reports", |name| {
            !ends_in(name, "xml")
        }),
        run: Box::new(|bytes| {
            let log = TestReport::read_log(&String::from_utf8_lossy(bytes));
            let file = TestReport::read_file("a.trs", bytes);
            shape(&(log, file))
        }),
    }
}

fn junit() -> Target {
    Target {
        name: "junit",
        corpus: files("tests/fixtures/results/reports", |name| {
            ends_in(name, "xml")
        }),
        run: Box::new(|bytes| shape(&TestReport::read_file("a.xml", bytes))),
    }
}

/// The tree that diffs and replies are about, as a folder that stays.
fn tree() -> Tree {
    Tree::open(&repository("tests/fixtures/programs/records/src")).unwrap()
}

fn prepared(patch: &Patch, tree: &Tree) -> u64 {
    let guard = Guard::new(&[]).unwrap();
    match prepare(tree, patch, &guard, &|_| true) {
        Err(refusals) => {
            let rules: Vec<_> = refusals.iter().map(|refusal| refusal.rule).collect();
            shape(&rules)
        }
        Ok(prepared) => {
            let again = read_diff_bytes(tree, &prepared.diff_bytes, &guard, &|_| true);
            let again = again.map(|again| again.changes);
            assert_eq!(
                Ok(prepared.changes),
                again,
                "the diff gives the same changes"
            );
            1
        }
    }
}

/// A right diff for the tree of the other inputs.
const DIFF: &str = "--- a/records.c\n+++ b/records.c\n@@ -25,6 +25,7 @@\n   int value;\n   if (!equals || equals == line) return -1;\n   size_t name = (size_t)(equals - line);\n+  if (name > NAME_LIMIT) return -1;\n   if (read_number(equals + 1, length - name - 1, &value)) return -1;\n   struct record *record = malloc(sizeof *record);\n   record->name = copy_name(line, name);\n";

fn diffs() -> Target {
    let mut corpus = files("tests/judge", |name| ends_in(name, "diff"));
    corpus.extend(vec![DIFF.as_bytes().to_vec(); corpus.len()]);
    let tree = tree();
    Target {
        name: "diff",
        corpus,
        run: Box::new(move |bytes| prepared(&Patch::from_diff(bytes), &tree)),
    }
}

fn replies() -> Target {
    let mut corpus = files("patcher/tests/fixtures/edits", |name| {
        name.starts_with("reply")
    });
    let edit = "<patch><edit file=\"records.c\" lines=\"27-27\">\n<original>\n  size_t name = (size_t)(equals - line);\n</original>\n<replacement>\n  if (name > 3) return -1;\n</replacement>\n</edit></patch>";
    corpus.extend(vec![edit.as_bytes().to_vec(); 20]);
    let tree = tree();
    Target {
        name: "reply",
        corpus,
        run: Box::new(move |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let read = reply::read(&text, bytes.len() % 2 == 0);
            let problems = shape(&read.problems);
            let kinds: Vec<&str> = read
                .queries
                .iter()
                .map(|query| query.kind.as_str())
                .collect();
            let placed = read.patch.map_or(0, |patch| prepared(&patch, &tree));
            problems ^ shape(&kinds) ^ placed
        }),
    }
}

/// Requests: the first line is method, path and content type, the rest the body.
const REQUESTS: [&str; 10] = [
    "POST /api/v1/tasks application/json\n{\"id\":\"a\",\"language\":\"c\",\"source\":{\"archive\":\"https://192.0.2.1/a.tar.gz\",\"sha256\":\"00\"},\"commands\":{\"build\":\"make\",\"pov\":\"./a\"},\"pov\":[{\"file\":\"a\",\"inline\":\"AAAA\"}],\"limits\":{\"usd\":1.5,\"wall\":\"30m\",\"attempts\":3}}",
    "POST /api/v1/tasks multipart/form-data; boundary=x\n--x\r\nContent-Disposition: form-data; name=\"task\"\r\n\r\nid = \"b\"\nlanguage = \"c\"\n[source]\npath = \"src\"\n[commands]\nbuild = \"make\"\n[[pov]]\nfile = \"a\"\n\r\n--x\r\nContent-Disposition: form-data; name=\"files\"; filename=\"src/a.c\"\r\n\r\nint x;\r\n--x--\r\n",
    "GET /api/v1/tasks?limit=10&state=running&after=x text/plain\n",
    "GET /api/v1/tasks/a text/plain\n",
    "POST /api/v1/tasks/a/cancel application/json\n{}",
    "GET /api/v1/tasks/a/report text/plain\n",
    "POST /v1/task/ application/json\n{\"message_id\":\"6e1f9d0e-70a1-4a2c-9a67-2f2d3a1f0d11\",\"message_time\":1700000000000,\"tasks\":[{\"type\":\"full\",\"task_id\":\"6e1f9d0e-70a1-4a2c-9a67-2f2d3a1f0d12\",\"deadline\":1900000000000,\"focus\":\"a\",\"project_name\":\"a\",\"harnesses_included\":true,\"metadata\":{},\"source\":[{\"type\":\"repo\",\"url\":\"https://192.0.2.1/a.tar.gz\",\"sha256\":\"00\"}]}]}",
    "POST /v1/sarif/ application/json\n{\"message_id\":\"6e1f9d0e-70a1-4a2c-9a67-2f2d3a1f0d11\",\"message_time\":1700000000000,\"broadcasts\":[{\"sarif_id\":\"6e1f9d0e-70a1-4a2c-9a67-2f2d3a1f0d11\",\"task_id\":\"6e1f9d0e-70a1-4a2c-9a67-2f2d3a1f0d12\",\"metadata\":{},\"sarif\":{\"runs\":[]}}]}",
    "POST /v1/patch/ application/json\n{\"project_id\":\"6e1f9d0e-70a1-4a2c-9a67-2f2d3a1f0d12\",\"pov_id\":\"6e1f9d0e-70a1-4a2c-9a67-2f2d3a1f0d13\",\"blobs\":[\"AAAA\"],\"sarif\":{},\"type\":\"full\"}",
    "DELETE /v1/task/6e1f9d0e-70a1-4a2c-9a67-2f2d3a1f0d12/ application/json\n",
];

fn http() -> Target {
    let daemon = Daemon::start();
    Target {
        name: "http",
        corpus: REQUESTS.map(|request| request.as_bytes().to_vec()).into(),
        run: Box::new(move |bytes| shape(&daemon.ask(bytes))),
    }
}
