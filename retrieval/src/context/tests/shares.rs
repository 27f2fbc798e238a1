//! Tests of the shares of the budget: what each takes, and what it
//! leaves to others.

use super::tree_of;
use crate::context::pack::pack;
use crate::context::{Form, Mention, Part, Plan, Wanted, tokens_of};
use crate::intent::{Intent, Shares};
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

fn plan(engine: &Engine, shares: Shares) -> Plan {
    let function = |n: usize| engine.named(&format!("job_{n}")).remove(0);
    let wanted = |n: usize, part| Wanted {
        part,
        ..Wanted::new(function(n), 0.9, format!("as {part:?}"))
    };
    let mentions = (30..40).map(|n| Mention {
        symbol: function(n),
        part: Part::Imports,
        fullest: Form::Full,
        why: "as Imports".to_owned(),
    });
    let parts = [Part::Snippets, Part::Tests, Part::Callers];
    Plan {
        intent: "BUG_FIX".to_owned(),
        confidence: 0.5,
        stack: Vec::new(),
        wanted: (0..30).map(|n| wanted(n, parts[n % 3])).collect(),
        heads: Vec::new(),
        most_heads: 0,
        mentions: mentions.collect(),
        enough: usize::MAX,
        shares,
        with_documents: false,
    }
}

/// The tokens that each part takes of a context.
fn taken(context: &Context) -> [usize; 5] {
    let by_note = |part: Part| -> usize {
        let notes = context.snippets.iter();
        let of_part = notes.filter(|one| one.note == Some(format!("as {part:?}")));
        of_part.map(|one| tokens_of(&one.text)).sum()
    };
    let cards = |named: bool| -> usize {
        let cards = context.definitions.iter();
        let these = cards.filter(|card| card.why.is_none() == named);
        these.map(|card| tokens_of(&card.text)).sum()
    };
    Part::ALL.map(|part| match part {
        Part::Definitions => cards(true),
        Part::Imports => cards(false),
        part => by_note(part),
    })
}

#[test]
fn every_share_steers_its_part() {
    let (_folder, engine) = crowd();
    let shares = |large: Part| {
        let of = |part: Part| if part == large { 60 } else { 10 };
        Shares {
            definitions: of(Part::Definitions),
            snippets: of(Part::Snippets),
            imports: of(Part::Imports),
            tests: of(Part::Tests),
            callers: of(Part::Callers),
        }
    };
    for (at, part) in Part::ALL.into_iter().enumerate() {
        let of =
            |large: Part| taken(&pack(&engine, &plan(&engine, shares(large)), (1_200, 1.0)))[at];
        let large = of(part);
        for other in Part::ALL.into_iter().filter(|other| *other != part) {
            let small = of(other);
            assert!(
                large > small + 90,
                "{part:?}: {large}, {small} for {other:?}"
            );
        }
    }
}

#[test]
fn what_matters_less_is_said_in_fewer_words() {
    let (_folder, engine) = crowd();
    let shares = Intent::BugFix.shares();
    let cards = pack(&engine, &plan(&engine, shares), (8_000, 1.0)).definitions;
    let forms: Vec<Form> = cards
        .iter()
        .filter(|card| card.why.is_none())
        .map(|card| card.form)
        .collect();
    assert_eq!(forms.first(), Some(&Form::Full), "{cards:?}");
    assert_eq!(forms.last(), Some(&Form::Compact), "{cards:?}");
    assert!(forms.is_sorted_by(|a, b| a >= b), "{forms:?}");
}

#[test]
fn what_cards_leave_goes_to_code_and_what_code_leaves_to_cards() {
    let (_folder, engine) = crowd();
    let shares = Shares {
        definitions: 60,
        snippets: 40,
        imports: 0,
        tests: 0,
        callers: 0,
    };
    let taken_by = |engine: &Engine, most: usize, shares: Shares| {
        let mut plan = plan(engine, shares);
        plan.mentions.clear();
        plan.wanted.truncate(most);
        for one in &mut plan.wanted {
            one.part = Part::Snippets;
            one.why = "as Snippets".to_owned();
        }
        let context = pack(engine, &plan, (900, 1.0));
        assert!(context.tokens <= 900, "{}", context.tokens);
        taken(&context)
    };
    let [cards, code, ..] = taken_by(&engine, 30, shares);
    // Functions that name no type have no cards: their code takes all.
    let plain: String = (0..40)
        .map(|n| {
            format!("int job_{n}(int an_int, int another, int a_third)\n{{\n    return an_int + {n} * another;\n}}\n\n")
        })
        .collect();
    let (_other, plain) = tree_of(&[("src/jobs.c", &plain)]);
    let [no_cards, more_code, ..] = taken_by(&plain, 30, shares);
    assert_eq!(no_cards, 0);
    assert!(
        more_code > code + cards / 2,
        "{more_code}, {code} beside {cards}"
    );
    // What little code leaves is for the cards, beyond their share.
    let shares_of_code = Shares {
        definitions: 5,
        snippets: 95,
        ..shares
    };
    let [cards, ..] = taken_by(&engine, 3, shares_of_code);
    assert!(cards > 3 * 900 * 5 / 100, "{cards}");
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
        engine.context(&request).tokens
    };
    let [usual, more, most] = [2_500, 5_000, 9_000].map(tokens);
    assert!(usual <= 2_500 && more <= 5_000 && most <= 9_000);
    assert!(usual < more && more < most, "{usual} {more} {most}");
}
