//! Diff as a table: side by side or in one column, with syntax colours and places
//! where the code around can be fetched.

use crate::code::{colours, differing, line};
use crate::layout::escaped;
use crate::text::shown_line;
use crate::view::DiffStyle;
use maud::{Markup, html};
use patchwright_source::{DiffLine, FileDiff, Side};
use std::ops::Range;

/// Lines of a diff that are shown; more is downloaded.
const MOST: usize = 3000;
/// Lines that are fetched at a time.
const AROUND: u32 = 20;

/// Writes all files of a diff. `source` is the address below which the code around is
/// fetched; nothing where it is not at hand.
pub(crate) fn files(diff: &str, source: Option<&str>, style: DiffStyle) -> Markup {
    let Some(files) = FileDiff::read(diff) else {
        return html! { p.empty { "The diff cannot be read; export it to see it as it is." } };
    };
    html! {
        @if files.is_empty() { p.empty { "The diff is empty." } }
        @for file in &files {
            @let (added, removed) = (file.lines(Side::New).count(), file.lines(Side::Old).count());
            figure.file {
                figcaption {
                    code { (shown_line(file.path())) }
                    @if file.old.is_none() { " " span.badge.none { "new" } } @else if file.new.is_none() { " " span.badge.none { "deleted" } }
                    @else if file.old != file.new { " from " code { (shown_line(file.old.as_deref().unwrap_or_default())) } }
                    span.stat { span.plus { "+" (added) } " " span.minus { "−" (removed) } }
                }
                div.scroll tabindex="0" role="region" aria-label={ "Change of " (patchwright_source::visible_line(file.path())) } {
                    table class={ "diff " (style.as_str()) } {
                        (widths(style))
                        tbody { (rows(file, source, style)) }
                    }
                }
            }
        }
    }
}

fn widths(style: DiffStyle) -> Markup {
    html! {
        colgroup {
            @match style {
                DiffStyle::Split => { col.no; col; col.no; col; }
                DiffStyle::Unified => { col.no; col.no; col; }
            }
        }
    }
}

fn rows(file: &FileDiff, source: Option<&str>, style: DiffStyle) -> Markup {
    let source = source.filter(|_| file.old.is_some());
    let mut end = 1;
    let mut shift = 0_i64;
    let mut left = MOST;
    let mut out: Vec<Markup> = Vec::new();
    for hunk in &file.hunks {
        out.push(gap(file, (end, hunk.old_start, shift), source, style));
        let shown = hunk
            .lines
            .get(..hunk.lines.len().min(left))
            .unwrap_or_default();
        left -= shown.len();
        out.push(hunk_rows(file.path(), shown, style));
        let grown = hunk.lines.iter().map(|line| match line.side {
            Side::Both => 0,
            Side::New => 1,
            Side::Old => -1,
        });
        shift += grown.sum::<i64>();
        end = hunk.old_start + hunk.old_count();
    }
    if source.is_some() && !file.hunks.is_empty() {
        out.push(expander(
            file,
            (end, end + AROUND - 1, shift),
            source,
            style,
        ));
    }
    html! {
        @for part in &out { (part) }
        @if left == 0 { tr.gap { td colspan=(columns(style)) { "The diff goes on; export it to see the rest." } } }
    }
}

fn columns(style: DiffStyle) -> u8 {
    match style {
        DiffStyle::Split => 4,
        DiffStyle::Unified => 3,
    }
}

/// Writes the lines that are left out before a hunk.
fn gap(
    file: &FileDiff,
    (from, to, shift): (u32, u32, i64),
    source: Option<&str>,
    style: DiffStyle,
) -> Markup {
    if to <= from || source.is_none() {
        return html! { @if from > 1 { tr.gap { td colspan=(columns(style)) { "⋯" } } } };
    }
    let first = to.saturating_sub(AROUND).max(from);
    html! { (expander(file, (first, to - 1, shift), source, style)) }
}

/// Writes a row that fetches the lines `from` to `to`.
fn expander(
    file: &FileDiff,
    (from, to, shift): (u32, u32, i64),
    source: Option<&str>,
    style: DiffStyle,
) -> Markup {
    let Some(source) = source else {
        return html! {};
    };
    let path = escaped(file.old.as_deref().unwrap_or_default());
    let address = format!(
        "{source}/source?file={path}&from={from}&to={to}&shift={shift}&view={}",
        style.as_str()
    );
    html! {
        tr.gap { td colspan=(columns(style)) { button.plain type="button" data-expand=(address) { "⋯ show lines " (from) " to " (to) } } }
    }
}

