//! Tests of the extractors, as tables of code and outlines: the
//! tables lie beside, by language; here is what holds for every text.

mod c;
mod idioms;
mod java;
mod others;

use super::facts::{Facts, decode_site};
use super::{extract, function_around};
use patchwright_source::Language;
use proptest::prelude::*;

fn facts(language: Language, code: &str) -> Facts {
    extract(language, code.as_bytes()).unwrap()
}

#[test]
fn a_function_is_found_by_a_line_of_it() {
    let code =
        "int a;\n\nstatic int\nf(int x)\n{\n  return x;\n}\n\nint g(void) {\n  return f(1);\n}\n";
    let found = |line| function_around(Language::C, code.as_bytes(), line);
    let lines = |line| found(line).map(|(_, range)| (range.first, range.last));
    assert_eq!(lines(6), Some((3, 7)));
    assert_eq!(lines(10), Some((9, 11)));
    assert_eq!((lines(1), lines(8)), (None, None));
    assert_eq!(found(6).map(|(name, _)| name), Some("f".to_owned()));
}

/// `kind scope|name lines` per symbol, parents by indentation.
fn outline(facts: &Facts) -> Vec<String> {
    facts
        .symbols
        .iter()
        .filter(|symbol| symbol.name != 0)
        .map(|symbol| {
            let scope = match facts.name(symbol.scope) {
                "" => String::new(),
                scope => format!("{scope}|"),
            };
            format!(
                "{} {scope}{} {}-{}",
                symbol.kind,
                facts.name(symbol.name),
                symbol.line,
                symbol.end_line
            )
        })
        .collect()
}

#[track_caller]
fn check(language: Language, code: &str, expected: &[&str]) {
    let found = facts(language, code);
    assert_eq!(outline(&found), expected, "{code}");
}

/// `caller>callee@lines`, sorted.
fn calls(facts: &Facts) -> Vec<String> {
    let mut calls: Vec<String> = facts
        .calls
        .iter()
        .map(|call| {
            let caller = call
                .owner
                .checked_sub(1)
                .map_or("", |index| facts.name(facts.symbols[index as usize].name));
            let receiver = facts.name(call.receiver);
            let on = if receiver.is_empty() {
                String::new()
            } else {
                format!("[{receiver}]")
            };
            format!("{caller}>{on}{}@{}", facts.name(call.name), call.lines)
        })
        .collect();
    calls.sort();
    calls
}

/// `name:kind@line`, sorted.
fn uses(facts: &Facts) -> Vec<String> {
    let mut uses = Vec::new();
    for (name, sites) in &facts.postings {
        for site in sites.split(',') {
            let (line, kind) = decode_site(site.parse().unwrap());
            uses.push(format!("{}:{}@{line}", facts.name(*name), kind.as_str()));
        }
    }
    uses.sort();
    uses
}

#[test]
fn deep_nesting_costs_no_stack() {
    for language in Language::ALL {
        let depth = 5_000;
        let code = format!("int x = {}1{};\n", "(".repeat(depth), ")".repeat(depth));
        assert!(extract(language, code.as_bytes()).is_some(), "{language}");
        let code = format!("void f() {}{}\n", "{".repeat(depth), "}".repeat(depth));
        assert!(extract(language, code.as_bytes()).is_some(), "{language}");
    }
}

fn alike() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "int ",
        "f",
        "(",
        ")",
        "{",
        "}",
        ";",
        "struct ",
        "typedef ",
        "class ",
        "A",
        "::",
        "*",
        "&",
        "=",
        ",",
        "#define ",
        "#if 1\n",
        "#endif\n",
        "\n",
        "\r\n",
        "\t",
        "operator",
        "<",
        ">",
        "~",
        "template",
        "namespace ",
        "enum ",
        "return ",
        "\"",
        "'",
        "/*",
        "*/",
        "//",
        "->",
        ".",
        "new ",
        "import ",
        "package ",
        "def ",
        ":",
        "func ",
        "impl ",
        "for ",
        "fn ",
        "let ",
        "\u{e9}",
        "\0",
        "0x1",
        "[",
        "]",
        "@",
        "if",
        "else",
        "extern \"C\" ",
        "\\\n",
    ]);
    prop::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn no_text_breaks_an_extractor(code in alike()) {
        let lines = code.lines().count().max(1) + 1;
        for language in Language::ALL {
            let found = extract(language, code.as_bytes()).unwrap();
            prop_assert!(found.symbols.is_sorted_by_key(|symbol| symbol.line));
            for (index, symbol) in found.symbols.iter().enumerate() {
                prop_assert!(symbol.line >= 1 && symbol.line <= symbol.end_line);
                prop_assert!(symbol.end_line as usize <= lines);
                prop_assert!(symbol.parent as usize <= index);
            }
            for call in &found.calls {
                prop_assert!(call.owner as usize <= found.symbols.len());
            }
        }
    }

    #[test]
    fn no_bytes_break_an_extractor(code in prop::collection::vec(any::<u8>(), 0..200)) {
        for language in Language::ALL {
            prop_assert!(extract(language, &code).is_some());
        }
    }
}
