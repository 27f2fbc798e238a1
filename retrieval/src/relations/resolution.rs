//! Resolution of calls: which definitions a call means.
//!
//! What is written decides: the qualifier, the declared type of the receiver, the
//! scope, what is static, imports, and how many arguments are passed. What only
//! the name says is told apart, as possible and not as a fact.

use crate::error::Result;
use crate::index::Reader;
use crate::rank::shared_folders;
use crate::relations::definitions::named;
use crate::relations::kept;
use crate::relations::name::scope_parts;
use crate::symbol::SymbolKind;
use patchwright_source::{Language, TreePath};
use rusqlite::ToSql;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Most bases or heirs of a class that are followed.
const RELATED: usize = 64;

/// Selects the names of the direct bases of a class. Two classes of one name are one here.
const BASES: &str = "SELECT DISTINCT b.name FROM inherit i JOIN name b ON b.id = i.base_id
     JOIN symbol s ON s.id = i.symbol_id
     WHERE s.name_id = (SELECT id FROM name WHERE name = ?1)";

/// Selects the names of the classes that directly extend or implement a type.
const HEIRS: &str = "SELECT DISTINCT n.name FROM inherit i JOIN symbol s ON s.id = i.symbol_id
     JOIN name n ON n.id = s.name_id
     WHERE i.base_id = (SELECT id FROM name WHERE name = ?1)";

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
    /// The scope of the caller.
    scope: String,
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

/// The definitions that a call can mean, those first that the written code proves; true for those
/// that are possible by name alone or by dispatch to a subclass.
pub(crate) type Meaning = Vec<(i64, bool)>;

/// Where a call stands.
#[derive(Debug, Clone, Copy)]
struct CallPlace<'s> {
    path: &'s TreePath,
    language: Language,
    scope: &'s [String],
}

/// Resolves many calls; what was looked up once is kept.
pub(crate) struct Resolver<'r> {
    reader: &'r Reader<'r>,
    targets: FxHashMap<i64, Rc<Vec<Target>>>,
    /// Bases and heirs, by the query and the class.
    related: FxHashMap<(&'static str, String), Rc<Vec<String>>>,
    types: FxHashMap<String, bool>,
}

impl<'r> Resolver<'r> {
    pub(crate) fn new(reader: &'r Reader<'r>) -> Self {
        Self {
            reader,
            targets: FxHashMap::default(),
            related: FxHashMap::default(),
            types: FxHashMap::default(),
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
            "SELECT c.caller_id, c.name_id, n.name, coalesce(r.name, ''), c.arguments, c.lines,
                    coalesce((SELECT o.name FROM symbol s JOIN name o ON o.id = s.scope_id
                              WHERE s.id = c.caller_id), '')
             FROM call c JOIN name n ON n.id = c.name_id LEFT JOIN name r ON r.id = c.receiver_id
             WHERE {condition}"
        );
        let rows = self.reader.rows(&sql, [param])?.into_iter();
        let sites = rows.map(
            |(caller, name, callee, receiver, arguments, lines, scope)| CallSite {
                caller,
                name,
                callee,
                receiver,
                arguments,
                lines,
                scope,
            },
        );
        Ok(sites.collect())
    }

    pub(crate) fn meaning(&mut self, site: &CallSite) -> Result<Meaning> {
        let file = self.reader.files.of_symbol(site.caller);
        let Some((file, language)) = file.and_then(|file| Some((file, file.language?))) else {
            return Ok(Meaning::new());
        };
        let place = CallPlace {
            path: &file.path,
            language,
            scope: &parts(&site.scope),
        };
        let all = self.targets(site.name)?;
        let fits = |one: &&Target| {
            let takes = one.takes.0..=one.takes.1;
            one.language.family() == place.language.family()
                && (site.arguments < 0 || takes.contains(&site.arguments))
        };
        let targets: Vec<&Target> = all.iter().filter(fits).collect();
        if targets.is_empty() {
            return Ok(Meaning::new());
        }
        let name = site.receiver.get(1..).unwrap_or_default();
        match site.receiver.bytes().next() {
            None => self.plain(&site.callee, &place, &targets),
            Some(b':') => self.qualified(name, &place, &targets),
            Some(b'=') => self.typed(name, &place, &targets),
            Some(b'.') => self.on_variable(name, &place, &targets),
            // The member is a pointer; no function is called by its name.
            Some(b'*') => Ok(Meaning::new()),
            Some(_) => Ok(any_member(&targets)),
        }
    }

