//! Disturbances of an edit, as models make them when they copy code.

use super::sketch::{Line, Sketch, Tag};

/// A small generator of numbers that look random (SplitMix64): the same seed
/// gives the same cases on every machine.
#[derive(Debug, Clone)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a limit; 0 where the limit is 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub(crate) fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }
}

/// A way in which a model disturbs an edit. Returns whether it found something
/// to disturb.
type Disturb = fn(&mut Sketch, &[String], &mut Dice) -> bool;

/// Every disturbance: its name, how often it is drawn in a thousand, and what
/// it does. The shares of line numbers, whitespace, left-out and foreign lines
/// are those of the raw diffs of `docs/benchmarks.md`; what was rarer there
/// than once in a hundred is drawn once in a hundred.
pub(crate) const DISTURBANCES: &[(&str, usize, Disturb)] = &[
    ("number off", 230, number_off),
    ("number wild", 12, number_wild),
    ("number missing", 20, number_missing),
    ("heading wrong", 20, heading_wrong),
    ("spaces for tabs", 120, spaces_for_tabs),
    ("indented differently", 60, indented_differently),
    ("space at the end", 60, space_at_the_end),
    ("inner space", 30, inner_space),
    ("blank line left out", 40, blank_line_left_out),
    ("blank line added", 40, blank_line_added),
    ("tabs written out", 20, tabs_written_out),
    ("context cut", 60, context_cut),
    ("lines left out", 60, lines_left_out),
    ("removed lines left out", 15, removed_lines_left_out),
    ("brace left out", 10, brace_left_out),
    ("lines elided", 15, lines_elided),
    ("earlier patch quoted", 65, earlier_patch_quoted),
    ("other place quoted", 15, other_place_quoted),
    ("lines in another order", 15, lines_in_another_order),
    ("lines joined", 10, lines_joined),
    ("slip of the pen", 10, slip_of_the_pen),
    ("comment differs", 10, comment_differs),
    ("string differs", 10, string_differs),
    ("number in code differs", 10, number_in_code_differs),
    ("operator differs", 10, operator_differs),
    ("other name", 10, other_name),
    ("backslash lost", 10, backslash_lost),
];

/// Draws a disturbance by its share, or all alike.
pub(crate) fn draw(dice: &mut Dice, by_share: bool) -> usize {
    if !by_share {
        return dice.below(DISTURBANCES.len());
    }
    let total: usize = DISTURBANCES.iter().map(|(_, share, _)| share).sum();
    let mut left = dice.below(total);
    for (index, (_, share, _)) in DISTURBANCES.iter().enumerate() {
        if left < *share {
            return index;
        }
        left -= share;
    }
    0
}

fn number_off(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    let offsets: [isize; 12] = [-1, -1, -1, -1, -1, 1, 1, -2, 2, -3, 5, -6];
    let offset = *dice.one_of(&offsets).unwrap_or(&0);
    sketch.start = sketch
        .start
        .map(|start| start.saturating_add_signed(offset).max(1));
    sketch.start.is_some()
}

fn number_wild(sketch: &mut Sketch, file: &[String], dice: &mut Dice) -> bool {
    sketch.start = sketch.start.map(|_| 1 + dice.below(file.len()));
    sketch.start.is_some()
}

fn number_missing(sketch: &mut Sketch, _: &[String], _: &mut Dice) -> bool {
    sketch.start.take().is_some()
}

fn heading_wrong(sketch: &mut Sketch, file: &[String], dice: &mut Dice) -> bool {
    let headings: Vec<&String> = file
        .iter()
        .filter(|line| line.starts_with(char::is_alphabetic) && line.contains('('))
        .collect();
    let heading = dice.one_of(&headings).map(|line| (*line).clone());
    sketch.heading = heading;
    sketch.heading.is_some()
}

