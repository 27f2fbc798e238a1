//! A model's whole reply, taken apart with tolerance.
//!
//! Replies are meant to be text with XML-like tags; what models write differs
//! from that in known ways, and all of them are read here: prose and Markdown
//! around the tags, missing closing tags, sloppy attributes, thinking before
//! the answer, quoted examples, raw code between the tags. Reading never fails
//! and never decides where an edit goes: that is [`crate::prepare`].

mod body;
mod challenge;
mod example;
mod fallback;
mod patch;
mod queries;
mod range;
mod scan;
mod tag;
#[cfg(test)]
mod tests;
mod words;

pub use challenge::{ChallengeForm, RawChallenge, challenges};

use crate::Patch;
use scan::{Item, Level, Scan, scan};
use serde::{Deserialize, Serialize};

/// The largest reply that is read, in bytes. Far above any model's limit.
const LONGEST_REPLY: usize = 4 * 1024 * 1024;

/// Content of a reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The analysis; without its tags, the prose before the first block.
    pub analysis: Option<String>,
    /// The queries, in order.
    pub queries: Vec<RawQuery>,
    /// The probes, in order.
    pub probes: Vec<Probe>,
    /// Reason why a difference of behaviour that was shown is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contest: Option<String>,
    /// The patch. Never a part of one: a patch that was cut off is left out.
    pub patch: Option<Patch>,
    /// Parts that could not be read and what to do about them, in words for the model.
    pub problems: Vec<String>,
    /// True when the reply ended before it was complete.
    pub cut_off: bool,
}

/// A query as it was written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawQuery {
    /// The name of its tag.
    pub kind: String,
    /// The text between the tags.
    pub body: String,
    /// The attributes, in order.
    pub attributes: Vec<(String, String)>,
}

/// The question what an expression holds at a line when the PoV runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The file, as it was written.
    pub file: String,
    /// The line, 0 when none was named.
    pub line: u32,
    pub expression: String,
    /// The build that is asked, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// The input that the program is run on, as it was written; else the PoV.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
}

impl Reply {
    fn add_problem(&mut self, what: impl Into<String>) {
        self.problems.push(what.into());
    }
}

/// Reads a reply. `cut_off` tells that the model stopped at its token limit.
pub fn read(text: &str, cut_off: bool) -> Reply {
    let mut reply = Reply {
        cut_off,
        ..Reply::default()
    };
    let mut text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    if text.len() > LONGEST_REPLY {
        text.truncate(text.floor_char_boundary(LONGEST_REPLY));
        reply.cut_off = true;
        reply.add_problem("the reply is too long");
    }
    let scan = scan(&text);
    reply.analysis.clone_from(&scan.analysis);
    let own_tags = ["<patch", "<queries", "<edit"];
    if !own_tags.iter().any(|tag| text.contains(tag))
        && let Some(reason) = contest(&scan.visible)
    {
        reply.contest = Some(reason);
        return reply;
    }
    gather(scan, &text, &mut reply);
    if reply.queries.is_empty() && reply.probes.is_empty() && reply.patch.is_none() {
        nothing_found(&mut reply);
    }
    reply
}

/// Returns the reason in the last `<contest>` of a reply; one that is not closed reaches to
/// the end.
fn contest(visible: &str) -> Option<String> {
    let tags = tag::tags(visible, |name| name == "contest");
    let open = tags.iter().rposition(|tag| !tag.closing && !tag.empty)?;
    let from = tags.get(open)?.end;
    let to = tags.get(open + 1).map_or(visible.len(), |tag| tag.start);
    let reason = visible.get(from..to)?.trim();
    (!reason.is_empty()).then(|| reason.to_owned())
}

/// Takes what was written plainly; what was quoted only where nothing plain is.
fn gather(scan: Scan, text: &str, reply: &mut Reply) {
    let levels = scan.items.iter().map(|(level, _)| *level);
    let level = levels.min().unwrap_or(Level::Plain);
    let mut patches = Vec::new();
    for (_, item) in scan.items.into_iter().filter(|(found, _)| *found == level) {
        match item {
            Item::Questions(questions) => {
                if let Some(name) = questions.unclosed {
                    reply.add_problem(format!(
                        "the query <{name}> is not closed; close it with </{name}>"
                    ));
                }
                reply.queries.extend(questions.queries);
                reply.probes.extend(questions.probes);
            }
            Item::Patch(found) => patches.push(found),
        }
    }
    if level == Level::Loose && patches.len() > 1 {
        reply.add_problem(
            "several patches stand in thinking that was never closed; send one patch outside",
        );
        return;
    }
    if patches.is_empty() && reply.queries.is_empty() && reply.probes.is_empty() {
        fall_back(&scan.visible, reply);
    } else {
        join(patches, text, reply);
    }
}

/// Joins the patch blocks of a reply, unless one of them was cut off.
fn join(patches: Vec<patch::Found>, text: &str, reply: &mut Reply) {
    let mut whole = Patch::default();
    let any = !patches.is_empty();
    for found in patches {
        let at_end = text
            .get(found.end..)
            .is_none_or(|rest| rest.trim().is_empty());
        let incomplete = found.incomplete || (reply.cut_off && !found.closed && at_end);
        if incomplete {
            reply.cut_off = true;
            reply.add_problem(
                "the patch is cut off and was not used; send it again in whole, with every \
                 tag closed, and shorter if need be",
            );
            return;
        }
        let Patch { explanation, edits } = found.patch;
        whole.explanation = match (whole.explanation, explanation) {
            (Some(first), Some(second)) => Some(format!("{first}\n\n{second}")),
            (first, second) => first.or(second),
        };
        for edit in edits {
            if !whole.edits.contains(&edit) {
                whole.edits.push(edit);
            }
        }
    }
    if any && whole.edits.is_empty() {
        reply.add_problem("the patch holds no <edit>, <insert>, <create>, <delete> or <rename>");
    } else if any {
        reply.patch = Some(whole);
    }
}

/// No tag at all: the formats that models are used to.
fn fall_back(visible: &str, reply: &mut Reply) {
    let found = fallback::read(visible, None);
    let is_fence = |line: &&str| line.trim_start().starts_with("```");
    let open_fence = visible.lines().filter(is_fence).count() % 2 == 1;
    if found.incomplete || (reply.cut_off && !found.edits.is_empty() && open_fence) {
        reply.cut_off = true;
        reply.add_problem("the patch is cut off and was not used; send it again in whole");
    } else if reply.cut_off && !found.edits.is_empty() && !visible.contains("```") {
        reply.add_problem("the reply was cut off, so its diff may lack an end and was not used");
    } else {
        reply.patch = (!found.edits.is_empty()).then_some(Patch {
            explanation: None,
            edits: found.edits,
        });
    }
}

fn nothing_found(reply: &mut Reply) {
    let what = match (reply.cut_off, reply.problems.is_empty()) {
        (true, _) => "the reply was cut off before it held queries, a probe or a whole patch",
        (false, true) => "the reply holds neither <queries>, nor a <probe>, nor a <patch>",
        (false, false) => return,
    };
    reply.add_problem(what);
}
