//! Tests of how a budget is divided between code and cards.

use super::tree_of;
use crate::context::pack::{CARDS, pack};
use crate::context::{Form, Heads, Plan, Wanted, tokens_of};
use crate::{Context, Engine};

/// Functions of one size, and the types that they name, three each.
fn crowd() -> (tempfile::TempDir, Engine) {
    let functions: String = (0..40)
        .map(|n| {
            format!(
                "int job_{n}(struct kind_{n}_a *a, struct kind_{n}_b *b, struct kind_{n}_c *c)\n{{\n    \
                 return a->one + b->one + c->one;\n}}\n\n"
            )
        })
        .collect();
    let fields: String = (0..8).map(|n| format!("    long field_{n};\n")).collect();
    let kind = |name: String| format!("struct {name} {{\n    long one;\n{fields}}};\n\n");
    let types: String = (0..40)
        .flat_map(|n| ["a", "b", "c"].map(|end| kind(format!("kind_{n}_{end}"))))
        .collect();
    tree_of(&[("src/jobs.c", &functions), ("src/kinds.h", &types)])
}

fn plan(engine: &Engine, most: usize) -> Plan {
    let function = |n: usize| engine.named(&format!("job_{n}")).unwrap().remove(0);
    Plan {
        intent: "BUG_FIX".to_owned(),
        confidence: 0.5,
        stack: Vec::new(),
        wanted: (0..most)
            .map(|n| Wanted::new(function(n), 0.9, ""))
            .collect(),
        heads: Heads::default(),
        enough: f64::MAX,
    }
}

/// Returns how many functions a context shows, and the tokens that its cards take.
fn taken(context: &Context) -> (usize, usize) {
    let functions = context.snippets.iter().map(|one| one.symbols.len());
    let cards = context.definitions.iter().map(|one| tokens_of(&one.text));
    (functions.sum(), cards.sum())
}

#[test]
fn what_matters_less_is_said_in_fewer_words() {
    let (_folder, engine) = crowd();
    let cards = pack(&engine, &plan(&engine, 30), 8_000)
        .unwrap()
        .definitions;
    let forms: Vec<Form> = cards.iter().map(|card| card.form).collect();
    assert_eq!(forms.first(), Some(&Form::Full), "{cards:?}");
    assert_eq!(forms.last(), Some(&Form::Standard), "{cards:?}");
    assert!(forms.is_sorted_by(|a, b| a >= b), "{forms:?}");
}

#[test]
fn what_cards_leave_goes_to_code_and_what_code_leaves_to_cards() {
    let (_folder, engine) = crowd();
    let taken_by = |engine: &Engine, most: usize| {
        let context = pack(engine, &plan(engine, most), 900).unwrap();
        assert!(context.tokens <= 900, "{}", context.tokens);
        taken(&context)
    };
    let (code, cards) = taken_by(&engine, 30);
    assert!(code > 0 && cards > 0, "{code}, {cards}");
    // Functions that name no type have no cards: their code takes all.
    let plain: String = (0..40)
        .map(|n| {
            format!("int job_{n}(int an_int, int another, int a_third)\n{{\n    return an_int + {n} * another;\n}}\n\n")
        })
        .collect();
    let (_other, plain) = tree_of(&[("src/jobs.c", &plain)]);
    let (more_code, no_cards) = taken_by(&plain, 30);
    assert_eq!(no_cards, 0);
    assert!(
        more_code > code + code / 4,
        "{more_code}, {code} beside {cards}"
    );
    // What little code leaves is for the cards, beyond their share.
    let (_, cards) = taken_by(&engine, 3);
    assert!(cards > 900 * CARDS / 100, "{cards}");
}

#[test]
fn more_budget_brings_more_code() {
    let body = |n: usize| {
        format!(
            "int step_{n}(int a)\n{{\n{}    return step_{}(a);\n}}\n",
            "    a += 1;\n".repeat(60),
            n + 1
        )
    };
    let code: String = (0..40).map(body).collect();
    let (_folder, engine) = crate::context::tests::tree_of(&[("src/a.c", &code)]);
    let frames: Vec<crate::CrashFrame> = (0..40)
        .map(|n: u32| crate::CrashFrame {
            function: format!("step_{n}"),
            file: Some("src/a.c".to_owned()),
            line: Some(64 * n + 63),
            role: crate::Role::Crash,
            depth: n,
        })
        .collect();
    let tokens = |budget| {
        let request = crate::Request {
            frames: frames.clone(),
            budget,
            ..crate::Request::default()
        };
        engine.context(&request).unwrap().tokens
    };
    let [usual, more, most] = [2_500, 5_000, 9_000].map(tokens);
    assert!(usual <= 2_500 && more <= 5_000 && most <= 9_000);
    assert!(usual < more && more < most, "{usual} {more} {most}");
}
