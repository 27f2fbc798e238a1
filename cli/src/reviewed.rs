//! Review of a patch as somebody wrote it: a mail, a thread of them, words with quotes, or the
//! comments to a pull request. Its points are the issue of the next attempt, and each is answered
//! by what became of the lines that it quotes.
//!
//! Nothing is sent here. What a reviewer means is the model's to read.

use crate::common::{WrongInput, read_named};
use crate::export;
use crate::issue::{self, Remark};
use anyhow::Context;
use mail_parser::MessageParser;
use mail_parser::mailbox::mbox::MessageIterator;
use patchwright_agent::report::{AttemptReport, Report};
use patchwright_config::Settings;
use serde::Serialize;
use serde_json::json;
use std::path::Path;

/// The most bytes of a review.
const LARGEST: u64 = 16 << 20;
/// Words of a paragraph below which it is a greeting or a name.
const GREETING: usize = 3;
/// Lines of a quotation that say what a point is about.
const QUOTED: usize = 6;

/// A review.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Review {
    /// Whoever wrote it, its subject and its id; empty where it came as no mail.
    from: String,
    subject: String,
    message: String,
    points: Vec<Point>,
}

/// A remark, and the lines that it is about.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Point {
    quoted: Vec<String>,
    text: String,
}

impl Review {
    /// Reads a review from a file, from standard input where that is `-`, or from an address: the
    /// comments to a pull request of a forge, else a mail. Of a thread the last mail is read.
    ///
    /// # Errors
    /// It cannot be read, or it says nothing.
    pub(crate) async fn of(place: &str, settings: &Settings) -> anyhow::Result<Self> {
        let unread = || format!("the review {place} cannot be read");
        let review = if place.starts_with("https://") || place.starts_with("http://") {
            Self::of_address(place, settings)
                .await
                .with_context(unread)?
        } else {
            Self::read(&read_named("review", Path::new(place), LARGEST)?)
        };
        if review.points.is_empty() {
            let empty = format!("the review {place} has no remark of its own");
            return Err(WrongInput(empty).into());
        }
        Ok(review)
    }

    async fn of_address(url: &str, settings: &Settings) -> anyhow::Result<Self> {
        let Some((title, remarks)) = issue::remarks(url, settings).await? else {
            return Ok(Self::read(&issue::bytes(url, settings).await?));
        };
        let of_remark = |remark: &Remark| {
            let lines = remark.lines.lines().skip(1).map(str::to_owned);
            let mut lines: Vec<String> = lines.collect();
            lines.drain(..lines.len().saturating_sub(QUOTED));
            let mut points = points(&remark.text);
            if let Some(first) = points.first_mut().filter(|first| first.quoted.is_empty()) {
                first.quoted = lines;
            }
            points
        };
        Ok(Self {
            subject: title,
            points: remarks.iter().flat_map(of_remark).collect(),
            ..Self::default()
        })
    }

    fn read(bytes: &[u8]) -> Self {
        let thread = MessageIterator::new(bytes).filter_map(Result::ok).last();
        let last = thread.as_ref().map_or(bytes, |mail| mail.contents());
        let mail = MessageParser::default().parse(last);
        let from = mail.as_ref().and_then(|mail| mail.from()?.first());
        let (Some(mail), Some(from)) = (&mail, from) else {
            return Self {
                points: points(&String::from_utf8_lossy(bytes)),
                ..Self::default()
            };
        };
        let body = mail.body_text(0).unwrap_or_default();
        Self {
            from: from.address().unwrap_or_default().to_owned(),
            subject: mail.subject().unwrap_or_default().to_owned(),
            message: mail.message_id().unwrap_or_default().to_owned(),
            points: points(&body),
        }
    }

    /// The review as the issue that the next attempt has to solve.
    pub(crate) fn reason(&self) -> String {
        let point = |(number, point): (usize, &Point)| {
            let quoted = point.quoted.iter().map(|line| format!("> {line}\n"));
            format!("{number}. {}{}", quoted.collect::<String>(), point.text)
        };
        let points: Vec<String> = (1..).zip(&self.points).map(point).collect();
        points.join("\n\n")
    }

    /// Answers each point, as a mail where the review was one.
    ///
    /// # Errors
    /// The template does not fit the report.
    pub(crate) fn answer(&self, old: &AttemptReport, report: &Report) -> anyhow::Result<String> {
        let new = report.best.as_ref();
        let points = self.points.iter().map(|point| {
            let answer = became(&point.quoted, &old.diff, new.map_or("", |new| &new.diff));
            json!({ "quoted": point.quoted, "text": point.text, "answer": answer })
        });
        let values = json!({
            "review": self,
            "points": points.collect::<Vec<_>>(),
            "report": report,
            "told": export::ending(report),
            "attempt": new,
        });
        Ok(export::render("answer.txt", &values)?)
    }
}

