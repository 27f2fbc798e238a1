//! Lines that a model copied with other spaces, other numbers, or from a place
//! that stands twice.

use super::{check_diff, guard, new_bytes, tree_with};
use patchwright_patcher::{Edit, Patch, prepare, reply};
use proptest::prelude::*;
use std::fmt::Write;

/// Ways in which a model copies lines.
#[derive(Debug, Clone)]
pub(crate) struct Copied {
    count: usize,
    start: usize,
    length: usize,
    shift: isize,
    numbered: bool,
    /// Per line: indentation, doubled spaces, trailing blanks.
    spaces: Vec<(usize, bool, bool)>,
    tabs_in_file: bool,
    new: usize,
}

pub(crate) fn copied() -> impl Strategy<Value = Copied> {
    let spaces = proptest::collection::vec((0_usize..9, any::<bool>(), any::<bool>()), 8);
    let place = (8_usize..60, 0_usize..60, 1_usize..8, -3_isize..=3);
    (place, any::<bool>(), spaces, any::<bool>(), 0_usize..4).prop_map(
        |((count, start, length, shift), numbered, spaces, tabs_in_file, new)| {
            let start = start % count;
            let length = length.min(count - start);
            Copied {
                count,
                start,
                length,
                shift,
                numbered,
                spaces,
                tabs_in_file,
                new,
            }
        },
    )
}

/// Line `at` of a file in which no two lines are alike.
fn unlike_line(at: usize, tabs: bool) -> String {
    let lead = if tabs { "\t" } else { "    " };
    match at % 7 {
        0 => format!("{lead}value_{at} = read( in, {at} );"),
        1 => format!("{lead}if (value_{at} < limit)"),
        2 => format!("{lead}{lead}return {at};"),
        3 => format!("#define LIMIT_{at} 12"),
        4 => format!("/* step {at} */"),
        5 => format!("{at}:"),
        _ => format!("{lead}call_{at}(a, b);"),
    }
}

pub(crate) fn check_copied(case: &Copied) {
    let lines: Vec<String> = (0..case.count)
        .map(|at| unlike_line(at, case.tabs_in_file))
        .collect();
    let bytes = lines.join("\n") + "\n";
    let (_folder, tree) = tree_with(bytes.as_bytes());
    let named = (case.start + 1).saturating_add_signed(case.shift).max(1);
    let mut original = String::new();
    for offset in 0..case.length {
        let (indent, double, trail) = case.spaces[offset % case.spaces.len()];
        let mut line = lines[case.start + offset].trim().to_owned();
        if double {
            line = line.replace(' ', "  ");
        }
        if case.numbered {
            let _ = write!(original, "{:4}: ", case.start + offset + 1);
        }
        let end = if trail { "  " } else { "" };
        let _ = writeln!(original, "{}{line}{end}", " ".repeat(indent));
    }
    let new: String = (0..case.new).fold(String::new(), |mut out, at| {
        let _ = writeln!(out, "    fresh_{at}();");
        out
    });
    let text = format!(
        "<patch><edit file=\"src/a.c\" lines=\"{named}-{}\">\n<original>\n{original}</original>\n\
         <replacement>\n{new}</replacement>\n</edit></patch>",
        named + case.length - 1
    );
    let patch = reply::read(&text, false).patch.unwrap();
    let prepared = prepare(&tree, &patch, &guard(), &|_| true)
        .unwrap_or_else(|refusals| panic!("{}\nfile:\n{bytes}\nreply:\n{text}", refusals[0]));
    let found = String::from_utf8(new_bytes(&prepared).to_vec()).unwrap();
    let mut expected = lines.clone();
    let fresh = (0..case.new).map(|at| format!("fresh_{at}();"));
    expected.splice(case.start..case.start + case.length, fresh);
    let bare = |text: &str| {
        text.lines()
            .map(|line| line.trim().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(bare(&found), bare(&expected.join("\n")), "{text}");
    check_diff(&tree, bytes.as_bytes(), &prepared);
}

/// A block that stands twice, and a line far from both.
#[derive(Debug, Clone)]
pub(crate) struct Twice {
    before: usize,
    between: usize,
    after: usize,
    length: usize,
    named: usize,
    second_indented: bool,
    has_range: bool,
}

pub(crate) fn twice() -> impl Strategy<Value = Twice> {
    let sizes = (0_usize..30, 0_usize..30, 0_usize..30, 1_usize..5);
    (sizes, 0_usize..100, any::<bool>(), any::<bool>()).prop_map(
        |((before, between, after, length), named, second_indented, has_range)| Twice {
            before,
            between,
            after,
            length,
            named,
            second_indented,
            has_range,
        },
    )
}

pub(crate) fn check_twice(case: &Twice) {
    let block: Vec<String> = (0..case.length)
        .map(|at| format!("    same_{at}(x);"))
        .collect();
    let other = |from: usize, count: usize| (from..from + count).map(|at| unlike_line(at, false));
    let mut lines: Vec<String> = other(0, case.before).collect();
    let first = lines.len();
    lines.extend(block.clone());
    lines.extend(other(1000, case.between));
    let second = lines.len();
    let indent = if case.second_indented { "  " } else { "" };
    lines.extend(block.iter().map(|line| format!("{indent}{line}")));
    lines.extend(other(2000, case.after));
    let near = |place: usize| case.named.abs_diff(place + 1) <= 3;
    if case.has_range && (near(first) || near(second)) {
        return;
    }
    let (_folder, tree) = tree_with((lines.join("\n") + "\n").as_bytes());
    let quoted: Vec<String> = block
        .iter()
        .map(|line| {
            if case.second_indented {
                format!("   {line}")
            } else {
                line.clone()
            }
        })
        .collect();
    let patch = Patch {
        explanation: None,
        edits: vec![Edit::Replace {
            file: "src/a.c".to_owned(),
            lines: case
                .has_range
                .then(|| u32::try_from(case.named).unwrap())
                .map(|line| (line, line)),
            original: Some(quoted.join("\n")),
            replacement: Some("    other();".to_owned()),
        }],
    };
    let result = prepare(&tree, &patch, &guard(), &|_| true);
    assert!(result.is_err(), "placed: {}", result.unwrap().diff);
}
