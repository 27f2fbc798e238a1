//! `prompts/README.md` lists every template with the variables it reads.

use super::{Source, expect_none, files};
use regex::Regex;
use std::collections::BTreeSet;

#[test]
fn the_readme_lists_every_variable() {
    let all = files(|path| path.starts_with("prompts/"));
    let readme = all.iter().find(|file| file.path == "prompts/README.md");
    let Some(readme) = readme else {
        assert!(
            all.is_empty(),
            "there are prompts, but no prompts/README.md"
        );
        return;
    };
    let mut problems = Vec::new();
    for template in all.iter().filter(|file| file.path != readme.path) {
        let name = template.path.trim_start_matches("prompts/");
        match listed(readme, name) {
            None => problems.push(format!("{name} has no row")),
            Some(listed) => {
                let used = used(template);
                let missing: Vec<_> = used.difference(&listed).collect();
                let unused: Vec<_> = listed.difference(&used).collect();
                if !missing.is_empty() || !unused.is_empty() {
                    problems.push(format!(
                        "{name}: not listed {missing:?}, not used {unused:?}"
                    ));
                }
            }
        }
    }
    expect_none(
        &problems,
        "prompts/README.md lists each template's variables",
    );
}

/// The variables that the template's row of the table names, without their fields.
fn listed(readme: &Source, template: &str) -> Option<BTreeSet<String>> {
    let start = format!("| `{template}` |");
    let row = readme.text.lines().find(|line| line.starts_with(&start))?;
    let variables = row.trim_end_matches('|').rsplit('|').next()?;
    let code = Regex::new("`([A-Za-z_]+)[A-Za-z_.]*`").expect("a pattern");
    Some(
        code.captures_iter(variables)
            .map(|hit| hit[1].to_owned())
            .collect(),
    )
}

/// The variables that the template reads.
fn used(template: &Source) -> BTreeSet<String> {
    let environment = minijinja::Environment::new();
    let parsed = environment.template_from_named_str(&template.path, &template.text);
    let parsed = parsed.unwrap_or_else(|problem| panic!("{}: {problem}", template.path));
    parsed.undeclared_variables(false).into_iter().collect()
}
