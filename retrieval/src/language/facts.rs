//! What one file says: its names, symbols, uses, calls, imports and types.
//!
//! An extractor fills a [`Collector`] while it walks the syntax tree;
//! [`Collector::finish`] gives compact [`Facts`] that no longer borrow the
//! file. Names are numbered per file. Uses of a function's own variables are
//! thrown away when the function ends: they would be nine tenths of the
//! database and answer nothing that reading the function does not.

use crate::symbol::{SymbolKind, UseKind};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// A name's number within its file; 0 is the empty name.
pub(crate) type NameId = u32;

/// A definition. Line numbers count from 1; 0 stands for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SymbolFact {
    pub(crate) name: NameId,
    pub(crate) scope: NameId,
    pub(crate) type_name: NameId,
    pub(crate) kind: SymbolKind,
    /// One more than the index of the enclosing symbol, 0 for none.
    pub(crate) parent: u32,
    pub(crate) line: u32,
    pub(crate) end_line: u32,
    pub(crate) name_line: u32,
    pub(crate) body_line: u32,
}

/// A use of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Site {
    name: NameId,
    line: u32,
    kind: UseKind,
    /// Whether it is a member of something, and so no variable of a function.
    member: bool,
    /// One more than the index of the enclosing symbol, 0 for none.
    owner: u32,
}

/// A base type of a class.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InheritFact {
    /// The index of the class.
    pub(crate) symbol: u32,
    pub(crate) base: NameId,
    pub(crate) line: u32,
}

/// All that one file says, ready to be stored.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    names: String,
    name_ends: Vec<usize>,
    /// In the order of their first lines; parents come before their children.
    pub(crate) symbols: Vec<SymbolFact>,
    /// Owner (one more than an index), name and lines, in that order.
    pub(crate) calls: Vec<(u32, NameId, Range<usize>)>,
    /// Name and sites of all uses that are no calls, in the order of names.
    pub(crate) postings: Vec<(NameId, Range<usize>)>,
    pub(crate) inherits: Vec<InheritFact>,
    pub(crate) imports: Vec<(u32, NameId)>,
    text: String,
}

impl Facts {
    /// How many names there are.
    pub(crate) fn name_count(&self) -> usize {
        self.name_ends.len()
    }

    /// The name with a number.
    pub(crate) fn name(&self, id: NameId) -> &str {
        let index = id as usize;
        let start = index
            .checked_sub(1)
            .and_then(|before| self.name_ends.get(before))
            .copied()
            .unwrap_or_default();
        self.name_ends
            .get(index)
            .and_then(|end| self.names.get(start..*end))
            .unwrap_or_default()
    }

    /// The text of a call's lines or a posting's sites.
    pub(crate) fn text(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}

/// How a site is written in a posting: eight times its line plus its kind.
pub(crate) fn encode_site(line: u32, kind: UseKind) -> u64 {
    let kind = match kind {
        UseKind::Read => 0,
        UseKind::Write => 1,
        UseKind::Type => 2,
        UseKind::Call => 3,
    };
    u64::from(line) * 8 + kind
}

/// The opposite of [`encode_site`].
pub(crate) fn decode_site(site: u64) -> (u32, UseKind) {
    let kind = match site & 7 {
        0 => UseKind::Read,
        1 => UseKind::Write,
        2 => UseKind::Type,
        _ => UseKind::Call,
    };
    (u32::try_from(site >> 3).unwrap_or(u32::MAX), kind)
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
#[derive(Debug)]
pub(crate) struct Collector<'a> {
    pub(crate) bytes: &'a [u8],
    separator: &'static str,
    names: Vec<Cow<'a, [u8]>>,
    known: FxHashMap<&'a [u8], NameId>,
    composed: FxHashMap<Vec<u8>, NameId>,
    pub(crate) symbols: Vec<SymbolFact>,
    sites: Vec<Site>,
    scopes: Vec<Scope>,
    /// Per name, the function in which it is a variable (its running number).
    local_in: Vec<u32>,
    functions: u32,
    /// Offsets of names that are not merely read.
    marks: Vec<(usize, UseKind)>,
    inherits: Vec<InheritFact>,
    imports: Vec<(u32, NameId)>,
}

impl<'a> Collector<'a> {
    /// An empty collection over a file's bytes.
    pub(crate) fn new(bytes: &'a [u8], separator: &'static str) -> Self {
        let mut collector = Self {
            bytes,
            separator,
            names: Vec::new(),
            known: FxHashMap::default(),
            composed: FxHashMap::default(),
            symbols: Vec::new(),
            sites: Vec::new(),
            scopes: Vec::new(),
            local_in: Vec::new(),
            functions: 0,
            marks: Vec::new(),
            inherits: Vec::new(),
            imports: Vec::new(),
        };
        collector.intern(b"");
        collector
    }

