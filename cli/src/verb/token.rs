//! `patchwright token`: makes, lists and revokes the tokens of the daemon's
//! callers.

use crate::common::{Common, WrongInput};
use anyhow::Context;
use clap::Subcommand;
use patchwright_store::Store;
use patchwright_store::tokens::{Role, Token};
use std::io::Write;
use std::process::ExitCode;

/// Actions on tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token and print it; it cannot be shown again
    Create {
        /// Name of the token, as in "ci"
        name: String,
        /// Rights of the token: review sees everything, submit also hands tasks in and cancels
        /// them, admin may do everything
        #[arg(long, default_value = "submit", value_parser = ["review", "submit", "admin"])]
        role: String,
        /// Life of the token, as in 90d or 12h; without end when this is not given
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
    },
    /// List the tokens, without showing them
    List,
    /// Take away what a token allows
    Revoke {
        /// The name of the token
        name: String,
    },
}

/// Runs `token`.
///
/// # Errors
/// When the store fails, or a name or time makes no sense.
pub(crate) async fn run(common: &Common, command: TokenCommand) -> anyhow::Result<ExitCode> {
    let (_, store) = common.open().await?;
    match command {
        TokenCommand::Create {
            name,
            role,
            expires,
        } => {
            let role = Role::read(&role).context("the command line names the roles")?;
            create(&store, &name, role, expires.as_deref()).await
        }
        TokenCommand::List => list(&store.tokens().await?),
        TokenCommand::Revoke { name } => match store.revoke_token(&name).await? {
            0 => Err(WrongInput(format!("there is no token {name:?} to revoke")).into()),
            _ => Ok(ExitCode::SUCCESS),
        },
    }
}

async fn create(
    store: &Store,
    name: &str,
    role: Role,
    expires: Option<&str>,
) -> anyhow::Result<ExitCode> {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if !(1..=64).contains(&name.len()) || !name.bytes().all(fine) {
        let message = "the name of a token must be 1 to 64 of A-Z a-z 0-9 . _ -";
        return Err(WrongInput(message.to_owned()).into());
    }
    let expires = expires.map(until).transpose()?;
    let created = store.create_token(name, role, expires).await?;
    let secret = created.ok_or_else(|| {
        WrongInput(format!(
            "there is a token {name:?} already; revoke it first, or choose another name"
        ))
    })?;
    writeln!(std::io::stdout(), "{secret}")?;
    Ok(ExitCode::SUCCESS)
}

/// The time that lies so far ahead. Days are 24 hours.
fn until(text: &str) -> Result<jiff::Timestamp, WrongInput> {
    let reason = "write a time such as 90d, 12h or 30m";
    let days = jiff::SpanRelativeTo::days_are_24_hours();
    let time = || {
        let span: jiff::Span = text.trim().parse().ok()?;
        let ahead = span.to_duration(days).ok()?;
        let time = jiff::Timestamp::now().checked_add(ahead).ok()?;
        (ahead > jiff::SignedDuration::ZERO).then_some(time)
    };
    time().ok_or_else(|| WrongInput(format!("--expires {text}: {reason}")))
}

fn list(tokens: &[Token]) -> anyhow::Result<ExitCode> {
    let now = patchwright_store::now();
    let mut out = std::io::stdout();
    for token in tokens {
        let until = match (&token.revoked, &token.expires) {
            (Some(revoked), _) => format!("revoked {revoked}"),
            (None, Some(expires)) if token.works_at(&now) => format!("until {expires}"),
            (None, Some(expires)) => format!("expired {expires}"),
            (None, None) => "for ever".to_owned(),
        };
        let (name, role) = (&token.name, token.role.as_str());
        writeln!(out, "{name:<24} {role:<7} made {} {until}", token.created)?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::until;

    #[test]
    fn times_ahead_are_read() {
        let now = jiff::Timestamp::now();
        for (text, hours) in [
            ("12h", 12),
            ("90d", 90 * 24),
            ("1w", 7 * 24),
            ("1d 12h", 36),
        ] {
            let found = until(text).unwrap().duration_since(now).as_hours();
            assert!((hours - 1..=hours).contains(&found), "{text}: {found}");
        }
        for bad in ["", "soon", "-1h", "0s", "99999999y"] {
            assert!(until(bad).unwrap_err().0.contains("such as 90d"), "{bad}");
        }
    }
}
