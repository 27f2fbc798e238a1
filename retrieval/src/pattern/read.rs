//! Parser of patterns: makes a matcher of a fragment such as
//! `memcpy($A, $B, $C)` is no whole file, so it is parsed inside the contexts
//! in which such a fragment can stand.

use crate::pattern::Needs;
use crate::pattern::needs::kind_of;
use ast_grep_core::matcher::{PatternBuilder, PatternError, PatternNode};
use ast_grep_core::meta_var::{MetaVarEnv, MetaVariable};
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc, TSLanguage};
use ast_grep_core::{
    AstGrep, Doc, Language as AstLanguage, MatchStrictness, Matcher, Node, Pattern,
};
use patchwright_source::{Language, regex};
use regex::Captures;
use std::borrow::Cow;

type Document = StrDoc<Grammar>;

/// Contexts of fragments by languages, in the order in which they are tried: as an expression, as a
/// statement, as a member or a definition of its own. `@` is the place of the fragment.
const CONTEXTS: &str = include_str!("contexts.txt");

/// Returns what stands before and after a fragment in each context of a language.
fn contexts(language: Language) -> impl Iterator<Item = (String, String)> {
    CONTEXTS.lines().filter_map(move |row| {
        let (languages, context) = row.split_once(": ")?;
        let (before, after) = context.split_once('@')?;
        let own = languages.split(' ').any(|one| one == language.as_str());
        own.then(|| (before.replace(r"\n", "\n"), after.replace(r"\n", "\n")))
    })
}

/// A pattern in each of its readings: `int $X;` is a local variable in one
/// place and a member in another.
#[derive(Clone)]
pub(crate) struct Readings(pub(super) Vec<Pattern>);

impl Readings {
    /// Returns what a file must hold for any reading to match in it.
    pub(crate) fn needs(&self) -> Needs {
        Needs::of(&self.0)
    }
}

impl Matcher for Readings {
    fn match_node_with_env<'tree, D: Doc>(
        &self,
        node: Node<'tree, D>,
        env: &mut Cow<'_, MetaVarEnv<'tree, D>>,
    ) -> Option<Node<'tree, D>> {
        let mut readings = self.0.iter();
        readings.find_map(|pattern| pattern.match_node_with_env(node.clone(), env))
    }
}

/// The longest pattern, in bytes: a longer one is a file, and no reader of an
/// answer has a use for code that is like a whole file.
const LONGEST: usize = 32 * 1024;

/// Reads a pattern for one language; the error says what the parser thought.
pub(crate) fn read_pattern(language: Language, pattern: &str) -> Result<Readings, String> {
    if pattern.len() > LONGEST {
        return Err(format!(
            "a pattern of {} bytes is too long (at most {LONGEST}); write what is typical of the code, the rest as $$$",
            pattern.len()
        ));
    }
    let grammar = Grammar(language);
    let pattern = with_expando(pattern.trim(), grammar.expando_char());
    if grammar.extract_meta_var(&pattern).is_some() {
        return Err("a lone variable matches everything; write some code around it".to_owned());
    }
    let marked = end_ellipses(&pattern, grammar.expando_char());
    let without_end = pattern.trim_end_matches(';').trim_end();
    let variants = [marked.as_str(), pattern.as_str(), without_end];
    for missing_allowed in [false, true] {
        let mut nodes: Vec<PatternNode> = Vec::new();
        for (before, after) in contexts(language) {
            let read = variants.iter().find_map(|variant| {
                let source = format!("{before}{variant}{after}");
                let span = before.len()..before.len() + variant.len();
                parse_fragment(grammar, &source, span, missing_allowed)
            });
            nodes.extend(read);
        }
        if !nodes.is_empty() {
            return finish(nodes);
        }
    }
    Err(complaint(grammar, &pattern))
}

fn finish(nodes: Vec<PatternNode>) -> Result<Readings, String> {
    let carrier = AstGrep::doc(StrDoc::try_new("a;", Grammar(Language::C))?);
    let mut readings: Vec<Pattern> = Vec::new();
    for mut node in nodes {
        simplify(&mut node);
        let kind = kind_of(&node);
        if kind.is_none() || readings.iter().any(|known| kind_of(&known.node) == kind) {
            continue;
        }
        let mut pattern = Pattern::from(carrier.root());
        pattern.node = node;
        pattern.strictness = MatchStrictness::Smart;
        readings.push(pattern);
    }
    if readings.is_empty() {
        return Err("a lone variable matches everything; write some code around it".to_owned());
    }
    Ok(Readings(readings))
}

