//! A report while it is being read: its stacks and the sentences between them.

use super::scrub::scrub;
use super::{Access, Frame, Role, Stack, Tool};

/// The most frames that are kept of one stack. The JVM prints at most 1,024,
/// the sanitizers 256; gdb prints without end.
const MAX_FRAMES: usize = 2048;
/// The most stacks that are kept of one report.
const MAX_STACKS: usize = 64;
/// The most sentences that are kept of one report.
const MAX_SENTENCES: usize = 400;

/// A piece of the report, in the order in which it was printed.
#[derive(Debug)]
pub(crate) enum Part {
    /// A sentence of the tool.
    Text(String),
    /// The stack with this number.
    Stack(usize),
}

/// What a reader has gathered so far.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) tool: Tool,
    pub(crate) kind: String,
    /// What the tool says beyond the kind, for the summary line.
    pub(crate) message: String,
    pub(crate) access: Access,
    pub(crate) stacks: Vec<Stack>,
    pub(crate) parts: Vec<Part>,
    next: Role,
    open: bool,
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
            next: Role::Crash,
            open: false,
        }
    }

    /// Keeps a sentence; it ends the stack before it.
    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.open = false;
        if self.parts.len() < MAX_SENTENCES {
            self.parts.push(Part::Text(text.into()));
        }
    }

    /// Says what the next stack is about.
    pub(crate) fn expect(&mut self, role: Role) {
        self.next = role;
        self.open = false;
    }

    /// Ends the current stack.
    pub(crate) fn close(&mut self) {
        self.open = false;
    }

    /// Adds a frame to the current stack, or begins one.
    pub(crate) fn push(&mut self, frame: Frame) {
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

    /// Adds the stack of a report that gives nothing but a position; its text
    /// says the position already.
    pub(crate) fn place(&mut self, frame: Frame) {
        self.stacks.push(Stack {
            role: Role::Crash,
            title: None,
            frames: vec![frame],
        });
    }

    /// Whether frames are being added right now.
    pub(crate) fn in_stack(&self) -> bool {
        self.open
    }

    /// Whether any stack has a frame.
    pub(crate) fn has_frames(&self) -> bool {
        !self.stacks.is_empty()
    }
}
