//! Probe expressions: expressions for a debugger that only read.
//!
//! Names, members, elements, casts, arithmetic and comparisons of C, C++ and Java. Calls,
//! assignments and variables of the debugger are refused here with a reason, before any
//! debugger sees them. Names are not resolved here.

use patchwright_source::regex;
use std::fmt;

/// The longest expression that is read, in characters.
const LONGEST: usize = 200;

/// An expression that only reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression(String);

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// The reason why it is refused, for its author.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = text.trim().trim_end_matches(';').trim_end();
        if text.is_empty() {
            return Err("there is no expression".to_owned());
        }
        if text.chars().count() > LONGEST {
            return Err(format!("it is longer than {LONGEST} characters"));
        }
        // What has no place in any expression is told first.
        let mut rest = text;
        while !rest.is_empty() {
            let word = first_word(rest)?;
            rest = rest.get(word.len()..).unwrap_or_default();
            rest = rest.trim_ascii_start();
        }
        let mut reader = Reader {
            expected: Expected::Operand,
            open: Vec::new(),
        };
        rest = text;
        while !rest.is_empty() {
            rest = reader.step(rest)?.trim_ascii_start();
        }
        reader.end()?;
        Ok(Self(text.split_whitespace().collect::<Vec<_>>().join(" ")))
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The part of an expression that comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Operand,
    Name,
    /// An operator between two operands, a member, or an end.
    Operator,
}

/// Reads an expression word by word, from the left to the right.
struct Reader {
    expected: Expected,
    /// The words that have to close what is open, the innermost last.
    open: Vec<&'static str>,
}

impl Reader {
    /// Reads the next word, or a whole type in parentheses; returns the text behind it.
    fn step<'a>(&mut self, text: &'a str) -> Result<&'a str, String> {
        if self.expected == Expected::Operand
            && let Some((rest, expected)) = behind_type(text)
        {
            self.expected = expected;
            return Ok(rest);
        }
        let word = first_word(text)?;
        self.expected = match self.expected {
            Expected::Operand => self.operand(word)?,
            Expected::Name => name(word)?,
            Expected::Operator => self.operator(word)?,
        };
        Ok(text.get(word.len()..).unwrap_or_default())
    }

    fn operand(&mut self, word: &str) -> Result<Expected, String> {
        match word {
            "-" | "+" | "!" | "~" | "*" | "&" | "sizeof" => Ok(Expected::Operand),
            "::" => Ok(Expected::Name),
            "(" => {
                self.open.push(")");
                Ok(Expected::Operand)
            }
            _ if is_constant(word) => Ok(Expected::Operator),
            _ => name(word),
        }
    }

    fn operator(&mut self, word: &str) -> Result<Expected, String> {
        let binary = regex!(r"^(?:[-+*/%<>&|^@]|[<>=!]=|<<|>>>?|&&|\|\|)$");
        match word {
            "[" => self.open.push("]"),
            "?" => self.open.push(":"),
            "." | "->" | "::" => return Ok(Expected::Name),
            ")" | "]" | ":" if self.open.last() == Some(&word) => {
                self.open.pop();
                if word != ":" {
                    return Ok(Expected::Operator);
                }
            }
            _ if binary.is_match(word) => {}
            _ => return Err(surplus(word)),
        }
        Ok(Expected::Operand)
    }

    fn end(&self) -> Result<(), String> {
        let missing = match (self.expected, self.open.last()) {
            (Expected::Operand, _) => "an operand".to_owned(),
            (Expected::Name, _) => "a name".to_owned(),
            (Expected::Operator, Some(word)) => format!("{word:?}"),
            (Expected::Operator, None) => return Ok(()),
        };
        Err(format!("{missing} is missing at the end"))
    }
}

