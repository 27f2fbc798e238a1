//! Our languages as ast-grep sees them: over the grammars that the rest of
//! the program uses, instead of a second set.

use ast_grep_core::Language as AstLanguage;
use ast_grep_core::matcher::{Pattern, PatternBuilder, PatternError};
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc, TSLanguage};
use patchwright_source::Language;
use std::borrow::Cow;

/// A language with the letter that stands for `$` while a pattern is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grammar(pub(crate) Language);

impl AstLanguage for Grammar {
    fn pre_process_pattern<'q>(&self, query: &'q str) -> Cow<'q, str> {
        Cow::Owned(with_expando(query, self.expando_char()))
    }

    /// Where `$` is no letter of a name, another letter takes its place.
    fn expando_char(&self) -> char {
        match self.0 {
            Language::C | Language::Cpp => '\u{10000}',
            Language::Python | Language::Go | Language::Rust => '\u{b5}',
            Language::Java | Language::JavaScript | Language::TypeScript | Language::Tsx => '$',
        }
    }

    fn kind_to_id(&self, kind: &str) -> u16 {
        self.0.grammar().id_for_node_kind(kind, true)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.0.grammar().field_id_for_name(field).map(u16::from)
    }

    fn build_pattern(&self, builder: &PatternBuilder<'_>) -> Result<Pattern, PatternError> {
        builder.build(|source| StrDoc::try_new(source, *self))
    }
}

impl LanguageExt for Grammar {
    fn get_ts_language(&self) -> TSLanguage {
        self.0.grammar()
    }
}

/// Replaces the `$` of every meta variable, and writes its name in capitals:
/// only those count, and models write `$dst` as well.
pub(super) fn with_expando(pattern: &str, expando: char) -> String {
    let characters: Vec<char> = pattern.chars().collect();
    let mut out = String::with_capacity(pattern.len());
    let mut at = 0;
    while let Some(character) = characters.get(at) {
        if *character != '$' {
            out.push(*character);
            at += 1;
            continue;
        }
        let dollars = run_of(&characters, at, |c| c == '$');
        let name = run_of(&characters, at + dollars, |c| {
            c.is_alphanumeric() || c == '_'
        });
        let named = characters
            .get(at + dollars)
            .is_some_and(|c| !c.is_numeric())
            && name > 0;
        let is_variable = dollars == 3 || (dollars == 1 && named);
        let sign = if is_variable { expando } else { '$' };
        out.extend(std::iter::repeat_n(sign, dollars));
        for letter in characters.iter().skip(at + dollars).take(name) {
            if is_variable {
                out.extend(letter.to_uppercase());
            } else {
                out.push(*letter);
            }
        }
        at += dollars + name;
    }
    out
}

fn run_of(characters: &[char], from: usize, belongs: impl Fn(char) -> bool) -> usize {
    characters
        .iter()
        .skip(from)
        .take_while(|character| belongs(**character))
        .count()
}
