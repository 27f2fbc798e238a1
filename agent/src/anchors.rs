//! A context with the help of a model, in two calls: the first writes
//! permissive patterns, whose hits are ranked against the request and cut to a
//! few anchors; the second writes the SQL that finds what belongs to them.
//!
//! The model never reads the tree, only the anchors; everything that is shown
//! was looked up. When a call fails, the caller falls back to the context
//! without a model.

use crate::prompt;
use crate::signals::Signals;
use patchwright_model::{Message, Model, Request as Question};
use patchwright_patcher::{RawQuery, reply};
use patchwright_retrieval::{
    Candidate, Choice, Context, Engine, Query, Request, RetrievalError, by_words, fuse,
};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;

const ANCHORS: usize = 5;
/// Most patterns, and most statements, that are taken from a reply.
const PATTERNS: usize = 8;
const STATEMENTS: usize = 4;
/// Most hits that are ranked. One call of a re-ranker takes about as many.
const HITS: usize = 200;
/// Most definitions that the SQL may add.
const ADDED: usize = 16;
/// The weights of the last anchor, and of the first and last addition.
const ANCHOR_WEIGHT: (f64, f64) = (0.95, 0.03);
const ADDED_WEIGHT: (f64, f64) = (0.58, 0.02);
/// The most characters of a request that the model reads.
const LONGEST: usize = 12_000;

/// Parts that are needed to ask.
#[derive(Debug)]
pub struct Pipeline {
    pub engine: Arc<Engine>,
    /// Model that writes the patterns and the SQL.
    pub model: Arc<dyn Model>,
    /// Signals that rank the hits.
    pub signals: Arc<Signals>,
    /// The most tokens of a reply.
    pub max_output_tokens: u32,
}

impl Pipeline {
    /// The context of a request, and notes for people.
    ///
    /// # Errors
    /// A call failed or gave nothing to go on with.
    pub async fn context(&self, request: &Request) -> Result<(Context, Vec<String>), String> {
        let queries = self.patterns(request).await?;
        let patterns = queries.len();
        let hits = self.hits(queries).await?;
        if hits.is_empty() {
            return Err(format!("none of the {patterns} patterns has a hit"));
        }
        let (anchors, mut notes) = self.anchors(&request.text, hits).await;
        let statements = self.statements(request, &anchors).await?;
        let (engine, request) = (Arc::clone(&self.engine), request.clone());
        let expanded = tokio::task::spawn_blocking(move || {
            let (added, failed) = added(&engine, &statements);
            let choices = choices(&anchors, &added);
            Ok::<_, RetrievalError>((engine.context_of(&request, &choices)?, failed))
        });
        let (context, failed) = expanded.await.map_err(ended_early)?.map_err(ended_early)?;
        notes.extend(failed);
        Ok((context, notes))
    }

    async fn patterns(&self, request: &Request) -> Result<Vec<Query>, String> {
        let prompt = prompt::patterns(&request.text, &self.engine.indexed_languages());
        let pattern = |raw: RawQuery| {
            let query = Query::read(&raw.kind, &raw.body, &raw.attributes).ok()?;
            matches!(query.kind(), "pattern" | "rule").then_some(query)
        };
        self.ask(("patterns", PATTERNS), prompt, pattern).await
    }

    async fn statements(
        &self,
        request: &Request,
        anchors: &[Candidate],
    ) -> Result<Vec<String>, String> {
        let prompt = prompt::anchors(&request.text, anchors);
        let statement = |raw: RawQuery| (raw.kind == "sql").then_some(raw.body);
        self.ask(("SQL", STATEMENTS), prompt, statement).await
    }

    /// Asks for queries of a kind, of which some are taken.
    async fn ask<T>(
        &self,
        (what, most): (&str, usize),
        prompt: String,
        read: impl Fn(RawQuery) -> Option<T>,
    ) -> Result<Vec<T>, String> {
        let question = Question {
            messages: vec![Message::user(prompt)],
            max_output_tokens: self.max_output_tokens,
        };
        let answered = self.model.ask(&question).await;
        let answer = answered.map_err(|error| format!("the call for {what} failed: {error}"))?;
        let queries = reply::read(&answer.text, false).queries.into_iter();
        let found: Vec<T> = queries.filter_map(read).take(most).collect();
        if found.is_empty() {
            return Err(format!("the reply held no {what} that can be read"));
        }
        Ok(found)
    }

