//! An edit of lines: read in every way it can be meant, placed by one.

use super::{Piece, Plan, refuse, text};
use crate::guard::Denied;
use crate::locate::{Found, Place, Wanted, locate, locate_similar, nearest};
use crate::merge::{Line, merge};
use crate::numbers::{self, NewLines, Numbered};
use crate::pristine::{Pristine, key};
use crate::splice::Splice;
use crate::unescape::unescape;
use crate::{Edit, How, Refusal, Rule};
use patchwright_source::{Encoding, TreePath};

/// How many lines of the file a refusal shows.
const SHOWN: usize = 12;

/// An edit of lines, whichever form it was written in.
struct Wish<'a> {
    number: usize,
    file: &'a str,
    lines: Option<(u32, u32)>,
    old: Vec<String>,
    new: Vec<String>,
    /// Whether it is a hunk: written by a program, without echoes or entities.
    hunk: bool,
    raw: bool,
    /// Whether the old and the new side end without a line end, if marked.
    open: Option<(bool, bool)>,
}

impl Wish<'_> {
    fn hint(&self) -> Option<usize> {
        let (first, _) = self.lines?;
        usize::try_from(first).ok()?.checked_sub(1)
    }

    fn deny(&self, rule: Rule, reason: impl Into<String>) -> Box<Refusal> {
        refuse(self.number, self.file, (rule, reason.into()))
    }
}

/// One way to read the original, and how the new lines follow from it.
struct Reading {
    old: Vec<String>,
    numbered: Option<Numbered>,
    unescaped: bool,
    /// Blank lines taken off at both ends.
    trimmed: (usize, usize),
}

impl Plan<'_> {
    /// Places an edit of lines.
    pub(crate) fn replace(&mut self, number: usize, edit: &Edit) -> Result<(), Box<Refusal>> {
        if let Edit::Hunk(hunk) = edit
            && hunk.old.is_empty()
        {
            return self.insert(number, &hunk.file, hunk.start, &hunk.new.join("\n"));
        }
        let path = self.path_of(number, edit)?;
        let knows = self.knows;
        let plan = self
            .file(&path)
            .map_err(|denied| refuse(number, edit.file(), denied))?;
        let file = &plan.pristine;
        let wish = wish_of(number, edit, file)?;
        let (place, lines, reading) = find(file, &wish, knows)?;
        let already = stands_already(file, &place, &reading, &wish);
        if already {
            let at = place.range.start + 1;
            let reason = format!("what the edit adds stands around line {at} already");
            return Err(wish.deny(Rule::AlreadyApplied, reason));
        }
        let merged = merge(file, &place, &reading.old, &lines).map_err(|at| {
            let mut refusal = wish.deny(
                Rule::NotFound,
                format!(
                    "the original differs from the file around line {}; quote every line as it is",
                    at + 1
                ),
            );
            refusal.nearest = file.excerpt(place.range.start, place.range.start + SHOWN);
            refusal
        })?;
        let terminated = termination(file, &wish, &place);
        let unchanged = merged.iter().eq(place
            .range
            .clone()
            .map(Line::Kept)
            .collect::<Vec<_>>()
            .iter());
        let new = text::encode_merged(file, place.range.clone(), &merged, wish.raw)
            .map_err(|denied| refuse(number, edit.file(), denied))?;
        let same_bytes = unchanged
            || place
                .range
                .clone()
                .map(|at| file.text.raw_line(at + 1).unwrap_or_default())
                .eq(new.iter().map(Vec::as_slice));
        if same_bytes && terminated.is_none() {
            return Err(wish.deny(
                Rule::NoChange,
                "the replacement is what stands there; send a change or leave the edit out",
            ));
        }
        let repeated = repeats_what_follows(file, &place, &merged);
        plan.terminated = terminated.or(plan.terminated);
        plan.pieces.push(Piece {
            edit: number,
            splice: Splice {
                old: place.range.clone(),
                new,
            },
            shares_context: wish.hunk,
        });
        if let Some(count) = repeated {
            self.warnings.push(format!(
                "{path}: the last {count} lines of edit {number} stand again right behind it; \
                 is the replacement longer than the original?"
            ));
        }
        self.place(
            number,
            &path,
            (place.range.start, place.range.end),
            place.how,
        );
        Ok(())
    }

    fn path_of(&mut self, number: usize, edit: &Edit) -> Result<TreePath, Box<Refusal>> {
        let file = edit.file();
        if let Some(path) = self.renamed_from(file) {
            return Ok(path);
        }
        self.paths
            .existing(file, true)
            .map_err(|denied: Denied| refuse(number, file, denied))
    }
}

