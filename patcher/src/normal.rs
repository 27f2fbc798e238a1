//! The normal form of a patch: equal for patches that leave the same files, whitespace and
//! blank lines aside, whatever the order and the cut of their edits.

use crate::indent::lead;
use crate::pristine::{Pristine, key};
use crate::splice::Splice;
use patchwright_source::{Language, Text, TreePath};
use sha2::{Digest, Sha256};

/// A line: the width of its indentation where that is meaning, and what it holds.
type Line = (usize, u64);

/// Returns the normal form of an edited file, unless only whitespace changes.
pub(crate) fn of_edited(file: &Pristine, splices: &[Splice]) -> Option<String> {
    let end = file.count();
    let mut lines = Vec::with_capacity(end);
    let mut at = 0;
    for splice in splices {
        lines.extend((at..splice.old.start).filter_map(|at| kept(file, at)));
        let new = splice.new.iter().map(|line| file.text.decode(line));
        lines.extend(new.filter_map(|line| normal(file.language, key(&line), &line)));
        at = splice.old.end;
    }
    lines.extend((at..end).filter_map(|at| kept(file, at)));
    let same = (0..end)
        .filter_map(|at| kept(file, at))
        .eq(lines.iter().copied());
    (!same).then(|| written(&file.path, lines))
}

/// Returns the normal form of a new file.
pub(crate) fn of_created(path: &TreePath, bytes: &[u8]) -> String {
    let file = Pristine::new(path.clone(), Text::new(bytes.to_vec()));
    written(path, (0..file.count()).filter_map(|at| kept(&file, at)))
}

fn kept(file: &Pristine, at: usize) -> Option<Line> {
    normal(file.language, file.key(at)?, &file.line(at))
}

fn normal(language: Option<Language>, key: u64, line: &str) -> Option<Line> {
    let columns = |c: char| if c == '\t' { 8 } else { 1 };
    let width = match language {
        Some(Language::Python) => lead(line).chars().map(columns).sum(),
        _ => 0,
    };
    (key != 0).then_some((width, key))
}

fn written(path: &TreePath, lines: impl IntoIterator<Item = Line>) -> String {
    let mut digest = Sha256::new();
    for (width, key) in lines {
        digest.update(width.to_le_bytes());
        digest.update(key.to_le_bytes());
    }
    format!("file {path} {:x}\n", digest.finalize())
}

#[cfg(test)]
mod tests {
    use super::{of_created, of_edited};
    use crate::pristine::Pristine;
    use crate::splice::Splice;
    use patchwright_source::{Language, Text, TreePath};

    fn form(
        text: &str,
        language: Language,
        splices: &[(std::ops::Range<usize>, &[&str])],
    ) -> String {
        let splices: Vec<Splice> = splices
            .iter()
            .map(|(old, new)| Splice {
                old: old.clone(),
                new: new.iter().map(|line| line.as_bytes().to_vec()).collect(),
            })
            .collect();
        let name = if language == Language::Python {
            "a.py"
        } else {
            "a.c"
        };
        let file = Pristine::new(TreePath::new(name).unwrap(), Text::new(text.into()));
        of_edited(&file, &splices).unwrap_or_default()
    }

    #[test]
    fn is_the_same_for_the_same_patch() {
        let text = "f {\n  a;\n}\n\ng {\n}\n";
        let c = Language::C;
        assert_eq!(
            form(text, c, &[(1..1, &["  if (x) y;\n"])]),
            form(text, c, &[(1..1, &["\tif(x)  y;\n", "\n"])])
        );
        assert_eq!(
            form(text, c, &[(3..3, &["h {\n", "}\n"])]),
            form(text, c, &[(2..2, &["}\n", "h {\n"])])
        );
        assert_ne!(
            form(text, c, &[(1..1, &["x;\n"])]),
            form(text, c, &[(2..2, &["x;\n"])])
        );
        assert_eq!(form(text, c, &[(1..2, &["    a ;\n"])]), "");
        assert_ne!(form(text, Language::Python, &[(1..2, &["    a;\n"])]), "");
    }

    #[test]
    fn does_not_depend_on_how_the_change_is_cut() {
        let text = "a\nx;\n\nx;\nb\nc\n";
        let c = Language::C;
        // Which of the two equal lines goes cannot be told from what is left.
        let high = form(text, c, &[(0..2, &[]), (4..5, &["V\n"])]);
        let low = form(text, c, &[(0..1, &[]), (3..5, &["V\n"])]);
        assert_eq!(high, low);
        let whole = form(text, c, &[(0..6, &["x;\n", "V\n", "c\n"])]);
        assert_eq!(high, whole);
        assert_ne!(high, form(text, c, &[(0..2, &[]), (4..5, &["W\n"])]));
        let twice = "{\n  y;\n}\n{\n  y;\n}\n";
        assert_eq!(
            form(twice, c, &[(0..3, &[])]),
            form(twice, c, &[(3..6, &[])])
        );
        assert_eq!(form(twice, c, &[(0..1, &["{\n"])]), "");
    }

    #[test]
    fn tells_the_bytes_of_old_encodings_apart() {
        let of = |bytes: &[u8]| {
            let splice = Splice {
                old: 0..1,
                new: vec![bytes.to_vec()],
            };
            let text = Text::new(b"caf\xe9;\n".to_vec());
            let file = Pristine::new(TreePath::new("a.c").unwrap(), text);
            of_edited(&file, &[splice])
        };
        assert_eq!(of(b" caf\xe9;\n"), None);
        assert!(of(b"caf\xe8;\n").is_some());
        assert_ne!(of(b"caf\xe8;\n"), of(b"caf\xea;\n"));
    }

    #[test]
    fn a_new_file_is_known_by_what_it_holds() {
        let of = |text: &str| of_created(&TreePath::new("a.c").unwrap(), text.as_bytes());
        assert_eq!(of("a;\n\nb;\n"), of("  a ;\nb;\n"));
        assert_ne!(of("a;\nb;\n"), of("b;\na;\n"));
    }
}
