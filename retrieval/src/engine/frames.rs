//! Frame resolution: the functions of the tree that the frames of a crash report mean.
//!
//! Frames outside the tree (the C library, the sanitizer's own, the virtual
//! machine) are dropped; harness frames are kept and marked.

use super::Engine;
use crate::error::Result;
use crate::rank::is_aside;
use crate::relations::QualifiedName;
use crate::symbol::{Symbol, SymbolKind};
use itertools::Itertools;
use patchwright_source::{CrashFrame, Language, Role, TreePath};
use std::collections::BTreeSet;

/// Entry points of fuzzers and programs: they feed the input, and are rarely
/// where it is handled wrongly.
const ENTRY_POINTS: &str = "LLVMFuzzerTestOneInput LLVMFuzzerInitialize fuzzerTestOneInput \
     fuzzerInitialize main";
/// A frame without a file is believed when its name has at most this many
/// definitions.
const FEW: usize = 3;

/// Words in the names of functions that hand on to the allocator.
const ALLOCATORS: [&str; 7] = [
    "free", "alloc", "delete", "release", "strdup", "new_", "_new",
];
/// From this many callers on, a function counts as everybody's.
const COMMON_CALLERS: usize = 20;

/// Limit on how many functions of a project stand between its code and the allocator
/// at most.
const ALLOCATOR_DEPTH: usize = 4;

/// Limit on how many lines before and after one are shown that lies in no definition.
const AROUND: u32 = 30;

/// More lines than any file that is read has.
const LINES_OF_A_FILE: i64 = 1 << 32;

/// Limit on how far past its parsed end a function may reach.
const MISSED: u32 = 80;

/// Limit on how many lines the head of a definition may take.
const HEAD: u32 = 8;

/// A frame and the function that it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) symbol: Symbol,
    pub(crate) line: Option<u32>,
    pub(crate) role: Role,
    /// Its number in the report's stack.
    pub(crate) depth: u32,
    /// Number of functions of the tree above it in its stack.
    pub(crate) rank: u32,
    pub(crate) is_harness: bool,
    /// True when it is an inlined line or hands on to the allocator.
    pub(crate) is_wrapper: bool,
}

impl Engine {
    /// The functions of the tree that a crash went through: crash stack first,
    /// each stack from its top. A function on one stack twice counts once.
    pub(crate) fn locate(&self, frames: &[CrashFrame]) -> Result<Vec<Located>> {
        let mut frames: Vec<&CrashFrame> = frames.iter().collect();
        frames.sort_by_key(|frame| (searched_as(frame.role), frame.depth));
        let mut located: Vec<Located> = Vec::new();
        for frame in frames {
            let Some((symbol, line)) = self.resolve_frame(frame)? else {
                continue;
            };
            let role = searched_as(frame.role);
            let is_same = |other: &Located| {
                other.role == role && other.symbol.id == symbol.id && other.line == line
            };
            if located.iter().any(is_same) {
                continue;
            }
            let is_harness =
                is_aside(&symbol.path) || ENTRY_POINTS.split(' ').any(|name| name == symbol.name);
            located.push(Located {
                is_wrapper: is_wrapper(&symbol, role),
                symbol,
                line,
                role,
                depth: frame.depth,
                rank: 0,
                is_harness,
            });
        }
        for role in [Role::Freed, Role::Allocated] {
            self.mark_allocators(&mut located, role)?;
        }
        rank(&mut located);
        Ok(located)
    }

    /// Returns what everybody allocates or frees with hands on to the allocator, and so
    /// does what stands above it, however long it is.
    fn mark_allocators(&self, located: &mut [Located], role: Role) -> Result<()> {
        let places = located.iter_mut().filter(|place| place.role == role);
        let mut places: Vec<&mut Located> = places.take(ALLOCATOR_DEPTH).collect();
        let mut common = 0;
        for (at, place) in places.iter().enumerate() {
            if place.symbol.id > 0 && self.is_called_everywhere(&place.symbol.name)? {
                common = at + 1;
            }
        }
        for place in places.iter_mut().take(common) {
            place.is_wrapper = true;
        }
        Ok(())
    }

    /// Returns whether many functions call it.
    pub(crate) fn is_called_everywhere(&self, name: &str) -> Result<bool> {
        Ok(self.caller_files(name, COMMON_CALLERS)?.len() >= COMMON_CALLERS)
    }

