//! What may be asked of a debugger: an expression that only reads.
//!
//! Names, members, elements, casts, arithmetic and comparisons, in C, C++ and
//! Java alike. A call, an assignment or a debugger's own variables are
//! refused here, with the reason in words, before any debugger sees them.
//! What a name means, and whether it exists, is not known here.

mod token;

use std::fmt;
use token::{Token, tokens, word_of};

/// The longest expression that is read, in characters.
const LONGEST: usize = 200;
/// How deep parentheses and operators may be nested.
const DEEPEST: usize = 24;

/// Words that are no names: they do something, or need a compiler.
const KEYWORDS: &[&str] = &[
    "new",
    "delete",
    "throw",
    "return",
    "if",
    "while",
    "for",
    "do",
    "goto",
    "typeid",
    "decltype",
    "typeof",
    "__typeof__",
    "noexcept",
    "alignof",
    "_Alignof",
    "await",
    "yield",
    "instanceof",
    "switch",
    "case",
    "operator",
    "asm",
    "__asm__",
    "class",
];

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

/// Everything that changes something.
const ASSIGNMENTS: &[&str] = &[
    "=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", ">>>=", "&=", "|=", "^=", "++", "--",
];

/// An expression that was read and found harmless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression(String);

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// Why it cannot be asked, in words for whoever wrote it.
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
        self.peek() == Some(Token::Operator(word_of(word)))
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
            return self.operand_of_size();
        }
        self.primary()?;
        self.members()
    }

    /// `sizeof` takes what binds tightest; it does not run it.
    fn operand_of_size(&mut self) -> Result<(), String> {
        while UNARY.iter().any(|word| self.take(word)) {}
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
                Some(Token::Name(name)) if KEYWORDS.contains(&name) => {
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

    /// Takes `(type)` where an operand follows that could not follow a value.
    fn cast(&mut self) -> bool {
        let start = self.at;
        self.at += 1;
        let cast = self.type_name() && self.take(")") && self.casts(start);
        if !cast {
            self.at = start;
        }
        cast
    }

    /// Whether what was just read between parentheses can only be a type.
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
            if KEYWORDS.contains(&name) {
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
mod tests;
