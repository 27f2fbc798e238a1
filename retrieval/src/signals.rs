//! Signals from outside, taken into the ranking of a request: a re-ranker,
//! embeddings, words that a model adds. Who is asked and how is the caller's
//! business; here orders are fused and remembered.
//!
//! A signal only ever changes the order of candidates, so an engine that was
//! told nothing answers as it always does.

use crate::answer::Answer;
use crate::engine::Engine;
use crate::error::Result;
use crate::snippet::{line, with_comment};
use crate::symbol::Symbol;
use crate::words::{meaningful, stems_of};
use itertools::Itertools;
use patchwright_source::TreePath;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Limit on how many candidates are offered to the signals: what one call of a
/// re-ranker takes.
const CANDIDATES: usize = 64;
/// The most characters of one candidate; re-rankers read little more.
const LONGEST: usize = 2_000;
/// The lines of a candidate that are read for them.
const LINES: u32 = 60;
/// Limit on how many rows of an SQL answer are followed.
const ROWS: usize = 60;

/// A definition that may be what a request means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its number in the index.
    pub id: i64,
    /// Its name with its scope.
    pub name: String,
    /// `path:first-last`.
    pub place: String,
    /// Its comment and its first lines.
    pub text: String,
}

/// Candidates and how words alone rank them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Each candidate once.
    pub list: Vec<Candidate>,
    /// Orders of their numbers, best first: by the request's own words, and by
    /// these and further words when there are any.
    pub rankings: Vec<Vec<i64>>,
}

impl Engine {
    /// The definitions that words may mean. `further` words widen the choice.
    pub fn candidates(&self, words: &str, further: &str) -> Result<Candidates> {
        let mut rankings = vec![self.ids_for(words)?];
        if !further.trim().is_empty() {
            rankings.push(self.ids_for(&format!("{words}\n{further}"))?);
        }
        let mut ids = fuse(&rankings);
        ids.truncate(CANDIDATES);
        let list = self.list(self.symbols(ids)?);
        Ok(Candidates { list, rankings })
    }

    /// The definitions around the hits of an answer, each once, in its order.
    pub fn candidates_in(&self, answer: &Answer) -> Result<Vec<Candidate>> {
        let mut found: Vec<Symbol> = Vec::new();
        for snippet in &answer.snippets {
            // Hits that touch are one snippet with the names of all functions.
            let here = snippet.symbols.iter().map(|name| self.named(name));
            let mut here: Vec<Symbol> = here.flatten_ok().collect::<Result<_>>()?;
            here.retain(|symbol| symbol.path == snippet.path);
            if here.is_empty() {
                // A structural hit is shown with two lines before it.
                let hit = (snippet.start_line + 2).min(snippet.end_line);
                here.extend(self.enclosing(&snippet.path, (hit, hit))?);
            }
            found.append(&mut here);
        }
        Ok(self.list(found.into_iter().unique_by(|symbol| symbol.id)))
    }

    /// The definitions that the rows of one SELECT over the documented views speak of: by path
    /// and line where the rows have them, else by name.
    pub fn definitions_in(&self, statement: &str) -> Result<Vec<i64>> {
        let rows = self.index.sql(statement)?;
        let column = |name: &str| rows.columns.iter().position(|column| column == name);
        let place = column("path").zip(column("line"));
        let mut found = Vec::new();
        for row in rows.rows.iter().take(ROWS) {
            let place = place.and_then(|(path, line)| {
                let path = TreePath::new(row.get(path)?).ok()?;
                Some((path, row.get(line)?.parse().ok()?))
            });
            let mut symbol = match place {
                Some((path, line)) => self.enclosing(&path, (line, line))?,
                None => None,
            };
            let mut names = row
                .iter()
                .filter(|cell| cell.len() > 1 && cell.parse::<f64>().is_err());
            while let (None, Some(name)) = (&symbol, names.next()) {
                symbol = self.named(name)?.into_iter().next();
            }
            found.extend(symbol.map(|symbol| symbol.id));
        }
        Ok(found.into_iter().unique().collect())
    }

    fn ids_for(&self, words: &str) -> Result<Vec<i64>> {
        let scored = self.ranked(words, CANDIDATES)?.into_iter();
        Ok(scored.map(|one| one.id).collect())
    }

    /// Definitions with their text, as far as that can be read.
    fn list(&self, symbols: impl IntoIterator<Item = Symbol>) -> Vec<Candidate> {
        let symbols = symbols.into_iter();
        let list = symbols.filter_map(|symbol| self.candidate(&symbol));
        let list = list.collect();
        self.forget_texts();
        list
    }

