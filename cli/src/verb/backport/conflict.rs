//! Conflicts of a merge that are none: the lines of both sides touch, or have changes at different
//! words.
//!
//! Git gives up where two changes have no unchanged line between them. Here a conflict is merged
//! anew, by lines and then by words, and both changes are kept where no line or word is changed by
//! both: an insertion beside a line that the branch lacks, another argument in a call whose
//! arguments the branch has otherwise. Whether the result is right the ladder says.

use super::Backport;
use crate::revisions::Revisions;
use patchwright_source::{DiffOp, FileDiff, difference};
use std::ops::Range;
use std::path::Path;

/// Length of the marks around a conflict; no code has such lines.
const MARK: usize = 60;

impl Backport<'_> {
    /// Merges the fix into a commit with all conflicts resolved, and returns what this changes in
    /// the task's tree. None where one cannot be, or where files come or go.
    pub(super) async fn resolved(&self, onto: &str) -> anyhow::Result<Option<Vec<u8>>> {
        let (revisions, fix) = (&self.revisions, &self.fix);
        let diff = String::from_utf8_lossy(&fix.diff);
        let git = revisions.with_index();
        git.run(&["read-tree", onto]).await?;
        for file in FileDiff::read(&diff).unwrap_or_default() {
            let path = format!("{}{}", revisions.prefix, file.path());
            let commits = [onto, &fix.parent, &fix.code];
            let Some(merged) = merge(revisions, commits, &path).await? else {
                return Ok(None);
            };
            let folder = revisions.folder()?;
            let written = written(folder.path(), "merged", merged.as_bytes())?;
            let blob = git.run(&["hash-object", "-w", "--", &written]).await?;
            let entry = git.run(&["ls-files", "--stage", "--", &path]).await?;
            let mode = entry.split(' ').next().unwrap_or_default();
            let info = format!("{mode},{blob},{path}");
            git.run(&["update-index", "--cacheinfo", &info]).await?;
        }
        let tree = git.run(&["write-tree"]).await?;
        let relative = format!("--relative={}", revisions.prefix);
        let diff = revisions.diff((onto, &tree), &[&relative], &[]).await?;
        Ok(Some(diff))
    }
}

/// Merges a file that stands in three commits: the one that gets the change, and those before and
/// after the change.
async fn merge(
    revisions: &Revisions<'_>,
    commits: [&str; 3],
    path: &str,
) -> anyhow::Result<Option<String>> {
    let folder = revisions.folder()?;
    let mut files = Vec::new();
    for (name, commit) in ["ours", "base", "theirs"].iter().zip(commits) {
        let object = format!("{commit}:{path}");
        let Ok(text) = revisions.git.output(&["cat-file", "blob", &object]).await else {
            return Ok(None);
        };
        files.push(written(folder.path(), name, &text)?);
    }
    let size = format!("--marker-size={MARK}");
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let merge = [
        &["merge-file", "--stdout", "--diff3", "--quiet", &size][..],
        &files,
    ]
    .concat();
    // The status is the number of conflicts.
    let merged = revisions.git.outcome(&merge).await?.stdout;
    Ok(String::from_utf8(merged)
        .ok()
        .and_then(|merged| resolve(&merged)))
}

fn written(folder: &Path, name: &str, text: &[u8]) -> anyhow::Result<String> {
    let file = folder.join(name);
    std::fs::write(&file, text)?;
    Ok(file.display().to_string())
}

/// Resolves the conflicts of a merged file; none where one is left.
fn resolve(merged: &str) -> Option<String> {
    let mut text = String::new();
    let mut sides: Option<[Vec<&str>; 3]> = None;
    let mut at = 0;
    for line in merged.split_inclusive('\n') {
        let mark = ["<", "|", "=", ">"]
            .iter()
            .position(|mark| line.starts_with(&mark.repeat(MARK)));
        match (mark, &mut sides) {
            (Some(3), Some(all)) => {
                let [ours, base, theirs] = all.each_ref().map(Vec::as_slice);
                let by_word = || {
                    let [ours, base, theirs] = [ours, base, theirs].map(words);
                    merge_items(&base, &ours, &theirs)
                };
                text.extend(merge_items(base, ours, theirs).or_else(by_word)?);
                sides = None;
            }
            (Some(side), _) => {
                at = side;
                sides.get_or_insert_default();
            }
            (None, Some(all)) => all.get_mut(at)?.push(line),
            (None, None) => text.push_str(line),
        }
    }
    Some(text)
}

/// Cuts lines into words, runs of blanks and other signs.
fn words<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut words = Vec::new();
    for line in lines {
        let mut rest = *line;
        while let Some(first) = rest.chars().next() {
            let is_alike = |next: char| {
                let is_word = |one: char| one == '_' || one.is_alphanumeric();
                is_word(first) && is_word(next) || first == ' ' && next == ' '
            };
            let end = rest.find(|next| !is_alike(next)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end.max(first.len_utf8()));
            words.push(word);
            rest = after;
        }
    }
    words
}

/// A change of a sequence: what it replaces, and by what.
type Change<'a> = (Range<usize>, Vec<&'a str>);

/// Merges two changed sequences; none where both change, or put something at, the same place.
fn merge_items<'a>(base: &[&'a str], ours: &[&'a str], theirs: &[&'a str]) -> Option<Vec<&'a str>> {
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

fn changes<'a>(base: &[&str], new: &[&'a str]) -> Vec<Change<'a>> {
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
    use super::{MARK, resolve};

    /// Writes a conflict as git does.
    fn conflict(ours: &str, base: &str, theirs: &str) -> String {
        let [first, second, third, last] = ["<", "|", "=", ">"].map(|mark| mark.repeat(MARK));
        format!("a\n{first} o\n{ours}{second} b\n{base}{third}\n{theirs}{last} t\nz\n")
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
            // Both alike.
            ("x\ny\n", "x\nb\n", "x\ny\n", Some("x\ny\n")),
            // The same word, and the same place.
            ("f(a2);\n", "f(a1);\n", "f(a3);\n", None),
            ("x\nb\n", "b\n", "y\nb\n", None),
        ] {
            let expected = merged.map(|merged| format!("a\n{merged}z\n"));
            assert_eq!(resolve(&conflict(ours, base, theirs)), expected, "{theirs}");
        }
        assert_eq!(resolve("a\n").as_deref(), Some("a\n"));
    }
}
