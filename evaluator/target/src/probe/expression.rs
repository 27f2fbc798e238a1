//! Probe expressions: expressions for a debugger that only read.
//!
//! Names, members, elements, casts, arithmetic and comparisons of C, C++ and Java. Calls,
//! assignments and variables of the debugger are refused here with a reason, before any
//! debugger sees them. Names are not resolved here.

use super::token::{Token, tokens};
use std::fmt;

/// The longest expression that is read, in characters.
const LONGEST: usize = 200;
/// The deepest nesting of parentheses and operators.
const DEEPEST: usize = 24;

/// Keywords, which are no names: they act, or need a compiler.
const KEYWORDS: &str = "new delete throw return if while for do goto typeid decltype typeof \
     __typeof__ noexcept alignof _Alignof await yield instanceof switch case operator asm __asm__ class";

/// Words that begin a type.
const TYPE_WORDS: &[&str] = &[
    "unsigned", "signed", "char", "short", "int", "long", "float", "double", "void", "bool",
    "_Bool", "const", "volatile", "struct", "union", "enum", "byte", "boolean", "final",
];

/// Operators between two operands.
const BINARY: &[&str] = &[
    "+", "-", "*", "/", "%", "<<", ">>", ">>>", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "&",
    "|", "^", "@",
];

/// Operators before an operand.
const UNARY: &[&str] = &["-", "+", "!", "~", "*", "&"];

/// Operators that assign.
const ASSIGNMENTS: &[&str] = &[
    "=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", ">>>=", "&=", "|=", "^=", "++", "--",
];

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
        let tokens = tokens(text)?;
        let mut reader = Reader {
            tokens: &tokens,
            at: 0,
            depth: 0,
        };
        reader.expression()?;
        match reader.peek() {
            None => Ok(Self(text.split_whitespace().collect::<Vec<_>>().join(" "))),
            Some(token) => Err(surplus(token)),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_keyword(name: &str) -> bool {
    KEYWORDS.split(' ').any(|keyword| keyword == name)
}

fn surplus(token: Token<'_>) -> String {
    match token {
        Token::Operator(word) if ASSIGNMENTS.contains(&word) => {
            format!("{word:?} changes the program; only reading is allowed")
        }
        Token::Operator("(") => {
            "calls are not made and macros are not expanded; ask for the values that go into it, or write out what the \
             macro stands for"
                .to_owned()
        }
        Token::Operator(word) => format!("{word:?} is not expected there"),
        Token::Name(name) => format!("{name:?} is not expected there"),
        Token::Value => "a constant is not expected there".to_owned(),
    }
}

struct Reader<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at).copied()
    }

    fn is(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Operator(there)) if there == word)
    }

    fn take(&mut self, word: &str) -> bool {
        let there = self.is(word);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        if self.take(word) {
            return Ok(());
        }
        Err(self
            .peek()
            .map_or_else(|| format!("{word:?} is missing at the end"), surplus))
    }

    fn expression(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("it is nested too deeply".to_owned());
        }
        self.operand()?;
        while let Some(Token::Operator(word)) = self.peek() {
            if word == "?" {
                self.at += 1;
                self.expression()?;
                self.expect(":")?;
            } else if BINARY.contains(&word) {
                self.at += 1;
            } else {
                break;
            }
            self.operand()?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn operand(&mut self) -> Result<(), String> {
        while let Some(Token::Operator(word)) = self.peek() {
            if UNARY.contains(&word) {
                self.at += 1;
            } else if word != "(" || !self.cast() {
                break;
            }
        }
        if self.peek() == Some(Token::Name("sizeof")) {
            self.at += 1;
            if self.is("(") && self.cast() {
                return Ok(());
            }
            // What is measured is not evaluated.
            while UNARY.iter().any(|word| self.take(word)) {}
        }
        self.primary()?;
        self.members()
    }

    fn primary(&mut self) -> Result<(), String> {
        match self.peek() {
            Some(Token::Value) => self.at += 1,
            Some(Token::Operator("(")) => {
                self.at += 1;
                self.expression()?;
                self.expect(")")?;
            }
            Some(Token::Operator("::")) => {
                self.at += 1;
                self.name()?;
            }
            Some(Token::Name(_)) => self.name()?,
            Some(token) => return Err(surplus(token)),
            None => return Err("an operand is missing at the end".to_owned()),
        }
        Ok(())
    }

    fn name(&mut self) -> Result<(), String> {
        loop {
            match self.peek() {
                Some(Token::Name(name)) if is_keyword(name) => {
                    return Err(format!("{name:?} is not read here"));
                }
                Some(Token::Name(_)) => self.at += 1,
                Some(token) => return Err(surplus(token)),
                None => return Err("a name is missing at the end".to_owned()),
            }
            if !self.take("::") {
                return Ok(());
            }
        }
    }

    fn members(&mut self) -> Result<(), String> {
        loop {
            if self.take("[") {
                self.expression()?;
                self.expect("]")?;
            } else if self.take(".") || self.take("->") {
                self.name()?;
            } else if self.is("(") {
                return Err(surplus(Token::Operator("(")));
            } else {
                return Ok(());
            }
        }
    }

    /// Reads `(type)` where an operand follows that could not follow a value.
    fn cast(&mut self) -> bool {
        let start = self.at;
        self.at += 1;
        let cast = self.type_name() && self.take(")") && self.casts(start);
        if !cast {
            self.at = start;
        }
        cast
    }

    /// Tells whether the tokens between parentheses can only be a type.
    fn casts(&self, start: usize) -> bool {
        let inside = self.tokens.get(start + 1..self.at - 1).unwrap_or_default();
        let surely = inside.iter().any(|token| match token {
            Token::Name(name) => TYPE_WORDS.contains(name),
            Token::Operator(word) => *word == "*",
            Token::Value => false,
        });
        let follows = matches!(
            self.peek(),
            Some(Token::Name(_) | Token::Value | Token::Operator("(" | "!" | "~"))
        );
        surely || follows
    }

    fn type_name(&mut self) -> bool {
        let mut named = false;
        while let Some(Token::Name(name)) = self.peek() {
            if is_keyword(name) {
                return false;
            }
            self.at += 1;
            named = true;
            while self.take("::") || self.take(".") {}
        }
        while self.take("*") || self.take("&") {}
        while self.is("[") {
            self.at += 1;
            if !self.take("]") {
                return false;
            }
        }
        named
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
