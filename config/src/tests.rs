//! Layers, places of values, and every way to write a setting wrong.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;
use secrecy::ExposeSecret;

use super::*;

/// A home with a user's file, and a file for `--config`.
struct Place {
    folder: tempfile::TempDir,
    sources: Sources,
}

impl Place {
    fn new(user: &str, file: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home/.config/patchwright");
        std::fs::create_dir_all(&home).unwrap();
        std::fs::write(home.join("config.toml"), user).unwrap();
        let path = folder.path().join("given.toml");
        std::fs::write(&path, file).unwrap();
        let home = folder.path().join("home").display().to_string();
        let sources = Sources {
            file: Some(path),
            variables: BTreeMap::from([("HOME".to_owned(), home)]),
            flags: Vec::new(),
        };
        Self { folder, sources }
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.sources
            .variables
            .insert(name.to_owned(), value.to_owned());
        self
    }

    fn flag(mut self, name: &str, key: &str, value: &str) -> Self {
        self.sources.flags.push(Flag {
            name: name.to_owned(),
            key: key.to_owned(),
            value: value.to_owned(),
        });
        self
    }

    fn load(&self) -> Loaded {
        load(&self.sources).unwrap()
    }

    fn error(&self) -> String {
        let text = load(&self.sources).unwrap_err().to_string();
        text.replace(&self.folder.path().display().to_string(), "DIR")
    }
}

#[test]
fn each_layer_is_stronger_than_the_one_before() {
    let place = Place::new(
        "[model]\nname = \"user\"\nbase_url = \"http://user/v1\"\ntemperature = 0.5\n[limits]\nattempts = 2\n",
        "[model]\nname = \"file\"\nbase_url = \"http://file/v1\"\ntemperature = 1\n",
    )
    .variable("PATCHWRIGHT_MODEL__NAME", "variable")
    .variable("PATCHWRIGHT_MODEL__BASE_URL", "http://variable/v1")
    .flag("--model", "model.name", "flag");
    let loaded = place.load();
    let found: Vec<_> = [
        "limits.rounds",
        "limits.attempts",
        "model.temperature",
        "model.base_url",
        "model.name",
    ]
    .into_iter()
    .map(|key| {
        let origin = load::origin(&loaded.entries, key);
        let end = origin.rsplit('/').next().unwrap_or(origin).to_owned();
        let entry = loaded
            .entries
            .iter()
            .find(|entry| entry.key == key)
            .unwrap();
        (entry.value.to_string(), end)
    })
    .collect();
    let expected = [
        ("24", "default"),
        ("2", "config.toml:6"),
        ("1", "given.toml:4"),
        ("\"http://variable/v1\"", "PATCHWRIGHT_MODEL__BASE_URL"),
        ("\"flag\"", "--model"),
    ];
    let expected = expected.map(|(value, origin)| (value.to_owned(), origin.to_owned()));
    assert_eq!(found, expected);
    assert_eq!(loaded.settings.model.temperature, Some(1.0));
    assert_eq!(loaded.settings.limits.attempts, 2);
}

#[test]
fn of_two_flags_for_one_table_the_later_one_counts() {
    let place = Place::new("\"model.name\" = \"m\"\n[model.extra]\ny = 2\n", "")
        .flag("--set", "model.extra", "{ x = 1 }")
        .flag("--set", "model.extra", "{ z = 3 }");
    let settings = place.load().settings;
    let extra: Vec<&str> = settings.model.extra.keys().map(String::as_str).collect();
    assert_eq!((extra, &*settings.model.name), (vec!["y", "z"], "m"));
}

