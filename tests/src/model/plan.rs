//! Plan of the endpoint for one request, as data: a status, headers, and steps of
//! sending and waiting.

use std::{collections::VecDeque, time::Duration};

use axum::{body::Body, http::Response};
use futures::stream;
use serde_json::Value;

use super::wire::{Dialect, Said, done, frame};

/// One thing the endpoint does.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// Sends the same piece until nobody listens any more.
    Repeat(Vec<u8>, Duration),
    /// Drops the connection.
    Break,
}

/// An answer to be given.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) steps: Vec<Step>,
}

impl Plan {
    pub(super) fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type", kind.to_owned())],
            steps: vec![Step::Send(body.into())],
        }
    }

    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    pub(super) fn html(status: u16) -> Self {
        let page = "<!DOCTYPE html><html><body><h1>It works!</h1></body></html>";
        Self::new(status, "text/html; charset=utf-8", page)
    }

    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// An event stream of the given steps.
    pub(super) fn stream(steps: Vec<Step>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type", "text/event-stream".to_owned())],
            steps,
        }
    }

    /// An ordinary answer.
    pub(super) fn good(said: &Said, dialect: Dialect, streamed: bool) -> Self {
        if !streamed {
            return Self::json(200, &said.whole(dialect));
        }
        let mut events = said.deltas(dialect, 400);
        events.extend(said.end(dialect));
        let mut steps: Vec<_> = events
            .iter()
            .map(|event| Step::Send(frame(event)))
            .collect();
        steps.push(Step::Send(done()));
        Self::stream(steps)
    }

    /// Carries the plan out while it is read.
    pub(super) fn into_response(self) -> Response<Body> {
        let steps: VecDeque<Step> = self.steps.into();
        let body = stream::unfold(steps, |mut steps| async move {
            loop {
                match steps.pop_front()? {
                    Step::Send(bytes) => return Some((Ok(bytes), steps)),
                    Step::Wait(time) => tokio::time::sleep(time).await,
                    Step::Repeat(bytes, pause) => {
                        tokio::time::sleep(pause).await;
                        steps.push_front(Step::Repeat(bytes.clone(), pause));
                        return Some((Ok(bytes), steps));
                    }
                    Step::Break => {
                        let broken = std::io::Error::other("the connection is dropped on purpose");
                        return Some((Err(broken), steps));
                    }
                }
            }
        });
        let mut response = Response::builder().status(self.status);
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        response
            .body(Body::from_stream(body))
            .unwrap_or_else(|error| Response::new(Body::from(error.to_string())))
    }
}
