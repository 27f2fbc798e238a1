//! Phrases that tell the intent of a request: a table, and nothing that reads it.

use crate::intent::Intent::{
    self, BugFix, DefinitionLookup, Refactor, TestWriting, UsageExploration,
};

/// The phrases of each kind of request, separated by commas, and what each of them weighs. A
/// phrase ends where a word does; ` * ` stands for up to four words.
pub(crate) const PHRASES: &[(Intent, u32, &str)] = &[
    (
        DefinitionLookup,
        5,
        "where is * defined, where are * defined, how is * defined",
    ),
    (DefinitionLookup, 4, "definition of, find the definition"),
    (
        DefinitionLookup,
        3,
        "what is, what does, which file, signature of",
    ),
    (DefinitionLookup, 2, "show me, declared, where is, explain"),
    (
        UsageExploration,
        6,
        "where is * used, where is * called, how is * used, who calls, what calls, callers of",
    ),
    (
        UsageExploration,
        5,
        "where do * use, usages, usage of, uses of, references to, which * call, which * use",
    ),
    (UsageExploration, 4, "all places"),
    (UsageExploration, 3, "find all, depends on"),
    (
        BugFix,
        6,
        "use after free, traceback, segfault, double free, null deref",
    ),
    (
        BugFix,
        5,
        "crash, crashes, out of bounds, vulnerability, oom, overrun, aborts, asan",
    ),
    (
        BugFix,
        4,
        "fix, bug, fails, broken, overflow, null pointer, infinite loop, assertion",
    ),
    (BugFix, 3, "wrong, incorrect, exception, leak, hang, abort"),
    (BugFix, 2, "error"),
    (Refactor, 6, "refactor, rename, restructure"),
    (
        Refactor,
        5,
        "clean up, deduplicate, remove duplication, reorganize",
    ),
    (Refactor, 4, "cleanup, simplify, merge * into"),
    (Refactor, 3, "extract, split, move"),
    (Refactor, 2, "convert"),
    (TestWriting, 8, "write unit tests, add unit tests"),
    (
        TestWriting,
        7,
        "write tests, write a test, add tests, add a test",
    ),
    (TestWriting, 6, "test coverage, tests for"),
    (TestWriting, 5, "unit test, unit tests, test for"),
    (TestWriting, 4, "test cases, spec for"),
    (TestWriting, 2, "test, tests"),
];

/// Words that ask for something when a request begins with them.
pub(crate) const TO_DO: &str = "add allow build change cache configure create disallow enable ensure extend implement \
     improve introduce let limit make only optimize permit prevent provide reduce remove \
     replace require restrict return send set speed store strip support update use warn write";
