//! One exchange over HTTP, guarded: every wait is bounded, every answer that is
//! not a reply is sorted into a [`ModelError`], and what is handed on is valid
//! UTF-8 of bounded length. Knows nothing of what the events mean.

mod slot;
pub(super) use slot::Slot;

use super::failure;
use super::wire::KEPT;
use crate::{ModelError, Result};
use encoding_rs::{Decoder, UTF_8};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use patchwright_config::{Timeouts, write_duration};
use reqwest::{Request, Response};
use std::time::Duration;
use tokio::time::timeout;

/// The most bytes of one answer, frames and all. A token of four bytes comes in
/// an event of about 250, so this is enough for a megabyte of text.
const WIRE_LIMIT: usize = 96 * 1024 * 1024;
/// The most bytes of an answer that only tells what went wrong.
const ERROR_LIMIT: usize = 64 * 1024;

/// Settings of one exchange.
#[derive(Debug, Clone)]
pub(super) struct Exchange {
    pub(super) client: reqwest::Client,
    pub(super) timeouts: Timeouts,
    pub(super) base_url: String,
    pub(super) slot: Slot,
}

type Pieces = BoxStream<'static, Result<Vec<u8>>>;

impl Exchange {
    /// Sends the request and returns an answer whose body is a guarded stream of
    /// events.
    pub(super) async fn send(self, request: Request) -> Result<Response> {
        let opened = timeout(self.timeouts.first_byte, self.open(request)).await;
        let (response, first, rest) = match opened {
            Ok(opened) => opened?,
            Err(_) => return Err(self.late()),
        };
        let beginning = String::from_utf8_lossy(&first);
        if failure::is_html(response.headers(), &beginning) {
            return Err(failure::html());
        }
        if beginning.trim_start().starts_with(['{', '[']) {
            let event = self.whole_reply(first, rest).await?;
            return as_response(stream::iter([Ok(event)]).boxed());
        }
        as_response(self.guarded(first, rest))
    }

    /// Up to and with the first piece of the body.
    async fn open(&self, request: Request) -> Result<(http::Response<()>, Vec<u8>, Pieces)> {
        self.slot.record(|tape| {
            let body = request.body().and_then(reqwest::Body::as_bytes);
            tape.sent = body.unwrap_or_default().to_vec();
        });
        let sent = self.client.execute(request).await;
        let response = sent.map_err(|error| {
            if error.is_connect() {
                self.slot.cost_nothing();
            }
            failure::of_connection(&error, &self.base_url)
        })?;
        let status = response.status();
        let mut head = http::Response::new(());
        *head.headers_mut() = response.headers().clone();
        let (base_url, slot) = (self.base_url.clone(), self.slot.clone());
        slot.record(|tape| tape.status = Some(status.as_u16()));
        let mut pieces: Pieces = response
            .bytes_stream()
            .map(move |piece| match piece {
                Ok(bytes) => {
                    slot.record(|tape| {
                        let room = KEPT.saturating_sub(tape.received.len()).min(bytes.len());
                        tape.received.extend(bytes.iter().take(room));
                    });
                    Ok(bytes.to_vec())
                }
                Err(error) => Err(failure::of_connection(&error, &base_url)),
            })
            .boxed();
        if !status.is_success() {
            self.slot.cost_nothing();
            let body = read_some(&mut pieces, ERROR_LIMIT).await;
            return Err(failure::of_status(status, head.headers(), &body));
        }
        loop {
            match pieces.next().await {
                Some(Ok(piece)) if piece.is_empty() => {}
                Some(Ok(piece)) => {
                    self.slot.begin();
                    return Ok((head, piece, pieces));
                }
                Some(Err(error)) => return Err(error),
                None => return Err(ModelError::retry("the endpoint sent an empty answer")),
            }
        }
    }

    /// An answer in one piece of JSON, as one event.
    async fn whole_reply(&self, first: Vec<u8>, mut rest: Pieces) -> Result<Vec<u8>> {
        let mut body = first;
        while let Some(piece) = self.next(&mut rest).await {
            body.extend_from_slice(&piece?);
            if body.len() > WIRE_LIMIT {
                return Err(too_much());
            }
        }
        let text = String::from_utf8_lossy(&body);
        let value: serde_json::Value = serde_json::from_str(&text)
            .map_err(|_| ModelError::retry("the reply broke off in the middle, or is not JSON"))?;
        Ok(format!("data: {value}\n\ndata: [DONE]\n\n").into_bytes())
    }

