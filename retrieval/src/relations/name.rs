//! Names as people, compilers and virtual machines write them.
//!
//! `A::b`, `ns::A<int>::b(char*)`, `a.b.C.d`, `a/b/C$D.run`, `C#m`, `p->field`:
//! all become a list of plain parts.

/// No name is longer, in bytes; mangled templates come to some thousands.
const LONGEST: usize = 20_000;

/// A name cut into its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QualifiedName {
    /// The scopes before the name, outermost first.
    pub scope: Vec<String>,
    /// The name itself.
    pub name: String,
}

impl QualifiedName {
    /// Reads a name. Parameter lists, template arguments and the like are
    /// dropped; `None` when nothing is left.
    pub fn read(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let text = text.trim().trim_start_matches(['&', '*']);
        if let Some(at) = text.find("operator")
            && let Some(name) = operator(text, at)
        {
            let scope = parts(text.get(..at).unwrap_or_default());
            return Some(Self { scope, name });
        }
        let mut parts = parts(&plain(text));
        let name = parts.pop()?;
        Some(Self { scope: parts, name }.named_as_in_source())
    }

    /// Returns whether the name belongs to a standard library: no other scope has a member that it means.
    pub(crate) fn is_foreign(&self) -> bool {
        let scope: Vec<&str> = self.scope.iter().map(String::as_str).collect();
        match scope.as_slice() {
            ["java" | "javax" | "jdk" | "sun", ..] => self.scope.len() > 1,
            [first, ..] => matches!(*first, "std" | "__gnu_cxx" | "__cxxabiv1"),
            [] => false,
        }
    }

    /// Returns what virtual machines call by names of their own: `<init>` is the
    /// class, `lambda$run$0` the method `run`.
    fn named_as_in_source(mut self) -> Self {
        if self.name == "<init>"
            && let Some(class) = self.scope.last()
        {
            self.name.clone_from(class);
        }
        if let Some(at) = self.scope.iter().position(|part| part == "lambda")
            && self.name.bytes().all(|byte| byte.is_ascii_digit())
            && let Some(method) = self.scope.get(at + 1).cloned()
        {
            self.name = method;
            self.scope.truncate(at);
        }
        self
    }
}

/// The operator's name when the word at `at` begins one.
fn operator(text: &str, at: usize) -> Option<String> {
    let before = text.get(..at)?;
    let rest = text.get(at + "operator".len()..)?;
    let last = before.chars().last();
    let starts = last.is_none_or(|last| !last.is_alphanumeric() && last != '_');
    let sign = rest.trim_start();
    let first = sign.chars().next()?;
    if !starts || first.is_alphanumeric() && rest.len() == sign.len() || first == '_' {
        return None;
    }
    if first.is_alphabetic() {
        let end = sign.find('(').unwrap_or(sign.len());
        return Some(format!("operator {}", sign.get(..end)?.trim()));
    }
    let sign = sign
        .strip_prefix("()")
        .map_or_else(|| sign.split('(').next().unwrap_or_default(), |_| "()");
    let sign: String = sign.chars().filter(|sign| !sign.is_whitespace()).collect();
    Some(format!("operator{sign}"))
}

/// The text without parameter lists and template arguments.
fn plain(text: &str) -> String {
    let text = text.replace("(anonymous namespace)", "");
    let mut plain = String::with_capacity(text.len());
    let mut angles = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '(' if angles == 0 => break,
            '<' if text
                .get(at..)
                .is_some_and(|rest| rest.starts_with("<init>") || rest.starts_with("<clinit>")) =>
            {
                plain.push_str(text.get(at..).unwrap_or_default());
                break;
            }
            '<' => angles += 1,
            '>' if plain.ends_with('-') => plain.push('>'),
            '>' => angles = angles.saturating_sub(1),
            _ if angles == 0 => plain.push(character),
            _ => {}
        }
    }
    // A result type before the name: `int ns::f`.
    let word = plain.trim().rsplit(char::is_whitespace).next();
    word.unwrap_or_default().to_owned()
}

fn parts(text: &str) -> Vec<String> {
    text.replace("->", ".")
        .split(['.', ':', '$', '#', '/'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The parts of a scope as the database holds it.
pub(crate) fn scope_parts(scope: &str) -> Vec<&str> {
    scope
        .split([':', '.'])
        .filter(|part| !part.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::QualifiedName;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, scope: &[&str], name: &str) {
        let read = QualifiedName::read(text).unwrap();
        assert_eq!(
            (read.scope.as_slice(), read.name.as_str()),
            (
                scope
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .as_slice(),
                name
            ),
            "{text}"
        );
    }

    #[test]
    fn reads_every_manner_of_writing() {
        check("f", &[], "f");
        check(" A::b ", &["A"], "b");
        check(
            "ns::A<int, B<char>>::b(char const*, int)",
            &["ns", "A"],
            "b",
        );
        check("(anonymous namespace)::f()", &[], "f");
        check("a.b.C.d", &["a", "b", "C"], "d");
        check("a/b/C$D.run", &["a", "b", "C", "D"], "run");
        check("C#m", &["C"], "m");
        check("p->field", &["p"], "field");
        check("a.C.<init>", &["a", "C"], "C");
        check("a.C.<clinit>", &["a", "C"], "<clinit>");
        check("a.C.lambda$run$0", &["a", "C"], "run");
        check("A::operator==(A const&) const", &["A"], "operator==");
        check("A::operator()(int)", &["A"], "operator()");
        check("A::operator bool() const", &["A"], "operator bool");
        check("operators", &[], "operators");
        check("bool ns::f<int>(int)", &["ns"], "f");
        assert_eq!(QualifiedName::read("  "), None);
        assert_eq!(QualifiedName::read("::"), None);
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,60}|[a-z:.<>()$#> -]{0,40}|.*operator.*") {
            let _ = QualifiedName::read(&text);
        }
    }
}
