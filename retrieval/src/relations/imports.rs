//! Which file sees which.

use crate::error::RetrievalError;
use crate::index::{Index, Reader};
use crate::relations::rows::name_id;
use crate::symbol::Import;
use patchwright_source::TreePath;
use rusqlite::Result;

impl Index {
    /// What a file includes or imports, in the order of lines.
    pub fn imports(&self, path: &TreePath) -> Result<Vec<Import>, RetrievalError> {
        self.read(|reader| {
            let Some(file) = reader.files.by_path(path.as_str()) else {
                return Ok(Vec::new());
            };
            let mut statement = reader.connection.prepare_cached(
                "SELECT i.line, n.name FROM import i JOIN name n ON n.id = i.target_id
                 WHERE i.file_id = ?1 ORDER BY i.line, n.name",
            )?;
            let imports = statement.query_map([file.id], |row| {
                Ok(Import {
                    path: path.clone(),
                    line: row.get(0)?,
                    target: row.get(1)?,
                })
            })?;
            imports.collect()
        })
    }

    /// The imports that mean a file: by its path, or any end of it.
    pub fn importers(&self, path: &TreePath) -> Result<Vec<Import>, RetrievalError> {
        self.read(|reader| {
            let mut found = Vec::new();
            for target in ends(path) {
                found.append(&mut importers_of(reader, &target)?);
            }
            found.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
            Ok(found)
        })
    }

    /// The files of the tree that an import may mean; the one beside the
    /// importing file first.
    pub fn imported_files(&self, import: &Import) -> Vec<TreePath> {
        let beside = TreePath::new(&format!("{}/{}", import.path.folder(), import.target))
            .or_else(|_| TreePath::new(&import.target));
        let end = format!("/{}", import.target.trim_start_matches("../"));
        let mut found: Vec<TreePath> = self
            .files()
            .into_iter()
            .map(|file| file.path)
            .filter(|path| format!("/{path}").ends_with(&end))
            .collect();
        if let Ok(beside) = beside {
            found.sort_by_key(|path| *path != beside);
        }
        found
    }
}

/// `a/b/c.h`, `b/c.h`, `c.h`, each also from folders beside; for Java `a.b.c`
/// and its ends.
fn ends(path: &TreePath) -> Vec<String> {
    let text = path.as_str();
    let mut ends = vec![text.to_owned()];
    ends.extend(
        text.match_indices('/')
            .filter_map(|(at, _)| text.get(at + 1..))
            .map(str::to_owned),
    );
    if path.extension() == Some("java") {
        for end in &mut ends {
            *end = end.trim_end_matches(".java").replace('/', ".");
        }
        return ends;
    }
    let beside: Vec<String> = ["./", "../", "../../", "../../../"]
        .iter()
        .flat_map(|up| ends.iter().map(move |end| format!("{up}{end}")))
        .collect();
    ends.extend(beside);
    ends
}

fn importers_of(reader: &Reader<'_>, target: &str) -> Result<Vec<Import>> {
    let Some(id) = name_id(reader, target)? else {
        return Ok(Vec::new());
    };
    let mut statement = reader
        .connection
        .prepare_cached("SELECT file_id, line FROM import WHERE target_id = ?1")?;
    let mut rows = statement.query([id])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if let Some(file) = reader.files.by_id(row.get(0)?) {
            found.push(Import {
                path: file.path.clone(),
                line: row.get(1)?,
                target: target.to_owned(),
            });
        }
    }
    Ok(found)
}
