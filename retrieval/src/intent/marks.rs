//! The phrases that speak for each kind of request, in English.

/// Phrases and what each weighs. A phrase ends where a word does; ` * ` stands
/// for up to four words.
pub(super) type Marks = &'static [(&'static str, u32)];

/// What asks for a definition.
pub(super) const LOOKUP: Marks = &[
    ("where is * defined", 5),
    ("where are * defined", 5),
    ("what is", 3),
    ("what does", 3),
    ("definition of", 4),
    ("find the definition", 4),
    ("show me", 2),
    ("which file", 3),
    ("how is * defined", 5),
    ("declared", 2),
    ("where is", 2),
    ("signature of", 3),
    ("explain", 2),
];

/// What asks for uses.
pub(super) const USAGE: Marks = &[
    ("where is * used", 6),
    ("where is * called", 6),
    ("where do * use", 5),
    ("how is * used", 6),
    ("who calls", 6),
    ("what calls", 6),
    ("callers of", 6),
    ("usages", 5),
    ("usage of", 5),
    ("uses of", 5),
    ("references to", 5),
    ("which * call", 5),
    ("which * use", 5),
    ("all places", 4),
    ("find all", 3),
    ("depends on", 3),
];

/// What asks for something new.
pub(super) const IMPLEMENTATION: Marks = &[
    ("implement", 4),
    ("add", 2),
    ("add support", 3),
    ("support", 2),
    ("create", 3),
    ("introduce", 3),
    ("new", 1),
    ("feature", 2),
    ("extend", 2),
    ("allow", 2),
    ("make * faster", 3),
    ("speed up", 3),
    ("integrate", 3),
];

/// What asks for a repair.
pub(super) const BUG: Marks = &[
    ("fix", 4),
    ("bug", 4),
    ("error", 2),
    ("crash", 5),
    ("crashes", 5),
    ("fails", 4),
    ("failing", 3),
    ("failure", 3),
    ("broken", 4),
    ("wrong", 3),
    ("incorrect", 3),
    ("incorrectly", 3),
    ("not correctly", 4),
    ("not working", 4),
    ("does not work", 4),
    ("doesn't", 2),
    ("exception", 3),
    ("typeerror", 5),
    ("overflow", 4),
    ("use after free", 6),
    ("null pointer", 4),
    ("leak", 3),
    ("leaks", 3),
    ("hang", 3),
    ("hangs", 4),
    ("infinite loop", 4),
    ("out of bounds", 5),
    ("vulnerability", 5),
    ("misses", 2),
    ("reporting that", 3),
    ("regression", 3),
    ("returns early", 3),
    ("traceback", 6),
    ("freed", 4),
    ("twice", 2),
    ("never ends", 4),
    ("too many", 3),
    ("more * than", 3),
    ("outside of", 3),
    ("outside the", 3),
    ("before the start", 4),
    ("past the end", 4),
    ("beyond the", 3),
];

/// What asks for a change of form.
pub(super) const REFACTOR: Marks = &[
    ("refactor", 6),
    ("rename", 6),
    ("restructure", 6),
    ("clean up", 5),
    ("cleanup", 4),
    ("simplify", 4),
    ("extract", 3),
    ("split", 3),
    ("move", 3),
    ("deduplicate", 5),
    ("remove duplication", 5),
    ("merge * into", 4),
    ("reorganize", 5),
    ("convert", 2),
];

/// What asks for tests.
pub(super) const TESTS: Marks = &[
    ("write tests", 7),
    ("write a test", 7),
    ("write unit tests", 8),
    ("add tests", 7),
    ("add a test", 7),
    ("add unit tests", 8),
    ("unit test", 5),
    ("unit tests", 5),
    ("test coverage", 6),
    ("tests for", 6),
    ("test for", 5),
    ("test cases", 4),
    ("spec for", 4),
    ("test", 2),
    ("tests", 2),
];
