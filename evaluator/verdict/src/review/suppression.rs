//! Rules against patches that hide the failure instead of preventing it.

use super::{Case, Finding, Weight};
use crate::review::code::bare;
use patchwright_source::{DiffLine, Side, TreePath, is_generated, regex};

/// Folders that hold harnesses, or tests that a patch may touch.
const HARNESS_FOLDERS: &[&str] = &["testing", "fuzz", "fuzzing", "fuzzers", "ossfuzz"];

/// Finds changes of tests, harnesses, build files and generated code.
pub(super) fn forbidden_place(case: &Case<'_>) -> Vec<Finding> {
    let Ok(path) = TreePath::new(case.file.path()) else {
        return Vec::new();
    };
    let mut folders = path.folder().split('/');
    let name = path.file_name().to_lowercase();
    let stem = name.split('.').next().unwrap_or(&name);
    let mut ends = ["_test", "_tests", "_fuzzer"].into_iter();
    let what = if path.is_test()
        || folders.any(|part| HARNESS_FOLDERS.contains(&part.to_lowercase().as_str()))
        || ends.any(|end| stem.ends_with(end))
    {
        "it changes a test or a harness"
    } else if path.is_build_file() {
        "it changes how the program is built"
    } else if is_generated(case.old) {
        "it changes generated code, which the next build may overwrite"
    } else {
        return Vec::new();
    };
    vec![Finding::new(case, None, what)]
}

/// Finds a handler of every exception that does not throw again.
pub(super) fn catches_everything(case: &Case<'_>) -> Vec<Finding> {
    let catch = regex!(
        r"catch\s*\(\s*(?:\.\.\.|(?:final\s+)?(?:[\w.]+\s*\|\s*)*(?:java\.lang\.)?(?:Throwable|Exception|RuntimeException|Error|StackOverflowError|OutOfMemoryError|VirtualMachineError)\b|(?:const\s+)?std::exception\b)"
    );
    let what = "it catches every exception and goes on as if nothing had happened";
    going_on(case, what, |_, _, code| catch.is_match(code))
}

/// Finds the added lines at which a wanted handler opens that does not throw.
fn going_on(
    case: &Case<'_>,
    what: &str,
    is_wanted: impl Fn(&[DiffLine], usize, &str) -> bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for hunk in case.file.hunks.iter().map(|hunk| &hunk.lines) {
        for (at, line) in hunk.iter().enumerate() {
            let rethrows = || {
                let block = handler(hunk.get(at..).unwrap_or_default());
                block.iter().any(|code| has_word(code, "throw"))
            };
            if line.side == Side::New && is_wanted(hunk, at, &bare(&line.text)) && !rethrows() {
                findings.push(Finding::new(case, Some(line), what));
            }
        }
    }
    findings
}

/// Finds a handler of the very exception that was reported which neither throws nor does in
/// another way what was interrupted: the fault stays, and that is left half done. By another
/// exception a method refuses its input: its handler may answer otherwise, but one that does nothing
/// accepts what was refused, unless a reader knows why it may.
pub(super) fn swallows_the_report(case: &Case<'_>) -> Vec<Finding> {
    let catch = regex!(r"catch\s*\(\s*(?:final\s+)?([\w.]+(?:\s*\|\s*[\w.]+)*)\s+\w+\s*\)");
    let nothing = regex!(r"\)\s*\{\s*\}");
    // By these the JVM itself reports a fault of the program. Others, such as
    // `NumberFormatException`, are the declared way in which a method refuses its input.
    let faults = regex!(
        "^(?:Arithmetic|ArrayIndexOutOfBounds|ArrayStore|BufferUnderflow|ClassCast|IndexOutOfBounds|NegativeArraySize|NullPointer|StringIndexOutOfBounds)Exception$"
    );
    let reported = simple(case.kind);
    let is_fault = faults.is_match(reported);
    let (what, weight) = if is_fault {
        ("goes on, and the fault stays", Weight::Refutes)
    } else {
        ("does nothing with it", Weight::HoldsBack)
    };
    let what = format!("it catches the reported exception and {what}");
    let found = going_on(case, &what, |hunk, at, code| {
        let caught = catch.captures(code).and_then(|found| found.get(1));
        let mut types = caught.iter().flat_map(|types| types.as_str().split('|'));
        let stays = if is_fault {
            !does_it_otherwise(hunk, at)
        } else {
            nothing.is_match(&handler(hunk.get(at..).unwrap_or_default()).concat())
        };
        stays && types.any(|name| simple(name) == reported)
    });
    let weighed = found.into_iter().map(|finding| finding.weighing(weight));
    weighed.collect()
}

