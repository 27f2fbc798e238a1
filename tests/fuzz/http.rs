//! Daemon in this process that is sent damaged requests.

use patchwright_config::{self as settings, Flag, Sources};
use patchwright_daemon::api;
use patchwright_daemon::crs;
use patchwright_daemon::service::Service;
use patchwright_store::Store;
use patchwright_tests::http::Request;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// A daemon without workers; it ends with this.
#[derive(Debug)]
pub(crate) struct Daemon {
    address: SocketAddr,
    stop: CancellationToken,
    _runtime: Runtime,
    _folder: tempfile::TempDir,
}

impl Daemon {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let flag = |key: &str, value: String| Flag {
            name: key.to_owned(),
            key: key.to_owned(),
            value,
        };
        let below = |name: &str| folder.path().join(name).display().to_string();
        let sources = Sources {
            flags: vec![
                flag("cache.folder", below("cache")),
                flag("store.folder", below("store")),
                flag("http.listen", "127.0.0.1:0".to_owned()),
                flag("crs.enabled", "true".to_owned()),
            ],
            ..Sources::from_process(None, Vec::new())
        };
        let settings = Arc::new(settings::load(&sources).unwrap().settings);
        let runtime = Runtime::new().unwrap();
        let stop = CancellationToken::new();
        let listening = runtime.block_on(async {
            let service = Service::new(Store::of(&settings).await.unwrap());
            let others = crs::api::routes(&service, &settings);
            let opened = api::listen(service, settings.clone(), others, stop.clone());
            opened.await.unwrap()
        });
        let address = listening.address();
        runtime.spawn(listening.answer());
        Self {
            address,
            stop,
            _runtime: runtime,
            _folder: folder,
        }
    }

    /// Sends a request and returns the status and the problem that it was answered with.
    pub(crate) fn ask(&self, input: &[u8]) -> (u16, Option<String>) {
        let end = input.iter().position(|byte| *byte == b'\n');
        let (line, body) = input.split_at(end.unwrap_or(input.len()));
        let line = String::from_utf8_lossy(line);
        let mut words = line.splitn(3, ' ').map(plain);
        let mut word = || words.next().unwrap_or_default();
        let (method, path, kind) = (word(), word(), word());
        let request = Request::new(&method, &path).body(&kind, body.get(1..).unwrap_or_default());
        let Ok(answer) = request.send(self.address) else {
            return (0, None);
        };
        assert!(
            answer.status != 500,
            "status 500: {}",
            String::from_utf8_lossy(&answer.body)
        );
        let problem = serde_json::from_slice::<serde_json::Value>(&answer.body).ok();
        let kind = problem.and_then(|problem| Some(problem.get("type")?.as_str()?.to_owned()));
        (answer.status, kind)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Takes out what would end the line of a header.
fn plain(word: &str) -> String {
    word.chars()
        .filter(|character| !character.is_control())
        .collect()
}
