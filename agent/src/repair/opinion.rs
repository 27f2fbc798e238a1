//! Reads what a critic or a judging model wrote. Tolerant of words around the
//! tags, never guessing: what holds no verdict is none.

/// Opinion of a critic about a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Opinion {
    /// Nothing stands against it, and why, in one line.
    Accepts(String),
    /// Something does, in words for the author.
    Objects(String),
}

/// Characters of an objection that are kept.
const LONGEST: usize = 4_000;

/// The verdict of a critic; nothing when there is none, or an objection
/// without a reason.
pub(super) fn verdict(text: &str) -> Option<Opinion> {
    let (word, rest) = last_tag(text, "verdict")?;
    match word.trim().to_lowercase().as_str() {
        "accept" | "accepts" | "accepted" => {
            let (reason, _) = last_tag(text, "reason").unwrap_or_default();
            let first = reason.trim().lines().next().unwrap_or_default();
            Some(Opinion::Accepts(first.to_owned()))
        }
        "object" | "objects" | "objection" | "reject" => {
            let reason = last_tag(text, "reason").map_or(rest, |(reason, _)| reason);
            let reason: String = reason.trim().chars().take(LONGEST).collect();
            (!reason.is_empty()).then_some(Opinion::Objects(reason))
        }
        _ => None,
    }
}

/// The input that a critic says shows its objection.
pub(super) fn shown(text: &str) -> Option<&str> {
    last_tag(text, "shown").map(|(name, _)| name.trim())
}

/// The fault of its own that a critic names beside a patch, in one line; nothing where it names
/// none, or repeats the form.
pub(super) fn elsewhere(text: &str) -> Option<&str> {
    let (named, _) = last_tag(text, "elsewhere")?;
    let line = named.trim().lines().next()?.trim();
    let is_named = !line.is_empty() && !line.eq_ignore_ascii_case("none");
    (is_named && !line.starts_with("only for a fault")).then_some(line)
}

/// The candidate that a judge chose among these.
pub(super) fn choice(text: &str, among: &[u32]) -> Option<u32> {
    let (number, _) = last_tag(text, "best")?;
    let number = number.trim().parse().ok()?;
    among.contains(&number).then_some(number)
}

/// Returns the content of the last tag of a name, and the text after it.
fn last_tag<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let (_, inside) = text.rsplit_once(&format!("<{name}>"))?;
    inside.split_once(&format!("</{name}>"))
}

#[cfg(test)]
mod tests {
    use super::{Opinion, choice, elsewhere, shown, verdict};
    use proptest::prelude::*;

    #[test]
    fn verdicts_are_found_among_words() {
        let objects = |reason: &str| Some(Opinion::Objects(reason.into()));
        for (text, expected) in [
            (
                "<verdict>accept</verdict><reason>\nfine\nall</reason>",
                Some(Opinion::Accepts("fine".into())),
            ),
            (
                "I think: <verdict> Accept </verdict>",
                Some(Opinion::Accepts(String::new())),
            ),
            (
                "<verdict>object</verdict>\n<reason>a.c:3 leaks</reason>",
                objects("a.c:3 leaks"),
            ),
            (
                "<verdict>object</verdict> a.c:3 leaks",
                objects("a.c:3 leaks"),
            ),
            // It changed its mind.
            (
                "<think><verdict>accept</verdict></think><verdict>object</verdict><reason>no</reason>",
                objects("no"),
            ),
            ("<verdict>object</verdict>", None),
            ("<verdict>perhaps</verdict><reason>x</reason>", None),
            ("<verdict>accept", None),
            ("looks good to me", None),
            ("", None),
        ] {
            assert_eq!(verdict(text), expected, "{text}");
        }
        assert_eq!(
            shown("<shown> objection 1.2 </shown>"),
            Some("objection 1.2")
        );
        assert_eq!(shown("<reason>objection 1.2</reason>"), None);
        let named = "<elsewhere>\ng in b.c, on '9'\nand more</elsewhere>";
        assert_eq!(elsewhere(named), Some("g in b.c, on '9'"));
        for nothing in ["", " None ", "only for a fault of its own: its place"] {
            let text = format!("<elsewhere>{nothing}</elsewhere>");
            assert_eq!(elsewhere(&text), None, "{nothing}");
        }
        assert_eq!(choice("2 is good. <best>3</best>", &[2, 3]), Some(3));
        assert_eq!(choice("<best>4</best>", &[2, 3]), None);
        assert_eq!(choice("<best>the third</best>", &[2, 3]), None);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "(<verdict>|</verdict>|<reason>|object|accept|<best>|7|</best>|<elsewhere>|</elsewhere>|\\PC){0,20}") {
            let _ = verdict(&text);
            let _ = (choice(&text, &[7]), elsewhere(&text));
        }
    }
}
