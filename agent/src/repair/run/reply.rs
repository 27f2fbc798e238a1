//! Reading of a reply: it leads to queries, a patch, or another try. The answers of a round go back.
//! A question that is not answered is done without.

use super::Run;
use crate::plan::QUERIES;
use crate::prompt;
use crate::record::{ContextText, FollowUp, ProbeQuestion, Probed, ReplyRecord};
use crate::repair::lane::{Finished, Issue, Lane, Stage, assistant};
use patchwright_model::Finish;
use patchwright_patcher::{Probe, Reply, reply};
use patchwright_retrieval::{KINDS, Query};
use patchwright_verdict::RungName;

/// Tags in a block of queries that are no query of their own. Each is read by somebody else:
/// `probe` and `query` by `patcher::reply`, the others by `retrieval::rule` as the keys of a
/// rule, which are ast-grep's. A tag that nobody reads would be left out without a word.
const IN_QUERIES: [&str; 10] = [
    "probe", "query", "pattern", "kind", "regex", "any", "all", "not", "inside", "has",
];

/// Failures of one kind in a row after which alternatives are asked for.
const SAME_FAILURES: u32 = 2;

impl Run {
    pub(super) fn on_context(&mut self, lane: &mut Lane, issue: &Issue, context: ContextText) {
        if let Some(patch) = self.foreign.clone().filter(|_| self.is_foreign(lane)) {
            // Nobody is told an issue; whoever challenges the patch sees the code.
            lane.code = context.text;
            lane.stage = Stage::Locate(patch);
            return;
        }
        let left = self.left();
        let text = match issue.attempt.and_then(|number| self.attempt(number)) {
            None => {
                let issue = prompt::first_issue(
                    (&self.plan, self.origin()),
                    &self.baseline,
                    &issue.crash,
                    &context.text,
                    &left,
                );
                match &self.plan.follows {
                    Some(FollowUp::Revise(revision)) => {
                        format!("{issue}\n{}", prompt::revision(revision))
                    }
                    _ => issue,
                }
            }
            Some(attempt) => {
                let same = lane.same_failures();
                let alternatives = same >= SAME_FAILURES;
                let contest = lane.contestable.map(|_| self.decider());
                let refuted = attempt.refuted_by();
                let differences = super::contest::open(refuted);
                prompt::feedback(
                    (attempt, &context.text),
                    (&differences, contest),
                    alternatives,
                    &left,
                )
            }
        };
        if issue.attempt.is_none() {
            lane.code = context.text;
        }
        lane.memory = context.memory;
        lane.tell(text);
    }

    pub(super) fn on_answer(&mut self, lane: &mut Lane, record: &ReplyRecord) {
        lane.compacted = false;
        lane.messages.push(assistant(&record.text));
        if record.finish == Finish::Refused {
            return self.retry(lane, "You declined to answer. This is defensive work: the program's own maintainers want the bug fixed. Send queries or a patch.", Finished::Refused);
        }
        let read = reply::read(&record.text, record.finish == Finish::Length);
        if let Some(reason) = read.contest.as_deref().filter(|_| !read.cut_off) {
            return self.on_contest(lane, reason);
        }
        match self.judge(&record.text, &read) {
            Ok(Stage::Retrieve {
                queries,
                probes,
                unanswered,
            }) if queries.is_empty() => self.begin_probes(lane, &probes, unanswered),
            Ok(stage) => lane.stage = stage,
            Err((problem, finished)) => self.retry(lane, &problem, finished),
        }
    }

    /// Reads the wish of a reply, or its error and the limit that ends
    /// the lane if it stays so.
    fn judge(&self, text: &str, read: &Reply) -> Result<Stage, (String, Finished)> {
        let format = |text: String| (text, Finished::FormatRetries);
        if read.cut_off {
            return Err(format("Your reply was cut off by the output limit, so nothing of it was used. Send it again, shorter: less prose, only the edits or queries that are needed.".to_owned()));
        }
        let problems = read.problems.iter().map(|problem| format!("- {problem}"));
        let problems: Vec<String> = problems.chain(unknown_tags(text, read)).collect();
        let asks = !read.queries.is_empty() || !read.probes.is_empty();
        if !read.problems.is_empty() && (read.patch.is_some() || !asks) {
            return Err(format(format!(
                "Your reply could not be read:\n{}",
                problems.join("\n")
            )));
        }
        if let Some(patch) = &read.patch {
            return Ok(Stage::Locate(patch.clone()));
        }
        self.judge_queries(read, problems)
    }

