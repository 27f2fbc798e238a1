//! Conflicts of a merge that are none: the lines of both sides touch, or have changes at different
//! words.
//!
//! Git gives up where two changes have no unchanged line between them. Here a conflict is merged
//! anew, by lines and then by words, and both changes are kept where no line or word is changed by
//! both: an insertion beside a line that the branch lacks, another argument in a call whose
//! arguments the branch has otherwise. Whether the result is right the ladder says.

use super::Backport;
use crate::revisions::Revisions;
use patchwright_source::{DiffOp, difference};
use std::ops::Range;
use std::path::Path;

/// The most lines of a side of a conflict that are merged by words: in more of them brackets and
/// commas fit by chance.
const FEW_LINES: usize = 20;
/// The longest line of a file that is merged.
const LONGEST: usize = 10_000;

/// Lines or words of a file.
type Items<'a> = Vec<&'a [u8]>;

impl Backport<'_> {
    /// Merges the fix into a commit with all conflicts resolved, and returns what this changes in
    /// the task's tree. None where one cannot be, where files come or go, or where nothing is left
    /// to change.
    pub(super) async fn resolved(&self, onto: &str) -> anyhow::Result<Option<Vec<u8>>> {
        let (revisions, fix) = (&self.revisions, &self.fix);
        let changed = ["diff-tree", "-r", "-z", "--raw", "--no-renames"];
        let changed = [&changed[..], &[&fix.parent, &fix.code]].concat();
        let changed = revisions.git.run(&changed).await?;
        let git = revisions.with_index();
        git.run(&["read-tree", onto]).await?;
        let mut fields = changed.split('\0');
        while let (Some(entry), Some(path)) = (fields.next(), fields.next()) {
            let words: Vec<&str> = entry.split(' ').collect();
            let [was, is, before, after, "M"] = words.as_slice() else {
                return Ok(None);
            };
            if was.trim_start_matches(':') != *is || !is.starts_with("100") {
                return Ok(None);
            }
            let place = format!(":(literal){path}");
            let there = git.run(&["ls-files", "--stage", "--", &place]).await?;
            let Some((mode, rest)) = there.split_once(' ') else {
                return Ok(None);
            };
            let ours = rest.split(' ').next().unwrap_or_default();
            let Some(merged) = merge(revisions, [ours, before, after]).await? else {
                return Ok(None);
            };
            let folder = revisions.folder()?;
            let file = written(folder.path(), "merged", &merged)?;
            let store = ["hash-object", "-w", "--no-filters", "--", &file];
            let blob = git.run(&store).await?;
            let info = format!("{mode},{blob},{path}");
            git.run(&["update-index", "--cacheinfo", &info]).await?;
        }
        let tree = git.run(&["write-tree"]).await?;
        let relative = format!("--relative={}", revisions.prefix);
        let diff = revisions.diff((onto, &tree), &[&relative], &[]).await?;
        Ok(Some(diff).filter(|diff| !diff.is_empty()))
    }
}

/// Merges three contents of a file: of the commit that gets the change, and before and after it.
async fn merge(revisions: &Revisions<'_>, blobs: [&str; 3]) -> anyhow::Result<Option<Vec<u8>>> {
    let folder = revisions.folder()?;
    let (mut files, mut contents) = (Vec::new(), Vec::new());
    for (name, blob) in ["ours", "base", "theirs"].iter().zip(blobs) {
        let text = revisions.git.output(&["cat-file", "blob", blob]).await?;
        files.push(written(folder.path(), name, &text)?);
        contents.push(text);
    }
    let lines = contents
        .iter()
        .flat_map(|text| text.split(|byte| *byte == b'\n'));
    // No line is as long as a mark: none can be taken for one.
    let size = lines.map(<[u8]>::len).max().unwrap_or_default() + 1;
    if size > LONGEST {
        return Ok(None);
    }
    let marks = format!("--marker-size={size}");
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let merge = ["merge-file", "--stdout", "--diff3", "--quiet", &marks];
    let merged = revisions
        .git
        .outcome(&[&merge[..], &files].concat())
        .await?;
    // The status is the number of conflicts, and above that an error.
    if merged.status.code().is_none_or(|code| code >= 128) {
        return Ok(None);
    }
    let mut text = resolve(&merged.stdout, size);
    let is_open = contents.first().is_some_and(|ours| !ours.ends_with(b"\n"));
    // Git ends the last line of a conflict.
    if let Some(text) = text
        .as_mut()
        .filter(|text| is_open && text.ends_with(b"\n"))
    {
        text.pop();
    }
    Ok(text)
}

fn written(folder: &Path, name: &str, text: &[u8]) -> anyhow::Result<String> {
    let file = folder.join(name);
    std::fs::write(&file, text)?;
    Ok(file.display().to_string())
}

/// Resolves the conflicts of a merged file, between marks of this size; none where one is left.
fn resolve(merged: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut text = Items::new();
    // The sides of the conflict at hand: ours, base and theirs.
    let mut sides: Vec<Items<'_>> = Vec::new();
    for line in merged.split_inclusive(|byte| *byte == b'\n') {
        let mark = *b"<|=>".get(sides.len())?;
        if line.len() >= size && line.iter().take(size).all(|byte| *byte == mark) {
            sides.push(Items::new());
            if let [ours, base, theirs, _] = sides.as_slice() {
                text.extend(merge_sides(base, ours, theirs)?);
                sides.clear();
            }
            continue;
        }
        sides.last_mut().unwrap_or(&mut text).push(line);
    }
    sides.is_empty().then(|| text.concat())
}

