//! Ranked search by words: which definitions speak of what a request speaks
//! of, by BM25 over the words of names, scopes, files, comments and bodies.
//!
//! The words lie in the index file: counted at the first search ([`count`]),
//! kept and brought up to date by [`store`].

mod count;
mod postings;
mod store;

use crate::error::Result;
use crate::index::{Index, Reader};
use crate::words::shortened;
use patchwright_source::TreePath;
use postings::Posting;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};
use store::{Size, read_postings};

/// BM25's saturation of repeated words and its regard for length.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.5;
/// Weight of an abbreviation of the asked word: `buf`, `len`.
const SHORTENED: f64 = 0.8;
/// Weight of a definition that contains all that was asked for
/// rather than of one word often.
const COVERAGE: f64 = 0.6;

/// A definition and how well it fits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scored {
    pub(crate) id: i64,
    pub(crate) score: f64,
}

/// The words of a tree's definitions, counted when they are first asked for.
#[derive(Debug, Default)]
pub(crate) struct WordIndex(Mutex<Option<Size>>);

impl WordIndex {
    /// The definitions that fit some stems best, at most `limit`.
    pub(crate) fn search(
        &self,
        index: &Index,
        stems: &[String],
        limit: usize,
    ) -> Result<Vec<Scored>> {
        let size = self.count(index)?;
        index.read(|reader| score_words(reader, size, stems, limit))
    }

    /// Counts what was not counted yet, and gives how much there is.
    pub(crate) fn count(&self, index: &Index) -> Result<Size> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = index.read(|reader| Ok(reader.files.generation))?;
        if let Some(size) = *counted
            && size.generation == generation
        {
            return Ok(size);
        }
        store::update(index)?;
        let size = index.read(store::size)?;
        *counted = Some(size);
        Ok(size)
    }

    /// Returns how rare each stem is, the rarest of all being 1.
    pub(crate) fn rarities(&self, index: &Index, stems: &[String]) -> Result<Vec<f64>> {
        let size = self.count(index)?;
        index.read(|reader| {
            let rarities = stems.iter().map(|stem| {
                let with = read_postings(reader, size, stem)?.len() as f64;
                let share = (size.documents + 1.0) / (with + 1.0);
                Ok((share.ln() / (size.documents + 2.0).ln()).max(0.0))
            });
            rarities.collect()
        })
    }
}

/// Those of the found definitions that lie in some files, in their order.
pub(crate) fn those_in(index: &Index, scored: &[Scored], files: &[TreePath]) -> Result<Vec<i64>> {
    index.read(|reader| {
        let is_in = |id: i64| {
            let file = reader.files.of_symbol(id);
            file.is_some_and(|file| files.contains(&file.path))
        };
        let ids = scored.iter().map(|one| one.id);
        Ok(ids.filter(|id| is_in(*id)).collect())
    })
}

fn score_words(
    reader: &Reader<'_>,
    size: Size,
    stems: &[String],
    limit: usize,
) -> Result<Vec<Scored>> {
    let norms: [f64; 256] = std::array::from_fn(|scale| {
        1.0 - LENGTH + LENGTH * postings::length(scale as u8) / size.mean.max(1.0)
    });
    // Per definition its score, and how much of what was asked it says.
    let mut scores: FxHashMap<i64, (f64, f64)> = FxHashMap::default();
    let mut best: FxHashMap<i64, (f64, f64)> = FxHashMap::default();
    let mut asked = 0.0;
    for stem in stems {
        let mut rarest: f64 = 0.0;
        for (word, share) in alike(stem) {
            let found = read_postings(reader, size, &word)?;
            if found.is_empty() {
                continue;
            }
            let with = found.len() as f64;
            let rarity = ((size.documents - with + 0.5).max(0.5) / (with + 0.5)).ln_1p();
            rarest = rarest.max(share * rarity);
            for posting in &found {
                let score = share * rarity * fitness(posting, &norms);
                let entry = best.entry(posting.id).or_default();
                if score > entry.0 {
                    *entry = (score, share * rarity);
                }
            }
        }
        asked += rarest;
        for (id, (score, said)) in best.drain() {
            let entry = scores.entry(id).or_default();
            entry.0 += score;
            entry.1 += said;
        }
    }
    let scored = scores
        .into_iter()
        .map(|(id, (score, said))| {
            let covered = if asked > 0.0 { said / asked } else { 0.0 };
            let score = score * (1.0 - COVERAGE + COVERAGE * covered);
            Scored { id, score }
        })
        .collect();
    Ok(first(scored, limit))
}

/// The best, in order. Most are not among them and need no order.
fn first(mut scored: Vec<Scored>, limit: usize) -> Vec<Scored> {
    let order = |a: &Scored, b: &Scored| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id));
    if scored.len() > limit {
        scored.select_nth_unstable_by(limit, order);
        scored.truncate(limit);
    }
    scored.sort_unstable_by(order);
    scored
}

/// Returns how well a word fits a definition, by how often it is there and by the norm of the
/// definition's length, of which there are few.
fn fitness(posting: &Posting, norms: &[f64; 256]) -> f64 {
    let count = f64::from(posting.count);
    let norm = norms.get(usize::from(posting.length));
    count * (SATURATION + 1.0) / (count + SATURATION * norm.copied().unwrap_or(1.0))
}

/// The known words that a stem means, with what each counts.
fn alike(stem: &str) -> impl Iterator<Item = (String, f64)> {
    let short = shortened(stem).map(|short| (crate::words::stem(short), SHORTENED));
    std::iter::once((stem.to_owned(), 1.0)).chain(short)
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
            .words
            .search(&engine.index, &stems(words), 5)
            .unwrap()
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
    fn hits_come_by_falling_score() {
        let (_folder, engine) = fixture();
        let scored = engine
            .words
            .search(&engine.index, &stems(&["add"]), 10)
            .unwrap();
        assert!(!scored.is_empty());
        assert!(scored.windows(2).all(|two| two[0].score >= two[1].score));
    }
}
