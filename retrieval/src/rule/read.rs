//! Parser of the tags of a rule. Code inside `pattern`, `kind` and `regex` is taken
//! as it stands, `<` and `&` included.

/// Limit on how deep tags may be nested; no sensible rule comes near it.
const DEEPEST: usize = 16;

/// A tag of a rule as it was written; the whole rule is one too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) tag: &'static str,
    /// The code in a leaf.
    pub(crate) code: String,
    /// The tags in a branch.
    pub(crate) inside: Vec<Rule>,
}

impl Rule {
    /// Returns whether it says what a match is, not only what it is not.
    pub(crate) fn is_positive(&self) -> bool {
        match self.tag {
            "any" => !self.inside.is_empty() && self.inside.iter().all(Self::is_positive),
            "all" | "rule" => self.inside.iter().any(Self::is_positive),
            tag => LEAVES.contains(&tag),
        }
    }

    fn leaf(tag: &'static str, code: &str) -> Self {
        let code = code.trim().to_owned();
        let inside = Vec::new();
        Self { tag, code, inside }
    }

    fn branch(tag: &'static str, inside: Vec<Self>) -> Self {
        let code = String::new();
        Self { tag, code, inside }
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
    Ok(Rule::branch("rule", rules))
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
    let mut tags = LEAVES.iter().chain(&BRANCHES);
    let opened = tags.find_map(|name| Some((*name, text.strip_prefix(&format!("<{name}>"))?)));
    let Some((name, body)) = opened else {
        return bare_code(text, inside);
    };
    if LEAVES.contains(&name) {
        let (code, after) = body
            .split_once(&format!("</{name}>"))
            .ok_or_else(|| format!("<{name}> is not closed"))?;
        if code.trim().is_empty() {
            return Err(format!("<{name}> is empty"));
        }
        return Ok((Rule::leaf(name, code), after));
    }
    let (rules, after) = read_list(body, Some(name), depth + 1)?;
    Ok((Rule::branch(name, rules), after))
}

/// `<not>free($X)</not>` means the pattern; so does code without any tag.
fn bare_code<'a>(text: &'a str, inside: Option<&str>) -> Result<(Rule, &'a str), String> {
    let end = inside.map_or(Some(text.len()), |name| text.find(&format!("</{name}>")));
    let Some(end) = end else {
        return Err(format!("<{}> is not closed", inside.unwrap_or_default()));
    };
    let (code, after) = text.split_at(end);
    let mut tags = LEAVES.iter().chain(&BRANCHES);
    let has_tag = tags.any(|name| code.contains(&format!("<{name}>")));
    if has_tag || code.starts_with("</") {
        return Err(format!("unexpected {:?} between tags", head(code)));
    }
    Ok((Rule::leaf("pattern", code), after))
}

fn head(text: &str) -> String {
    text.chars().take(40).collect()
}
