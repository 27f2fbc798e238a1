//! Mutators: inputs made from seeds, in a deterministic sequence.
//!
//! [`Mutator`] does what fuzzers do: bits and bytes, arithmetic on possible length fields,
//! truncations, repeated and removed blocks, numbers and brackets of text formats, splices
//! of two inputs. On request the nearest neighbours of each seed come first, one byte
//! shorter or longer, because they expose a bound that is off by one. It uses no coverage
//! and no clock: the sequence depends on the seeds alone, so that a verdict can be
//! repeated. [`Dictionary`] changes inputs by what the patch and the PoV name, and
//! [`nearer`] makes a crashing input smaller step by step.

mod dictionary;
mod nearer;
mod text_change;

pub(crate) use dictionary::{Dictionary, said_numbers};
pub(crate) use nearer::nearer;

use std::collections::BTreeSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// The largest input that is made, in bytes.
const LARGEST: usize = 1 << 20;
/// Tries to mutate an input again that was made before.
const TRIES_FOR_NEW: usize = 4;
/// Positions of a seed at which a byte is left out, and doubled, first.
const PLACES: usize = 8;
/// Bytes at the beginning of an input that are changed as often as all others: headers.
const HEAD: usize = 64;
/// The most bytes that are added to an input together with their possible length field.
const MOST_GROWN: usize = 8;
/// Numbers at which integers of 8 to 64 bits overflow or change sign, halves of these, and one that
/// is too long for all of them.
const EDGES: &str = "0 1 -1 127 128 255 256 32767 32768 65535 65536 1073741824 2147483647 2147483648 \
    4294967295 4294967296 4611686018427387904 9223372036854775808 18446744073709551615 99999999999999999999";

/// A source of mutated inputs.
#[derive(Debug)]
pub(crate) struct Mutator {
    seeds: Vec<Vec<u8>>,
    state: u64,
    made: usize,
    /// Neighbours of each seed that are made first.
    nearest: usize,
    /// Digests of the inputs that were made.
    seen: BTreeSet<u64>,
}

impl Mutator {
    /// Creates a mutator. The seeds determine the whole sequence.
    pub(crate) fn new(seeds: Vec<Vec<u8>>) -> Self {
        let digest = patchwright_source::digest(&seeds);
        let head = digest.get(..16).unwrap_or_default();
        let state = u64::from_str_radix(head, 16).unwrap_or_default();
        Self {
            seeds,
            state: state | 1,
            made: 0,
            nearest: 0,
            seen: BTreeSet::new(),
        }
    }

    /// Creates a mutator of which every other input is one of the nearest neighbours,
    /// until they are used up.
    pub(crate) fn nearest_first(seeds: Vec<Vec<u8>>) -> Self {
        Self {
            nearest: 2 * PLACES,
            ..Self::new(seeds)
        }
    }

    /// Returns the next `count` inputs.
    pub(crate) fn take(&mut self, count: usize) -> Vec<Vec<u8>> {
        (0..count).map(|_| self.make()).collect()
    }

    /// Takes one more seed, for the inputs from now on.
    pub(crate) fn add(&mut self, seed: &[u8]) {
        self.seeds.push(seed.to_vec());
    }

    /// Makes none of these inputs, as far as it has others to make.
    pub(crate) fn leave_out(&mut self, inputs: &[Vec<u8>]) {
        self.seen.extend(inputs.iter().map(|input| digest(input)));
    }

    pub(crate) fn seeds(&self) -> usize {
        self.seeds.len()
    }

    /// Returns the next input, behind the seed that it is made of.
    pub(crate) fn next_of_seed(&mut self) -> (Vec<u8>, Vec<u8>) {
        (self.seed().to_vec(), self.make())
    }

    /// The seed whose turn it is.
    fn seed(&self) -> &[u8] {
        let which = self.made % self.seeds.len().max(1);
        self.seeds.get(which).map_or(&[], Vec::as_slice)
    }

    fn make(&mut self) -> Vec<u8> {
        let mut input = self.seed().to_vec();
        let number = self.made;
        self.made += 1;
        let turn = number / self.seeds.len().max(1);
        let aside = turn.is_multiple_of(2) && turn < 2 * self.nearest;
        if aside && !input.is_empty() {
            step_aside(&mut input, turn / 2);
            if self.seen.insert(digest(&input)) {
                return input;
            }
        }
        // Half of the inputs stay close to their seed: an incomplete fix shows next to
        // the crash.
        let is_close = number.is_multiple_of(2);
        let mut steps = if is_close { 1 } else { 1 + self.below(4) };
        for _ in 0..TRIES_FOR_NEW {
            for _ in 0..steps {
                self.step(&mut input);
            }
            input.truncate(LARGEST);
            if self.seen.insert(digest(&input)) {
                break;
            }
            steps = 1;
        }
        input
    }

    fn step(&mut self, input: &mut Vec<u8>) {
        match self.below(12) {
            0 | 10 => self.flip(input),
            11 => self.grow(input),
            1 => self.set(input),
            2 | 3 => self.number(input),
            4 => {
                let keep = self.below(input.len() + 1);
                input.truncate(keep);
            }
            5 => self.remove(input),
            6 => self.repeat(input),
            7 => self.insert(input),
            8 => self.text(input),
            _ => self.splice(input),
        }
    }

    /// Chooses a position, half of them in the head.
    fn place(&mut self, length: usize) -> usize {
        if self.below(2) == 0 {
            self.below(length.min(HEAD))
        } else {
            self.below(length)
        }
    }

