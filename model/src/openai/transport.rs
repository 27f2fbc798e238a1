//! One exchange over HTTP, guarded: every wait is bounded, every answer that is
//! not a reply is sorted into a [`ModelError`], and what is handed on are events
//! of JSON, of bounded length together. Knows nothing of what the events mean.

use super::failure;
use super::wire::{KEPT, Tape};
use crate::{ModelError, Result};
use patchwright_config::{Model, write_duration};
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;

/// The most bytes of one answer, frames and all. A token of four bytes comes in
/// an event of about 250, so this is enough for a megabyte of text.
const WIRE_LIMIT: usize = 96 * 1024 * 1024;
/// The most bytes of an answer that only tells what went wrong.
const ERROR_LIMIT: usize = 64 * 1024;

/// Facts about an exchange that are needed even if it fails or is given up.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The endpoint was not reached, or refused: nobody charges for that.
    pub(super) free: bool,
    /// The first byte of a reply has come.
    pub(super) begun: bool,
    /// Bytes of text so far.
    pub(super) text: usize,
    /// The bytes that went over the wire, if that is wanted.
    pub(super) tape: Option<Tape>,
}

/// An answer whose events are read one by one.
pub(super) struct Answer<'a> {
    response: Response,
    settings: &'a Model,
    pub(super) progress: &'a mut Progress,
    waiting: Waiting,
    /// Bytes that have come in all.
    taken: usize,
    /// True when the answer is a single piece of JSON that was not read yet.
    plain: bool,
}

impl<'a> Answer<'a> {
    /// Sends a request and reads up to the first piece of the answer.
    pub(super) async fn open(
        call: RequestBuilder,
        settings: &'a Model,
        progress: &'a mut Progress,
    ) -> Result<Self> {
        let limit = settings.timeouts.first_byte;
        let opened = timeout(limit, Self::begin(call, settings, progress)).await;
        let what = "the endpoint did not begin to answer";
        opened.unwrap_or_else(|_| Err(late(what, "first_byte", limit)))
    }

    async fn begin(
        call: RequestBuilder,
        settings: &'a Model,
        progress: &'a mut Progress,
    ) -> Result<Self> {
        let response = call.send().await.map_err(|error| {
            progress.free = error.is_connect();
            failure::of_connection(&error, &settings.base_url)
        })?;
        let status = response.status();
        if let Some(tape) = &mut progress.tape {
            tape.status = Some(status.as_u16());
        }
        let mut answer = Self {
            response,
            settings,
            progress,
            waiting: Waiting::default(),
            taken: 0,
            plain: false,
        };
        if !status.is_success() {
            answer.progress.free = true;
            return Err(answer.failure(status).await);
        }
        while answer.waiting.bytes.is_empty() {
            if !answer.take_piece().await? {
                return Err(ModelError::retry("the endpoint sent an empty answer"));
            }
        }
        answer.progress.begun = true;
        let beginning = String::from_utf8_lossy(&answer.waiting.bytes);
        if failure::is_html(answer.response.headers(), &beginning) {
            return Err(failure::html());
        }
        answer.plain = beginning.trim_start().starts_with(['{', '[']);
        Ok(answer)
    }

    /// Reads what an endpoint says of a failure, as far as it comes.
    async fn failure(mut self, status: StatusCode) -> ModelError {
        while self.waiting.bytes.len() < ERROR_LIMIT {
            if !self.take_piece().await.unwrap_or(false) {
                break;
            }
        }
        self.waiting.bytes.truncate(ERROR_LIMIT);
        let body = String::from_utf8_lossy(&self.waiting.bytes);
        failure::of_status(status, self.response.headers(), &body)
    }

