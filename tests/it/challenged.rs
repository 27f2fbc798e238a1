//! Patches that a model challenges with inputs, differences that their author
//! contests, and the regression test that goes with a patch.

use crate::scene::{GOOD, Scene, Told, events};
use patchwright_tests::model::ScriptedModel;
use std::fs;

/// Refuses long names, and numbers of more than three digits with them, which no test
/// and no given input has.
const TOO_STRICT: &str = "<patch>
<explanation>A line is refused when it is too long.</explanation>
<edit file=\"records.c\" lines=\"27-27\">
<original>
  size_t name = (size_t)(equals - line);
</original>
<replacement>
  size_t name = (size_t)(equals - line);
  if (name > NAME_LIMIT || length - name > 4) return -1;
</replacement>
</edit>
</patch>";

/// Mends only the first line.
const FIRST_LINE: &str = "--- a/records.c
+++ b/records.c
@@ -25,6 +25,7 @@
   int value;
   if (!equals || equals == line) return -1;
   size_t name = (size_t)(equals - line);
+  if (name > NAME_LIMIT && !*first) return -1;
   if (read_number(equals + 1, length - name - 1, &value)) return -1;
   struct record *record = malloc(sizeof *record);
   record->name = copy_name(line, name);
";

/// A longer number, another long name, one that is written by a script, and one that
/// cannot be made.
const INPUTS: &str = "<challenge form=\"text\" why=\"four digits\">
one=1234
</challenge>
<challenge form=\"hex\" why=\"sixteen letters\">61616161616161616161616161616161 3d31</challenge>
<challenge form=\"python\" why=\"a name of twenty letters in a second line\">
import sys
sys.stdout.write(\"one=1\\n\" + \"x\" * 20 + \"=2\\n\")
</challenge>
<challenge form=\"hex\">no hex</challenge>";

const CONTEST: &str = "<contest>Numbers have three digits at most.</contest>";

fn scene() -> Scene {
    Scene::new().with("PATCHWRIGHT_LIMITS__CHALLENGES", "1")
}

fn out_of(scene: &Scene) -> std::path::PathBuf {
    scene.patchwright.scratch("out")
}

/// The only doubt of the first attempt.
fn doubt(told: &Told) -> &serde_json::Value {
    let doubts = &told.rung(1, "same elsewhere")["doubts"];
    let open = doubts.as_array().into_iter().flatten();
    let mut open = open.filter(|doubt| doubt["settled"].is_null());
    open.next()
        .unwrap_or_else(|| panic!("no open doubt: {told:#?}"))
}

#[test]
fn a_challenge_shows_what_no_mutation_finds_and_the_author_may_contest_it() {
    let scene = scene();
    let model = ScriptedModel::start([TOO_STRICT, INPUTS, CONTEST, CONTEST]).unwrap();
    let out = out_of(&scene);
    let told = scene.run(&model, &["--out", &out.display().to_string()]);
    told.expect("plausible", 6, "challenge 1.1");
    let rung = told.rung(1, "same elsewhere");
    assert_eq!(rung["counts"]["challenges: variants"], 2, "{told:#?}");
    assert_eq!(rung["counts"]["challenges: controls"], 1, "{told:#?}");
    let doubt = doubt(&told);
    assert_eq!(doubt["contested"], "Numbers have three digits at most.");
    let asked = model.requests();
    assert_eq!(asked.len(), 4);
    assert!(
        asked[3]
            .last()
            .contains("a person decides about your reason")
    );
    let question = asked[2].last();
    for words in ["one=1234", "one: 1234", "-1 records", "<contest>"] {
        assert!(question.contains(words), "{words}: {question}");
    }
    // The log says what each input showed, behind what the comparison without them found.
    let log = fs::read_to_string(out.join("logs/attempt-1-same-elsewhere.log")).unwrap();
    for line in [
        "challenge 1.1 is accepted by the unpatched program",
        "challenge 1.2 makes the unpatched program crash as the PoV does",
        "challenge 1.4 could not be made: it is no hex",
    ] {
        assert!(log.lines().any(|one| one == line), "{line}: {log}");
    }
    // The input lies in the folder, and the story tells of it.
    let written = fs::read_to_string(out.join("report.json")).unwrap();
    let doubts = fs::read_dir(out.join("doubts")).unwrap();
    let doubts = doubts.map(|entry| entry.unwrap().path());
    let file = doubts
        .into_iter()
        .find(|path| fs::read(path).unwrap() == b"one=1234");
    let name = file.unwrap().file_name().unwrap().display().to_string();
    assert!(written.contains(&format!("doubts/{name}")), "{name}");
    let log = told.finished.stderr.clone();
    assert!(
        log.contains("contests a difference, which is left to a person"),
        "{log}"
    );
    let shown = scene.plain(&["show", told.run()]);
    assert!(
        shown.stdout.contains("contested: Numbers"),
        "{}",
        shown.stdout
    );

    // Nobody is asked again when the run is replayed, and it ends the same.
    let again = scene.json(&["replay", told.run()]);
    again.expect("plausible", 6, "challenge 1.1");
    assert_eq!(model.requests().len(), 4);
}

const ACCEPT: &str = "<verdict>accept</verdict><reason>fine</reason>";
const OBJECT: &str = "<verdict>object</verdict><reason>1234 is a number like any other</reason>";

#[test]
fn a_critic_decides_about_what_is_contested() {
    let scene = scene()
        .with("PATCHWRIGHT_CRITIC__CALLS", "12")
        .with("PATCHWRIGHT_CRITIC__MODEL", "critic")
        .with("PATCHWRIGHT_MODEL__MAX_OUTPUT_TOKENS", "4000");
    // Its author, the challenge, two reviews without a verdict, the contest, the critic; then a
    // better patch.
    let answers = [
        TOO_STRICT, INPUTS, "hm", "hm", CONTEST, OBJECT, GOOD, ACCEPT,
    ];
    let model = ScriptedModel::start(answers).unwrap();
    let told = scene.run(&model, &[]);
    told.expect("verified", 0, "attempt 2 holds every rung");
    let first = told.rung(1, "same elsewhere");
    assert_eq!(first["holds"], false);
    let reason = first["reason"].as_str().unwrap();
    assert!(
        reason.contains("1234 is a number like any other"),
        "{reason}"
    );
    // The inputs that count are run on the second attempt too; nobody wrote new ones.
    let second = told.rung(2, "same elsewhere");
    assert_eq!(second["counts"]["challenges: variants"], 2, "{told:#?}");
    let asked = model.requests();
    assert_eq!(asked.len(), 8);
    // The critic decides from the input, without a word of the author.
    assert!(asked[5].last().contains("one=1234"));
    for words in [
        "You repair bugs",
        "Numbers have three digits",
        "A line is refused",
    ] {
        assert!(!asked[2].last().contains(words) && !asked[5].last().contains(words));
    }
}

#[test]
fn a_foreign_patch_is_challenged_when_a_model_is_named() {
    let scene = scene();
    fs::write(scene.patchwright.scratch("a.diff"), FIRST_LINE).unwrap();
    let model = ScriptedModel::start([INPUTS]).unwrap();
    let endpoint = model.base_url();
    let judged = ["judge", "records", "--patch", "a.diff"];
    let mut asking = judged.to_vec();
    asking.extend(["--model", "scripted", "--base-url", &endpoint]);
    let told = scene.json(&asking);
    assert_eq!(told.report["answers"], "live from scripted");
    assert_eq!(model.requests().len(), 1, "{told:#?}");
    let question = model.requests()[0].last();
    for words in [
        "heap-buffer-overflow",
        "!*first",
        "copy_name",
        "harness: %zu bytes",
    ] {
        assert!(question.contains(words), "{words}: {question}");
    }
    told.expect("no_patch", 1, "");
    let rung = told.rung(1, "same elsewhere");
    let reason = rung["reason"].as_str().unwrap();
    assert!(
        reason.contains("challenge 1.3 reaches the same defect"),
        "{told:#?}"
    );
    // The answer is taken from the journal, and the run ends the same.
    let again = scene.json(&["replay", told.run()]);
    again.expect("no_patch", 1, "");
    // Without a model nobody is asked.
    scene.json(&judged);
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn a_critic_settles_the_differences_of_a_foreign_patch_that_it_was_shown() {
    let limit = "name > NAME_LIMIT && !*first";
    let strict = FIRST_LINE.replace(limit, "name > NAME_LIMIT || length - name > 4");
    let judged = |opinions: &[&str]| {
        let scene = scene().with("PATCHWRIGHT_CRITIC__CALLS", "12");
        fs::write(scene.patchwright.scratch("a.diff"), &strict).unwrap();
        let model = ScriptedModel::start([INPUTS].iter().chain(opinions).copied()).unwrap();
        let endpoint = model.base_url();
        let mut asking = vec!["judge", "records", "--patch", "a.diff"];
        asking.extend(["--model", "scripted", "--base-url", &endpoint]);
        let told = scene.json(&asking);
        let asked = model.requests();
        assert_eq!(asked.len(), 1 + opinions.len(), "{told:#?}");
        for words in ["one=1234", "one: 1234", "on each of the following inputs"] {
            assert!(asked[1].last().contains(words), "{words}: {told:#?}");
        }
        (told, asked.last().unwrap().last())
    };
    let (told, _) = judged(&[ACCEPT]);
    told.expect("verified", 0, "attempt 1 holds every rung");
    let doubts = told.rung(1, "same elsewhere")["doubts"].as_array().unwrap();
    let mut settled = doubts.iter().filter_map(|doubt| doubt["settled"].as_str());
    assert!(
        settled.any(|why| why.contains("the critic was shown it")),
        "{told:#?}"
    );
    // An objection refutes when a run shows it, and is left to a person when none does.
    let naming = |input: &str| format!("{OBJECT}\n<challenge>{input}</challenge>");
    let upheld = format!("{OBJECT}<shown>objection 1.1</shown>");
    let (told, question) = judged(&[&naming("two=5678"), &upheld]);
    told.expect("no_patch", 1, "");
    for words in [
        "two: 5678",
        "-1 records",
        "accepted by the unpatched program",
    ] {
        assert!(question.contains(words), "{words}: {question}");
    }
    let (told, question) = judged(&[&naming("two=56"), &upheld]);
    told.expect(
        "plausible",
        6,
        "no answer of the unpatched program shows it: 1234 is a number",
    );
    assert!(question.contains("Nothing of this shows"), "{question}");
    let (told, _) = judged(&[OBJECT]);
    told.expect(
        "plausible",
        6,
        "no answer of the unpatched program shows it: 1234 is a number",
    );
}

/// Cuts a long name off in silence.
const CUT_OFF: &str = "--- a/records.c
+++ b/records.c
@@ -6,5 +6,6 @@
 static char *copy_name(const char *text, size_t length) {
   char *name = malloc(NAME_LIMIT + 1);
+  if (length > NAME_LIMIT) length = NAME_LIMIT;
   memcpy(name, text, length);
   name[length] = '\\0';
   return name;
";

#[test]
fn a_foreign_patch_that_stands_alone_among_candidates_is_told_with_an_input() {
    let scene = Scene::new().with("PATCHWRIGHT_LIMITS__CANDIDATES", "2");
    fs::write(scene.patchwright.scratch("a.diff"), CUT_OFF).unwrap();
    let other = GOOD.replace("name > NAME_LIMIT", "name >= NAME_LIMIT + 1");
    let model = ScriptedModel::start([GOOD, &other]).unwrap();
    let endpoint = model.base_url();
    let mut asking = vec!["judge", "records", "--patch", "a.diff"];
    asking.extend(["--model", "scripted", "--base-url", &endpoint]);
    let told = scene.json(&asking);
    assert_eq!(model.requests().len(), 2, "{told:#?}");
    told.expect("plausible", 6, "2 independent candidates agree");
    let rung = told.rung(1, "same elsewhere");
    let doubts = rung["doubts"].as_array().unwrap().iter();
    let mut alone = doubts.filter(|doubt| {
        let what = doubt["what"].as_str().unwrap();
        what.contains("2 independent candidates agree with each other and not with this patch")
    });
    let doubt = alone.next().unwrap_or_else(|| panic!("{told:#?}"));
    assert!(doubt["what"].as_str().unwrap().contains("-1 records"));
    assert!(doubt["input"].is_string() && doubt["settled"].is_null());
    // What is judged is the patch that was given.
    assert_eq!(told.report["best"]["number"], 1);
    let diff = told.report["best"]["diff"].as_str().unwrap();
    assert!(diff.contains("length = NAME_LIMIT"), "{diff}");
    assert_eq!(told.report["attempts"].as_array().unwrap().len(), 3);
    // The same answers in the same order give the same end.
    scene
        .json(&["replay", told.run()])
        .expect("plausible", 6, "2 independent candidates agree");
}

/// A test in the manner of the project, and one that passes without the patch too.
const TEST: &str = "<patch><create file=\"tests/long_name.sh\">
printf 'a_name_of_more_than_fifteen_letters=7' >\"$WORK\"/long
\"$OUT\"/harness \"$WORK\"/long | grep -q '^-1 records'
</create></patch>";
const EMPTY_TEST: &str = "<patch><create file=\"tests/none.sh\">
true
</create></patch>";

#[test]
fn a_patch_comes_with_a_regression_test() {
    for (reply, script) in [(TEST, false), (EMPTY_TEST, true), (GOOD, true)] {
        let scene = Scene::new()
            .with("PATCHWRIGHT_LIMITS__REGRESSION_TESTS", "1")
            .edit(
                "task.toml",
                "test = '\"$OUT\"/harness'",
                "test = '\"$OUT\"/harness && for each in \"$TREE\"/tests/*.sh; do sh -eu \"$each\"; done'",
            );
        fs::create_dir_all(scene.path("src/tests")).unwrap();
        let scene = scene.write("src/tests/none_yet.sh", "printf '' >\"$WORK\"/a\n");
        let model = ScriptedModel::start([GOOD, reply]).unwrap();
        let out = out_of(&scene);
        let told = scene.run(&model, &["--out", &out.display().to_string()]);
        told.expect("verified", 0, "");
        let question = model.requests()[1].last();
        for words in ["tests/none_yet.sh", "for each in", "1: printf"] {
            assert!(question.contains(words), "{words}: {question}");
        }
        let test = &told.report["best"]["test"];
        assert_eq!(
            (&test["holds"], &test["script"]),
            (&true.into(), &script.into()),
            "{told:#?}"
        );
        let diff = fs::read_to_string(out.join("test.diff")).unwrap();
        let file = if script {
            "tests/regression-long-name.txt.sh"
        } else {
            "tests/long_name.sh"
        };
        assert!(diff.contains(&format!("+++ b/{file}")), "{diff}");
        let patch = fs::read_to_string(out.join("patch.diff")).unwrap();
        assert!(!patch.contains("tests/"), "{patch}");
        let exported = scene.plain(&["export", told.run(), "--format", "diff"]);
        assert_eq!(exported.stdout, format!("{patch}{diff}"));
        let mail = scene.plain(&["export", told.run(), "--format", "mbox"]);
        assert!(
            mail.stdout.contains(&format!("+++ b/{file}")),
            "{}",
            mail.stdout
        );
        let journal = events(&fs::read_to_string(out.join("journal.jsonl")).unwrap());
        let proofs = journal
            .iter()
            .filter(|event| event["kind"] == "outcome" && event["name"] == "prove");
        // A test of a model that does not hold gives way to the PoV.
        assert_eq!(proofs.count(), if script { 2 } else { 1 });
    }
}
