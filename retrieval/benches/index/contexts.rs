//! Time that the context of a request and of a crash takes, the index open and
//! the words counted. The crashes are chains of callers found in the tree
//! itself, so every tree has some.

use patchwright_retrieval::{
    CrashFrame, Engine, FILE_SIZE_LIMIT, Index, Request, Role, Settings, Symbol,
};
use std::path::Path;
use std::time::Instant;

/// Limit on how often each is asked: fresh every time, for nothing is kept between.
const ROUNDS: usize = 3;
/// Limit on how many crashes are made up.
const CRASHES: usize = 12;
/// Limit on how deep their stacks are.
const DEPTH: u32 = 6;

const REQUESTS: [&str; 12] = [
    "Fix the buffer overflow when a certificate with a long name is parsed",
    "Where is the length of a record checked before it is copied?",
    "Add a limit to the number of extensions that are accepted",
    "How are errors of the random number generator handled?",
    "The session cache leaks memory when a session expires",
    "Refactor the parsing of command line options",
    "Write tests for the base64 decoder with line breaks",
    "integer overflow in the computation of the buffer size",
    "Who calls the function that frees a connection?",
    "Improve the performance of the hash table lookup",
    "null pointer dereference when the key is missing",
    "Explain how a query string is split into its parameters",
];

/// Times requests and crashes apart and prints both.
pub(super) fn measure(tree: &Path, cache: &Path) {
    let engine = Engine::open(tree, cache, Settings::default()).unwrap();
    let started = Instant::now();
    engine.prepare_search().unwrap();
    println!("  words  {:7.3} s", started.elapsed().as_secs_f64());
    let index = Index::open(tree, cache, FILE_SIZE_LIMIT).unwrap();
    let crashes = crashes(&index);
    let requests = REQUESTS.map(|text| Request {
        text: text.to_owned(),
        ..Request::default()
    });
    print("context of a request", &engine, &requests);
    print("context of a crash", &engine, &crashes);
}

fn print(what: &str, engine: &Engine, requests: &[Request]) {
    let mut clock: Vec<f64> = Vec::new();
    let mut busy: Vec<f64> = Vec::new();
    let mut tokens = 0;
    for _ in 0..ROUNDS {
        for request in requests {
            let before = on_processor();
            let context = engine.context(request).unwrap();
            busy.push(on_processor() - before);
            clock.push(context.elapsed_ms);
            tokens += context.tokens;
        }
    }
    clock.sort_by(f64::total_cmp);
    busy.sort_by(f64::total_cmp);
    println!(
        "  {what:22} p50 {:.1} ms, p95 {:.1} ms; processor p50 {:.1} ms, p95 {:.1} ms ({} asked, {tokens} tokens)",
        clock[clock.len() / 2],
        clock[clock.len() * 95 / 100],
        busy[busy.len() / 2],
        busy[busy.len() * 95 / 100],
        requests.len()
    );
}

/// Milliseconds for which this thread was on a processor.
fn on_processor() -> f64 {
    let status = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = status
        .split(' ')
        .next()
        .and_then(|first| first.parse().ok());
    nanoseconds.unwrap_or(0.0) / 1e6
}

/// Stacks of functions that call each other, from all over the tree.
fn crashes(index: &Index) -> Vec<Request> {
    let files = index.files();
    let code: Vec<_> = files.iter().filter(|file| file.lines > 200).collect();
    let mut requests = Vec::new();
    for file in code.iter().step_by((code.len() / (4 * CRASHES)).max(1)) {
        let functions = index.outline(&file.path).unwrap();
        let top = functions
            .into_iter()
            .find(|symbol| symbol.kind.is_callable() && symbol.end_line - symbol.start_line > 20);
        let frames = top.map(|top| stack(index, top)).unwrap_or_default();
        if frames.len() > 2 && requests.len() < CRASHES {
            requests.push(Request {
                frames,
                ..Request::default()
            });
        }
    }
    requests
}

fn stack(index: &Index, top: Symbol) -> Vec<CrashFrame> {
    let mut line = top.start_line.midpoint(top.end_line);
    let mut function = top;
    let mut frames = Vec::new();
    for depth in 0..DEPTH {
        let name = function.name.clone();
        frames.push(CrashFrame {
            function: name.clone(),
            file: Some(function.path.to_string()),
            line: Some(line),
            role: Role::Crash,
            depth,
        });
        let calls = index.callers(&name, 1, 20).unwrap();
        let next = calls
            .into_iter()
            .find_map(|call| Some((call.lines, call.caller?)));
        let Some((lines, caller)) = next.filter(|(_, caller)| caller.name != name) else {
            break;
        };
        line = lines[0];
        function = caller;
    }
    frames
}
