//! CWE numbers: the usual weakness behind each kind of crash.
//!
//! A crash shows a symptom; the number is a likely name for it, not a finding. The
//! direction of the access decides where a weakness depends on it.

use super::{Access, Operation, Tool};

/// Kinds of the sanitizers, libFuzzer, Valgrind and signals.
const NATIVE: [(&str, u32); 64] = [
    ("heap-use-after-free", 416),
    ("stack-use-after-return", 562),
    ("stack-use-after-scope", 562),
    ("use-after-poison", 825),
    ("use-after-free", 416),
    ("double-free", 415),
    ("invalid-free", 763),
    ("bad-free", 590),
    ("alloc-dealloc-mismatch", 762),
    ("new-delete-type-mismatch", 762),
    ("bad-malloc_usable_size", 590),
    ("memory-leak", 401),
    ("stack-overflow", 674),
    ("negative-size-param", 195),
    ("calloc-overflow", 190),
    ("reallocarray-overflow", 190),
    ("allocation-size-too-big", 789),
    ("out-of-memory", 770),
    ("rss-limit-exceeded", 770),
    ("memcpy-param-overlap", 475),
    ("memmove-param-overlap", 475),
    ("strcpy-param-overlap", 475),
    ("strcat-param-overlap", 475),
    ("strncpy-param-overlap", 475),
    ("overlapping-memory", 475),
    ("initialization-order-fiasco", 696),
    ("odr-violation", 758),
    ("invalid-pointer-pair", 469),
    ("heap-corruption", 787),
    ("stack-smashing", 121),
    ("buffer-overflow", 120),
    ("FPE", 369),
    ("integer-divide-by-zero", 369),
    ("float-divide-by-zero", 369),
    ("signed-integer-overflow", 190),
    ("unsigned-integer-overflow", 190),
    ("shift", 1335),
    ("null-pointer-use", 476),
    ("nullptr-with-offset", 476),
    ("invalid-null-argument", 476),
    ("invalid-null-return", 476),
    ("misaligned-pointer-use", 704),
    ("out-of-bounds-index", 129),
    ("insufficient-object-size", 119),
    ("pointer-overflow", 823),
    ("float-cast-overflow", 681),
    ("implicit-integer-conversion", 681),
    ("invalid-bool-load", 704),
    ("invalid-enum-load", 704),
    ("non-positive-vla-index", 1284),
    ("unreachable", 758),
    ("missing-return", 758),
    ("function-type-mismatch", 843),
    ("dynamic-type-mismatch", 843),
    ("cfi-bad-type", 843),
    ("invalid-builtin-use", 1284),
    ("use-of-uninitialized-value", 457),
    ("data-race", 362),
    ("lock-order-inversion", 833),
    ("assertion-failure", 617),
    ("uncaught-exception", 248),
    ("invalid-allocation-alignment", 1284),
    ("timeout", 835),
    ("hang", 835),
];

/// Beginnings of kinds of ThreadSanitizer and Valgrind.
const PREFIXES: [(&str, u32); 8] = [
    ("data-race", 362),
    ("lock-order-inversion", 833),
    ("thread-leak", 772),
    ("destroy-of-a-locked-mutex", 667),
    ("unlock-of", 667),
    ("double-lock", 667),
    ("read-lock", 667),
    ("signal-unsafe", 479),
];

/// Phrases of the first line of Jazzer's own findings, in lower case.
const JAZZER: [(&str, u32); 19] = [
    ("stack overflow", 674),
    ("out of memory", 770),
    ("os command injection", 78),
    ("sql injection", 89),
    ("ldap injection", 90),
    ("xpath injection", 643),
    ("expression language injection", 917),
    ("script engine injection", 94),
    ("regular expression injection", 1333),
    ("remote code execution", 502),
    ("deserialization", 502),
    ("remote jndi lookup", 74),
    ("server side request forgery", 918),
    ("path traversal", 22),
    ("outside of", 22),
    ("load arbitrary library", 114),
    ("arbitrary class", 470),
    ("reflective call", 470),
    ("integer overflow", 190),
];

