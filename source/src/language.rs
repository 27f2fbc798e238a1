//! Languages of files.

use crate::{TreePath, words};
use serde::{Deserialize, Serialize};

/// A language with a grammar.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// C, headers included (a `.h` that holds C++ is read as C++ by [`Language::of`]).
    #[default]
    C,
    /// C++.
    #[serde(rename = "c++")]
    Cpp,
    Java,
    Python,
    Go,
    Rust,
    /// JavaScript, with JSX.
    JavaScript,
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
}

/// Words that only C++ puts at the start of a line of a header.
const CPP_MARKS: [&str; 8] = [
    "class ",
    "namespace ",
    "template",
    "public:",
    "private:",
    "protected:",
    "using ",
    "virtual ",
];

words!(Language: C "c", Cpp "c++", Java "java", Python "python", Go "go", Rust "rust",
    JavaScript "javascript", TypeScript "typescript", Tsx "tsx");

impl Language {
    /// The language that a file's extension names; `.h` counts as C, and
    /// `.h.in` and `.c.in` as what is made of them.
    pub fn of_path(path: &TreePath) -> Option<Self> {
        let extension = match path.extension()? {
            "in" => product_of_template(path)?.rsplit('.').next()?,
            extension => extension,
        };
        Some(match extension {
            "c" | "h" => Self::C,
            "cc" | "cpp" | "cxx" | "c++" | "C" | "hh" | "hpp" | "hxx" | "h++" | "H" | "inl"
            | "ipp" | "tcc" | "cu" => Self::Cpp,
            "java" => Self::Java,
            "py" | "pyi" => Self::Python,
            "go" => Self::Go,
            "rs" => Self::Rust,
            "js" | "mjs" | "cjs" | "jsx" => Self::JavaScript,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "tsx" => Self::Tsx,
            _ => return None,
        })
    }

    /// The language of a file, its content considered: a `.h` with C++ in it
    /// is C++.
    pub fn of(path: &TreePath, bytes: &[u8]) -> Option<Self> {
        let language = Self::of_path(path)?;
        if matches!(path.extension(), Some("h" | "in")) && holds_cpp(bytes) {
            return Some(Self::Cpp);
        }
        Some(language)
    }

    /// One language for all whose programs call each other directly.
    #[must_use]
    pub fn family(self) -> Self {
        match self {
            Self::Cpp => Self::C,
            Self::TypeScript | Self::Tsx => Self::JavaScript,
            other => other,
        }
    }

    /// The word for it in a Markdown fence.
    pub fn fence(self) -> &'static str {
        match self {
            Self::Cpp => "cpp",
            other => other.as_str(),
        }
    }

    pub fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
        }
    }
}

/// The source file that `configure` makes of a template: `a/b.h` of `a/b.h.in`.
pub fn product_of_template(path: &TreePath) -> Option<&str> {
    let product = path.as_str().strip_suffix(".in")?;
    let (_, extension) = product.rsplit_once('.')?;
    let is_code = matches!(
        extension,
        "h" | "hh" | "hpp" | "hxx" | "c" | "cc" | "cpp" | "cxx"
    );
    is_code.then_some(product)
}

fn holds_cpp(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(64 * 1024)).unwrap_or_default();
    let is_marked = |line: &str| {
        let line = line.trim_start();
        CPP_MARKS.iter().any(|mark| line.starts_with(mark))
    };
    String::from_utf8_lossy(head).lines().any(is_marked)
}

#[cfg(test)]
mod tests {
    use super::Language;
    use crate::TreePath;

    #[test]
    fn reads_the_words_that_it_writes() {
        for language in Language::ALL {
            assert_eq!(Language::read(&language.to_string()), Some(language));
        }
        assert!(Language::read("C").is_none() && Language::read("").is_none());
    }

    #[test]
    fn tells_languages_apart() {
        for (path, content, expected) in [
            ("a.c", "", Some(Language::C)),
            ("a.h", "int f(void);\n", Some(Language::C)),
            ("a.h", "namespace x {\n", Some(Language::Cpp)),
            ("a.hpp", "", Some(Language::Cpp)),
            ("a/B.java", "", Some(Language::Java)),
            ("a.h.in", "int f(void);\n", Some(Language::C)),
            ("a.h.in", "namespace x {\n", Some(Language::Cpp)),
            ("a.hpp.in", "", Some(Language::Cpp)),
            ("a.c.in", "", Some(Language::C)),
            ("a.cc.in", "", Some(Language::Cpp)),
            ("a.py.in", "", None),
            ("configure.in", "", None),
            ("h.in", "", None),
            ("README.md", "", None),
            ("Makefile", "", None),
        ] {
            let path = TreePath::new(path).unwrap();
            assert_eq!(Language::of(&path, content.as_bytes()), expected, "{path}");
        }
    }
}
