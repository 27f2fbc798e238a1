//! `patchwright send`: a patch as a draft pull request of its forge, or as a mail, after one look
//! and one yes.
//!
//! The person's own programs send it, with the person's own keys: `git push` with `gh` or `glab`,
//! or `git send-email`. Nothing else is asked of a network here.

use super::export::{self, Chosen, Finished};
use crate::common::{Common, WrongInput};
use crate::export::{Exported, mail, text};
use crate::git::{Git, QUIET};
use anyhow::Context;
use clap::Args;
use patchwright_config::person_environment;
use patchwright_model::http::shown;
use patchwright_source::visible;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

#[derive(Debug, Args)]
pub(crate) struct SendArguments {
    /// The candidate that is sent
    #[command(flatten)]
    pub chosen: Chosen,
    /// Send a mail to this address, by git send-email, instead of opening a pull request; may be
    /// given again
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub to: Vec<String>,
    /// With --to: the id of the mail that this answers
    #[arg(long, value_name = "ID", requires = "to")]
    pub in_reply_to: Option<String>,
    /// The remote that the branch is pushed to; gh opens the pull request, or glab where the
    /// remote is a GitLab
    #[arg(
        long,
        value_name = "NAME",
        default_value = "origin",
        conflicts_with = "to"
    )]
    pub remote: String,
    /// Ask for a review at once; without it the pull request is a draft
    #[arg(long, conflicts_with = "to")]
    pub ready: bool,
    /// Send it without asking
    #[arg(long, short)]
    pub yes: bool,
}

/// Sends a candidate.
///
/// # Errors
/// There is no such run or candidate, git knows no name of the person, nobody can be asked, or a
/// program that sends it is missing or fails.
pub(crate) async fn send(common: &Common, arguments: SendArguments) -> anyhow::Result<ExitCode> {
    let chosen = arguments.chosen.clone();
    let (finished, _) = export::finished(common, chosen).await?;
    let exported = finished.exported().await?;
    if exported.signatures.author.is_none() {
        let nameless = "git knows no name of yours: set user.name and user.email, or give --author";
        return Err(WrongInput(nameless.to_owned()).into());
    }
    let sent = if arguments.to.is_empty() {
        open(&finished, &exported, &arguments).await?
    } else {
        write_to(&finished, &exported, &arguments)?
    };
    Ok(ExitCode::from(u8::from(!sent)))
}

/// Sends a mail; false where the person does not want it.
fn write_to(
    finished: &Finished,
    exported: &Exported<'_>,
    arguments: &SendArguments,
) -> anyhow::Result<bool> {
    let text = mail(exported, finished.began)?;
    let folder = finished.repository()?;
    let way = format!("a mail to {}", arguments.to.join(", "));
    if !agreed(exported, (&way, &text), arguments)? {
        return Ok(false);
    }
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(text.as_bytes())?;
    // Nobody gets the mail but those who were shown.
    let mut words = vec!["--confirm=never".to_owned(), "--suppress-cc=all".to_owned()];
    words.extend(arguments.to.iter().map(|to| format!("--to={to}")));
    let answered = arguments.in_reply_to.iter();
    words.extend(answered.map(|id| format!("--in-reply-to={id}")));
    words.push(file.path().display().to_string());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let send = [&QUIET[..], &["send-email"], &words].concat();
    run(&folder, "git", &send)
        .context("the mail was not sent; git send-email is in Debian's package git-email")?;
    Ok(true)
}

