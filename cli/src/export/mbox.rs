//! A patch as a mail that `git am` takes.

use super::Exported;
use super::message::{mail_body, subject};
use std::fmt::Write;

/// Longest line of a mail (RFC 5322, without the line break).
const LINE: usize = 998;

/// Writes the mail with one patch; `time` is when the run began.
///
/// # Errors
/// The time has no form in a mail, since it lies before the year 0, or a template does
/// not fit the report.
pub(crate) fn mail(exported: &Exported<'_>, time: jiff::Timestamp) -> anyhow::Result<String> {
    let date = jiff::fmt::rfc2822::to_string(&time.to_zoned(jiff::tz::TimeZone::UTC))?;
    let body = mail_body(exported)?;
    let plain = !body.contains('\r')
        && body
            .lines()
            .all(|line| line.len() <= LINE && !line.starts_with("From "));
    let (encoding, body) = if plain {
        ("8bit", body)
    } else {
        ("quoted-printable", quoted_printable(&body))
    };
    let author = exported.signatures.author();
    Ok(format!(
        "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n\
         From: {author}\n\
         Date: {}\n\
         Subject: [PATCH] {}\n\
         MIME-Version: 1.0\n\
         Content-Type: text/plain; charset=UTF-8\n\
         Content-Transfer-Encoding: {encoding}\n\
         \n\
         {body}\n",
        date,
        subject(exported)
    ))
}

/// The encoding that keeps carriage returns and long lines as they are.
fn quoted_printable(body: &str) -> String {
    let mut text = String::new();
    for line in body.split_inclusive('\n') {
        let (content, end) = match line.strip_suffix('\n') {
            Some(content) => (content, "\n"),
            None => (line, ""),
        };
        let mut width = 0;
        for (at, byte) in content.bytes().enumerate() {
            let last = at + 1 == content.len();
            let from = at == 0 && content.starts_with("From ");
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