    /// `f(x)`: the own class and those around it, their bases, then functions.
    fn plain(&mut self, name: &str, place: &CallPlace<'_>, targets: &[&Target]) -> Result<Meaning> {
        for end in (1..=place.scope.len()).rev() {
            let scope = place.scope.get(..end).unwrap_or_default();
            let mut found = ids(targets, |one| one.scope == scope);
            if let (true, Some(class)) = (found.is_empty(), scope.last()) {
                found = inside(targets, &self.bases(class)?);
            }
            if !found.is_empty() {
                return Ok(certain(found));
            }
        }
        let own = ids(targets, |one| !is_member(one) && one.path == *place.path);
        if !own.is_empty() {
            return Ok(certain(own));
        }
        if place.language == Language::Java {
            return self.java_elsewhere(name, place, targets);
        }
        // A static function of a header belongs to whoever includes it.
        let is_header = |one: &Target| {
            let extension = one.path.extension().unwrap_or_default();
            extension.starts_with(['h', 'H']) || extension == "inl"
        };
        let is_visible = |one: &Target| !is_member(one) && (!one.is_static || is_header(one));
        Ok(nearest(place, targets, is_visible))
    }

    /// Constructors, and what a static import names.
    fn java_elsewhere(
        &self,
        name: &str,
        place: &CallPlace<'_>,
        targets: &[&Target],
    ) -> Result<Meaning> {
        let imports: Vec<String> = self.reader.values(
            "SELECT n.name FROM import i JOIN name n ON n.id = i.target_id
             WHERE i.file_id = (SELECT id FROM file WHERE path = ?1)",
            [place.path.as_str()],
        )?;
        let imported = ids(targets, |one| {
            let scope = one.scope.join(".");
            imports.iter().any(|import| {
                let (class, member) = import.rsplit_once('.').unwrap_or(("", import));
                let is_named = member == "*" || member == name;
                class == scope && is_named
                    || one.kind == SymbolKind::Constructor && *import == scope
            })
        });
        if !imported.is_empty() {
            return Ok(certain(imported));
        }
        let is_made = |one: &Target| one.kind == SymbolKind::Constructor;
        Ok(nearest(place, targets, is_made))
    }

    /// `A::f(x)`: what lies in `A` or in its bases.
    fn qualified(
        &mut self,
        name: &str,
        place: &CallPlace<'_>,
        targets: &[&Target],
    ) -> Result<Meaning> {
        if name == "super" || name == "Self" {
            let Some(class) = place.scope.last() else {
                return Ok(Meaning::new());
            };
            if name == "Self" {
                return self.typed(&class.clone(), place, targets);
            }
            let bases = self.bases(class)?;
            return Ok(certain(inside(targets, &bases)));
        }
        let found = self.inherited(name, targets)?;
        if !found.is_empty() {
            return Ok(certain(found));
        }
        // Files are modules in Rust, Python and JavaScript.
        let in_module = ids(targets, |one| {
            let file = one.path.file_name();
            let stem = file.split('.').next().unwrap_or(file);
            one.scope.is_empty()
                && (stem == name || one.path.folder().ends_with(&format!("/{name}")))
        });
        Ok(certain(in_module))
    }

    /// The targets that lie in a class, or else those in its bases.
    fn inherited(&mut self, class: &str, targets: &[&Target]) -> Result<Vec<i64>> {
        let own = inside(targets, &[class.to_owned()]);
        if own.is_empty() {
            return Ok(inside(targets, &self.bases(class)?));
        }
        Ok(own)
    }

    /// `a.f(x)` with `a` of a known type: of the type, of its bases, or by
    /// dispatch of its heirs.
    fn typed(&mut self, name: &str, place: &CallPlace<'_>, targets: &[&Target]) -> Result<Meaning> {
        if !self.is_type(name)? {
            // A pointer class of a library may hand on to anything.
            return Ok(match place.language {
                Language::Cpp => any_member(targets),
                _ => Meaning::new(),
            });
        }
        let proved = self.inherited(name, targets)?;
        let mut heirs = inside(targets, &self.related(HEIRS, name)?);
        heirs.retain(|id| !proved.contains(id));
        Ok([certain(proved), possible(heirs)].concat())
    }

