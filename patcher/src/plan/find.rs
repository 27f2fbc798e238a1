//! The place of an edit, or the reason why it has none.

use super::text;
use super::wish::{Reading, SHOWN, Wish, new_lines, readings, show_range};
use crate::locate::{Found, Place, Wanted, locate, locate_similar, nearest};
use crate::numbers;
use crate::pristine::Pristine;
use crate::unescape::unescape;
use crate::{How, Refusal, Rule};

/// A way to look for lines.
type Search<'a> = &'a dyn Fn(&Pristine, Wanted<'_>) -> Found;

/// The place of an edit and its new lines, or why there is none.
pub(super) fn find(
    file: &Pristine,
    wish: &Wish<'_>,
    knows: &dyn Fn(&str) -> bool,
) -> Result<(Place, Vec<String>, Reading), Refusal> {
    if wish.old.iter().all(|line| line.trim().is_empty()) && wish.lines.is_none() {
        return empty_original(file, wish);
    }
    let ways = readings(wish);
    let exact = |file: &Pristine, wanted: Wanted<'_>| locate(file, wanted);
    let similar = |file: &Pristine, wanted: Wanted<'_>| locate_similar(file, wanted, knows);
    let steps: [Search<'_>; 2] = [&exact, &similar];
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
) -> Result<(Place, Vec<String>, Reading), Refusal> {
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

fn ambiguous(file: &Pristine, wish: &Wish<'_>, places: &[usize]) -> Refusal {
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

fn not_found(file: &Pristine, wish: &Wish<'_>, ways: &[Reading]) -> Refusal {
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