/// Puts an edit into one form; what is missing is told, with the lines that
/// stand at its place.
fn wish_of<'a>(number: usize, edit: &'a Edit, file: &Pristine) -> Result<Wish<'a>, Box<Refusal>> {
    let mut wish = Wish {
        number,
        file: edit.file(),
        lines: edit.lines(),
        old: Vec::new(),
        new: Vec::new(),
        hunk: false,
        raw: false,
        open: None,
    };
    match edit {
        Edit::Hunk(hunk) => {
            wish.hunk = true;
            wish.raw = hunk.latin1;
            wish.old = hunk
                .old
                .iter()
                .map(|line| foreign(file, line, hunk.latin1))
                .collect();
            wish.new.clone_from(&hunk.new);
            if hunk.latin1 {
                wish.new = hunk
                    .new
                    .iter()
                    .map(|line| foreign(file, line, true))
                    .collect();
                wish.raw = file.text.encoding() == Encoding::Utf8 && wish.new == hunk.new;
            }
            wish.open = Some((hunk.old_unterminated, hunk.new_unterminated));
        }
        Edit::Replace {
            original,
            replacement,
            ..
        } => {
            let Some(original) = original else {
                let mut refusal = wish.deny(
                    Rule::Incomplete,
                    "the edit does not quote the lines as they are; without <original> its \
                     place cannot be checked",
                );
                show_range(file, wish.lines, &mut refusal);
                return Err(refusal);
            };
            let Some(replacement) = replacement else {
                return Err(wish.deny(
                    Rule::Incomplete,
                    "the edit has no <replacement>; to delete the lines send an empty one",
                ));
            };
            wish.old = original.split('\n').map(str::to_owned).collect();
            wish.new = text::split(replacement);
        }
        _ => {}
    }
    Ok(wish)
}

/// A line of a diff that was read as Latin-1, as the file's characters.
fn foreign(file: &Pristine, line: &str, latin1: bool) -> String {
    if !latin1 || file.text.encoding() == Encoding::Latin1 {
        return line.to_owned();
    }
    let bytes: Option<Vec<u8>> = line
        .chars()
        .map(|next| u8::try_from(u32::from(next)).ok())
        .collect();
    bytes
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .unwrap_or_else(|| line.to_owned())
}

fn show_range(file: &Pristine, lines: Option<(u32, u32)>, refusal: &mut Refusal) {
    let Some((first, last)) = lines else { return };
    let number = |line: u32| usize::try_from(line).unwrap_or(usize::MAX);
    let from = number(first).saturating_sub(1);
    let to = number(last).min(from.saturating_add(SHOWN));
    refusal.nearest = file.excerpt(from, to);
}

/// Every way to read the original, the most literal first.
fn readings(wish: &Wish<'_>) -> Vec<Reading> {
    let mut ways = Vec::new();
    let mut add = |old: Vec<String>, numbered: Option<Numbered>, unescaped: bool| {
        let blank = |line: &&String| line.trim().is_empty();
        let before = old.iter().take_while(blank).count();
        let after = old.iter().rev().take_while(blank).count();
        let inner = old
            .get(before..old.len().saturating_sub(after))
            .map(<[String]>::to_vec);
        ways.push(Reading {
            old,
            numbered: numbered.clone(),
            unescaped,
            trimmed: (0, 0),
        });
        if let Some(old) = inner.filter(|inner| !inner.is_empty() && before + after > 0) {
            ways.push(Reading {
                old,
                numbered,
                unescaped,
                trimmed: (before, after),
            });
        }
    };
    add(wish.old.clone(), None, false);
    if wish.hunk {
        return ways;
    }
    let numbered = |lines: &[String]| numbers::numbered(lines).filter(|read| read.consecutive);
    if let Some(read) = numbered(&wish.old) {
        add(read.lines.clone(), Some(read), false);
    }
    let joined = wish.old.join("\n");
    let plain = unescape(&joined);
    if *plain != joined {
        let lines: Vec<String> = plain.split('\n').map(str::to_owned).collect();
        let read = numbered(&lines);
        add(lines, None, true);
        if let Some(read) = read {
            add(read.lines.clone(), Some(read), true);
        }
    }
    ways
}

