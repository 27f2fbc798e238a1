//! Tests of what comes along with the likeliest definitions of a request.

use super::{symbols, tree_of};
use crate::Request;

#[test]
fn further_functions_of_a_shown_file_are_named_by_one_line_each() {
    let many: String = (0..12)
        .map(|n| {
            format!(
                "int table_row_{n}(int n)\n{{\n    int kept = {n};\n    return n + kept;\n}}\n\n"
            )
        })
        .collect();
    let text = format!(
        "/* Splits a table row at each pipe. */\nint split_table_row_at_pipes(int n)\n{{\n    return n;\n}}\n\n{many}"
    );
    let (_folder, engine) = tree_of(&[
        ("src/table.c", &text),
        (
            "src/list.c",
            "int list_item(int row)\n{\n    return row;\n}\n",
        ),
    ]);
    let request = Request {
        text: "splitting a table row at pipes is wrong".to_owned(),
        ..Request::default()
    };
    let context = engine.context(&request).unwrap();
    let heads: Vec<_> = context.snippets.iter().filter(|one| one.sparse).collect();
    assert_eq!(heads.len(), 1, "{:?}", context.snippets);
    let shown = |name: &str| {
        let mut all = context.snippets.iter().flat_map(|one| &one.symbols);
        all.any(|symbol| symbol == name)
    };
    assert!((0..12).all(|n| shown(&format!("table_row_{n}"))));
    assert!(!heads[0].text.contains("return"), "{}", heads[0].text);
    assert!(!shown("list_item"));
    // What is shown in full is not named again.
    assert!(!heads[0].text.contains("split_table_row_at_pipes"));
    // Only their own lines are shown, and no range.
    let named = "\" about=\"further functions, by their first lines\">";
    let rendered = context.render();
    let line = rendered.lines().find(|line| line.ends_with(named));
    assert!(!line.unwrap().contains(" lines="), "{rendered}");
}

#[test]
fn of_many_namesakes_only_some_are_shown() {
    let overloads: String = (0..30)
        .map(|n| format!("    int unpack(int a{n}) {{ return a{n}; }}\n"))
        .collect();
    let text =
        format!("class Zip {{\n{overloads}    int entry(int a) {{ return unpack(a); }}\n}}\n");
    let (_folder, engine) = tree_of(&[("src/Zip.java", &text)]);
    let request = Request {
        text: "unpacking an entry of a zip is wrong".to_owned(),
        ..Request::default()
    };
    let snippets = engine.context(&request).unwrap().snippets;
    let first = |name: &str| {
        let heads = snippets.iter().filter_map(|one| one.symbols.first());
        heads.filter(|symbol| symbol.ends_with(name)).count()
    };
    assert!(first("unpack") <= 2 && first("entry") == 1, "{snippets:?}");
}

#[test]
fn what_the_likeliest_calls_comes_before_what_is_just_as_like() {
    let part = |name: &str| format!("int header_{name}(int n)\n{{\n    return n;\n}}\n\n");
    let text = format!(
        "{}{}int check_header_names(int n)\n{{\n    return header_beta(n);\n}}\n",
        part("alfa"),
        part("beta")
    );
    let (_folder, engine) = tree_of(&[("src/a.c", &text)]);
    let found = symbols(&engine, "checking of header names is wrong");
    let at = |name: &str| found.iter().position(|one| one == name).unwrap();
    assert!(at("header_beta") < at("header_alfa"), "{found:?}");
}
