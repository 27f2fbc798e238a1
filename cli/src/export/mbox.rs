//! A patch as a mail that `git am` takes.

use super::Exported;
use super::message::{mail_body, subject};
use std::fmt::Write;

/// Longest line of a mail (RFC 5322, without the line break).
const LINE: usize = 998;
/// The hash that stands for no commit.
const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

/// Writes the mail with one patch; `time` is when the run began.
///
/// # Errors
/// The time has no form in a mail, since it lies before the year 0, or a template does
/// not fit the report.
pub(crate) fn mail(exported: &Exported<'_>, time: jiff::Timestamp) -> anyhow::Result<String> {
    let date = jiff::fmt::rfc2822::to_string(&time.to_zoned(jiff::tz::TimeZone::UTC))?;
    Ok(letter(&Letter {
        commit: NO_COMMIT,
        author: &exported.signatures.author(),
        date: &date,
        subject: &format!("[PATCH] {}", subject(exported)),
        body: mail_body(exported)?.as_bytes(),
    }))
}

/// Parts of a mail, each header on one line.
pub(crate) struct Letter<'a> {
    pub(crate) commit: &'a str,
    pub(crate) author: &'a str,
    pub(crate) date: &'a str,
    pub(crate) subject: &'a str,
    pub(crate) body: &'a [u8],
}

/// Puts a mail together.
pub(crate) fn letter(letter: &Letter<'_>) -> String {
    let Letter {
        commit,
        author,
        date,
        subject,
        body,
    } = letter;
    let is_plain = |body: &&str| {
        let mut lines = body.lines();
        !body.contains('\r') && lines.all(|line| line.len() <= LINE && !line.starts_with("From "))
    };
    let (encoding, body) = match std::str::from_utf8(body).ok().filter(is_plain) {
        Some(plain) => ("8bit", plain.to_owned()),
        None => ("quoted-printable", quoted_printable(body)),
    };
    format!(
        "From {commit} Mon Sep 17 00:00:00 2001\n\
         From: {author}\n\
         Date: {date}\n\
         Subject: {subject}\n\
         MIME-Version: 1.0\n\
         Content-Type: text/plain; charset=UTF-8\n\
         Content-Transfer-Encoding: {encoding}\n\
         \n\
         {body}\n"
    )
}

/// The encoding that keeps carriage returns and long lines as they are.
fn quoted_printable(body: &[u8]) -> String {
    let mut text = String::new();
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let (content, end) = match line.strip_suffix(b"\n") {
            Some(content) => (content, "\n"),
            None => (line, ""),
        };
        let mut width = 0;
        for (at, &byte) in content.iter().enumerate() {
            let last = at + 1 == content.len();
            let from = at == 0 && content.starts_with(b"From ");
            let plain = matches!(byte, b'!'..=b'<' | b'>'..=b'~') && !from
                || matches!(byte, b' ' | b'\t') && !last;
            if width > 70 {
                text.push_str("=\n");
                width = 0;
            }
            if plain {
                text.push(char::from(byte));
                width += 1;
            } else {
                let _ = write!(text, "={byte:02X}");
                width += 3;
            }
        }
        text.push_str(end);
    }
    text
}
