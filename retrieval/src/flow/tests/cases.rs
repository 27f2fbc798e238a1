//! The cases: title, file, question, and code with its marks.

mod classes;
mod locals;
mod members;

/// Title, file, question and code.
pub(super) type Case = (&'static str, &'static str, &'static str, &'static str);

/// Every case.
pub(super) fn cases() -> impl Iterator<Item = &'static Case> {
    [members::CASES, locals::CASES, classes::CASES]
        .into_iter()
        .flatten()
}
