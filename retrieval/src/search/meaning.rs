//! Search by meaning: a vector for each definition, made of its words by a static model, and the
//! definitions whose vectors lie nearest to that of some words.
//!
//! The vectors are made at the first search and kept in memory; they follow what changes.

use super::Scored;
use super::count::{Counted, Document, count_file};
use super::model::StaticModel;
use crate::error::or_nothing;
use crate::index::Index;
use crate::words::said_words;
use patchwright_source::TreePath;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Limit on how many definitions that say none of the words join a ranking.
const NEAREST: usize = 64;
/// Weight of the meaning against the best score by words. On requests whose words are those of
/// the code more does harm (docs/benchmarks.md).
const WEIGHT: f64 = 0.15;

/// The vectors of a tree's definitions, made when they are first asked for.
#[derive(Debug)]
pub(crate) struct MeaningIndex {
    model: StaticModel,
    vectors: Mutex<Option<(i64, Arc<Vectors>)>>,
}

impl MeaningIndex {
    pub(crate) fn new(model: StaticModel) -> Self {
        Self {
            model,
            vectors: Mutex::default(),
        }
    }

    /// Adds to a ranking by words how near each definition's meaning is, and the nearest that
    /// say none of the words.
    pub(crate) fn join(
        &self,
        index: &Index,
        words: &str,
        by_words: Vec<Scored>,
        limit: usize,
    ) -> Vec<Scored> {
        let best = by_words.first().map_or(1.0, |one| one.score);
        let known = by_words.into_iter().map(|one| (one.id, one.score));
        let mut joined: FxHashMap<i64, f64> = known.collect();
        for (rank, near) in self.nearest(index, words).into_iter().enumerate() {
            let score = WEIGHT * best * near.score.max(0.0);
            match joined.get_mut(&near.id) {
                Some(known) => *known += score,
                None if rank < NEAREST && score > 0.0 => drop(joined.insert(near.id, score)),
                None => {}
            }
        }
        let joined = joined.into_iter().map(|(id, score)| Scored { id, score });
        super::first(joined.collect(), limit)
    }

    /// All definitions, by how nearly they mean what some words mean.
    fn nearest(&self, index: &Index, words: &str) -> Vec<Scored> {
        let vectors = self.vectors(index);
        let mut asked = Sum::new(self.model.width());
        for word in said_words(words) {
            if let Some(vector) = self.model.vector(&word) {
                asked.add(&vector, vectors.rarity(&word));
            }
        }
        let Some(asked) = asked.direction(&vectors.middle) else {
            return Vec::new();
        };
        let rows = vectors.rows.par_chunks(self.model.width());
        let scored = vectors.ids.par_iter().zip(rows).map(|(id, row)| Scored {
            id: *id,
            score: f64::from(product(&asked, row)),
        });
        super::first(scored.collect(), usize::MAX)
    }

    fn vectors(&self, index: &Index) -> Arc<Vectors> {
        let generation = or_nothing(index.read(|reader| Ok(reader.files.generation)));
        let mut kept = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, vectors)) = kept.as_ref()
            && *of == generation
        {
            return Arc::clone(vectors);
        }
        let made = Arc::new(Vectors::of(index, &self.model));
        *kept = Some((generation, Arc::clone(&made)));
        made
    }
}

/// A vector of length 1 for each definition.
#[derive(Debug, Default)]
struct Vectors {
    ids: Vec<i64>,
    rows: Vec<f32>,
    /// The mean of all: what every definition shares says nothing about one.
    middle: Vec<f32>,
    /// Number of definitions that have each word.
    with: FxHashMap<String, u32>,
}

impl Vectors {
    fn of(index: &Index, model: &StaticModel) -> Self {
        let counted = count(index);
        let mut made = Self::default();
        for file in &counted {
            for document in &file.documents {
                made.ids.push(document.id);
                for (word, _) in words_of(file, document) {
                    *made.with.entry(word.to_owned()).or_default() += 1;
                }
            }
        }
        let sums = made.sums(&counted, model);
        let mut middle = Sum::new(model.width());
        let nowhere = vec![0.0; model.width()];
        for direction in sums.iter().filter_map(|sum| sum.direction(&nowhere)) {
            middle.add(&direction, 1.0 / sums.len() as f32);
        }
        made.middle = middle.0;
        for sum in &sums {
            let row = sum.direction(&made.middle);
            made.rows.extend(row.as_ref().unwrap_or(&nowhere));
        }
        made
    }

