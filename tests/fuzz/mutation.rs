//! Mutation of inputs: bytes and lines of a corpus changed, repeated and mixed.

/// Words that readers of text trip over.
const WORDS: [&[u8]; 24] = [
    b"\0",
    b"\r",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    "\u{202e}".as_bytes(),
    "\u{1f600}".as_bytes(),
    b"<",
    b">",
    b"&",
    b"\"",
    b"]]>",
    b"<!--",
    b"<![CDATA[",
    b"&#x110000;",
    b"-1",
    b"0",
    b"4294967296",
    b"99999999999999999999",
    b"1e999",
    b"../../",
    b"/",
    b"@@ -1,4294967295 +0,0 @@\n",
    b"\\ No newline at end of file\n",
    b"    #0 0x0 in \n",
];
/// Bytes of the longest input that is made.
const LONGEST: usize = 1 << 18;
/// Changes of one input.
const CHANGES: u64 = 8;
/// Copies of a repeated part: enough to be more than a limit, or too deep.
const COPIES: u64 = 3_000;

/// A source of numbers (SplitMix64): the same seed gives the same inputs.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a number below `limit`; 0 where that is 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let limit = limit as u64;
        mixed.checked_rem(limit).unwrap_or(0) as usize
    }

    /// Returns a part of a text, as a range of bytes or of whole lines.
    fn part(&mut self, text: &[u8]) -> std::ops::Range<usize> {
        let (one, other) = (self.below(text.len() + 1), self.below(text.len() + 1));
        let (mut start, mut end) = (one.min(other), one.max(other));
        if self.below(2) == 0 {
            end = end.min(start + 16);
        } else {
            let line_end = |at: usize| {
                let rest = text[at..].iter().position(|byte| *byte == b'\n');
                rest.map_or(text.len(), |length| at + length + 1)
            };
            start = line_end(start);
            end = line_end(end.min(start + 2_000).max(start).min(text.len()));
        }
        start..end.max(start)
    }
}

/// Makes an input of one of the corpus and parts of others.
pub(crate) fn mutated(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(CHANGES as usize) {
        change(&mut input, corpus, random);
        input.truncate(LONGEST);
    }
    input
}

fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len() + 1);
    match random.below(8) {
        0 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => {
            let part = random.part(input);
            input.drain(part);
        }
        2 => {
            let word = WORDS[random.below(WORDS.len())];
            input.splice(at..at, word.iter().copied());
        }
        3 => {
            let part = random.part(input);
            let word = WORDS[random.below(WORDS.len())];
            input.splice(part, word.iter().copied());
        }
        4 => {
            let other = &corpus[random.below(corpus.len())];
            let part = random.part(other);
            input.splice(at..at, other[part].iter().copied());
        }
        5 => {
            let part = random.part(input);
            let copy = input[part.clone()].to_vec();
            input.splice(at..at, copy);
        }
        6 => {
            let copy = input[random.part(input)].to_vec();
            let most = LONGEST / (copy.len() + 1);
            let copies = random.below(COPIES as usize).min(most);
            input.splice(at..at, copy.repeat(copies));
        }
        _ => input.truncate(at),
    }
}
