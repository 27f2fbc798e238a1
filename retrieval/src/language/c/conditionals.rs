//! Preprocessor conditionals: which tokens are read.
//!
//! Both branches of a conditional count as code as long as each holds whole
//! statements or elements. Where the branches cut a statement in pieces (two
//! heads for one body, `} else {` in one branch) only the first is read, so that
//! braces match. `#if 0` is never read.

use super::brackets::closed_by;
use super::keywords::{KEYWORD, is};
use super::tokens::{Directive, Kind, Token};
use std::ops::Range;

/// Limit on how far back the name of a macro call is looked for, in tokens.
const CALL_TOKENS: usize = 400;

/// The tokens that are read, and what is not.
#[derive(Debug, Default)]
pub(super) struct Resolved {
    /// Tokens in the order of the text, preprocessor lines left out.
    pub(super) live: Vec<Token>,
    /// Branches that are not read although they may be compiled.
    pub(super) unread: Vec<Range<usize>>,
    /// Branches that are never compiled.
    pub(super) dead: Vec<Range<usize>>,
}

/// One branch of a conditional.
#[derive(Debug)]
struct Branch {
    /// Its tokens in `live`.
    tokens: Range<usize>,
    bytes: Range<usize>,
    is_dead: bool,
    /// Brackets open at its end.
    nesting: Nesting,
}

/// A conditional that is open.
#[derive(Debug)]
struct Group {
    /// Brackets open before it.
    nesting: Nesting,
    branches: Vec<Branch>,
    is_one: bool,
}

/// The brackets that are open: their places in `live`, and how many closed that
/// were never opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Nesting {
    open: Vec<usize>,
    stray: usize,
}

/// Decides which tokens of a text are read.
pub(super) fn resolve(text: &[u8], tokens: &[Token]) -> Resolved {
    let mut resolver = Resolver {
        text,
        found: Resolved::default(),
        nesting: Nesting::default(),
        groups: Vec::new(),
    };
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Directive(kind @ (Directive::If | Directive::IfZero | Directive::IfOne)) => {
                resolver.groups.push(Group {
                    nesting: resolver.nesting.clone(),
                    branches: Vec::new(),
                    is_one: kind == Directive::IfOne,
                });
                resolver.begin_branch(token, kind == Directive::IfZero);
            }
            Kind::Directive(Directive::Elif | Directive::Else) => {
                resolver.end_branch(token.start as usize);
                let is_dead = resolver.groups.last().is_some_and(|group| group.is_one);
                resolver.begin_branch(token, is_dead);
            }
            Kind::Directive(Directive::Endif) => {
                let after = tokens.get(at + 1..).unwrap_or_default();
                let is_code = |token: &&Token| !matches!(token.kind, Kind::Directive(_));
                resolver.end(token.start as usize, after.iter().find(is_code));
            }
            Kind::Directive(_) => {}
            _ => resolver.push(*token),
        }
    }
    while !resolver.groups.is_empty() {
        resolver.end(text.len(), None);
    }
    resolver.found
}

struct Resolver<'t> {
    text: &'t [u8],
    found: Resolved,
    nesting: Nesting,
    groups: Vec<Group>,
}

