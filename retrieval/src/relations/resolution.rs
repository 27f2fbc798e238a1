//! Resolution of calls: which definitions a call means.
//!
//! What is written decides: the qualifier, the declared type of the receiver, the
//! scope, what is static, imports, and how many arguments are passed. What only
//! the name says is told apart, as possible and not as a fact.

use crate::error::Result;
use crate::index::Reader;
use crate::rank::shared_folders;
use crate::relations::hierarchy::Hierarchy;
use crate::relations::kept;
use crate::relations::name::scope_parts;
use crate::symbol::SymbolKind;
use patchwright_source::{Language, TreePath};
use rusqlite::ToSql;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Calls of one name from one symbol that are written alike.
#[derive(Debug, Clone)]
pub(crate) struct CallSite {
    pub(crate) caller: i64,
    pub(crate) name: i64,
    pub(crate) callee: String,
    /// As `CallFact` has it.
    receiver: String,
    arguments: i64,
    pub(crate) lines: String,
}

/// A definition that a call may mean.
#[derive(Debug, Clone)]
struct Target {
    id: i64,
    scope: Vec<String>,
    kind: SymbolKind,
    path: TreePath,
    language: Language,
    takes: (i64, i64),
    is_static: bool,
}

/// The definitions that a call can mean.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Meaning {
    /// Definitions that the written code proves.
    pub(crate) certain: Vec<i64>,
    /// Definitions that are possible by name alone or by dispatch to a subclass.
    pub(crate) possible: Vec<i64>,
}

/// Where a call stands.
#[derive(Debug, Clone)]
struct CallPlace {
    path: TreePath,
    language: Language,
    scope: Vec<String>,
}

/// Resolves many calls; what was looked up once is kept.
pub(crate) struct Resolver<'r> {
    reader: &'r Reader<'r>,
    targets: FxHashMap<i64, Rc<Vec<Target>>>,
    hierarchy: Hierarchy<'r>,
    types: FxHashMap<String, bool>,
    places: FxHashMap<i64, Option<Rc<CallPlace>>>,
}

impl<'r> Resolver<'r> {
    pub(crate) fn new(reader: &'r Reader<'r>) -> Self {
        Self {
            reader,
            targets: FxHashMap::default(),
            hierarchy: Hierarchy::new(reader),
            types: FxHashMap::default(),
            places: FxHashMap::default(),
        }
    }

    /// The calls that one symbol makes.
    pub(crate) fn sites_in(&self, caller: i64) -> Result<Vec<CallSite>> {
        self.sites("c.caller_id = ?1", caller)
    }

    pub(crate) fn sites_of(&self, name: &str) -> Result<Vec<CallSite>> {
        self.sites("c.name_id = (SELECT id FROM name WHERE name = ?1)", name)
    }

    fn sites(&self, condition: &str, param: impl ToSql) -> Result<Vec<CallSite>> {
        let sql = format!(
            "SELECT c.caller_id, c.name_id, n.name, coalesce(r.name, ''), c.arguments, c.lines
             FROM call c JOIN name n ON n.id = c.name_id LEFT JOIN name r ON r.id = c.receiver_id
             WHERE {condition}"
        );
        let rows = self.reader.rows(&sql, [param])?.into_iter();
        let sites = rows.map(
            |(caller, name, callee, receiver, arguments, lines)| CallSite {
                caller,
                name,
                callee,
                receiver,
                arguments,
                lines,
            },
        );
        Ok(sites.collect())
    }

