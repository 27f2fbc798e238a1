//! Code search over the Model Context Protocol: an editor's session on standard
//! input and output.

use crate::scene::Scene;
use patchwright_tests::command::Patchwright;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

const SOURCE: &str = "#include <string.h>
struct record { char name[8]; int length; };

/* Copies a name into a record. */
int copy_name(struct record *to, const char *from)
{
  to->length = (int)strlen(from);
  memcpy(to->name, from, to->length);
  return to->length;
}

int copy_text(struct record *to, const char *from)
{
  to->length = (int)strlen(from);
  memcpy(to->name, from, to->length);
  return 0;
}

int read_record(struct record *to, const char *line)
{
  if (line == 0) return -1;
  return copy_name(to, line);
}
";

const CRASH: &str = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60200000001a at pc 0x1 bp 0x2 sp 0x3
WRITE of size 20 at 0x60200000001a thread T0
    #0 0x1 in memcpy (/out/x+0x1)
    #1 0x1 in copy_name /build/src/records.c:8:3
    #2 0x2 in read_record /build/src/records.c:22:10
";

/// One connection to `patchwright mcp`.
struct Session {
    patchwright: Patchwright,
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    number: u64,
    /// Messages that answer nothing.
    heard: Vec<Value>,
}

impl Session {
    fn start() -> Self {
        let patchwright = Patchwright::new().expect("patchwright builds");
        let tree = patchwright.scratch("tree");
        fs::create_dir_all(tree.join("src")).unwrap();
        fs::write(tree.join("src/records.c"), SOURCE).unwrap();
        Self::serving(patchwright, &["mcp", "--repo", "tree"])
    }

    fn serving(patchwright: Patchwright, arguments: &[&str]) -> Self {
        let mut child = patchwright
            .command(arguments)
            .unwrap()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut session = Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()).lines(),
            patchwright,
            child,
            number: 0,
            heard: Vec::new(),
        };
        let hello = session.request(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": { "name": "a test", "version": "1" } }),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "patchwright");
        assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
        assert!(hello["result"]["capabilities"]["tools"].is_object());
        session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        session
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.number += 1;
        let id = self.number;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let line = self.output.next().expect("an answer").unwrap();
            // Nothing but messages of the protocol may stand on standard output.
            let message: Value = serde_json::from_str(&line).expect("one message a line");
            if message["id"] == id {
                return message;
            }
            self.heard.push(message);
        }
    }

    fn result(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.request(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        );
        assert!(answer["error"].is_null(), "{tool}: {answer}");
        answer["result"].clone()
    }

    fn text(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    fn source(&self) -> PathBuf {
        self.patchwright.scratch("tree/src/records.c")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.input = None;
        let ended = self.child.wait();
        if !std::thread::panicking() {
            assert!(
                ended.unwrap().success(),
                "it ends well when the client hangs up"
            );
        }
    }
}

/// A call of every tool, and what its answer must hold.
fn calls() -> [(&'static str, Value, &'static str); 17] {
    let named = |name: &str| json!({ "name": name });
    let request = json!({ "request": "why does copy_name overflow" });
    let lines = json!({ "path": "src/records.c", "lines": "2" });
    let rule = json!({ "rule": "<pattern>memcpy($$$)</pattern>" });
    let pattern = json!({ "pattern": "memcpy($A, $B, $C)" });
    let deep = json!({ "name": "read_record", "depth": 2 });
    let ends = json!({ "from": "read_record", "to": "copy_name" });
    let sql = json!({ "statement": "SELECT count(*) FROM symbols WHERE kind = 'function'" });
    [
        ("context", request, "copy_name"),
        ("crash", json!({ "log": CRASH }), "src/records.c:8"),
        (
            "symbol",
            named("read_record"),
            "22:   return copy_name(to, line);",
        ),
        ("file", lines, "struct record {"),
        ("text", json!({ "text": "Copies a name" }), "src/records.c:"),
        (
            "search",
            json!({ "words": "copy names into records" }),
            "copy_name",
        ),
        ("pattern", pattern, "memcpy(to->name"),
        ("rule", rule, "memcpy(to->name"),
        ("references", named("copy_name"), "read_record"),
        ("callers", named("copy_name"), "read_record"),
        ("callees", deep, "copy_name"),
        ("path", ends, "read_record"),
        ("implementations", named("record"), "record"),
        ("similar", named("copy_name"), "copy_text"),
        ("flow", json!({ "expression": "copy_name:from" }), "from"),
        ("sql", sql, "3"),
        ("more", json!({ "query": 1 }), "all"),
    ]
}

