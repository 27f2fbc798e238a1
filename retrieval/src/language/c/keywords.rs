//! Words of C and C++ by what they do.

use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Words of C that stand before a parenthesis or in a macro's body and name nothing.
pub(super) const KEYWORD: u16 = 1;
/// Words that nothing can have as its name, in C and C++.
pub(super) const RESERVED: u16 = 1 << 1;
/// The same in C++ alone.
pub(super) const RESERVED_CPP: u16 = 1 << 2;
/// Words that may stand before a name and name no type.
pub(super) const SPECIFIER: u16 = 1 << 3;
/// Words that are types by themselves.
pub(super) const BUILTIN: u16 = 1 << 4;
/// Words that begin a type with members.
pub(super) const CLASS_KEY: u16 = 1 << 5;
/// Words that are followed by parentheses and belong to what stands before them.
pub(super) const ATTRIBUTE: u16 = 1 << 6;
/// Words that follow the parameters in the grammar of C++.
pub(super) const TRAILING: u16 = 1 << 7;
/// Words that follow a name in C++ and are none of it.
pub(super) const VIRTUAL: u16 = 1 << 8;

/// The words of each sort, on the line of its bit.
const WORDS: &str = include_str!("keywords.txt");

/// Returns whether a word is of one of some sorts.
pub(super) fn is(word: &[u8], sorts: u16) -> bool {
    static TABLE: LazyLock<FxHashMap<&[u8], u16>> = LazyLock::new(|| {
        let mut table = FxHashMap::default();
        for (bit, words) in WORDS.lines().enumerate() {
            for word in words.split_whitespace() {
                *table.entry(word.as_bytes()).or_default() |= 1_u16 << bit;
            }
        }
        table
    });
    TABLE.get(word).is_some_and(|known| known & sorts != 0)
}

/// Returns whether a word is reserved by the language, so that nothing can have it as its
/// name.
pub(super) fn is_reserved(word: &[u8], is_cpp: bool) -> bool {
    let of_cpp = if is_cpp { RESERVED_CPP } else { 0 };
    is(word, RESERVED | of_cpp)
}
