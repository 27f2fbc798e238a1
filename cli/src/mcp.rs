//! The code search as a server of the Model Context Protocol: every kind of
//! query, the context of a request and the reading of a crash report, for the
//! agents and editors that people already use.
//!
//! It only reads: nothing is built or run, nothing is written outside the cache,
//! and a model is asked only where the settings want its words. What a tool is
//! called and takes stands in `tools`.

mod kept;
mod tool_table;
mod tools;

pub(crate) use kept::ServedTree;

use kept::Kept;
use patchwright_agent::signals::Charged;
use patchwright_evaluator::crash;
use patchwright_retrieval::{Engine, Memory, Query, Request};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt};
use rmcp::{ErrorData, transport};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, PoisonError};
use tools::{Call, Wish};

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
    signals: Arc<Charged>,
    context_tokens: usize,
}

/// Serves a tree over standard input and output until the client hangs up.
///
/// # Errors
/// The client did not speak the protocol, or the connection broke.
pub(crate) async fn serve(
    place: ServedTree,
    signals: Charged,
    context_tokens: usize,
) -> anyhow::Result<()> {
    let server = CodeServer {
        kept: Arc::new(Kept::new(place)),
        memory: Arc::default(),
        signals: Arc::new(signals),
        context_tokens,
    };
    // The index is ready, or the reason known, before the first question.
    if let Err(reason) = server.kept.engine().await {
        anyhow::bail!("the code index cannot be used: {reason}");
    }
    let running = server.serve(transport::stdio()).await?;
    running.waiting().await?;
    Ok(())
}

impl CodeServer {
    async fn call(&self, name: &str, arguments: Map<String, Value>) -> Result<String, String> {
        let call = tools::read(name, &arguments)?;
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
        match call.wish {
            Wish::Query => {
                let query = Query::read(&call.kind, &call.body, &call.attributes)
                    .map_err(|error| error.to_string())?;
                Ok(self.ask(engine, &query))
            }
            Wish::Context { budget } => {
                let budget = budget.unwrap_or(self.context_tokens);
                Ok(engine.context(&request(&call.body, budget)).render())
            }
            Wish::Crash => crate::crash_text::describe(&call.body, Some(engine.tree()))
                .ok_or_else(|| "no crash report in this text".to_owned()),
        }
    }

    fn ask(&self, engine: &Engine, query: &Query) -> String {
        let query = self.memory().expand(query);
        let answer = engine.answer(&query);
        let mut memory = self.memory();
        let text = memory.render(1, &[answer]);
        // An agent forgets what it was told, and the tree changes under it: only
        // the numbers of the questions are worth keeping.
        memory.keep_questions();
        text
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    /// The words that optional signals can help with.
    fn words(&self, engine: &Engine) -> Option<String> {
        match self.wish {
            Wish::Query => (self.kind == "search").then(|| self.body.clone()),
            Wish::Context { .. } => Some(engine.words_of(&request(&self.body, 0))),
            Wish::Crash => None,
        }
    }
}

/// A request in words, or the crash report that a text holds.
fn request(text: &str, budget: usize) -> Request {
    let report = crash::parse(text);
    let frames = report.as_ref().map(patchwright_agent::drive::frames_of);
    Request {
        frames: frames.unwrap_or_default(),
        text: report.map_or_else(|| text.to_owned(), |report| report.purified),
        budget,
    }
}

impl ServerHandler for CodeServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(
                "patchwright",
                env!("CARGO_PKG_VERSION"),
            ))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::list()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !tools::is_tool(&request.name) {
            let text = format!("there is no tool {}", request.name);
            return Err(ErrorData::invalid_params(text, None));
        }
        let answered = self
            .call(&request.name, request.arguments.unwrap_or_default())
            .await;
        Ok(match answered {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(reason) => CallToolResult::error(vec![ContentBlock::text(reason)]),
        }
        .into())
    }
}
