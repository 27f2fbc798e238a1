//! Plain names: functions without what changes from build to build, or is the same for all copies of one.

use patchwright_source::{Pattern, regex};

/// Suffixes that compilers append to the names of copies, and the hashes of Rust.
static CLONE: Pattern = Pattern::new(
    r"(?:\.(?:constprop|isra|part|cold|llvm|localalias|lto_priv)(?:\.\d+)*)+$|::h[0-9a-f]{16}$",
);
/// Numbers of anonymous classes: `A$7.f` and `A$12.f` are one, and so are `lambda$f$0` and
/// `lambda$f$1`.
static NUMBER: Pattern = Pattern::new(r"\$[0-9]+");

/// Drops parameters, template arguments, compiler suffixes, return types and
/// the numbers of anonymous classes and lambdas.
pub fn plain_name(function: &str) -> String {
    // A method of Objective-C: `-[Basket peel:]`.
    if function.starts_with(['-', '+']) && function.ends_with(']') {
        return function.to_owned();
    }
    let mut kept = String::with_capacity(function.len());
    let mut depth = 0usize;
    let mut rest = function;
    while let Some(character) = rest.chars().next() {
        if depth == 0
            && let Some((operator, after)) = operator_name(rest, &kept)
        {
            kept.push_str(operator);
            rest = after;
            continue;
        }
        match character {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            other if depth == 0 => kept.push(other),
            _ => {}
        }
        rest = rest.get(character.len_utf8()..).unwrap_or_default();
    }
    let kept = kept.trim();
    let kept = kept.strip_suffix(" const").unwrap_or(kept);
    let end = kept.find("operator").unwrap_or(kept.len());
    let space = kept.get(..end).and_then(|head| head.rfind(' '));
    let kept = kept.get(space.map_or(0, |at| at + 1)..).unwrap_or(kept);
    let kept = CLONE.split(kept).next().unwrap_or(kept);
    let kept = NUMBER.replace_all(kept, "$$").replace("::::", "::");
    let kept = kept.trim_start_matches("::");
    // `<module>` of Python is all in brackets.
    if kept.is_empty() { function } else { kept }.to_owned()
}

/// Splits off `operator()`, `operator<<` and the like, `<init>` of Java and `(*Type)` of Go,
/// whose signs are no brackets.
fn operator_name<'a>(rest: &'a str, before: &str) -> Option<(&'a str, &'a str)> {
    let of_class = regex!(r"^(?:<(?:cl)?init>|\(\*[^)]*\))").find(rest);
    let of_operator =
        regex!(r"^operator(?:\(\)|\[\]|<<=|>>=|<=>|->\*|<<|>>|<=|>=|->|<|>)").find(rest);
    let is_inside = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let found = of_class.filter(|_| before.ends_with('.'));
    let found = found.or(of_operator.filter(|_| !is_inside))?;
    Some(rest.split_at(found.end()))
}

#[cfg(test)]
mod tests {
    use super::plain_name;

    #[test]
    fn drops_what_changes_from_build_to_build() {
        for (given, expected) in [
            ("f", "f"),
            ("f.constprop.0", "f"),
            ("org.A.<init>", "org.A.<init>"),
            ("example.com/tap.(*A).f", "example.com/tap.(*A).f"),
            ("f.part.3.cold", "f"),
            ("N::A<int, B<C> >::f(int, char const*) const", "N::A::f"),
            ("void N::sort<int*>(int*, int*)", "N::sort"),
            ("operator==(w_char, w_char)", "operator=="),
            (
                "std::ostream& N::operator<<(std::ostream&, A const&)",
                "N::operator<<",
            ),
            ("-[Basket peel:]", "-[Basket peel:]"),
            ("A::operator()(int) const", "A::operator()"),
            ("(anonymous namespace)::f(int)", "f"),
            (
                "N::f(int)::{lambda(int)#1}::operator()(int) const",
                "N::f::{lambda#1}::operator()",
            ),
            ("org.jsoup.A$7.inBody", "org.jsoup.A$.inBody"),
            ("org.A.lambda$run$12", "org.A.lambda$run$"),
            ("operator new(unsigned long)", "operator new"),
        ] {
            assert_eq!(plain_name(given), expected);
        }
    }
}