    /// The number of a name that stands in the file.
    pub(crate) fn intern(&mut self, name: &'a [u8]) -> NameId {
        if let Some(id) = self.known.get(name) {
            return *id;
        }
        let id = self.add_name(Cow::Borrowed(name));
        self.known.insert(name, id);
        id
    }

    /// The number of the name at a place in the file.
    pub(crate) fn intern_range(&mut self, range: Range<usize>) -> NameId {
        self.intern(self.bytes.get(range).unwrap_or_default())
    }

    /// The number of a name that was put together.
    pub(crate) fn compose(&mut self, name: Vec<u8>) -> NameId {
        if let Some(id) = self.known.get(name.as_slice()) {
            return *id;
        }
        if let Some(id) = self.composed.get(&name) {
            return *id;
        }
        let id = self.add_name(Cow::Owned(name.clone()));
        self.composed.insert(name, id);
        id
    }

    fn add_name(&mut self, name: Cow<'a, [u8]>) -> NameId {
        self.names.push(name);
        self.local_in.push(0);
        u32::try_from(self.names.len() - 1).unwrap_or_default()
    }

    fn bytes_of(&self, name: NameId) -> &[u8] {
        self.names
            .get(name as usize)
            .map(AsRef::as_ref)
            .unwrap_or_default()
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

    /// The full name of the innermost scope.
    pub(crate) fn scope_name(&self) -> NameId {
        self.scopes.last().map_or(0, |scope| scope.name)
    }

    /// The innermost open symbol, as a parent or owner.
    pub(crate) fn owner(&self) -> u32 {
        self.scopes
            .iter()
            .rev()
            .map(|scope| scope.symbol)
            .find(|symbol| *symbol != 0)
            .unwrap_or_default()
    }

    /// The kind of the innermost open symbol.
    pub(crate) fn owner_kind(&self) -> Option<SymbolKind> {
        let index = self.owner().checked_sub(1)?;
        Some(self.symbols.get(index as usize)?.kind)
    }

    /// Whether the walk is inside a function.
    pub(crate) fn in_function(&self) -> bool {
        self.scopes.iter().rev().any(|scope| scope.function)
    }

    /// Adds a definition and gives one more than its index.
    pub(crate) fn define(&mut self, symbol: SymbolFact) -> u32 {
        self.symbols.push(symbol);
        u32::try_from(self.symbols.len()).unwrap_or_default()
    }

    /// Opens a symbol for the subtree below `depth`.
    pub(crate) fn open(&mut self, depth: u32, symbol: u32, name: NameId, function: bool) {
        if function && !self.in_function() {
            self.functions += 1;
        }
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
            }
        }
    }

    /// Closes everything.
    pub(crate) fn close_all(&mut self) {
        self.close(0);
    }

    fn forget_locals(&mut self, first_site: usize) {
        let (functions, local_in) = (self.functions, &self.local_in);
        let mut kept = first_site;
        for at in first_site..self.sites.len() {
            let Some(site) = self.sites.get(at).copied() else {
                break;
            };
            let local = local_in.get(site.name as usize) == Some(&functions);
            if !local || site.member || site.kind == UseKind::Type {
                self.sites.swap(kept, at);
                kept += 1;
            }
        }
        self.sites.truncate(kept);
    }

    /// Notes that a name is a variable of the function that is open.
    pub(crate) fn declare_local(&mut self, name: NameId) {
        let functions = self.functions;
        if let Some(slot) = self.local_in.get_mut(name as usize) {
            *slot = functions;
        }
    }

    /// Notes how the name at an offset is going to be used.
    pub(crate) fn mark(&mut self, offset: usize, kind: UseKind) {
        // Marks whose names are never reached would pile up.
        if self.marks.len() > 64 {
            self.marks.clear();
        }
        self.marks.push((offset, kind));
    }

    /// How the name at an offset is used, as far as it was noted.
    pub(crate) fn take_mark(&mut self, offset: usize) -> Option<UseKind> {
        let at = self.marks.iter().rposition(|mark| mark.0 == offset)?;
        Some(self.marks.swap_remove(at).1)
    }

    /// Adds a use of a name that may be a function's own variable.
    pub(crate) fn use_name(&mut self, name: NameId, line: u32, kind: UseKind) {
        let owner = self.owner();
        self.use_in(name, line, kind, owner);
    }

    /// Adds a use of a member: `len` in `p->len`.
    pub(crate) fn use_member(&mut self, name: NameId, line: u32, kind: UseKind) {
        let owner = self.owner();
        self.sites.push(Site {
            name,
            line,
            kind,
            member: true,
            owner,
        });
    }

    /// Adds a use inside a given symbol (one more than its index).
    pub(crate) fn use_in(&mut self, name: NameId, line: u32, kind: UseKind, owner: u32) {
        self.sites.push(Site {
            name,
            line,
            kind,
            member: false,
            owner,
        });
    }

