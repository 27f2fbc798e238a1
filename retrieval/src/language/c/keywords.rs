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

const WORDS: [(u16, &str); 10] = [
    (
        KEYWORD | RESERVED,
        "if else for while do switch case default return goto break continue sizeof struct union \
         enum const static extern void int char long short unsigned signed float double inline \
         volatile typedef",
    ),
    (KEYWORD, "catch defined"),
    (RESERVED, "auto register restrict _Bool _Static_assert"),
    (
        RESERVED_CPP,
        "alignas alignof and asm bool catch class const_cast constexpr decltype delete \
         dynamic_cast explicit export false friend mutable namespace new noexcept not nullptr \
         operator or private protected public reinterpret_cast static_assert static_cast \
         template this thread_local throw true try typeid typename using virtual wchar_t",
    ),
    (
        SPECIFIER,
        "static extern inline __inline __inline__ __forceinline const constexpr consteval \
         volatile virtual explicit friend register typedef mutable thread_local _Noreturn \
         _Thread_local restrict __restrict __extension__ export operator",
    ),
    (
        BUILTIN,
        "void char short int long float double signed unsigned bool _Bool auto wchar_t __int8 \
         __int16 __int32 __int64 __int128",
    ),
    (CLASS_KEY, "struct union class enum"),
    (
        ATTRIBUTE,
        "__attribute__ __attribute __declspec alignas _Alignas decltype typeof __typeof__ \
         __typeof noexcept throw asm __asm __asm__ requires explicit _Static_assert static_assert",
    ),
    (
        TRAILING,
        "const volatile noexcept override final throw try requires",
    ),
    (VIRTUAL, "final override"),
];

/// Returns whether a word is of one of some sorts.
pub(super) fn is(word: &[u8], sorts: u16) -> bool {
    static TABLE: LazyLock<FxHashMap<&[u8], u16>> = LazyLock::new(|| {
        let mut table = FxHashMap::default();
        for (sort, words) in WORDS {
            for word in words.split_whitespace() {
                *table.entry(word.as_bytes()).or_default() |= sort;
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
