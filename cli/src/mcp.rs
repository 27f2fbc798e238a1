//! The code search as a server of the Model Context Protocol: every kind of
//! query, the context of a request and the reading of a crash report, for the
//! agents and editors that people already use.
//!
//! The search only reads: nothing is built or run, nothing is written outside the
//! cache, and a model is asked only where the settings want its words. With a task,
//! `judge` builds and runs a patch by the task's own commands, in the sandbox. What a
//! tool is called and takes stands in `tools`.

mod judge;
mod kept;
mod tools;

pub(crate) use judge::Judge;
pub(crate) use kept::ServedTree;

use kept::Kept;
use patchwright_agent::drive::request_of;
use patchwright_agent::signals::Signals;
use patchwright_retrieval::{Engine, Memory, Miss, Query};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt};
use rmcp::{ErrorData, transport};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use tools::{Call, Tools};

/// Instructions for an agent about the server as a whole.
const INSTRUCTIONS: &str = "Finds code in one source tree through an index of its definitions, references and calls. \
    Start with `context` for a request in words or a crash report, `symbol` for a name, `search` for words. Every answer \
    carries paths and line numbers; a query without a hit says why and names what is nearest. The tree is only read.";

/// A server for one tree.
#[derive(Debug, Clone)]
pub(crate) struct CodeServer {
    kept: Arc<Kept>,
    /// The questions so far, for `more`.
    memory: Arc<Mutex<Memory>>,
    signals: Arc<Signals>,
    context_tokens: usize,
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
    place: ServedTree,
    (signals, judge): (Signals, Option<Judge>),
    context_tokens: usize,
) -> anyhow::Result<()> {
    let server = CodeServer {
        kept: Arc::new(Kept::new(place)),
        memory: Arc::default(),
        signals: Arc::new(signals),
        context_tokens,
        judge: judge.map(Arc::new),
        tools: Arc::new(Tools::read_table()?),
    };
    // The index is ready, or the reason known, before the first question.
    if let Err(reason) = server.kept.engine().await {
        anyhow::bail!("the code index cannot be used: {reason}");
    }
    let running = Box::pin(server.serve(transport::stdio())).await?;
    running.waiting().await?;
    Ok(())
}

impl CodeServer {
    async fn call(&self, name: &str, arguments: Map<String, Value>) -> Result<String, String> {
        let call = self.tools.read(name, &arguments)?;
        let engine = self.kept.engine().await?;
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
                let budget = call.budget().unwrap_or(self.context_tokens);
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
