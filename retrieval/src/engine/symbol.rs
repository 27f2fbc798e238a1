//! Answers to `symbol`: whole-name definitions, else partial names, else the
//! nearest names. Types come with their other half, macros with the macros
//! that they name, Java with its package and imports.

use super::Engine;
use super::outline::body_ranges;
use crate::answer::{Answer, Answered, Hit, Miss, merge_hits};
use crate::error::Result;
use crate::snippet::{Lines, Tier, with_comment};
use crate::symbol::{Symbol, SymbolKind};
use itertools::Itertools;
use patchwright_source::{Language, Text, TreePath};
use std::collections::BTreeMap;

/// More definitions of one name than this are not prepared for showing.
const PREPARED: usize = 64;
/// A parent of at most this many lines is shown around its field.
const SMALL_PARENT: u32 = 60;
/// A macro of at most this many lines comes along with the macro naming it.
const SMALL_MACRO: u32 = 10;
/// Limit on how many names are offered in place of one that was not found.
const NEAREST: usize = 6;
/// Limit on how many macros come along.
const MACROS: usize = 6;
/// Characters between the parts of a qualified name.
const SEPARATORS: [char; 4] = ['.', ':', '#', '$'];

impl Engine {
    pub(super) fn answer_symbol(&self, mut answer: Answer, name: &str) -> Answered {
        let (_, skip) = answer.query.and_skip();
        let found = self.index.definitions(name)?;
        let mut symbols = found.symbols;
        let mut tier = Tier::High;
        if !found.ignored.is_empty() && !symbols.is_empty() {
            let ignored = found.ignored.join(".");
            let note = format!("nothing lies in {ignored}; shown is the name without it");
            answer.note(note);
        }
        if symbols.is_empty() {
            symbols = self.scope_of(name, &mut answer)?;
        }
        if symbols.is_empty() {
            tier = Tier::Medium;
            symbols = self.partial(name)?;
        }
        if symbols.is_empty() {
            return self.symbol_as_text(answer, name);
        }
        if tier == Tier::Medium {
            answer.note(format!("no symbol {name}; these names hold it"));
        } else if skip == 0 {
            self.count_uses(&mut answer, name, symbols.len())?;
        }
        symbols.sort_by_cached_key(|symbol| self.near.order(&symbol.path, symbol.name_line));
        let many = symbols.len();
        symbols.truncate(PREPARED.max(skip + self.settings.max_results));
        let left_out = many - symbols.len();
        let hits = symbols.iter().map(|symbol| self.symbol_hits(symbol));
        let mut hits: Vec<Hit> = hits.flatten_ok().collect::<Result<_>>()?;
        self.add_imports(&symbols, &mut hits)?;
        let mut answer = self.with_hits(answer, merge_hits(hits), tier)?;
        answer.total += left_out;
        Ok(answer)
    }

    /// The lines that hold a name which nothing defines.
    fn symbol_as_text(&self, asked: Answer, name: &str) -> Answered {
        let mut answer = self.answer_text(asked, (name, false), None)?;
        if answer.snippets.is_empty() {
            return Err(self.no_such_symbol(name)?);
        }
        let mut note = format!("nothing defines {name}; these lines hold it as text");
        let nearest = self.index.nearest(name, NEAREST)?;
        if !nearest.is_empty() {
            note = format!("{note}; nearest names: {}", nearest.join(", "));
        }
        answer.notes.insert(0, note);
        Ok(answer)
    }

    /// A miss that names the nearest names.
    pub(super) fn no_such_symbol(&self, name: &str) -> Result<Miss> {
        let what = if name.contains('/') || is_file_name(name) {
            format!("no symbol {name}; for a file ask <file>{name}</file>")
        } else {
            format!("no symbol {name}, not even as a part of one")
        };
        Ok(Miss::NotFound {
            what,
            nearest: self.index.nearest(name, NEAREST)?,
        })
    }

    /// For `C.m` where no `m` exists: `C`.
    fn scope_of(&self, name: &str, answer: &mut Answer) -> Result<Vec<Symbol>> {
        let (scope, _) = name.rsplit_once(SEPARATORS).unwrap_or_default();
        let scope = scope.trim_end_matches(SEPARATORS);
        if scope.is_empty() {
            return Ok(Vec::new());
        }
        let mut symbols = self.named(scope)?;
        symbols.retain(|symbol| symbol.kind.is_type());
        if !symbols.is_empty() {
            answer.note(format!("no symbol {name}; shown is {scope}"));
        }
        Ok(symbols)
    }

    fn partial(&self, name: &str) -> Result<Vec<Symbol>> {
        let last = name.rsplit(SEPARATORS).next().unwrap_or(name);
        if last.chars().count() < 3 {
            return Ok(Vec::new());
        }
        let names = self.index.names_with(last, self.settings.max_results * 2)?;
        let symbols = names.iter().map(|name| self.named(name));
        symbols.flatten_ok().collect()
    }