    /// `a.f(x)` with `a` declared elsewhere: a field of the class, a package.
    fn on_variable(
        &mut self,
        name: &str,
        place: &CallPlace<'_>,
        targets: &[&Target],
    ) -> Result<Meaning> {
        if let Some(declared) = self.type_of_variable(name, place)? {
            return self.typed(&declared, place, targets);
        }
        let may_qualify = matches!(
            place.language,
            Language::Go | Language::Python | Language::JavaScript | Language::TypeScript
        );
        if may_qualify {
            let by_qualifier = self.qualified(name, place, targets)?;
            if by_qualifier.iter().any(|(_, by_name)| !by_name) {
                return Ok(by_qualifier);
            }
        }
        Ok(any_member(targets))
    }

    /// The declared type of a field of the class around a call or of its bases.
    fn type_of_variable(&mut self, name: &str, place: &CallPlace<'_>) -> Result<Option<String>> {
        let fields: Vec<(String, String)> = self.reader.rows(
            "SELECT coalesce((SELECT name FROM name WHERE id = s.scope_id), ''), t.name
             FROM symbol s JOIN name t ON t.id = s.type_id
             WHERE s.name_id = (SELECT id FROM name WHERE name = ?1)
               AND s.kind IN ('field', 'variable')",
            [name],
        )?;
        for class in place.scope.iter().rev() {
            let bases = self.bases(class)?;
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

    fn targets(&mut self, name: i64) -> Result<Rc<Vec<Target>>> {
        kept(&mut self.targets, name, || {
            let rows: Vec<(i64, String, String, i64, i64, i64, bool)> = self.reader.rows(
                "SELECT s.id, coalesce((SELECT name FROM name WHERE id = s.scope_id), ''), s.kind,
                        s.file_id, s.least, s.most, s.static
                 FROM symbol s WHERE s.name_id = ?1 AND s.body_line > 0
                   AND s.kind IN ('function', 'method', 'constructor', 'macro') ORDER BY s.id",
                [name],
            )?;
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

    /// The names of all bases of a class, the nearest first.
    fn bases(&mut self, class: &str) -> Result<Rc<Vec<String>>> {
        // Classes without a name are numbered: the number is no name.
        if class.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Rc::default());
        }
        self.related(BASES, class)
    }

    /// Returns the classes that a query leads to, and those that it leads to from there.
    fn related(&mut self, sql: &'static str, class: &str) -> Result<Rc<Vec<String>>> {
        kept(&mut self.related, (sql, class.to_owned()), || {
            let mut found: Vec<String> = Vec::new();
            let mut next = vec![class.to_owned()];
            while let Some(name) = next.pop() {
                for other in self.reader.values::<String>(sql, [name])? {
                    if other != class && !found.contains(&other) && found.len() < RELATED {
                        found.push(other.clone());
                        next.push(other);
                    }
                }
            }
            Ok(Rc::new(found))
        })
    }

    fn is_type(&mut self, name: &str) -> Result<bool> {
        kept(&mut self.types, name.to_owned(), || {
            let known = named(self.reader, name)?;
            Ok(known.iter().any(|one| one.kind.is_type()))
        })
    }
}

fn certain(ids: Vec<i64>) -> Meaning {
    ids.into_iter().map(|id| (id, false)).collect()
}

fn possible(ids: Vec<i64>) -> Meaning {
    ids.into_iter().map(|id| (id, true)).collect()
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
    possible(ids(targets, is_member))
}

/// The numbers of those targets that are wanted.
fn ids(targets: &[&Target], is_wanted: impl Fn(&Target) -> bool) -> Vec<i64> {
    let wanted = targets.iter().filter(|one| is_wanted(one));
    wanted.map(|one| one.id).collect()
}

/// The targets that lie in one of some classes or namespaces.
fn inside(targets: &[&Target], names: &[String]) -> Vec<i64> {
    ids(targets, |one| {
        one.scope.last().is_some_and(|last| names.contains(last))
    })
}

/// Chooses among functions that any file may call: the only one, or the only one in
/// the nearest folder, as copies of a library call themselves.
fn nearest(
    place: &CallPlace<'_>,
    targets: &[&Target],
    is_callable: impl Fn(&Target) -> bool,
) -> Meaning {
    let mut near: Vec<&Target> = targets.to_vec();
    near.retain(|one| is_callable(one));
    let shared = |one: &&Target| shared_folders(&one.path, place.path);
    let most = near.iter().map(shared).max();
    near.retain(|one| Some(shared(one)) == most);
    let all = ids(&near, |_| true);
    // Branches of a conditional and overloads lie side by side.
    let first = near.first().map(|one| &one.path);
    if near.iter().all(|one| Some(&one.path) == first) {
        certain(all)
    } else {
        possible(all)
    }
}
