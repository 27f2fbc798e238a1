//! Parser of the text between two tags into a query of its kind.

use super::{KINDS, Query, split_path_and_lines};

/// Limit on how many calls deep callers and callees are followed at most. Beyond that
/// a call graph of a real program reaches nearly everything.
const DEEPEST: u32 = 5;

/// Other words that models use for a kind.
pub(super) fn canonical_kind(kind: &str) -> Option<&'static str> {
    let kind = kind.trim().to_ascii_lowercase();
    let meant = match kind.as_str() {
        "definition" | "function" | "class" | "type" | "macro" | "sym" => "symbol",
        "grep" | "string" | "literal" => "text",
        "words" => "search",
        "ast" | "ast-grep" => "pattern",
        "refs" | "reference" | "uses" | "usages" => "references",
        "caller" => "callers",
        "callee" | "calls" => "callees",
        "implementation" | "subclasses" | "overrides" => "implementations",
        "dataflow" | "data-flow" => "flow",
        other => other,
    };
    KINDS.into_iter().find(|known| *known == meant)
}

/// One query being read.
pub(super) struct Reader<'a> {
    pub(super) kind: &'static str,
    pub(super) body: &'a str,
    pub(super) attributes: &'a [(String, String)],
}

impl Reader<'_> {
    pub(super) fn read(&self) -> Result<Query, String> {
        let body = self.body.to_owned();
        let path = self.attribute(&["path", "file", "in"]).map(str::to_owned);
        Ok(match self.kind {
            "symbol" => Query::Symbol { name: self.name()? },
            "file" => return self.file(),
            "text" => Query::Text {
                regex: self.attribute(&["regex"]).is_some_and(is_yes),
                text: body,
                path,
            },
            "search" => Query::Search { words: body },
            "pattern" => Query::Pattern {
                pattern: body,
                path,
            },
            "rule" => Query::Rule { rule: body, path },
            "references" => Query::References { name: self.name()? },
            "callers" => Query::Callers {
                name: self.name()?,
                depth: self.depth(),
            },
            "callees" => Query::Callees {
                name: self.name()?,
                depth: self.depth(),
            },
            "path" => return self.path(),
            "implementations" => Query::Implementations { name: self.name()? },
            "similar" => Query::Similar { name: self.name()? },
            "flow" => Query::Flow { expression: body },
            _ => Query::Sql { statement: body },
        })
    }

    fn attribute(&self, names: &[&str]) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(name, _)| names.contains(&name.to_ascii_lowercase().as_str()))
            .map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    }

    fn depth(&self) -> u32 {
        self.attribute(&["depth"])
            .and_then(|depth| depth.parse().ok())
            .unwrap_or(1)
            .clamp(1, DEEPEST)
    }

    fn name(&self) -> Result<String, String> {
        clean_name(self.body)
            .ok_or_else(|| self.malformed("write the name of one symbol, such as parse_header"))
    }

    fn file(&self) -> Result<Query, String> {
        let (path, mut lines) = split_path_and_lines(strip_quotes(self.body));
        if lines.is_empty()
            && let Some(given) = self.attribute(&["lines", "line", "range"])
        {
            lines = split_path_and_lines(&format!("x:{given}")).1;
        }
        if path.is_empty() || path.contains('\n') {
            return Err(self.malformed("write one path, such as src/a.c:10-40"));
        }
        Ok(Query::File { path, lines })
    }

    fn path(&self) -> Result<Query, String> {
        let ends = ["->", "=>", "\u{2192}", "\n", " to ", ","]
            .iter()
            .find_map(|arrow| self.body.split_once(arrow))
            .or_else(|| self.body.split_once(char::is_whitespace));
        let found = ends.and_then(|(from, to)| {
            let (from, to) = (clean_name(from)?, clean_name(to)?);
            Some(Query::Path { from, to })
        });
        found.ok_or_else(|| self.malformed("write two functions, as in: caller -> callee"))
    }

    pub(super) fn more(&self) -> Result<Query, String> {
        self.attribute(&["query", "number", "of"])
            .unwrap_or(self.body)
            .trim_start_matches(['#', ' '])
            .parse()
            .map(|query| Query::More { query })
            .map_err(|_| self.malformed("name the earlier query by its number: query=\"2\""))
    }

    pub(super) fn malformed(&self, reason: &str) -> String {
        format!("<{}> was not understood: {reason}", self.kind)
    }
}

fn is_yes(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "1")
}

fn strip_quotes(body: &str) -> &str {
    body.trim().trim_matches(['`', '"', '\'']).trim()
}

/// The bare name: no quotes, no parameter list, no keyword of a declaration.
fn clean_name(body: &str) -> Option<String> {
    let name = body.replace("&lt;", "<").replace("&gt;", ">");
    let name = strip_quotes(&name).trim_start_matches('@');
    let operator = name.contains("operator");
    let name = match name.find('(') {
        Some(at) if at > 0 && !operator => name.get(..at)?,
        _ => name,
    };
    let mut name = name.trim();
    for keyword in "struct |union |enum |class |interface |#define ".split('|') {
        name = name.strip_prefix(keyword).unwrap_or(name).trim();
    }
    let name = name.trim_matches([';', ',', '&', '*']).trim();
    (!name.is_empty() && !name.contains('\n')).then(|| name.to_owned())
}