    fn count_uses(&self, answer: &mut Answer, name: &str, definitions: usize) -> Result<()> {
        let last = name.rsplit(SEPARATORS).next().unwrap_or(name);
        let uses = self.index.references(last)?;
        if uses.is_empty() || definitions > self.settings.max_results {
            return Ok(());
        }
        let places = uses.len();
        let files = uses.iter().map(|one| &one.path).dedup().count();
        answer.note(format!(
            "used in {places} places of {files} files: <references>{last}</references>"
        ));
        Ok(())
    }

    /// A definition and what belongs to it, as hits.
    fn symbol_hits(&self, symbol: &Symbol) -> Result<Vec<Hit>> {
        let mut hits: Vec<Hit> = Vec::new();
        hits.extend(self.symbol_hit(symbol, symbol.kind.to_string())?);
        for other in self.index.type_pair(symbol)? {
            let note = format!("{} {}, with {}", other.kind, other.name, symbol.name);
            hits.extend(self.symbol_hit(&other, note)?);
        }
        let mut named = self.index.macros_named_by(symbol)?;
        named.retain(|one| one.end_line - one.start_line < SMALL_MACRO);
        for other in named.iter().take(MACROS) {
            let note = format!("macro {}, named by {}", other.name, symbol.name);
            hits.extend(self.symbol_hit(other, note)?);
        }
        Ok(hits)
    }

    fn symbol_hit(&self, symbol: &Symbol, note: String) -> Result<Option<Hit>> {
        let Ok(text) = self.tree().read(&symbol.path) else {
            return Ok(None);
        };
        let ranges = self.definition_ranges(&text, symbol)?;
        Ok(Some(Hit {
            symbols: vec![symbol.qualified()],
            note: Some(note),
            // A long type is a list of heads: their numbers tell of the gaps.
            sparse: symbol.kind.is_type() && self.is_long(symbol),
            ..self.hit(&symbol.path, symbol.name_line, ranges)
        }))
    }

    /// The lines of a definition to show.
    fn definition_ranges(&self, text: &Text, symbol: &Symbol) -> Result<Vec<Lines>> {
        if matches!(symbol.kind, SymbolKind::Field | SymbolKind::Enumerator) {
            let parent = self.parent_of(symbol)?;
            let small = parent.filter(|one| one.end_line - one.start_line <= SMALL_PARENT);
            let around = (symbol.name_line.saturating_sub(5), symbol.name_line + 5);
            let lines = small.map_or(around, |one| (one.start_line, one.end_line));
            return Ok(vec![lines]);
        }
        if symbol.kind.is_type() && self.is_long(symbol) {
            return self.member_ranges(text, symbol);
        }
        let hits = self.near.lines_in(symbol);
        Ok(body_ranges(text, symbol, &hits, self.settings.body_lines))
    }

    fn is_long(&self, symbol: &Symbol) -> bool {
        (symbol.end_line - symbol.start_line) as usize >= self.settings.body_lines
    }

    /// A large type: its head and the signatures of its members.
    pub(crate) fn member_ranges(&self, text: &Text, symbol: &Symbol) -> Result<Vec<Lines>> {
        let head = symbol.body_line.unwrap_or(symbol.name_line);
        let mut ranges = vec![
            (with_comment(text, symbol.start_line), head),
            (symbol.end_line, symbol.end_line),
        ];
        for member in self.index.members(symbol)? {
            let last = member.body_line.unwrap_or(member.end_line);
            let last = last.clamp(member.name_line, member.name_line + 3);
            ranges.push((member.name_line, last));
        }
        Ok(ranges)
    }

    /// Adds what a Java file imports, to the first hit in each: to its other
    /// hits it would say nothing new.
    fn add_imports(&self, symbols: &[Symbol], hits: &mut [Hit]) -> Result<()> {
        let of_java = symbols.iter().filter(|one| one.language == Language::Java);
        for symbol in of_java.unique_by(|one| &one.path) {
            let first = hits.iter_mut().find(|hit| hit.path == symbol.path);
            if let (Some(hit), Some(imports)) = (first, self.grouped_imports(symbol)?) {
                hit.add_note(&imports);
            }
        }
        Ok(())
    }

    /// `imports java.util.{List, Map}; org.a.B`.
    fn grouped_imports(&self, symbol: &Symbol) -> Result<Option<String>> {
        let imports = self.index.imports(&symbol.path)?;
        let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (_, target) in &imports {
            let (package, class) = target.rsplit_once('.').unwrap_or(("", target.as_str()));
            groups.entry(package).or_default().push(class);
        }
        let mut listed = groups
            .into_iter()
            .map(|(package, classes)| match classes.as_slice() {
                [only] => format!("{package}.{only}"),
                several => format!("{package}.{{{}}}", several.join(", ")),
            });
        let listed = listed.join("; ");
        Ok((!listed.is_empty()).then(|| format!("imports {listed}")))
    }
}

/// Returns whether a name looks like that of a file in a language that is indexed.
fn is_file_name(name: &str) -> bool {
    TreePath::new(name).is_ok_and(|path| {
        let is_short = path.extension().is_some_and(|end| end.len() < 4);
        is_short && Language::of_path(&path).is_some()
    })
}
