//! Words of C and C++ by what they do in a declaration.

/// Words that may stand before a name and name no type.
pub(super) fn is_specifier(word: &[u8]) -> bool {
    matches!(
        word,
        b"static"
            | b"extern"
            | b"inline"
            | b"__inline"
            | b"__inline__"
            | b"__forceinline"
            | b"const"
            | b"constexpr"
            | b"consteval"
            | b"volatile"
            | b"virtual"
            | b"explicit"
            | b"friend"
            | b"register"
            | b"typedef"
            | b"mutable"
            | b"thread_local"
            | b"_Noreturn"
            | b"_Thread_local"
            | b"restrict"
            | b"__restrict"
            | b"__extension__"
            | b"export"
            | b"operator"
    )
}

/// Words that are types by themselves.
pub(super) fn is_builtin(word: &[u8]) -> bool {
    matches!(
        word,
        b"void"
            | b"char"
            | b"short"
            | b"int"
            | b"long"
            | b"float"
            | b"double"
            | b"signed"
            | b"unsigned"
            | b"bool"
            | b"_Bool"
            | b"auto"
            | b"wchar_t"
            | b"__int8"
            | b"__int16"
            | b"__int32"
            | b"__int64"
            | b"__int128"
    )
}

/// Words that begin a type with members.
pub(super) fn is_class_key(word: &[u8]) -> bool {
    matches!(word, b"struct" | b"union" | b"class" | b"enum")
}

/// Words that are followed by parentheses and belong to what stands before them.
pub(super) fn is_attribute(word: &[u8]) -> bool {
    matches!(
        word,
        b"__attribute__"
            | b"__attribute"
            | b"__declspec"
            | b"alignas"
            | b"_Alignas"
            | b"decltype"
            | b"typeof"
            | b"__typeof__"
            | b"__typeof"
            | b"noexcept"
            | b"throw"
            | b"asm"
            | b"__asm"
            | b"__asm__"
            | b"requires"
            | b"explicit"
            | b"_Static_assert"
            | b"static_assert"
    )
}

/// Words that follow the parameters in the grammar of C++.
pub(super) fn is_trailing(word: &[u8]) -> bool {
    matches!(
        word,
        b"const"
            | b"volatile"
            | b"noexcept"
            | b"override"
            | b"final"
            | b"throw"
            | b"try"
            | b"requires"
    )
}
