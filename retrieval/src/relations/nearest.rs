//! Names that were perhaps meant.

use crate::error::Result;
use crate::index::{Index, Reader};
use crate::words::split_words;
use memchr::memmem::Finder;
use std::collections::BTreeSet;

/// Names longer than this are no typing errors of each other.
const LONGEST: usize = 64;

/// Distance of two names that are the same but for upper and lower case; where few characters have
/// to be changed it is their number.
const CASE: usize = 0;
/// Distance of two names of which one contains the other.
const PART: usize = 3;
/// The least distance of two names that have only words in common.
const WORDS: usize = 4;

impl Index {
    /// Names of symbols like the one that was asked for, the likest first.
    pub fn nearest(&self, name: &str, limit: usize) -> Result<Vec<String>> {
        let wanted = NameQuery::new(name);
        if wanted.lower.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        self.each_symbol_name(|known| {
            if let Some(distance) = wanted.distance(known) {
                found.push((distance, known.len(), known.to_owned()));
            }
        })?;
        found.sort();
        found.truncate(limit);
        Ok(found.into_iter().map(|(.., name)| name).collect())
    }

    /// The names of symbols that contain a text, upper and lower case being
    /// the same; shortest first.
    pub fn names_with(&self, part: &str, limit: usize) -> Result<Vec<String>> {
        if part.is_empty() {
            return Ok(Vec::new());
        }
        let part = Part::new(&part.to_ascii_lowercase());
        let mut found = Vec::new();
        self.each_symbol_name(|known| {
            if part.may_be_in(letters(known)) && part.is_in(&known.to_ascii_lowercase()) {
                found.push((known.len(), known.to_owned()));
            }
        })?;
        found.sort();
        found.truncate(limit);
        Ok(found.into_iter().map(|(_, name)| name).collect())
    }

    fn each_symbol_name(&self, each: impl FnMut(&str)) -> Result<()> {
        let names = self.computed(0, || self.read(all_names))?;
        names.lines().for_each(each);
        Ok(())
    }
}

/// The names of all symbols, one per line.
fn all_names(reader: &Reader<'_>) -> Result<String> {
    let sql = "SELECT name FROM name WHERE id IN (SELECT name_id FROM symbol)";
    let names: Vec<String> = reader.values(sql, [])?;
    Ok(names.join("\n"))
}

/// Which letters a name has, upper and lower case being the same: one bit for
/// each, some shared. A name without the letters of another does not hold it,
/// which tells nearly all names apart before anything is compared.
fn letters(name: &str) -> u32 {
    name.bytes()
        .fold(0, |letters, byte| letters | 1 << (byte & 31))
}

/// A text in lower case that is looked for in many names.
struct Part {
    finder: Finder<'static>,
    letters: u32,
}

impl Part {
    fn new(text: &str) -> Self {
        Self {
            finder: Finder::new(text).into_owned(),
            letters: letters(text),
        }
    }

    fn may_be_in(&self, letters: u32) -> bool {
        self.letters & !letters == 0
    }

    fn is_in(&self, lower: &str) -> bool {
        self.finder.find(lower.as_bytes()).is_some()
    }
}

struct NameQuery {
    name: String,
    lower: String,
    whole: Part,
    words: BTreeSet<String>,
    parts: Vec<Part>,
    /// The last word says what a thing does, the first often whose it is.
    last: String,
}

impl NameQuery {
    fn new(name: &str) -> Self {
        let name: String = name.trim().chars().take(LONGEST * 2).collect();
        let in_order = words_in_order(&name);
        let last = in_order.last().cloned().unwrap_or_default();
        let words: BTreeSet<String> = in_order.into_iter().collect();
        let lower = name.to_ascii_lowercase();
        Self {
            whole: Part::new(&lower),
            lower,
            last,
            parts: words.iter().map(|word| Part::new(word)).collect(),
            words,
            name,
        }
    }

