//! What one line of a build log is, by the words of compilers, linkers and build
//! tools. Knows nothing of the lines around it.

/// What a line is to an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// The first line of an error.
    Error,
    /// A line that says that something above failed: make's and ninja's.
    Follows,
    /// `In function`, `In file included from`: belongs to what comes next.
    Context,
    /// A warning, which is not shown.
    Warning,
    /// A note, which belongs to what it follows.
    Note,
    /// Code, carets, details: belongs to what it follows.
    Detail,
    /// Anything else.
    Other,
}

/// Phrases of linkers.
const LINKER: [&str; 12] = [
    "undefined reference to",
    "multiple definition of",
    "first defined here",
    "ld: cannot find ",
    "ld: error:",
    "undefined symbol: ",
    "duplicate symbol: ",
    "relocation truncated",
    "relocation R_",
    "ld returned ",
    "linker command failed",
    "file not recognized",
];

/// Words that begin an error of a build tool or a shell.
const TOOLS: [&str; 12] = [
    "CMake Error",
    "configure: error:",
    "* What went wrong:",
    "error: ",
    "fatal: ",
    "cc1: all warnings",
    "cc1plus: all warnings",
    "[ERROR] Failed to execute goal",
    "[ERROR] The build could not read",
    "[ERROR] Non-resolvable",
    "Error: ",
    "e: ",
];

/// What a line is, by itself.
pub(super) fn classify(line: &str) -> Class {
    let text = line.trim_start();
    let maven = text.strip_prefix("[ERROR] ");
    if text.starts_with("[WARNING]") {
        return Class::Warning;
    }
    if let Some(rest) = maven
        && rest.starts_with(' ')
    {
        return Class::Detail;
    }
    if is_position(text, "note: ") || text.starts_with(">>> ") {
        return Class::Note;
    }
    if is_position(text, "warning: ") || is_position(text, "Warnung: ") {
        return Class::Warning;
    }
    if text.contains("In file included from") || is_function_context(text) {
        return Class::Context;
    }
    if is_position(text, "error: ")
        || is_position(text, "fatal error: ")
        || maven.is_some_and(is_maven_position)
        || LINKER.iter().any(|phrase| text.contains(phrase))
        || text.contains(": Error: ")
        || line.contains("No rule to make target")
        || text.contains("*** missing separator")
        || is_shell(text)
    {
        return Class::Error;
    }
    if is_make(text) || text.starts_with("ninja: build stopped") || text.starts_with("FAILED: ") {
        return Class::Follows;
    }
    if TOOLS.iter().any(|word| line.starts_with(word)) {
        return Class::Error;
    }
    if line.starts_with([' ', '\t', '|']) || is_caret(text) || text.starts_with("from ") {
        return Class::Detail;
    }
    Class::Other
}

/// `file:12:5: error: ..`, `file:12: error: ..`, `clang: error: ..`.
fn is_position(text: &str, word: &str) -> bool {
    text.find(word).is_some_and(|at| {
        text.get(..at).is_some_and(|before| {
            before.ends_with(": ") && before.len() < 1000 && !before.trim_end().contains("  ")
        })
    })
}

/// `/x/Foo.java:[12,8] cannot find symbol`
fn is_maven_position(text: &str) -> bool {
    text.split_once(":[").is_some_and(|(path, rest)| {
        path.contains('.') && rest.split_once(']').is_some_and(|(at, _)| at.contains(','))
    })
}

/// `a.c: In function ‘f’:`, `/usr/bin/ld: a.o: in function `f':`
fn is_function_context(text: &str) -> bool {
    // gcc names what instantiated a template before the error in it.
    let instantiated = [
        ":   required from",
        ": In instantiation of",
        ":   recursively required",
    ];
    if instantiated.iter().any(|phrase| text.contains(phrase)) {
        return true;
    }
    text.ends_with(':')
        && [
            ": In ",
            ": in function",
            ": At top level",
            ": At global scope",
        ]
        .iter()
        .any(|phrase| text.contains(phrase))
}

/// The overloads of the standard library that do not fit: hundreds of lines.
pub(super) fn is_candidate(text: &str) -> bool {
    let system = text.starts_with("/usr/") || text.contains("/c++/");
    let words = [
        "candidate",
        "template argument deduction",
        "is not derived from",
    ];
    system && words.iter().any(|word| text.contains(word))
}

fn is_make(text: &str) -> bool {
    (text.starts_with("make") || text.starts_with("gmake")) && text.contains("*** ")
}

/// `sh: 1: flex: not found`, `line 3: foo: command not found`
fn is_shell(text: &str) -> bool {
    text.ends_with(": not found")
        || text.ends_with("command not found")
        || text.ends_with(": No such file or directory") && !text.contains("warning")
        || text.ends_with(": Permission denied")
}

/// The marks below a line of code.
pub(super) fn is_caret(text: &str) -> bool {
    text.contains('^')
        && text
            .chars()
            .all(|c| matches!(c, '^' | '~' | ' ' | '|' | '\t'))
}