    pub(crate) fn meaning(&mut self, site: &CallSite) -> Result<Meaning> {
        let Some(place) = self.place(site.caller)? else {
            return Ok(Meaning::default());
        };
        let all = self.targets(site.name)?;
        let fits = |one: &&Target| {
            let takes = one.takes.0..=one.takes.1;
            one.language.family() == place.language.family()
                && (site.arguments < 0 || takes.contains(&site.arguments))
        };
        let targets: Vec<&Target> = all.iter().filter(fits).collect();
        if targets.is_empty() {
            return Ok(Meaning::default());
        }
        let name = site.receiver.get(1..).unwrap_or_default();
        match site.receiver.bytes().next() {
            None => self.plain(&site.callee, &place, &targets),
            Some(b':') => self.qualified(name, &place, &targets),
            Some(b'=') => self.typed(name, &place, &targets),
            Some(b'.') => self.on_variable(name, &place, &targets),
            // The member is a pointer; no function is called by its name.
            Some(b'*') => Ok(Meaning::default()),
            Some(_) => Ok(any_member(&targets)),
        }
    }

    /// `f(x)`: the own class and those around it, their bases, then functions.
    fn plain(&mut self, name: &str, place: &CallPlace, targets: &[&Target]) -> Result<Meaning> {
        for end in (1..=place.scope.len()).rev() {
            let scope = place.scope.get(..end).unwrap_or_default();
            let own = targets.iter().filter(|one| one.scope == scope);
            let mut found = ids(own);
            if let (true, Some(class)) = (found.is_empty(), scope.last()) {
                let bases = self.hierarchy.bases(class)?;
                let inherited =
                    |one: &&&Target| one.scope.last().is_some_and(|last| bases.contains(last));
                found = ids(targets.iter().filter(inherited));
            }
            if !found.is_empty() {
                return Ok(Meaning::certain(found));
            }
        }
        let free: Vec<&Target> = targets
            .iter()
            .copied()
            .filter(|one| !is_member(one))
            .collect();
        let own = ids(free.iter().filter(|one| one.path == place.path));
        if !own.is_empty() {
            return Ok(Meaning::certain(own));
        }
        if place.language == Language::Java {
            return self.java_elsewhere(name, place, targets);
        }
        // A static function of a header belongs to whoever includes it.
        let is_header = |one: &Target| {
            let extension = one.path.extension().unwrap_or_default();
            extension.starts_with(['h', 'H']) || extension == "inl"
        };
        let visible = |one: &&Target| !one.is_static || is_header(one);
        let visible: Vec<&Target> = free.into_iter().filter(visible).collect();
        Ok(nearest(place, &visible))
    }

    /// Constructors, and what a static import names.
    fn java_elsewhere(
        &self,
        name: &str,
        place: &CallPlace,
        targets: &[&Target],
    ) -> Result<Meaning> {
        let imports: Vec<String> = self.reader.values(
            "SELECT n.name FROM import i JOIN name n ON n.id = i.target_id
             WHERE i.file_id = (SELECT id FROM file WHERE path = ?1)",
            [place.path.as_str()],
        )?;
        let imported = targets.iter().filter(|one| {
            let scope = one.scope.join(".");
            imports.iter().any(|import| {
                let (class, member) = import.rsplit_once('.').unwrap_or(("", import));
                let is_named = member == "*" || member == name;
                class == scope && is_named
                    || one.kind == SymbolKind::Constructor && *import == scope
            })
        });
        let imported = ids(imported);
        if !imported.is_empty() {
            return Ok(Meaning::certain(imported));
        }
        let made: Vec<&Target> = targets
            .iter()
            .copied()
            .filter(|one| one.kind == SymbolKind::Constructor)
            .collect();
        Ok(nearest(place, &made))
    }

