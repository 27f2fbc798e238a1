//! `patchwright send`: a patch as a draft pull request of its forge, or as a mail, after one look
//! and one yes.
//!
//! The person's own programs send it, with the person's own keys: `git push` with `gh` or `glab`,
//! or `git send-email`. Nothing else is asked of a network here.

use super::export::{self, Chosen, Finished};
use crate::common::{Common, WrongInput};
use crate::export::{Exported, mail, pull_request};
use crate::git::{Git, QUIET};
use anyhow::Context;
use clap::Args;
use patchwright_config::person_environment;
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
    let (finished, _) = export::finished(common, arguments.chosen.run.as_deref()).await?;
    let exported = finished.exported(&arguments.chosen).await?;
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
    let folder = finished.repository(&arguments.chosen)?;
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
    run(
        &folder,
        "git",
        &[&QUIET[..], &["send-email"], &words[..]].concat(),
    )
    .context("the mail was not sent; git send-email is in Debian's package git-email")?;
    Ok(true)
}

/// Pushes a branch and opens a pull request; false where the person does not want it.
async fn open(
    finished: &Finished,
    exported: &Exported<'_>,
    arguments: &SendArguments,
) -> anyhow::Result<bool> {
    let (folder, remote) = (finished.repository(&arguments.chosen)?, &arguments.remote);
    let told = Git::new(&folder)
        .run(&["remote", "get-url", "--push", "--", remote])
        .await;
    let url = told.map_err(|error| {
        WrongInput(format!(
            "{error:#}; name another with --remote, or send a mail with --to"
        ))
    })?;
    let text = pull_request(exported)?;
    let (title, body) = text.split_once("\n\n").unwrap_or((&text, ""));
    let diff = exported.attempt.delivered_bytes();
    let shown = format!("{text}\n{}", String::from_utf8_lossy(&diff));
    let kind = if arguments.ready { "" } else { "draft " };
    let way = format!(
        "a branch to {}, and a {kind}pull request from it",
        without_keys(&url)
    );
    if !agreed(exported, (&way, &shown), arguments)? {
        return Ok(false);
    }
    let (branch, _) = finished.branch(exported, &arguments.chosen).await?;
    let pushed = format!("refs/heads/{branch}:refs/heads/{branch}");
    run(
        &folder,
        "git",
        &[&QUIET[..], &["push", "--", remote, &pushed]].concat(),
    )?;
    let owner_and_name = project(&url);
    let owner = owner_and_name
        .rsplit_once('/')
        .map_or("", |(owner, _)| owner);
    let head = format!("{owner}:{branch}");
    let (program, words) = if url.contains("gitlab") {
        let head = ["--head", owner_and_name, "--source-branch", &branch];
        (
            "glab",
            [&["mr", "create", "--yes", "--description", body][..], &head].concat(),
        )
    } else {
        ("gh", vec!["pr", "create", "--body", body, "--head", &head])
    };
    let draft: &[&str] = if arguments.ready { &[] } else { &["--draft"] };
    run(
        &folder,
        program,
        &[&words[..], &["--title", title], draft].concat(),
    )
    .with_context(|| format!("{branch} is pushed to {remote}, and no pull request was opened"))?;
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
    let ending = format!(
        "{}{}",
        exported.report.ending,
        probability.unwrap_or_default()
    );
    write!(
        out,
        "{}\n\nThis sends {way}.\nThe run ended {ending}.\n",
        visible(text)
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
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit('@').next().unwrap_or(host);
    format!("{scheme}://{host}/{path}")
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