    fn resolve_frame(&self, frame: &CrashFrame) -> Result<Option<(Symbol, Option<u32>)>> {
        let name = QualifiedName::read(&frame.function);
        let Some(file) = frame.file.as_deref().filter(|file| !file.is_empty()) else {
            return self.by_name(&frame.function);
        };
        let Some(path) = self.frame_path(file, name.as_ref())? else {
            return Ok(None);
        };
        let around = |line| self.index.enclosing_function(&path, line);
        let by_line = frame.line.map_or(Ok(None), around)?;
        let wanted = name.map(|name| name.name).unwrap_or_default();
        if let Some(symbol) = &by_line
            && (wanted.is_empty() || symbol.name == wanted)
        {
            return Ok(by_line.map(|symbol| (symbol, frame.line)));
        }
        // The line lies elsewhere (a macro, an older version): trust the name.
        let mut named: Vec<Symbol> = self.index.outline(&path)?;
        named.retain(|symbol| symbol.name == wanted && symbol.kind != SymbolKind::Prototype);
        let line = frame.line;
        let away = |one: &Symbol| line.map_or(0, |line| one.start_line.abs_diff(line));
        let Some(symbol) = named.into_iter().min_by_key(away) else {
            let around = match by_line {
                Some(symbol) => Some(self.as_reported(symbol, &wanted)),
                None => line.and_then(|line| self.lines_around(path, line, wanted)),
            };
            return Ok(around.map(|symbol| (symbol, line)));
        };
        let symbol = match (line, by_line) {
            (Some(line), None) => self.stretch(symbol, line)?,
            _ => symbol,
        };
        let line = line.filter(|line| symbol.holds(*line));
        Ok(Some((symbol, line)))
    }

    /// The lines around a line that lies in no definition the index knows, under
    /// the name that the report gives them.
    fn lines_around(&self, path: TreePath, line: u32, name: String) -> Option<Symbol> {
        let row = self.index.file(&path)?;
        let text = self.tree().read(&path).ok()?;
        let count = u32::try_from(text.line_count()).ok()?;
        let first = line.saturating_sub(AROUND).max(1);
        if line > count {
            return None;
        }
        let name = Some(name).filter(|name| !name.is_empty());
        Some(Symbol {
            // No number of the index is negative.
            id: -(row.id.saturating_mul(LINES_OF_A_FILE) + i64::from(line)),
            name: name.unwrap_or_else(|| path.file_name().to_owned()),
            scope: String::new(),
            kind: SymbolKind::Function,
            language: row.language.unwrap_or(Language::C),
            start_line: first,
            end_line: (first + 2 * AROUND - 1).min(count),
            name_line: line,
            body_line: None,
            parent: None,
            type_name: None,
            path,
        })
    }

    /// A function that a macro defines, `BUILT_IN(name) {`, is called what the
    /// report calls it.
    fn as_reported(&self, mut symbol: Symbol, name: &str) -> Symbol {
        let head = self.tree().read(&symbol.path).is_ok_and(|text| {
            (symbol.start_line..=symbol.body_line.unwrap_or(symbol.name_line))
                .take(HEAD as usize)
                .any(|number| {
                    text.line(number as usize)
                        .is_some_and(|code| code.contains(&format!("({name}")))
                })
        });
        if head && !name.is_empty() {
            name.clone_into(&mut symbol.name);
        }
        symbol
    }

    /// A function whose end the parser missed (macros that open braces) reaches
    /// to the line that the report saw in it, unless another begins before.
    fn stretch(&self, mut symbol: Symbol, line: u32) -> Result<Symbol> {
        let mut behind = self.index.outline(&symbol.path)?;
        behind.retain(|one| one.kind.is_callable() && one.start_line > symbol.end_line);
        let next = behind.iter().map(|one| one.start_line).min();
        let next = next.unwrap_or(u32::MAX);
        let missed = symbol.end_line < line && line < next && line - symbol.end_line < MISSED;
        if let (true, Ok(text)) = (missed, self.tree().read(&symbol.path)) {
            let last = next.min(line + MISSED);
            let mut codes = (line..last).map(|number| (number, text.line(number as usize)));
            let end =
                codes.find(|(_, code)| code.as_ref().is_some_and(|code| code.starts_with('}')));
            symbol.end_line = end.map_or(line, |(number, _)| number);
        }
        Ok(symbol)
    }