fn lead(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

fn spaces_for_tabs(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    let width = *dice.one_of(&[2_usize, 4, 8]).unwrap_or(&4);
    let mut any = false;
    for line in &mut sketch.lines {
        let (lead, text) = line.text.split_at(lead(&line.text));
        any |= lead.contains('\t');
        line.text = lead.replace('\t', &" ".repeat(width)) + text;
    }
    any
}

fn indented_differently(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    let more = " ".repeat(1 + dice.below(6));
    let less = dice.below(2) == 0;
    for line in sketch.lines.iter_mut().filter(|line| !line.text.is_empty()) {
        line.text = if less {
            line.text.trim_start_matches([' ', '\t']).to_owned()
        } else {
            more.clone() + &line.text
        };
    }
    true
}

fn space_at_the_end(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    for line in &mut sketch.lines {
        if dice.below(3) == 0 {
            line.text.push(' ');
        }
    }
    true
}

fn inner_space(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    let spaced = dice.below(2) == 0;
    edit_line(sketch, dice, &|_| true, &mut |text| {
        let text = if spaced {
            text.replace('(', "( ").replace(')', " )")
        } else {
            let (lead, rest) = text.split_at(lead(text));
            lead.to_owned() + &rest.replace(" = ", "=").replace(", ", ",")
        };
        Some(text)
    })
}

fn blank_line_left_out(sketch: &mut Sketch, _: &[String], _: &mut Dice) -> bool {
    let count = sketch.lines.len();
    sketch
        .lines
        .retain(|line| line.tag != Tag::Kept || !line.text.trim().is_empty());
    sketch.lines.len() < count
}

fn blank_line_added(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    let at = dice.below(sketch.lines.len() + 1);
    let line = Line::stranger(Tag::Kept, String::new());
    sketch.lines.insert(at, line);
    true
}

fn tabs_written_out(sketch: &mut Sketch, _: &[String], _: &mut Dice) -> bool {
    let mut any = false;
    for line in &mut sketch.lines {
        let (lead, text) = line.text.split_at(lead(&line.text));
        any |= lead.contains('\t');
        line.text = lead.replace('\t', "\\t") + text;
    }
    any
}

/// The indices of context lines at the start and at the end.
fn context_cut(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    let kept = |line: &&Line| line.tag == Tag::Kept;
    let front = sketch.lines.iter().take_while(kept).count();
    let back = sketch.lines.iter().rev().take_while(kept).count();
    if front + back >= sketch.lines.len() {
        return false;
    }
    let (front, back) = (dice.below(front + 1), dice.below(back + 1));
    sketch.lines.truncate(sketch.lines.len() - back);
    sketch.lines.drain(..front);
    sketch.start = sketch.start.map(|start| start + front);
    front + back > 0
}

/// Takes up to `most` lines out of a run of lines of a tag, but not the first
/// and the last of the sketch.
fn take_out(sketch: &mut Sketch, tag: Tag, most: usize, dice: &mut Dice) -> Option<usize> {
    let last = sketch.lines.len().checked_sub(1)?;
    let inner: Vec<usize> = (1..last)
        .filter(|at| sketch.lines[*at].tag == tag)
        .collect();
    let start = *dice.one_of(&inner)?;
    let run = (start..last).take_while(|at| sketch.lines[*at].tag == tag);
    let length = run.count().min(1 + dice.below(most));
    let gone = sketch.lines.drain(start..start + length);
    if tag == Tag::Removed {
        sketch.forgotten.extend(gone.filter_map(|line| line.at));
    }
    Some(start)
}

fn lines_left_out(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    take_out(sketch, Tag::Kept, 4, dice).is_some()
}

fn removed_lines_left_out(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    take_out(sketch, Tag::Removed, 2, dice).is_some()
}

fn brace_left_out(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    let braces: Vec<usize> = (0..sketch.lines.len())
        .filter(|at| {
            let line = &sketch.lines[*at];
            line.tag == Tag::Kept && ["{", "}", "};"].contains(&line.text.trim())
        })
        .collect();
    let Some(at) = dice.one_of(&braces) else {
        return false;
    };
    sketch.lines.remove(*at);
    true
}

fn lines_elided(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    let Some(at) = take_out(sketch, Tag::Kept, 6, dice) else {
        return false;
    };
    let forms = [
        "...",
        "    // ... existing code ...",
        "/* rest unchanged */",
    ];
    let text = (*dice.one_of(&forms).unwrap_or(&"...")).to_owned();
    sketch.lines.insert(at, Line::stranger(Tag::Kept, text));
    true
}

/// Lines of a patch that is not applied: checks and declarations made of the
/// names around.
fn earlier_patch_quoted(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    let texts: Vec<String> = sketch.lines.iter().map(|line| line.text.clone()).collect();
    let names: Vec<&str> = texts.iter().flat_map(|text| words(text)).collect();
    let name = (*dice.one_of(&names).unwrap_or(&"value")).to_owned();
    let forms: [&[&str]; 4] = [
        &["    if (NAME == NULL)", "        return;"],
        &[
            "    if (NAME >= limit_of_NAME) {",
            "        goto error;",
            "    }",
        ],
        &["    size_t checked_NAME = NAME;"],
        &["    /* NAME was checked above */", "    NAME_checked = 1;"],
    ];
    let at = dice.below(sketch.lines.len() + 1);
    let tag = if dice.below(2) == 0 {
        Tag::Kept
    } else {
        Tag::Removed
    };
    let form = *dice.one_of(&forms).unwrap_or(&forms[0]);
    for line in form.iter().rev() {
        let text = line.replace("NAME", &name);
        sketch.lines.insert(at, Line::stranger(tag, text));
    }
    true
}

/// Lines that stand in the file, but far away.
fn other_place_quoted(sketch: &mut Sketch, file: &[String], dice: &mut Dice) -> bool {
    let from = dice.below(file.len());
    let at = dice.below(sketch.lines.len() + 1);
    for text in file.iter().skip(from).take(1 + dice.below(3)).rev() {
        let line = Line::stranger(Tag::Kept, text.clone());
        sketch.lines.insert(at, line);
    }
    true
}

fn lines_in_another_order(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    let old: Vec<usize> = (0..sketch.lines.len())
        .filter(|at| sketch.lines[*at].tag != Tag::Added)
        .filter(|at| !sketch.lines[*at].text.trim().is_empty())
        .collect();
    let (Some(a), Some(b)) = (dice.one_of(&old), dice.one_of(&old)) else {
        return false;
    };
    let differ = sketch.lines[*a].text.trim() != sketch.lines[*b].text.trim();
    sketch.lines.swap(*a, *b);
    differ
}

/// Two lines on one, as a model breaks them.
fn lines_joined(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    let pairs: Vec<usize> = (1..sketch.lines.len())
        .filter(|at| {
            let (a, b) = (&sketch.lines[at - 1], &sketch.lines[*at]);
            a.tag == Tag::Kept && b.tag == Tag::Kept && !a.text.contains("//")
        })
        .collect();
    let Some(at) = dice.one_of(&pairs) else {
        return false;
    };
    let second = sketch.lines.remove(*at);
    let first = &mut sketch.lines[at - 1];
    first.text = format!("{} {}", first.text.trim_end(), second.text.trim());
    true
}

/// The words of a line.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|next: char| !(next.is_alphanumeric() || next == '_'))
        .filter(|word| word.len() >= 5 && word.starts_with(char::is_alphabetic))
}

