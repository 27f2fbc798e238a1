//! Checks beyond the types of the settings: values that would make no sense.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::value::{UNSET, parse_duration};
use crate::{Entry, Settings, SettingsError};

/// A key, and what would be right.
type Problem = (String, String);

/// The keys that each rule holds for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    address: Vec<String>,
    address_where_set: Vec<String>,
    longer_than_nothing: Vec<String>,
    at_least_one: Vec<String>,
    zero_or_more: Vec<String>,
}

/// The first value that makes no sense.
pub(super) fn first_problem(
    settings: &Settings,
    entries: &[Entry],
) -> Result<Option<Problem>, SettingsError> {
    let rules = toml::from_str(include_str!("check.toml"));
    let rules: Rules = rules.map_err(|error| SettingsError::defaults(&error))?;
    let first = |keys: &[String], wrong: fn(&str) -> Option<String>| {
        let mut values = keys.iter().flat_map(|key| values(entries, key));
        values.find_map(|(key, text)| Some((key.to_owned(), wrong(&text)?)))
    };
    Ok(first(&rules.address, bad_address)
        .or_else(|| first(&rules.address_where_set, |text| bad_address(set(text)?)))
        .or_else(|| first(&rules.longer_than_nothing, instant))
        .or_else(|| first(&rules.at_least_one, none))
        .or_else(|| first(&rules.zero_or_more, |text| negative(set(text)?)))
        .or_else(|| relations(settings)))
}

/// Returns the values of a key, each with the key that was set.
fn values<'e>(entries: &'e [Entry], key: &str) -> Vec<(&'e str, String)> {
    let mut found = Vec::new();
    for entry in entries {
        let values: Vec<&Value> = match key.strip_prefix(&entry.key) {
            Some("") => vec![&entry.value],
            Some(rest) => {
                let field = rest.trim_start_matches('.');
                let items = entry.value.as_array().into_iter().flatten();
                items.filter_map(|item| item.get(field)).collect()
            }
            None => Vec::new(),
        };
        found.extend(values.into_iter().map(|value| {
            let text = value.as_str().map(str::to_owned);
            let text = text.unwrap_or_else(|| value.to_string());
            (entry.key.as_str(), text)
        }));
    }
    found
}

fn set(text: &str) -> Option<&str> {
    (!text.is_empty() && text != UNSET).then_some(text)
}

fn bad_address(address: &str) -> Option<String> {
    let expected = "expected an address such as \"http://127.0.0.1:8000/v1\"";
    match url::Url::parse(address) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => None,
        Ok(url) => Some(format!(
            "{expected}, found the scheme {:?} in {address:?}",
            url.scheme()
        )),
        Err(error) => Some(format!("{expected}, found {address:?} ({error})")),
    }
}

fn instant(text: &str) -> Option<String> {
    let is_none = parse_duration(text).is_ok_and(|time| time.is_zero());
    is_none.then(|| "must be longer than nothing".to_owned())
}

fn none(text: &str) -> Option<String> {
    let number = text.trim().parse::<f64>();
    let some = number.is_ok_and(|number| number.round() >= 1.0);
    (!some).then(|| "must be at least 1".to_owned())
}

fn negative(text: &str) -> Option<String> {
    let number = text.trim().parse::<f64>();
    let fine = number.is_ok_and(|number| number.is_finite() && number >= 0.0);
    (!fine).then(|| format!("must be zero or more, found {text}"))
}

/// Values that do not fit each other, or what they are for.
fn relations(settings: &Settings) -> Option<Problem> {
    let (model, queue) = (&settings.model, &settings.queue);
    let (output, share) = (model.max_output_tokens, settings.limits.probability);
    if model.context_window <= output.into() {
        let message = format!("must be larger than model.max_output_tokens ({output})");
        return Some(("model.context_window".to_owned(), message));
    }
    if !(0.0..=1.0).contains(&share) {
        let message = format!("must lie between 0 and 1, found {share}");
        return Some(("limits.probability".to_owned(), message));
    }
    if queue.lost_after < (queue.heartbeat * 2).max(Duration::from_secs(2)) {
        let message = "must be at least twice queue.heartbeat, and 2s";
        return Some(("queue.lost_after".to_owned(), message.to_owned()));
    }
    let mut folders = settings.intake.folders.iter();
    let relative = folders.find(|folder| !folder.is_absolute())?;
    let message = format!("must be absolute, found {}", relative.display());
    Some(("intake.folders".to_owned(), message))
}

#[cfg(test)]
mod tests {
    use crate::DEFAULTS;

    #[test]
    fn each_rule_is_for_a_setting_that_there_is() {
        let rules: toml::Table = toml::from_str(include_str!("check.toml")).unwrap();
        let defaults: toml::Value = toml::from_str(DEFAULTS).unwrap();
        for key in rules.values().flat_map(|keys| keys.as_array().unwrap()) {
            let mut place = &defaults;
            for part in key.as_str().unwrap().split('.') {
                if place.is_array() {
                    break;
                }
                place = place.get(part).unwrap_or_else(|| panic!("{key}"));
            }
        }
    }
}
