//! Hunks whose context is another one in the branch: only context that stands there is kept.
//!
//! The lines that a hunk removes have to stand in the branch, and what is kept has to stand in
//! one place only; the location of edits refuses everything else.

use patchwright_agent::task::{Source, Task};
use patchwright_patcher::{Edit, Guard, Hunk, Patch, prepare};
use patchwright_source::Tree;

/// Lines with letters or digits that a hunk keeps at least: one alone may stand there by chance.
const KEPT: usize = 2;

/// Trims the context of each hunk that has no place in the tree of a task. A hunk for which this
/// finds none stays as it is, so that its refusal names its lines.
pub(super) fn with_context_of(task: &Task, patch: Patch) -> anyhow::Result<Patch> {
    let Source::Path(folder) = &task.source else {
        return Ok(patch);
    };
    let (tree, guard) = (Tree::open(folder)?, Guard::new(&task.protect)?);
    let has_place = |edit: &Edit| {
        let patch = Patch {
            explanation: None,
            edits: vec![edit.clone()],
        };
        prepare(&tree, &patch, &guard, &|_| true).is_ok()
    };
    let trimmed = |edit: Edit| match &edit {
        Edit::Hunk(hunk) if !has_place(&edit) => {
            let found = trims(hunk).into_iter().map(Edit::Hunk).find(has_place);
            found.unwrap_or(edit)
        }
        _ => edit,
    };
    Ok(Patch {
        edits: patch.edits.into_iter().map(trimmed).collect(),
        ..patch
    })
}

/// Lists a hunk with less and less context before and after its changes.
fn trims(hunk: &Hunk) -> Vec<Hunk> {
    let common = |one: &mut dyn Iterator<Item = (&String, &String)>| {
        one.take_while(|(old, new)| old == new).count()
    };
    let before = common(&mut hunk.old.iter().zip(&hunk.new));
    let after = common(&mut hunk.old.iter().rev().zip(hunk.new.iter().rev()));
    let shorter = hunk.old.len().min(hunk.new.len());
    let after = after.min(shorter.saturating_sub(before));
    let mut cuts: Vec<(usize, usize)> = (0..=before)
        .flat_map(|first| (0..=after).map(move |last| (first, last)))
        .filter(|cut| *cut != (0, 0))
        .collect();
    cuts.sort_by_key(|(first, last)| first + last);
    let trims = cuts.into_iter().map(|(first, last)| {
        let part = |lines: &[String]| {
            let end = lines.len().saturating_sub(last);
            lines.get(first..end).unwrap_or_default().to_vec()
        };
        Hunk {
            start: hunk
                .start
                .map(|start| start + u32::try_from(first).unwrap_or_default()),
            old: part(&hunk.old),
            new: part(&hunk.new),
            old_unterminated: hunk.old_unterminated && last == 0,
            new_unterminated: hunk.new_unterminated && last == 0,
            ..hunk.clone()
        }
    });
    let says_something = |line: &&String| line.chars().any(char::is_alphanumeric);
    trims
        .filter(|hunk| hunk.old.iter().filter(says_something).count() >= KEPT)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::trims;
    use patchwright_patcher::Hunk;

    fn lines(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_least_context_is_left_out_first_and_no_change_ever() {
        let hunk = Hunk {
            file: "a.c".to_owned(),
            start: Some(10),
            old: lines("a b } x d"),
            new: lines("a b } y z d"),
            ..Hunk::default()
        };
        let trims = trims(&hunk);
        let told: Vec<String> = trims
            .iter()
            .map(|hunk| format!("{} {}", hunk.start.unwrap_or_default(), hunk.old.join("")))
            .collect();
        assert_eq!(told, ["10 ab}x", "11 b}xd", "11 b}x", "12 }xd", "13 xd"]);
        assert!(trims.iter().all(|hunk| hunk.new.join("").contains("yz")));
    }
}