    /// Reads the next event; `None` behind the last one.
    pub(super) async fn event(&mut self) -> Result<Option<Value>> {
        if std::mem::take(&mut self.plain) {
            return self.whole_reply().await.map(Some);
        }
        let mut data = Vec::new();
        let mut is_sign_of_life = false;
        while let Some(line) = self.line().await? {
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "data" => data.push(value.to_owned()),
                "event" => is_sign_of_life = value == "keepalive",
                _ => {}
            }
            if !line.is_empty() {
                continue;
            }
            let is_event = !data.is_empty() && !is_sign_of_life;
            let event = std::mem::take(&mut data).join("\n");
            if event == "[DONE]" {
                return Ok(None);
            }
            if is_event {
                let reason = "the endpoint sent an event that is not JSON";
                let read = serde_json::from_str(&event);
                return read.map(Some).map_err(|_| ModelError::retry(reason));
            }
            is_sign_of_life = false;
        }
        Ok(None)
    }

    /// Reads an answer in one piece of JSON.
    async fn whole_reply(&mut self) -> Result<Value> {
        while self.next_piece().await? {}
        let text = String::from_utf8_lossy(&self.waiting.bytes);
        let reason = "the reply broke off in the middle, or is not JSON";
        let reply = serde_json::from_str(&text).map_err(|_| ModelError::retry(reason))?;
        self.waiting = Waiting::default();
        Ok(reply)
    }

    /// Reads the next line, without its end; `None` where the answer ends.
    async fn line(&mut self) -> Result<Option<String>> {
        loop {
            if let Some(line) = self.waiting.line() {
                return Ok(Some(line));
            }
            if !self.next_piece().await? {
                return Ok(None);
            }
        }
    }

    /// Takes the next piece unless it is too long in coming; false behind the last one.
    async fn next_piece(&mut self) -> Result<bool> {
        let silence = self.settings.timeouts.silence;
        let piece = timeout(silence, self.take_piece()).await;
        piece.unwrap_or_else(|_| {
            Err(ModelError::retry(format!(
                "the endpoint fell silent in the middle of its reply for {} \
                 (model.timeouts.silence)",
                write_duration(silence)
            )))
        })
    }

    async fn take_piece(&mut self) -> Result<bool> {
        let piece = self.response.chunk().await;
        let piece =
            piece.map_err(|error| failure::of_connection(&error, &self.settings.base_url))?;
        let Some(piece) = piece else {
            return Ok(false);
        };
        if let Some(tape) = &mut self.progress.tape {
            let room = KEPT.saturating_sub(tape.received.len()).min(piece.len());
            tape.received.extend(piece.iter().take(room));
        }
        self.taken += piece.len();
        if self.taken > WIRE_LIMIT {
            return Err(ModelError::retry(format!(
                "the endpoint sent more than {} MiB",
                WIRE_LIMIT / 1024 / 1024
            )));
        }
        self.waiting.push(&piece);
        Ok(true)
    }
}

/// Bytes that have come, as lines that end with CR, LF or both (WHATWG HTML, 9.2.5).
#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// End of the lines that were taken.
    taken: usize,
    /// Beginning of what was not searched for an end.
    unsearched: usize,
    /// True behind a CR: an LF there belongs to it.
    after_return: bool,
}

impl Waiting {
    fn push(&mut self, piece: &[u8]) {
        self.bytes.drain(..self.taken);
        self.unsearched -= self.taken;
        self.taken = 0;
        self.bytes.extend_from_slice(piece);
    }

    /// Takes the next whole line, without a byte-order mark.
    fn line(&mut self) -> Option<String> {
        if self.after_return
            && let Some(next) = self.bytes.get(self.taken)
        {
            self.taken += usize::from(*next == b'\n');
            self.after_return = false;
        }
        self.unsearched = self.unsearched.max(self.taken);
        let rest = self.bytes.get(self.unsearched..)?;
        let Some(length) = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')) else {
            self.unsearched = self.bytes.len();
            return None;
        };
        let end = self.unsearched + length;
        let line = String::from_utf8_lossy(self.bytes.get(self.taken..end)?);
        let line = line.trim_start_matches('\u{feff}').to_owned();
        self.after_return = self.bytes.get(end) == Some(&b'\r');
        self.taken = end + 1;
        self.unsearched = self.taken;
        Some(line)
    }
}

/// A wait that was too long.
pub(super) fn late(what: &str, limit: &str, time: Duration) -> ModelError {
    ModelError::retry(format!(
        "{what} within {} (model.timeouts.{limit})",
        write_duration(time)
    ))
}

#[cfg(test)]
mod tests {
    use super::Waiting;

    #[test]
    fn lines_end_in_every_way_wherever_they_are_torn() {
        let expected = ["data: a", "", "data: \u{e4}", "", "end"];
        for text in [
            "data: a\n\ndata: \u{e4}\n\nend\nrest",
            "data: a\r\n\r\ndata: \u{e4}\r\n\r\nend\r\nrest",
            "data: a\r\rdata: \u{e4}\r\rend\rrest",
            "\u{feff}data: a\r\r\ndata: \u{e4}\n\r\nend\nrest",
        ] {
            for torn in 0..text.len() {
                let (mut waiting, mut lines) = (Waiting::default(), Vec::new());
                let (first, second) = text.as_bytes().split_at(torn);
                for piece in [first, second] {
                    waiting.push(piece);
                    lines.extend(std::iter::from_fn(|| waiting.line()));
                }
                assert_eq!(lines, expected, "{text:?} torn at {torn}");
            }
        }
    }
}
