//! Probes in a whole repair: questions of a model about the running program, and
//! the answers.

use crate::scene::{GOOD, QUERIES, STILL_CRASHES, Scene, events};
use patchwright_patcher::reply;
use patchwright_tests::model::ScriptedModel;
use std::fs;
use std::path::Path;

/// Two queries and two probes, one of them no good.
const FIRST: &str = "<analysis>How long is the name?</analysis>
<queries>
<symbol>copy_name</symbol>
<file>records.h</file>
<probe file=\"records.c\" line=\"8\">length</probe>
<probe file=\"records.c\" line=\"8\">strlen(text)</probe>
</queries>";

/// The first probe again, the same of the last attempt, and a line that is not reached.
const SECOND: &str = "<analysis>And now?</analysis>
<probe file=\"records.c\" line=\"8\">length</probe>
<probe file=\"records.c\" line=\"8\" build=\"attempt\">length > 15 + 2</probe>
<probe file=\"records.c\" line=\"9\">name[0]</probe>";

#[test]
fn probes_tell_what_the_program_does() {
    let scene = Scene::new();
    let model = ScriptedModel::start([FIRST, STILL_CRASHES, SECOND, GOOD]).unwrap();
    let told = scene.run(&model, &["--out", "out"]);
    told.expect("verified", 0, "");
    let asked = model.requests();
    for (request, words) in [
        (
            1,
            vec![
                "### probe 1 `length` at records.c:8 in the unpatched program",
                "reached once:\n  hit 1: 35",
                "Then the program ended with exit status 1.",
                "### probe 2 `strlen(text)` at records.c:8",
                "not asked: calls are not made",
                "NAME_LIMIT 15",
            ],
        ),
        (
            3,
            vec![
                "The same probe was answered in round 1.",
                "### probe 2 `length > 15 + 2` at records.c:8 in the program with the patch of attempt 1",
                "hit 1: 1",
                "line 9 is never reached",
            ],
        ),
    ] {
        let last = asked[request].last();
        for word in words {
            assert!(
                last.contains(word),
                "request {request} lacks {word:?}: {last}"
            );
        }
        assert!(!last.contains("0x6"), "an address: {last}");
    }
    assert_eq!(told.report["rounds"], 2, "probes are part of a round");
    let journal =
        events(&fs::read_to_string(scene.patchwright.scratch("out/journal.jsonl")).unwrap());
    let probed = journal
        .iter()
        .filter(|event| event["name"] == "probe" && event["kind"] == "outcome");
    assert_eq!(probed.count(), 2);
}

#[test]
fn a_dry_run_offers_no_probes_and_accepts_none() {
    let scene = Scene::new().edit(
        "task.toml",
        "id = \"records\"",
        "id = \"records\"\nmode = \"dry-run\"",
    );
    let model = ScriptedModel::start([FIRST, QUERIES, GOOD]).unwrap();
    scene.run(&model, &[]).expect("proposed", 0, "");
    let asked = model.requests();
    assert!(!asked[0].messages()[0].1.contains("<probe"));
    assert!(asked[1].last().contains("probes cannot be answered"));
}

#[test]
fn every_documented_probe_is_answered() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../prompts/probing.md");
    let document = fs::read_to_string(document).unwrap();
    // Those of C; the program below is written for them.
    let (_, ours) = document.split_once("{%- else %}").unwrap();
    let examples: Vec<&str> = ours
        .lines()
        .filter(|line| line.starts_with("<probe"))
        .collect();
    let read = reply::read(&examples.join("\n"), false);
    assert_eq!(read.probes.len(), examples.len());
    assert!(examples.len() >= 3 && read.probes.iter().any(|probe| probe.build.is_some()));
    // The program of the examples: a record whose length is wrong at line 12 of src/a.c.
    let program = "#include \"records.h\"\n#include <stdlib.h>\n#include <string.h>\nstruct one { int length; struct one *next; char text[4]; };\nint records_read(const char *text, size_t length, struct record **first) {\n  struct one *record = calloc(1, sizeof *record);\n  *first = 0;\n  if (length == 0) return 0;\n  record->length = (int)length % 10;\n  record->text[0] = text[0];\n  if (length > 20)\n    record->text[record->length] = 0;\n  int kept = record->text[0];\n  free(record);\n  return kept ? 3 : 2;\n}\nvoid records_free(struct record *first) { (void)first; }\nconst struct record *records_find(const struct record *first, const char *name) { (void)name; return first; }\n";
    let scene = Scene::new();
    fs::create_dir(scene.path("src/src")).unwrap();
    let scene = scene
        .write("src/src/a.c", program)
        .edit("Makefile", "records.c", "src/a.c")
        .edit("task.toml", "test = '\"$OUT\"/harness'", "test = 'true'");
    let attempt = "<patch><explanation>x</explanation><edit file=\"src/a.c\" lines=\"11-11\">\n<original>\n  if (length > 20)\n</original>\n<replacement>\n  if (length > 21)\n</replacement>\n</edit></patch>";
    let good = attempt.replace("> 21", "> 20000");
    let ask = examples.join("\n");
    let model = ScriptedModel::start([attempt, &ask, &good]).unwrap();
    scene.run(&model, &[]);
    let asked = model.requests();
    let last = asked[2].last();
    let headings = last.lines().filter(|line| line.starts_with("### probe"));
    assert_eq!(headings.count(), examples.len(), "{last}");
    assert_eq!(
        last.matches("reached once:").count(),
        examples.len(),
        "{last}"
    );
}
