//! `patchwright context`: the code that a request or a crash report calls for,
//! with the help of a model when one is named.
//!
//! Without `--model` no model is asked; with it, a call that fails leads back to
//! the plain context.

use super::model_arguments::Endpoint;
use super::retrieve::{note, open, snippet_values, tell_cost};
use crate::common::{Common, Format, WrongInput, read_named, write_result};
use clap::Args;
use patchwright_agent::anchors::{Pipeline, shortened};
use patchwright_agent::drive::request_of;
use patchwright_agent::signals::Signals;
use patchwright_config::Flag;
use patchwright_model::account::{Account, Accounted};
use patchwright_retrieval::{Context, Engine, Request, RetrievalError, Tier};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// The most that is read of a request, in bytes: crash logs of fuzzers grow
/// large, and the report is near their start or end.
const MOST_INPUT: u64 = 64 * 1024 * 1024;
/// Longest time that the model's help may take in all. People wait no longer.
const PATIENCE: Duration = Duration::from_mins(10);
/// Hits of one pattern that are looked at, in place of what one answer shows.
const HITS: usize = 200;

#[derive(Debug, Clone, Args)]
pub(crate) struct ContextArguments {
    /// File with a request in words or a crash report; - is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub request: PathBuf,
    /// Source tree to search
    #[arg(long, value_name = "DIR")]
    pub repo: PathBuf,
    /// The most tokens that the context takes; more than 2500 brings more code
    #[arg(long, value_name = "TOKENS")]
    pub budget: Option<usize>,
    /// The model that writes patterns and SQL, with two calls
    #[command(flatten)]
    pub endpoint: Endpoint,
    /// Format in which the context is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Runs `patchwright context`: reads a request or a crash report and prints the code that
/// it calls for.
///
/// # Errors
/// The settings are wrong, or the tree, the cache or the input cannot be used.
pub(crate) async fn run(common: &Common, arguments: &ContextArguments) -> anyhow::Result<ExitCode> {
    let bytes = read_named("request", &arguments.request, MOST_INPUT)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if text.trim().is_empty() {
        let reason = "the request is empty: give one in words, or a crash report";
        return Err(WrongInput(reason.to_owned()).into());
    }
    if arguments.endpoint.base_url.is_some() && arguments.endpoint.model.is_none() {
        let reason = "--base-url is the endpoint of a model: name it with --model";
        return Err(WrongInput(reason.to_owned()).into());
    }
    let mut flags = arguments.endpoint.settings();
    if arguments.endpoint.model.is_some() {
        flags.push(Flag::new("", "retrieval.max_results", &HITS.to_string()));
    }
    let (engine, settings) = open(common, &arguments.repo, flags)?;
    let usual = settings.retrieval.context_tokens;
    let request = request_of(&text, arguments.budget.unwrap_or(usual));
    let account = Arc::new(Account::new(settings.limits.usd));
    let signals = Arc::new(patchwright_run::signals(&settings, &account)?);
    let engine = Arc::new(engine);
    let (context, notes) = if arguments.endpoint.model.is_some() {
        let model = Accounted::connect(&settings.model, &account);
        let model = model.map_err(|error| error.to_string());
        let pipeline = model.map(|model| Pipeline {
            engine: Arc::clone(&engine),
            model,
            signals: Arc::clone(&signals),
            max_output_tokens: settings.model.max_output_tokens,
        });
        helped(pipeline, (&engine, &signals), &request).await?
    } else {
        plain(&engine, &signals, &request).await?
    };
    note(&notes)?;
    let value = json!({
        "intent": context.intent,
        "confidence": context.confidence,
        "tokens": context.tokens,
        "elapsed_ms": context.elapsed_ms,
        "snippets": snippet_values(&context.snippets, Tier::High),
        "stack": context.stack,
        "definitions": context.definitions,
        "notes": notes,
    });
    let text = arguments.format.render(&value, || Ok(context.render()))?;
    write_result(text.as_bytes())?;
    tell_cost(&account)?;
    Ok(ExitCode::SUCCESS)
}

/// The context without patterns and SQL of a model.
async fn plain(
    engine: &Arc<Engine>,
    signals: &Signals,
    request: &Request,
) -> Result<(Context, Vec<String>), RetrievalError> {
    let notes = if signals.is_empty() {
        Vec::new()
    } else {
        signals.consult(engine, &engine.words_of(request)?).await
    };
    Ok((engine.context(request)?, notes))
}

/// The context with a model's help; the plain one, and why, when that fails.
async fn helped(
    pipeline: Result<Pipeline, String>,
    (engine, signals): (&Arc<Engine>, &Signals),
    request: &Request,
) -> Result<(Context, Vec<String>), RetrievalError> {
    let asked = shortened(request);
    let reason = match pipeline {
        Ok(pipeline) => match tokio::time::timeout(PATIENCE, pipeline.context(&asked)).await {
            Ok(Ok(helped)) => return Ok(helped),
            Ok(Err(reason)) => reason,
            Err(_) => "it took longer than 10 minutes".to_owned(),
        },
        Err(reason) => reason,
    };
    let (context, mut notes) = plain(engine, signals, request).await?;
    let without = format!("this is the context without the model: {reason}");
    notes.insert(0, without);
    Ok((context, notes))
}
