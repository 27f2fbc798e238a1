//! The normal form of a patch: equal for patches that leave the same files, whitespace and
//! blank lines aside, whatever the order and the cut of their edits.

use crate::indent::lead;
use crate::pristine::{Pristine, key};
use patchwright_source::{Language, Text, TreePath};
use sha2::{Digest, Sha256};

/// A line: the width of its indentation where that is meaning, and what it holds.
type Line = (usize, u64);

/// Returns the normal form of a file with new bytes, unless only whitespace changes.
pub(crate) fn of_edited(file: &Pristine, bytes: &[u8]) -> Option<String> {
    let new = Text::new(bytes.to_vec());
    (!lines(file, &file.text).eq(lines(file, &new))).then(|| written(file, &new))
}

/// Returns the normal form of a new file.
pub(crate) fn of_created(path: &TreePath, bytes: &[u8]) -> String {
    let file = Pristine::new(path.clone(), Text::new(bytes.to_vec()));
    written(&file, &file.text)
}

/// The lines of a version of a file, but blank ones.
fn lines(file: &Pristine, text: &Text) -> impl Iterator<Item = Line> {
    let columns = |c: char| if c == '\t' { 8 } else { 1 };
    (1..=text.line_count()).filter_map(move |number| {
        let line = file.text.decode(text.raw_line(number)?);
        let width: usize = match file.language {
            Some(Language::Python) => lead(&line).chars().map(columns).sum(),
            _ => 0,
        };
        Some((width, key(&line))).filter(|(_, key)| *key != 0)
    })
}

fn written(file: &Pristine, text: &Text) -> String {
    let mut digest = Sha256::new();
    for (width, key) in lines(file, text) {
        digest.update(width.to_le_bytes());
        digest.update(key.to_le_bytes());
    }
    format!("file {} {:x}\n", file.path, digest.finalize())
}

#[cfg(test)]
mod tests {
    use super::{of_created, of_edited};
    use crate::pristine::Pristine;
    use crate::splice::{Splice, carry_out};
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
        let bytes = carry_out(&file.text, 0..file.count(), &splices);
        of_edited(&file, &bytes).unwrap_or_default()
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
            of_edited(&file, &carry_out(&file.text, 0..1, &[splice]))
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
