//! Parser of the tags of a rule. Code inside `pattern`, `kind` and `regex` is taken
//! as it stands, `<` and `&` included.

/// Limit on how deep tags may be nested; no sensible rule comes near it.
const DEEPEST: usize = 16;

/// A rule as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rule {
    Pattern(String),
    Kind(String),
    Regex(String),
    All(Vec<Rule>),
    Any(Vec<Rule>),
    Not(Vec<Rule>),
    Inside(Vec<Rule>),
    Has(Vec<Rule>),
}

impl Rule {
    /// Returns whether it says what a match is, not only what it is not.
    pub(crate) fn is_positive(&self) -> bool {
        match self {
            Self::Pattern(_) | Self::Kind(_) | Self::Regex(_) => true,
            Self::All(rules) => rules.iter().any(Self::is_positive),
            Self::Any(rules) => !rules.is_empty() && rules.iter().all(Self::is_positive),
            Self::Not(_) | Self::Inside(_) | Self::Has(_) => false,
        }
    }
}

const LEAVES: [&str; 3] = ["pattern", "kind", "regex"];
const BRANCHES: [&str; 6] = ["all", "any", "not", "inside", "has", "rule"];

/// Reads what stands inside `<rule>`. Several tags side by side mean all of them.
pub(crate) fn read_rule(text: &str) -> Result<Rule, String> {
    let (rules, rest) = read_list(text, None, 0)?;
    if !rest.trim().is_empty() {
        return Err(format!("unexpected {:?}", head(rest)));
    }
    Ok(Rule::All(rules))
}

/// Reads tags up to the closing tag of `inside`; gives what follows it.
fn read_list<'a>(
    text: &'a str,
    inside: Option<&str>,
    depth: usize,
) -> Result<(Vec<Rule>, &'a str), String> {
    if depth > DEEPEST {
        return Err(format!("tags are nested more than {DEEPEST} deep"));
    }
    let mut rules = Vec::new();
    let mut rest = text.trim_start();
    loop {
        if rest.is_empty() {
            return match inside {
                Some(name) => Err(format!("<{name}> is not closed")),
                None if rules.is_empty() => Err("there is no tag in it".to_owned()),
                None => Ok((rules, rest)),
            };
        }
        if let Some(name) = inside
            && let Some(after) = rest.strip_prefix(&format!("</{name}>"))
        {
            return if rules.is_empty() {
                Err(format!("<{name}> is empty"))
            } else {
                Ok((rules, after))
            };
        }
        let (rule, after) = read_one(rest, inside, depth)?;
        rules.push(rule);
        rest = after.trim_start();
    }
}

fn read_one<'a>(
    text: &'a str,
    inside: Option<&str>,
    depth: usize,
) -> Result<(Rule, &'a str), String> {
    let opened = LEAVES
        .iter()
        .chain(&BRANCHES)
        .find_map(|name| Some((*name, text.strip_prefix(&format!("<{name}>"))?)));
    let Some((name, body)) = opened else {
        return bare_code(text, inside);
    };
    if LEAVES.contains(&name) {
        let (code, after) = body
            .split_once(&format!("</{name}>"))
            .ok_or_else(|| format!("<{name}> is not closed"))?;
        let code = code.trim().to_owned();
        return match (name, code.is_empty()) {
            (_, true) => Err(format!("<{name}> is empty")),
            ("pattern", _) => Ok((Rule::Pattern(code), after)),
            ("kind", _) => Ok((Rule::Kind(code), after)),
            _ => Ok((Rule::Regex(code), after)),
        };
    }
    let (rules, after) = read_list(body, Some(name), depth + 1)?;
    let rule = match name {
        "any" => Rule::Any(rules),
        "not" => Rule::Not(rules),
        "inside" => Rule::Inside(rules),
        "has" => Rule::Has(rules),
        _ => Rule::All(rules),
    };
    Ok((rule, after))
}

/// `<not>free($X)</not>` means the pattern; so does code without any tag.
fn bare_code<'a>(text: &'a str, inside: Option<&str>) -> Result<(Rule, &'a str), String> {
    let end = inside.map_or(Some(text.len()), |name| text.find(&format!("</{name}>")));
    let Some(end) = end else {
        return Err(format!("<{}> is not closed", inside.unwrap_or_default()));
    };
    let (code, after) = text.split_at(end);
    let has_tag = LEAVES
        .iter()
        .chain(&BRANCHES)
        .any(|name| code.contains(&format!("<{name}>")));
    if has_tag || code.starts_with("</") {
        return Err(format!("unexpected {:?} between tags", head(code)));
    }
    Ok((Rule::Pattern(code.trim().to_owned()), after))
}

fn head(text: &str) -> String {
    text.chars().take(40).collect()
}
