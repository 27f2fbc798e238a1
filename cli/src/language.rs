//! Language of a project, from its crash report or its files, for whoever names none.

use crate::common::WrongInput;
use patchwright_crash::Tool;
use patchwright_source::{Language, Tree, TreePath};
use std::collections::BTreeMap;
use std::path::Path;

/// The languages that can be repaired.
pub(crate) const REPAIRED: [Language; 3] = [Language::C, Language::Cpp, Language::Java];

/// Words for them that people use.
const WORDS: [(&str, Language); 7] = [
    ("c", Language::C),
    ("c++", Language::Cpp),
    ("cpp", Language::Cpp),
    ("cxx", Language::Cpp),
    ("cc", Language::Cpp),
    ("java", Language::Java),
    ("jvm", Language::Java),
];

/// Returns the language that a person names.
///
/// # Errors
/// No language that can be repaired has this name; the nearest one is told.
pub(crate) fn named(word: &str) -> Result<Language, WrongInput> {
    let word = word.to_ascii_lowercase();
    if let Some((_, language)) = WORDS.iter().find(|(known, _)| *known == word) {
        return Ok(*language);
    }
    let likeness = |known: &str| strsim::jaro_winkler(known, &word);
    let nearest = WORDS
        .iter()
        .max_by(|(one, _), (other, _)| likeness(one).total_cmp(&likeness(other)));
    let nearest = nearest.map_or(Language::C, |(_, language)| *language);
    Err(WrongInput(format!(
        "--language: {word:?} cannot be repaired: c, c++ and java can; did you mean {nearest}?"
    )))
}

/// Returns the language of a project: that of the first frame of the report whose file has
/// one, else that of most source files; `None` where no file is in a language that can be
/// repaired.
pub(crate) fn infer(repo: &Path, log: Option<&str>) -> Option<Language> {
    log.and_then(of_report).or_else(|| of_files(repo))
}

fn of_report(log: &str) -> Option<Language> {
    let report = patchwright_crash::read_leading(log)?;
    if matches!(report.tool, Tool::Java | Tool::Jazzer | Tool::Jvm) {
        return Some(Language::Java);
    }
    let frames = report.main_stack()?.frames.iter();
    let files = frames.filter_map(|frame| frame.file.as_deref());
    let mut languages = files.filter_map(of_name);
    languages.next()
}

/// Returns the language of a file by its name; headers say nothing.
fn of_name(file: &str) -> Option<Language> {
    let name = file.rsplit('/').next()?;
    let header = name
        .rsplit('.')
        .next()
        .is_some_and(|end| end.starts_with(['h', 'H']));
    let language = Language::of_path(&TreePath::new(name).ok()?)?;
    (!header && REPAIRED.contains(&language)).then_some(language)
}

fn of_files(repo: &Path) -> Option<Language> {
    let tree = Tree::open(repo).ok()?;
    let mut counts: BTreeMap<Language, usize> = BTreeMap::new();
    for path in tree.files() {
        if let Some(language) = of_name(path.as_str()) {
            *counts.entry(language).or_default() += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(language, _)| language)
}
