//! CWE numbers: the usual weakness behind each kind of crash.
//!
//! A crash shows a symptom; the number is a likely name for it, not a finding. The
//! direction of the access decides where a weakness depends on it.

use super::{Access, Operation, Tool, phrases};

/// An uncaught exception of a class that is not listed.
pub(super) const UNCAUGHT: u32 = 248;

/// Returns the number of the weakness.
pub(super) fn of(tool: Tool, kind: &str, access: Option<&Access>) -> Option<u32> {
    let find = |table: &'static str, holds: &dyn Fn(&str) -> bool| {
        phrases::find(table, holds)?.parse::<u32>().ok()
    };
    let is_kind = |name: &str| name == kind;
    let by_direction = match access.and_then(|access| access.operation) {
        Some(Operation::Write) => "weaknesses of writes",
        Some(Operation::Read) => "weaknesses of reads",
        None => "weaknesses of accesses",
    };
    find("weaknesses", &is_kind)
        .or_else(|| find("weaknesses by prefix", &|prefix| kind.starts_with(prefix)))
        .or_else(|| {
            let near_null = access.filter(|access| access.is_near_null());
            near_null.and_then(|_| find("weaknesses near null", &is_kind))
        })
        .or_else(|| find(by_direction, &is_kind))
        .or_else(|| match tool {
            Tool::Jazzer | Tool::Java => {
                let simple = kind.rsplit(['.', '$']).next().unwrap_or(kind);
                let words = kind.to_ascii_lowercase().replace('-', " ");
                find("weaknesses of Jazzer", &|phrase| words.contains(phrase))
                    .or_else(|| find("weaknesses of Java", &|name| name == simple))
                    .or(Some(UNCAUGHT))
            }
            Tool::Rust => Some(UNCAUGHT),
            _ => None,
        })
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