fn parse_fragment(
    grammar: Grammar,
    source: &str,
    span: std::ops::Range<usize>,
    missing_allowed: bool,
) -> Option<PatternNode> {
    let document = StrDoc {
        tree: patchwright_source::parse(grammar.0, source.as_bytes())?,
        src: source.to_owned(),
        lang: grammar,
    };
    let root = AstGrep::doc(document);
    let node = exact_node(root.root(), &span)?;
    let broken = node.dfs().any(|inner| {
        (inner.is_missing() && !missing_allowed)
            || (inner.is_error() && grammar.extract_meta_var(&inner.text()).is_none())
    });
    (!broken).then(|| PatternNode::from(node))
}

/// The innermost named node that covers exactly a span: a list of one
/// expression, say, is matched as that expression.
fn exact_node<'tree>(
    root: Node<'tree, Document>,
    span: &std::ops::Range<usize>,
) -> Option<Node<'tree, Document>> {
    let mut node = root;
    let mut exact = None;
    loop {
        let whole_file = node.parent().is_none();
        if node.range() == *span && node.is_named() && !whole_file && !node.is_error() {
            exact = Some(node.clone());
        }
        let inner = node.children().find(|child| {
            let range = child.range();
            range.start <= span.start && span.end <= range.end && range.start < range.end
        });
        match inner {
            Some(inner) => node = inner,
            None => return exact,
        }
    }
}

/// `$$$` among statements gets the semicolon that makes it a statement.
fn end_ellipses(pattern: &str, expando: char) -> String {
    let ellipsis: String = std::iter::repeat_n(expando, 3).collect();
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern;
    while let Some(at) = rest.find(&ellipsis) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let mut behind = from.char_indices().skip(3);
        let name_end = behind.find(|(_, c)| !c.is_alphanumeric() && *c != '_');
        let name_end = name_end.map_or(from.len(), |(end, _)| end);
        let (variable, after) = from.split_at(name_end);
        let opens =
            out.trim_end().ends_with(['{', ';', '}']) || out.trim_end().ends_with(&ellipsis);
        let goes_on = after
            .trim_start()
            .starts_with([';', ',', ')', '(', '.', ':', '=', '-']);
        out.push_str(variable);
        if opens && !goes_on {
            out.push(';');
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A statement that is nothing but `$$$;` means any number of statements.
fn simplify(node: &mut PatternNode) {
    let PatternNode::Internal { children, .. } = node else {
        return;
    };
    children.iter_mut().for_each(simplify);
    if let [PatternNode::MetaVar { meta_var }, rest @ ..] = children.as_slice()
        && matches!(meta_var, MetaVariable::Multiple | MetaVariable::MultiCapture(_))
        && rest.iter().all(|child| {
            matches!(child, PatternNode::Terminal { text, is_named: false, .. } if text == ";")
        })
    {
        *node = PatternNode::MetaVar {
            meta_var: meta_var.clone(),
        };
    }
}

fn complaint(grammar: Grammar, pattern: &str) -> String {
    let errors = patchwright_source::parse(grammar.0, pattern.as_bytes())
        .map(|tree| patchwright_source::syntax_errors(&tree, pattern.as_bytes(), 1))
        .unwrap_or_default();
    let said = errors.first().map_or_else(
        || "it is not one single piece of code".to_owned(),
        |error| error.what.replace(grammar.expando_char(), "$"),
    );
    format!("{said}; a pattern is one whole expression, statement or definition")
}

/// A language with the letter that stands for `$` while a pattern is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grammar(pub(crate) Language);

impl AstLanguage for Grammar {
    /// Where `$` is no letter of a name, another letter takes its place.
    fn expando_char(&self) -> char {
        match self.0 {
            Language::C | Language::Cpp => '\u{10000}',
            Language::Python | Language::Go | Language::Rust => '\u{b5}',
            Language::Java | Language::JavaScript | Language::TypeScript | Language::Tsx => '$',
        }
    }

    fn kind_to_id(&self, kind: &str) -> u16 {
        self.0.grammar().id_for_node_kind(kind, true)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.0.grammar().field_id_for_name(field).map(u16::from)
    }

    fn build_pattern(&self, builder: &PatternBuilder<'_>) -> Result<Pattern, PatternError> {
        builder.build(|source| StrDoc::try_new(source, *self))
    }
}

impl LanguageExt for Grammar {
    fn get_ts_language(&self) -> TSLanguage {
        self.0.grammar()
    }
}

/// Replaces the `$` of every meta variable, and writes its name in capitals:
/// only those count, and models write `$dst` as well.
fn with_expando(pattern: &str, expando: char) -> String {
    let variables = regex!(r"(\$+)([\p{Alphabetic}\p{N}_]*)");
    let replaced = variables.replace_all(pattern, |found: &Captures<'_>| {
        let (whole, [dollars, name]) = found.extract();
        let is_named = name.starts_with(|first: char| !first.is_numeric());
        if dollars.len() == 3 || dollars.len() == 1 && is_named {
            dollars.replace('$', &expando.to_string()) + &name.to_uppercase()
        } else {
            whole.to_owned()
        }
    });
    replaced.into_owned()
}
