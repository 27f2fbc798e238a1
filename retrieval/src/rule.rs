//! Structural patterns combined: `any`, `all`, `not`, `inside`, `has`, with
//! `pattern`, `kind` and `regex` at the leaves, written as XML-like tags whose
//! code stays raw.

mod read;
#[cfg(test)]
mod tests;

use crate::pattern::{Grammar, Haystack, Matches, Needs, Readings, Words, read_pattern};
use ast_grep_core::language::Language as _;
use ast_grep_core::meta_var::MetaVarEnv;
use ast_grep_core::{Doc, Matcher, Node};
use patchwright_source::Language;
pub(crate) use read::{Rule, read_rule};
use regex::Regex;
use std::borrow::Cow;

/// Limit on how many nodes `has` looks at below one node; a node with more below it is
/// a file, not a piece of code.
const HAS_LIMIT: usize = 50_000;

/// A rule made ready for one language.
enum Ready {
    Pattern(Readings),
    Kind(u16),
    Regex(Regex),
    All(Vec<Ready>),
    Any(Vec<Ready>),
    Not(Box<Ready>),
    Inside(Box<Ready>),
    Has(Box<Ready>),
}

/// Finds what a rule matches in every file whose language can read it.
pub(crate) fn find_rule(haystack: &Haystack<'_>, rule: &str) -> Result<Matches, String> {
    let rule = read_rule(rule)?;
    if !rule.is_positive() {
        return Err("at least one <pattern>, <kind> or <regex> must stand outside <not>, <inside> and <has>".to_owned());
    }
    let needles = haystack.needles(|language| {
        let ready = make_ready(&rule, language)?;
        Ok((ready.needs(), ready))
    })?;
    Ok(haystack.find(&[needles]).1)
}

fn make_ready(rule: &Rule, language: Language) -> Result<Ready, String> {
    let inside = rule.inside.iter().map(|rule| make_ready(rule, language));
    let mut inside: Vec<Ready> = inside.collect::<Result<_, _>>()?;
    // What decides fastest is asked first.
    inside.sort_by_key(Ready::cost);
    let code = rule.code.as_str();
    Ok(match rule.tag {
        "pattern" => Ready::Pattern(read_pattern(language, code)?),
        "kind" => match Grammar(language).kind_to_id(code) {
            0 => return Err(format!("there is no node kind {code:?}")),
            id => Ready::Kind(id),
        },
        "regex" => Ready::Regex(Regex::new(code).map_err(|error| error.to_string())?),
        "any" => Ready::Any(inside),
        "not" => Ready::Not(Box::new(Ready::All(inside))),
        "inside" => Ready::Inside(Box::new(Ready::All(inside))),
        "has" => Ready::Has(Box::new(Ready::All(inside))),
        _ => Ready::All(inside),
    })
}

impl Ready {
    fn cost(&self) -> u8 {
        match self {
            Self::Kind(_) => 0,
            Self::Pattern(_) => 1,
            Self::All(_) | Self::Any(_) => 2,
            Self::Regex(_) => 3,
            Self::Inside(_) => 4,
            Self::Not(_) => 5,
            Self::Has(_) => 6,
        }
    }

    /// Returns what a file and a node must have for a match.
    fn needs(&self) -> Needs {
        let each = |rules: &[Self]| -> (Vec<Words>, Vec<Option<Vec<u16>>>) {
            let needs = rules.iter().map(Self::needs);
            needs.map(|needs| (needs.words, needs.kinds)).unzip()
        };
        let (words, kinds) = match self {
            Self::Pattern(pattern) => return pattern.needs(),
            Self::Kind(kind) => (Words::none(), Some(vec![*kind])),
            Self::All(rules) => {
                let (words, kinds) = each(rules);
                let fewest = kinds.into_iter().flatten().min_by_key(Vec::len);
                (Words::All(words), fewest)
            }
            Self::Any(rules) => {
                let (words, kinds) = each(rules);
                let all: Option<Vec<_>> = kinds.into_iter().collect();
                (Words::Any(words), all.map(|kinds| kinds.concat()))
            }
            Self::Inside(rule) => (Words::Around(Box::new(rule.needs().words)), None),
            Self::Has(rule) => (rule.needs().words, None),
            Self::Regex(_) | Self::Not(_) => (Words::none(), None),
        };
        Needs { words, kinds }
    }
}

impl Matcher for Ready {
    fn match_node_with_env<'tree, D: Doc>(
        &self,
        node: Node<'tree, D>,
        env: &mut Cow<'_, MetaVarEnv<'tree, D>>,
    ) -> Option<Node<'tree, D>> {
        let holds = match self {
            Self::Pattern(pattern) => return pattern.match_node_with_env(node, env),
            Self::Kind(id) => node.kind_id() == *id,
            Self::Regex(regex) => node.is_named() && regex.is_match(&node.text()),
            Self::All(rules) => {
                let mut trial = Cow::Owned(env.clone().into_owned());
                let holds = rules
                    .iter()
                    .all(|rule| rule.match_node_with_env(node.clone(), &mut trial).is_some());
                if holds {
                    *env = Cow::Owned(trial.into_owned());
                }
                holds
            }
            Self::Any(rules) => rules
                .iter()
                .any(|rule| rule.match_node_with_env(node.clone(), env).is_some()),
            Self::Not(rule) => {
                let mut trial = Cow::Owned(env.clone().into_owned());
                rule.match_node_with_env(node.clone(), &mut trial).is_none()
            }
            Self::Inside(rule) => node
                .ancestors()
                .any(|outer| rule.match_node_with_env(outer, env).is_some()),
            Self::Has(rule) => node
                .dfs()
                .skip(1)
                .take(HAS_LIMIT)
                .any(|inner| rule.match_node_with_env(inner, env).is_some()),
        };
        holds.then_some(node)
    }
}