/// A line with its colours and the part that a change touches.
struct Shown<'a> {
    line: &'a DiffLine,
    colours: Vec<(Range<usize>, &'static str)>,
    mark: Option<Range<usize>>,
}

impl Shown<'_> {
    fn markup(&self) -> Markup {
        line(&self.line.text, &self.colours, self.mark.as_ref())
    }
}

fn hunk_rows(path: &str, lines: &[DiffLine], style: DiffStyle) -> Markup {
    let shown = coloured(path, lines);
    let pairs = paired(shown);
    html! {
        @match style {
            DiffStyle::Split => { @for (old, new) in &pairs { (split_row(old.as_ref(), new.as_ref())) } }
            DiffStyle::Unified => { (unified_rows(&pairs)) }
        }
    }
}

/// Colours each side of a hunk as the text that it is.
fn coloured<'a>(path: &str, lines: &'a [DiffLine]) -> Vec<Shown<'a>> {
    let side = |gone: Side| {
        let texts: Vec<&str> = lines
            .iter()
            .filter(|line| line.side != gone)
            .map(|line| line.text.as_str())
            .collect();
        colours(path, &texts).into_iter()
    };
    let (mut old, mut new) = (side(Side::New), side(Side::Old));
    let shown = lines.iter().map(|line| {
        let colours = match line.side {
            Side::Old => old.next(),
            Side::New => new.next(),
            Side::Both => old.next().and(new.next()),
        };
        Shown {
            line,
            colours: colours.unwrap_or_default(),
            mark: None,
        }
    });
    shown.collect()
}

type Pair<'a> = (Option<Shown<'a>>, Option<Shown<'a>>);

/// Puts removed lines beside the added lines that follow them.
fn paired(shown: Vec<Shown<'_>>) -> Vec<Pair<'_>> {
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    let mut open = 0;
    for one in shown {
        match one.line.side {
            Side::Both => {
                let same = Shown {
                    line: one.line,
                    colours: one.colours.clone(),
                    mark: None,
                };
                pairs.push((Some(same), Some(one)));
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

fn split_row(old: Option<&Shown<'_>>, new: Option<&Shown<'_>>) -> Markup {
    let cell = |shown: Option<&Shown<'_>>, before: bool| {
        let class = match shown.map(|shown| shown.line.side) {
            Some(Side::Old) => "code del",
            Some(Side::New) => "code add",
            Some(Side::Both) => "code",
            None => "code gone",
        };
        let number = shown.map(|shown| {
            if before {
                shown.line.old
            } else {
                shown.line.new
            }
        });
        html! { td.no { @if let Some(number) = number { (number) } } td class=(class) { @if let Some(shown) = shown { (shown.markup()) } } }
    };
    html! { tr { (cell(old, true)) (cell(new, false)) } }
}

/// Writes pairs in one column: of neighbouring changes first what goes, then what comes.
fn unified_rows(pairs: &[Pair<'_>]) -> Markup {
    let same = |pair: &Pair<'_>| {
        pair.0
            .as_ref()
            .is_some_and(|shown| shown.line.side == Side::Both)
    };
    let groups: Vec<&[Pair<'_>]> = pairs
        .chunk_by(|one, other| same(one) == same(other))
        .collect();
    html! {
        @for group in groups {
            @for (old, _) in group { @if let Some(shown) = old { (unified_row(shown)) } }
            @if !group.iter().any(same) { @for (_, new) in group { @if let Some(shown) = new { (unified_row(shown)) } } }
        }
    }
}

fn unified_row(shown: &Shown<'_>) -> Markup {
    let (class, sign) = match shown.line.side {
        Side::Old => ("code del", "-"),
        Side::New => ("code add", "+"),
        Side::Both => ("code", " "),
    };
    html! {
        tr {
            td.no { @if shown.line.old > 0 { (shown.line.old) } }
            td.no { @if shown.line.new > 0 { (shown.line.new) } }
            td class=(class) { span.sign { (sign) } (shown.markup()) }
        }
    }
}
