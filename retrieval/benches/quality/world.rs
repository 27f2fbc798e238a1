//! One tree, opened once for all cases about it.

use patchwright_retrieval::{Engine, FILE_SIZE_LIMIT, Index, Settings, Symbol};
use patchwright_source::TreePath;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Describes what the systems work on.
pub(super) struct World {
    pub(super) tree: PathBuf,
    pub(super) engine: Engine,
    index: Index,
    files: Vec<TreePath>,
    words: OnceCell<Vec<HashMap<String, u32>>>,
    names: OnceCell<BTreeMap<String, Vec<Symbol>>>,
}

/// Words that say nothing.
const STOP_WORDS: &str = "the and for with that this from are was not when where what which who how does into \
    has have can should would must only all any file files code function class method";

impl World {
    pub(super) fn open(tree: &Path) -> Self {
        // Kept from run to run: a tree is indexed anew only where it has to be.
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("quality/indexes");
        let engine = Engine::open(tree, &cache, Settings::default()).expect("a tree");
        let index = Index::open(tree, &cache, FILE_SIZE_LIMIT).expect("a tree");
        let files = index
            .files()
            .into_iter()
            .filter(|file| file.language.is_some())
            .map(|file| file.path)
            .collect();
        Self {
            tree: tree.to_path_buf(),
            engine,
            index,
            files,
            words: OnceCell::new(),
            names: OnceCell::new(),
        }
    }

    pub(super) fn text(&self, path: &TreePath) -> String {
        let bytes = std::fs::read(self.tree.join(path.as_str())).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Everything defined in a file.
    pub(super) fn outline(&self, path: &TreePath) -> Vec<Symbol> {
        self.index.outline(path).unwrap_or_default()
    }

    /// Every definition of the tree by its name.
    pub(super) fn names(&self) -> &BTreeMap<String, Vec<Symbol>> {
        self.names.get_or_init(|| {
            let mut names: BTreeMap<String, Vec<Symbol>> = BTreeMap::new();
            for path in &self.files {
                for symbol in self.outline(path) {
                    names.entry(symbol.name.clone()).or_default().push(symbol);
                }
            }
            names
        })
    }

    /// The files whose words are the query's, best first: term frequency times
    /// inverse document frequency. Counting the words of the files is left out
    /// of the time, as their reading is with the others.
    pub(super) fn best_files(&self, query: &str, count: usize) -> Vec<TreePath> {
        let words = self.words.get_or_init(|| {
            self.files
                .iter()
                .map(|path| {
                    let mut counts = HashMap::new();
                    for word in tokens(&self.text(path)).chain(tokens(path.as_str())) {
                        *counts.entry(word).or_default() += 1;
                    }
                    counts
                })
                .collect()
        });
        let mut asked: Vec<String> = tokens(query)
            .filter(|word| word.len() > 2 && !STOP_WORDS.split(' ').any(|stop| stop == word))
            .collect();
        asked.sort();
        asked.dedup();
        let mut scored: Vec<(f64, &TreePath)> = Vec::new();
        let rarity: Vec<f64> = asked
            .iter()
            .map(|word| {
                let with = words
                    .iter()
                    .filter(|counts| counts.contains_key(word))
                    .count();
                (self.files.len() as f64 / with.max(1) as f64).ln()
            })
            .collect();
        for (path, counts) in self.files.iter().zip(words) {
            let score = asked
                .iter()
                .zip(&rarity)
                .map(|(word, rarity)| {
                    f64::from(counts.get(word).copied().unwrap_or_default()).ln_1p() * rarity
                })
                .sum();
            scored.push((score, path));
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        scored.truncate(count);
        scored.into_iter().map(|(_, path)| path.clone()).collect()
    }
}

fn tokens(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}