    fn candidate(&self, symbol: &Symbol) -> Option<Candidate> {
        let text = self.text(&symbol.path).ok()?;
        let last = symbol.end_line.min(symbol.start_line.saturating_add(LINES));
        let lines = with_comment(&text, symbol.start_line)..=last;
        let shown: String = lines.map(|number| line(&text, number) + "\n").collect();
        Some(Candidate {
            id: symbol.id,
            name: symbol.qualified(),
            place: format!("{}:{}-{}", symbol.path, symbol.start_line, symbol.end_line),
            text: shown.chars().take(LONGEST).collect(),
        })
    }
}

/// Weight that says how little the first places of one ranking outweigh agreement of several
/// (reciprocal rank fusion, Cormack, Clarke and Büttcher 2009).
const DAMPING: f64 = 60.0;

/// Fuses rankings by reciprocal rank: what several rank high comes first, and
/// what only one knows comes in between.
///
/// # Example
/// ```
/// use patchwright_retrieval::fuse;
/// assert_eq!(fuse(&[vec![1, 2, 3], vec![2, 3, 4], vec![2, 1]]), [2, 1, 3, 4]);
/// ```
pub fn fuse(rankings: &[Vec<i64>]) -> Vec<i64> {
    let mut scores: BTreeMap<i64, f64> = BTreeMap::new();
    for ranking in rankings {
        for (rank, id) in ranking.iter().enumerate().unique_by(|(_, id)| *id) {
            *scores.entry(*id).or_default() += 1.0 / (DAMPING + 1.0 + rank as f64);
        }
    }
    let score = |id: &i64| scores.get(id).copied().unwrap_or_default();
    // Stable: of equals, the one that was named first.
    let ids = rankings.iter().flatten().copied().unique();
    ids.sorted_by(|a, b| score(b).total_cmp(&score(a)))
        .collect()
}

/// Orders candidates by the words of a request alone.
pub fn by_words(words: &str, candidates: &[Candidate]) -> Vec<i64> {
    let stems = meaningful(words);
    let hits = |text: &str| {
        let found = BTreeSet::from_iter(stems_of(text));
        stems.iter().filter(|stem| found.contains(*stem)).count()
    };
    let fit = |one: &&Candidate| Reverse(3 * hits(&one.name) + hits(&one.text));
    let scored = candidates.iter().sorted_by_cached_key(fit);
    scored.map(|one| one.id).collect()
}

#[cfg(test)]
mod tests {
    use super::{by_words, fuse};
    use crate::{Choice, CrashFrame, Engine, Query, Request, Role, Settings};
    use proptest::prelude::*;
    use tempfile::TempDir;

    fn engine_of(files: &[(&str, &str)]) -> (Engine, [TempDir; 2]) {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [tree, cache] = &folders;
        for (name, text) in files {
            std::fs::write(tree.path().join(name), text).unwrap();
        }
        let engine = Engine::open(tree.path(), cache.path(), Settings::default()).unwrap();
        (engine, folders)
    }

    const SOURCE: &str = "/* Reads the length of a profile. */
int read_length(const char *p) { return p[0]; }
/* Copies a profile. */
int copy_profile(char *to, const char *from) { return read_length(from); }
int check_limit(int length) { return length < 80; }
int unrelated(void) { return 0; }
";

    fn id(engine: &Engine, name: &str) -> i64 {
        engine.named(name).unwrap()[0].id
    }

    #[test]
    fn rankings_are_fused_by_reciprocal_rank() {
        for (rankings, fused) in [
            (vec![], vec![]),
            (vec![vec![3, 1]], vec![3, 1]),
            (vec![vec![1, 2], vec![2, 1]], vec![1, 2]),
            (vec![vec![1, 2, 3], vec![3, 2], vec![3]], vec![3, 2, 1]),
            (vec![vec![1, 1, 2], vec![2]], vec![2, 1]),
        ] {
            assert_eq!(fuse(&rankings), fused, "{rankings:?}");
        }
    }