/// Changes one line of the old side.
fn edit_line(
    sketch: &mut Sketch,
    dice: &mut Dice,
    fits: &dyn Fn(&str) -> bool,
    change: &mut dyn FnMut(&str) -> Option<String>,
) -> bool {
    let old: Vec<usize> = (0..sketch.lines.len())
        .filter(|at| sketch.lines[*at].tag != Tag::Added && fits(&sketch.lines[*at].text))
        .collect();
    let Some(at) = dice.one_of(&old) else {
        return false;
    };
    let line = &mut sketch.lines[*at];
    match change(&line.text).filter(|text| *text != line.text) {
        Some(text) => line.text = text,
        None => return false,
    }
    true
}

fn slip_of_the_pen(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    let mut own = dice.clone();
    dice.below(2);
    edit_line(
        sketch,
        dice,
        &|text| words(text).next().is_some(),
        &mut |text| {
            let all: Vec<&str> = words(text).collect();
            let word = own.one_of(&all)?;
            let mut letters: Vec<char> = word.chars().collect();
            let at = 1 + own.below(letters.len() - 2);
            letters.swap(at, at + 1);
            Some(text.replacen(word, &letters.into_iter().collect::<String>(), 1))
        },
    )
}

fn comment_differs(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    edit_line(sketch, dice, &|text| text.contains("/*"), &mut |text| {
        let (code, comment) = text.split_once("/*")?;
        let (words, end) = comment.split_once("*/")?;
        let (_, fewer) = words.trim().split_once(' ')?;
        Some(format!("{code}/* {fewer} */{end}"))
    })
}

fn string_differs(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    edit_line(sketch, dice, &|text| text.contains('"'), &mut |text| {
        let (before, rest) = text.split_once('"')?;
        let (inside, after) = rest.split_once('"')?;
        Some(format!("{before}\"{inside}.\"{after}"))
    })
}

fn number_in_code_differs(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    let digit = |text: &str| text.find(|next: char| next.is_ascii_digit());
    edit_line(sketch, dice, &|text| digit(text).is_some(), &mut |text| {
        let at = digit(text)?;
        let (before, rest) = text.split_at(at);
        let value = rest.chars().next()?.to_digit(10)?;
        Some(format!("{before}{}{}", (value + 1) % 10, &rest[1..]))
    })
}

fn operator_differs(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    let pairs = [
        (" == ", " != "),
        (" < ", " <= "),
        (" + ", " - "),
        (" && ", " || "),
    ];
    let (from, to) = *dice.one_of(&pairs).unwrap_or(&pairs[0]);
    edit_line(sketch, dice, &|text| text.contains(from), &mut |text| {
        Some(text.replacen(from, to, 1))
    })
}

/// A name of the file in place of another one.
fn other_name(sketch: &mut Sketch, file: &[String], dice: &mut Dice) -> bool {
    let from = dice.below(file.len());
    let mut names = file.iter().skip(from).flat_map(|line| words(line));
    let Some(name) = names.next().map(str::to_owned) else {
        return false;
    };
    edit_line(
        sketch,
        dice,
        &|text| words(text).next().is_some(),
        &mut |text| {
            let word = words(text).next()?;
            Some(text.replacen(word, &name, 1))
        },
    )
}

fn backslash_lost(sketch: &mut Sketch, _: &[String], dice: &mut Dice) -> bool {
    edit_line(sketch, dice, &|text| text.contains('\\'), &mut |text| {
        Some(text.replacen('\\', "", 1))
    })
}
