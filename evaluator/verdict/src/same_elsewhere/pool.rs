//! Input pool: the inputs on which two programs are compared.

use crate::given_inputs;
use crate::mutation::{Mutator, nearer};
use patchwright_source::{Language, words};
use patchwright_target::Result;
use patchwright_target::runner::{Pov, TargetTask};
use std::collections::VecDeque;
use std::ops::Range;

/// Mutants made of one given input that was accepted, before the PoVs have their turn.
const MUTANTS_EACH: usize = 6;
/// The most inputs of which further mutants are made, and the largest of them, in bytes.
const MOST_PARENTS: usize = 256;
const LARGEST_PARENT: usize = 1 << 14;
/// The most inputs between the PoVs and harmless ones.
const MOST_NEARER: usize = 48;
/// The most mutants of the PoVs, which are less conclusive than given inputs.
const MOST_DERIVED: usize = 600;
/// The most mutants of the PoVs where there are given inputs.
const FEWER_DERIVED: usize = 150;

/// Further mutants in a row without an answer unlike all before, after which none are made.
const DRY: usize = 400;

/// The origin of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputKind {
    /// Accepted by the unpatched program.
    Given,
    /// Taken from the tests of a Java program; where the unpatched program accepts it, it
    /// is as good as given.
    OfTests,
    /// A mutant of a given input.
    GivenMutant,
    /// A further mutant of a given input, or of such a mutant. Of so many some are refused by a
    /// right patch, which tells nothing by itself.
    FurtherMutant,
    /// A mutant of a PoV.
    Derived,
    /// Brought to a constant of the patch.
    Aimed,
}

words!(InputKind: Given "given", OfTests "of tests", GivenMutant "mutants of given",
    FurtherMutant "further mutants", Derived "derived", Aimed "aimed");

impl InputKind {
    /// Tells whether an input counts only where the unpatched program accepts it.
    pub(super) fn counts_if_accepted(self) -> bool {
        !matches!(self, Self::Given | Self::Derived)
    }
}

#[derive(Debug, Clone)]
pub(super) struct ComparedInput {
    pub(super) kind: InputKind,
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    /// The given input that it is a mutant of.
    pub(super) parent: Option<Vec<u8>>,
    /// True where the unpatched program printed an output unlike all before.
    pub(super) fresh: bool,
    /// True where both programs refuse it alike.
    pub(super) refused: bool,
}

impl ComparedInput {
    pub(super) fn new(kind: InputKind, name: String, bytes: Vec<u8>) -> Self {
        Self {
            kind,
            name,
            bytes,
            parent: None,
            fresh: false,
            refused: false,
        }
    }

    /// Creates inputs of one kind, named by their numbers.
    pub(super) fn numbered(
        kind: InputKind,
        contents: Vec<Vec<u8>>,
        name: impl Fn(usize) -> String,
    ) -> Vec<Self> {
        let contents = contents.into_iter().enumerate();
        contents
            .map(|(number, bytes)| Self::new(kind, name(number), bytes))
            .collect()
    }

    /// Names the given input that it is a mutant of.
    fn of(self, parent: &[u8]) -> Self {
        Self {
            parent: Some(parent.into()),
            ..self
        }
    }
}

/// All inputs, given ones first.
pub(super) struct InputPool {
    given: VecDeque<ComparedInput>,
    mutants: Vec<ComparedInput>,
    /// Makes mutants of accepted inputs without an end.
    further: Mutator,
    further_made: usize,
    /// Further mutants that were made when the last answer unlike all before came.
    fresh_at: usize,
    /// The PoVs brought towards harmless inputs in turn with files of tests, which may be inputs.
    aside: VecDeque<ComparedInput>,
    derived: Mutator,
    /// The numbers of the mutants of the PoVs that are still to be made.
    derived_left: Range<usize>,
}

impl InputPool {
    pub(super) fn gather(task: &TargetTask, pov: &Pov) -> Result<Self> {
        let povs = given_inputs::povs(task)?;
        let inputs = given_inputs::inputs(task, pov)?.into_iter();
        let given: VecDeque<ComparedInput> = inputs
            .map(|(name, bytes)| ComparedInput::new(InputKind::Given, name, bytes))
            .collect();
        let most = match (povs.is_empty(), given.is_empty()) {
            (true, _) => 0,
            (false, true) => MOST_DERIVED,
            (false, false) => FEWER_DERIVED,
        };
        // Of a C or C++ program files of tests are used where there are no given inputs, and what
        // differs there refutes nothing.
        let (kind, of_tests) = match task.language {
            Language::Java => (InputKind::OfTests, given_inputs::of_tests(task, pov)?),
            _ if given.is_empty() => (InputKind::Derived, given_inputs::of_tests(task, pov)?),
            _ => (InputKind::Derived, Vec::new()),
        };
        let of_tests = of_tests.into_iter().rev();
        let mut of_tests = of_tests
            .map(|(name, bytes)| ComparedInput::new(kind, format!("{name} of the tests"), bytes));
        let mut nearer: Vec<Vec<u8>> = povs.iter().flat_map(|pov| nearer(pov)).collect();
        nearer.truncate(most.min(MOST_NEARER));
        let derived_left = nearer.len()..most;
        let mut derived = Mutator::new(povs);
        derived.leave_out(&nearer);
        let mut nearer = ComparedInput::numbered(InputKind::Derived, nearer, of_pov).into_iter();
        // Where a PoV is large, what is near to it may crash slowly, and all the time would go there.
        let mut aside = VecDeque::new();
        while nearer.len() > 0 || of_tests.len() > 0 {
            aside.extend(nearer.next());
            aside.extend(of_tests.next());
        }
        Ok(Self {
            given,
            mutants: Vec::new(),
            further: Mutator::new(Vec::new()),
            further_made: 0,
            fresh_at: 0,
            aside,
            derived,
            derived_left,
        })
    }

