//! Escapes that do not belong to the code: XML entities, and `\t` for a tab.

use patchwright_source::regex;
use std::borrow::Cow;

/// Resolves entities: strictly where the text is XML, otherwise those that are
/// well formed, leaving every other `&` as it is.
pub(crate) fn unescape(text: &str) -> Cow<'_, str> {
    quick_xml::escape::unescape(text).unwrap_or_else(|_| {
        let parts = text.split_inclusive(';').map(|part| {
            let (before, entity) = part.split_at(part.rfind('&').unwrap_or(part.len()));
            let read = quick_xml::escape::unescape(entity).unwrap_or(entity.into());
            before.to_owned() + &read
        });
        parts.collect()
    })
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
    !text.contains(['<', '>']) && text.contains('&') && quick_xml::escape::unescape(text).is_ok()
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
