//! The templates of the pages, and how values become markup in them: every text is
//! escaped where it is printed, and `attr` is for attributes, where no markup may stand.

use crate::text::{age, attribute, escaped, first_line, money, rest, seconds, shown, shown_line};
use crate::view::is_live;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, escape_formatter};
use patchwright_agent::record::RungName;
use patchwright_agent::{template, templates};
use serde::Serialize;
use serde_json::json;
use std::sync::LazyLock;

/// The path under which all pages lie.
pub const ROOT: &str = "/review";
/// The sign of a figure that is not known.
const UNKNOWN: &str = "–";

const TEMPLATES: &[(&str, &str)] = templates! { "templates/":
    "layout.html" "macros.html" "list.html" "run.html" "run/verdict.html" "run/crash.html"
    "run/rows.html" "run/facts.html" "run/actions.html" "run/stages.html" "candidate.html"
    "plots.html" "interface.html" "sign_in.html" "missing.html" "log.html" "event.html"
    "source.html" "story.html" "story_lines.html"
};

#[expect(clippy::expect_used, reason = "the templates are constants")]
static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = template::environment().expect("the syntax fits");
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => Ok(out.write_str(&shown_line(text))?),
        _ if value.is_none() => Ok(()),
        _ => escape_formatter(out, state, value),
    });
    environment.add_global("root", ROOT);
    environment.add_global(
        "ladder",
        Value::from_iter(RungName::ALL.map(RungName::as_str)),
    );
    add_filters(&mut environment);
    for (name, source) in TEMPLATES {
        let added = environment.add_template(name, source);
        added.expect("a built-in template parses");
    }
    environment
});

fn add_filters(environment: &mut Environment<'_>) {
    let safe = Value::from_safe_string;
    environment.add_filter("text", move |text: &str| safe(shown(text)));
    environment.add_filter("attr", move |text: &str| safe(attribute(text)));
    environment.add_filter("first_line", first_line);
    environment.add_filter("rest", rest);
    environment.add_filter("escaped", escaped);
    environment.add_filter("age", age);
    environment.add_filter("short", |number: f64| format!("{number:.1}"));
    environment.add_filter("json", |value: Value| format!("{:#}", json!(value)));
    environment.add_filter("minute", |time: &str| {
        time.get(..16).unwrap_or_default().replace('T', " ")
    });
    environment.add_filter("dash", |value: Option<i64>| {
        value.map_or_else(|| UNKNOWN.to_owned(), |value| value.to_string())
    });
    let known = |of: fn(f64) -> String| {
        move |figure: Option<f64>| figure.map_or_else(|| UNKNOWN.to_owned(), of)
    };
    environment.add_filter("seconds", known(seconds));
    environment.add_filter("money", known(money));
    environment.add_filter("percent", known(|share| format!("{:.0}", 100.0 * share)));
    environment.add_function("run_path", run_path);
    environment.add_function("log_path", |run: &str, hash: &str| {
        let hash: String = hash.chars().filter(char::is_ascii_hexdigit).collect();
        format!("{}/logs/{hash}", run_path(run))
    });
    environment.add_function("is_live", is_live);
}

/// The path of a run's page.
pub(crate) fn run_path(run: &str) -> String {
    format!("{ROOT}/runs/{}", escaped(run))
}

pub(crate) fn render(name: &str, values: Value) -> Result<String, Error> {
    ENVIRONMENT.get_template(name)?.render(values)
}

/// Returns plain values, as a template reads them.
pub(crate) fn values(of: &impl Serialize) -> Value {
    Value::from(Serde(of))
}
