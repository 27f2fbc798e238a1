//! Patterns as models write them, over real grammars.

use super::{Grammar, Haystack, Needle, Readings, find_pattern, read_pattern, relax};
use crate::Settings;
use ast_grep_core::AstGrep;
use ast_grep_core::tree_sitter::StrDoc;
use patchwright_source::{Language, Tree};

const C: &str = "\
#include <string.h>
int copy(char *dst, const char *src, unsigned n) {
    if (n > 4) {
        memcpy(dst, src, n);
        retry();
    }
    /* memcpy(dst, src, 9) */
    for (int i = 0; i < n; i++) dst[i] = src[i];
    p->len += n;
    return free(dst), 0;
}
struct state { int a; };
#define MAX 10
";
const JAVA: &str = "\
package a;
class B extends C {
    private int count;
    void run() {
        try {
            open();
            list.add(count, item);
        } catch (java.io.IOException e) {
        }
    }
}
";

fn tree() -> (tempfile::TempDir, Tree) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), C).unwrap();
    std::fs::write(folder.path().join("B.java"), JAVA).unwrap();
    std::fs::write(
        folder.path().join("m.py"),
        "def f(x):\n    return g(x, 1)\n",
    )
    .unwrap();
    std::fs::write(
        folder.path().join("n.cpp"),
        "void A::f() { this->g<int>(1); }\n",
    )
    .unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    (folder, tree)
}

fn find(pattern: &str) -> (Vec<String>, Option<&'static str>) {
    let (_folder, tree) = tree();
    let files = tree.files();
    let files: Vec<_> = files.iter().collect();
    let settings = Settings::default();
    let haystack = Haystack::new(&tree, &files, &settings);
    match find_pattern(&haystack, pattern) {
        Ok(matches) => (
            matches
                .found
                .iter()
                .map(|(path, first, last)| format!("{path}:{first}-{last}"))
                .collect(),
            matches.relaxed,
        ),
        Err(reason) => (vec![format!("error: {reason}")], None),
    }
}

#[test]
fn matches_fragments_of_each_kind() {
    for (pattern, expected) in [
        ("memcpy($DST, $SRC, $LEN)", "a.c:4-4"),
        ("memcpy($dst, $src, $len);", "a.c:4-4"),
        ("memcpy($$$)", "a.c:4-4"),
        ("memcpy($A, $$$REST)", "a.c:4-4"),
        ("if ($C) { $$$ }", "a.c:3-6"),
        ("if ($C) $BODY", "a.c:3-6"),
        ("if ($N > 4) { $$$ retry(); $$$ }", "a.c:3-6"),
        ("for ($$$; $I < $N; $I++) $BODY", "a.c:8-8"),
        ("$P->len += $N", "a.c:9-9"),
        ("$A[$I] = $B[$I]", "a.c:8-8"),
        ("return $X;", "a.c:10-10"),
        ("int copy($$$) { $$$ }", "a.c:2-11"),
        ("struct state { $$$ }", "a.c:12-12"),
        ("#define MAX $V", "a.c:13-14"),
        ("list.add($$$)", "B.java:7-7"),
        ("try { $$$ } catch ($$$) { $$$ }", "B.java:5-9"),
        ("private int $NAME;", "B.java:3-3"),
        ("class B extends $P { $$$ }", "B.java:2-11"),
        ("g($X, 1)", "m.py:2-2"),
        ("def f($X): $$$", "m.py:1-2"),
        ("this->g<int>($X)", "n.cpp:1-1"),
    ] {
        let (found, relaxed) = find(pattern);
        assert!(found.contains(&expected.to_owned()), "{pattern}: {found:?}");
        assert_eq!(relaxed, None, "{pattern}");
    }
}

#[test]
fn fragments_of_every_language_have_contexts() {
    for language in Language::ALL {
        assert!(read_pattern(language, "f($A)").is_ok(), "{language}");
    }
}

#[test]
fn relaxes_step_by_step_and_says_how() {
    for (pattern, expected, how) in [
        ("memcpy(out, $S, 12)", "a.c:4-4", "literals and names"),
        ("memcpy($A, $B)", "a.c:4-4", "arguments"),
        (
            "if ($X) { memcpy($$$); }",
            "a.c:3-6",
            "the statements in braces",
        ),
        (
            "try { open(); } catch ($$$) { $$$ }",
            "B.java:5-9",
            "the statements in braces",
        ),
    ] {
        let (found, relaxed) = find(pattern);
        assert!(found.contains(&expected.to_owned()), "{pattern}: {found:?}");
        let relaxed = relaxed.unwrap_or_default();
        assert!(relaxed.contains(how), "{pattern}: {relaxed}");
    }
}

