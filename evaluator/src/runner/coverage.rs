//! Coverage of chosen lines and functions: how often each was run, and each way
//! out of a branch taken.
//!
//! Read from what a compiler's counters say; foreign code ran beside them, so
//! every line of the text is taken or left by itself.

use std::collections::BTreeMap;

/// Lines of one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineRange {
    /// The file, by its path in the tree that was built.
    pub path: String,
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

impl LineRange {
    /// Tells whether a line of a file is one of these.
    pub(crate) fn holds(&self, path: &str, line: u32) -> bool {
        self.path == path && (self.first..=self.last).contains(&line)
    }
}

/// The lines and functions that are asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    /// The lines.
    pub lines: Vec<LineRange>,
    /// The functions, by their names without classes and namespaces.
    pub functions: Vec<String>,
}

/// Execution counts of the lines and functions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Calls of the functions that the program has.
    pub functions: BTreeMap<String, u64>,
    /// Runs of the lines that hold code.
    pub lines: BTreeMap<(String, u32), u64>,
    /// Execution counts of each way out of a branch, by line and number.
    pub branches: BTreeMap<(String, u32, u32), u64>,
}

impl Coverage {
    /// Reads the lines that `counts.sh` prints.
    pub(crate) fn read(text: &str) -> Self {
        let mut coverage = Self::default();
        for line in text.lines() {
            coverage.take(line);
        }
        coverage
    }

    fn take(&mut self, line: &str) -> Option<()> {
        let mut parts = line.split('\t');
        let kind = parts.next()?;
        let place = parts.next()?.to_owned();
        let mut number = || parts.next()?.parse::<u64>().ok();
        match kind {
            "F" => *self.functions.entry(place).or_default() += number()?,
            "L" => {
                let line = u32::try_from(number()?).ok()?;
                *self.lines.entry((place, line)).or_default() += number()?;
            }
            "B" => {
                let line = u32::try_from(number()?).ok()?;
                let branch = u32::try_from(number()?).ok()?;
                *self.branches.entry((place, line, branch)).or_default() += number()?;
            }
            _ => {}
        }
        Some(())
    }

    /// Adds what another run covered.
    pub fn add(&mut self, other: &Self) {
        for (name, count) in &other.functions {
            *self.functions.entry(name.clone()).or_default() += count;
        }
        for (line, count) in &other.lines {
            *self.lines.entry(line.clone()).or_default() += count;
        }
        for (branch, count) in &other.branches {
            *self.branches.entry(branch.clone()).or_default() += count;
        }
    }

    /// Tells whether one of the lines was run; where none of them holds code,
    /// whether one of the functions was.
    pub fn reached(&self) -> bool {
        let ran = |count: &u64| *count > 0;
        if self.lines.is_empty() {
            return self.functions.values().any(ran);
        }
        self.lines.values().any(ran)
    }
}

#[cfg(test)]
mod tests {
    use super::Coverage;

    #[test]
    fn what_was_counted_is_read_and_added() {
        let text = "F\tparse\t2\nL\ta.c\t4\t3\nL\ta.c\t5\t0\nB\ta.c\t4\t0\t1\nB\ta.c\t4\t1\t2\nnoise\nL\ta.c\tx\t1\n";
        let mut one = Coverage::read(text);
        assert!(one.reached());
        assert_eq!(one.branches[&("a.c".to_owned(), 4, 1)], 2);
        let other = Coverage::read("L\ta.c\t5\t7\nF\tparse\t1\n");
        one.add(&other);
        assert_eq!((one.functions["parse"], one.lines.len()), (3, 2));
        // A table or a macro holds no code of its own.
        assert!(Coverage::read("F\tparse\t1\n").reached());
        assert!(!Coverage::read("F\tparse\t1\nL\ta.c\t5\t0\n").reached());
        assert!(!Coverage::default().reached());
    }
}
