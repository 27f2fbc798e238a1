//! The steps by which a pattern without hits is loosened, in order. Each one
//! starts from the pattern as it was written, so the answer can say in one
//! sentence how what was found differs from what was asked.

use super::needs::kind_of;
use super::{Needle, Readings};
use ast_grep_core::matcher::PatternNode;
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::{MatchStrictness, Pattern};
use patchwright_source::Language;

/// One way to loosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Comments and punctuation do not count.
    Punctuation,
    /// Any literal, and any name but that of the called function.
    Values,
    /// Any arguments and parameters.
    Arguments,
    /// Any statements inside braces.
    Bodies,
}

/// The steps in order, what loses least first, each with what is told of it.
pub(super) const STEPS: [(Step, &str); 4] = [
    (
        Step::Punctuation,
        "comments and punctuation were disregarded",
    ),
    (
        Step::Values,
        "literals and names other than called functions were taken as $_",
    ),
    (
        Step::Arguments,
        "arguments and parameters were taken as $$$",
    ),
    (
        Step::Bodies,
        "arguments and the statements in braces were taken as $$$",
    ),
];

/// The patterns that this step loosens; those that it would leave as they are
/// are left out.
pub(super) fn relax_all(needles: &[Needle<Readings>], step: Step) -> Vec<Needle<Readings>> {
    let relaxed = needles.iter().map(|needle| {
        let kinds = Kinds::of(needle.language);
        let readings = needle.matcher.0.iter();
        let readings = readings.filter_map(|pattern| relax(pattern, &kinds, step));
        let matcher = Readings(readings.collect());
        Needle {
            language: needle.language,
            needs: matcher.needs(),
            matcher,
        }
    });
    relaxed
        .filter(|needle| !needle.matcher.0.is_empty())
        .collect()
}

fn relax(pattern: &Pattern, kinds: &Kinds, step: Step) -> Option<Pattern> {
    let mut pattern = pattern.clone();
    pattern.strictness = MatchStrictness::Relaxed;
    let changed = match step {
        Step::Punctuation => true,
        Step::Values => free_values(&mut pattern.node, kinds, false),
        Step::Arguments => free_lists(&mut pattern.node, &kinds.lists),
        Step::Bodies => {
            let arguments = free_lists(&mut pattern.node, &kinds.lists);
            free_lists(&mut pattern.node, &kinds.bodies) || arguments
        }
    };
    // A pattern without one fixed word would match nearly everything.
    let fixed = pattern.fixed_string().chars().any(char::is_alphabetic);
    (changed && fixed).then_some(pattern)
}

/// The node kinds of a grammar that the steps speak of.
struct Kinds {
    values: Vec<u16>,
    calls: Vec<u16>,
    lists: Vec<u16>,
    bodies: Vec<u16>,
}

impl Kinds {
    fn of(language: Language) -> Self {
        let grammar = language.grammar();
        let ids = |kinds: &str| {
            kinds
                .split(' ')
                .map(|kind| grammar.id_for_node_kind(kind, true))
                .filter(|id| *id != 0)
                .collect()
        };
        Self {
            values: ids("identifier number_literal string_literal char_literal \
                 decimal_integer_literal hex_integer_literal character_literal string \
                 number integer integer_literal int_literal true false null"),
            calls: ids("call_expression method_invocation call function_declarator"),
            lists: ids("argument_list arguments parameter_list formal_parameters parameters"),
            bodies: ids("compound_statement block statement_block constructor_body"),
        }
    }
}

fn free_values(node: &mut PatternNode, kinds: &Kinds, is_callee: bool) -> bool {
    let Some(kind) = kind_of(node) else {
        return false;
    };
    let is_name_of_call = is_callee && matches!(node, PatternNode::Terminal { .. });
    if kinds.values.contains(&kind) && !is_name_of_call {
        *node = PatternNode::MetaVar {
            meta_var: MetaVariable::Dropped(true),
        };
        return true;
    }
    let PatternNode::Internal { children, .. } = node else {
        return false;
    };
    let calls = kinds.calls.contains(&kind);
    let mut changed = false;
    for (index, child) in children.iter_mut().enumerate() {
        // Java's `a.b(c)` has its name in the third place.
        let callee = calls && (index == 0 || index == 2);
        changed |= free_values(child, kinds, callee);
    }
    changed
}

/// Everything between a list's brackets becomes `$$$`.
fn free_lists(node: &mut PatternNode, lists: &[u16]) -> bool {
    let PatternNode::Internal { kind_id, children } = node else {
        return false;
    };
    if !lists.contains(kind_id) || children.len() < 3 {
        let mut changed = false;
        for child in children.iter_mut() {
            changed |= free_lists(child, lists);
        }
        return changed;
    }
    let close = children.pop();
    children.truncate(1);
    children.push(PatternNode::MetaVar {
        meta_var: MetaVariable::Multiple,
    });
    children.extend(close);
    true
}