/// Splits a text into its points: what stands below a quotation, or without any each paragraph.
fn points(text: &str) -> Vec<Point> {
    let signature = text.lines().take_while(|line| line.trim_end() != "--");
    let lines: Vec<&str> = signature.collect();
    let has_quotes = lines.iter().any(|line| line.starts_with('>'));
    let mut points: Vec<Point> = Vec::new();
    let mut open = Point::default();
    let mut close = |open: &mut Point| {
        let point = std::mem::take(open);
        let text = point.text.trim().to_owned();
        if text.split_whitespace().count() >= GREETING {
            points.push(Point { text, ..point });
        }
    };
    for (at, line) in lines.iter().enumerate() {
        let mut later = lines.iter().skip(at + 1);
        let mut next = || later.find(|line| !line.trim().is_empty());
        let announces =
            line.trim_end().ends_with(':') && next().is_some_and(|next| next.starts_with('>'));
        if let Some(quoted) = line.strip_prefix('>') {
            if !open.text.trim().is_empty() {
                close(&mut open);
            }
            let quoted = quoted.strip_prefix(' ').unwrap_or(quoted);
            open.quoted.push(quoted.trim_end().to_owned());
        } else if line.trim().is_empty() && !has_quotes {
            close(&mut open);
        } else if !announces {
            open.text.push_str(line);
            open.text.push('\n');
        }
        let surplus = open.quoted.len().saturating_sub(QUOTED);
        open.quoted.drain(..surplus);
    }
    close(&mut open);
    points
}

/// Says what became of the lines of the old patch that a point quotes.
fn became(quoted: &[String], old: &str, new: &str) -> String {
    let added = |diff: &str, line: &str| diff.lines().any(|known| known.trim_end() == line);
    let is_own = |line: &&str| line.starts_with(['+', '-']) && line.len() > 1 && added(old, line);
    let own = quoted
        .iter()
        .map(|line| line.trim_start_matches(['>', ' ']));
    let own: Vec<&str> = own.filter(is_own).collect();
    let kept = own.iter().filter(|line| added(new, line)).count();
    match (own.len(), kept) {
        _ if new.is_empty() => "No new patch was found.".to_owned(),
        (0, _) => "See the new patch below.".to_owned(),
        (_, 0) => "Changed: none of these lines is in the new patch.".to_owned(),
        (all, kept) if kept < all => {
            format!("Changed: {kept} of these {all} lines are still in the new patch.")
        }
        _ => "Not changed: the new patch has these lines too.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Review, became};

    const MAIL: &str = "From mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: Old <old@example.org>\nSubject: x\n\nfirst mail\n\nFrom mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: Ann Other <ann@example.org>\nSubject: Re: [PATCH] tap: check the length\nMessage-ID: <7@example.org>\nContent-Transfer-Encoding: quoted-printable\n\nHi,\n\nOn Monday, Bob wrote:\n> diff --git a/a.c b/a.c\n> +  if (len > 4)\n\nThis has to be =3D=3D, and why four?\n\n> +    return 0;\n\nThe caller takes 0 for success.\n\n-- \nAnn\n";

    #[test]
    fn the_points_of_the_last_mail_are_read() {
        let review = Review::read(MAIL.as_bytes());
        assert_eq!(review.from, "ann@example.org");
        assert_eq!(review.message, "7@example.org");
        let texts: Vec<&str> = review.points.iter().map(|point| &*point.text).collect();
        assert_eq!(
            texts,
            [
                "This has to be ==, and why four?",
                "The caller takes 0 for success."
            ]
        );
        assert_eq!(review.points[0].quoted[1], "+  if (len > 4)");
        assert!(review.reason().contains("2. > +    return 0;\nThe caller"));
    }

    #[test]
    fn words_without_a_mail_are_points_too() {
        let review = Review::read(
            b"Thanks!\n\nThe limit is wrong for long names.\n\nPlease add a test of it.\n",
        );
        assert_eq!(review.points.len(), 2, "{review:?}");
        assert!(review.from.is_empty());
        assert!(Review::read(b"").points.is_empty());
    }

    #[test]
    fn a_point_is_answered_by_what_became_of_its_lines() {
        let quoted = ["+  if (len > 4)", "+    return 0;"].map(str::to_owned);
        let old = "+  if (len > 4)\n+    return 0;\n";
        for (new, expected) in [
            ("+  if (len > 5)\n+    return 1;\n", "Changed: none"),
            ("+  if (len > 5)\n+    return 0;\n", "Changed: 1 of these 2"),
            (old, "Not changed"),
            ("", "No new patch"),
        ] {
            assert!(became(&quoted, old, new).starts_with(expected), "{new}");
        }
        assert_eq!(became(&[], old, old), "See the new patch below.");
    }
}