/// Returns the text behind a type in parentheses, which are a cast, or the operand of `sizeof`,
/// and the part that has to come there. They hold a type where nothing else could stand in them,
/// or where an operand follows that could not follow a value.
fn behind_type(text: &str) -> Option<(&str, Expected)> {
    let in_parentheses = regex!(concat!(
        r"(?-u)^(sizeof\s*)?",
        r"\(\s*((?:[A-Za-z_]\w*(?:\s|::|\.)*)+[*&\s]*(?:\[\s*\]\s*)*)\)",
    ));
    let surely = regex!(concat!(
        r"\*|\b(?:unsigned|signed|char|short|int|long|float|double|void|bool|_Bool|const|volatile",
        r"|struct|union|enum|byte|boolean|final)\b",
    ));
    let found = in_parentheses.captures(text)?;
    let inside = found.get(2)?.as_str();
    let mut words = inside.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let rest = text.get(found.get(0)?.end()..)?.trim_ascii_start();
    let begins = |c: char| c.is_ascii_alphanumeric() || "_'(~".contains(c);
    let follows = rest.starts_with(begins) || rest.starts_with('!') && !rest.starts_with("!=");
    let is_type = !words.any(is_keyword) && (surely.is_match(inside) || follows);
    let expected = match found.get(1) {
        Some(_) => Expected::Operator,
        None => Expected::Operand,
    };
    is_type.then_some((rest, expected))
}

/// Returns the word with which a text begins; the reason where none begins like that.
fn first_word(text: &str) -> Result<&str, String> {
    let word = regex!(concat!(
        r"^(?:[A-Za-z_][A-Za-z0-9_]*|[0-9][A-Za-z0-9]*(?:\.[A-Za-z0-9]*)?",
        r"|'(?:\\[ -~]|[ -&(-\[\]-~]){1,7}'",
        r"|(?:<<|>>>?|[-+*/%&|^])=|\+\+|--|->|::|<<|>>>?|[<>=!]=|&&|\|\|",
        r"|[-+*/%<>&|^@!~=?:.\[\]()])",
    ));
    let number = regex!("^(?:0[xX][0-9A-Fa-f]*[uUlL]*|[0-9.eE]+[uUlLfFdD]*)$");
    let word = word.find(text).ok_or_else(|| stray(text))?.as_str();
    if word.starts_with(|c: char| c.is_ascii_digit()) && !number.is_match(word) {
        return Err(format!("{word:?} is no number"));
    }
    Ok(word)
}

fn is_constant(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit() || c == '\'')
}

/// Tells whether a word is no name: it acts, or needs a compiler.
fn is_keyword(word: &str) -> bool {
    let keyword = regex!(concat!(
        "^(?:new|delete|throw|return|if|while|for|do|goto|typeid|decltype|typeof|__typeof__|noexcept",
        "|alignof|_Alignof|await|yield|instanceof|switch|case|operator|asm|__asm__|class)$",
    ));
    keyword.is_match(word)
}

fn name(word: &str) -> Result<Expected, String> {
    if is_keyword(word) {
        return Err(format!("{word:?} is not read here"));
    }
    if word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return Ok(Expected::Operator);
    }
    Err(surplus(word))
}

/// Returns the reason why a word cannot stand where it stands.
fn surplus(word: &str) -> String {
    let assigns = regex!(r"^(?:(?:<<|>>>?|[-+*/%&|^])?=|\+\+|--)$");
    if assigns.is_match(word) {
        return format!("{word:?} changes the program; only reading is allowed");
    }
    match word {
        "(" => {
            "calls are not made and macros are not expanded; ask for the values that go into it, or write out what the \
             macro stands for"
                .to_owned()
        }
        _ if is_constant(word) => "a constant is not expected there".to_owned(),
        _ => format!("{word:?} is not expected there"),
    }
}

/// Returns the reason why no word begins as a text does.
fn stray(text: &str) -> String {
    match text.chars().next().unwrap_or_default() {
        '$' => "names with $ are a debugger's own and cannot be used".to_owned(),
        '"' => "text constants cannot be used; compare single characters or numbers".to_owned(),
        '\'' => "a character constant is one character between single quotes".to_owned(),
        c @ (',' | ';' | '{' | '}') => format!("one expression at a time, without {c:?}"),
        other => format!("{other:?} has no place in an expression"),
    }
}

