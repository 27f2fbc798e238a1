//! The imports between the modules of a crate, read from its code.
//!
//! Paths that begin with `crate::` or `super::` count, in code without its
//! tests; what a module hands on with `use` is followed to where it is defined.

use super::Source;
use std::collections::BTreeMap;

/// A module: its name from the root of its crate, empty for the root itself.
pub(super) type Path = Vec<String>;

/// The modules of a crate with the code of each.
pub(super) struct Crate {
    pub(super) name: String,
    pub(super) modules: BTreeMap<Path, Module>,
}

pub(super) struct Module {
    file: String,
    /// The code that is no test.
    code: String,
    /// The names that `use` brings into it, each with the path that it stands for.
    names: BTreeMap<String, Path>,
}

/// One module that imports another.
pub(super) struct Import {
    pub(super) from: Path,
    pub(super) to: Path,
    pub(super) file: String,
}

impl Crate {
    /// The crate in a folder of the repository.
    pub(super) fn read(name: &str, files: &[Source]) -> Self {
        let folder = format!("{name}/src/");
        let mut modules = BTreeMap::new();
        for file in files {
            let Some(place) = file.path.strip_prefix(&folder) else {
                continue;
            };
            let path = module_of(place);
            if path.iter().any(|part| is_test(part)) {
                continue;
            }
            let module = Module {
                file: file.path.clone(),
                code: without_tests(file),
                names: BTreeMap::new(),
            };
            modules.insert(path, module);
        }
        let mut read = Self {
            name: name.to_owned(),
            modules,
        };
        read.read_names();
        read
    }

    fn read_names(&mut self) {
        let mut all = BTreeMap::new();
        for (path, module) in &self.modules {
            let mut names = BTreeMap::new();
            for tree in uses(&module.code) {
                for (target, name) in leaves(tree) {
                    if let Some(target) = self.absolute(path, &target) {
                        names.insert(name, target);
                    }
                }
            }
            all.insert(path.clone(), names);
        }
        for (path, names) in all {
            if let Some(module) = self.modules.get_mut(&path) {
                module.names = names;
            }
        }
    }

    /// A path as it stands in a module, from the root; nothing when it leads to
    /// another crate.
    fn absolute(&self, at: &Path, path: &[String]) -> Option<Path> {
        let first = path.first()?.as_str();
        let above = path.iter().take_while(|part| *part == "super").count();
        let (base, rest) = match first {
            "crate" => (Vec::new(), &path[1..]),
            "self" => (at.clone(), &path[1..]),
            "super" => (at[..at.len().checked_sub(above)?].to_vec(), &path[above..]),
            _ => {
                let child: Path = at.iter().cloned().chain([first.to_owned()]).collect();
                self.modules.contains_key(&child).then_some(())?;
                (at.clone(), path)
            }
        };
        Some(base.into_iter().chain(rest.iter().cloned()).collect())
    }

    /// The module that a path from the root leads to.
    fn module(&self, path: &[String]) -> Path {
        let mut rest: Vec<String> = path.iter().rev().cloned().collect();
        let mut at = Path::new();
        // What is handed on is followed; no honest path takes longer.
        for _ in 0..100 {
            let Some(name) = rest.pop() else { break };
            let child: Path = at.iter().cloned().chain([name.clone()]).collect();
            let known = self.modules.get(&at);
            if self.modules.contains_key(&child) {
                at = child;
            } else if let Some(target) = known.and_then(|module| module.names.get(&name)) {
                rest.extend(target.iter().rev().cloned());
                at = Path::new();
            } else {
                break;
            }
        }
        at
    }

    /// Every import of one module by another.
    pub(super) fn imports(&self) -> Vec<Import> {
        let mut imports = Vec::new();
        for (from, module) in &self.modules {
            for tree in references(&module.code) {
                for (path, _) in leaves(tree) {
                    let Some(path) = self.absolute(from, &path) else {
                        continue;
                    };
                    imports.push(Import {
                        from: from.clone(),
                        to: self.module(&path),
                        file: module.file.clone(),
                    });
                }
            }
        }
        imports
    }
}

/// The module that a file below `src` holds.
fn module_of(place: &str) -> Path {
    let name = place.strip_suffix(".rs").unwrap_or(place);
    match name {
        "lib" | "main" => Path::new(),
        _ => name.split('/').map(str::to_owned).collect(),
    }
}

/// Returns true when a module is there for tests alone.
fn is_test(name: &str) -> bool {
    name.ends_with("tests") || name == "test_double"
}