    /// Returns how far a name is from the one that was asked for; none when they are not alike.
    fn distance(&self, known: &str) -> Option<usize> {
        if known.eq_ignore_ascii_case(&self.name) {
            return Some(CASE);
        }
        let allowed = match self.name.len() {
            0..=3 => 1,
            4..=7 => 2,
            _ => 3,
        };
        let comparable = known.len().abs_diff(self.name.len()) <= allowed && known.len() <= LONGEST;
        if comparable && differing_letters(known, &self.name) <= 2 * allowed {
            let edits = strsim::osa_distance(known, &self.name);
            if edits <= allowed {
                return Some(edits);
            }
        }
        let letters = letters(known);
        let is_held = letters & !self.whole.letters == 0;
        let may_hold = |part: &Part| part.may_be_in(letters);
        if !is_held && !may_hold(&self.whole) && !self.parts.iter().any(may_hold) {
            return None;
        }
        let lower = known.to_ascii_lowercase();
        let holds = self.name.len() >= 4 && self.whole.is_in(&lower);
        // `open` is a part of many names that have nothing to do with it.
        let is_held = is_held && 2 * known.len() >= self.name.len().max(8);
        if holds || is_held && self.lower.contains(&lower) {
            return Some(PART);
        }
        // Cutting every name into words would take most of the time: words that
        // are not even parts of it need not be looked for.
        let held = self.parts.iter().filter(|part| part.is_in(&lower));
        if !self.is_enough(held.count(), || lower.contains(&self.last)) {
            return None;
        }
        let words = words(known);
        let shared = words.intersection(&self.words).count();
        self.is_enough(shared, || words.contains(&self.last))
            .then(|| 10_usize.saturating_sub(shared).max(WORDS))
    }

    /// Returns whether names with so many words in common are alike; one is enough when
    /// it is the last.
    fn is_enough(&self, shared: usize, last: impl FnOnce() -> bool) -> bool {
        match shared {
            0 => false,
            1 => self.words.len() == 1 || self.last.len() > 3 && last(),
            _ => true,
        }
    }
}

/// Returns how many letters one name has and the other has not, order aside: at most
/// twice the edits between them, and much cheaper to find.
fn differing_letters(a: &str, b: &str) -> usize {
    let mut counts = [0_i32; 32];
    for (name, step) in [(a, 1), (b, -1)] {
        for byte in name.bytes() {
            if let Some(count) = counts.get_mut(usize::from(byte & 31)) {
                *count += step;
            }
        }
    }
    let differing = counts.iter().map(|count| count.unsigned_abs() as usize);
    differing.sum()
}

/// The words of a name: `png_readRow2` is `png`, `read`, `row2`.
pub(crate) fn words(name: &str) -> BTreeSet<String> {
    words_in_order(name).into_iter().collect()
}

fn words_in_order(name: &str) -> Vec<String> {
    let words = split_words(name).into_iter();
    words.filter(|word| word.len() > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::{CASE, NameQuery, PART, words};

    #[test]
    fn tells_how_names_are_alike() {
        for (wanted, known, expected) in [
            ("png_read_row", "png_read_rows", Some(1)),
            ("png_raed_row", "png_read_row", Some(1)),
            ("PNG_read_row", "png_read_row", Some(CASE)),
            ("read_row", "png_read_row_now", Some(PART)),
            ("read_png_row", "png_row_filter", Some(10 - 2)),
            ("png", "socket", None),
            ("OPENSSL_zalloc", "open", None),
            ("OPENSSL_zalloc", "OPENSSL_init", None),
            ("OPENSSL_zalloc", "CRYPTO_zalloc", Some(10 - 1)),
            ("read_rows_in_png", "read_rows_in", Some(PART)),
            ("Row_Filter", "png_row_filter_now", Some(PART)),
            ("a_b_c", "get_A_B_C_and_more", Some(PART)),
            ("ünd_grün", "setze_ünd_grün", Some(PART)),
        ] {
            assert_eq!(
                NameQuery::new(wanted).distance(known),
                expected,
                "{wanted} {known}"
            );
        }
    }

    #[test]
    fn splits_names() {
        let found: Vec<String> = words("png_readRow2_X").into_iter().collect();
        assert_eq!(found, ["png", "read", "row2"]);
    }
}
