//! One frame of a stack, and whose code it is.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The name of a function that nobody knows.
pub(crate) const UNKNOWN: &str = "??";

/// One frame of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// The function: `ns::Class::method(int)`, `pkg.Class.method`, or `??`.
    pub function: String,
    /// The file as the tool names it; for Java derived from package and file
    /// name (`org/jsoup/parser/HtmlTreeBuilder.java`).
    pub file: Option<String>,
    /// The line, counted from one.
    pub line: Option<u32>,
    /// The column, counted from one.
    pub column: Option<u32>,
    /// The program or library, where the tool gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
}

impl Frame {
    /// A frame of which only the function is known.
    pub fn named(function: impl Into<String>) -> Self {
        Self {
            function: function.into(),
            file: None,
            line: None,
            column: None,
            module: None,
        }
    }
}

/// `function file:line:column`, as far as each is known.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function)?;
        match (&self.file, &self.module) {
            (Some(file), _) => write!(f, " {file}")?,
            (None, Some(module)) => {
                let name = module.rsplit('/').next().unwrap_or(module);
                write!(f, " ({name})")?;
            }
            (None, None) => {}
        }
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        Ok(())
    }
}