/// The code of a file without comments and without items for tests.
pub(super) fn without_tests(file: &Source) -> String {
    let mut text = String::new();
    let mut skipping = false;
    let mut indent = 0;
    let lines = file.text.lines();
    for line in lines.filter(|line| !line.trim_start().starts_with("//")) {
        let own = line.len() - line.trim_start().len();
        if skipping {
            // The end of the item: its closing brace, or a semicolon.
            let body = line.trim_end();
            skipping = !(own == indent && (body.ends_with('}') || body.ends_with(';')));
        } else if line.trim_start().starts_with("#[cfg(test)]") {
            skipping = true;
            indent = own;
        } else {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// The trees of the `use` items of some code.
fn uses(code: &str) -> Vec<&str> {
    let items = code.match_indices("use ");
    let items = items.filter(|(at, _)| {
        let line = code[..*at].rsplit('\n').next().unwrap_or_default().trim();
        line.is_empty() || line.starts_with("pub")
    });
    items
        .filter_map(|(at, word)| code[at + word.len()..].split(';').next())
        .collect()
}

/// The places where a path begins with `crate::` or `super::`, up to the end of
/// the code.
fn references(code: &str) -> Vec<&str> {
    let starts = ["crate::", "super::"].into_iter();
    let starts = starts.flat_map(|word| code.match_indices(word));
    let starts = starts.filter(|(at, _)| {
        let before = code[..*at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '$'))
    });
    starts.map(|(at, _)| &code[at..]).collect()
}

/// The paths of a tree such as `a::{b, c::d as e}`, each with the name that it
/// brings. What stands behind the tree is not read.
fn leaves(tree: &str) -> Vec<(Path, String)> {
    let mut found = Vec::new();
    read_tree(tree, &Path::new(), &mut found);
    found
}

/// Reads one tree; returns what stands behind it.
fn read_tree<'a>(text: &'a str, before: &Path, found: &mut Vec<(Path, String)>) -> &'a str {
    let mut path = before.clone();
    let mut rest = text.trim_start();
    loop {
        if let Some(mut inside) = rest.strip_prefix('{') {
            while !inside.trim_start().starts_with('}') && !inside.trim_start().is_empty() {
                inside = read_tree(inside, &path, found).trim_start();
                inside = inside.strip_prefix(',').unwrap_or(inside);
            }
            return inside.trim_start().strip_prefix('}').unwrap_or_default();
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
        if word.is_empty() {
            // A glob, or something that is no path.
            return rest.strip_prefix('*').unwrap_or_default();
        }
        if word != "self" || path.is_empty() {
            path.push(word.to_owned());
        }
        let Some(next) = behind.strip_prefix("::") else {
            let (name, behind) = renamed(behind).unwrap_or((last(&path), behind));
            found.push((path, name));
            return behind;
        };
        rest = next;
    }
}

fn last(path: &Path) -> String {
    path.last().cloned().unwrap_or_default()
}

/// The name behind `as`, and what stands behind that.
fn renamed(text: &str) -> Option<(String, &str)> {
    let rest = text.strip_prefix(" as ")?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    let (name, behind) = rest.split_at(end.unwrap_or(rest.len()));
    Some((name.to_owned(), behind))
}

#[test]
fn imports_are_followed_to_the_module_that_defines() {
    let file = |path: &str, text: &str| Source {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let files = [
        file(
            "x/src/lib.rs",
            "mod a;\nmod b;\npub use b::inner::{Deep, Other as Renamed};\n",
        ),
        file(
            "x/src/a.rs",
            "use crate::{Deep, b::{self, Shallow}};\n// crate::b::comment\n#[cfg(test)]\nmod tests {\n    use crate::c::No;\n}\nfn f() { std::super::no(); crate::Own::new() }\n",
        ),
        file(
            "x/src/b.rs",
            "mod inner;\nmod side;\npub use inner::Deep;\nuse crate::a;\n",
        ),
        file(
            "x/src/b/inner.rs",
            "use super::side::Thing;\nuse super::Shallow;\n",
        ),
        file(
            "x/src/b/side.rs",
            "fn g(_: &super::Deep, _: crate::Renamed) {}\n",
        ),
        file("x/src/b/tests.rs", "use crate::a::Test;\n"),
    ];
    let read = Crate::read("x", &files);
    let mut imports: Vec<String> = read
        .imports()
        .iter()
        .map(|import| format!("{} -> {}", import.from.join("::"), import.to.join("::")))
        .collect();
    imports.sort();
    imports.dedup();
    assert_eq!(
        imports,
        [
            "a -> ",
            "a -> b",
            "a -> b::inner",
            "b -> a",
            "b::inner -> b",
            "b::inner -> b::side",
            "b::side -> b::inner",
        ]
    );
}
