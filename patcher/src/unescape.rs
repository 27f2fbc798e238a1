//! Escapes that do not belong to the code: XML entities, and `\t` for a tab.

use patchwright_source::regex;
use std::borrow::Cow;

/// The longest entity worth a look, such as `&#x1F600;`.
const LONGEST: usize = 10;

/// Resolves entities: strictly where the text is XML, otherwise those that are
/// well formed, leaving every other `&` as it is.
pub(crate) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    if let Ok(read) = quick_xml::escape::unescape(text) {
        return read;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let (character, used) = entity(after).unwrap_or(('&', 0));
        out.push(character);
        rest = after.get(used..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns the line with a tab for each `\t` that is written out in two
/// characters, outside of quotes; `None` when there is none. A writer whose
/// text passed through JSON or a diff of one line leaves these.
pub(crate) fn with_tabs(line: &str) -> Option<String> {
    let parts = regex!(r#""(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|\\t"#);
    let mut out = String::with_capacity(line.len());
    let mut at = 0;
    for tab in parts.find_iter(line).filter(|part| part.as_str() == r"\t") {
        out.push_str(line.get(at..tab.start())?);
        out.push('\t');
        at = tab.end();
    }
    out.push_str(line.get(at..)?);
    (at > 0).then_some(out)
}

/// Returns true when the text reads as if it had been escaped as a whole: there are
/// entities, and none of the characters that escaping would have removed.
pub(crate) fn looks_escaped(text: &str) -> bool {
    !text.contains(['<', '>'])
        && text.contains('&')
        && text.split('&').skip(1).all(|part| entity(part).is_some())
}

/// The entity at the start of what follows an `&`, and its length.
fn entity(after: &str) -> Option<(char, usize)> {
    let end = after.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let entity = format!("&{}", after.get(..=end)?);
    let read = quick_xml::escape::unescape(&entity).ok()?;
    let mut characters = read.chars();
    let character = characters.next()?;
    characters.next().is_none().then_some((character, end + 1))
}

#[cfg(test)]
mod tests {
    use super::{looks_escaped, unescape, with_tabs};

    #[test]
    fn resolves_what_is_well_formed() {
        for (given, expected) in [
            ("a &lt; b &amp;&amp; c", "a < b && c"),
            ("f(&x) && a &lt; b", "f(&x) && a < b"),
            ("&#39;&#x41;&quot;", "'A\""),
            ("&nbsp; &", "&nbsp; &"),
            ("plain", "plain"),
        ] {
            assert_eq!(unescape(given), expected, "{given}");
        }
    }

    #[test]
    fn tells_escaped_from_raw() {
        for (given, expected) in [
            ("p-&gt;size &amp; 7", true),
            ("if (a < b &amp;&amp; c)", false),
            ("f(&x, &lt;)", false),
            ("no entity", false),
        ] {
            assert_eq!(looks_escaped(given), expected, "{given}");
        }
    }

    #[test]
    fn reads_tabs_outside_of_quotes() {
        for (given, expected) in [
            ("\\t\\tint a;", Some("\t\tint a;")),
            ("    \\tint a;", Some("    \tint a;")),
            ("\\tputs(\"a\\tb\");", Some("\tputs(\"a\\tb\");")),
            ("c = '\\t';", None),
            ("puts(\"\\\"\\t\");", None),
            ("\tint a;", None),
        ] {
            assert_eq!(with_tabs(given).as_deref(), expected, "{given}");
        }
    }
}