/// Exceptions of the JDK by their simple names.
const JAVA: [(&str, u32); 20] = [
    ("NullPointerException", 476),
    ("ArrayIndexOutOfBoundsException", 129),
    ("StringIndexOutOfBoundsException", 129),
    ("IndexOutOfBoundsException", 129),
    ("NegativeArraySizeException", 789),
    ("ClassCastException", 704),
    ("ArrayStoreException", 704),
    ("ArithmeticException", 369),
    ("BufferOverflowException", 120),
    ("BufferUnderflowException", 125),
    ("StackOverflowError", 674),
    ("OutOfMemoryError", 770),
    ("AssertionError", 617),
    ("ConcurrentModificationException", 662),
    ("NoSuchElementException", 754),
    ("InputMismatchException", 20),
    ("NumberFormatException", 20),
    ("DateTimeException", 20),
    ("IllegalArgumentException", 20),
    ("PatternSyntaxException", 20),
];

/// An uncaught exception of a class that is not listed.
const UNCAUGHT: u32 = 248;

/// Returns the number of the weakness.
pub(super) fn of(tool: Tool, kind: &str, access: Option<&Access>) -> Option<u32> {
    let find = |table: &[(&str, u32)], holds: &dyn Fn(&str) -> bool| {
        table
            .iter()
            .find(|(name, _)| holds(name))
            .map(|(_, number)| *number)
    };
    find(&NATIVE, &|name| name == kind)
        .or_else(|| find(&PREFIXES, &|prefix| kind.starts_with(prefix)))
        .or_else(|| by_access(kind, access))
        .or_else(|| match tool {
            Tool::Jazzer | Tool::Java => {
                let simple = kind.rsplit(['.', '$']).next().unwrap_or(kind);
                let words = kind.to_ascii_lowercase().replace('-', " ");
                find(&JAZZER, &|phrase| words.contains(phrase))
                    .or_else(|| find(&JAVA, &|name| name == simple))
                    .or(Some(UNCAUGHT))
            }
            Tool::Rust => Some(UNCAUGHT),
            _ => None,
        })
}

/// Names out-of-bounds accesses by direction and kind of memory.
fn by_access(kind: &str, access: Option<&Access>) -> Option<u32> {
    let write = access.and_then(|access| access.operation) == Some(Operation::Write);
    match kind {
        "stack-buffer-underflow" if write => Some(124),
        "stack-buffer-underflow" => Some(127),
        "heap-buffer-overflow" if write => Some(122),
        "stack-buffer-overflow" | "dynamic-stack-buffer-overflow" if write => Some(121),
        "SEGV" | "BUS" | "invalid-read" | "invalid-write"
            if access.is_some_and(Access::is_near_null) =>
        {
            Some(476)
        }
        "ILL" | "TRAP" | "ABRT" => Some(617),
        "heap-buffer-overflow"
        | "stack-buffer-overflow"
        | "dynamic-stack-buffer-overflow"
        | "global-buffer-overflow"
        | "container-overflow"
        | "intra-object-overflow"
        | "invalid-read"
        | "invalid-write"
        | "unknown-crash"
        | "SEGV"
        | "BUS" => Some(match access.and_then(|access| access.operation) {
            Some(Operation::Write) => 787,
            Some(Operation::Read) => 125,
            None => 119,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::crash::{Access, Operation, Tool};

    #[test]
    fn names_the_usual_weakness() {
        let read = Access {
            operation: Some(Operation::Read),
            ..Access::default()
        };
        let write = Access {
            operation: Some(Operation::Write),
            ..Access::default()
        };
        let null = Access {
            address: Some("0x000000000018".to_owned()),
            ..Access::default()
        };
        for (tool, kind, access, expected) in [
            (
                Tool::AddressSanitizer,
                "heap-buffer-overflow",
                Some(&read),
                Some(125),
            ),
            (
                Tool::AddressSanitizer,
                "heap-buffer-overflow",
                Some(&write),
                Some(122),
            ),
            (
                Tool::AddressSanitizer,
                "global-buffer-overflow",
                Some(&write),
                Some(787),
            ),
            (Tool::AddressSanitizer, "SEGV", Some(&null), Some(476)),
            (Tool::AddressSanitizer, "SEGV", None, Some(119)),
            (Tool::AddressSanitizer, "no-such-kind", None, None),
            (Tool::ThreadSanitizer, "data-race-on-vptr", None, Some(362)),
            (
                Tool::Java,
                "java.lang.NullPointerException",
                None,
                Some(476),
            ),
            (Tool::Java, "org.acme.Odd$Inner", None, Some(248)),
            (Tool::Jazzer, "os-command-injection", None, Some(78)),
        ] {
            assert_eq!(of(tool, kind, access), expected, "{kind}");
        }
    }
}
