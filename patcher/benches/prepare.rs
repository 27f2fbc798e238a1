//! A thousand edits in a file of a hundred thousand lines: under 200 ms.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that cannot be set up has no result"
)]

use patchwright_patcher::{Edit, Guard, Patch, prepare};
use patchwright_source::Tree;

/// Lines of the file.
const LINES: usize = 100_000;

/// Edits of the patch.
const EDITS: usize = 1_000;

fn main() {
    divan::main();
}

fn line(at: usize) -> String {
    match at % 10 {
        0 => format!("int function_{at}(struct reader *reader, size_t size)"),
        1 => "{".to_owned(),
        8 => "}".to_owned(),
        9 => String::new(),
        _ => format!("    reader->total += table[{at}].weight * reader->scale;"),
    }
}

/// The edits; `shift` is by how many lines their ranges are wrong, `lead` what
/// the original is indented with in addition.
fn patch(shift: usize, lead: &str) -> Patch {
    let edits = (0..EDITS).map(|number| {
        let start = number * (LINES / EDITS) + 2;
        let original: Vec<String> = (start..start + 4)
            .map(|at| format!("{lead}{}", line(at)))
            .collect();
        let mut replacement = original.clone();
        replacement.insert(2, format!("{lead}    if (size < {number})"));
        replacement.insert(3, format!("{lead}        return -1;"));
        let first = u32::try_from(start + 1 + shift).expect("a small number");
        Edit::Replace {
            file: "big.c".to_owned(),
            lines: Some((first, first + 3)),
            original: Some(original.join("\n")),
            replacement: Some(replacement.join("\n")),
        }
    });
    Patch {
        explanation: None,
        edits: edits.collect(),
    }
}

fn run(bencher: divan::Bencher<'_, '_>, shift: usize, lead: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let text: Vec<String> = (0..LINES).map(line).collect();
    std::fs::write(folder.path().join("big.c"), text.join("\n") + "\n").expect("a file");
    let tree = Tree::open(folder.path()).expect("a tree");
    let guard = Guard::new(&[]).expect("no pattern");
    let patch = patch(shift, lead);
    bencher
        .bench_local(|| prepare(&tree, &patch, &guard, &|_| true).expect("every place is found"));
}

#[divan::bench(sample_count = 10)]
fn exact(bencher: divan::Bencher<'_, '_>) {
    run(bencher, 0, "");
}

#[divan::bench(sample_count = 10)]
fn shifted_by_two(bencher: divan::Bencher<'_, '_>) {
    run(bencher, 2, "");
}

#[divan::bench(sample_count = 10)]
fn moved_with_other_whitespace(bencher: divan::Bencher<'_, '_>) {
    run(bencher, 40, "  ");
}
