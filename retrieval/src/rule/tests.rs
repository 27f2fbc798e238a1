//! Rules as they are documented, and what is said about broken ones.

use super::{find_rule, read_rule};
use crate::Settings;
use crate::pattern::Haystack;
use patchwright_source::Tree;

const C: &str = "\
void a(char *d, char *s, int n) {
    if (n < 9) {
        memcpy(d, s, n);
    }
}
void b(char *d, char *s, int n) {
    memcpy(d, s, n);
    memmove(d, s, n);
    free(s);
}
";

fn find(rule: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), C).unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    let files = tree.files();
    let files: Vec<_> = files.iter().collect();
    let settings = Settings::default();
    let haystack = Haystack::new(&tree, &files, &settings);
    match find_rule(&haystack, rule) {
        Ok(matches) => matches
            .found
            .iter()
            .map(|(_, first, last)| format!("{first}-{last}"))
            .collect(),
        Err(reason) => vec![format!("error: {reason}")],
    }
}

#[test]
fn combines_patterns() {
    for (rule, expected) in [
        ("<pattern>memcpy($$$)</pattern>", vec!["3-3", "7-7"]),
        (
            "<pattern>memcpy($$$)</pattern><inside><pattern>if ($C) { $$$ }</pattern></inside>",
            vec!["3-3"],
        ),
        (
            "<pattern>memcpy($$$)</pattern>\n<not><inside>if ($N < $M) { $$$ }</inside></not>",
            vec!["7-7"],
        ),
        (
            "<any><pattern>memmove($$$)</pattern><pattern>free($P)</pattern></any>",
            vec!["8-8", "9-9"],
        ),
        (
            "<kind>function_definition</kind><has>free($P)</has><not><has>if ($C) $B</has></not>",
            vec!["6-10"],
        ),
        (
            "<all><kind>call_expression</kind><regex>^mem(cpy|move)</regex></all>",
            vec!["3-3", "7-7", "8-8"],
        ),
        (
            "<rule><pattern>memcpy($A, $B, $N)</pattern><inside>if ($N < 9) { $$$ }</inside></rule>",
            vec!["3-3"],
        ),
        (
            "<pattern>memcpy($A, $B, $N)</pattern><inside>if ($A < 9) { $$$ }</inside>",
            vec![],
        ),
        // What must stand around a match may stand before or after it.
        (
            "<pattern>free($P)</pattern><inside><pattern>void b($$$) { $$$ }</pattern></inside>",
            vec!["9-9"],
        ),
        (
            "<any><pattern>memmove($$$)</pattern><kind>if_statement</kind></any>",
            vec!["2-4", "8-8"],
        ),
        (
            "<any><pattern>memmove($$$)</pattern><pattern>nowhere($$$)</pattern></any>",
            vec!["8-8"],
        ),
    ] {
        assert_eq!(find(rule), expected, "{rule}");
    }
}

#[test]
fn says_what_is_wrong() {
    for (rule, expected) in [
        ("", "there is no tag"),
        ("<not>free($X)</not>", "at least one"),
        ("<pattern>f($X)", "<pattern> is not closed"),
        ("<any></any>", "<any> is empty"),
        ("<pattern> </pattern>", "<pattern> is empty"),
        ("<kind>banana</kind>", "no node kind"),
        ("<regex>(</regex>", "unclosed group"),
        ("<any>f() <pattern>x()</pattern></any>", "between tags"),
    ] {
        let found = find(rule);
        assert!(found[0].contains(expected), "{rule}: {found:?}");
    }
    assert!(read_rule(&"<not>".repeat(5000)).is_err());
}

proptest::proptest! {
    #[test]
    fn reading_never_panics(text in "(<[a-z/]{1,8}>|pattern|[a-z<>/é ]){0,12}") {
        let _ = read_rule(&text);
    }
}