/// Pushes a branch and opens a pull request; false where the person does not want it.
async fn open(
    finished: &Finished,
    exported: &Exported<'_>,
    arguments: &SendArguments,
) -> anyhow::Result<bool> {
    let (folder, remote) = (finished.repository()?, &arguments.remote);
    let git = Git::new(&folder);
    let told = git
        .run(&["remote", "get-url", "--push", "--", remote])
        .await;
    let advice = "name another with --remote, or send a mail with --to";
    let url = told.map_err(|error| WrongInput(format!("{error:#}; {advice}")))?;
    let text = text("pull_request.md", exported, "")?;
    let (title, body) = text.split_once("\n\n").unwrap_or((&text, ""));
    let diff = exported.attempt.delivered_bytes();
    let shown = format!("{text}\n{}", String::from_utf8_lossy(&diff));
    let kind = if arguments.ready { "" } else { "draft " };
    let to = without_keys(&url);
    let way = format!("a branch to {to}, and a {kind}pull request from it");
    if !agreed(exported, (&way, &shown), arguments)? {
        return Ok(false);
    }
    let (branch, _) = finished.branch(exported).await?;
    let pushed = format!("refs/heads/{branch}:refs/heads/{branch}");
    let push = [&QUIET[..], &["push", "--", remote, &pushed]].concat();
    run(&folder, "git", &push)?;
    let project = project(&url);
    let owner = project.rsplit_once('/').map_or("", |(owner, _)| owner);
    let head = format!("{owner}:{branch}");
    let (program, mut words) = if url.contains("gitlab") {
        let create = ["mr", "create", "--yes", "--description", body];
        let head = ["--head", project, "--source-branch", &branch];
        ("glab", [&create[..], &head].concat())
    } else {
        ("gh", vec!["pr", "create", "--body", body, "--head", &head])
    };
    words.extend(["--title", title]);
    if !arguments.ready {
        words.push("--draft");
    }
    run(&folder, program, &words).with_context(|| {
        format!("{branch} is pushed to {remote}, and no pull request was opened")
    })?;
    Ok(true)
}

/// Shows what is sent and asks whether it goes.
///
/// # Errors
/// Nobody can be asked.
fn agreed(
    exported: &Exported<'_>,
    (way, text): (&str, &str),
    arguments: &SendArguments,
) -> anyhow::Result<bool> {
    let mut out = std::io::stderr();
    let probability = exported.attempt.p_right;
    let probability = probability.map(|p| format!(", P(right) {:.0} %", 100.0 * p));
    let ending = exported.report.ending.clone() + &probability.unwrap_or_default();
    let text = visible(text);
    write!(
        out,
        "{text}\n\nThis sends {way}.\nThe run ended {ending}.\n"
    )?;
    if arguments.yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        let unasked = "nobody can be asked here: look at the text above, and send it with --yes";
        return Err(WrongInput(unasked.to_owned()).into());
    }
    write!(out, "Send it? [y/N] ")?;
    out.flush()?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// The address of a remote without the name and the password that it may have.
fn without_keys(url: &str) -> String {
    if url.contains("://") {
        shown(url)
    } else {
        url.to_owned()
    }
}

/// Owner and name of the project that a remote's address names, as `owner/name`.
fn project(url: &str) -> &str {
    let url = url.trim_end_matches('/');
    let url = url.strip_suffix(".git").unwrap_or(url);
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/'),
        None => url.split_once(':'),
    };
    path.map_or("", |(_, path)| path.trim_matches('/'))
}

/// Runs a program for the person, on the person's terminal and with the person's keys.
fn run(folder: &Path, program: &str, words: &[&str]) -> anyhow::Result<()> {
    let status = Command::new(program)
        .args(words)
        .current_dir(folder)
        .env_clear()
        .envs(person_environment())
        .status()
        .with_context(|| format!("{program} cannot be started: is it installed?"))?;
    anyhow::ensure!(status.success(), "{program} failed: {status}");
    Ok(())
}

/// Checks an address of a mail.
fn address(text: &str) -> Result<String, String> {
    let fine = text.contains('@') && !text.chars().any(char::is_control);
    fine.then(|| text.to_owned())
        .ok_or_else(|| "expected an address, as in name@example.org".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{project, without_keys};

    #[test]
    fn a_remote_names_its_project() {
        for (url, expected) in [
            ("git@github.com:ann/records.git", "ann/records"),
            ("ssh://git@github.com:22/ann/records.git", "ann/records"),
            ("https://gitlab.com/group/sub/records/", "group/sub/records"),
            ("/srv/records.git", ""),
        ] {
            assert_eq!(project(url), expected, "{url}");
        }
    }

    #[test]
    fn keys_of_an_address_are_not_shown() {
        for (url, expected) in [
            (
                "https://ann:key@example.org/a/b.git",
                "https://example.org/a/b.git",
            ),
            ("https://example.org/a/b.git", "https://example.org/a/b.git"),
            ("git@example.org:a/b.git", "git@example.org:a/b.git"),
        ] {
            assert_eq!(without_keys(url), expected);
        }
    }
}
