//! Preconditions of a match in a file, and where it may begin: looked at before
//! anything is parsed or compared.
//!
//! It only rules out. Whether something matches is for the matcher to say.

use ast_grep_core::matcher::PatternNode;
use ast_grep_core::{MatchStrictness, Pattern};
use memchr::memmem::Finder;
use tree_sitter::{Node, TreeCursor};

/// The kind that a parser gives to what it did not understand; a pattern of
/// this kind matches any.
const ERROR_KIND: u16 = u16::MAX;

/// Requirements of a matcher on a file and on the nodes in it.
#[derive(Debug, Clone)]
pub(crate) struct Needs {
    /// Text without which nothing matches.
    pub(crate) words: Words,
    /// The kinds of nodes that can match; `None` for any.
    pub(crate) kinds: Option<Vec<u16>>,
}

/// Text that has to be there.
#[derive(Debug, Clone)]
pub(crate) enum Words {
    /// Stands in every match.
    Word(Box<Finder<'static>>),
    /// Each of these; none at all when there are none.
    All(Vec<Words>),
    /// At least one of these.
    Any(Vec<Words>),
    /// Stands in the file of a match, maybe outside of it.
    Around(Box<Words>),
}

impl Words {
    /// No word at all is needed.
    pub(crate) fn none() -> Self {
        Self::All(Vec::new())
    }

    /// Returns whether a text holds what is needed.
    pub(crate) fn are_in(&self, text: &[u8]) -> bool {
        match self {
            Self::Word(finder) => finder.find(text).is_some(),
            Self::All(words) => words.iter().all(|word| word.are_in(text)),
            Self::Any(words) => words.iter().any(|word| word.are_in(text)),
            Self::Around(words) => words.are_in(text),
        }
    }

    /// Places of which every match holds at least one, in order; `None` when
    /// a match may be anywhere.
    fn places(&self, text: &[u8]) -> Option<Vec<usize>> {
        match self {
            Self::Word(finder) => Some(finder.find_iter(text).collect()),
            Self::All(words) => {
                let places = words.iter().filter_map(|word| word.places(text));
                places.min_by_key(Vec::len)
            }
            Self::Any(words) => {
                let mut all = Vec::new();
                for word in words {
                    all.append(&mut word.places(text)?);
                }
                all.sort_unstable();
                Some(all)
            }
            Self::Around(_) => None,
        }
    }
}

impl Needs {
    /// Returns what any one of some patterns needs.
    pub(crate) fn of(patterns: &[Pattern]) -> Self {
        let kind = |one: &Pattern| kind_of(&one.node).filter(|kind| *kind != ERROR_KIND);
        Self {
            words: Words::Any(patterns.iter().map(words_of).collect()),
            kinds: patterns.iter().map(kind).collect(),
        }
    }

    /// The nodes of a tree at which a match may begin, in the order of the text; what cannot hold
    /// a match is passed over.
    pub(super) fn candidates<'t>(
        &self,
        root: Node<'t>,
        text: &[u8],
    ) -> impl Iterator<Item = Node<'t>> {
        let places = self.words.places(text);
        let may_hold = move |node: Node<'_>| {
            places.as_ref().is_none_or(|places| {
                let next = places.partition_point(|place| *place < node.start_byte());
                let next = places.get(next);
                next.is_some_and(|place| *place < node.end_byte())
            })
        };
        let kinds = self.kinds.as_ref();
        let mut cursor = root.walk();
        let mut ended = false;
        std::iter::from_fn(move || {
            while !ended {
                let node = cursor.node();
                let held = may_hold(node);
                ended = !step(&mut cursor, held);
                if held && kinds.is_none_or(|kinds| kinds.contains(&node.kind_id())) {
                    return Some(node);
                }
            }
            None
        })
    }
}

/// Goes on to the next node, into this one or past it; returns whether there is one.
fn step(cursor: &mut TreeCursor<'_>, into: bool) -> bool {
    if into && cursor.goto_first_child() {
        return true;
    }
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}

/// The kind of a pattern's outermost node; none of a variable.
pub(super) fn kind_of(node: &PatternNode) -> Option<u16> {
    match node {
        PatternNode::MetaVar { .. } => None,
        PatternNode::Terminal { kind_id, .. } | PatternNode::Internal { kind_id, .. } => {
            Some(*kind_id)
        }
    }
}

fn words_of(pattern: &Pattern) -> Words {
    let mut words = Vec::new();
    named_words(&pattern.node, &mut words);
    // Keywords and punctuation count only where they may not be skipped.
    if matches!(pattern.strictness, MatchStrictness::Smart) {
        words.push(pattern.fixed_string().into_owned());
    }
    // In a file of another encoding other bytes stand for such a letter.
    words.retain(|word| !word.is_empty() && word.is_ascii());
    words.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    words.dedup();
    let finder = |word: &String| Words::Word(Box::new(Finder::new(word).into_owned()));
    Words::All(words.iter().map(finder).collect())
}

fn named_words(node: &PatternNode, words: &mut Vec<String>) {
    match node {
        PatternNode::Terminal {
            text,
            is_named: true,
            ..
        } => words.push(text.clone()),
        PatternNode::Internal { children, .. } => {
            for child in children {
                named_words(child, words);
            }
        }
        PatternNode::Terminal { .. } | PatternNode::MetaVar { .. } => {}
    }
}