#[test]
fn every_kind_of_value_can_come_from_the_environment() {
    let place = Place::new("", "")
        .variable("PATCHWRIGHT_LIMITS__ATTEMPTS", "7")
        .variable("PATCHWRIGHT_LIMITS__USD", "1.5")
        .variable("PATCHWRIGHT_LIMITS__USD_DAY", "unset")
        .variable("PATCHWRIGHT_LIMITS__WALL", "90s")
        .variable("PATCHWRIGHT_MODEL__STREAM", "false")
        .variable("PATCHWRIGHT_MODEL__API", "responses")
        .variable("PATCHWRIGHT_MODEL__API_KEY", "0123")
        .variable("PATCHWRIGHT_MODEL__WIRE_LOG", "")
        .variable("PATCHWRIGHT_MODEL__OMIT", "[\"stream_options\"]")
        .variable("PATCHWRIGHT_MODEL__EXTRA__TOP_K", "5")
        .variable("PATCHWRIGHT_MODEL__EXTRA__MODE", "fast and loose")
        .variable(
            "PATCHWRIGHT_MODEL__FALLBACKS",
            "[{ name = \"b\", max_output_tokens = 9 }]",
        )
        .variable("PATCHWRIGHT_RECORD", "1")
        .variable("UNRELATED", "x");
    let Settings { model, limits, .. } = place.load().settings;
    assert_eq!((limits.attempts, limits.usd), (7, Some(1.5)));
    assert_eq!(limits.wall, Duration::from_secs(90));
    assert_eq!((limits.usd_day, model.wire_log), (None, None));
    assert_eq!((model.stream, model.api), (false, Api::Responses));
    assert_eq!(model.api_key.expose_secret(), "0123");
    assert_eq!(model.omit, ["stream_options"]);
    assert_eq!(model.extra["top_k"], 5);
    assert_eq!(model.extra["mode"], "fast and loose");
    assert_eq!(model.fallbacks[0].max_output_tokens, Some(9));
}

/// Wrong settings, and the words of the error.
const WRONG: &[(&str, &str)] = &[
    (
        "[model]\nnmae = \"x\"",
        "DIR/given.toml:2: unknown key \"model.nmae\"; did you mean \"model.name\"?",
    ),
    (
        "attempts = 3",
        "DIR/given.toml:1: unknown key \"attempts\"; did you mean \"limits.attempts\"?",
    ),
    (
        "[modle]\nname = \"x\"",
        "DIR/given.toml:2: unknown key \"modle.name\"; did you mean \"model.name\"?",
    ),
    (
        "[zzz]\nqqq = 1",
        "DIR/given.toml:2: unknown key \"zzz.qqq\"; `patchwright config` lists all keys",
    ),
    (
        "[model.timeouts]\nconect = \"1s\"",
        "did you mean \"model.timeouts.connect\"?",
    ),
    ("[model]\nname = ", "DIR/given.toml:2: "),
    ("[limits]\nattempts = \"five\"", "limits.attempts"),
    (
        "[limits]\nattempts = -1",
        "DIR/given.toml:2: limits.attempts",
    ),
    (
        "[limits]\nattempts = 0",
        "DIR/given.toml:2: limits.attempts: must be at least 1",
    ),
    (
        "[limits]\n\nwall = \"soon\"",
        "DIR/given.toml:3: limits.wall: expected a time such as",
    ),
    (
        "[limits]\nwall = \"0s\"",
        "DIR/given.toml:2: limits.wall: must be longer than nothing",
    ),
    (
        "[limits]\nusd = \"much\"",
        "DIR/given.toml:2: limits.usd: expected a floating point",
    ),
    (
        "[limits]\nusd = -3",
        "DIR/given.toml:2: limits.usd: must be zero or more",
    ),
    ("[model]\napi = \"soap\"", "model.api"),
    (
        "[model]\nbase_url = \"localhost:8000\"",
        "DIR/given.toml:2: model.base_url: expected an address",
    ),
    (
        "[model]\nbase_url = \"nonsense\"",
        "DIR/given.toml:2: model.base_url: expected an address",
    ),
    (
        "[model]\ncontext_window = 100",
        "model.context_window: must be larger than model.max_output_tokens",
    ),
    (
        "[[model.fallbacks]]\nbase_url = \"http://h/v1\"",
        "DIR/given.toml:1: model.fallbacks[0].name: is missing",
    ),
    (
        "[[model.fallbacks]]\nname = \"x\"\nnmae = 1",
        "DIR/given.toml:1: model.fallbacks[0].nmae: unknown field `nmae`",
    ),
    ("model = 3", "model"),
    ("[sandbox]\nchoice = \"chroot\"", "sandbox.choice"),
];

#[test]
fn what_is_wrong_is_named_with_its_place() {
    for (file, words) in WRONG {
        let error = Place::new("", file).error();
        assert!(error.contains(words), "{file}\n{error}\n{words}");
    }
}