    /// The definitions around what the patterns hit. The patterns take turns, so
    /// that one with many hits leaves room for the others.
    async fn hits(&self, queries: Vec<Query>) -> Result<Vec<Candidate>, String> {
        let engine = Arc::clone(&self.engine);
        let found = tokio::task::spawn_blocking(move || {
            let lists = queries
                .iter()
                .map(|query| engine.candidates_in(&engine.answer(query)));
            lists.collect::<Result<_, RetrievalError>>().map(in_turns)
        });
        found.await.map_err(ended_early)?.map_err(ended_early)
    }

    /// The hits that fit the request best, by the re-ranker and embeddings where
    /// these are configured, and by words.
    async fn anchors(&self, text: &str, hits: Vec<Candidate>) -> (Vec<Candidate>, Vec<String>) {
        let told = self.signals.order(text, &hits).await;
        let order = if told.rankings.is_empty() {
            by_words(text, &hits)
        } else {
            fuse(&told.rankings)
        };
        let anchors = order
            .iter()
            .take(ANCHORS)
            .filter_map(|id| hits.iter().find(|hit| hit.id == *id).cloned());
        (anchors.collect(), told.notes())
    }
}

fn ended_early(error: impl Display) -> String {
    format!("the search ended early: {error}")
}

fn in_turns(lists: Vec<Vec<Candidate>>) -> Vec<Candidate> {
    let lists = lists.into_iter();
    let mut all: Vec<(usize, Candidate)> = lists
        .flat_map(|list| list.into_iter().enumerate())
        .collect();
    all.sort_by_key(|(turn, _)| *turn);
    let mut seen = BTreeSet::new();
    let all = all.into_iter().map(|(_, one)| one);
    all.filter(|one| seen.insert(one.id)).take(HITS).collect()
}

/// The definitions that the statements find, and what failed.
fn added(engine: &Engine, statements: &[String]) -> (Vec<i64>, Vec<String>) {
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    for statement in statements {
        match engine.definitions_in(statement) {
            Ok(ids) => found.push(ids),
            Err(error) => failed.push(format!("a statement of the model was left out: {error}")),
        }
    }
    let mut ids = fuse(&found);
    ids.truncate(ADDED);
    (ids, failed)
}

fn choices(anchors: &[Candidate], added: &[i64]) -> Vec<Choice> {
    let choose = |ids: Vec<i64>, (first, step): (f64, f64), why: &str| -> Vec<Choice> {
        let choice = |(rank, id)| Choice {
            id,
            weight: first - step * rank as f64,
            why: why.to_owned(),
        };
        ids.into_iter().enumerate().map(choice).collect()
    };
    let fitting: Vec<i64> = anchors.iter().map(|anchor| anchor.id).collect();
    let others = added.iter().copied().filter(|id| !fitting.contains(id));
    let others = choose(
        others.collect(),
        ADDED_WEIGHT,
        "belongs to what fits the request",
    );
    let fitting = choose(fitting, ANCHOR_WEIGHT, "fits the request");
    [fitting, others].concat()
}

/// A request as the model reads it.
pub fn shortened(request: &Request) -> Request {
    Request {
        text: request.text.chars().take(LONGEST).collect(),
        ..request.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::{choices, in_turns};
    use patchwright_retrieval::Candidate;

    fn hit(id: i64) -> Candidate {
        Candidate {
            id,
            name: String::new(),
            place: String::new(),
            text: String::new(),
        }
    }

    #[test]
    fn patterns_take_turns_and_hits_are_bounded() {
        let ids = |lists: &[&[i64]]| -> Vec<i64> {
            let lists = lists
                .iter()
                .map(|list| list.iter().copied().map(hit).collect());
            in_turns(lists.collect())
                .into_iter()
                .map(|one| one.id)
                .collect()
        };
        assert_eq!(ids(&[&[1, 2, 3], &[9], &[2, 4]]), [1, 9, 2, 4, 3]);
        let many: Vec<i64> = (0..1_000).collect();
        assert_eq!(ids(&[&many]).len(), 200);
    }

    #[test]
    fn anchors_matter_more_than_what_belongs_to_them() {
        let anchors: Vec<Candidate> = (0..5).map(hit).collect();
        let added: Vec<i64> = (3..20).collect();
        let choices = choices(&anchors, &added);
        let ids: Vec<i64> = choices.iter().map(|one| one.id).collect();
        assert_eq!(ids, (0..20).collect::<Vec<i64>>());
        assert!(
            choices
                .windows(2)
                .all(|pair| pair[0].weight > pair[1].weight)
        );
        assert!(choices.iter().all(|one| one.weight > 0.2));
    }
}
