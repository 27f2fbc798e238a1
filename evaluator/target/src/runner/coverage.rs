//! Coverage of chosen lines and functions: how often each was run, and each way
//! out of a branch taken.
//!
//! Read from what a compiler's counters say; foreign code ran beside them, so
//! every line of the text is taken or left by itself.

use std::collections::{BTreeMap, BTreeSet};

/// Lines of one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineRange {
    /// The file, by its path in the tree that was built.
    pub path: String,
    pub first: u32,
    pub last: u32,
}

impl LineRange {
    /// Tells whether a line of a file is one of these.
    pub fn holds(&self, path: &str, line: u32) -> bool {
        self.path == path && (self.first..=self.last).contains(&line)
    }
}

/// The lines and functions that are asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    pub lines: Vec<LineRange>,
    /// The functions by their names; counters know them without classes and namespaces.
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
    pub branches: BTreeMap<Way, u64>,
    /// Those ways that lead out of a call: on, and to where what it throws is caught. A
    /// counter tells them from others only where the call ran.
    pub calls: BTreeSet<Way>,
}

/// A way out of a branch: the file, the line, and its number there.
pub type Way = (String, u32, u32);

impl Coverage {
    /// Reads the lines that `counts.sh` prints.
    pub fn read(text: &str) -> Self {
        let mut coverage = Self::default();
        let mut before = None;
        for line in text.lines() {
            before = coverage.take(line, before);
        }
        coverage
    }

    /// Takes a line; returns the way that leads on, which one that throws may belong to.
    fn take(&mut self, line: &str, before: Option<Way>) -> Option<Way> {
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
                let way = (place, line, branch);
                *self.branches.entry(way.clone()).or_default() += number()?;
                match parts.next() {
                    Some("on") => return Some(way),
                    Some("throw") => self.add_call(way, before),
                    _ => {}
                }
            }
            _ => {}
        }
        None
    }

    /// Adds the two ways out of a call: the one that throws, and the one before or behind it
    /// that leads on.
    fn add_call(&mut self, throws: Way, before: Option<Way>) {
        let (path, line, branch) = &throws;
        let is_before = |way: &Way| way.0 == *path && way.1 == *line && way.2 + 1 == *branch;
        let behind = (path.clone(), *line, branch.saturating_add(1));
        self.calls
            .insert(before.filter(is_before).unwrap_or(behind));
        self.calls.insert(throws);
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
        self.calls.extend(other.calls.iter().cloned());
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

    #[test]
    fn the_ways_out_of_a_call_are_known_where_it_ran() {
        let ran = "B\ta.cc\t4\t1\t9\t\nB\ta.cc\t4\t2\t1\ton\nB\ta.cc\t4\t3\t0\tthrow\n";
        let never = "B\ta.cc\t4\t1\t0\t\nB\ta.cc\t4\t2\t0\t\nB\ta.cc\t4\t3\t0\t\n";
        let mut all = Coverage::read(never);
        assert!(all.calls.is_empty());
        all.add(&Coverage::read(ran));
        let numbers: Vec<u32> = all.calls.iter().map(|way| way.2).collect();
        assert_eq!((numbers, all.branches.len()), (vec![2, 3], 3));
        // The other way round.
        let turned = Coverage::read("B\ta.cc\t4\t0\t0\tthrow\nB\ta.cc\t4\t1\t1\ton\n");
        let numbers: Vec<u32> = turned.calls.iter().map(|way| way.2).collect();
        assert_eq!(numbers, [0, 1]);
    }
}