    proptest! {
        #[test]
        fn fusing_loses_and_invents_nothing(rankings in proptest::collection::vec(
            proptest::collection::vec(0_i64..30, 0..20), 0..5)) {
            let fused = fuse(&rankings);
            let mut all: Vec<i64> = rankings.concat();
            all.sort_unstable();
            all.dedup();
            let mut sorted = fused.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, all);
        }
    }

    #[test]
    fn what_signals_prefer_comes_first_and_only_for_these_words() {
        let (engine, _folders) = engine_of(&[("a.c", SOURCE)]);
        let first = |words: &str| {
            let query = Query::Search {
                words: words.into(),
            };
            engine.answer(&query).snippets[0].symbols[0].clone()
        };
        let in_context = |text: &str| {
            let request = Request {
                text: text.into(),
                ..Request::default()
            };
            engine.context(&request).unwrap().snippets[0]
                .symbols
                .clone()
        };
        assert_ne!(first("profile length"), "check_limit");
        let order = ["check_limit", "unrelated"].map(|name| id(&engine, name));
        engine.prefer("profile length", order.to_vec());
        assert_eq!(first(" profile length "), "check_limit");
        assert_ne!(first("length profile"), "check_limit");
        assert_eq!(in_context("profile length"), ["check_limit"]);
        assert_ne!(in_context("length of a profile"), ["check_limit"]);
    }

    #[test]
    fn a_crash_gets_what_signals_add() {
        let (engine, _folders) = engine_of(&[("a.c", SOURCE)]);
        let request = Request {
            text: "==1==ERROR: AddressSanitizer: heap-buffer-overflow".into(),
            frames: vec![CrashFrame {
                function: "copy_profile".into(),
                file: Some("a.c".into()),
                line: Some(4),
                role: Role::Crash,
                depth: 0,
            }],
            ..Request::default()
        };
        let names = |engine: &Engine| -> Vec<String> {
            let snippets = engine.context(&request).unwrap().snippets;
            // Functions that are named without their code are shown as they stand in the file.
            let with_code = snippets.into_iter().filter(|snippet| !snippet.sparse);
            with_code.flat_map(|snippet| snippet.symbols).collect()
        };
        let words = engine.words_of(&request).unwrap();
        assert!(
            words.contains("heap-buffer-overflow") && words.contains("copy_profile"),
            "{words}"
        );
        assert!(!names(&engine).contains(&"unrelated".to_owned()));
        engine.prefer(&words, vec![id(&engine, "unrelated")]);
        assert!(names(&engine).contains(&"unrelated".to_owned()));
    }

    #[test]
    fn candidates_come_with_their_text_and_further_words_widen_the_choice() {
        let (engine, _folders) = engine_of(&[("a.c", SOURCE)]);
        let few = engine.candidates("profile", "").unwrap();
        assert!(few.list.iter().all(|one| one.name != "check_limit"));
        assert!(few.list[0].text.contains("profile") && few.list[0].place.starts_with("a.c:"));
        let more = engine.candidates("profile", "limit").unwrap();
        assert!(more.list.iter().any(|one| one.name == "check_limit"));
        assert_eq!(more.rankings.len(), 2);
        let order = by_words("check the limit", &more.list);
        assert_eq!(order[0], id(&engine, "check_limit"));
    }

    #[test]
    fn hits_and_rows_lead_to_definitions() {
        let (engine, _folders) = engine_of(&[("a.c", SOURCE)]);
        let query = Query::read("pattern", "return $X;", &[]).unwrap();
        let found = engine.candidates_in(&engine.answer(&query)).unwrap();
        assert!(
            found.iter().any(|one| one.name == "check_limit"),
            "{found:?}"
        );
        let named = |statement: &str| engine.definitions_in(statement).unwrap();
        let callers = "SELECT caller FROM calls WHERE callee = 'read_length'";
        assert_eq!(named(callers), [id(&engine, "copy_profile")]);
        let places = "SELECT path, line FROM calls WHERE callee = 'read_length'";
        assert_eq!(named(places), [id(&engine, "copy_profile")]);
        assert!(named("SELECT count(*) FROM symbols").is_empty());
    }

    #[test]
    fn a_context_is_made_of_what_was_chosen() {
        let (engine, _folders) = engine_of(&[("a.c", SOURCE)]);
        let choice = |name: &str, weight| Choice {
            id: id(&engine, name),
            weight,
            why: "chosen".into(),
        };
        let request = Request {
            text: "fix the profile".into(),
            ..Request::default()
        };
        let context = engine.context_of(
            &request,
            &[choice("unrelated", 0.9), choice("check_limit", 0.5)],
        );
        let context = context.unwrap();
        let names: Vec<&str> = context
            .snippets
            .iter()
            .map(|one| one.symbols[0].as_str())
            .collect();
        assert_eq!(names, ["unrelated", "check_limit"]);
        assert_eq!(context.intent, "BUG_FIX");
        assert!(context.tokens > 0);
    }
}
