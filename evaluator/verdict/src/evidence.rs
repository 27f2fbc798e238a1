//! Evidence: the facts that the rungs fill in, and the words for an input.
//!
//! The facts are those of a run's record, with the bytes that they hold; [`crate::Ladder`] climbs.

pub use patchwright_record::{AcceptedInput, Doubt, DoubtedInput, FoundInput, Rung, RungName};
use patchwright_source::counted;
use patchwright_target::runner::{Pov, content};

/// Reason why a doubt about what the program answers where it erred before holds nothing back.
pub(crate) const TOLD: &str =
    "told for whoever reads the patch: every repair answers anew there, so it holds nothing back";
/// Bytes of the changed part of an input that are shown.
const CHANGED: usize = 60;

/// Describes an input by its difference to the PoV that it is run like.
pub(crate) fn doubted(pov: &Pov, bytes: &[u8]) -> DoubtedInput {
    DoubtedInput {
        pov: pov.name(),
        change: change(&content(pov).unwrap_or_default(), bytes),
        blob: bytes.to_vec().into(),
        ..DoubtedInput::default()
    }
}

/// Returns the position of the first byte that differs.
pub(crate) fn changed_at(from: &[u8], to: &[u8]) -> usize {
    let pairs = from.iter().zip(to);
    pairs.take_while(|(old, new)| old == new).count()
}

/// Describes the change of one input that gives another.
fn change(from: &[u8], to: &[u8]) -> String {
    let head = changed_at(from, to);
    let rest = from.len().min(to.len()) - head;
    let pairs = from.iter().rev().zip(to.iter().rev()).take(rest);
    let tail = pairs.take_while(|(old, new)| old == new).count();
    let middle = |bytes: &[u8]| {
        let part = bytes.get(head..bytes.len() - tail).unwrap_or_default();
        let shown = part.get(..CHANGED.min(part.len())).unwrap_or_default();
        let more = if part.len() > CHANGED { ".." } else { "" };
        (part.len(), format!("\"{}{more}\"", shown.escape_ascii()))
    };
    let bytes = |count: usize| counted(count as u64, "byte");
    match (middle(from), middle(to)) {
        ((0, _), (0, _)) => "it is the PoV itself".to_owned(),
        ((0, _), (count, new)) => format!("{} {new} inserted at offset {head}", bytes(count)),
        ((count, old), (0, _)) => format!("{} {old} removed at offset {head}", bytes(count)),
        ((removed, _), (added, _)) if removed.max(added) > CHANGED && head + tail < added => {
            "it has little in common with the PoV".to_owned()
        }
        ((_, old), (_, new)) => format!("{old} at offset {head} became {new}"),
    }
}

#[cfg(test)]
mod tests {
    use super::change;

    #[test]
    fn a_change_is_told_by_its_place() {
        for (from, to, expected) in [
            ("abc", "abc", "it is the PoV itself"),
            ("abc", "aXc", "\"b\" at offset 1 became \"X\""),
            ("abc", "abbc", "1 byte \"b\" inserted at offset 2"),
            ("aaaa", "aa", "2 bytes \"aa\" removed at offset 2"),
            ("", "x\n", "2 bytes \"x\\n\" inserted at offset 0"),
            ("x\0", "", "2 bytes \"x\\x00\" removed at offset 0"),
        ] {
            assert_eq!(change(from.as_bytes(), to.as_bytes()), expected);
        }
        let long = change(b"", &[b'a'; 100]);
        assert!(long.contains("100 bytes") && long.contains(".."), "{long}");
        for from in [[b'a'; 100].as_slice(), b"\"\\"] {
            let other = change(from, &[b'b'; 100]);
            assert_eq!(other, "it has little in common with the PoV");
        }
    }
}
