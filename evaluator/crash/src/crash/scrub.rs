//! Scrubbed text: sentences of a report without the parts that differ from run to run.
//!
//! Addresses, process and thread numbers, build ids and temporary paths tell
//! nothing about the program.

use patchwright_source::{Language, Pattern, TreePath};
use regex::Captures;

/// The largest number that is no address: field offsets from null, characters, flags.
const SMALL: u64 = 0xffff;

/// The full name of `std::string`.
const LONG_STRING: &str =
    "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";

static ADDRESS: Pattern = Pattern::new(r"\b0x[0-9a-fA-F]+(?:/0x[0-9a-fA-F]+)?\b");
static NUMBERS: Pattern = Pattern::new(
    r"(?x) ==[0-9]+==\ ?
    | \ at\ pc\ 0x[0-9a-f]+\ bp\ 0x[0-9a-f]+\ sp\ 0x[0-9a-f]+
    | \ \(pc\ 0x[0-9a-f]+\ bp\ 0x[0-9a-f]+\ sp\ 0x[0-9a-f]+\ T[0-9]+\)
    | \ \[0x[0-9a-f]+,\ ?0x[0-9a-f]+\)
    | \ \(use\ '-X(?:ss|mx)[0-9]+[kmg]?'\ to\ reproduce\)
    | \btid=[0-9]+,\s?
    | \s?\(BuildId:\ [0-9a-f]+\)
    | \s?\(pid=[0-9]+\)
    | ,?\s?\b(?:pid|tid|nid|lwp|LWP)[=\ :]\s?(?:0x)?[0-9a-f]+
    | ,\s?\(?tid=[0-9]+",
);
static HASH: Pattern = Pattern::new(r"\b(?P<class>[A-Za-z_][\w.$]*)@[0-9a-f]{4,16}\b");
static TEMPORARY: Pattern =
    Pattern::new(r#"(?:/var/tmp|/tmp|/dev/shm|/run/user/[0-9]+|/scratch)/[^\s:'"`(),;\]>]+"#);
static MUTEX: Pattern = Pattern::new(r"\bM[0-9]{3,}\b");

/// Removes the parts of a sentence that differ from run to run.
pub fn scrub(text: &str) -> String {
    let text = NUMBERS.replace_all(text, "");
    let text = text.replace(LONG_STRING, "std::string");
    let text = ADDRESS.replace_all(&text, |found: &Captures<'_>| {
        let digits = found.get(0).map_or("", |found| found.as_str());
        match u64::from_str_radix(digits.trim_start_matches("0x"), 16) {
            Ok(number) if number <= SMALL => format!("{number:#x}"),
            _ => "<address>".to_owned(),
        }
    });
    let text = HASH.replace_all(&text, "${class}@<hash>");
    let text = TEMPORARY.replace_all(&text, |found: &Captures<'_>| {
        let (start, path) = found
            .get(0)
            .map_or((0, ""), |found| (found.start(), found.as_str()));
        let before = text.get(..start).unwrap_or_default();
        let word = before
            .rsplit([' ', '\n', '\t', '"', '\'', '=', ':', ',', '('])
            .next();
        // A folder of that name inside another one is nobody's temporary one.
        if word.is_some_and(|word| word.contains('/') && !word.ends_with("/private")) {
            return path.to_owned();
        }
        match source_in_a_folder(path) {
            Some(name) => format!("<temporary folder>/{name}"),
            None => "<temporary file>".to_owned(),
        }
    });
    let text = MUTEX.replace_all(&text, "M");
    text.into_owned()
}

/// Returns the name of a source file that lies in a folder of its own below a temporary
/// one: a person built there, and the name is the same in every run.
fn source_in_a_folder(path: &str) -> Option<&str> {
    let (folder, name) = path.rsplit_once('/')?;
    let own = !["/tmp", "/var/tmp", "/dev/shm"].contains(&folder);
    let known = TreePath::new(name)
        .ok()
        .and_then(|name| Language::of_path(&name));
    known.filter(|_| own).map(|_| name)
}

/// Returns the first characters of a line, with a mark where more followed.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}..", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Replaces a path where it occurs as a whole.
pub(crate) fn replace_path(text: &str, old: &str, new: &str) -> String {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.' | '$');
    replace_where(text, (old, new), |previous, next| {
        previous.is_some_and(part) || next.is_some_and(|c| part(c) && c != '.')
    })
}

/// Drops a folder in front of paths: `/tree/a.c` becomes `a.c`.
pub(crate) fn replace_folder(text: &str, folder: &str) -> String {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    replace_where(text, (&format!("{folder}/"), ""), |previous, _| {
        previous.is_some_and(part)
    })
}

/// Replaces a text where it does not lie inside another, as the characters beside it tell.
fn replace_where(
    text: &str,
    (old, new): (&str, &str),
    is_inside: impl Fn(Option<char>, Option<char>) -> bool,
) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(old).filter(|_| !old.is_empty()) {
        replaced.push_str(before);
        let inside = is_inside(replaced.chars().next_back(), after.chars().next());
        replaced.push_str(if inside { old } else { new });
        rest = after;
    }
    replaced.push_str(rest);
    replaced
}

/// Removes addresses inside names: `LambdaForm$DMH/0x00007f0df4015400.invoke`.
pub(super) fn scrub_function(text: &str) -> String {
    ADDRESS
        .replace_all(text, "<address>")
        .replace(LONG_STRING, "std::string")
}

#[cfg(test)]
mod tests {
    use super::{replace_path, scrub};

    #[test]
    fn takes_out_what_differs_from_run_to_run() {
        for (given, expected) in [
            ("==123==ERROR: x", "ERROR: x"),
            ("on address 0x60200000086e at", "on address <address> at"),
            ("address 0x000000000018", "address 0x18"),
            ("data race (pid=3811)", "data race"),
            ("T1 (tid=3812, running) created", "T1 (running) created"),
            ("f (/out/x+0x1f) (BuildId: 00ff)", "f (/out/x+0x1f)"),
            (
                "java.lang.Object@1b6d3586 is not",
                "java.lang.Object@<hash> is not",
            ),
            (
                "wrote '/tmp/.tmpXy/a.bin': no",
                "wrote '<temporary file>': no",
            ),
            (
                "in f /tmp/build/src/a.c:3:4",
                "in f <temporary folder>/a.c:3:4",
            ),
            ("compiling /tmp/ccXk3.c", "compiling <temporary file>"),
            ("mutex M18446 (0x7b0400)", "mutex M (<address>)"),
            ("mail a@b.org", "mail a@b.org"),
        ] {
            assert_eq!(scrub(given), expected, "{given}");
        }
    }

    #[test]
    fn replaces_whole_paths_only() {
        let text = "/src/a.c:3 /x/src/a.c:3 (/src/a.c) /src/a.cc /src/a.c";
        assert_eq!(
            replace_path(text, "/src/a.c", "a.c"),
            "a.c:3 /x/src/a.c:3 (a.c) /src/a.cc a.c"
        );
        assert_eq!(replace_path("abc", "", "x"), "abc");
    }
}
