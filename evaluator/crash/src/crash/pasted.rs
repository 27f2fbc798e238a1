//! Texts that people paste: mails, issues and logs of build servers with crash reports in
//! them, as opposed to the output of a run.
//!
//! The dirt of such texts is removed first: quotes, HTML, Markdown, timestamps, escapes
//! and wrapped lines. Several reports in one text are told apart. A text without any is
//! not read here.

use super::around::is_told;
use super::commands_in_text::{is_announced, read_line};
use super::draft::Draft;
use super::{
    CrashReport, Frame, FrameOrigin, PASTED, Strength, Tool, forms, ips, java, log_prefix, native,
    parse_with, phrases, purify, sanitizer, threads, undefined, valgrind,
};
use patchwright_source::{Pattern, built_in_regex, regex};
use regex::Regex;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

/// The most reports that are told apart in one text.
const MAX_REPORTS: usize = 16;
/// Line lengths from which a mail program or a tracker wraps.
const WRAPPED: std::ops::RangeInclusive<usize> = 60..=80;

/// Prefixes that systems write in front of each line: continuous integration, systemd's journal, a
/// kernel's log, Android's log in two forms, a counter of build steps; and colours without their escape.
static PREFIX: Pattern = Pattern::new(
    r"(?x)^(?:
          (?:\d{4}-)?\d\d-\d\d[T\ ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\s?
        | \d+-\d+/\S+\ [VDIWEFA]/[^:]{1,60}:\ ?
        | \p{L}{3,5}\.?\ [\ \d]\d\ \d\d:\d\d:\d\d\ \S+\ [\w./@-]+(?:\[\d+\])?:\s
        | \s*\d+\s+\d+\s[A-Z]\s\S+\s*:\s
        | [VDIWEF]/[^(]{1,60}\(\ *\d+\):\ ?
        | \[\s*\d+\.\d{6}\](?:\[\s*[TC]\d+\])?\s
        | \[\d+/\d+\]\s
        | \[\d\d:\d\d:\d\d(?:\.\d+)?\]\s?
        | \#\#\[\w+\]
        | [-*]\ \[[\ xX]\]\ 
        | (?:>\ ?)+
        )",
);
/// Parts that lines lost on their way, with their repair.
static LOST: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let repairs =
        phrases::rows("repairs").map(|(_, row)| row.split_once(" => ").unwrap_or((row, "")));
    let repairs = repairs.map(|(lost, whole)| (built_in_regex(lost), whole));
    repairs.collect()
});
/// A frame or an exception of IBM's J9, with slashes in names and the module before the file.
static J9: Pattern = Pattern::new(
    r"^(\s*at )((?:[\w$]+/){2,}[\w$]+\.[\w$<>]+)( ?\()(?:[\w.]+@[\w.]+/)?|^((?:Caused by: )?)((?:[a-z]\w*/)+[A-Z][\w$]*(?:Exception|Error))(: |\s*$)",
);
/// Comments, entities and marks of HTML, and pictures of a screen.
static ENTITY: Pattern = Pattern::new(
    r"(?s:<!--.*?-->)|!\[(?i:image|img|screen)[^\]\n]*\]\([^)\n]*\)|&(?:lt|gt|amp|quot|nbsp|#39|#x27);|<br\s*/?>\n?|</?(?:pre|code|p|div|span)\b[^>]*>|</?em>",
);

/// Characters that Markdown would take for its own, and that code never escapes.
static MARKDOWN: Pattern = Pattern::new(r"\\([#`_*~])");

/// The beginning of a frame with its address, or a whole one of Java: a line has only one.
static FRAME_OF_LINE: Pattern = Pattern::new(
    r"\s*(#\d{1,3}\s+0x[0-9a-f]+ (?:in |\()|\bat (?:[\w$]+\.)+[\w$<>]+\((?:[\w$]+\.java:\d+(?:\)|$)|(?:Native Method|Unknown Source)\))|Caused by: )",
);

