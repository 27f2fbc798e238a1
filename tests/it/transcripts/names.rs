//! Lines and names of code, as far as transcripts need to know them.

use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

static NUMBERED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^ *\d+: ?").unwrap());
static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[A-Za-z_][A-Za-z0-9_]*").unwrap());
/// Comments, strings and characters hold words that are no names.
static NO_CODE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?s)/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'"#).unwrap()
});
static DECLARED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b[A-Za-z_][A-Za-z0-9_]*[ *&]+([A-Za-z_][A-Za-z0-9_]*)\s*(?:=|;|\()").unwrap()
});

/// The languages' own words.
const KEYWORDS: [&str; 45] = [
    "auto", "bool", "boolean", "break", "case", "catch", "char", "class", "const", "continue",
    "default", "do", "double", "else", "enum", "extern", "false", "final", "float", "for", "goto",
    "if", "int", "long", "new", "null", "nullptr", "private", "public", "return", "short",
    "signed", "sizeof", "static", "struct", "switch", "this", "throw", "true", "try", "typedef",
    "union", "unsigned", "void", "while",
];

/// The lines and names that prompts showed.
pub(super) struct Shown {
    lines: BTreeSet<String>,
    names: BTreeSet<String>,
}

impl Shown {
    pub(super) fn in_prompts<'a>(prompts: impl Iterator<Item = &'a str>) -> Self {
        let (mut lines, mut names) = (BTreeSet::new(), BTreeSet::new());
        for prompt in prompts {
            names.extend(NAME.find_iter(prompt).map(|name| name.as_str().to_owned()));
            lines.extend(
                prompt
                    .lines()
                    .map(|line| NUMBERED.replace(line, "").trim().to_owned()),
            );
        }
        Self { lines, names }
    }

    pub(super) fn has_line(&self, line: &str) -> bool {
        self.lines.contains(line.trim())
    }

    pub(super) fn has_name(&self, name: &str) -> bool {
        self.names.contains(name) || KEYWORDS.contains(&name)
    }
}

/// The names in some code, without those in comments and strings.
pub(super) fn code_names(code: &str) -> BTreeSet<String> {
    let code = NO_CODE.replace_all(code, " ");
    NAME.find_iter(&code)
        .map(|name| name.as_str().to_owned())
        .collect()
}

/// The names that some code declares itself.
pub(super) fn declared(code: &str) -> Vec<String> {
    DECLARED
        .captures_iter(code)
        .filter(|found| !found[0].starts_with("return"))
        .map(|found| found[1].to_owned())
        .collect()
}