    fn flip(&mut self, input: &mut [u8]) {
        let (at, bit) = (self.place(input.len()), self.below(8));
        if let Some(byte) = input.get_mut(at) {
            *byte ^= 1 << bit;
        }
    }

    fn set(&mut self, input: &mut [u8]) {
        let at = self.place(input.len());
        let value = match self.below(3) {
            0 => self.edge() as u8,
            1 => input.get(self.below(input.len())).copied().unwrap_or(0),
            _ => self.next() as u8,
        };
        if let Some(byte) = input.get_mut(at) {
            *byte = value;
        }
    }

    /// Adds to, or replaces, a possible integer of 1, 2, 4 or 8 bytes.
    fn number(&mut self, input: &mut [u8]) {
        let width = [1, 2, 4, 8].get(self.below(4)).copied().unwrap_or(1);
        let at = self.place((input.len() + 1).saturating_sub(width));
        let big_endian = self.below(2) == 0;
        let (replace, edge, delta) = (self.below(3) == 0, self.edge(), self.below(33) as u64);
        let Some(place) = input.get_mut(at..at + width) else {
            return;
        };
        if big_endian {
            place.reverse();
        }
        let bytes = place.iter().rev();
        let old = bytes.fold(0, |number, byte| (number << 8) | u64::from(*byte));
        let new = if replace {
            edge as u64
        } else {
            old.wrapping_add(delta).wrapping_sub(16)
        };
        for (old, byte) in place.iter_mut().zip(new.to_le_bytes()) {
            *old = byte;
        }
        if big_endian {
            place.reverse();
        }
    }

    /// Adds a few bytes at the end or inside, and their number to a possible length field:
    /// a strict parser refuses each of the two alone.
    fn grow(&mut self, input: &mut Vec<u8>) {
        let count = 1 + self.below(MOST_GROWN);
        let at = self.place(input.len());
        if let Some(byte) = input.get_mut(at) {
            *byte = byte.wrapping_add(count as u8);
        }
        let at_end = self.below(2) == 0;
        let behind = (at + 1).min(input.len());
        let place = if at_end { input.len() } else { behind };
        let value = self.next() as u8;
        input.splice(place..place, std::iter::repeat_n(value, count));
    }

    fn remove(&mut self, input: &mut Vec<u8>) {
        let (start, end) = self.block(input.len());
        input.drain(start..end);
    }

    fn repeat(&mut self, input: &mut Vec<u8>) {
        let (start, end) = self.block(input.len());
        let most = if self.below(8) == 0 { 64 } else { 3 };
        let times = 1 + self.below(most);
        let block = input.get(start..end).unwrap_or_default().repeat(times);
        if input.len() + block.len() <= LARGEST {
            input.splice(end..end, block);
        }
    }

    fn insert(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let count = 1 + self.below(8);
        let same = self.below(2) == 0;
        let first = self.next() as u8;
        let mut bytes = vec![first; count];
        if !same {
            bytes.fill_with(|| self.next() as u8);
        }
        input.splice(at..at, bytes);
    }

    /// Replaces a decimal number, or swaps two bytes of punctuation.
    fn text(&mut self, input: &mut Vec<u8>) {
        let start = self.below(input.len());
        let digit = |byte: &u8| byte.is_ascii_digit();
        let rest = input.get(start..).unwrap_or_default();
        let Some(first) = rest.iter().position(digit).map(|at| at + start) else {
            return self.set(input);
        };
        let digits = input.iter().skip(first).take_while(|byte| digit(byte));
        let length = digits.count();
        input.splice(first..first + length, self.edge().to_string().into_bytes());
    }

    /// Joins the head of this input and the tail of another.
    fn splice(&mut self, input: &mut Vec<u8>) {
        let other = self.below(self.seeds.len());
        let keep = self.below(input.len() + 1);
        let from = self.seeds.get(other).map_or(0, Vec::len).saturating_add(1);
        let from = self.below(from);
        let tail = self.seeds.get(other).and_then(|seed| seed.get(from..));
        input.truncate(keep);
        input.extend_from_slice(tail.unwrap_or_default());
    }

    /// Chooses a block, mostly a short one.
    fn block(&mut self, length: usize) -> (usize, usize) {
        let start = self.below(length + 1);
        let longest = length - start;
        let mut length = self.below(longest.min(16) + 1);
        if self.below(4) == 0 {
            length = self.below(longest + 1);
        }
        (start, start + length)
    }

    fn edge(&mut self) -> i128 {
        let edges: Vec<&str> = EDGES.split(' ').collect();
        let edge = edges.get(self.below(edges.len()));
        edge.and_then(|edge| edge.parse().ok()).unwrap_or_default()
    }

    /// Returns a number below `limit`, 0 for a limit of 0.
    fn below(&mut self, limit: usize) -> usize {
        if limit == 0 {
            return 0;
        }
        (self.next() % limit as u64) as usize
    }

    /// Returns the next pseudo-random number (xorshift64*).
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }
}

/// Leaves a byte out, or doubles it, at one of several positions spread over an input.
fn step_aside(input: &mut Vec<u8>, turn: usize) {
    let at = (turn / 2 * 2 + 1) * input.len() / (2 * PLACES);
    let count = if turn.is_multiple_of(2) { 0 } else { 2 };
    let byte = input.get(at).copied().unwrap_or_default();
    input.splice(at..=at, std::iter::repeat_n(byte, count));
}

fn digest(input: &[u8]) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(input)
}

#[cfg(test)]
mod tests;
