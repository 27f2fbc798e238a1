//! Variables of our environment that a program we start may see.

use std::ffi::OsString;

/// Variables that git, container clients and the programs they call need: places, settings, language,
/// scratch files, and the way to a server (proxy, certificates, ssh). Keys of ours, and
/// variables that point git at another repository, are not among them.
const TOOLS: &str = include_str!("tool_variables.txt");
/// Those that programs need beside them which act for a person: terminal, keyrings, and the
/// tokens of forges.
const PERSON: &str = include_str!("person_variables.txt");

/// Returns the part of our environment that git and container clients get.
pub fn tool_environment() -> Vec<(OsString, OsString)> {
    of_lists(&[TOOLS], ours())
}

/// Returns the part of our environment that programs get which send something for a person.
pub fn person_environment() -> Vec<(OsString, OsString)> {
    of_lists(&[TOOLS, PERSON], ours())
}

#[expect(
    clippy::disallowed_methods,
    reason = "this crate is the reader of the environment"
)]
fn ours() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
}

fn of_lists(
    lists: &[&str],
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let known = lists.iter().flat_map(|list| list.lines());
    variables
        .filter(|(name, _)| known.clone().any(|known| name == known))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{TOOLS, of_lists};

    #[test]
    fn git_gets_no_key_and_no_other_repository() {
        let names = [
            "PATH",
            "OPENAI_API_KEY",
            "PATCHWRIGHT_MODEL__API_KEY",
            "GIT_DIR",
            "GIT_CONFIG_COUNT",
            "LD_PRELOAD",
            "HOME",
        ];
        let all = names.map(|name| (name.into(), "x".into()));
        let given = of_lists(&[TOOLS], all.into_iter());
        let given: Vec<_> = given.iter().filter_map(|(name, _)| name.to_str()).collect();
        assert_eq!(given, ["PATH", "HOME"]);
    }
}