    fn guarded(self, first: Vec<u8>, rest: Pieces) -> BoxStream<'static, Piece> {
        let start = Guarded {
            exchange: self,
            rest,
            utf8: UTF_8.new_decoder_without_bom_handling(),
            waiting: Some(first),
            taken: 0,
        };
        stream::unfold(start, |mut state| async move {
            let piece = state.next().await?;
            Some((piece, state))
        })
        .boxed()
    }

    async fn next(&self, rest: &mut Pieces) -> Option<Result<Vec<u8>>> {
        match timeout(self.timeouts.silence, rest.next()).await {
            Ok(piece) => piece,
            Err(_) => Some(Err(ModelError::retry(format!(
                "the endpoint fell silent in the middle of its reply for {} \
                 (model.timeouts.silence)",
                write_duration(self.timeouts.silence)
            )))),
        }
    }

    fn late(&self) -> ModelError {
        late(
            "the endpoint did not begin to answer",
            "first_byte",
            self.timeouts.first_byte,
        )
    }
}

/// A wait that was too long.
pub(super) fn late(what: &str, limit: &str, time: Duration) -> ModelError {
    ModelError::retry(format!(
        "{what} within {} (model.timeouts.{limit})",
        write_duration(time)
    ))
}

fn too_much() -> ModelError {
    ModelError::retry(format!(
        "the endpoint sent more than {} MiB",
        WIRE_LIMIT / 1024 / 1024
    ))
}

async fn read_some(pieces: &mut Pieces, limit: usize) -> String {
    let mut body = Vec::new();
    while let Some(Ok(piece)) = pieces.next().await {
        body.extend_from_slice(&piece);
        if body.len() >= limit {
            body.truncate(limit);
            break;
        }
    }
    String::from_utf8_lossy(&body).into_owned()
}

type Piece = Result<Vec<u8>, std::io::Error>;

/// A body that is being read.
struct Guarded {
    exchange: Exchange,
    rest: Pieces,
    utf8: Decoder,
    waiting: Option<Vec<u8>>,
    taken: usize,
}

impl Guarded {
    async fn next(&mut self) -> Option<Piece> {
        let piece = match self.waiting.take() {
            Some(first) => Ok(first),
            None => self.exchange.next(&mut self.rest).await?,
        };
        let checked = piece.and_then(|bytes| {
            self.taken += bytes.len();
            if self.taken > WIRE_LIMIT {
                return Err(too_much());
            }
            Ok(mended(&mut self.utf8, &bytes))
        });
        Some(checked.map_err(|error| {
            let text = error.to_string();
            self.exchange.slot.put(error);
            std::io::Error::other(text)
        }))
    }
}

fn as_response(pieces: BoxStream<'static, Piece>) -> Result<Response> {
    http::Response::builder()
        .header(reqwest::header::CONTENT_TYPE, "text/event-stream")
        .body(reqwest::Body::wrap_stream(pieces))
        .map(Response::from)
        .map_err(|error| ModelError::fatal(format!("the answer cannot be passed on: {error}")))
}

/// Returns the text of a piece as far as it is finished, with signs in the place of what is not
/// UTF-8.
fn mended(decoder: &mut Decoder, bytes: &[u8]) -> Vec<u8> {
    let room = decoder.max_utf8_buffer_length(bytes.len());
    let mut text = String::with_capacity(room.unwrap_or_default());
    let _ = decoder.decode_to_string(bytes, &mut text, false);
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mend_in_pieces(bytes: &[u8], size: usize) -> String {
        let mut utf8 = UTF_8.new_decoder_without_bom_handling();
        let text: Vec<u8> = bytes
            .chunks(size)
            .flat_map(|piece| mended(&mut utf8, piece))
            .collect();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn characters_may_be_torn_apart_and_garbage_is_replaced() {
        let text = "größer 漢字 🦀";
        for size in 1..8 {
            assert_eq!(mend_in_pieces(text.as_bytes(), size), text);
            assert_eq!(mend_in_pieces(b"a\xff\xfeb", size), "a\u{fffd}\u{fffd}b");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_become_text(bytes in proptest::collection::vec(any::<u8>(), 0..200), size in 1_usize..9) {
            let mended = mend_in_pieces(&bytes, size);
            let whole = String::from_utf8_lossy(&bytes);
            // An unfinished character at the very end is still waited for.
            prop_assert!(whole.starts_with(mended.as_str()));
        }
    }
}