#[cfg(test)]
mod tests {
    use super::Expression;
    use proptest::prelude::*;

    #[test]
    fn what_only_reads_is_read() {
        for text in [
            "n",
            "p->n",
            "s.a[i + 1].b",
            "*p",
            "&a[3]",
            "**argv",
            "a == b && c != 'x'",
            "(a - b) * 4",
            "(int)x",
            "(unsigned char)p[0]",
            "(struct item *)p",
            "((struct item *)p)->next",
            "(size_t)(end - begin)",
            "sizeof(x)",
            "sizeof(struct item)",
            "sizeof *p",
            "-1",
            "!p",
            "~0x1fUL",
            "1.5e3",
            "A::b",
            "::g",
            "geo::Box::count",
            "this->w",
            "this.size - 1",
            "a ? b : c",
            "x >> 3 & 0xff",
            "p[0]@8",
            "(a)",
            "a * (b)",
            "s->sel >= 18002",
            "'\\n' == c",
            "'\\'' == c",
            "(byte)b[0]",
            "(int[])o",
            "a<b",
            "list.elementData[0]",
        ] {
            assert!(
                Expression::read(text).is_ok(),
                "{text}: {:?}",
                Expression::read(text)
            );
        }
        assert_eq!(
            Expression::read("  a +\n b; ").unwrap().to_string(),
            "a + b"
        );
    }

    #[test]
    fn what_could_do_something_is_refused_with_the_reason() {
        for (text, reason) in [
            ("f()", "calls are not made"),
            ("a.f(1)", "calls are not made"),
            ("strlen(s)", "calls are not made"),
            ("(*f)(x)", "calls are not made"),
            ("p->f(x) + 1", "calls are not made"),
            ("sizeof(f(x))", "calls are not made"),
            ("a[f()]", "calls are not made"),
            ("a = 1", "changes the program"),
            ("a[i] += 2", "changes the program"),
            ("i++", "changes the program"),
            ("--i", "changes the program"),
            ("(a = 1)", "changes the program"),
            ("$_shell(\"id\")", "names with $"),
            ("$rip", "names with $"),
            ("\"x\"", "text constants"),
            ("a, b", "one expression at a time"),
            ("a; shell id", "one expression at a time"),
            ("shell id", "\"id\" is not expected"),
            ("python print(1)", "\"print\" is not expected"),
            ("new int", "\"new\" is not read"),
            ("a b", "\"b\" is not expected"),
            ("#include", "'#' has no place"),
            ("a\\n", "'\\\\' has no place"),
            ("`id`", "'`' has no place"),
            ("", "there is no expression"),
            ("a +", "missing at the end"),
            ("(a", "missing at the end"),
            ("12abc", "is no number"),
            ("'ab", "character constant"),
            ("x -- y", "changes the program"),
        ] {
            let refused = Expression::read(text).expect_err(text);
            assert!(refused.contains(reason), "{text}: {refused}");
        }
        assert!(Expression::read(&"(".repeat(100)).is_err());
        assert!(Expression::read(&"a+".repeat(150)).is_err());
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic_and_nothing_read_can_act(text in "[a-c0-9 ()\\[\\]+*=.,;$\"'\\\\<>!&|:?@-]{0,40}|\\PC{0,30}") {
            if let Some(text) = Expression::read(&text).ok().map(|read| read.to_string()).filter(|text| !text.contains('\'')) {
                let strange = text.contains(['$', '"', ';', ',', '\n', '\t', '{', '`', '#']);
                prop_assert!(!strange, "{}", text);
                let without = text.replace("==", "").replace("!=", "").replace("<=", "").replace(">=", "");
                prop_assert!(!without.contains('='), "{text}");
            }
        }
    }
}