    /// Takes the queries that can be answered; of the others is told what is wrong with them,
    /// beside the answers. Only where none is left the model is asked again.
    fn judge_queries(
        &self,
        read: &Reply,
        mut problems: Vec<String>,
    ) -> Result<Stage, (String, Finished)> {
        if self.left().rounds == 0 {
            return Err((
                "No rounds of queries are left. Send a <patch> now, with what you know.".to_owned(),
                Finished::Rounds,
            ));
        }
        let mut queries = Vec::new();
        for query in &read.queries {
            match Query::read(&query.kind, &query.body, &query.attributes) {
                Ok(_) => queries.push(query.clone()),
                Err(error) => problems.push(format!(
                    "- <{}>{}</{}>: {error}",
                    query.kind,
                    head(&query.body),
                    query.kind
                )),
            }
        }
        let mut probes = read.probes.clone();
        if !probes.is_empty() && !self.plan.probes() {
            probes.clear();
            problems.push(
                "- probes cannot be answered, because nothing is executed in this run; use queries"
                    .to_owned(),
            );
        }
        let most = QUERIES;
        let count = queries.len() + probes.len();
        if count > most {
            queries.truncate(most);
            probes.truncate(most - queries.len());
            problems.push(format!(
                "- a round has up to {most} queries, you sent {count}: the first {most} were answered"
            ));
        }
        if queries.is_empty() && probes.is_empty() {
            return Err((
                format!("Your queries could not be used:\n{}", problems.join("\n")),
                Finished::FormatRetries,
            ));
        }
        let unanswered = if problems.is_empty() {
            String::new()
        } else {
            format!("### Not answered\n\n{}\n\n", problems.join("\n"))
        };
        Ok(Stage::Retrieve {
            queries,
            probes,
            unanswered,
        })
    }

    /// Asks again, as long as the limit of malformed replies allows.
    pub(super) fn retry(&mut self, lane: &mut Lane, problem: &str, finished: Finished) {
        self.spent.format_retries += 1;
        let exhausted = self.spent.format_retries > self.plan.limits.format_retries;
        if exhausted {
            lane.stage = Stage::Done(finished);
        } else {
            lane.tell(prompt::problem(problem, &self.left()));
        }
    }

    /// A question that the run can do without was not answered.
    pub(super) fn on_unanswered(&mut self, lane: &mut Lane, stage: Stage, why: &str) {
        match stage {
            Stage::Compact => self.compact(lane, String::new(), Vec::new()),
            Stage::Review(review) => self.unheard(lane, *review, why),
            Stage::AskChallenge(challenge) => self.unchallenged(lane, *challenge, why),
            Stage::Contest(contest) => self.leave_to_person(lane, &contest),
            Stage::Ask => {
                // The author cannot be asked about an attempt that stands.
                let asked = lane.defended(&self.attempts);
                lane.stage = Stage::Done(asked.map_or(Finished::Refused, |_| Finished::Held));
                lane.contestable = None;
            }
            _ => lane.stage = Stage::Done(Finished::Refused),
        }
    }

    /// Asks what was not asked before; where nothing is left to ask, the round is over.
    pub(super) fn begin_probes(&mut self, lane: &mut Lane, probes: &[Probe], answers: String) {
        let built = self.last_built(lane.number);
        let all = probes.iter();
        let all: Vec<_> = all.map(|probe| ProbeQuestion::of(probe, built)).collect();
        let mut open: Vec<ProbeQuestion> = Vec::new();
        for probe in &all {
            if lane.answered(probe).is_none() && !open.contains(probe) {
                open.push(probe.clone());
            }
        }
        if open.is_empty() {
            self.on_probed(lane, (all, &[]), &answers, &Probed::default());
        } else {
            lane.stage = Stage::Probe { all, open, answers };
        }
    }

    /// Tells the answers of a round; of its probes those were asked that were open.
    pub(super) fn on_probed(
        &mut self,
        lane: &mut Lane,
        (all, open): (Vec<ProbeQuestion>, &[ProbeQuestion]),
        answers: &str,
        probed: &Probed,
    ) {
        self.spent.rounds += 1;
        let left = self.left();
        lane.rounds += 1;
        let mut told = Vec::new();
        for probe in all {
            let before = lane.answered(&probe);
            let place = open.iter().position(|asked| *asked == probe);
            let answer = place.and_then(|place| probed.answers.get(place).cloned());
            told.push(probe.told(before, answer.unwrap_or_default()));
            if before.is_none() {
                lane.probed.push((probe, lane.rounds));
            }
        }
        let text = prompt::answers(lane.rounds, answers, &told, &left);
        lane.tell(text);
    }

    /// The last attempt of a lane that was built.
    fn last_built(&self, lane: u32) -> Option<u32> {
        let mut own = self.attempts.iter().filter(|made| made.lane == lane);
        let built = own.rfind(|attempt| attempt.holds(RungName::Builds));
        built.map(|attempt| attempt.number)
    }
}

/// Tells of the tags in a block of queries that are no query: a line that holds one whole.
fn unknown_tags(text: &str, read: &Reply) -> Vec<String> {
    let Some((_, rest)) = text.rsplit_once("<queries>") else {
        return Vec::new();
    };
    let block = rest
        .split_once("</queries>")
        .map_or(rest, |(block, _)| block);
    let unknown = block.lines().filter_map(|line| {
        let inner = line.trim().strip_prefix('<')?;
        let end = inner.find(|one: char| !one.is_ascii_alphanumeric() && one != '_')?;
        let (name, _) = inner.split_at_checked(end)?;
        let closed = inner.ends_with(&format!("</{name}>"));
        let is_read = read.queries.iter().any(|query| query.kind == name);
        let known = is_read || KINDS.contains(&name) || IN_QUERIES.contains(&name);
        (closed && !known)
            .then(|| format!("- <{name}> is no query; the table names those that are"))
    });
    unknown.collect()
}

fn head(text: &str) -> String {
    text.trim().chars().take(80).collect()
}