    /// Adds a base type of a class (one more than its index).
    pub(crate) fn inherit(&mut self, symbol: u32, base: NameId, line: u32) {
        if let Some(symbol) = symbol.checked_sub(1) {
            self.inherits.push(InheritFact { symbol, base, line });
        }
    }

    /// Adds an import.
    pub(crate) fn import(&mut self, line: u32, target: NameId) {
        self.imports.push((line, target));
    }

    /// Sorts, groups and writes everything in the form in which it is stored.
    pub(crate) fn finish(mut self) -> Facts {
        self.close_all();
        self.order_symbols();
        let mut facts = Facts {
            symbols: std::mem::take(&mut self.symbols),
            inherits: std::mem::take(&mut self.inherits),
            imports: std::mem::take(&mut self.imports),
            ..Facts::default()
        };
        let (mut calls, mut others): (Vec<Site>, Vec<Site>) = self
            .sites
            .iter()
            .partition(|site| site.kind == UseKind::Call);
        calls.sort_unstable_by_key(|site| (site.owner, site.name, site.line));
        calls.dedup_by_key(|site| (site.owner, site.name, site.line));
        others.sort_unstable_by_key(|site| (site.name, site.line, site.kind));
        others.dedup_by_key(|site| (site.name, site.line, site.kind));
        group_calls(&calls, &mut facts);
        group_postings(&others, &mut facts);
        for name in &self.names {
            match std::str::from_utf8(name) {
                Ok(name) => facts.names.push_str(name),
                Err(_) => facts
                    .names
                    .extend(name.iter().map(|byte| char::from(*byte))),
            }
            facts.name_ends.push(facts.names.len());
        }
        facts
    }

    /// Puts symbols in the order of their lines, which walks over sound files
    /// do by themselves.
    fn order_symbols(&mut self) {
        if self.symbols.is_sorted_by_key(|symbol| symbol.line) {
            return;
        }
        let mut order: Vec<usize> = (0..self.symbols.len()).collect();
        order.sort_by_key(|index| self.symbols.get(*index).map(|symbol| symbol.line));
        let mut new_place = vec![0_u32; order.len() + 1];
        for (new, old) in order.iter().enumerate() {
            if let Some(slot) = new_place.get_mut(old + 1) {
                *slot = u32::try_from(new + 1).unwrap_or_default();
            }
        }
        let moved = |old: u32| new_place.get(old as usize).copied().unwrap_or_default();
        self.symbols = order
            .iter()
            .filter_map(|index| self.symbols.get(*index).copied())
            .map(|symbol| SymbolFact {
                parent: moved(symbol.parent),
                ..symbol
            })
            .collect();
        for site in &mut self.sites {
            site.owner = moved(site.owner);
        }
        for inherit in &mut self.inherits {
            inherit.symbol = moved(inherit.symbol + 1).saturating_sub(1);
        }
    }

    /// Gives uses outside every function to the callable symbols that hold
    /// their lines: broken syntax hides functions from the walk.
    pub(crate) fn adopt_orphans(&mut self) {
        let mut ranges: Vec<(u32, u32, u32)> = self
            .symbols
            .iter()
            .zip(1_u32..)
            .filter(|(symbol, _)| symbol.kind.is_callable())
            .map(|(symbol, number)| (symbol.line, symbol.end_line, number))
            .collect();
        ranges.sort_unstable();
        for site in &mut self.sites {
            let inside = |number: u32| {
                number
                    .checked_sub(1)
                    .and_then(|index| self.symbols.get(index as usize))
                    .is_some_and(|symbol| (symbol.line..=symbol.end_line).contains(&site.line))
            };
            if inside(site.owner) {
                continue;
            }
            let before = ranges.partition_point(|range| range.0 <= site.line);
            site.owner = before
                .checked_sub(1)
                .and_then(|at| ranges.get(at))
                .filter(|range| site.line <= range.1)
                .map_or(0, |range| range.2);
        }
    }
}

fn group_calls(calls: &[Site], facts: &mut Facts) {
    for group in calls.chunk_by(|a, b| a.owner == b.owner && a.name == b.name) {
        let start = facts.text.len();
        for (at, site) in group.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            // Writing to a string cannot go wrong.
            let _ = write!(facts.text, "{comma}{}", site.line);
        }
        if let Some(first) = group.first() {
            let range = start..facts.text.len();
            facts.calls.push((first.owner, first.name, range));
        }
    }
}

fn group_postings(others: &[Site], facts: &mut Facts) {
    for group in others.chunk_by(|a, b| a.name == b.name) {
        let start = facts.text.len();
        for (at, site) in group.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let _ = write!(facts.text, "{comma}{}", encode_site(site.line, site.kind));
        }
        if let Some(first) = group.first() {
            facts.postings.push((first.name, start..facts.text.len()));
        }
    }
}