    fn by_name(&self, function: &str) -> Result<Option<(Symbol, Option<u32>)>> {
        let mut symbols = self.named(function)?;
        symbols.retain(|symbol| symbol.kind.is_callable());
        if symbols.len() > FEW {
            return Ok(None);
        }
        let symbols = symbols.into_iter();
        let product_first = symbols.min_by_key(|symbol| is_aside(&symbol.path));
        Ok(product_first.map(|symbol| (symbol, None)))
    }

    /// The file whose path shares the longest end with one of another machine:
    /// `/build/x/org/a/B.java` means `src/main/java/org/a/B.java`. A name alone is
    /// no proof: files of that name are believed when they define the function.
    fn by_end(&self, file: &str, name: Option<&QualifiedName>) -> Result<Option<TreePath>> {
        let parts: Vec<&str> = file.split(['/', '\\']).collect();
        let shared = |path: &TreePath| {
            let pairs = path.as_str().split('/').rev().zip(parts.iter().rev());
            pairs.take_while(|(ours, theirs)| ours == *theirs).count()
        };
        let alike = self.files().iter().map(|path| (shared(path), path));
        let alike = alike.filter(|(shared, _)| *shared > 0);
        let mut fit: Vec<(bool, &TreePath)> = Vec::new();
        for (shared, path) in alike.max_set_by_key(|(shared, _)| *shared) {
            let symbols = self.index.outline(path)?;
            let defines = name.is_some_and(|name| symbols.iter().any(|one| one.name == name.name));
            if defines || shared > 1 {
                fit.push((defines, path));
            }
        }
        let order =
            |(defines, path): &(bool, &TreePath)| (!defines, is_aside(path), path.as_str().len());
        let best = fit.into_iter().min_by_key(order);
        Ok(best.map(|(_, path)| path.clone()))
    }

    /// The file of a frame. A bare file name (Java's) is found by the package
    /// in the function's name, else when only one file has it.
    fn frame_path(&self, file: &str, name: Option<&QualifiedName>) -> Result<Option<TreePath>> {
        if file.contains(['/', '\\']) {
            return match self.tree().rebase(file) {
                Some(path) => Ok(Some(path)),
                None => self.by_end(file, name),
            };
        }
        // Of files that are named alike, those whose folders say the scope.
        let fit = |path: &&TreePath| {
            let scope = name.iter().flat_map(|name| &name.scope);
            let is_said = |part: &&String| path.folder().split('/').any(|folder| folder == *part);
            scope.filter(is_said).count()
        };
        let same = self.files().iter().filter(|path| path.file_name() == file);
        let same = same.max_set_by_key(fit);
        let same = same.into_iter();
        let best = same.min_by_key(|path| (is_aside(path), path.as_str().len()));
        Ok(best.cloned())
    }
}

/// Counts for each place the functions above it in its stack. What is inlined
/// for one line stands for the function around it, and so does what only hands
/// on to the allocator.
fn rank(located: &mut [Located]) {
    let mut above: BTreeSet<(Role, i64)> = BTreeSet::new();
    for place in located {
        let (role, own) = (place.role, place.symbol.id);
        let others = above.iter();
        let others = others.filter(|(other, id)| *other == role && *id != own);
        place.rank = others.count() as u32;
        if !place.is_wrapper {
            above.insert((role, own));
        }
    }
}

/// Returns the role whose code a stack is searched for: a cause is where things went
/// wrong, the other exceptions and threads only led there.
fn searched_as(role: Role) -> Role {
    match role {
        Role::Cause => Role::Crash,
        Role::Suppressed | Role::Previous => Role::Created,
        role => role,
    }
}

/// Returns whether a function is an inlined line or a short wrapper of the allocator.
fn is_wrapper(symbol: &Symbol, role: Role) -> bool {
    let length = symbol.end_line - symbol.start_line;
    let name = symbol.name.to_ascii_lowercase();
    match role {
        Role::Freed | Role::Allocated => {
            length < 20 && ALLOCATORS.iter().any(|word| name.contains(word))
        }
        _ => length <= 4,
    }
}
