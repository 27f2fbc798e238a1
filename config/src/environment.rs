//! Variables of our environment that a program we start may see.

use std::ffi::OsString;

/// Variables that git, container clients and the programs they call need: places, settings, language,
/// scratch files, and the way to a server (proxy, certificates, ssh). Keys of ours, and
/// variables that point git at another repository, are not among them.
const TOOLS: &str = include_str!("tool_variables.txt");

/// Returns the part of our environment that git and container clients get.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate is the reader of the environment"
)]
pub fn tool_environment() -> Vec<(OsString, OsString)> {
    of_tools(std::env::vars_os())
}

fn of_tools(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let listed = |name: &OsString| TOOLS.lines().any(|known| name == known);
    variables.filter(|(name, _)| listed(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::of_tools;

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
        let given = of_tools(all.into_iter());
        let given: Vec<_> = given.iter().filter_map(|(name, _)| name.to_str()).collect();
        assert_eq!(given, ["PATH", "HOME"]);
    }
}