/// Returns the name of a class without its package.
fn simple(name: &str) -> &str {
    name.trim().rsplit('.').next().unwrap_or_default()
}

fn has_word(code: &str, wanted: &str) -> bool {
    let mut words = code.split(|c: char| !c.is_alphanumeric());
    words.any(|word| word == wanted)
}

/// Tells whether a handler calls again, with the same receiver, what was called in its `try`:
/// it does in another way what was interrupted, so nothing is left half done.
fn does_it_otherwise(hunk: &[DiffLine], at: usize) -> bool {
    let (before, from) = hunk.split_at_checked(at).unwrap_or_default();
    let kept = before.iter().filter(|line| line.side != Side::Old);
    let lines: Vec<String> = kept.map(|line| bare(&line.text)).collect();
    let Some(begin) = lines.iter().rposition(|code| has_word(code, "try")) else {
        return false;
    };
    let tried = calls(lines.get(begin..).unwrap_or_default());
    let again = calls(&handler(from));
    again.iter().any(|call| tried.contains(call))
}

/// Returns the names that are called, with their receivers.
fn calls(lines: &[String]) -> Vec<String> {
    let call = regex!(r"([A-Za-z_][\w.]*)\s*\(");
    let no_call = regex!("^(?:catch|for|if|switch|synchronized|try|while)$");
    let found = lines.iter().flat_map(|code| call.captures_iter(code));
    let names = found.filter_map(|found| Some(found.get(1)?.as_str().to_owned()));
    names.filter(|name| !no_call.is_match(name)).collect()
}

/// Returns the code of the handler that opens in the first line.
fn handler(lines: &[DiffLine]) -> Vec<String> {
    let (mut opened, mut closed) = (0, 0);
    let mut block = Vec::new();
    for (number, line) in lines.iter().filter(|l| l.side != Side::Old).enumerate() {
        let mut code = bare(&line.text);
        if number == 0
            && let Some(at) = code.find("catch")
        {
            code = code.split_off(at);
        }
        opened += code.matches('{').count();
        closed += code.matches('}').count();
        block.push(code);
        if opened > 0 && closed >= opened {
            break;
        }
    }
    block
}

/// Tells whether a line calls what ends the whole process.
fn ends(line: &str) -> bool {
    let ends = regex!(
        r"(?:^|[^\w.>])(?:std::)?(?:exit|_exit|_Exit|quick_exit|abort|terminate|raise)\s*\(|System\.exit\s*\(|getRuntime\(\)\s*\.\s*(?:exit|halt)\s*\("
    );
    ends.is_match(&bare(line))
}

/// Tells whether a source file ends the process somewhere, which then is its way to
/// report errors.
pub(crate) fn ends_process(text: &str) -> bool {
    text.lines().any(ends)
}

/// Finds code that ends the whole process.
pub(super) fn ends_the_process(case: &Case<'_>) -> Vec<Finding> {
    let what = "it ends the whole process";
    let mut found = case.find(Side::New, what, |line| ends(&line.text));
    if ends_process(case.old) {
        for one in &mut found {
            one.weight = Weight::Told;
        }
    }
    found
}
