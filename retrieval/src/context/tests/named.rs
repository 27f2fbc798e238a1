//! Tests of what a reporter names beside a log.

use super::tree_of;
use crate::{CrashFrame, Request, Role};

fn frame(function: &str, file: Option<&str>, line: Option<u32>) -> CrashFrame {
    CrashFrame {
        function: function.to_owned(),
        file: file.map(ToOwned::to_owned),
        line,
        role: Role::Crash,
        depth: 0,
    }
}

const OPTIONS: &str = "int set_option(const char *name)\n{\n    if (!strcmp(name, \"layers\"))\n        return 1;\n    return 0;\n}\n";

#[test]
fn what_the_reporter_names_comes_behind_the_frames() {
    let body = |name: &str, code: &str| {
        format!("int {name}(int n)\n{{\n    int kept = n;\n    {code}\n    return kept;\n}}\n\n")
    };
    let fold = body("fold_hyphens", "kept += marks[n] & 1;") + &body("fold_other", "kept -= 1;");
    let (_folder, engine) = tree_of(&[
        ("src/line.c", &body("line_fits", "kept *= 2;")),
        ("src/fold.c", &fold),
        ("src/wrap.c", &body("wrap", "kept = n / width[n];")),
        ("src/options.c", OPTIONS),
    ]);
    let shown = |named: Vec<CrashFrame>, quoted: &[&str]| -> Vec<(String, String)> {
        let request = Request {
            frames: vec![frame("line_fits", Some("/x/src/line.c"), Some(4))],
            named,
            quoted: quoted.iter().map(ToString::to_string).collect(),
            ..Request::default()
        };
        let snippets = engine.context(&request).unwrap().snippets.into_iter();
        let snippets = snippets.filter(|one| !one.sparse);
        snippets
            .map(|one| (one.symbols.join(" "), one.note.unwrap_or_default()))
            .collect()
    };
    let alone = shown(Vec::new(), &[]);
    assert!(
        alone.iter().all(|(name, _)| name == "line_fits"),
        "{alone:?}"
    );
    let named = vec![
        frame("fold_hyphens", None, None),
        frame("", Some("wrap.c"), Some(3)),
        frame("gone", None, None),
    ];
    // A line that is anywhere tells nothing.
    let quoted = ["kept  =  n / width[n];", "\"layers", "int kept = n;"];
    let found = shown(named, &quoted);
    let why = |name: &str| {
        let found = found.iter().find(|(symbol, _)| symbol == name);
        found
            .map(|(_, why)| why.as_str())
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(found[0].0, "line_fits", "{found:?}");
    assert!(
        why("fold_hyphens").contains("named by the reporter"),
        "{found:?}"
    );
    assert!(why("wrap").contains("named by the reporter"), "{found:?}");
    assert!(
        why("set_option").contains("quoted by the reporter"),
        "{found:?}"
    );
    assert_eq!(why("fold_other"), "", "{found:?}");
}
