//! Class hierarchy by names: the bases and the heirs of a class. Two classes of one name are
//! one here.

use crate::error::Result;
use crate::index::Reader;
use crate::relations::kept;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Most bases or heirs of a class that are followed.
const RELATED: usize = 64;

/// Bases and heirs of classes; those that were looked up once are kept.
pub(super) struct Hierarchy<'r> {
    reader: &'r Reader<'r>,
    bases: FxHashMap<String, Rc<Vec<String>>>,
    heirs: FxHashMap<String, Rc<Vec<String>>>,
}

impl<'r> Hierarchy<'r> {
    pub(super) fn new(reader: &'r Reader<'r>) -> Self {
        Self {
            reader,
            bases: FxHashMap::default(),
            heirs: FxHashMap::default(),
        }
    }

    /// The names of all bases of a class, the nearest first.
    pub(super) fn bases(&mut self, class: &str) -> Result<Rc<Vec<String>>> {
        // Classes without a name are numbered: the number is no name.
        if class.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Rc::default());
        }
        let sql = "SELECT DISTINCT b.name FROM inherit i JOIN name b ON b.id = i.base_id
             JOIN symbol s ON s.id = i.symbol_id
             WHERE s.name_id = (SELECT id FROM name WHERE name = ?1)";
        related(self.reader, &mut self.bases, class, sql)
    }

    /// The names of all classes that extend or implement a type.
    pub(super) fn heirs(&mut self, class: &str) -> Result<Rc<Vec<String>>> {
        let sql = "SELECT DISTINCT n.name FROM inherit i JOIN symbol s ON s.id = i.symbol_id
             JOIN name n ON n.id = s.name_id
             WHERE i.base_id = (SELECT id FROM name WHERE name = ?1)";
        related(self.reader, &mut self.heirs, class, sql)
    }
}

/// Returns the classes that a query leads to, and those that it leads to from there.
fn related(
    reader: &Reader<'_>,
    known: &mut FxHashMap<String, Rc<Vec<String>>>,
    class: &str,
    sql: &str,
) -> Result<Rc<Vec<String>>> {
    kept(known, class.to_owned(), || {
        let mut found: Vec<String> = Vec::new();
        let mut next = vec![class.to_owned()];
        while let Some(name) = next.pop() {
            for other in reader.values::<String>(sql, [name])? {
                if other != class && !found.contains(&other) && found.len() < RELATED {
                    found.push(other.clone());
                    next.push(other);
                }
            }
        }
        Ok(Rc::new(found))
    })
}
