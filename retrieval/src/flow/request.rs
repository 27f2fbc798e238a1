//! Starting points of a flow question.

use crate::error::Result;
use crate::flow::place::Place;
use crate::flow::search::Task;
use crate::index::Index;
use crate::relations::QualifiedName;
use crate::symbol::{Symbol, SymbolKind};

impl Index {
    /// The places that a question may mean, the likeliest reading only.
    pub(super) fn seeds(&self, text: &str, near: &[Symbol]) -> Result<Vec<Task>> {
        let (function, expression) = split(text);
        let Some(place) = read_place(expression) else {
            return Ok(Vec::new());
        };
        let mut seeds = match function {
            Some(function) => self.local_seeds(&self.definitions(function)?.symbols, &place),
            None if place.fields.is_empty() => self.local_seeds(near, &place),
            None => Vec::new(),
        };
        // `f.n` and `f::n`: a variable of a function.
        if let (None, [variable]) = (function, place.fields.as_slice()) {
            let owner = self.definitions(&place.root)?.symbols;
            let inner = Place {
                root: variable.clone(),
                fields: Vec::new(),
                ..place.clone()
            };
            seeds = self.local_seeds(&owner, &inner);
        }
        if seeds.is_empty() {
            seeds = self.shared_seeds(&place)?;
        }
        Ok(seeds)
    }

    fn local_seeds(&self, functions: &[Symbol], place: &Place) -> Vec<Task> {
        let has_body = |one: &&Symbol| one.kind.is_callable() || one.kind == SymbolKind::Macro;
        let functions = functions.iter().filter(has_body);
        functions
            .filter(|one| self.analysis(one).locals.contains(&place.root))
            .map(|one| Task::Place(one.clone(), place.clone(), None))
            .collect()
    }

    fn shared_seeds(&self, place: &Place) -> Result<Vec<Task>> {
        let name = place.fields.last().unwrap_or(&place.root);
        let symbols = self.named(name)?;
        let callable = symbols.iter().any(|symbol| symbol.kind.is_callable());
        let is_place = |one: &Symbol| matches!(one.kind, SymbolKind::Variable | SymbolKind::Field);
        let holds = symbols.iter().any(is_place);
        if callable && !holds {
            return Ok(vec![Task::Returned(name.clone())]);
        }
        if holds || !self.references(name)?.is_empty() {
            return Ok(vec![Task::Shared(name.clone())]);
        }
        Ok(Vec::new())
    }
}

/// `f: n` and `n in f` as function and expression.
fn split(text: &str) -> (Option<&str>, &str) {
    let text = text.trim();
    if let Some((expression, function)) = text.rsplit_once(" in ") {
        return (Some(function.trim()), expression.trim());
    }
    let colon = text.match_indices(':').find(|(at, _)| {
        let bytes = text.as_bytes();
        bytes.get(at + 1) != Some(&b':') && (*at == 0 || bytes.get(at - 1) != Some(&b':'))
    });
    match colon {
        Some((at, _)) => (
            text.get(..at).map(str::trim),
            text.get(at + 1..).unwrap_or_default().trim(),
        ),
        None => (None, text),
    }
}

/// An expression as a place: brackets are contents, all separators alike.
fn read_place(expression: &str) -> Option<Place> {
    let expression = expression.trim();
    let content = expression.starts_with('*') || expression.ends_with(']');
    let mut plain = String::new();
    let mut brackets = 0_usize;
    for character in expression.chars() {
        match character {
            '[' => brackets += 1,
            ']' => brackets = brackets.saturating_sub(1),
            '(' | ')' | '*' | '&' => {}
            other if brackets == 0 => plain.push(other),
            _ => {}
        }
    }
    let read = QualifiedName::read(&plain)?;
    let mut parts = read.scope;
    parts.push(read.name);
    let root = parts.remove(0);
    Some(Place {
        root,
        fields: parts,
        content,
        address: false,
    })
}
