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
        let get = |name: &str| {
            variables
                .get(name)
                .filter(|value| !value.is_empty())
                .cloned()
        };
        let needed = |name: &str| get(name).ok_or_else(|| missing(name));
        let or = |name: &str, default: &str| get(name).unwrap_or_else(|| default.to_owned());
        let name = needed("OSS_CRS_NAME")?;
        let host = |module: String| format!("http://{module}.{name}:{PORT}");
        Ok(Self {
            target: needed("OSS_CRS_TARGET")?,
            harness: needed("OSS_CRS_TARGET_HARNESS")?,
            language: language(&or("FUZZING_LANGUAGE", "c"))?,
            sanitizer: or("SANITIZER", "address"),
            source: or("OSS_CRS_TARGET_SOURCE", TARGET_SOURCE).into(),
            fetch: needed("OSS_CRS_FETCH_DIR")?.into(),
            submit: needed("OSS_CRS_SUBMIT_DIR")?.into(),
            candidates: get("OSS_CRS_BUG_CANDIDATE_DIR").map(PathBuf::from),
            target_key: or("OSS_CRS_TARGET_KEY", "unknown"),
            builder: host(or("BUILDER_MODULE", "builder-sidecar")),
            runner: host(or("RUNNER_MODULE", "runner-sidecar")),
            cpuset: or("OSS_CRS_CPUSET", ""),
            memory: or("OSS_CRS_MEMORY_LIMIT", ""),
            model: model(get),
            name,
        })
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
fn model(get: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let url = get("OSS_CRS_LLM_API_URL").map(|url| {
        let url = url.trim_end_matches('/');
        let url = url.strip_suffix("/v1").unwrap_or(url);
        ("model.base_url".to_owned(), format!("{url}/v1"))
    });
    let file = get("OSS_CRS_LLM_API_KEY_FILE");
    let key = match file {
        Some(file) => Some(("model.api_key_file".to_owned(), file)),
        None => get("OSS_CRS_LLM_API_KEY").map(|key| ("model.api_key".to_owned(), key)),
    };
    url.into_iter().chain(key).collect()
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