#[test]
fn a_slip_in_the_environment_or_a_flag_is_named_too() {
    let place = |name: &str| Place::new("", "").variable(name, "x");
    for (error, expected) in [
        (
            place("PATCHWRIGHT_MODEL__NMAE").error(),
            "PATCHWRIGHT_MODEL__NMAE: unknown key \"model.nmae\"; did you mean \"model.name\"?",
        ),
        (
            place("PATCHWRIGHT_MODEL_NAME").error(),
            "PATCHWRIGHT_MODEL_NAME: unknown key \"model_name\"; did you mean PATCHWRIGHT_MODEL__NAME?",
        ),
        (
            Place::new("", "")
                .flag("--set", "limits.attmepts", "1")
                .error(),
            "--set: unknown key \"limits.attmepts\"; did you mean \"limits.attempts\"?",
        ),
        (
            place("PATCHWRIGHT_MODEL__OMIT").error(),
            "PATCHWRIGHT_MODEL__OMIT: model.omit: expected a list, as in [\"a\", \"b\"]",
        ),
    ] {
        assert_eq!(error, expected);
    }
}

#[test]
fn a_file_that_was_asked_for_must_be_there() {
    let mut place = Place::new("", "");
    place.sources.file = Some(PathBuf::from("/nonexistent/x.toml"));
    assert!(
        place
            .error()
            .contains("\"/nonexistent/x.toml\" cannot be read")
    );
}

#[test]
fn folders_follow_the_base_directory_specification() {
    let place = Place::new("", "");
    let home = place.folder.path().join("home");
    let loaded = place.load();
    assert_eq!(
        loaded.settings.store.folder,
        home.join(".local/state/patchwright")
    );
    assert_eq!(
        loaded.settings.cache.folder,
        home.join(".cache/patchwright")
    );
    assert_eq!(load::origin(&loaded.entries, "store.folder"), "$HOME");
    let place = place
        .variable("XDG_STATE_HOME", "/state")
        .variable("XDG_CACHE_HOME", "relative/is/ignored")
        .flag("--state", "store.folder", "/elsewhere");
    let loaded = place.load();
    assert_eq!(loaded.settings.store.folder, PathBuf::from("/elsewhere"));
    assert_eq!(
        loaded.settings.cache.folder,
        home.join(".cache/patchwright")
    );
    let mut homeless = Place::new("", "");
    homeless.sources.variables.clear();
    assert!(
        homeless
            .error()
            .contains("store.folder: neither XDG_STATE_HOME nor HOME is set")
    );
}

proptest! {
    #[test]
    fn no_file_makes_it_panic(text in "[\\[\\]a-z_.=\"0-9\\n {}-]{0,120}") {
        let defaults = layer::Layer::defaults(DEFAULTS).unwrap();
        if let Ok(layer) = layer::Layer::from_toml(&text, "f") {
            let _ = layer.check(&defaults);
        }
    }

    #[test]
    fn no_variable_makes_it_panic(name in "[A-Z_]{0,30}", value in "\\PC{0,30}") {
        let sources = Sources {
            variables: BTreeMap::from([
                (format!("PATCHWRIGHT_{name}"), value),
                ("HOME".to_owned(), "/nonexistent".to_owned()),
            ]),
            ..Sources::default()
        };
        let _ = load(&sources);
    }
}

#[test]
fn the_key_is_found_in_four_places_and_shown_in_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    std::fs::write(&file, "from-file\n").unwrap();
    let name = file.display().to_string();
    let other = || Place::new("", "").variable("OPENAI_API_KEY", "from-others");
    let in_file = || other().flag("--set", "model.api_key_file", &name);
    let in_variable = || in_file().variable("PATCHWRIGHT_MODEL__API_KEY", "from-variable");
    for (place, key, origin) in [
        (Place::new("", ""), "", "default"),
        (other(), "from-others", "OPENAI_API_KEY"),
        (in_file(), "from-file", name.as_str()),
        (in_variable(), "from-variable", "PATCHWRIGHT_MODEL__API_KEY"),
    ] {
        let loaded = place.load();
        assert_eq!(loaded.settings.model.api_key.expose_secret(), key);
        assert_eq!(load::origin(&loaded.entries, "model.api_key"), origin);
        let shown = format!(
            "{loaded:?}{}",
            serde_json::to_string(&loaded.entries).unwrap()
        );
        assert!(!shown.contains("from-"), "{shown}");
    }
}

#[test]
fn keys_of_fallbacks_and_headers_are_not_shown_either() {
    let place = Place::new(
        "[[model.fallbacks]]\nname = \"b\"\napi_key = \"hidden-1\"\n[model.headers]\nx-key = \"hidden-2\"\n",
        "",
    );
    let loaded = place.load();
    let shown = format!(
        "{loaded:?}{}",
        serde_json::to_string(&loaded.entries).unwrap()
    );
    assert!(!shown.contains("hidden-"), "{shown}");
    assert!(shown.contains("set (hidden)"), "{shown}");
}
