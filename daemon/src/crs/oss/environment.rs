//! Environment that the framework sets in our container.
//!
//! The names are the framework's own. Nothing here is a setting of ours, and
//! nothing here looks at a file.

use patchwright_run::WrongInput;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Default mount point of the source.
const TARGET_SOURCE: &str = "/OSS_CRS_TARGET_SOURCE";
/// The port of every sidecar.
const PORT: u16 = 8080;

/// Values that the framework set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// Our own name in the compose file.
    pub name: String,
    /// The OSS-Fuzz project.
    pub target: String,
    /// The harness that the PoVs are fed to.
    pub harness: String,
    /// `c`, `c++` or `java`, as tasks call it.
    pub language: String,
    /// Which sanitizer the target is built with.
    pub sanitizer: String,
    /// The source tree, read-only.
    pub source: PathBuf,
    /// Folders of others' findings: `povs`, `diffs`, `bug-candidates`, `seeds`.
    pub fetch: PathBuf,
    /// Folder of patches.
    pub submit: PathBuf,
    /// Folder of the database in which bug candidates are claimed; none in older revisions.
    pub candidates: Option<PathBuf>,
    /// The target, as that database calls it.
    pub target_key: String,
    /// Address of the builder sidecar.
    pub builder: String,
    /// Address of the runner sidecar.
    pub runner: String,
    /// Processors that builds may use, as the framework writes it.
    pub cpuset: String,
    /// Memory that builds may use, as the framework writes it.
    pub memory: String,
    /// Settings of the model that follow from the framework's proxy: key and value.
    pub model: Vec<(String, String)>,
}

impl Environment {
    /// Reads the variables; one that is missing or makes no sense is told by its name.
    pub fn read(variables: &BTreeMap<String, String>) -> Result<Self, WrongInput> {
        let read = Read(variables);
        let name = read.needed("OSS_CRS_NAME")?;
        let host = |module: String| format!("http://{module}.{name}:{PORT}");
        Ok(Self {
            target: read.needed("OSS_CRS_TARGET")?,
            harness: read.needed("OSS_CRS_TARGET_HARNESS")?,
            language: language(&read.or("FUZZING_LANGUAGE", "c"))?,
            sanitizer: read.or("SANITIZER", "address"),
            source: read.or("OSS_CRS_TARGET_SOURCE", TARGET_SOURCE).into(),
            fetch: read.needed("OSS_CRS_FETCH_DIR")?.into(),
            submit: read.needed("OSS_CRS_SUBMIT_DIR")?.into(),
            candidates: read.get("OSS_CRS_BUG_CANDIDATE_DIR").map(PathBuf::from),
            target_key: read.or("OSS_CRS_TARGET_KEY", "unknown"),
            builder: host(read.or("BUILDER_MODULE", "builder-sidecar")),
            runner: host(read.or("RUNNER_MODULE", "runner-sidecar")),
            cpuset: read.or("OSS_CRS_CPUSET", ""),
            memory: read.or("OSS_CRS_MEMORY_LIMIT", ""),
            model: model(&read),
            name,
        })
    }
}

struct Read<'a>(&'a BTreeMap<String, String>);

impl Read<'_> {
    fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| !value.is_empty()).cloned()
    }

    fn needed(&self, name: &str) -> Result<String, WrongInput> {
        self.get(name).ok_or_else(|| missing(name))
    }

    fn or(&self, name: &str, default: &str) -> String {
        self.get(name).unwrap_or_else(|| default.to_owned())
    }
}

fn language(text: &str) -> Result<String, WrongInput> {
    let known = patchwright_run::oss_fuzz::language_of(text).map(str::to_owned);
    let wrong = || format!("FUZZING_LANGUAGE is {text:?}: patches are written for c, c++ and jvm");
    known.ok_or_else(|| WrongInput(wrong()))
}

fn missing(name: &str) -> WrongInput {
    WrongInput(format!(
        "{name} is not set: oss-crs sets it in the containers that it starts, so run this below `oss-crs run`"
    ))
}

/// The framework's proxy speaks OpenAI's interface below `/v1`.
fn model(read: &Read<'_>) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    if let Some(url) = read.get("OSS_CRS_LLM_API_URL") {
        let url = url.trim_end_matches('/');
        let base = if url.ends_with("/v1") {
            url.to_owned()
        } else {
            format!("{url}/v1")
        };
        settings.push(("model.base_url".to_owned(), base));
    }
    if let Some(file) = read.get("OSS_CRS_LLM_API_KEY_FILE") {
        settings.push(("model.api_key_file".to_owned(), file));
    } else if let Some(key) = read.get("OSS_CRS_LLM_API_KEY") {
        settings.push(("model.api_key".to_owned(), key));
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::{Environment, missing};
    use std::collections::BTreeMap;

    const LEAST: [(&str, &str); 5] = [
        ("OSS_CRS_NAME", "patchwright"),
        ("OSS_CRS_TARGET", "libxml2"),
        ("OSS_CRS_TARGET_HARNESS", "xml"),
        ("OSS_CRS_FETCH_DIR", "/fetch"),
        ("OSS_CRS_SUBMIT_DIR", "/submit"),
    ];

    fn variables(more: &[(&str, &str)]) -> BTreeMap<String, String> {
        let all = LEAST.iter().chain(more);
        all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn the_sidecars_are_found_by_name() {
        let read = Environment::read(&variables(&[])).unwrap();
        assert_eq!(read.builder, "http://builder-sidecar.patchwright:8080");
        assert_eq!(read.runner, "http://runner-sidecar.patchwright:8080");
        assert_eq!(read.language, "c");
        assert!(read.model.is_empty());
        let read = Environment::read(&variables(&[
            ("BUILDER_MODULE", "mine"),
            ("FUZZING_LANGUAGE", "jvm"),
        ]));
        let read = read.unwrap();
        assert_eq!(read.builder, "http://mine.patchwright:8080");
        assert_eq!(read.language, "java");
    }

    #[test]
    fn the_proxy_becomes_the_endpoint() {
        for (url, expected) in [
            ("http://litellm:4000", "http://litellm:4000/v1"),
            ("http://litellm:4000/", "http://litellm:4000/v1"),
            ("http://litellm:4000/v1", "http://litellm:4000/v1"),
        ] {
            let variables = variables(&[
                ("OSS_CRS_LLM_API_URL", url),
                ("OSS_CRS_LLM_API_KEY_FILE", "/run/key"),
                ("OSS_CRS_LLM_API_KEY", "unused"),
            ]);
            let model = Environment::read(&variables).unwrap().model;
            let value = |key: &str| {
                let found = model.iter().find(|(name, _)| name == key);
                found.map(|(_, value)| value.as_str())
            };
            assert_eq!(value("model.base_url"), Some(expected));
            assert_eq!(value("model.api_key_file"), Some("/run/key"));
            assert_eq!(value("model.api_key"), None);
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        for (name, _) in LEAST {
            let mut some = variables(&[]);
            some.insert(name.to_owned(), String::new());
            let error = Environment::read(&some).unwrap_err();
            assert_eq!(error, missing(name));
        }
        let error = Environment::read(&variables(&[("FUZZING_LANGUAGE", "rust")])).unwrap_err();
        assert!(error.to_string().contains("\"rust\""), "{error}");
    }
}
