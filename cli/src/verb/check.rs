//! `patchwright check`: what works here, tried and not guessed.
//!
//! The sandbox is asked to break out, the compilers to find a planted bug, the
//! model's endpoint to answer. Nothing is installed and nothing is spent.

mod attack;
mod sandbox;

use super::model_arguments::Endpoint;
use crate::common::{Common, Format, write_out};
use clap::Args;
use patchwright_agent::template;
use patchwright_config::Settings;
use patchwright_model::openai::OpenAi;
use patchwright_model::price::Prices;
use patchwright_sandbox::{Host, Image};
use patchwright_source::visible;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::process::ExitCode;

/// The exit status when something that every run needs does not work.
const BROKEN: u8 = 5;
/// Bytes that a folder has to take.
const ROOM: usize = 1 << 20;

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The endpoint to check
    #[command(flatten)]
    pub endpoint: Endpoint,
    /// Try to get out of every sandbox that this machine offers, or of the one that
    /// sandbox.choice names, and nothing else
    #[arg(long)]
    pub attack: bool,
    /// The image whose containers are attacked; its engine is sandbox.engine
    #[arg(long, value_name = "NAME", requires = "attack")]
    pub image: Option<String>,
    /// Format in which the findings are printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// State of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// It works.
    Ok,
    /// It is not there; some tasks need it.
    Missing,
    /// It does not work, and no run goes well without it.
    Failed,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    name: &'static str,
    state: State,
    /// Finding, and what to do about it.
    detail: String,
}

impl Finding {
    fn new(name: &'static str, state: State, detail: impl Into<String>) -> Self {
        Self {
            name,
            state,
            detail: detail.into(),
        }
    }
}

/// Says why the model's endpoint cannot be asked; nothing where it answers.
pub(super) async fn model_problem(settings: &Settings) -> Option<String> {
    let findings = look_at_model(settings).await.into_iter();
    let mut failed = findings.filter(|finding| finding.state == State::Failed);
    failed.next().map(|finding| finding.detail)
}

/// Looks at everything and prints what was found. `host` is what commands may
/// see of this machine.
///
/// # Errors
/// The settings are wrong, or nothing can be printed.
pub(crate) async fn run(
    common: &Common,
    arguments: &CheckArguments,
    host: Host,
) -> anyhow::Result<ExitCode> {
    if arguments.attack {
        let settings = common.load(Vec::new())?.settings;
        let host = Host {
            engine: settings.sandbox.engine.as_ref().map(Into::into),
            ..host
        };
        let image = arguments.image.clone().map(Image::Named);
        let attacked = (image.as_ref(), patchwright_run::isolation(&settings));
        let (text, held) = attack::look(attacked, &host, arguments.format).await?;
        return print(&text, held);
    }
    let loaded = common.load(arguments.endpoint.settings())?;
    let settings = &loaded.settings;
    let mut findings = vec![
        Finding::new("configuration", State::Ok, origins(&loaded.entries)),
        folder("store", &settings.store.folder),
        folder("cache", &settings.cache.folder),
    ];
    findings.extend(sandbox::look(settings, host).await);
    findings.extend(look_at_model(settings).await);
    let works = |finding: &Finding| finding.state != State::Failed;
    let works = findings.iter().all(works);
    let all = json!({ "schema": 1, "works": works, "findings": findings });
    let in_words = || Ok(visible(&table(&findings)?).into_owned());
    print(&arguments.format.render(&all, in_words)?, works)
}

fn print(text: &str, works: bool) -> anyhow::Result<ExitCode> {
    write_out(text)?;
    Ok(ExitCode::from(if works { 0 } else { BROKEN }))
}

/// The places that settings came from.
fn origins(entries: &[patchwright_config::Entry]) -> String {
    let places = entries
        .iter()
        .map(|entry| match entry.origin.rsplit_once(':') {
            Some((file, line)) if line.parse::<u32>().is_ok() => file,
            _ => &entry.origin,
        });
    let places: Vec<&str> = places.collect::<BTreeSet<_>>().into_iter().collect();
    format!("valid; from {}", places.join(", "))
}

/// Tells whether a folder can be written, tried by writing.
fn folder(name: &'static str, folder: &std::path::Path) -> Finding {
    let shown = folder.display();
    let mut private = std::fs::DirBuilder::new();
    let made = private.recursive(true).mode(0o700).create(folder);
    let tried = made.and_then(|()| {
        // An empty file can be made on a full disk too.
        let mut file = tempfile::tempfile_in(folder)?;
        file.write_all(&vec![0x5a; ROOM])?;
        file.sync_all()
    });
    match tried {
        Ok(()) => Finding::new(name, State::Ok, shown.to_string()),
        Err(error) => {
            let detail = format!("{shown} cannot be written: {error}; set {name}.folder");
            Finding::new(name, State::Failed, detail)
        }
    }
}

fn table(findings: &[Finding]) -> Result<String, template::Error> {
    let values = json!({ "findings": findings });
    template::fill(include_str!("check/table.txt"), &values)
}

/// Looks at every endpoint, without asking anything that costs.
async fn look_at_model(settings: &Settings) -> Vec<Finding> {
    if settings.model.name.is_empty() {
        let detail =
            "none is named, so only recorded answers can be used; set model.name, or give --model";
        return vec![Finding::new("model", State::Missing, detail)];
    }
    let mut findings = Vec::new();
    let endpoints = settings.model.endpoints();
    for endpoint in &endpoints {
        let place = format!("{} at {}", endpoint.name, endpoint.base_url);
        let listed = match OpenAi::new(endpoint) {
            Ok(model) => model.listed().await,
            Err(error) => Err(error),
        };
        let (state, told) = match listed {
            Ok(Some(models)) if !models.contains(&endpoint.name) => {
                let told = "reached, but it does not list this model";
                (State::Failed, format!("{told}{}", some_of(&models)))
            }
            Ok(Some(_)) => (State::Ok, "reached and listed".to_owned()),
            Ok(None) => (State::Ok, "reached; it lists no models".to_owned()),
            Err(error) => (State::Failed, error.to_string()),
        };
        findings.push(Finding::new("model", state, format!("{place}: {told}")));
    }
    if let (Some(usd), Err(missing)) = (settings.limits.usd, Prices::of_endpoints(&endpoints)) {
        let detail = format!(
            "limits.usd is {usd}, but the price of {} is not set (model.usd_per_million_in and _out)",
            missing.join(", ")
        );
        findings.push(Finding::new("price", State::Failed, detail));
    }
    findings
}

/// A few names, to choose the right one from.
fn some_of(models: &[String]) -> String {
    let few: Vec<_> = models.iter().take(8).map(String::as_str).collect();
    match (few.len(), models.len()) {
        (0, _) => String::new(),
        (shown, all) if shown < all => format!("; among its {all}: {}, ..", few.join(", ")),
        _ => format!("; it lists {}", few.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_made_is_a_failure() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(folder("store", &place.path().join("a/b")).state, State::Ok);
        let file = place.path().join("file");
        std::fs::write(&file, "").unwrap();
        let finding = folder("store", &file.join("below"));
        assert_eq!(finding.state, State::Failed);
        assert!(finding.detail.contains("set store.folder"), "{finding:?}");
    }

    #[test]
    fn findings_are_printed_in_columns() {
        let findings = [
            Finding::new("sandbox", State::Failed, "none works"),
            Finding::new("c", State::Ok, "cc 12"),
        ];
        assert_eq!(
            table(&findings).unwrap(),
            "sandbox  FAILED   none works\nc        ok       cc 12\n"
        );
    }
}
