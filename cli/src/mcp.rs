//! The code search as a server of the Model Context Protocol: every kind of
//! query, the context of a request and the reading of a crash report, for the
//! agents and editors that people already use.
//!
//! The search only reads: nothing is built or run, nothing is written outside the
//! cache, and a model is asked only where the settings want its words. With a task,
//! `judge` builds and runs a patch by the task's own commands, in the sandbox. What a
//! tool is called and takes stands in `tools`.

mod judge;
mod tools;

pub(crate) use judge::Judge;

use patchwright_agent::drive::{open_engine, request_of};
use patchwright_agent::signals::Signals;
use patchwright_config::Settings;
use patchwright_retrieval::{Engine, Memory, Miss, Query};
use patchwright_run::engine_settings;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt};
use rmcp::{ErrorData, transport};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tools::{Call, Tools};

/// Instructions for an agent about the server as a whole.
const INSTRUCTIONS: &str = "Finds code in one source tree through an index of its definitions, references and calls. \
    Start with `context` for a request in words or a crash report, `symbol` for a name, `search` for words. Every answer \
    carries paths and line numbers; a query without a hit says why and names what is nearest. The tree is only read.";

/// Looking for changes takes at most this share of the time: one look of 10 ms
/// is good for 100 ms.
const REST: u32 = 10;

/// An engine that is kept open.
#[derive(Debug)]
struct Open {
    engine: Arc<Engine>,
    /// When the tree was last looked at, and how long that took.
    looked: Instant,
    took: Duration,
}

/// A server for one tree.
#[derive(Debug, Clone)]
pub(crate) struct CodeServer {
    tree: PathBuf,
    settings: Arc<Settings>,
    /// The index of the tree, which is kept open.
    open: Arc<tokio::sync::Mutex<Option<Open>>>,
    /// The questions so far, for `more`.
    memory: Arc<Mutex<Memory>>,
    signals: Arc<Signals>,
    judge: Option<Arc<Judge>>,
    tools: Arc<Tools>,
}

/// The tool that judges a patch.
const JUDGE: &str = "judge";
/// Instructions about it.
const JUDGING: &str = " `judge` builds a patch, runs the crashing inputs and the tests on it, and attacks it; \
    it takes minutes. Call it before you say that a crash is fixed.";

/// Serves a tree over standard input and output until the client hangs up.
///
/// # Errors
/// The client did not speak the protocol, or the connection broke.
pub(crate) async fn serve(
    tree: PathBuf,
    settings: Settings,
    (signals, judge): (Signals, Option<Judge>),
) -> anyhow::Result<()> {
    let server = CodeServer {
        tree,
        settings: Arc::new(settings),
        open: Arc::default(),
        memory: Arc::default(),
        signals: Arc::new(signals),
        judge: judge.map(Arc::new),
        tools: Arc::new(Tools::read_table()?),
    };
    // The index is ready, or the reason known, before the first question.
    if let Err(reason) = server.engine().await {
        anyhow::bail!("the code index cannot be used: {reason}");
    }
    let running = Box::pin(server.serve(transport::stdio())).await?;
    running.waiting().await?;
    Ok(())
}

impl CodeServer {
    async fn call(&self, name: &str, arguments: Map<String, Value>) -> Result<String, String> {
        let call = self.tools.read(name, &arguments)?;
        let engine = self.engine().await?;
        if let Some(words) = call.words(&engine) {
            // What is left out is in the log: an agent cannot mend it.
            self.signals.consult(&engine, &words).await;
        }
        let server = self.clone();
        tokio::task::spawn_blocking(move || server.answer(&engine, &call))
            .await
            .map_err(|error| format!("the search ended early: {error}"))?
    }

    fn answer(&self, engine: &Engine, call: &Call) -> Result<String, String> {
        match call.kind.as_str() {
            "context" => {
                let budget = call
                    .budget()
                    .unwrap_or(self.settings.retrieval.context_tokens);
                let context = engine.context(&request_of(&call.body, budget));
                Ok(context.map_err(|error| error.to_string())?.render())
            }
            "crash" => crate::crash_text::describe(&call.body, Some(engine.tree()))
                .ok_or_else(|| "no crash report in this text".to_owned()),
            kind => {
                let query = Query::read(kind, &call.body, &call.attributes)?;
                self.ask(engine, &query)
            }
        }
    }