static GDB_FRAME: Pattern = Pattern::new(r"^#\d+ +(?:0x[0-9a-f]+ in )?\S.* \(");
/// A command that was wrapped in its middle: between backquotes, or as shells wrap.
static WRAPPED_CODE: Pattern = Pattern::new(
    r"(?m)^((?:[^`\n]*[\s(])?`[^`'\n]+)\n([^`'\n]*`(?:[^`\w\n][^`\n]*)?)$|[ \t]\\\r?\n[ \t]*([A-Za-z./$\x22'_-])",
);
static CODE_IN_A_SENTENCE: Pattern = Pattern::new(r"(?m)^`([^`]+)`\s*$|`([^`\n]+)`");

/// Lines of logs that are neither a report's first line nor a frame.
static LOG: Pattern = Pattern::new(
    r"(?x)^\s{2,}(?:\d+:\s+\S|at\s+\S+:\d+)|^(?:\*\ |\s*)(?:frame\ \#\d+:\ |thread\ \#\d+)|^(?:Using\ host\ libthread_db|\[(?:New\ )?Thread\ |\[Inferior\ )|^note:\ (?:run\ with|Some\ details)|^\s*(?:
          \*{3}\ |[A-Z][\w\ ]*:\ '.*'\s*$|pid:\ \d+,|.*\bBuildId:|build\ id:|[a-z][a-z\d]{1,3}\s+[0-9a-f]{8,16}\s|[a-z][a-z\d]{1,3}:\s+0x[0-9a-f]{8,16}\b
        | goroutine\ \d+\ \[|\S+\.[\w*().]+\(0x|/\S+\.go:\d+|\d+\s+\S+:\ No\ such\ file\ or\ directory\.|\(gdb\)
        | (?:Modules\ linked\ in|CPU|Oops|Hardware\ name|R?IP|Call\ Trace|PGD|Code|Internal\ error):?\ |R[A-Z0-9]{2}:\ 
        | (?:Crash\ reason|Crash\ address|Process\ uptime|Found\ by):\ |Operating\ system:\ (?:Linux|Windows\ NT|Mac\ OS\ X|Android|iOS)$|GPU:\ UNKNOWN|Thread\ \d+\ \(crashed\)|(?i:[er](?:[abcd]x|[sd]i|[sbi]p|\d+)\ ?=\ ?(?:0x)?[0-9a-f]{8,16}\b|cs=[0-9a-f]{4}\b)
        | This\ frame\ has\ \d+\ object|\[\d+,\ \d+\)\ '|HINT:\ this\ may\ be|\(longjmp\ and\ C
        | what\(\):\ |\S+:\d+:\ .*:\ Assertion\ .*failed|(?:\[[^\]]*\]\s*)+<?(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b
        | Faulting\ [\w\ -]+:|(?:Exception\ code|Fault\ offset|Report\ Id):|[A-Z][\w\ ]+:\ {4,}\S|==\d+(?:==|:)|\[signal\ SIG|(?:INFO|WARN|ERROR)\t|INFO:\ (?:Running\ with|Seed:|Loaded\ \d|seed\ corpus|-max_len|A\ corpus)|\S+:\ Running\ \d+\ inputs\ \d|={5,}|-{5,}\s*$|SUMMARY:\ |Shadow\ byte|=?>?0x[0-9a-f]+|\#\d+\s
        | (?:READ|WRITE)\ of\ size|(?:\w+\ )?(?:allocated|freed|stored)\b.*(?:here|at|from):$
        | [A-Z][\w\ -]*:\s+[0-9a-f]{2}(?:\ [0-9a-f]{2})*\s*$|(?:Direct|Indirect)\ leak\ of
        | Caused\ by:\ |\.\.\.\ \d+\ more|at\ [\w.$/<>]+\(|\d+\s+\S.*\s0x[0-9a-f]{6,}\s|[\w./-]+\(\+?[\w+]*\)\s?\[0x
        )",
);

/// A field of a form that names the program's version.
static VERSION_OF_FORM: Pattern =
    Pattern::new(r"^(?:[A-Z][\w ]{0,24})?\b(?i:version|revision|commit)\s*:\s+\S*\d");

static VERSION_OF_SYSTEM: Pattern = Pattern::new(
    r"^(?:.*\b)?(?:OS|Module|Report|Driver|Kernel|SDK|Firmware|Runtime|JRE|VM) \w+\s*:",
);

/// Lines between two of one log that may be anything.
const GAP: usize = 8;
/// Bytes of a text in which a person's words are searched; what is longer is a log.
const MAX_WORDS: usize = 256 * 1024;

/// Returns what a person wrote in a text: the text without its logs, but with the commands
/// that stand in them; and whether there is a log.
pub(super) fn words_of(text: &str) -> (String, bool) {
    let head = text.get(..text.floor_char_boundary(MAX_WORDS));
    let text = clean(head.unwrap_or_default());
    let lines: Vec<&str> = text.lines().collect();
    let blank = |at: usize| lines.get(at).is_none_or(|line| line.trim().is_empty());
    // A line alone above the rest is a title, whatever it speaks of.
    let title = (0..lines.len())
        .find(|at| !blank(*at))
        .filter(|at| blank(at + 1));
    let is_log = |number: usize, line: &str| {
        let begun = begun(line).is_some_and(|strength| strength < Strength::Last);
        let frame = native::read(line).is_some() || java::read_frame(line).is_some();
        LOG.is_match(line) || frame || forms::is_frame(line) || Some(number) != title && begun
    };
    let (mut words, mut has_log) = (String::new(), false);
    let mut from = 0;
    for (block, part) in lines.split(|line| is_fence(line)).enumerate() {
        let logs: Vec<usize> = (0..part.len())
            .filter(|at| part.get(*at).is_some_and(|line| is_log(from + at, line)))
            .collect();
        has_log |= !logs.is_empty() || part.iter().any(|line| begun(line).is_some());
        let whole = block % 2 == 1 && logs.len() > 1;
        // Above the log of a block that holds a whole report are words.
        let head = logs
            .first()
            .filter(|_| whole)
            .and_then(|log| part.get(..*log));
        let told = head.filter(|head| is_told(&head.join("\n")));
        let told = told.map_or(0, <[&str]>::len);
        for (at, (line, hidden)) in part.iter().zip(in_logs(part, &logs)).enumerate() {
            // In a block the command stands right above what it printed, or at its beginning.
            let above = block % 2 == 1 && (at == 0 || logs.first() == Some(&(at + 1)));
            if !(whole && at >= told || hidden)
                || is_announced(line)
                || VERSION_OF_FORM.is_match(line) && !VERSION_OF_SYSTEM.is_match(line)
                || above && !read_line(line, true).is_empty()
            {
                words.push_str(line);
                words.push('\n');
            }
        }
        from += part.len() + 1;
        words.push_str("```\n");
    }
    words.truncate(words.len() - "```\n".len());
    (words, has_log)
}

/// Returns the most detail that a report which begins with this line may have.
fn begun(line: &str) -> Option<Strength> {
    PASTED.begun(line).map(|(_, family)| family.strength).min()
}

/// Tells of each line whether it belongs to the logs of which some lines are known.
fn in_logs(lines: &[&str], logs: &[usize]) -> Vec<bool> {
    let mut inside = vec![false; lines.len()];
    let mut put_inside = |lines: Range<usize>| inside.get_mut(lines).map(|lines| lines.fill(true));
    let mut last = None;
    for log in logs {
        let near = last.filter(|last| log - last <= GAP);
        put_inside(near.unwrap_or(*log)..log + 1);
        last = Some(*log);
    }
    // What is indented together is one block too.
    let mut begin = 0;
    for run in lines.chunk_by(|one, next| class(one) == class(next)) {
        let end = begin + run.len();
        if let Some(head) = run.first().filter(|line| class(line).is_some()) {
            // Right below a frame stand its variables.
            let below = |log: usize| !head.trim().is_empty() && log + 1 == begin;
            if logs
                .iter()
                .any(|log| (begin..end).contains(log) || below(*log))
            {
                put_inside(begin..end);
            }
        }
        begin = end;
    }
    inside
}

/// Returns the mark of a line of a block that is one piece: indented as code is, or empty
/// between such lines; or behind a hash, as the JVM writes.
fn class(line: &str) -> Option<char> {
    let code = line.trim().is_empty() || line.starts_with("    ") || line.starts_with('\t');
    let jvm = line == "#" || line.starts_with("# ");
    code.then_some(' ').or(jvm.then_some('#'))
}

pub(super) fn is_fence(line: &str) -> bool {
    ["```", "~~~"]
        .iter()
        .any(|mark| line.trim_start().starts_with(mark))
}

/// Reads every crash report of a pasted text; the one that shows most of the project comes
/// first.
pub fn read_pasted(text: &str) -> Vec<CrashReport> {
    let text = bare(text);
    let mut found: Vec<CrashReport> = reports(&text).into_iter().flat_map(by_site).collect();
    found.sort_by_key(|report| std::cmp::Reverse(project_frames(report)));
    let mut further = further(&text, &found);
    // What follows the first error of a run is mostly its consequence, and never leads.
    let unplaced = found.first().is_some_and(|report| report.stacks.is_empty());
    if unplaced || found.iter().any(|report| report.tool == Tool::Java) {
        found.append(&mut further);
        found.sort_by_key(|report| std::cmp::Reverse(project_frames(report)));
    }
    found.append(&mut further);
    found
}

/// Finds further reports of a tool that tells many errors of one run, or whose reports need
/// no frame of their own line.
fn further(text: &str, found: &[CrashReport]) -> Vec<CrashReport> {
    type Begins = fn(&str) -> bool;
    let tools: [(Tool, Begins); 3] = [
        (Tool::Valgrind, valgrind::FAMILY.begins),
        (Tool::UndefinedBehaviorSanitizer, undefined::is_finding),
        (Tool::Java, java::looks_like_exception),
    ];
    let mut further: Vec<CrashReport> = Vec::new();
    for (tool, begins) in tools {
        if !found.iter().any(|report| report.tool == tool) {
            continue;
        }
        for report in parts(text, begins).filter_map(|part| parse_with(&PASTED, part)) {
            let is_whole = report.tool == tool && !report.stacks.is_empty();
            if is_whole && !is_known(found, &report) && !is_known(&further, &report) {
                further.push(report);
            }
        }
    }
    further
}

/// Tells whether one of the reports is this crash, seen from its innermost frame.
fn is_known(found: &[CrashReport], report: &CrashReport) -> bool {
    let top = report.first_project_frame();
    let mut known = found.iter().map(CrashReport::first_project_frame);
    known.any(|known| known == top)
}

/// Reads the crash report of a pasted text that shows most of the project.
pub fn read_leading(text: &str) -> Option<CrashReport> {
    // Of equals the first leads.
    let reports = reports(&bare(text)).into_iter().rev();
    reports.max_by_key(project_frames)
}

/// Reads the reports in the order of the text.
fn reports(text: &str) -> Vec<CrashReport> {
    let mut reports: Vec<CrashReport> = Vec::new();
    for part in parts(text, sanitizer::FAMILY.begins) {
        let report = parse_with(&PASTED, part).or_else(|| bare_exception(part));
        if let Some(report) = report
            && !reports.contains(&report)
            && !(["hang", "deadlock"].contains(&report.kind.as_str())
                && threads::are_read(&words_of(text).0))
        {
            reports.push(report);
        }
    }
    reports
}

/// Returns a text without its dirt and its Markdown, where a log may be code in a sentence.
fn bare(text: &str) -> String {
    let text = clean(text).replace("```", "\n");
    let own_line = |found: &regex::Captures<'_>| {
        let code = found.get(1).or(found.get(2));
        let code = code.map_or("", |code| code.as_str());
        if code.lines().any(|line| PASTED.marks.is_match(line)) {
            format!("\n{code}\n")
        } else {
            format!("`{code}`")
        }
    };
    CODE_IN_A_SENTENCE.replace_all(&text, own_line).into_owned()
}

/// Splits a report of leaks: each site of allocation is a leak of its own.
fn by_site(report: CrashReport) -> Vec<CrashReport> {
    if report.tool != Tool::LeakSanitizer {
        return vec![report];
    }
    let mut sites: Vec<CrashReport> = Vec::new();
    for stack in &report.stacks {
        let mut known = sites.iter().flat_map(|site| &site.stacks);
        if !known.any(|known| known.frames == stack.frames) {
            let title = stack.title.as_deref().unwrap_or_default();
            let mut site = CrashReport {
                purified: format!("{title}\n{}", purify::stack_text(&stack.frames)),
                stacks: vec![stack.clone()],
                ..report.clone()
            };
            site.summary = purify::summary(&site, "");
            sites.push(site);
        }
    }
    if sites.len() < 2 {
        return vec![report];
    }
    // Only the last one can be cut.
    for site in sites.iter_mut().rev().skip(1) {
        site.cut = false;
    }
    sites
}

/// Counts the frames of the project with a place.
fn project_frames(report: &CrashReport) -> usize {
    let is_placed =
        |frame: &&Frame| frame.line.is_some() && FrameOrigin::of(frame) == FrameOrigin::Project;
    let stack = report.main_stack();
    stack.map_or(0, |stack| stack.frames.iter().filter(is_placed).count())
}

/// Cuts a text where a further report of a family begins.
fn parts(text: &str, begins: fn(&str) -> bool) -> impl Iterator<Item = &str> {
    let mut at = 0;
    let mut starts = Vec::new();
    for line in text.split_inclusive('\n') {
        if begins(line.trim_end()) && starts.len() < MAX_REPORTS {
            starts.push(at);
        }
        at += line.len();
    }
    // What stands above the first report belongs to it.
    let starts = starts.into_iter().skip(1).chain([text.len()]);
    starts.scan(0, move |from, to| text.get(std::mem::replace(from, to)..to))
}

/// Reads an exception that stands alone: the JVM leaves the stack of one that it threw
/// often out (`OmitStackTraceInFastThrow`).
fn bare_exception(text: &str) -> Option<CrashReport> {
    // Games write `Error: ` in front.
    let lines = text
        .lines()
        .map(|line| line.trim().trim_start_matches("Error: "));
    let mut exceptions = lines.filter_map(|line| Some((line, java::exception(line)?)));
    let (line, (class, message)) = exceptions.find(|(_, (class, _))| {
        let throwable = class.ends_with("Exception") || class.ends_with("Error");
        class.contains('.') && throwable
    })?;
    let mut draft = Draft::new(Tool::Java, class);
    message.clone_into(&mut draft.message);
    draft.say(line);
    draft.say("(no stack: the JVM leaves it out where it threw the same exception often)");
    Some(purify::finish(draft))
}

/// Returns a text without what mail programs, trackers and build servers add.
fn clean(text: &str) -> String {
    let text = unescape(text);
    let text = ips::as_text(&text).map_or(text, Cow::Owned);
    let text = ENTITY.replace_all(&text, |found: &regex::Captures<'_>| {
        let text = match found.get(0).map_or("", |found| found.as_str()) {
            "&lt;" => "<",
            "&gt;" => ">",
            "&amp;" => "&",
            "&quot;" => "\"",
            "&nbsp;" => " ",
            "&#39;" | "&#x27;" => "'",
            tag if tag.starts_with("<br") => "\n",
            // Jira shows what stands between two of them like this.
            "<em>" | "</em>" => "_",
            // Somebody put the log into the comment of a form.
            comment if comment.lines().any(|line| begun(line).is_some()) => {
                return comment.to_owned();
            }
            _ => "",
        };
        text.to_owned()
    });
    let text = WRAPPED_CODE.replace_all(&text, "$1 $2$3");
    let lines: Vec<&str> = text.lines().collect();
    let is_logged = |at: usize| {
        let line = lines.get(at).filter(|line| !line.starts_with('>'));
        line.is_some_and(|line| PREFIX.is_match(line))
    };
    // Between two lines of a logger an empty one is nobody's.
    let spaced = |at: usize, line: &str| {
        line.trim().is_empty() && is_logged(at.wrapping_sub(1)) && is_logged(at + 1)
    };
    let lines = lines
        .iter()
        .enumerate()
        .filter(|(at, line)| !spaced(*at, line));
    let lines: Vec<Cow<'_, str>> = lines.map(|(_, line)| clean_line(line)).collect();
    join_wrapped(&log_prefix::without_prefixes(
        lines.iter().map(AsRef::as_ref),
    ))
}

/// Undoes the escapes of a log that was kept as one JSON string, or converted to Markdown.
fn unescape(text: &str) -> Cow<'_, str> {
    if MARKDOWN.find_iter(text).nth(2).is_some() {
        return MARKDOWN.replace_all(text, "$1");
    }
    let escaped = text.matches("\\n").count();
    if escaped < 3 || escaped < text.lines().count() {
        // One field of a log that is not shown as a whole.
        let frame = "\\n\\tat ";
        return if text.contains(frame) {
            Cow::Owned(text.replace(frame, "\n\tat "))
        } else {
            Cow::Borrowed(text)
        };
    }
    let text = text.replace("\\n", "\n").replace("\\t", "\t");
    Cow::Owned(text.replace("\\u001b", "\u{1b}").replace("\\\"", "\""))
}

fn clean_line(line: &str) -> Cow<'_, str> {
    // A prompt, not the quotation of a mail.
    if let Some(command) = line.strip_prefix("> ./") {
        return Cow::Owned(format!("$ ./{command}"));
    }
    let mut rest = line;
    while let Some(found) = PREFIX.find(rest) {
        rest = rest.get(found.end()..).unwrap_or_default();
    }
    if let Some(cell) = rest
        .strip_prefix("| ")
        .and_then(|rest| rest.trim_end().strip_suffix('|'))
    {
        rest = cell.trim_end();
    }
    // Marks of a comment before those of a log.
    rest = rest
        .strip_prefix("//")
        .filter(|log| log.starts_with('#'))
        .unwrap_or(rest);
    // Each line in marks of its own.
    let bare = rest.trim_end().strip_prefix('`');
    let bare = bare.and_then(|code| code.strip_suffix('`'));
    let bare = bare.filter(|code| !code.contains('`') && native::read(code).is_some());
    rest = bare.unwrap_or(rest);
    // A log that was indented as a whole; only gdb's begins at the margin.
    let frame = rest.trim_start();
    if frame.starts_with('#') && frame.len() < rest.len() && GDB_FRAME.is_match(frame) {
        rest = frame;
    }
    let mut line = Cow::Borrowed(rest);
    if FRAME_OF_LINE.find_iter(rest).nth(2).is_some() {
        line = FRAME_OF_LINE.replace_all(rest, "\n$1");
    }
    if J9.is_match(&line) {
        let dotted = |found: &regex::Captures<'_>| {
            let (_, [begin, name, end]) = found.extract();
            format!("{begin}{}{}", name.replace('/', "."), end.trim_start())
        };
        line = Cow::Owned(J9.replace(&line, dotted).into_owned());
    }
    // Valgrind goes on in a line that the program did not end.
    let unended = regex!(r"^([^=\s][^=]*[^=\s])(==\d+== )");
    if unended.is_match(&line) {
        line = Cow::Owned(unended.replace(&line, "$1\n$2").into_owned());
    }
    for (lost, whole) in LOST.iter().filter(|(lost, _)| lost.is_match(rest)) {
        line = Cow::Owned(lost.replace_all(&line, *whole).into_owned());
    }
    line
}

/// Joins frames that were wrapped: the line alone has no place, with the next one it has.
fn join_wrapped(lines: &[&str]) -> String {
    let mut text = String::new();
    let mut lines = lines.iter().peekable();
    while let Some(line) = lines.next() {
        text.push_str(line);
        let place = |line: &str| {
            let (_, frame) = native::read(line)?;
            frame.file.or(frame.module)
        };
        // The kernel's line for a program that died, which a frame's width does not measure.
        let kernel = line.contains("segfault at ") && line.trim_end().ends_with(" sp");
        let goes_on = |next: &str| {
            kernel
                || line.trim_end().ends_with(": runtime error:")
                || WRAPPED.contains(&line.chars().count())
                    && native::is_frame_start(line)
                    && !next.trim_start().starts_with(['#', '='])
                    && place(line).is_none()
                    && place(&format!("{} {}", line.trim_end(), next.trim())).is_some()
        };
        if let Some(next) = lines.next_if(|next| goes_on(next)) {
            text.push(' ');
            text.push_str(next.trim());
        }
        text.push('\n');
    }
    text
}
