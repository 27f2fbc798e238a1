//! Structural patterns combined: `any`, `all`, `not`, `inside`, `has`, with
//! `pattern`, `kind` and `regex` at the leaves, written as XML-like tags whose
//! code stays raw.

mod read;
#[cfg(test)]
mod tests;

use crate::Settings;
use crate::pattern::{Matches, Needle, Readings, find, languages, read_pattern};
use ast_grep_core::language::Language as _;
use ast_grep_core::meta_var::MetaVarEnv;
use ast_grep_core::{Doc, Matcher, Node};
use patchwright_source::{Language, Tree, TreePath};
pub(crate) use read::{Rule, read_rule};
use regex::Regex;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Instant;

/// How many nodes `has` looks at below one node; a node with more below it is
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
pub(crate) fn find_rule(
    tree: &Tree,
    files: &[&TreePath],
    rule: &str,
    limits: &Settings,
) -> Result<Matches, String> {
    let rule = read_rule(rule)?;
    if !rule.is_positive() {
        return Err("at least one <pattern>, <kind> or <regex> must stand outside <not>, <inside> and <has>".to_owned());
    }
    let mut needles = Vec::new();
    let mut reasons = BTreeSet::new();
    for language in languages(files) {
        match make_ready(&rule, language) {
            Ok(ready) => needles.push(Needle {
                language,
                fixed: ready.fixed(),
                matcher: ready,
            }),
            Err(reason) => {
                reasons.insert(format!("{language}: {reason}"));
            }
        }
    }
    if needles.is_empty() {
        return Err(reasons.into_iter().collect::<Vec<_>>().join("; "));
    }
    Ok(find(tree, files, &needles, limits, Instant::now()))
}

fn make_ready(rule: &Rule, language: Language) -> Result<Ready, String> {
    let all = |rules: &[Rule]| -> Result<Vec<Ready>, String> {
        let mut ready: Vec<Ready> = rules
            .iter()
            .map(|rule| make_ready(rule, language))
            .collect::<Result<_, _>>()?;
        // What decides fastest is asked first.
        ready.sort_by_key(Ready::cost);
        Ok(ready)
    };
    let one = |rules: &[Rule]| Ok::<_, String>(Box::new(Ready::All(all(rules)?)));
    Ok(match rule {
        Rule::Pattern(pattern) => Ready::Pattern(read_pattern(language, pattern)?),
        Rule::Kind(kind) => {
            let id = crate::pattern::Grammar(language).kind_to_id(kind);
            if id == 0 {
                return Err(format!("there is no node kind {kind:?}"));
            }
            Ready::Kind(id)
        }
        Rule::Regex(expression) => {
            Ready::Regex(Regex::new(expression).map_err(|error| error.to_string())?)
        }
        Rule::All(rules) => Ready::All(all(rules)?),
        Rule::Any(rules) => Ready::Any(all(rules)?),
        Rule::Not(rules) => Ready::Not(one(rules)?),
        Rule::Inside(rules) => Ready::Inside(one(rules)?),
        Rule::Has(rules) => Ready::Has(one(rules)?),
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

    /// The longest text that every match's file holds for certain.
    fn fixed(&self) -> String {
        match self {
            Self::Pattern(pattern) => pattern.fixed(),
            Self::All(rules) => rules
                .iter()
                .map(Self::fixed)
                .max_by_key(String::len)
                .unwrap_or_default(),
            Self::Inside(rule) | Self::Has(rule) => rule.fixed(),
            Self::Kind(_) | Self::Regex(_) | Self::Any(_) | Self::Not(_) => String::new(),
        }
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