    /// Answers a query; what cannot be answered as it is written is an error.
    fn ask(&self, engine: &Engine, query: &Query) -> Result<String, String> {
        let query = self.memory().expand(query);
        let answer = engine.answer(&query);
        let wrong = matches!(
            answer.miss,
            Some(Miss::Bad(_) | Miss::Outside(_) | Miss::Unreadable(_) | Miss::Stopped(_))
        );
        let mut memory = self.memory();
        let text = memory.render(1, &[answer]);
        // An agent forgets what it was told, and the tree changes under it: only
        // the numbers of the questions are worth keeping.
        memory.keep_questions();
        if wrong { Err(text) } else { Ok(text) }
    }

    /// The engine, after a look at what changed in the tree: people edit while they ask.
    async fn engine(&self) -> Result<Arc<Engine>, String> {
        let mut open = self.open.lock().await;
        let is_recent = |open: &&Open| open.looked.elapsed() < open.took.saturating_mul(REST);
        if let Some(open) = open.as_ref().filter(is_recent) {
            return Ok(Arc::clone(&open.engine));
        }
        let (tree, settings) = (self.tree.clone(), Arc::clone(&self.settings));
        let started = Instant::now();
        let fresh = tokio::task::spawn_blocking(move || {
            let cache = settings.cache.folder.join("index");
            open_engine(&tree, &cache, engine_settings(&settings.retrieval))
        })
        .await
        .map_err(|error| error.to_string())?
        .map_err(|error| format!("{:#}", anyhow::Error::from(error)))?;
        let took = started.elapsed();
        // What an engine has worked out so far is worth keeping.
        let engine = match open.take() {
            Some(old) if old.engine.sees_the_same(&fresh) => old.engine,
            _ => Arc::new(fresh),
        };
        *open = Some(Open {
            engine: Arc::clone(&engine),
            looked: Instant::now(),
            took,
        });
        Ok(engine)
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    /// The words that optional signals can help with.
    fn words(&self, engine: &Engine) -> Option<String> {
        match self.kind.as_str() {
            "search" => Some(self.body.clone()),
            // Where the index fails, the context itself says so.
            "context" => engine.words_of(&request_of(&self.body, 0)).ok(),
            _ => None,
        }
    }
}

/// Judges a patch, and tells the client of each step where it wants to know.
async fn judged(
    (judge, tools): (&Judge, &Tools),
    arguments: &Map<String, Value>,
    context: RequestContext<RoleServer>,
) -> Result<String, String> {
    let call = tools.read(JUDGE, arguments)?;
    let (tell, mut told) = mpsc::unbounded_channel();
    let token = context.meta.get_progress_token();
    let telling = async {
        let mut done = 0.0;
        while let Some(step) = told.recv().await {
            let Some(token) = token.clone() else { continue };
            done += 1.0;
            let progress = ProgressNotificationParam::new(token, done).with_message(step);
            // A client that is gone is noticed elsewhere.
            let _ = context.peer.notify_progress(progress).await;
        }
    };
    // On the heap: what waits for a whole run is large.
    let judged = Box::pin(judge.judge(&call.body, tell, context.ct.clone()));
    tokio::join!(judged, telling).0
}

impl ServerHandler for CodeServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(
                "patchwright",
                env!("CARGO_PKG_VERSION"),
            ))
            .with_instructions(match self.judge {
                Some(_) => format!("{INSTRUCTIONS}{JUDGING}"),
                None => INSTRUCTIONS.to_owned(),
            })
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.list(self.judge.is_some());
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !self.tools.has(&request.name) || (request.name == JUDGE && self.judge.is_none()) {
            let text = format!("there is no tool {}", request.name);
            return Err(ErrorData::invalid_params(text, None));
        }
        let arguments = request.arguments.unwrap_or_default();
        let answered = match &self.judge {
            Some(judge) if request.name == JUDGE => {
                Box::pin(judged((judge, &self.tools), &arguments, context)).await
            }
            _ => self.call(&request.name, arguments).await,
        };
        Ok(match answered {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(reason) => CallToolResult::error(vec![ContentBlock::text(reason)]),
        }
        .into())
    }
}