impl Resolver<'_> {
    fn push(&mut self, token: Token) {
        match token.kind {
            Kind::Mark(b'(' | b'[' | b'{') => self.nesting.open.push(self.found.live.len()),
            Kind::Mark(close @ (b')' | b']' | b'}')) => {
                match closed_by(close, &self.nesting.open, &self.found.live) {
                    Some(at) => self.nesting.open.truncate(at),
                    None => self.nesting.stray += 1,
                }
            }
            _ => {}
        }
        self.found.live.push(token);
    }

    /// Begins a branch of the innermost conditional behind a directive.
    fn begin_branch(&mut self, token: &Token, is_dead: bool) {
        let live = self.found.live.len();
        if let Some(group) = self.groups.last_mut() {
            group.branches.push(Branch {
                tokens: live..live,
                bytes: token.end as usize..token.end as usize,
                is_dead,
                nesting: Nesting::default(),
            });
        }
    }

    /// Ends the branch that is open, at an offset.
    fn end_branch(&mut self, offset: usize) {
        let live = self.found.live.len();
        let Some(group) = self.groups.last_mut() else {
            return;
        };
        let before = group.nesting.clone();
        if let Some(branch) = group.branches.last_mut() {
            branch.tokens.end = live;
            branch.bytes.end = offset.max(branch.bytes.start);
            branch.nesting = std::mem::replace(&mut self.nesting, before);
        }
    }

    /// Ends a conditional: keeps the tokens of the branches that are read.
    fn end(&mut self, offset: usize, next: Option<&Token>) {
        self.end_branch(offset);
        let Some(group) = self.groups.pop() else {
            return;
        };
        let readable = group.branches.iter().filter(|branch| !branch.is_dead);
        let read_all = readable.count() < 2 || self.are_whole(&group, next);
        let first = group.branches.iter().position(|branch| !branch.is_dead);
        let from = group.branches.first().map_or(0, |one| one.tokens.start);
        let tokens = self.found.live.split_off(from.min(self.found.live.len()));
        for (at, branch) in group.branches.into_iter().enumerate() {
            if branch.is_dead {
                self.found.dead.push(branch.bytes);
            } else if read_all || first == Some(at) {
                let own = branch.tokens.start - from..branch.tokens.end - from;
                let shift = branch.tokens.start - self.found.live.len();
                let own = tokens.get(own).unwrap_or_default();
                self.found.live.extend_from_slice(own);
                self.nesting = branch.nesting;
                for at in &mut self.nesting.open {
                    if *at >= branch.tokens.start {
                        *at -= shift;
                    }
                }
            } else {
                self.found.unread.push(branch.bytes);
            }
        }
    }

    /// Returns whether each branch that may be compiled holds whole statements, and the
    /// text before and after goes on with any of them.
    fn are_whole(&self, group: &Group, next: Option<&Token>) -> bool {
        let begin = group.branches.first().map_or(0, |one| one.tokens.start);
        let goes_on = next.is_some_and(|token| self.continues(token) || token.is(b'{'));
        !goes_on
            && self.is_boundary(0..begin, &group.nesting)
            && group.branches.iter().filter(|one| !one.is_dead).all(|one| {
                let first = self.found.live.get(one.tokens.start);
                one.tokens.is_empty()
                    || one.nesting == group.nesting
                        && !first.is_some_and(|token| self.continues(token))
                        && self.is_boundary(one.tokens.clone(), &one.nesting)
            })
    }

    /// Returns whether a statement, declaration or element can begin after tokens.
    fn is_boundary(&self, tokens: Range<usize>, nesting: &Nesting) -> bool {
        let all = &self.found.live;
        let live = all.get(tokens).unwrap_or_default();
        let Some(last) = live.last() else {
            return true;
        };
        let in_braces = || {
            let open = nesting.open.last().and_then(|at| all.get(*at));
            open.is_none_or(|token| token.is(b'{'))
        };
        match last.kind {
            Kind::Mark(b';' | b'{' | b'}' | b':') => in_braces(),
            Kind::Mark(b',') => in_braces() && !nesting.open.is_empty(),
            Kind::Mark(b')') => in_braces() && self.is_macro_call(live),
            _ => false,
        }
    }

    /// Returns whether tokens end with a call that is a statement by itself: a macro, as
    /// nothing else stands there without a semicolon.
    fn is_macro_call(&self, live: &[Token]) -> bool {
        let mut depth = 0_usize;
        let back = live.iter().rev().take(CALL_TOKENS).position(|token| {
            match token.kind {
                Kind::Mark(b')') => depth += 1,
                Kind::Mark(b'(') => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        });
        let Some(back) = back else {
            return false;
        };
        let before = |steps: usize| live.get(live.len().checked_sub(back + 1 + steps)?);
        let begins =
            before(2).is_none_or(|token| matches!(token.kind, Kind::Mark(b';' | b'{' | b'}')));
        let is_name = before(1).is_some_and(|token| {
            token.kind == Kind::Name
                && !is(self.text.get(token.range()).unwrap_or_default(), KEYWORD)
        });
        begins && is_name
    }

    /// Returns whether a token goes on with what stands before it.
    fn continues(&self, token: &Token) -> bool {
        match token.kind {
            Kind::Mark(
                b')' | b']' | b',' | b'.' | b'?' | b'=' | b'|' | b'/' | b'%' | b'<' | b'>' | b'^',
            )
            | Kind::Arrow
            | Kind::Operator => true,
            Kind::Name => self.text.get(token.range()) == Some(b"else"),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::resolve;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let resolved = resolve(text.as_bytes(), &tokens(text.as_bytes(), true));
        let live: Vec<&str> = resolved
            .live
            .iter()
            .map(|token| &text[token.range()])
            .collect();
        assert_eq!(live.join(" "), expected, "{text}");
    }

    #[test]
    fn whole_statements_are_read_in_every_branch() {
        check(
            "#if A
int a;
#else
int b;
#endif
int c;",
            "int a ; int b ; int c ;",
        );
        check(
            "f() {
#if A
 a();
#elif B
#else
 { b(); }
#endif
}",
            "f ( ) { a ( ) ; { b ( ) ; } }",
        );
        check(
            "E x[] = { a,
#if A
 b,
#else
 c,
#endif
};",
            "E x [ ] = { a , b , c , } ;",
        );
        check(
            "#if A
DECLARE(x)
#else
DECLARE(y)
#endif
int c;",
            "DECLARE ( x ) DECLARE ( y ) int c ;",
        );
    }

    #[test]
    fn of_statements_in_pieces_the_first_branch_is_read() {
        check(
            "int f(
#if A
 int a
#else
 int b
#endif
) {}",
            "int f ( int a ) { }",
        );
        check(
            "#if A
int f(int a)
#else
int f(int b)
#endif
{}",
            "int f ( int a ) { }",
        );
        check(
            "#if A
 if (x) {
#else
 if (y) {
#endif
}",
            "if ( x ) { }",
        );
        check(
            "{ if (x) { a; }
#if A
 else if (y) b;
#else
 else c;
#endif
}",
            "{ if ( x ) { a ; } else if ( y ) b ; }",
        );
    }

    #[test]
    fn where_branches_go_on_the_first_is_read() {
        check(
            "#if A
 a;
#else
 b;
#endif
 else c;",
            "a ; else c ;",
        );
        check(
            "x =
#if A
 1;
#else
 2;
#endif
y;",
            "x = 1 ; y ;",
        );
        check(
            "#if A
 }
#else
 } else {
#endif
z",
            "} z",
        );
        check(
            "#if A
#if B
 f(
#else
 g(
#endif
 x);
#else
 y;
#endif
",
            "f ( x ) ; y ;",
        );
    }

    #[test]
    fn what_is_never_compiled_is_not_read() {
        check(
            "#if 0
it's {
#else
a;
#endif
b;",
            "a ; b ;",
        );
        check(
            "#if 1
a;
#else
b {
#endif
c;",
            "a ; c ;",
        );
        check(
            "#ifdef A
{
#endif
x",
            "{ x",
        );
        check(
            "#endif
#else
a;
#if B
b",
            "a ; b",
        );
    }
}
