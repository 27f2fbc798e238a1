//! Files that a text names and that crash nothing: what the program writes, and what it reads well.

use super::failure_words::is_denied;
use patchwright_source::{Pattern, regex};

/// A file beside the word for writing it. Only programs are spoken of so: a person who "created" or
/// "saved" a file made the input.
static WRITTEN: Pattern = Pattern::new(
    r#"(?ix)(?:\b(?:writes|writing|written|wrote|write\s*[=:]|creates|creating|outputs)|(?:\s-o|--?out\w*)[\s=])
          (?:\s(?:to|in|into|the|a|an|file|image)\b)*[\s:=`"'(]*(?P<behind>[\w./\\+-]+\.\w{1,5})\b
        | (?P<before>[\w./\\+-]+\.\w{1,5})[`"')]*\s(?:for\swriting|(?:is|was)\swritten)\b"#,
);
/// A file of which the same clause says that nothing happens.
static HARMLESS: Pattern = Pattern::new(
    r#"(?ix)(?P<before>[\w./\\+-]+\.\w{1,5})[`"')]*(?P<between>(?:\s[a-z'-]+){0,6}?)\s
          (?:works?\b|worked\b|(?:is|was|loads?|opens?|converts?|parses?)\s(?:just\s)?(?:fine|ok(?:ay)?|well)\b
            |(?:does|did)(?:n't|\snot)(?:\s(?:crash|hang|fail)|\s*[.,;)\n]))
        | \b(?:works?|worked|fine|ok|not)\s(?:well\s|fine\s)?(?:with|on|for)\s(?:the\s|file\s)*
          [`"'(]*(?P<behind>[\w./\\+-]+\.\w{1,5})\b"#,
);

/// Drops such files from those that may have crashed the program, but never the last one.
pub(super) fn drop_others(inputs: &mut Vec<String>, prose: &str) {
    for form in [&WRITTEN, &HARMLESS] {
        let others = named(form, prose);
        if inputs.iter().any(|file| !is_among(file, &others)) {
            inputs.retain(|file| !is_among(file, &others));
        }
    }
}

/// Finds the files of which a form tells and no word takes it back.
fn named<'a>(form: &Pattern, prose: &'a str) -> Vec<&'a str> {
    let limits = regex!(r"(?i)crash|segf|hang|fail|n't|\b(?:no|not|never|but|when|if|until)\b");
    // Another version reads it well, or something else than the denied happens.
    let contrast = regex!(r#"^[`"')]*\s*,?\s*(?:but\b|(?:in|before|with|under|on|until)\s\S*\d)"#);
    let fuzzer = regex!(r"(?i)fuzz\w*\s*$");
    let files = form.captures_iter(prose).filter_map(|found| {
        let between = found.name("between").map_or("", |words| words.as_str());
        let whole = found.get(0)?;
        let (head, tail) = prose.split_at_checked(whole.start())?;
        let tail = tail.get(whole.len()..).unwrap_or_default();
        let taken_back = limits.is_match(between)
            || contrast.is_match(tail)
            || fuzzer.is_match(head)
            || found.name("behind").is_some()
                && is_denied(head.rsplit(['\n', '.']).next().unwrap_or(head));
        let file = found.name("behind").or(found.name("before"))?;
        (!taken_back).then_some(file.as_str())
    });
    files.collect()
}

/// Tells whether a file is one of others, which may be named with their folders.
fn is_among(file: &str, others: &[&str]) -> bool {
    let is_end = |other: &&str| {
        let rest = other.strip_suffix(file);
        rest.is_some_and(|folder| folder.is_empty() || folder.ends_with(['/', '\\']))
    };
    others.iter().any(is_end)
}

#[cfg(test)]
mod tests {
    use super::drop_others;

    #[test]
    fn what_is_written_or_read_well_is_left_out_unless_another_word_takes_it_back() {
        for (prose, left) in [
            ("tap evil.png writes out.png", "evil.png"),
            ("good.png works, evil.png does not", "evil.png"),
            ("It works with good.png.", "evil.png"),
            (
                "It works fine with evil.png in 2.0.0.",
                "evil.png good.png out.png",
            ),
            (
                "With evil.png it did not hang, but crashed.",
                "evil.png good.png out.png",
            ),
            (
                "The fuzzer writes evil.png beside good.png",
                "evil.png good.png",
            ),
        ] {
            let named = ["evil.png", "good.png", "out.png"].into_iter();
            let named = named.filter(|file| prose.contains(file) || left.contains(file));
            let mut inputs: Vec<String> = named.map(str::to_owned).collect();
            drop_others(&mut inputs, prose);
            assert_eq!(inputs.join(" "), left, "{prose}");
        }
    }
}
