//! Text in the files of a tree: literal first, regular expressions on request.
//!
//! Files are read through the tree, so nothing outside is searched; binaries,
//! over-large files and minified lines are passed over and counted. Which
//! function a line lies in is not its concern.

use crate::pattern::{Haystack, Matches};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::sinks::Bytes;
use grep_searcher::{Searcher, SearcherBuilder};
use patchwright_source::{SourceError, TreePath, is_binary};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Limit on how many lines of one file are kept; a file with more is generated or the
/// text says nothing.
const PER_FILE: usize = 200;
/// Limit on how long one search may take.
const TIME_LIMIT: Duration = Duration::from_secs(20);

const ENTITIES: &str = "with &lt; &gt; &amp; read as < > &";
const CASE: &str = "without regard to case";
const CASE_AND_SPACE: &str = "without regard to case and white space";

impl Matches {
    /// Returns whether looking further would be of no use.
    fn is_something(&self) -> bool {
        !self.found.is_empty() || self.stopped
    }

    /// Adds what was found in the files after these.
    fn with(mut self, after: Self) -> Self {
        self.found.extend(after.found);
        self.stopped |= after.stopped;
        self.too_large += after.too_large;
        self
    }
}

/// Finds literal text; when it is nowhere, tries again without regard to case,
/// then without regard to the amount of white space.
pub(crate) fn find_literal(haystack: &Haystack<'_>, text: &str) -> Matches {
    let escaped = escape(text);
    let decoded = escape(&decode_entities(text));
    let look = |files, expression: &str, ignore_case, relaxed: Option<&'static str>| {
        let matcher = matcher(expression, ignore_case);
        let found = matcher.map(|matcher| search(haystack, files, &matcher));
        let mut found = found.unwrap_or_default();
        found.relaxed = relaxed.filter(|_| found.is_something());
        found
    };
    let files = haystack.files;
    let found = look(files, &escaped, false, None);
    if found.is_something() {
        return found;
    }
    if decoded != escaped {
        let found = look(files, &decoded, false, Some(ENTITIES));
        if found.is_something() {
            return found;
        }
    }
    // The loosest first: what it does not find is nowhere in any form, and in
    // the few files where it finds something the other form is looked for.
    let words: Vec<String> = text.split_whitespace().map(escape).collect();
    let loosest = look(files, &words.join(r"\s*"), true, Some(CASE_AND_SPACE));
    let mut in_files: Vec<&TreePath> = loosest.found.iter().map(|(path, ..)| path).collect();
    in_files.dedup();
    let found = look(&in_files, &escaped, true, Some(CASE));
    if found.found.is_empty() {
        return loosest;
    }
    Matches {
        stopped: found.stopped || loosest.stopped,
        too_large: loosest.too_large,
        ..found
    }
}

/// Finds what a regular expression matches; the error is the parser's.
pub(crate) fn find_regex(haystack: &Haystack<'_>, expression: &str) -> Result<Matches, String> {
    let matcher = matcher(expression, false)?;
    Ok(search(haystack, haystack.files, &matcher))
}

fn matcher(expression: &str, ignore_case: bool) -> Result<RegexMatcher, String> {
    RegexMatcherBuilder::new()
        .case_insensitive(ignore_case)
        .multi_line(true)
        .build(expression)
        .map_err(|error| error.to_string())
}

fn escape(text: &str) -> String {
    regex::escape(text)
        .replace("\r\n", "\n")
        .replace('\n', r"\r?\n")
}

fn decode_entities(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

/// Searches some of the files.
fn search(haystack: &Haystack<'_>, files: &[&TreePath], matcher: &RegexMatcher) -> Matches {
    let started = Instant::now();
    let mut builder = SearcherBuilder::new();
    builder.multi_line(true).line_number(true);
    let search_file = |searcher: &mut Searcher, path: &&TreePath| {
        let mut matches = Matches::default();
        if started.elapsed() > TIME_LIMIT {
            matches.stopped = true;
            return matches;
        }
        let limit = haystack.limits.file_size_limit;
        let bytes = match haystack.tree.bytes_up_to(path, limit) {
            Ok(bytes) => bytes,
            Err(error) => {
                let is_too_large = matches!(error, SourceError::TooLarge { .. });
                matches.too_large = usize::from(is_too_large);
                return matches;
            }
        };
        let found = &mut matches.found;
        let collect = Bytes(|first, lines| {
            let count = lines.split_inclusive(|byte| *byte == b'\n').count().max(1);
            found.push((
                (*path).clone(),
                first as u32,
                first as u32 + count as u32 - 1,
            ));
            Ok(found.len() < PER_FILE)
        });
        let searched = searcher.search_slice(matcher, &bytes, collect);
        // Few files have a hit, so only these are looked at more closely.
        if searched.is_err() || (!matches.found.is_empty() && is_binary(&bytes)) {
            return Matches::default();
        }
        matches
    };
    let searched = files.par_iter().map_init(|| builder.build(), search_file);
    searched.reduce(Matches::default, Matches::with)
}

#[cfg(test)]
mod tests {
    use super::{Haystack, find_literal, find_regex};
    use crate::Settings;
    use patchwright_source::Tree;

    fn found(text: &str, regex: bool) -> (Vec<String>, Option<&'static str>) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("a.c"),
            "int  f(void);\r\nif (a < b)\r\n  x.*y();\r\nprofile too short\r\n",
        )
        .unwrap();
        std::fs::write(folder.path().join("b.bin"), b"\0profile too short\n").unwrap();
        std::fs::write(
            folder.path().join("c.txt"),
            b"gr\xfc\xdf profile too short\n",
        )
        .unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        let files = tree.files();
        let files: Vec<_> = files.iter().collect();
        let limits = Settings::default();
        let haystack = Haystack::new(&tree, &files, &limits);
        let found = if regex {
            find_regex(&haystack, text).unwrap()
        } else {
            find_literal(&haystack, text)
        };
        let lines = found
            .found
            .iter()
            .map(|(path, first, last)| format!("{path}:{first}-{last}"))
            .collect();
        (lines, found.relaxed)
    }

    #[test]
    fn finds_literal_text() {
        let case = Some("without regard to case");
        for (text, lines, loosened) in [
            ("profile too short", vec!["a.c:4-4", "c.txt:1-1"], None),
            ("x.*y", vec!["a.c:3-3"], None),
            ("Profile Too", vec!["a.c:4-4", "c.txt:1-1"], case),
            ("if (a < b)\n  x", vec!["a.c:2-3"], None),
            (
                "a &lt; b",
                vec!["a.c:2-2"],
                Some("with &lt; &gt; &amp; read as < > &"),
            ),
            ("PROFILE TOO", vec!["a.c:4-4", "c.txt:1-1"], case),
            (
                "int f (void)",
                vec!["a.c:1-1"],
                Some("without regard to case and white space"),
            ),
            ("nowhere", vec![], None),
            ("-rf $(id) [", vec![], None),
        ] {
            let (got, how) = found(text, false);
            assert_eq!(got, lines, "{text}");
            assert_eq!(how, loosened, "{text}");
        }
    }

    #[test]
    fn finds_a_regular_expression_on_request() {
        assert_eq!(found(r"^if \(\w", true).0, ["a.c:2-2"]);
        let folder = tempfile::tempdir().unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        let limits = Settings::default();
        let error = find_regex(&Haystack::new(&tree, &[], &limits), "(").unwrap_err();
        assert!(error.contains("unclosed group"), "{error}");
    }
}