#[test]
fn every_tool_answers_in_one_session() {
    let mut session = Session::start();
    let listed = session.request("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), calls().len());
    for (tool, arguments, expected) in calls() {
        let listed = tools.iter().find(|listed| listed["name"] == tool).unwrap();
        assert!(
            listed["description"].as_str().unwrap().len() > 30,
            "{listed}"
        );
        assert_eq!(listed["inputSchema"]["type"], "object");
        assert_eq!(listed["annotations"]["readOnlyHint"], true);
        let text = session.text(tool, &arguments);
        assert!(text.contains(expected), "{tool}: {text}");
    }
}

#[test]
fn answers_are_those_of_retrieve_and_follow_the_tree() {
    let mut session = Session::start();
    let over_mcp = session.text("callers", &json!({ "name": "copy_name" }));
    let by_command = session
        .patchwright
        .run(&["retrieve", "--repo", "tree", "callers:copy_name"])
        .unwrap();
    assert_eq!(over_mcp, by_command.stdout);
    // The same question again gets the code again: the agent may have forgotten it.
    let again = session.text("callers", &json!({ "name": "copy_name" }));
    assert_eq!(again, over_mcp.replace("### query 1", "### query 2"));
    let missed = session.text("symbol", &json!({ "name": "copy_new" }));
    assert!(missed.contains("nothing found"), "{missed}");
    let source = SOURCE.replace("copy_text", "copy_new");
    fs::write(session.source(), source).unwrap();
    let mut found = String::new();
    for _ in 0..200 {
        found = session.text("symbol", &json!({ "name": "copy_new" }));
        if found.contains("memcpy") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(
        found.contains("13: {") && found.contains("memcpy"),
        "{found}"
    );
}

#[test]
fn bad_calls_are_answered_and_the_session_goes_on() {
    let mut session = Session::start();
    let unknown = session.request("tools/call", &json!({ "name": "shell", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let long = "x".repeat(10_000);
    let wrong = [
        ("symbol", json!({}), "symbol needs name"),
        ("symbol", json!({ "name": "  " }), "empty"),
        (
            "callers",
            json!({ "name": "f", "depth": "deep" }),
            "a number",
        ),
        ("crash", json!({ "log": "all is well" }), "no crash report"),
        ("text", json!({ "text": long }), "at most 4000"),
        ("file", json!({ "path": "../../etc/passwd" }), "passwd"),
        (
            "sql",
            json!({ "statement": "DELETE FROM symbols" }),
            "not understood",
        ),
        (
            "more",
            json!({ "query": 99 }),
            "no earlier query has the number 99",
        ),
    ];
    let empty = ("symbol", json!({ "name": "no_such_name" }), "nothing found");
    let calls = wrong.into_iter().map(|call| (call, true));
    for ((tool, arguments, reason), is_error) in calls.chain([(empty, false)]) {
        let result = session.result(tool, &arguments);
        assert_eq!(result["isError"], is_error, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains(reason) && !text.contains("root:"),
            "{tool}: {text}"
        );
    }
    session
        .input
        .as_mut()
        .unwrap()
        .write_all(b"{ no json\n")
        .unwrap();
    let text = session.text("symbol", &json!({ "name": "record" }));
    assert!(text.contains("char name[8]"), "{text}");
}

/// Bounds the length of a name, and one that changes nothing that matters.
const FIX: &str = "--- a/records.c
+++ b/records.c
@@ -27,1 +27,2 @@
   size_t name = (size_t)(equals - line);
+  if (name > NAME_LIMIT) return -1;
";
const NO_FIX: &str = "--- a/records.c
+++ b/records.c
@@ -7,1 +7,1 @@
-  char *name = malloc(NAME_LIMIT + 1);
+  char *name = malloc(NAME_LIMIT + 2);
";

#[test]
fn an_agent_has_its_patch_judged() {
    let mut without = Session::start();
    let unknown = json!({ "name": "judge", "arguments": { "patch": FIX } });
    let refused = without.request("tools/call", &unknown);
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let patchwright = Scene::new().patchwright;
    let arguments = ["mcp", "--repo", "records/src", "--task", "records"];
    let mut session = Session::serving(patchwright, &arguments);
    let tools = session.request("tools/list", &json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap().clone();
    let judge = tools.iter().find(|tool| tool["name"] == "judge").unwrap();
    assert_eq!(judge["annotations"]["readOnlyHint"], false, "{judge}");
    let call = json!({ "name": "judge", "arguments": { "patch": FIX },
        "_meta": { "progressToken": 7 } });
    let answer = session.request("tools/call", &call);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("verified: ") && text.contains("  robust "),
        "{text}"
    );
    let steps: Vec<&Value> = session
        .heard
        .iter()
        .map(|heard| &heard["params"]["message"])
        .collect();
    assert!(
        steps.iter().any(|step| **step == "attempt 1: silent"),
        "{steps:?}"
    );
    // A patch that is refuted was judged all the same.
    let refuted = session.text("judge", &json!({ "patch": NO_FIX }));
    assert!(
        refuted.starts_with("no_patch: ") && refuted.contains("still crashes"),
        "{refuted}"
    );
    let empty = session.result("judge", &json!({ "patch": "nothing" }));
    assert_eq!(empty["isError"], true, "{empty}");
}
