//! Fuzzer for every reader of untrusted text: crash reports, test reports, JUnit XML,
//! diffs, replies of models, HTTP requests.
//!
//! `cargo test --release -p patchwright-tests --test fuzz -- [TARGET..] [--seconds N]`
//!
//! An input is mutated from a corpus; one that brings an answer of a new kind joins it.
//! Without a time every target gets the same few inputs each time. A panic, a failed
//! check and an input that takes too long are faults: the input is kept, and told.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a fuzzer stops at the first surprise and prints what it did"
)]

mod http;
mod mutation;
mod targets;

use mutation::{Random, mutated};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};
use targets::{Target, targets};

/// Inputs of a target where no time is given.
const FEW: u64 = 300;
/// An input that takes longer hangs its reader.
const PATIENCE: Duration = Duration::from_mins(5);
/// Inputs that a target keeps beside its own.
const KEPT: usize = 5_000;

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let at = words.iter().position(|word| word == "--seconds");
    let time = at.map(|at| words.drain(at..).nth(1).unwrap_or_default());
    let time = time.map(|seconds| Duration::from_secs(seconds.parse().unwrap()));
    words.retain(|word| !word.starts_with('-'));
    let mut held = true;
    for target in targets(&words) {
        held &= fuzz(target, time);
    }
    if held {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The input that is being read, and since when.
type Current = Arc<Mutex<Option<(Vec<u8>, Instant)>>>;

/// Fuzzes one target; returns false at a fault.
fn fuzz(mut target: Target, time: Option<Duration>) -> bool {
    let started = Instant::now();
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let mut random = Random(time.map_or(1, |_| clock.unwrap().as_nanos() as u64));
    let current = watch(target.name);
    let (mut seen, mut count, mut slowest) = (HashSet::new(), 0_u64, Duration::ZERO);
    let own = target.corpus.clone();
    let mut first = own.into_iter();
    while time.map_or(count < FEW, |time| started.elapsed() < time) {
        let input = first
            .next()
            .unwrap_or_else(|| mutated(&target.corpus, &mut random));
        let since = Instant::now();
        *current.lock().unwrap() = Some((input.clone(), since));
        let Ok(kind) = catch_unwind(AssertUnwindSafe(|| (target.run)(&input))) else {
            println!(
                "{}: a fault, after {count} inputs; {}",
                target.name,
                kept(&input)
            );
            return false;
        };
        *current.lock().unwrap() = None;
        slowest = slowest.max(since.elapsed());
        count += 1;
        if seen.insert(kind) && target.corpus.len() < KEPT {
            target.corpus.push(input);
        }
    }
    let (name, kinds) = (target.name, seen.len());
    let seconds = started.elapsed().as_secs();
    println!(
        "{name}: {count} inputs in {seconds} s, {kinds} kinds of answers, slowest {slowest:?}"
    );
    true
}

/// Ends the process when one input takes too long.
fn watch(name: &'static str) -> Current {
    let current = Current::default();
    let seen = current.clone();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            if let Some((input, since)) = seen.lock().unwrap().as_ref()
                && since.elapsed() > PATIENCE
            {
                println!("{name}: an input takes too long; {}", kept(input));
                std::process::exit(1);
            }
        }
    });
    current
}

/// Keeps an input that brought a fault, and tells where.
fn kept(input: &[u8]) -> String {
    let file = tempfile::Builder::new()
        .prefix("patchwright-fuzz-")
        .tempfile();
    let file = file.and_then(|mut file| {
        std::io::Write::write_all(&mut file, input)?;
        Ok(file.keep()?.1)
    });
    match file {
        Ok(path) => format!("the input is in {}", path.display()),
        Err(error) => format!("the input cannot be kept: {error}"),
    }
}