#[test]
fn says_what_is_wrong_with_a_pattern() {
    for (pattern, expected) in [
        ("$X", "lone variable"),
        ("$$$", "lone variable"),
        ("if (", "a pattern is one whole"),
        ("foo(); bar();", "a pattern is one whole"),
        (")]}", "a pattern is one whole"),
    ] {
        let (found, _) = find(pattern);
        assert!(found[0].contains(expected), "{pattern}: {found:?}");
    }
    let (found, _) = find(&"f();".repeat(10_000));
    assert!(found[0].contains("40000 bytes is too long"), "{found:?}");
    assert_eq!(find("no_such_function($X)").0, Vec::<String>::new());
}

/// Returns what ast-grep finds when it looks at every node of a text.
fn at_every_node(matcher: &Readings, language: Language, source: &str) -> Vec<(u32, u32)> {
    let root = AstGrep::doc(StrDoc {
        tree: patchwright_source::parse(language, source.as_bytes()).unwrap(),
        src: source.to_owned(),
        lang: Grammar(language),
    });
    let top = root.root();
    top.find_all(matcher)
        .map(|node| {
            (
                node.start_pos().line() as u32 + 1,
                node.end_pos().line() as u32 + 1,
            )
        })
        .collect()
}

#[test]
fn what_is_passed_over_does_not_match() {
    let path = patchwright_source::TreePath::new("a").unwrap();
    let mut hits = 0;
    for (language, source) in [(Language::C, C), (Language::Cpp, C), (Language::Java, JAVA)] {
        let root = AstGrep::doc(StrDoc {
            tree: patchwright_source::parse(language, source.as_bytes()).unwrap(),
            src: source.to_owned(),
            lang: Grammar(language),
        });
        for pattern in [
            "memcpy($A, $B, $C)",
            "memcpy(dst, $B, 12)",
            "if ($A > 4) { $$$B }",
            "if ($A > 4) { memcpy($$$); }",
            "if ($C) $BODY",
            "$A[$I] = $B[$I]",
            "int $X;",
            "return $X;",
            "struct state { $$$ }",
            "list.add($$$)",
            "try { open(); } catch ($$$) { $$$ }",
            "\"no such text\"",
        ] {
            let Ok(matcher) = read_pattern(language, pattern) else {
                continue;
            };
            let needle = Needle {
                language,
                needs: matcher.needs(),
                matcher,
            };
            let mut needles = vec![needle];
            for (step, _) in relax::STEPS {
                needles.extend(relax::relax_all(&needles[..1], step));
            }
            for needle in needles {
                let expected = at_every_node(&needle.matcher, language, source);
                let found: Vec<(u32, u32)> = needle
                    .find_in(&path, &root)
                    .iter()
                    .map(|(_, first, last)| (*first, *last))
                    .collect();
                assert_eq!(found, expected, "{language} {pattern}");
                let may_match = needle.needs.words.are_in(source.as_bytes());
                assert!(may_match || expected.is_empty(), "{language} {pattern}");
                hits += expected.len();
            }
        }
    }
    assert!(hits > 40, "{hits}");
}

#[test]
fn most_of_a_tree_is_passed_over() {
    let matcher = read_pattern(Language::C, "if ($A == NULL) { $$$B }").unwrap();
    let needs = matcher.needs();
    assert!(!needs.words.are_in(b"int f(void) { if (x == 0) { g(); } }"));
    let source =
        "int f(void) { if (x == 0) { g(); } return h(); }\nint g(void) { if (x == NULL) { g(); } }";
    let tree = patchwright_source::parse(Language::C, source.as_bytes()).unwrap();
    let candidates: Vec<usize> = needs
        .candidates(tree.root_node(), source.as_bytes())
        .map(|node| node.start_position().row)
        .collect();
    assert_eq!(candidates, [1]);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn reading_never_panics(pattern in "[a-z$A-Z(){};,.<>&|\\[\\]=+ \"'\\\\#0-9_é-]{0,30}") {
        for language in patchwright_source::Language::ALL {
            let _ = super::read_pattern(language, &pattern);
        }
    }
}
