//! Tests of the tool calls of replies.

use super::Calls;
use crate::Edit;
use proptest::prelude::*;

fn replaced(text: &str) -> Vec<(String, String, String)> {
    let calls = Calls::read(text);
    calls
        .edits
        .into_iter()
        .map(|edit| match edit {
            Edit::Replace {
                file,
                original,
                replacement,
                ..
            } => (file, original.unwrap(), replacement.unwrap()),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn reads_replacements_in_every_shape() {
    let expected = [(
        "a.c".to_owned(),
        "x = 1;\n".to_owned(),
        "x = 2;\n".to_owned(),
    )];
    for text in [
        r#"{"command": "str_replace", "path": "a.c", "old_str": "x = 1;\n", "new_str": "x = 2;\n"}"#,
        r#"I fix it:
```json
{"file_path": "a.c", "old_string": "x = 1;\n", "new_string": "x = 2;\n"}
```"#,
        r#"<tool_call>{"name": "edit", "arguments": {"file_path": "a.c", "old_string": "x = 1;\n", "new_string": "x = 2;\n"}}</tool_call>"#,
        r#"{"tool_calls": [{"type": "function", "function": {"name": "edit", "arguments": "{\"path\": \"a.c\", \"old_str\": \"x = 1;\\n\", \"new_str\": \"x = 2;\\n\"}"}}]}"#,
        r#"{"file_path": "a.c", "edits": [{"old_string": "x = 1;\n", "new_string": "x = 2;\n"}]}"#,
        r#"[{"file": "a.c", "original": "x = 1;\n", "replacement": "x = 2;\n"}]"#,
        r#"{"patch": {"explanation": "y", "edits": [{"file": "a.c", "original": "x = 1;\n", "replacement": "x = 2;\n"}]}}"#,
        "{\"path\": \"a.c\", \"old_str\": \"x = 1;\n\", \"new_str\": \"x = 2;\n\"}",
        "<function_calls>\n<invoke name=\"str_replace_editor\">\n<parameter name=\"command\">str_replace</parameter>\n<parameter name=\"path\">a.c</parameter>\n<parameter name=\"old_str\">\nx = 1;\n\n</parameter>\n<parameter name=\"new_str\">\nx = 2;\n\n</parameter>\n</invoke>\n</function_calls>",
        "<tool_call>\n<function=edit>\n<parameter=path>\na.c\n</parameter>\n<parameter=old_str>\nx = 1;\n\n</parameter>\n<parameter=new_str>\nx = 2;\n\n</parameter>\n</function>\n</tool_call>",
    ] {
        assert_eq!(replaced(text), expected, "{text}");
    }
}

#[test]
fn reads_diffs_and_blocks_in_calls() {
    for text in [
        r#"{"command": ["apply_patch", "*** Begin Patch\n*** Update File: a.c\n@@\n-x = 1;\n+x = 2;\n*** End Patch"]}"#,
        r#"{"name": "apply_patch", "arguments": {"input": "*** Begin Patch\n*** Update File: a.c\n@@\n-x = 1;\n+x = 2;\n*** End Patch\n"}}"#,
    ] {
        let edits = Calls::read(text).edits;
        let [Edit::Hunk(hunk)] = edits.as_slice() else {
            panic!("{text}: {edits:?}");
        };
        assert_eq!((hunk.file.as_str(), hunk.old.len()), ("a.c", 1), "{text}");
    }
    let cline = "<replace_in_file>\n<path>a.c</path>\n<diff>\n<<<<<<< SEARCH\nx = 1;\n=======\nx = 2;\n>>>>>>> REPLACE\n</diff>\n</replace_in_file>";
    let expected = ("a.c".to_owned(), "x = 1;".to_owned(), "x = 2;".to_owned());
    assert_eq!(replaced(cline), [expected]);
}

#[test]
fn reads_questions() {
    for (text, kind, body) in [
        (
            r#"{"name": "symbol", "arguments": {"name": "f"}}"#,
            "symbol",
            "f",
        ),
        (
            r#"{"command": "view", "path": "a.c", "view_range": [3, 9]}"#,
            "file",
            "a.c:3-9",
        ),
        (
            r#"{"name": "callers", "input": {"query": "f", "depth": 2}}"#,
            "callers",
            "f",
        ),
    ] {
        let queries = Calls::read(text).queries;
        let [query] = queries.as_slice() else {
            panic!("{text}: {queries:?}");
        };
        assert_eq!(
            (query.kind.as_str(), query.body.as_str()),
            (kind, body),
            "{text}"
        );
    }
}

#[test]
fn sees_what_is_torn_and_leaves_code_alone() {
    assert!(Calls::read(r#"{"path": "a.c", "old_str": "x = 1;"#).torn);
    for text in [
        "int f(void)\n{\n    return 1;\n}\n",
        "static int table[] =\n[1, 2]\n",
        r#"{"verdict": "fine"}"#,
        "{}",
    ] {
        assert!(Calls::read(text).is_empty(), "{text}");
    }
}

proptest! {
    #[test]
    fn never_panics(text in "[{}\\[\\]\",:<>/=a-z_ \\\\\n\u{e9}-]{0,80}") {
        Calls::read(&text);
    }
}
