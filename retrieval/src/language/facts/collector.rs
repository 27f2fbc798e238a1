//! Gathers names, definitions and uses while an extractor walks a file.

use super::{InheritFact, NameId, SymbolFact, Takes};
use crate::language::spec::{Key, Spec};
use crate::language::walk::first_line;
use crate::symbol::{SymbolKind, UseKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::ops::Range;
use tree_sitter::Node;

/// A use of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Site {
    pub(super) name: NameId,
    pub(super) line: u32,
    pub(super) kind: UseKind,
    /// True when it is a member of something, and so no variable of a function.
    pub(super) member: bool,
    /// One more than the index of the enclosing symbol, 0 for none.
    pub(super) owner: u32,
    pub(super) call: WrittenCall,
}

/// The receiver of a call, and the number of its arguments.
pub(super) type WrittenCall = (NameId, i32);

/// Other uses than calls, and calls of which nothing else is known.
pub(crate) const NO_CALL: WrittenCall = (0, -1);

/// Kind of a use, and what is known of a call.
type Usage = (UseKind, WrittenCall);

pub(crate) const WRITE: Usage = (UseKind::Write, NO_CALL);

/// Describes how the name at an offset is used.
#[derive(Debug, Clone, Copy)]
struct Mark {
    offset: usize,
    usage: Usage,
}

/// A symbol that is open while its subtree is walked.
#[derive(Debug, Clone, Copy)]
struct Scope {
    depth: u32,
    /// One more than the symbol's index, 0 when the scope has no symbol.
    symbol: u32,
    /// The full name of the scope, for what is defined in it.
    name: NameId,
    function: bool,
    first_site: usize,
}

/// Gathers facts during one walk over a file.
#[derive(Debug, Default)]
pub(crate) struct Collector<'a> {
    pub(crate) bytes: &'a [u8],
    separator: &'static str,
    pub(super) names: Vec<Cow<'a, [u8]>>,
    known: FxHashMap<Cow<'a, [u8]>, NameId>,
    pub(crate) symbols: Vec<SymbolFact>,
    pub(super) sites: Vec<Site>,
    scopes: Vec<Scope>,
    /// The variables of the function that is open.
    locals: FxHashSet<NameId>,
    /// Offsets of names that are not merely read.
    marks: Vec<Mark>,
    /// The types of the variables of the function that is open.
    pub(crate) local_types: FxHashMap<NameId, NameId>,
    pub(super) inherits: Vec<InheritFact>,
    pub(crate) imports: Vec<(u32, NameId)>,
    /// True when a part of the file was not understood in full.
    pub(crate) broken: bool,
}

impl<'a> Collector<'a> {
    /// An empty collection over a file's bytes.
    pub(crate) fn new(bytes: &'a [u8], separator: &'static str) -> Self {
        let mut collector = Self {
            bytes,
            separator,
            ..Self::default()
        };
        collector.intern(b"");
        collector
    }

    /// The number of a name that stands in the file.
    pub(crate) fn intern(&mut self, name: &'a [u8]) -> NameId {
        self.number(Cow::Borrowed(name))
    }

    /// The number of the name at a place in the file.
    pub(crate) fn intern_range(&mut self, range: Range<usize>) -> NameId {
        self.intern(self.bytes.get(range).unwrap_or_default())
    }

    /// The number of a name that was put together.
    pub(crate) fn compose(&mut self, name: Vec<u8>) -> NameId {
        self.number(Cow::Owned(name))
    }

    fn number(&mut self, name: Cow<'a, [u8]>) -> NameId {
        if let Some(id) = self.known.get(&name) {
            return *id;
        }
        let id = self.names.len() as NameId;
        self.names.push(name.clone());
        self.known.insert(name, id);
        id
    }

    fn bytes_of(&self, name: NameId) -> &[u8] {
        let known = self.names.get(name as usize);
        known.map(AsRef::as_ref).unwrap_or_default()
    }

    /// `scope` and `name` joined in the manner of the language.
    pub(crate) fn join(&mut self, scope: NameId, name: NameId) -> NameId {
        if scope == 0 {
            return name;
        }
        if name == 0 {
            return scope;
        }
        let mut joined = self.bytes_of(scope).to_vec();
        joined.extend_from_slice(self.separator.as_bytes());
        joined.extend_from_slice(self.bytes_of(name));
        self.compose(joined)
    }

    /// A scope and those at some places of the file, joined.
    pub(crate) fn join_ranges(&mut self, scope: NameId, ranges: &[Range<usize>]) -> NameId {
        ranges.iter().fold(scope, |scope, range| {
            let name = self.intern_range(range.clone());
            self.join(scope, name)
        })
    }

    /// The full name of the innermost scope.
    pub(crate) fn scope_name(&self) -> NameId {
        self.scopes.last().map_or(0, |scope| scope.name)
    }

    /// The innermost open symbol, as a parent or owner.
    pub(crate) fn owner(&self) -> u32 {
        let mut symbols = self.scopes.iter().rev().map(|scope| scope.symbol);
        symbols.find(|symbol| *symbol != 0).unwrap_or_default()
    }

    /// The innermost open symbol itself.
    pub(crate) fn owner_symbol(&self) -> Option<&SymbolFact> {
        self.symbols.get(self.owner().checked_sub(1)? as usize)
    }

    /// The kind of the innermost open symbol.
    pub(crate) fn owner_kind(&self) -> Option<SymbolKind> {
        self.owner_symbol().map(|owner| owner.kind)
    }

