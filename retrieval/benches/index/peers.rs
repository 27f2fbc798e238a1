//! The same searches by this engine and by the programs that people know:
//! `rg` for text, `ast-grep` for structure.

use super::{ROUNDS, median};
use patchwright_retrieval::{Engine, Query, Settings};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const TEXTS: [&str; 3] = ["out of memory", "return null", "length"];
/// With the languages whose files this engine looks into: the peer is told one
/// at a time.
const PATTERNS: [(&[&str], &str); 3] = [
    (&["c", "cpp"], "memcpy($A, $B, $C)"),
    (&["c", "cpp"], "if ($A == NULL) { $$$B }"),
    (&["java"], "throw new IllegalStateException($$$A)"),
];

/// Times text and structure on a tree, and prints both sides.
pub(super) fn measure(tree: &Path, cache: &Path, tools: &Path) {
    let engine = Engine::open(tree, cache, Settings::default()).unwrap();
    for text in TEXTS {
        let query = Query::read("text", text, &[]).unwrap();
        let mut peer = Command::new("rg");
        peer.args(["-n", "-F", "--no-ignore", "--hidden", "--", text]);
        print("text", text, ask(&engine, &query), time(peer.arg(tree)));
    }
    let is_java = tree.join("org").is_dir();
    for (languages, pattern) in PATTERNS {
        if (languages == ["java"]) != is_java {
            continue;
        }
        let query = Query::read("pattern", pattern, &[]).unwrap();
        let peer = languages.iter().map(|language| {
            let mut peer = Command::new(tools.join("bin/ast-grep"));
            peer.args(["run", "--no-ignore", "hidden", "--no-ignore", "vcs"]);
            peer.args(["--lang", language, "--pattern", pattern]);
            time(peer.arg(tree))
        });
        // Of all its languages together; not at all without the program.
        let peer = peer.sum();
        print("pattern", pattern, ask(&engine, &query), peer);
    }
}

fn ask(engine: &Engine, query: &Query) -> (f64, usize) {
    let mut hits = 0;
    let times = (0..ROUNDS).map(|_| {
        let started = Instant::now();
        hits = engine.answer(query).total;
        started.elapsed().as_secs_f64()
    });
    (median(times.collect()), hits)
}

/// The median time of a program; `None` when it is not there.
fn time(command: &mut Command) -> Option<f64> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let ended = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        ended.ok()?;
        times.push(started.elapsed().as_secs_f64());
    }
    Some(median(times))
}

fn print(kind: &str, what: &str, (ours, hits): (f64, usize), peer: Option<f64>) {
    let peer = peer.map_or_else(|| "-".to_owned(), |time| format!("{:.1} ms", time * 1000.0));
    println!(
        "  {kind:8} {:7.1} ms, peer {peer} ({hits} places) {what}",
        ours * 1000.0
    );
}
