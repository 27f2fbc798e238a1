//! A report while it is being read: its stacks and the sentences between them.

use super::{Access, CrashReport, Frame, Role, Stack, Tool, cwe, purify};

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
                Some(Part::Text(text)) => Some(purify::scrub(text.trim())),
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

    /// The report.
    pub(crate) fn finish(self) -> CrashReport {
        let access = (self.access != Access::default()).then(|| self.access.clone());
        let cwe = cwe::of(self.tool, &self.kind, access.as_ref()).map(|n| format!("CWE-{n}"));
        let purified = purify::render(&self);
        let mut report = CrashReport {
            tool: self.tool,
            kind: self.kind,
            cwe,
            access,
            stacks: self.stacks,
            summary: String::new(),
            purified,
        };
        report.summary = summary(&report, &self.message);
        report
    }
}

/// One line: tool, kind, what was accessed, and where.
fn summary(report: &CrashReport, message: &str) -> String {
    let mut line = format!("{}: {}", report.tool, report.kind);
    if !message.is_empty() {
        line.push_str(": ");
        line.push_str(&purify::shorten(&purify::scrub(message), 300));
    }
    if let Some(access) = &report.access {
        let sentence = purify::describe_access(access);
        if !sentence.is_empty() {
            line.push_str(", ");
            line.push_str(&sentence);
        }
    }
    if let Some(frame) = report.first_project_frame() {
        line.push_str(" in ");
        let place = purify::scrub(&frame.to_string());
        let place = place.trim_start_matches("?? ");
        line.push_str(&purify::shorten(place, 300));
    }
    line
}