    /// The sum of the vectors of each definition's words.
    fn sums(&self, counted: &[Counted], model: &StaticModel) -> Vec<Sum> {
        let words = self.with.par_iter().map(|(word, _)| word.as_str());
        let known: FxHashMap<&str, Vec<f32>> = words
            .filter_map(|word| Some((word, model.vector(word)?)))
            .collect();
        let sum = |file: &Counted, document: &Document| {
            let mut sum = Sum::new(model.width());
            for (word, count) in words_of(file, document) {
                if let Some(vector) = known.get(word) {
                    sum.add(vector, self.rarity(word) * (count as f32).ln_1p());
                }
            }
            sum
        };
        let of_file = |file: &Counted| -> Vec<Sum> {
            let documents = file.documents.iter();
            documents.map(|document| sum(file, document)).collect()
        };
        counted.par_iter().flat_map_iter(of_file).collect()
    }

    /// Returns how much a word tells the definitions apart.
    fn rarity(&self, word: &str) -> f32 {
        let with = self.with.get(word).copied().unwrap_or_default();
        ((self.ids.len() as f32 + 1.0) / (with as f32 + 1.0)).ln()
    }
}

/// Counts the words of all definitions as they are written.
fn count(index: &Index) -> Vec<Counted> {
    let files = index.files().into_iter();
    let paths: Vec<TreePath> = files
        .filter(|file| file.language.is_some())
        .map(|file| file.path)
        .collect();
    let count = |path| count_file(index, path, str::to_owned);
    paths.par_iter().map(count).collect()
}

/// The words of a definition, in the order of their numbers: sums of floats depend on it.
fn words_of<'c>(
    file: &'c Counted,
    document: &Document,
) -> impl Iterator<Item = (&'c str, u32)> + use<'c> {
    let mut numbered: Vec<(u32, u32)> = document
        .words
        .iter()
        .map(|(n, count)| (*n, *count))
        .collect();
    numbered.sort_unstable();
    let word = |number: u32| file.words.get(number as usize).map(String::as_str);
    let words = numbered.into_iter();
    words.filter_map(move |(number, count)| Some((word(number)?, count)))
}

/// A weighted sum of vectors.
struct Sum(Vec<f32>);

impl Sum {
    fn new(width: usize) -> Self {
        Self(vec![0.0; width])
    }

    fn add(&mut self, vector: &[f32], weight: f32) {
        let sums = self.0.iter_mut().zip(vector);
        sums.for_each(|(sum, one)| *sum += weight * one);
    }

    /// The direction from a middle, with length 1; nothing for a sum of nothing.
    fn direction(&self, middle: &[f32]) -> Option<Vec<f32>> {
        let unit = unit(self.0.clone())?;
        unit_of(&unit, middle)
    }
}

fn unit_of(vector: &[f32], middle: &[f32]) -> Option<Vec<f32>> {
    let moved = vector.iter().zip(middle).map(|(one, middle)| one - middle);
    unit(moved.collect())
}

fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = product(&vector, &vector).sqrt();
    for one in &mut vector {
        *one /= length;
    }
    (length > 0.0).then_some(vector)
}