    /// Adds inputs of the tests behind the given ones.
    pub(super) fn add_of_tests(&mut self, inputs: Vec<Vec<u8>>) {
        let name = |number| format!("input {number} of the tests");
        let inputs = ComparedInput::numbered(InputKind::OfTests, inputs, name);
        self.given.extend(inputs);
    }

    /// Takes an input that both programs accept and answer alike: mutants are made of one that
    /// was given, and of a mutant whose answer is unlike all before.
    pub(super) fn accepted(&mut self, input: &ComparedInput) {
        let given = matches!(input.kind, InputKind::Given | InputKind::OfTests);
        let mutants = [InputKind::GivenMutant, InputKind::FurtherMutant];
        let mutant = mutants.contains(&input.kind);
        if !(given || mutant && input.fresh) {
            return;
        }
        self.fresh_at = self.further_made;
        if given {
            for bytes in Mutator::new(vec![input.bytes.clone()]).take(MUTANTS_EACH) {
                let name = format!("mutant {} of a given input", self.mutants.len());
                let mutant = ComparedInput::new(InputKind::GivenMutant, name, bytes);
                self.mutants.push(mutant.of(&input.bytes));
            }
        }
        if input.bytes.len() <= LARGEST_PARENT && self.further.seeds() < MOST_PARENTS {
            self.further.add(&input.bytes);
        }
    }

    /// Returns the next inputs: given ones, mutants of accepted ones, the PoVs brought towards
    /// harmless inputs in turn with files of tests, other mutants of the PoVs, then further
    /// mutants of accepted ones for as long as they bring new answers.
    pub(super) fn next(&mut self, count: usize) -> Option<Vec<ComparedInput>> {
        let mut chunk = Vec::new();
        while chunk.len() < count
            && let Some(input) = self.given.pop_front().or_else(|| self.mutants.pop())
        {
            chunk.push(input);
        }
        if chunk.is_empty() {
            let some = count.min(self.aside.len());
            chunk.extend(self.aside.drain(..some));
        }
        if chunk.is_empty() && !self.derived_left.is_empty() {
            let start = self.derived_left.start;
            let bytes = self.derived.take(count.min(self.derived_left.len()));
            self.derived_left.start += bytes.len();
            let name = |number| of_pov(start + number);
            chunk = ComparedInput::numbered(InputKind::Derived, bytes, name);
        }
        let dry = self.further_made - self.fresh_at >= DRY;
        if chunk.is_empty() && self.further.seeds() > 0 && !dry {
            chunk = (0..count).map(|_| self.further()).collect();
        }
        (!chunk.is_empty()).then_some(chunk)
    }

    fn further(&mut self) -> ComparedInput {
        let (parent, bytes) = self.further.next_of_seed();
        self.further_made += 1;
        let name = format!("further mutant {} of a given input", self.further_made);
        ComparedInput::new(InputKind::FurtherMutant, name, bytes).of(&parent)
    }
}

/// Names a mutant of a PoV.
fn of_pov(number: usize) -> String {
    format!("mutant {number} of a PoV")
}

/// Returns so many inputs, spread evenly.
pub(super) fn spread<T: Clone>(inputs: &[T], most: usize) -> Vec<T> {
    let step = inputs.len().div_ceil(most).max(1);
    inputs.iter().step_by(step).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::InputPool;
    use patchwright_target::runner::{Pov, TargetTask};
    use std::fs;

    #[test]
    fn a_pov_is_brought_towards_harmless_inputs_in_turn_with_files_of_tests() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("tree/test")).unwrap();
        fs::write(path("tree/test/page"), "page").unwrap();
        fs::write(path("pov"), "f(123456)").unwrap();
        let pov = Pov {
            file: path("pov"),
            ..Pov::default()
        };
        let task = TargetTask {
            tree: path("tree"),
            task_folder: path("tree"),
            povs: vec![pov.clone()],
            ..TargetTask::default()
        };
        let mut pool = InputPool::gather(&task, &pov).unwrap();
        let mut names = Vec::new();
        let mut contents = Vec::new();
        while let Some(chunk) = pool.next(7) {
            for input in chunk {
                names.push(input.name);
                contents.push(input.bytes);
            }
        }
        let place = |bytes: &[u8]| contents.iter().position(|other| other == bytes);
        assert_eq!(place(b"f(12345)"), Some(0));
        let again = contents.iter().skip(1).any(|other| other == b"f(12345)");
        assert!(!again, "one input must not be two doubts");
        assert_eq!(place(b"page"), Some(1));
        assert!(place(b"f(1)").is_some_and(|place| place < 48));
        let numbers = names.iter().filter(|name| name.starts_with("mutant "));
        for (number, name) in numbers.enumerate() {
            assert_eq!(*name, format!("mutant {number} of a PoV"));
        }
        assert!(names.len() > 600, "{}", names.len());
    }
}
