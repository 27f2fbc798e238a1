//! A model endpoint on loopback whose answers a test writes.
//!
//! It speaks OpenAI's chat completions and responses, streamed and plain, keeps
//! every request it got, and can misbehave in all the ways of [`Misbehaviour`].
//! It runs on a thread of its own, so that tests of a child process can use it as
//! well as asynchronous ones, and stops when it is dropped.

use std::{
    collections::VecDeque,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, Response, Uri},
};
use serde_json::{Value, json};
use tokio::sync::oneshot;

mod misbehaviour;
mod plan;
mod wire;

pub use misbehaviour::Misbehaviour;
use plan::{Plan, Step};
pub use wire::Dialect;
use wire::Said;

/// The status of a request after the end of the script. That is a mistake of the
/// test, so it is not a status that a client retries.
const OVER: u16 = 418;

/// The answer to one request.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A reply with this text.
    Text(String),
    /// A misbehaviour, with the text that the reply has as far as there is one.
    Odd(Misbehaviour, String),
    /// A status and this JSON, for interfaces other than a chat.
    Json(u16, Value),
    /// The same, but later.
    After(Duration, Box<Answer>),
}

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Misbehaviour> for Answer {
    fn from(misbehaviour: Misbehaviour) -> Self {
        Self::Odd(misbehaviour, "grüße, a reply that is fine".to_owned())
    }
}

/// One request that the endpoint got.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Path and query.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Asked {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Role and text of every message, whichever interface was used.
    pub fn messages(&self) -> Vec<(String, String)> {
        let list = self.body.get("messages").or_else(|| self.body.get("input"));
        let list = list.and_then(Value::as_array).into_iter().flatten();
        list.map(|message| {
            let role = message.get("role").and_then(Value::as_str);
            let text = message.get("content").map(content).unwrap_or_default();
            (role.unwrap_or_default().to_owned(), text)
        })
        .collect()
    }

    /// The text of the last message.
    pub fn last(&self) -> String {
        self.messages()
            .pop()
            .map(|(_, text)| text)
            .unwrap_or_default()
    }

    /// Counts the replies in this conversation so far.
    pub fn replies(&self) -> usize {
        let messages = self.messages();
        let replies = messages.iter().filter(|(role, _)| role == "assistant");
        replies.count()
    }

    fn dialect(&self) -> Dialect {
        if self.path.contains("/responses") {
            Dialect::Responses
        } else {
            Dialect::Chat
        }
    }

    fn said(&self, text: &str) -> Said {
        let model = self.body.get("model").and_then(Value::as_str);
        let bytes = self.messages().iter().map(|(_, text)| text.len()).sum();
        Said::new(model.unwrap_or("scripted"), text, bytes)
    }
}

fn content(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect()
        }
        _ => String::new(),
    }
}

type Author = Box<dyn FnMut(&Asked) -> Option<Answer> + Send>;

struct Shared {
    author: Mutex<Author>,
    asked: Mutex<Vec<Asked>>,
}

/// The endpoint.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl ScriptedModel {
    /// Gives the answers in their order, one a request, and status 418 when there
    /// are no more.
    ///
    /// # Errors
    /// No port on loopback can be opened.
    pub fn start<A: Into<Answer>>(answers: impl IntoIterator<Item = A>) -> io::Result<Self> {
        let mut answers: VecDeque<Answer> = answers.into_iter().map(Into::into).collect();
        Self::serve(Box::new(move |_| answers.pop_front()))
    }

    /// Lets `author` write each answer, given the request.
    ///
    /// # Errors
    /// No port on loopback can be opened.
    pub fn answering(author: impl FnMut(&Asked) -> Answer + Send + 'static) -> io::Result<Self> {
        let mut author = author;
        Self::serve(Box::new(move |asked| Some(author(asked))))
    }

    fn serve(author: Author) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            author: Mutex::new(author),
            asked: Mutex::new(Vec::new()),
        });
        let (stop, stopped) = oneshot::channel();
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let thread = std::thread::spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
                    return;
                };
                tokio::select! {
                    _ = axum::serve(listener, router) => {}
                    _ = stopped => {}
                }
            });
        });
        Ok(Self {
            address,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Returns the value for `model.base_url`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Asked> {
        lock(&self.shared.asked).clone()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    if uri.path().ends_with("/models") {
        let list = json!({ "object": "list", "data": [{ "id": "scripted", "object": "model" }] });
        return Plan::json(200, &list).into_response();
    }
    let asked = Asked {
        path: uri.to_string(),
        headers: headers
            .iter()
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                (name.as_str().to_owned(), value)
            })
            .collect(),
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    let written = (lock(&shared.author))(&asked);
    let plan = match written {
        Some(answer) => plan_for(&asked, answer),
        None => Plan::json(OVER, &json!({ "error": "the script is over" })),
    };
    lock(&shared.asked).push(asked);
    plan.into_response()
}

fn plan_for(asked: &Asked, answer: Answer) -> Plan {
    let dialect = asked.dialect();
    let streamed = asked.body.get("stream") == Some(&Value::Bool(true));
    match answer {
        Answer::Text(text) => Plan::good(&asked.said(&text), dialect, streamed),
        Answer::Odd(misbehaviour, text) => {
            let key = asked.header("authorization").unwrap_or_default();
            let key = key.trim_start_matches("Bearer ");
            misbehaviour.plan(&asked.said(&text), key, (dialect, streamed))
        }
        Answer::Json(status, value) => Plan::json(status, &value),
        Answer::After(time, answer) => {
            let mut plan = plan_for(asked, *answer);
            plan.steps.insert(0, Step::Wait(time));
            plan
        }
    }
}
