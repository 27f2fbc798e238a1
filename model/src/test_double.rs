//! A model that says what a test tells it to, for the unit tests beside it.

use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;

use crate::{Finish, Message, Model, Reply, Request, Result, Usage};

/// Answers in the given order and remembers what it was asked.
#[derive(Debug)]
pub(crate) struct Script {
    name: String,
    answers: Mutex<Vec<Result<Reply>>>,
    requests: Mutex<Vec<Request>>,
}

impl Script {
    pub(crate) fn new(name: &str, answers: Vec<Result<Reply>>) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            answers: Mutex::new(answers),
            requests: Mutex::new(Vec::new()),
        })
    }

    pub(crate) fn asked(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Model for Script {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply>> {
        async move {
            self.requests.lock().unwrap().push(request.clone());
            self.answers.lock().unwrap().remove(0)
        }
        .boxed()
    }
}

pub(crate) fn question() -> Request {
    Request {
        messages: vec![Message::system("rules"), Message::user("why?")],
        max_output_tokens: 100,
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "it is an answer as a model gives it"
)]
pub(crate) fn hello() -> Result<Reply> {
    Ok(Reply {
        text: "hello".to_owned(),
        finish: Finish::Stop,
        usage: Usage::default(),
        model: "m".to_owned(),
    })
}
