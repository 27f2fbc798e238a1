//! Keys: where they are found, and that they are shown nowhere.

use super::Place;
use secrecy::ExposeSecret;

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
        assert_eq!(loaded.origin("model.api_key"), origin);
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
