//! `patchwright index` and `retrieve`: the code search by itself.
//!
//! View of a tree as a run would see it, without a run: nothing is built, and the
//! tree is only read. A model is asked only where the settings want its words.

use crate::common::{Common, Format, USAGE, WrongInput, tell, write_result};
use clap::Args;
use patchwright_agent::drive::{open_engine, request_of};
use patchwright_config::{Flag, Settings};
use patchwright_model::account::Account;
use patchwright_retrieval::{Engine, Memory, Query, Request, Snippet, Tier};
use patchwright_run::engine_settings;
use patchwright_source::visible;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Debug, Clone, Args)]
pub(crate) struct IndexArguments {
    /// Source tree to index
    #[arg(value_name = "DIR")]
    pub tree: PathBuf,
    /// Format in which the figures are printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RetrieveArguments {
    /// Source tree to search
    #[arg(long, value_name = "DIR")]
    pub repo: PathBuf,
    /// Queries, as in symbol:png_read_row, callers:foo, file:src/a.c:10-40,
    /// 'pattern:memcpy($A,$B,$C)', 'sql:SELECT ...'
    #[arg(value_name = "KIND:QUERY", required = true)]
    pub queries: Vec<String>,
    /// Steps that callers and callees are followed
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
    /// Only files whose path holds this (text, pattern, rule)
    #[arg(long = "in", value_name = "PATH")]
    pub inside: Option<String>,
    /// Crash report near which hits are shown first
    #[arg(long, value_name = "FILE")]
    pub crash: Option<PathBuf>,
    /// Format in which the answers are printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Runs `patchwright index`: builds or updates the index of a tree.
///
/// # Errors
/// The settings are wrong, or the tree or the cache cannot be used.
pub(crate) fn index(common: &Common, arguments: &IndexArguments) -> anyhow::Result<ExitCode> {
    let (engine, _) = open(common, &arguments.tree, Vec::new())?;
    engine.prepare_search()?;
    let report = engine.report();
    let skipped = report.skipped.iter();
    let skipped = skipped.map(|(path, reason)| json!({ "path": path.as_str(), "reason": reason }));
    let mut value = json!(report);
    if let Some(rows) = value.as_object_mut() {
        rows.insert("schema".to_owned(), json!(1));
        rows.insert("skipped".to_owned(), skipped.collect());
    }
    let format = arguments.format;
    format.print(&value, include_str!("retrieve/index.txt"))?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `patchwright retrieve`: prints per query its hits or the reason why
/// there are none. A query that finds nothing is no error; what is no query
/// shows in the exit status.
///
/// # Errors
/// The settings are wrong, or the tree or the cache cannot be used.
pub(crate) async fn retrieve(
    common: &Common,
    arguments: &RetrieveArguments,
) -> anyhow::Result<ExitCode> {
    let (mut engine, settings) = open(common, &arguments.repo, Vec::new())?;
    if let Some(file) = &arguments.crash {
        let log = String::from_utf8_lossy(&std::fs::read(file)?).into_owned();
        let Request { frames, named, .. } = request_of(&log, 0);
        let frames = [frames, named].concat();
        if frames.is_empty() {
            let reason = format!("--crash: {} holds no crash report", file.display());
            return Err(WrongInput(reason).into());
        }
        engine.set_crash(&frames)?;
    }
    let engine = Arc::new(engine);
    let account = Arc::new(Account::new(settings.limits.usd));
    let signals = patchwright_run::signals(&settings, &account)?;
    let mut memory = Memory::default();
    let mut text = String::new();
    let mut values = Vec::new();
    let mut status = ExitCode::SUCCESS;
    for written in &arguments.queries {
        match read(written, arguments) {
            Ok(query) => {
                if let Query::Search { words } = &query {
                    note(&signals.consult(&engine, words).await)?;
                }
                let answer = engine.answer(&memory.expand(&query));
                values.push(json!({
                    "query": answer.query.to_string(),
                    "total": answer.total,
                    "reason": answer.miss.as_ref().map(ToString::to_string),
                    "notes": answer.notes,
                    "listing": answer.listing,
                    "snippets": snippet_values(&answer.snippets, answer.tier),
                }));
                text.push_str(&memory.render(1, &[answer]));
            }
            Err(reason) => {
                status = ExitCode::from(USAGE);
                values.push(json!({ "query": written, "reason": reason }));
                let _ = writeln!(text, "### {written}\n{reason}\n");
            }
        }
    }
    let value = json!({ "schema": 1, "answers": values });
    write_result(arguments.format.render(&value, || Ok(text))?.as_bytes())?;
    tell_cost(&account)?;
    Ok(status)
}

/// Opens a tree.
pub(super) fn open(
    common: &Common,
    tree: &Path,
    flags: Vec<Flag>,
) -> anyhow::Result<(Engine, Settings)> {
    let settings = common.load(flags)?.settings;
    let cache = settings.cache.folder.join("index");
    let engine = open_engine(tree, &cache, engine_settings(&settings.retrieval))?;
    Ok((engine, settings))
}

/// Tells people what was left out.
pub(super) fn note(notes: &[String]) -> anyhow::Result<()> {
    for note in notes {
        tell(&format!("note: {}", visible(note)))?;
    }
    Ok(())
}

/// Tells people what models and signals cost, if they were asked.
pub(super) fn tell_cost(account: &Account) -> anyhow::Result<()> {
    if let Some(line) = account.told() {
        tell(&line)?;
    }
    Ok(())
}

fn read(written: &str, arguments: &RetrieveArguments) -> Result<Query, String> {
    let Some((kind, body)) = written.split_once(':') else {
        return Err("write KIND:QUERY, as in symbol:main".to_owned());
    };
    let depth = arguments.depth.map(|depth| depth.to_string());
    let given = [("depth", depth), ("path", arguments.inside.clone())].into_iter();
    let given = given.filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Query::read(kind, body, &given.collect::<Vec<_>>())
}

pub(super) fn snippet_values(snippets: &[Snippet], tier: Tier) -> Value {
    let value = |snippet: &Snippet| {
        json!({
            "path": snippet.path.as_str(),
            "start_line": snippet.start_line,
            "end_line": snippet.end_line,
            "symbols": snippet.symbols,
            "tier": tier,
            "text": snippet.text,
        })
    };
    snippets.iter().map(value).collect()
}
