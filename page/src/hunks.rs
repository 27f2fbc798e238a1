//! Diff as a table: side by side or in one column, with places where the code around can be
//! fetched.

use crate::code::{code, differing, line, number};
use crate::text::escaped;
use crate::view::DiffStyle;
use minijinja::{Value, context};
use patchwright_source::{DiffLine, FileDiff, Side};
use std::ops::Range;

/// Lines of a diff that are shown; more is downloaded.
const MOST: usize = 3000;
/// Lines that are fetched at a time.
const AROUND: u32 = 20;

/// Returns all files of a diff; nothing where it cannot be read. `source` is the address below
/// which the code around is fetched; nothing where it is not at hand.
pub(crate) fn files(diff: &str, source: Option<&str>, style: DiffStyle) -> Value {
    let files = FileDiff::read(diff);
    Value::from(files.map(|files| -> Vec<Value> {
        let files = files.iter();
        files.map(|file| shown(file, source, style)).collect()
    }))
}

fn shown(file: &FileDiff, source: Option<&str>, style: DiffStyle) -> Value {
    let kind = match (&file.old, &file.new) {
        (None, _) => Some("new"),
        (_, None) => Some("deleted"),
        _ => None,
    };
    let mut left = MOST;
    let rows = rows(file, source, style, &mut left);
    context! {
        path => file.path(),
        kind,
        moved_from => file.old.as_ref().filter(|_| file.old != file.new),
        added => file.lines(Side::New).count(),
        removed => file.lines(Side::Old).count(),
        rows,
        goes_on => left == 0,
    }
}

fn rows(file: &FileDiff, source: Option<&str>, style: DiffStyle, left: &mut usize) -> Vec<Value> {
    // The code around is that of the old file.
    let source = source.filter(|_| file.old.is_some());
    let mut end = 1;
    let mut shift = 0_i64;
    let mut out = Vec::new();
    for hunk in &file.hunks {
        let to = hunk.old_start;
        if source.is_some() && to > end {
            let first = to.saturating_sub(AROUND).max(end);
            out.push(gap(file, (first, to - 1, shift), source, style));
        } else if end > 1 {
            out.push(gap(file, (end, to, shift), None, style));
        }
        let shown = hunk.lines.get(..hunk.lines.len().min(*left));
        let shown = shown.unwrap_or_default();
        *left -= shown.len();
        let pairs = paired(shown);
        out.extend(match style {
            DiffStyle::Split => pairs.iter().map(split_row).collect(),
            DiffStyle::Unified => unified_rows(&pairs),
        });
        let grown = hunk.lines.iter().map(|line| match line.side {
            Side::Both => 0,
            Side::New => 1,
            Side::Old => -1,
        });
        shift += grown.sum::<i64>();
        end = hunk.old_start + hunk.old_count();
    }
    if source.is_some() && !file.hunks.is_empty() {
        out.push(gap(file, (end, end + AROUND - 1, shift), source, style));
    }
    out
}

/// Returns a row for lines that are left out, with the address of those that can be fetched.
fn gap(
    file: &FileDiff,
    (from, to, shift): (u32, u32, i64),
    source: Option<&str>,
    style: DiffStyle,
) -> Value {
    let path = escaped(file.old.as_deref().unwrap_or_default());
    let view = style.as_str();
    let address = source.map(|source| {
        format!("{source}/source?file={path}&from={from}&to={to}&shift={shift}&view={view}")
    });
    context! { address, from, to }
}

/// A line with the part that a change touches.
#[derive(Clone)]
struct Shown<'a> {
    line: &'a DiffLine,
    mark: Option<Range<usize>>,
}

impl Shown<'_> {
    fn markup(&self) -> String {
        line(&self.line.text, self.mark.as_ref())
    }

    fn class(&self) -> &'static str {
        match self.line.side {
            Side::Old => "code del",
            Side::New => "code add",
            Side::Both => "code",
        }
    }
}

type Pair<'a> = (Option<Shown<'a>>, Option<Shown<'a>>);

/// Puts removed lines beside the added lines that follow them.
fn paired(lines: &[DiffLine]) -> Vec<Pair<'_>> {
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    let mut open = 0;
    for line in lines {
        let one = Shown { line, mark: None };
        match one.line.side {
            Side::Both => {
                pairs.push((Some(one.clone()), Some(one)));
                open = pairs.len();
            }
            Side::Old => pairs.push((Some(one), None)),
            Side::New => {
                let free = pairs.iter_mut().skip(open).find(|pair| pair.1.is_none());
                match free {
                    Some(pair) => pair.1 = Some(one),
                    None => pairs.push((None, Some(one))),
                }
            }
        }
    }
    for (old, new) in &mut pairs {
        if let (Some(old), Some(new)) = (old, new)
            && old.line.side == Side::Old
            && let Some((left, right)) = differing(&old.line.text, &new.line.text)
        {
            old.mark = Some(left);
            new.mark = Some(right);
        }
    }
    pairs
}

fn split_row((old, new): &Pair<'_>) -> Value {
    let cells = |shown: &Option<Shown<'_>>, of: fn(&DiffLine) -> u32| match shown {
        Some(shown) => [
            number(Some(of(shown.line))),
            code(shown.class(), shown.markup()),
        ],
        None => [number(None), code("code gone", String::new())],
    };
    let cells = [cells(old, |line| line.old), cells(new, |line| line.new)];
    context! { cells => cells.concat() }
}

/// Returns the rows of one column: what a group of changed lines was before what it is.
fn unified_rows(pairs: &[Pair<'_>]) -> Vec<Value> {
    let same = |pair: &Pair<'_>| {
        let old = pair.0.as_ref();
        old.is_some_and(|shown| shown.line.side == Side::Both)
    };
    let groups = pairs.chunk_by(|one, other| same(one) == same(other));
    let lines = groups.flat_map(|group| {
        let old = group.iter().filter_map(|(old, _)| old.as_ref());
        let new = group.iter().filter(|pair| !same(pair));
        old.chain(new.filter_map(|(_, new)| new.as_ref()))
    });
    lines.map(unified_row).collect()
}

fn unified_row(shown: &Shown<'_>) -> Value {
    let sign = shown.line.side.mark();
    let on = |at: u32| number((at > 0).then_some(at));
    let markup = format!("<span class=\"sign\">{sign}</span>{}", shown.markup());
    let (old, new) = (on(shown.line.old), on(shown.line.new));
    let cells = vec![old, new, code(shown.class(), markup)];
    context! { cells }
}
