//! Phrases that tell the intent of a request: a table, and nothing that reads it.

/// Phrases, separated by commas, and what each of them weighs. A phrase ends where a word does;
/// ` * ` stands for up to four words.
pub(crate) type Marks = &'static [(u32, &'static str)];

/// Phrases of a request for a definition.
pub(crate) const LOOKUP: Marks = &[
    (
        5,
        "where is * defined, where are * defined, how is * defined",
    ),
    (4, "definition of, find the definition"),
    (3, "what is, what does, which file, signature of"),
    (2, "show me, declared, where is, explain"),
];

/// Phrases of a request for uses.
pub(crate) const USAGE: Marks = &[
    (
        6,
        "where is * used, where is * called, how is * used, who calls, what calls, callers of",
    ),
    (
        5,
        "where do * use, usages, usage of, uses of, references to, which * call, which * use",
    ),
    (4, "all places"),
    (3, "find all, depends on"),
];

/// Phrases of a request for a repair.
pub(crate) const BUG: Marks = &[
    (
        6,
        "use after free, traceback, segfault, double free, null deref",
    ),
    (
        5,
        "crash, crashes, out of bounds, vulnerability, oom, overrun, aborts, asan",
    ),
    (
        4,
        "fix, bug, fails, broken, overflow, null pointer, infinite loop, assertion",
    ),
    (3, "wrong, incorrect, exception, leak, hang, abort"),
    (2, "error"),
];

/// Phrases of a request for a refactoring.
pub(crate) const REFACTOR: Marks = &[
    (6, "refactor, rename, restructure"),
    (5, "clean up, deduplicate, remove duplication, reorganize"),
    (4, "cleanup, simplify, merge * into"),
    (3, "extract, split, move"),
    (2, "convert"),
];

/// Phrases of a request for tests.
pub(crate) const TESTS: Marks = &[
    (8, "write unit tests, add unit tests"),
    (7, "write tests, write a test, add tests, add a test"),
    (6, "test coverage, tests for"),
    (5, "unit test, unit tests, test for"),
    (4, "test cases, spec for"),
    (2, "test, tests"),
];

/// Words that ask for something when a request begins with them.
pub(crate) const TO_DO: &str = "add allow build change cache configure create disallow enable ensure extend implement \
     improve introduce let limit make only optimize permit prevent provide reduce remove \
     replace require restrict return send set speed store strip support update use warn write";