/// Merges two changed sequences of lines, by lines or else by words.
fn merge_sides<'a>(base: &[&'a [u8]], ours: &[&'a [u8]], theirs: &[&'a [u8]]) -> Option<Items<'a>> {
    let by_line = merge_items(base, ours, theirs);
    let are_few = [base, ours, theirs]
        .iter()
        .all(|side| side.len() <= FEW_LINES);
    by_line.or_else(|| {
        let [base, ours, theirs] = [base, ours, theirs].map(words);
        are_few.then(|| merge_items(&base, &ours, &theirs))?
    })
}

/// Cuts lines into words, runs of blanks and other signs.
fn words<'a>(lines: &[&'a [u8]]) -> Items<'a> {
    let kind = |byte: u8| match byte {
        b'_' | 128.. => 1,
        b' ' => 2,
        _ if byte.is_ascii_alphanumeric() => 1,
        _ => 0,
    };
    let words = |line: &'a [u8]| {
        line.chunk_by(move |one, next| kind(*one) > 0 && kind(*one) == kind(*next))
    };
    lines.iter().flat_map(|line| words(line)).collect()
}

/// A change of a sequence: what it replaces, and by what.
type Change<'a> = (Range<usize>, Items<'a>);

/// Merges two changed sequences; none where both change, or put something at, the same place.
fn merge_items<'a>(base: &[&'a [u8]], ours: &[&'a [u8]], theirs: &[&'a [u8]]) -> Option<Items<'a>> {
    let mut all: Vec<Change<'_>> = changes(base, ours);
    for change in changes(base, theirs) {
        if all.contains(&change) {
            continue;
        }
        if all.iter().any(|(range, _)| meet(range, &change.0)) {
            return None;
        }
        all.push(change);
    }
    // What is put before a place stands before what replaces it.
    all.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut merged, mut next) = (Vec::new(), 0);
    for (range, new) in all {
        merged.extend_from_slice(base.get(next..range.start)?);
        merged.extend(new);
        next = range.end;
    }
    merged.extend_from_slice(base.get(next..)?);
    Some(merged)
}

fn changes<'a>(base: &[&[u8]], new: &[&'a [u8]]) -> Vec<Change<'a>> {
    let steps = difference(base, new).into_iter();
    let changed = steps.filter(|step| !matches!(step, DiffOp::Equal { .. }));
    changed
        .filter_map(|step| Some((step.old_range(), new.get(step.new_range())?.to_vec())))
        .collect()
}

/// Tells whether two changes concern the same items, or are put at the same place.
fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    one == other || one.start < other.end && other.start < one.end
}

#[cfg(test)]
mod tests {
    use super::{FEW_LINES, resolve};

    const SIZE: usize = 8;

    /// Writes a conflict as git does.
    fn conflict(ours: &str, base: &str, theirs: &str) -> String {
        let [first, second, third, last] = ["<", "|", "=", ">"].map(|mark| mark.repeat(SIZE));
        format!("a\n{first} o\n{ours}{second} b\n{base}{third}\n{theirs}{last} t\nz\n")
    }

    fn resolved(text: &str) -> Option<String> {
        Some(String::from_utf8(resolve(text.as_bytes(), SIZE)?).unwrap())
    }

    #[test]
    fn changes_that_only_touch_are_both_kept() {
        for (ours, base, theirs, merged) in [
            // The branch lacks the line beside an insertion.
            ("", "i++;\n", "check();\ni++;\n", Some("check();\n")),
            (
                "j++;\n",
                "i++;\n",
                "i++;\ncheck();\n",
                Some("j++;\ncheck();\n"),
            ),
            // Other words of one line.
            (
                "f(a, c);\n",
                "f(a, b, c);\n",
                "f(a, b, c, &d);\n",
                Some("f(a, c, &d);\n"),
            ),
            ("x\r\n", "x1\r\n", "x1\r\ny\r\n", Some("x\r\ny\r\n")),
            // Both alike.
            ("x\ny\n", "x\nb\n", "x\ny\n", Some("x\ny\n")),
            // The same word, and the same place.
            ("f(a2);\n", "f(a1);\n", "f(a3);\n", None),
            ("x\nb\n", "b\n", "y\nb\n", None),
        ] {
            let expected = merged.map(|merged| format!("a\n{merged}z\n"));
            let one = conflict(ours, base, theirs);
            assert_eq!(resolved(&one), expected, "{theirs}");
            let twice = expected.map(|expected| expected.repeat(2));
            assert_eq!(resolved(&one.repeat(2)), twice, "{theirs}");
        }
        let many = "f(a, b);\n".repeat(FEW_LINES + 1);
        let (ours, theirs) = (many.replace('a', "x"), many.replace('b', "y"));
        assert_eq!(resolved(&conflict(&ours, &many, &theirs)), None);
    }

    #[test]
    fn a_file_without_a_conflict_stays_as_it_is() {
        for text in ["", "a\r\n\n", "====\n<<<<\n", "no end", "======= =\n"] {
            assert_eq!(resolved(text).as_deref(), Some(text));
        }
        // A mark out of turn, and one that is never closed.
        let [first, third] = ["<", "="].map(|mark| mark.repeat(SIZE));
        let out_of_turn = format!("{third}\na\n");
        assert_eq!(resolved(&out_of_turn).as_ref(), Some(&out_of_turn));
        assert_eq!(resolved(&format!("{first}\na\n")), None);
    }
}
