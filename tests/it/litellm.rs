//! The real LiteLLM proxy between the model client and the scripted endpoint:
//! what many people have in front of their models.
//!
//! `make soak` installs it once from PyPI (700 MB) into a virtual environment below
//! `target`; later runs of any kind use it. Where it is not installed, or cannot be
//! started in time, this test is skipped and says so.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use patchwright_model::openai::OpenAi;
use patchwright_model::{Finish, Model, ModelError, Reply};
use patchwright_tests::model::{Answer, Misbehaviour, ScriptedModel};

use crate::model::{kind, messages_of, question, settings};

/// Pinned: what a proxy passes on changes between releases, and not every
/// release of a popular package can be trusted.
const PACKAGE: &str = "litellm[proxy]==1.106.2";
/// The most time that installing may take: it is some 700 MB.
const INSTALL: Duration = Duration::from_secs(170);
/// The most time that the proxy may take to start; it loads every provider.
const START: Duration = Duration::from_secs(100);
const GLANCE: Duration = Duration::from_millis(100);
/// The proxy refuses to start without a key of its own.
const KEY: &str = "sk-key-of-the-proxy";

/// A child that ends with its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Past the capture of the test harness, so that a skip is never silent.
fn skip(reason: &str) {
    let _ = writeln!(
        std::io::stderr(),
        "SKIPPED: the LiteLLM proxy was not tried: {reason}"
    );
}

fn finish(command: &mut Command, limit: Duration) -> Result<(), String> {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut running = Running(child.map_err(|error| error.to_string())?);
    let started = Instant::now();
    while started.elapsed() < limit {
        match running.0.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(status.to_string()),
            None => thread::sleep(GLANCE),
        }
    }
    Err(format!("not done after {} s", limit.as_secs()))
}

/// The program, installed if it is not there yet.
fn installed() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("litellm");
    let (program, done) = (folder.join("bin/litellm"), folder.join(PACKAGE));
    if done.is_file() {
        return Ok(program);
    }
    if option_env!("PATCHWRIGHT_SOAK").is_none() {
        return Err("it is not installed; `make soak` installs it".to_owned());
    }
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv", "--clear"]).arg(&folder);
    finish(&mut venv, INSTALL).map_err(|error| format!("python3 -m venv: {error}"))?;
    let mut pip = Command::new(folder.join("bin/pip"));
    pip.args([
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        PACKAGE,
    ]);
    finish(&mut pip, INSTALL).map_err(|error| format!("pip install {PACKAGE}: {error}"))?;
    std::fs::write(&done, "").map_err(|error| error.to_string())?;
    Ok(program)
}

/// The proxy, and the address that it serves.
struct Proxy {
    base_url: String,
    _folder: tempfile::TempDir,
    _running: Running,
}

fn start(program: &Path, endpoint: &ScriptedModel) -> Result<Proxy, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let port = TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map_err(|error| error.to_string())?
        .port();
    let configuration = format!(
        "model_list:\n  - model_name: scripted\n    litellm_params:\n      \
         model: openai/scripted\n      api_base: {}\n      api_key: key-of-the-endpoint\n\
         general_settings:\n  master_key: {KEY}\n\
         litellm_settings:\n  telemetry: false\n  num_retries: 0\n\
         router_settings:\n  num_retries: 0\n  disable_cooldowns: true\n",
        endpoint.base_url()
    );
    let file = folder.path().join("config.yaml");
    std::fs::write(&file, configuration).map_err(|error| error.to_string())?;
    let child = Command::new(program)
        .arg("--config")
        .arg(&file)
        .args(["--host", "127.0.0.1", "--port", &port.to_string()])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", folder.path())
        // No table of prices from the network.
        .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut running = Running(child);
    let started = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if let Ok(Some(status)) = running.0.try_wait() {
            return Err(format!("the proxy ended at once: {status}"));
        }
        if started.elapsed() > START {
            return Err(format!("the proxy did not start in {} s", START.as_secs()));
        }
        thread::sleep(GLANCE);
    }
    Ok(Proxy {
        base_url: format!("http://127.0.0.1:{port}/v1"),
        _folder: folder,
        _running: running,
    })
}

fn model(proxy: &Proxy, values: &[(&str, &str)]) -> OpenAi {
    let mut all = vec![("model.api_key", KEY)];
    all.extend(values);
    OpenAi::new(&settings(&proxy.base_url, &all)).unwrap()
}

async fn ask(proxy: &Proxy, values: &[(&str, &str)]) -> Result<Reply, ModelError> {
    model(proxy, values).ask(&question()).await
}

#[tokio::test]
async fn the_litellm_proxy_is_understood() {
    let program = match installed() {
        Ok(program) => program,
        Err(reason) => return skip(&reason),
    };
    let endpoint = ScriptedModel::answering(|asked| {
        // The request of a case is told by its temperature.
        match asked.body["temperature"]
            .as_f64()
            .map(|at| (at * 10.0).round() as i64)
        {
            Some(1) => Misbehaviour::TooManyRequests.into(),
            Some(2) => Misbehaviour::ContextLength.into(),
            Some(3) => Misbehaviour::CutOff.into(),
            Some(4) => Misbehaviour::ServerError.into(),
            _ => Answer::from("grüße from behind the proxy"),
        }
    })
    .unwrap();
    let proxy = match start(&program, &endpoint) {
        Ok(proxy) => proxy,
        Err(reason) => return skip(&reason),
    };
    replies_pass(&proxy).await;
    failures_pass(&proxy).await;
    let asked = endpoint.requests();
    let expected = messages_of(question());
    assert_eq!(asked[0].messages(), expected);
    assert_eq!(
        asked[0].header("authorization"),
        Some("Bearer key-of-the-endpoint")
    );
}

async fn replies_pass(proxy: &Proxy) {
    for (api, stream) in [
        ("chat", "true"),
        ("chat", "false"),
        ("responses", "true"),
        ("responses", "false"),
    ] {
        let reply = ask(proxy, &[("model.api", api), ("model.stream", stream)]).await;
        let reply = reply.unwrap_or_else(|error| panic!("{api}, stream {stream}: {error}"));
        assert_eq!(reply.text, "grüße from behind the proxy", "{api}, {stream}");
        assert_eq!(reply.finish, Finish::Stop, "{api}, {stream}");
        assert!(
            reply.usage.tokens_in > 0,
            "{api}, {stream}: {:?}",
            reply.usage
        );
    }
    let listed = model(proxy, &[]).listed().await.unwrap();
    assert_eq!(listed, Some(vec!["scripted".to_owned()]));
}

/// Not among them: a stream that breaks off behind the proxy. The proxy closes
/// it as if it were whole, so nobody in front of it can tell.
async fn failures_pass(proxy: &Proxy) {
    for (key, value, expected) in [
        ("model.temperature", "0.1", "retry"),
        ("model.temperature", "0.2", "too long"),
        ("model.temperature", "0.3", "length"),
        ("model.temperature", "0.4", "retry"),
        ("model.api_key", "sk-wrong", "fatal"),
        ("model.name", "nobody", "fatal"),
    ] {
        let (kind, text) = kind(&ask(proxy, &[(key, value)]).await);
        assert_eq!(kind, expected, "{key} {value}: {text}");
    }
}
