//! The task file as `init` writes it: the keys that it found, each with a comment
//! on what was seen.

use super::Draft;
use std::fmt::Write;

/// Renders a draft as TOML with comments.
pub(crate) fn render(draft: &Draft) -> String {
    let (keys, remarks) = (&draft.keys, &draft.remarks);
    let mut text = "# Written by `patchwright init` from what it saw work here. The keys are explained in docs/tasks.md.\n".to_owned();
    entry(&mut text, "id", Some(&keys.id));
    entry(&mut text, "language", Some(&keys.language));
    entry(&mut text, "title", keys.title.as_ref());
    entry(&mut text, "image", keys.image.as_ref());
    text.push_str("\n[source]\n");
    entry(&mut text, "path", keys.source.path.as_ref());
    entry(&mut text, "git", keys.source.git.as_ref());
    entry(&mut text, "revision", keys.source.revision.as_ref());
    entry(&mut text, "seen_as", keys.source.seen_as.as_ref());
    text.push_str("\n# Lines for `sh -eu`, run in a copy of the tree without network (but `prepare`).\n[commands]\n");
    entry(&mut text, "prepare", keys.commands.prepare.as_ref());
    remark(&mut text, &remarks.build);
    entry(&mut text, "build", keys.commands.build.as_ref());
    entry(&mut text, "pov", keys.commands.pov.as_ref());
    remark(&mut text, &remarks.test);
    match &keys.commands.test {
        Some(test) => entry(&mut text, "test", Some(test)),
        None => text.push_str("# No tests were found: without them the best ending is `plausible`.\n# test = 'make -C \"$TREE\" check'\n"),
    }
    list(&mut text, "reports", &keys.commands.reports);
    for (name, variables) in &keys.builds {
        let _ = write!(
            text,
            "\n# Variables of the build command.\n[builds.{name}]\n"
        );
        for (key, value) in variables {
            entry(&mut text, key, Some(value));
        }
    }
    for pov in &keys.pov {
        text.push_str("\n[[pov]]\n");
        remark(&mut text, &remarks.pov);
        entry(&mut text, "file", Some(&pov.file));
        entry(&mut text, "harness", pov.harness.as_ref());
    }
    if keys.crash.report.is_some() {
        text.push_str("\n[crash]\n");
        entry(&mut text, "report", keys.crash.report.as_ref());
    }
    text.push_str("\n# Inputs that the program accepts: a patch must not change what it does with them.\n[inputs]\n");
    remark(&mut text, &remarks.harmless);
    if keys.inputs.harmless.is_empty() {
        text.push_str("# No file of the PoV's kind was found. Files that the tests read are compared too; name more where there are none.\n# harmless = [\"corpus/*\"]\n");
    } else {
        list(&mut text, "harmless", &keys.inputs.harmless);
    }
    text
}

fn remark(text: &mut String, remark: &str) {
    for line in remark.lines() {
        let _ = writeln!(text, "# {line}");
    }
}

fn entry(text: &mut String, key: &str, value: Option<&String>) {
    if let Some(value) = value {
        let _ = writeln!(text, "{key} = {}", quoted(value));
    }
}

fn list(text: &mut String, key: &str, values: &[String]) {
    if !values.is_empty() {
        let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
        let _ = writeln!(text, "{key} = [{}]", values.join(", "));
    }
}

/// A string of TOML; commands hold many double quotes, so they get single ones where
/// that is possible.
fn quoted(value: &str) -> String {
    let literal =
        value.contains('"') && !value.contains('\'') && !value.chars().any(char::is_control);
    if literal {
        return format!("'{value}'");
    }
    toml::Value::String(value.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn strings_are_read_back_as_they_were() {
        for value in [
            "a",
            "\"$OUT\"/a 'b'",
            "make -C \"$TREE\"",
            "a\nb\t\"",
            "\u{7}'\"",
        ] {
            let table: toml::Table = format!("a = {}", quoted(value)).parse().unwrap();
            assert_eq!(table["a"].as_str(), Some(value));
        }
    }
}
