//! Stack frames of a crash, as every report family and every reader of a crash uses them.

use crate::words;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The name of a function that the tool could not name.
pub const UNKNOWN_FUNCTION: &str = "??";

/// One frame of a stack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
            ..Self::default()
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

/// A frame of a crash as the search for code takes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrashFrame {
    /// The function as the report names it.
    pub function: String,
    /// The file as the report names it, often with a path of another machine.
    pub file: Option<String>,
    /// The line, counted from one.
    pub line: Option<u32>,
    /// The part that its stack plays in the crash.
    pub role: Role,
    /// Its place in the stack, 0 at the top.
    pub depth: u32,
}

/// The part that a stack plays in a crash, in the order of interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Where it crashed, hung, or was noticed.
    Crash,
    /// The exception that led to the one before.
    Cause,
    /// Where the memory was freed.
    Freed,
    /// Where the memory was allocated, or the function that owns it.
    Allocated,
    /// Where the uninitialised value was copied.
    Stored,
    /// Where the value, the thread or the mutex came into being.
    Created,
    /// An exception that was set aside in favour of the one before.
    Suppressed,
    /// The other side of a race or of a lock order.
    Previous,
}

words!(Role: Crash "crash", Cause "cause", Freed "freed", Allocated "allocated", Stored "stored",
    Created "created", Suppressed "suppressed", Previous "previous");
