//! Draft of a crash report: the stacks and sentences that a reader has gathered so far.

use super::scrub::scrub;
use super::{Access, Frame, Role, Stack, Tool};
use patchwright_source::UNKNOWN_FUNCTION;

/// The most frames that are kept of one stack. The JVM prints at most 1,024,
/// the sanitizers 256; gdb prints without end.
const MAX_FRAMES: usize = 2048;
/// The most stacks that are kept of one report.
const MAX_STACKS: usize = 64;
/// The most sentences that are kept of one report.
const MAX_SENTENCES: usize = 400;

/// One piece of the report, in the order of the log.
#[derive(Debug)]
pub(crate) enum Part {
    /// A sentence of the tool.
    Text(String),
    Stack(usize),
}

/// A report that is being read.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) tool: Tool,
    pub(crate) kind: String,
    /// The message of the tool besides the kind, for the summary line.
    pub(crate) message: String,
    pub(crate) access: Access,
    pub(crate) stacks: Vec<Stack>,
    pub(crate) parts: Vec<Part>,
    /// The place of a failed assertion, from the arguments of the function that reports it.
    pub(crate) asserted: Option<Frame>,
    /// True where a frame was cut off in the middle.
    pub(crate) cut: bool,
    next: Role,
    /// True while frames belong to the last stack.
    pub(crate) open: bool,
}

impl Draft {
    pub(crate) fn new(tool: Tool, kind: impl Into<String>) -> Self {
        Self {
            tool,
            kind: kind.into(),
            message: String::new(),
            access: Access::default(),
            stacks: Vec::new(),
            parts: Vec::new(),
            asserted: None,
            cut: false,
            next: Role::Crash,
            open: false,
        }
    }

    /// Adds a sentence, which ends the stack before it.
    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.open = false;
        if self.parts.len() < MAX_SENTENCES {
            self.parts.push(Part::Text(text.into()));
        }
    }

    /// Sets the role of the next stack.
    pub(crate) fn expect(&mut self, role: Role) {
        self.next = role;
        self.open = false;
    }

    /// Adds a frame to the current stack, or begins one.
    pub(crate) fn push(&mut self, mut frame: Frame) {
        // The name that GCC gives to what it inlined at link time.
        if frame.function == "UnknownInlinedFun" {
            UNKNOWN_FUNCTION.clone_into(&mut frame.function);
        }
        if !self.open && self.stacks.len() < MAX_STACKS {
            let title = match self.parts.last() {
                Some(Part::Text(text)) => Some(scrub(text.trim())),
                _ => None,
            };
            self.parts.push(Part::Stack(self.stacks.len()));
            self.stacks.push(Stack {
                role: self.next,
                title,
                frames: Vec::new(),
            });
            self.open = true;
        }
        if let Some(stack) = self.stacks.last_mut()
            && self.open
            && stack.frames.len() < MAX_FRAMES
        {
            stack.frames.push(frame);
        }
    }

    /// Adds frames to the current stack.
    pub(crate) fn extend(&mut self, frames: impl IntoIterator<Item = Frame>) {
        for frame in frames {
            self.push(frame);
        }
    }

    /// Adds the stack of a report that gives only a position. Its text names the
    /// position already.
    pub(crate) fn place(&mut self, frame: Frame) {
        self.stacks.push(Stack {
            role: Role::Crash,
            title: None,
            frames: vec![frame],
        });
    }

    /// The frames of the first stack.
    pub(crate) fn frames(&self) -> &[Frame] {
        self.stacks.first().map_or(&[], |stack| &stack.frames)
    }

    /// Tells whether any stack has a frame.
    pub(crate) fn has_frames(&self) -> bool {
        !self.stacks.is_empty()
    }
}
