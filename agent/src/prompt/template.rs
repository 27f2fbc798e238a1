//! The templates of `prompts/` and how they are rendered: strictly, and with text
//! from outside behind a fence. What they are given is decided elsewhere.

use super::control_tokens;
use minijinja::{Environment, UndefinedBehavior, Value};
use std::sync::LazyLock;

/// The texts of a folder's templates, each with its name.
#[macro_export]
macro_rules! templates {
    ($folder:literal: $($name:literal)*) => {
        &[$(($name, include_str!(concat!($folder, $name)))),*]
    };
}

const TEMPLATES: &[(&str, &str)] = templates! { "../../../prompts/":
    "system.md" "issue.md" "answers.md" "problem.md" "feedback.md" "differences.md"
    "contesting.md" "contest.md" "compact.md" "compacted.md" "critic.md" "critic_again.md"
    "examined.md" "objection.md" "left_open.md" "inputs.md" "challenge.md"
    "regression_test.md" "judge.md" "revision.md" "left.md" "patterns.md" "anchors.md"
    "words.md" "retrieval.md" "probing.md" "tones.md"
};

#[expect(clippy::expect_used, reason = "the templates are constants")]
static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("fence", fence);
    for (name, source) in TEMPLATES {
        environment
            .add_template(name, source)
            .expect("a built-in template parses");
    }
    environment
});

/// A template with its values.
pub(super) fn render(name: &str, values: Value) -> String {
    let rendered = ENVIRONMENT
        .get_template(name)
        .and_then(|template| template.render(values));
    match rendered {
        Ok(text) => control_tokens::break_up(text.trim()).into_owned() + "\n",
        Err(error) => {
            tracing::error!(
                prompt = name,
                error = format!("{error:#}"),
                "a prompt is broken"
            );
            format!("[the prompt {name} is broken: {error:#}]\n")
        }
    }
}

/// Text from outside, capped to `limit` characters (head and tail kept) and
/// fenced by more backticks than it holds in a row.
pub fn fence(text: &str, language: &str, limit: usize) -> String {
    let text = cap(text.trim_end(), limit);
    let longest = text.split(|character| character != '`').map(str::len).max();
    let marks = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    format!("{marks}{language}\n{text}\n{marks}")
}

fn cap(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    let (head, tail) = (limit * 2 / 3, limit / 3);
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!(
        "{start}\n[... {} characters left out ...]\n{end}",
        count - head - tail
    )
}
