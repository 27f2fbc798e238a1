//! Ranked search by words: which definitions speak of what a request speaks
//! of, by BM25 over the words of names, scopes, files, comments and bodies.
//!
//! The words lie in the index file: counted at the first search ([`count`]),
//! kept and brought up to date by [`store`]. Embeddings, where configured, are
//! fused elsewhere.

mod count;
mod postings;
mod store;

use crate::engine::Engine;
use crate::engine::lookup::or_nothing;
use crate::error::RetrievalError;
use crate::words::shortened;
use postings::Posting;
use rustc_hash::FxHashMap;
use std::sync::PoisonError;

/// BM25's saturation of repeated words and its regard for length.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.5;
/// What a word counts that only begins like the asked one: `init`, `len`.
const BEGINS_ALIKE: f64 = 0.45;
/// What a word counts that is short for the asked one: `buf`, `len`.
const SHORTENED: f64 = 0.8;
/// The shortest beginning that counts.
const SHORTEST: usize = 3;
/// How many words are looked at that begin like the asked one.
const LONGER: usize = 20;
/// How much it counts that a definition speaks of all that was asked for
/// rather than of one word often.
const COVERAGE: f64 = 0.6;

/// A definition and how well it fits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scored {
    pub(crate) id: i64,
    pub(crate) score: f64,
}

impl Engine {
    /// The definitions that fit some stems best, at most `limit`.
    pub(crate) fn search_words(&self, stems: &[String], limit: usize) -> Vec<Scored> {
        self.prepare_search();
        or_nothing(self.score_words(stems, limit))
    }

    /// Counts the words of definitions that were not counted yet. Done by the
    /// first search; here for who wants it done before.
    pub fn prepare_search(&self) {
        let mut counted = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = or_nothing(self.index.read(|reader| Ok(reader.files.generation)));
        if *counted != Some(generation) {
            or_nothing(store::update(self));
            *counted = Some(generation);
        }
    }

    /// How rare each stem is, the rarest of all being 1.
    pub(crate) fn rarities(&self, stems: &[String]) -> Vec<f64> {
        let (documents, _) = or_nothing(store::size(&self.index));
        let rarity = |stem: &String| {
            let with = or_nothing(store::postings(&self.index, stem)).len() as f64;
            ((documents + 1.0) / (with + 1.0)).ln() / (documents + 2.0).ln()
        };
        stems.iter().map(|stem| rarity(stem).max(0.0)).collect()
    }

    fn score_words(&self, stems: &[String], limit: usize) -> Result<Vec<Scored>, RetrievalError> {
        let (documents, mean) = store::size(&self.index)?;
        // Per definition its score, and how much of what was asked it says.
        let mut scores: FxHashMap<i64, (f64, f64)> = FxHashMap::default();
        let mut asked = 0.0;
        for stem in stems {
            let mut best: FxHashMap<i64, (f64, f64)> = FxHashMap::default();
            let mut rarest: f64 = 0.0;
            for (word, share) in alike(self, stem)? {
                let found = store::postings(&self.index, &word)?;
                if found.is_empty() {
                    continue;
                }
                let with = found.len() as f64;
                let rarity = ((documents - with + 0.5).max(0.5) / (with + 0.5)).ln_1p();
                rarest = rarest.max(share * rarity);
                for posting in found {
                    let score = share * rarity * fitness(&posting, mean);
                    let entry = best.entry(posting.id).or_default();
                    if score > entry.0 {
                        *entry = (score, share * rarity);
                    }
                }
            }
            asked += rarest;
            for (id, (score, said)) in best {
                let entry = scores.entry(id).or_default();
                entry.0 += score;
                entry.1 += said;
            }
        }
        let mut scored: Vec<Scored> = scores
            .into_iter()
            .map(|(id, (score, said))| {
                let covered = if asked > 0.0 { said / asked } else { 0.0 };
                let score = score * (1.0 - COVERAGE + COVERAGE * covered);
                Scored { id, score }
            })
            .collect();
        scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        scored.truncate(limit);
        Ok(scored)
    }
}

fn fitness(posting: &Posting, mean: f64) -> f64 {
    let count = f64::from(posting.count);
    let norm = 1.0 - LENGTH + LENGTH * posting.length() / mean.max(1.0);
    count * (SATURATION + 1.0) / (count + SATURATION * norm)
}

/// The known words that a stem means, with what each counts.
fn alike(engine: &Engine, stem: &str) -> Result<Vec<(String, f64)>, RetrievalError> {
    let mut alike = vec![(stem.to_owned(), 1.0)];
    alike.extend(shortened(stem).map(|short| (crate::words::stem(short), SHORTENED)));
    for beginning in (SHORTEST..stem.len()).filter_map(|end| stem.get(..end)) {
        // `con` begins `connect` and much else.
        let share = beginning.len() as f64 / stem.len() as f64;
        alike.push((beginning.to_owned(), BEGINS_ALIKE * share));
    }
    if stem.len() >= SHORTEST {
        for word in store::words_from(&engine.index, stem, LONGER)? {
            let share = stem.len() as f64 / word.len() as f64;
            alike.push((word, BEGINS_ALIKE * share));
        }
    }
    Ok(alike)
}

#[cfg(test)]
mod tests {
    use crate::engine::tests::fixture;
    use crate::{Engine, Settings};

    fn stems(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| crate::words::stem(word)).collect()
    }

    fn found(engine: &Engine, words: &[&str]) -> Vec<String> {
        engine
            .search_words(&stems(words), 5)
            .into_iter()
            .filter_map(|one| engine.index.symbol(one.id).ok().flatten())
            .map(|symbol| symbol.name)
            .collect()
    }

    #[test]
    fn words_are_kept_and_follow_what_changes() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, cache) = (folder.path().join("tree"), folder.path().join("cache"));
        std::fs::create_dir(&tree).unwrap();
        let write = |name: &str, text: &str| std::fs::write(tree.join(name), text).unwrap();
        write(
            "a.c",
            "int draw_circle(int radius)\n{\n    return radius;\n}\n",
        );
        write("b.c", "int fill_square(int side)\n{\n    return side;\n}\n");
        let open = || Engine::open(&tree, &cache, Settings::default()).unwrap();
        let engine = open();
        assert_eq!(found(&engine, &["circles"]), ["draw_circle"]);
        assert_eq!(found(&engine, &["sides"]), ["fill_square"]);
        drop(engine);
        write(
            "a.c",
            "int draw_ellipse(int radius)\n{\n    return 2 * radius;\n}\n",
        );
        std::fs::remove_file(tree.join("b.c")).unwrap();
        write(
            "c.c",
            "int fill_star(int points)\n{\n    return points;\n}\n",
        );
        let engine = open();
        assert!(found(&engine, &["circle"]).is_empty());
        assert!(found(&engine, &["side"]).is_empty());
        assert_eq!(found(&engine, &["radius"]), ["draw_ellipse"]);
        assert_eq!(found(&engine, &["stars"]), ["fill_star"]);
        // Many changes, one after the other, are gathered up again.
        for round in 0..20 {
            write(
                "a.c",
                &format!("int step_{round}(int radius)\n{{\n    return {round};\n}}\n"),
            );
            let engine = open();
            assert_eq!(found(&engine, &["radius"]), [format!("step_{round}")]);
        }
    }

    #[test]
    fn a_word_that_only_begins_alike_counts_less() {
        let (_folder, engine) = fixture();
        let scored = engine.search_words(&stems(&["add"]), 10);
        assert!(!scored.is_empty());
        assert!(scored.windows(2).all(|two| two[0].score >= two[1].score));
    }
}