    /// Returns whether the walk is inside a function.
    pub(crate) fn in_function(&self) -> bool {
        self.scopes.iter().rev().any(|scope| scope.function)
    }

    /// A definition in the scope and the symbol that are open, without a type or a body.
    pub(crate) fn fact(
        &self,
        kind: SymbolKind,
        name: NameId,
        (line, end_line): (u32, u32),
        name_line: u32,
    ) -> SymbolFact {
        SymbolFact {
            name,
            scope: self.scope_name(),
            type_name: 0,
            kind,
            parent: self.owner(),
            line,
            end_line,
            name_line,
            body_line: 0,
            takes: Takes::ANY,
            is_static: false,
        }
    }

    /// Adds a definition and gives one more than its index.
    pub(crate) fn define(&mut self, symbol: SymbolFact) -> u32 {
        self.symbols.push(symbol);
        u32::try_from(self.symbols.len()).unwrap_or_default()
    }

    /// Adds a definition and opens it for the subtree below `depth`; gives one more than its index.
    pub(crate) fn define_around(&mut self, depth: u32, fact: SymbolFact, function: bool) -> u32 {
        let symbol = self.define(fact);
        let inside = self.join(fact.scope, fact.name);
        self.open(depth, symbol, inside, function);
        symbol
    }

    /// Opens a symbol for the subtree below `depth`.
    pub(crate) fn open(&mut self, depth: u32, symbol: u32, name: NameId, function: bool) {
        self.scopes.push(Scope {
            depth,
            symbol,
            name,
            function,
            first_site: self.sites.len(),
        });
    }

    /// Closes what was opened at `depth` or below.
    pub(crate) fn close(&mut self, depth: u32) {
        while let Some(scope) = self.scopes.pop_if(|scope| scope.depth >= depth) {
            if scope.function && !self.in_function() {
                self.forget_locals(scope.first_site);
                self.marks.clear();
                self.local_types.clear();
            }
        }
    }

    fn forget_locals(&mut self, first_site: usize) {
        let locals = std::mem::take(&mut self.locals);
        let mut inside = self.sites.split_off(first_site.min(self.sites.len()));
        inside.retain(|site| {
            site.member || site.kind == UseKind::Type || !locals.contains(&site.name)
        });
        self.sites.append(&mut inside);
    }

    /// Notes that a name is a variable of the function that is open.
    pub(crate) fn declare_local(&mut self, name: NameId) {
        self.locals.insert(name);
    }

    /// Notes how the name at an offset is going to be used.
    pub(crate) fn mark(&mut self, offset: usize, usage: Usage) {
        // Marks whose names are never reached would pile up.
        if self.marks.len() > 64 {
            self.marks.clear();
        }
        self.marks.push(Mark { offset, usage });
    }

    /// Notes how the last name of the expression in a field is going to be used.
    pub(crate) fn mark_last(&mut self, spec: &Spec, (node, key): (Node<'_>, Key), usage: Usage) {
        let part = spec.child(node, key);
        if let Some(name) = part.and_then(|part| spec.last_name(part, usage.0)) {
            self.mark(name.start_byte(), usage);
        }
    }

    /// Returns what a call on a variable is written on: its type where the function
    /// declares it.
    pub(crate) fn receiver_of(&mut self, variable: NameId) -> NameId {
        match self.local_types.get(&variable).copied() {
            Some(0) => self.compose(b"?".to_vec()),
            Some(declared) => self.compose_with(b'=', declared),
            None => self.compose_with(b'.', variable),
        }
    }

    /// A name behind a mark.
    pub(crate) fn compose_with(&mut self, mark: u8, name: NameId) -> NameId {
        let mut text = vec![mark];
        text.extend_from_slice(self.bytes_of(name));
        self.compose(text)
    }

    /// Returns how the name at an offset is used, as far as that was noted.
    pub(crate) fn marked(&self, offset: usize) -> Option<UseKind> {
        let mark = self.marks.iter().rfind(|mark| mark.offset == offset);
        mark.map(|mark| mark.usage.0)
    }

    /// Adds a use of the name that a node is: in the way that was noted, or else in this one. A
    /// member (`len` in `p->len`) is no variable of a function.
    pub(crate) fn use_node(&mut self, node: Node<'_>, otherwise: UseKind, member: bool) {
        let offset = node.start_byte();
        let at = self.marks.iter().rposition(|mark| mark.offset == offset);
        let mark = at.map(|at| self.marks.swap_remove(at));
        let (kind, call) = mark.map_or((otherwise, NO_CALL), |mark| mark.usage);
        let site = Site {
            name: self.intern_range(node.byte_range()),
            line: first_line(node),
            kind,
            member,
            owner: self.owner(),
            call,
        };
        self.sites.push(site);
    }

    /// Adds a use inside a given symbol (one more than its index).
    pub(crate) fn use_in(&mut self, name: NameId, line: u32, kind: UseKind, owner: u32) {
        self.sites.push(Site {
            name,
            line,
            kind,
            member: false,
            owner,
            call: NO_CALL,
        });
    }

    /// Adds a base type of a class (one more than its index).
    pub(crate) fn inherit(&mut self, symbol: u32, base: NameId, line: u32) {
        if let Some(symbol) = symbol.checked_sub(1) {
            self.inherits.push(InheritFact { symbol, base, line });
        }
    }
}