/// The place of an edit and its new lines, or why there is none.
fn find(
    file: &Pristine,
    wish: &Wish<'_>,
    knows: &dyn Fn(&str) -> bool,
) -> Result<(Place, Vec<String>, Reading), Box<Refusal>> {
    if wish.old.iter().all(|line| line.trim().is_empty()) && wish.lines.is_none() {
        return empty_original(file, wish);
    }
    let ways = readings(wish);
    let exact = |file: &Pristine, wanted: Wanted<'_>| locate(file, wanted);
    let similar = |file: &Pristine, wanted: Wanted<'_>| locate_similar(file, wanted, knows);
    let steps: [&dyn Fn(&Pristine, Wanted<'_>) -> Found; 2] = [&exact, &similar];
    for (step, search) in steps.iter().enumerate() {
        if step == 1
            && let Some(at) = replacement_stands(file, wish, &ways)
        {
            let reason = format!("the replacement stands at line {} already", at + 1);
            return Err(wish.deny(Rule::AlreadyApplied, reason));
        }
        for reading in &ways {
            let echoed = reading
                .numbered
                .as_ref()
                .and_then(|read| read.numbers.first());
            let echoed = echoed.and_then(|line| usize::try_from(*line).ok()?.checked_sub(1));
            let wanted = Wanted {
                lines: &reading.old,
                hint: wish.hint().or(echoed),
            };
            match search(file, wanted) {
                Found::At(place) if is_credible(&place, reading, wanted.hint, echoed) => {
                    let lines = new_lines(file, wish, reading, &place)?;
                    let reading = Reading {
                        old: reading.old.clone(),
                        numbered: reading.numbered.clone(),
                        ..*reading
                    };
                    return Ok((place, lines, reading));
                }
                Found::Several(places) => return Err(ambiguous(file, wish, &places)),
                _ => {}
            }
        }
    }
    Err(not_found(file, wish, &ways))
}

/// One numbered line alone is weak: `1: ret` may be code. It is an echo only
/// where the number is right.
fn is_credible(
    place: &Place,
    reading: &Reading,
    hint: Option<usize>,
    echoed: Option<usize>,
) -> bool {
    let alone = reading
        .numbered
        .as_ref()
        .is_some_and(|read| read.numbers.len() == 1);
    let near = |at: Option<usize>| {
        at.is_some_and(|at| at.abs_diff(place.range.start) <= crate::locate::NEAR)
    };
    !alone || (near(echoed) && near(hint))
}

/// An original of nothing is a place only in an empty file.
fn empty_original(
    file: &Pristine,
    wish: &Wish<'_>,
) -> Result<(Place, Vec<String>, Reading), Box<Refusal>> {
    if file.count() > 0 {
        return Err(wish.deny(
            Rule::Incomplete,
            "the original is empty; quote the lines that are replaced, or send \
             <insert file=\"..\" after=\"N\"> for new lines",
        ));
    }
    let place = Place {
        range: 0..0,
        how: How::Exact,
        pairs: Some(Vec::new()),
        fixed: Vec::new(),
    };
    let reading = Reading {
        old: Vec::new(),
        numbered: None,
        unescaped: false,
        trimmed: (0, 0),
    };
    Ok((place, wish.new.clone(), reading))
}

/// The new lines, read in the way in which the original was found.
fn new_lines(
    file: &Pristine,
    wish: &Wish<'_>,
    reading: &Reading,
    place: &Place,
) -> Result<Vec<String>, Box<Refusal>> {
    let mut new = wish.new.clone();
    if !wish.hunk {
        let joined = new.join("\n");
        let raw_signs = wish.old.iter().any(|line| line.contains(['<', '>', '&']));
        if reading.unescaped {
            new = text::split(&unescape(&joined));
        } else if !raw_signs {
            new = text::split(&text::without_entities(file.language, &joined));
        }
        new = match &reading.numbered {
            None => text::beside_plain(file, place.range.start, wish.hint(), &new),
            Some(numbered) => match numbers::new_beside_numbered(&new, numbered, file.language) {
                NewLines::Taken(lines) => lines,
                NewLines::Doubtful => {
                    return Err(wish.deny(
                        Rule::Incomplete,
                        "some lines of the replacement carry line numbers and some do not; \
                         send the code without line numbers",
                    ));
                }
            },
        };
    }
    let (before, after) = reading.trimmed;
    let blank = |line: &&String| line.trim().is_empty();
    let front = new.iter().take(before).take_while(blank).count();
    new.drain(..front);
    let back = new.iter().rev().take(after).take_while(blank).count();
    new.truncate(new.len() - back);
    Ok(new)
}

/// Whether the edit only adds lines around its original, and they are there.
fn stands_already(file: &Pristine, place: &Place, reading: &Reading, wish: &Wish<'_>) -> bool {
    let (old, new) = (&reading.old, &wish.new);
    if new.len() <= old.len() || place.how == How::Similar {
        return false;
    }
    let keys = |lines: &[String]| lines.iter().map(|line| key(line)).collect::<Vec<u64>>();
    let (old_keys, new_keys) = (keys(old), keys(new));
    let places = new_keys
        .windows(old_keys.len().max(1))
        .enumerate()
        .filter(|(_, window)| *window == old_keys.as_slice());
    places.into_iter().any(|(offset, _)| {
        let start = place.range.start.checked_sub(offset);
        start.is_some_and(|start| file.fits(start, new, &new_keys))
    })
}

/// Where the whole replacement stands, if the original stands nowhere.
fn replacement_stands(file: &Pristine, wish: &Wish<'_>, ways: &[Reading]) -> Option<usize> {
    let meaningful = |lines: &[String]| {
        let signs = lines
            .iter()
            .flat_map(|line| line.chars())
            .filter(|next| next.is_alphanumeric());
        signs.count() >= 3
    };
    let mut forms = vec![wish.new.clone()];
    if ways.iter().any(|way| way.numbered.is_some()) {
        forms.extend(numbers::numbered(&wish.new).map(|read| read.lines));
    }
    if ways.iter().any(|way| way.unescaped) {
        forms.push(text::split(&unescape(&wish.new.join("\n"))));
    }
    forms
        .into_iter()
        .filter(|lines| meaningful(lines))
        .find_map(|lines| {
            match locate(
                file,
                Wanted {
                    lines: &lines,
                    hint: wish.hint(),
                },
            ) {
                Found::At(place) => Some(place.range.start),
                _ => None,
            }
        })
}

/// How many lines at the end of the result stand once more behind it.
fn repeats_what_follows(file: &Pristine, place: &Place, merged: &[Line]) -> Option<usize> {
    let line = |line: &Line| match line {
        Line::Kept(at) => file.key(*at).unwrap_or_default(),
        Line::New(line) => key(line),
    };
    let longest = merged
        .len()
        .min(file.count().saturating_sub(place.range.end));
    (2..=longest.min(50)).rev().find(|count| {
        let tail = merged.get(merged.len() - count..).unwrap_or_default();
        let new = tail.iter().any(|line| matches!(line, Line::New(_)));
        new && tail
            .iter()
            .enumerate()
            .all(|(offset, end)| file.key(place.range.end + offset) == Some(line(end)))
    })
}

/// Whether a diff says that the end of the file shall change.
fn termination(file: &Pristine, wish: &Wish<'_>, place: &Place) -> Option<bool> {
    let (old, new) = wish.open?;
    let at_end = place.range.end == file.count();
    (at_end && old != new && file.text.ends_with_newline() == new).then_some(!new)
}

fn ambiguous(file: &Pristine, wish: &Wish<'_>, places: &[usize]) -> Box<Refusal> {
    let lines: Vec<u32> = places
        .iter()
        .filter_map(|at| u32::try_from(at + 1).ok())
        .collect();
    let list: Vec<String> = lines.iter().take(SHOWN).map(ToString::to_string).collect();
    let mut refusal = wish.deny(
        Rule::Ambiguous,
        format!(
            "the original stands at {} places, at lines {}; name the right lines or quote more of them",
            lines.len(),
            list.join(", ")
        ),
    );
    refusal.candidates = lines;
    if let Some(first) = places.first() {
        refusal.nearest = file.excerpt(*first, first + wish.old.len().min(3));
    }
    refusal
}

fn not_found(file: &Pristine, wish: &Wish<'_>, ways: &[Reading]) -> Box<Refusal> {
    let blank = wish.old.iter().all(|line| line.trim().is_empty());
    let elided = wish.old.iter().any(|line| {
        let line = line.trim().trim_start_matches(['/', '*', '#', ' ']);
        line.starts_with("...") || line.starts_with('\u{2026}')
    });
    let reason = if blank {
        "the original is empty, and there is no blank line at its place; quote the lines that \
         are replaced, or send <insert file=\"..\" after=\"N\"> for new lines"
    } else if elided {
        "the original leaves lines out; quote every line as it is in the file, without '...'"
    } else {
        "the original stands nowhere in the file; quote the lines exactly as they are in the \
         unpatched file"
    };
    let mut refusal = wish.deny(Rule::NotFound, reason);
    let best = ways
        .iter()
        .rev()
        .find(|way| way.numbered.is_some() || way.unescaped);
    let old = best.map_or(&wish.old, |way| &way.old);
    let near = nearest(
        file,
        Wanted {
            lines: old,
            hint: wish.hint(),
        },
    );
    if let Some(start) = near {
        let count = old.len().clamp(3, SHOWN);
        refusal.nearest = file.excerpt(start, start + count);
    } else {
        show_range(file, wish.lines, &mut refusal);
    }
    refusal
}
