//! CWE numbers: the usual weakness behind each kind of crash.
//!
//! A crash shows a symptom; the number is a likely name for it, not a finding. The
//! direction of the access decides where a weakness depends on it.

use super::{Access, Operation, Tool, phrases};

/// Kinds of the sanitizers, libFuzzer, Valgrind and signals.
const NATIVE: &str = r"416: heap-use-after-free|use-after-free
562: stack-use-after-return|stack-use-after-scope
825: use-after-poison
415: double-free
763: invalid-free
590: bad-free|bad-malloc_usable_size
762: alloc-dealloc-mismatch|new-delete-type-mismatch
401: memory-leak
674: stack-overflow
195: negative-size-param
190: calloc-overflow|reallocarray-overflow|signed-integer-overflow|unsigned-integer-overflow
789: allocation-size-too-big
770: out-of-memory|rss-limit-exceeded
475: memcpy-param-overlap|memmove-param-overlap|strcpy-param-overlap|strcat-param-overlap
475: strncpy-param-overlap|overlapping-memory
696: initialization-order-fiasco
758: odr-violation|unreachable|missing-return
469: invalid-pointer-pair
787: heap-corruption
121: stack-smashing
120: buffer-overflow
369: FPE|integer-divide-by-zero|float-divide-by-zero
1335: shift
476: null-pointer-use|nullptr-with-offset|invalid-null-argument|invalid-null-return
704: misaligned-pointer-use|invalid-bool-load|invalid-enum-load
129: out-of-bounds-index
119: insufficient-object-size
823: pointer-overflow
681: float-cast-overflow|implicit-integer-conversion
1284: non-positive-vla-index|invalid-builtin-use|invalid-allocation-alignment
843: function-type-mismatch|dynamic-type-mismatch|cfi-bad-type
457: use-of-uninitialized-value
362: data-race
833: lock-order-inversion
617: assertion-failure
248: uncaught-exception
835: timeout|hang";

/// Beginnings of kinds of ThreadSanitizer and Valgrind.
const PREFIXES: &str = r"362: data-race
833: lock-order-inversion
772: thread-leak
667: destroy-of-a-locked-mutex|unlock-of|double-lock|read-lock
479: signal-unsafe";

/// Phrases of the first line of Jazzer's own findings, in lower case.
const JAZZER: &str = r"674: stack overflow
770: out of memory
78: os command injection
89: sql injection
90: ldap injection
643: xpath injection
917: expression language injection
94: script engine injection
1333: regular expression injection
502: remote code execution|deserialization
74: remote jndi lookup
918: server side request forgery
22: path traversal|outside of
114: load arbitrary library
470: arbitrary class|reflective call
190: integer overflow";

/// Exceptions of the JDK by their simple names.
const JAVA: &str = r"476: NullPointerException
129: ArrayIndexOutOfBoundsException|StringIndexOutOfBoundsException|IndexOutOfBoundsException
789: NegativeArraySizeException
704: ClassCastException|ArrayStoreException
369: ArithmeticException
120: BufferOverflowException
125: BufferUnderflowException
674: StackOverflowError
770: OutOfMemoryError
617: AssertionError
662: ConcurrentModificationException
754: NoSuchElementException
20: InputMismatchException|NumberFormatException|DateTimeException|IllegalArgumentException
20: PatternSyntaxException";

/// An uncaught exception of a class that is not listed.
const UNCAUGHT: u32 = 248;

/// Returns the number of the weakness.
pub(super) fn of(tool: Tool, kind: &str, access: Option<&Access>) -> Option<u32> {
    let find = |table: &'static str, holds: &dyn Fn(&str) -> bool| {
        phrases::find(table, holds)?.parse::<u32>().ok()
    };
    find(NATIVE, &|name| name == kind)
        .or_else(|| find(PREFIXES, &|prefix| kind.starts_with(prefix)))
        .or_else(|| by_access(kind, access))
        .or_else(|| match tool {
            Tool::Jazzer | Tool::Java => {
                let simple = kind.rsplit(['.', '$']).next().unwrap_or(kind);
                let words = kind.to_ascii_lowercase().replace('-', " ");
                find(JAZZER, &|phrase| words.contains(phrase))
                    .or_else(|| find(JAVA, &|name| name == simple))
                    .or(Some(UNCAUGHT))
            }
            Tool::Rust => Some(UNCAUGHT),
            _ => None,
        })
}

/// Kinds that the direction of the access decides.
const MEMORY: &str = "heap-buffer-overflow|stack-buffer-overflow|dynamic-stack-buffer-overflow|\
     global-buffer-overflow|container-overflow|intra-object-overflow|invalid-read|invalid-write|\
     unknown-crash|SEGV|BUS|access-violation";

/// Names out-of-bounds accesses by direction and kind of memory.
fn by_access(kind: &str, access: Option<&Access>) -> Option<u32> {
    let write = access.and_then(|access| access.operation) == Some(Operation::Write);
    match kind {
        "stack-buffer-underflow" if write => Some(124),
        "stack-buffer-underflow" => Some(127),
        "heap-buffer-overflow" if write => Some(122),
        "stack-buffer-overflow" | "dynamic-stack-buffer-overflow" if write => Some(121),
        "SEGV" | "BUS" | "access-violation" | "invalid-read" | "invalid-write"
            if access.is_some_and(Access::is_near_null) =>
        {
            Some(476)
        }
        "ILL" | "TRAP" | "ABRT" => Some(617),
        _ if MEMORY.split('|').any(|known| known == kind) => {
            Some(match access.and_then(|access| access.operation) {
                Some(Operation::Write) => 787,
                Some(Operation::Read) => 125,
                None => 119,
            })
        }
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