fn product(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use crate::settings::ModelFiles;
    use crate::{Engine, Query, RetrievalError, Settings};
    use serde_json::json;
    use std::path::Path;
    use tempfile::TempDir;

    const SOURCE: &str = "int login(int key)\n{\n    return key;\n}\nint draw(int circle)\n{\n    return circle;\n}\n";

    /// A file of weights whose table has these rows, as the format lays it out.
    fn weights(rows: &[[f32; 2]]) -> Vec<u8> {
        let data: Vec<u8> = rows
            .concat()
            .into_iter()
            .flat_map(f32::to_le_bytes)
            .collect();
        let shape = json!({ "embedding.weight": {
            "dtype": "F32", "shape": [rows.len(), 2], "data_offsets": [0, data.len()],
        }});
        let header = shape.to_string().into_bytes();
        [(header.len() as u64).to_le_bytes().to_vec(), header, data].concat()
    }

    /// A tokenizer of whole words, numbered in their order.
    fn tokenizer(words: &[&str]) -> Vec<u8> {
        let numbered = words.iter().enumerate();
        let vocabulary: serde_json::Map<String, _> = numbered
            .map(|(number, word)| ((*word).to_owned(), json!(number)))
            .collect();
        let whole = json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
            "normalizer": null, "pre_tokenizer": { "type": "Whitespace" },
            "post_processor": null, "decoder": null,
            "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]" },
        });
        whole.to_string().into_bytes()
    }

    const WORDS: [&str; 6] = ["[UNK]", "authenticate", "login", "circle", "draw", "key"];
    const ROWS: [[f32; 2]; 6] = [
        [0.0, 0.0],
        [1.0, 0.1],
        [1.0, 0.0],
        [0.0, 1.0],
        [0.0, 1.0],
        [0.5, 0.2],
    ];

    fn open(folder: &TempDir, model: Option<(&[u8], &[u8])>) -> Result<Engine, RetrievalError> {
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("tree")).unwrap();
        std::fs::write(at("tree/a.c"), SOURCE).unwrap();
        if let Some((weights, tokenizer)) = model {
            std::fs::write(at("w.safetensors"), weights).unwrap();
            std::fs::write(at("tokenizer.json"), tokenizer).unwrap();
        }
        let model = model.map(|_| ModelFiles {
            weights: at("w.safetensors"),
            tokenizer: at("tokenizer.json"),
        });
        let settings = Settings {
            model,
            ..Settings::default()
        };
        Engine::open(Path::new(&at("tree")), &at("cache"), settings)
    }

    fn found(engine: &Engine, words: &str) -> Vec<String> {
        let query = Query::Search {
            words: words.into(),
        };
        let answer = engine.answer(&query);
        answer
            .snippets
            .iter()
            .flat_map(|one| one.symbols.clone())
            .collect()
    }

    #[test]
    fn a_search_finds_what_shares_no_word_with_it() {
        let folder = tempfile::tempdir().unwrap();
        assert!(found(&open(&folder, None).unwrap(), "authenticate").is_empty());
        let model = (weights(&ROWS), tokenizer(&WORDS));
        let engine = open(&folder, Some((&model.0, &model.1))).unwrap();
        assert_eq!(found(&engine, "authenticate")[0], "login");
        assert_eq!(found(&engine, "circles, draw")[0], "draw");
        let candidates = engine.candidates("authenticate", "");
        assert_eq!(candidates.list[0].name, "login");
        // What the model has no row for is found by nothing.
        assert!(found(&engine, "zeppelin").is_empty());
    }

    #[test]
    fn vectors_follow_what_changes() {
        let folder = tempfile::tempdir().unwrap();
        let model = (weights(&ROWS), tokenizer(&WORDS));
        let engine = open(&folder, Some((&model.0, &model.1))).unwrap();
        assert_eq!(found(&engine, "authenticate")[0], "login");
        drop(engine);
        let changed = SOURCE.replace("login", "draw_key");
        std::fs::write(folder.path().join("tree/a.c"), &changed).unwrap();
        let settings = Settings {
            model: Some(ModelFiles {
                weights: folder.path().join("w.safetensors"),
                tokenizer: folder.path().join("tokenizer.json"),
            }),
            ..Settings::default()
        };
        let (tree, cache) = (folder.path().join("tree"), folder.path().join("cache"));
        let engine = Engine::open(&tree, &cache, settings).unwrap();
        assert_eq!(found(&engine, "authenticate")[0], "draw_key");
    }

    #[test]
    fn files_that_are_no_model_are_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let (good, words) = (weights(&ROWS), tokenizer(&WORDS));
        let short = &good[..good.len() - 3];
        let few = weights(&ROWS[..4]);
        let broken = weights(&[[f32::NAN, 0.0]; 6]);
        for (weights, tokenizer, file, reason) in [
            (
                short,
                words.as_slice(),
                "w.safetensors",
                "no whole safetensors file",
            ),
            (b"", &words, "w.safetensors", "no whole safetensors file"),
            (&broken, &words, "w.safetensors", "no number"),
            (&few, &words, "tokenizer.json", "6 tokens"),
            (&good, b"{}", "tokenizer.json", "no tokenizer.json"),
        ] {
            let told = open(&folder, Some((weights, tokenizer)))
                .unwrap_err()
                .to_string();
            assert!(told.contains(file) && told.contains(reason), "{told}");
        }
        let missing = Settings {
            model: Some(ModelFiles {
                weights: folder.path().join("tree/a.c"),
                tokenizer: folder.path().join("nowhere"),
            }),
            ..Settings::default()
        };
        std::fs::write(folder.path().join("tree/a.c"), &good).unwrap();
        let (tree, cache) = (folder.path().join("tree"), folder.path().join("cache"));
        let told = Engine::open(&tree, &cache, missing)
            .unwrap_err()
            .to_string();
        assert!(
            told.contains("nowhere") && told.contains("No such file"),
            "{told}"
        );
    }
}