    /// `A::f(x)`: what lies in `A` or in its bases.
    fn qualified(&mut self, name: &str, place: &CallPlace, targets: &[&Target]) -> Result<Meaning> {
        if name == "super" || name == "Self" {
            let Some(class) = place.scope.last() else {
                return Ok(Meaning::default());
            };
            if name == "Self" {
                return self.typed(&class.clone(), place, targets);
            }
            let bases = self.hierarchy.bases(class)?;
            return Ok(Meaning::certain(inside(targets, &bases)));
        }
        let found = inside(targets, &[name.to_owned()]);
        if !found.is_empty() {
            return Ok(Meaning::certain(found));
        }
        let found = inside(targets, &self.hierarchy.bases(name)?);
        if !found.is_empty() {
            return Ok(Meaning::certain(found));
        }
        // Files are modules in Rust, Python and JavaScript.
        let in_module = targets.iter().filter(|one| {
            let file = one.path.file_name();
            let stem = file.split('.').next().unwrap_or(file);
            one.scope.is_empty()
                && (stem == name || one.path.folder().ends_with(&format!("/{name}")))
        });
        Ok(Meaning::certain(ids(in_module)))
    }

    /// `a.f(x)` with `a` of a known type: of the type, of its bases, or by
    /// dispatch of its heirs.
    fn typed(&mut self, name: &str, place: &CallPlace, targets: &[&Target]) -> Result<Meaning> {
        if !self.is_type(name)? {
            // A pointer class of a library may hand on to anything.
            return Ok(match place.language {
                Language::Cpp => any_member(targets),
                _ => Meaning::default(),
            });
        }
        let mut certain = inside(targets, &[name.to_owned()]);
        if certain.is_empty() {
            certain = inside(targets, &self.hierarchy.bases(name)?);
        }
        let mut possible = inside(targets, &self.hierarchy.heirs(name)?);
        possible.retain(|id| !certain.contains(id));
        Ok(Meaning { certain, possible })
    }

    /// `a.f(x)` with `a` declared elsewhere: a field of the class, a package.
    fn on_variable(
        &mut self,
        name: &str,
        place: &CallPlace,
        targets: &[&Target],
    ) -> Result<Meaning> {
        if let Some(declared) = self.type_of_variable(name, place)? {
            return self.typed(&declared, place, targets);
        }
        let by_qualifier = match place.language {
            Language::Go | Language::Python | Language::JavaScript | Language::TypeScript => {
                self.qualified(name, place, targets)?
            }
            _ => Meaning::default(),
        };
        if !by_qualifier.certain.is_empty() {
            return Ok(by_qualifier);
        }
        Ok(any_member(targets))
    }

    /// The declared type of a field of the class around a call or of its bases.
    fn type_of_variable(&mut self, name: &str, place: &CallPlace) -> Result<Option<String>> {
        let fields: Vec<(String, String)> = self.reader.rows(
            "SELECT coalesce((SELECT name FROM name WHERE id = s.scope_id), ''), t.name
             FROM symbol s JOIN name t ON t.id = s.type_id
             WHERE s.name_id = (SELECT id FROM name WHERE name = ?1)
               AND s.kind IN ('field', 'variable')",
            [name],
        )?;
        for class in place.scope.iter().rev() {
            let bases = self.hierarchy.bases(class)?;
            let holds = |scope: &str| {
                let last = scope_parts(scope).pop();
                last.is_some_and(|last| last == class || bases.iter().any(|base| base == last))
            };
            if let Some((_, declared)) = fields.iter().find(|(scope, _)| holds(scope)) {
                return Ok(Some(declared.clone()));
            }
        }
        Ok(None)
    }

    fn place(&mut self, caller: i64) -> Result<Option<Rc<CallPlace>>> {
        kept(&mut self.places, caller, || {
            let scope: Option<String> = self.reader.value(
                "SELECT n.name FROM symbol s JOIN name n ON n.id = s.scope_id WHERE s.id = ?1",
                [caller],
            )?;
            let file = self.reader.files.of_symbol(caller);
            Ok(file.and_then(|file| {
                Some(Rc::new(CallPlace {
                    path: file.path.clone(),
                    language: file.language?,
                    scope: parts(&scope.unwrap_or_default()),
                }))
            }))
        })
    }

