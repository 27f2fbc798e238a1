//! Facts of a project's `project.yaml` of OSS-Fuzz. Its commands are made where tasks are.

/// The language of a task for a word of OSS-Fuzz.
pub fn language_of(word: &str) -> Option<&'static str> {
    match word {
        "c" => Some("c"),
        "c++" => Some("c++"),
        "jvm" | "java" => Some("java"),
        _ => None,
    }
}

/// Returns the value of a key at the top of a YAML file: a plain or quoted word.
pub fn yaml_value(yaml: &str, key: &str) -> Option<String> {
    let mut lines = yaml.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(name, _)| *name == key)?;
    let value = value.split(" #").next().unwrap_or(value);
    Some(value.trim().trim_matches(['"', '\'']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::{language_of, yaml_value};

    #[test]
    fn a_project_tells_its_language_and_its_repository() {
        let yaml = "homepage: \"https://a.org\"\nlanguage: c++ # the harness\nmain_repo: 'https://a.org/a.git'\n";
        let language = yaml_value(yaml, "language");
        assert_eq!(language.as_deref().and_then(language_of), Some("c++"));
        let repository = yaml_value(yaml, "main_repo");
        assert_eq!(repository.as_deref(), Some("https://a.org/a.git"));
        assert_eq!(yaml_value(yaml, "sanitizers"), None);
    }
}