    fn targets(&mut self, name: i64) -> Result<Rc<Vec<Target>>> {
        kept(&mut self.targets, name, || {
            let rows = self.reader.rows(
                "SELECT s.id, coalesce((SELECT name FROM name WHERE id = s.scope_id), ''), s.kind,
                        s.file_id, s.least, s.most, s.static
                 FROM symbol s WHERE s.name_id = ?1 AND s.body_line > 0
                   AND s.kind IN ('function', 'method', 'constructor', 'macro') ORDER BY s.id",
                [name],
            )?;
            let rows: Vec<(i64, String, String, i64, i64, i64, bool)> = rows;
            let targets = rows.into_iter();
            let targets = targets.filter_map(|(id, scope, kind, file, least, most, is_static)| {
                let file = self.reader.files.by_id(file)?;
                Some(Target {
                    id,
                    scope: parts(&scope),
                    kind: SymbolKind::read(&kind)?,
                    path: file.path.clone(),
                    language: file.language?,
                    takes: (least, most),
                    is_static,
                })
            });
            Ok(Rc::new(targets.collect()))
        })
    }

    fn is_type(&mut self, name: &str) -> Result<bool> {
        kept(&mut self.types, name.to_owned(), || {
            let known = self.reader.value(
                "SELECT EXISTS(SELECT 1 FROM symbol
                   WHERE name_id = (SELECT id FROM name WHERE name = ?1) AND kind IN ('struct',
                     'union', 'class', 'interface', 'record', 'enum', 'typedef', 'annotation'))",
                [name],
            )?;
            Ok(known.unwrap_or(false))
        })
    }
}

impl Meaning {
    fn certain(certain: Vec<i64>) -> Self {
        Self {
            certain,
            possible: Vec::new(),
        }
    }

    /// The first that it may mean, and whether only its name says so.
    pub(crate) fn likeliest(&self) -> (Option<i64>, bool) {
        (self.all().next(), self.certain.is_empty())
    }

    /// Everything it may mean.
    pub(crate) fn all(&self) -> impl Iterator<Item = i64> + '_ {
        self.certain.iter().chain(&self.possible).copied()
    }
}

fn parts(scope: &str) -> Vec<String> {
    let parts = scope_parts(scope).into_iter();
    parts.map(str::to_owned).collect()
}

/// Returns whether a definition is called on something.
fn is_member(target: &Target) -> bool {
    matches!(target.kind, SymbolKind::Method | SymbolKind::Constructor)
}

/// Any of the methods, as far as the name tells.
fn any_member(targets: &[&Target]) -> Meaning {
    Meaning {
        certain: Vec::new(),
        possible: ids(targets.iter().filter(|one| is_member(one))),
    }
}

fn ids<'t>(targets: impl Iterator<Item = &'t &'t Target>) -> Vec<i64> {
    targets.map(|one| one.id).collect()
}

/// The targets that lie in one of some classes or namespaces.
fn inside(targets: &[&Target], names: &[String]) -> Vec<i64> {
    let lies = |one: &&&Target| one.scope.last().is_some_and(|last| names.contains(last));
    ids(targets.iter().filter(lies))
}

/// Chooses among functions that any file may call: the only one, or the only one in
/// the nearest folder, as copies of a library call themselves.
fn nearest(place: &CallPlace, targets: &[&Target]) -> Meaning {
    let shared = |one: &&Target| shared_folders(&one.path, &place.path);
    let most = targets.iter().map(shared).max();
    let near: Vec<&Target> = targets
        .iter()
        .copied()
        .filter(|one| Some(shared(one)) == most)
        .collect();
    match near.as_slice() {
        [] => Meaning::default(),
        [one] => Meaning::certain(vec![one.id]),
        // Branches of a conditional and overloads lie side by side.
        [one, rest @ ..] if rest.iter().all(|other| other.path == one.path) => {
            Meaning::certain(ids(near.iter()))
        }
        _ => Meaning {
            certain: Vec::new(),
            possible: ids(near.iter()),
        },
    }
}
