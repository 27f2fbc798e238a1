//! Patches of a small program whose faults AddressSanitizer does not see.

use super::{errors, quoted};
use crate::attempt::AttemptFacts;
use crate::evidence::RungName;
use crate::ladder::Ladder;
use patchwright_source::{Touched, TreePath};
use patchwright_target::runner::Target;
use patchwright_target::test_support::{PARSE, change, open, task};
use std::fs;
use std::time::Duration;

/// Replaces the write past the end by code that no sanitizer checks.
const BLIND: &str = "__attribute__((no_address_safety_analysis, noinline)) static void fill(char *to, unsigned long n) {\n  volatile unsigned long most = n;\n  for (unsigned long i = 0; i < most; i++) ((volatile char *)to)[i] = 1;\n}\n";

fn attempt(text: &str) -> AttemptFacts {
    let lines = u32::try_from(text.lines().count()).unwrap();
    AttemptFacts {
        changes: change("parse.c", text.to_owned()),
        touched: vec![Touched {
            path: TreePath::new("parse.c").unwrap(),
            old: vec![(1, 1)],
            new: vec![(1, lines)],
        }],
        ..AttemptFacts::default()
    }
}

#[tokio::test]
async fn what_only_the_patched_program_does_under_a_second_witness_refutes_a_patch() {
    let blind = BLIND.to_owned() + &PARSE.replace("memset(p, 1, b[0]);", "fill(p, b[0]);");
    let by_stream = "#include <stdio.h>\n".to_owned()
        + &PARSE.replace(
            "memset(p, 1, b[0]);",
            "char text[256]; memset(text, 1, 256); FILE *to = fmemopen(p, b[0] + 1, \"w\"); setvbuf(to, 0, _IONBF, 0); fwrite(text, 1, b[0], to); fclose(to);",
        );
    let unwritten = "#include <stdio.h>\n".to_owned()
        + &PARSE.replace(
            "memset(p, 1, b[0]);",
            "if (b[0] == 1) p[0] = 1; if (p[0] == 7) puts(\"seven\");",
        );
    let wraps = PARSE.replace(
        "if (n < 2)",
        "int most = 2147483647 - 150;\n  if (n < 2 || most + b[0] < most || b[0] > 8)",
    );
    let repaired = PARSE.replace("if (n < 2)", "if (n < 2 || b[0] > 8)");

    let folder = tempfile::tempdir().unwrap();
    let mut task = task(folder.path());
    task.limits.robust = Duration::from_secs(4);
    let harmless = folder.path().join("harmless.bin");
    fs::write(&harmless, [5, 1]).unwrap();
    task.harmless.push(harmless);
    let target = open(task, folder.path()).await;
    let baseline = target.baseline().await.unwrap();
    let ladder = Ladder::new(&target, &baseline);
    for (text, against) in [
        (blind, Some("memcheck")),
        (by_stream, Some("memcheck")),
        (unwritten, Some("memcheck")),
        (wraps, Some("UndefinedBehaviorSanitizer")),
        (repaired, None),
    ] {
        let attempt = attempt(&text);
        let result = ladder.climb(&attempt, &[], RungName::Robust).await.unwrap();
        assert_eq!(result.holds, Some(against.is_none()), "{text}: {result:#?}");
        assert_eq!(result.found.len(), usize::from(against.is_some()));
        match against {
            Some(witness) => assert!(result.reason.contains(witness), "{result:#?}"),
            None => assert!(
                result
                    .log
                    .contains("memcheck on a build without sanitizers watched")
                    && result.counts["inputs under a second witness"] > 8,
                "{result:#?}"
            ),
        }
    }
}

#[test]
fn errors_of_valgrind_are_read_one_by_one() {
    let log = "==7== Memcheck, a memory error detector\n==7== \n==7== Invalid write of size 1\n==7==    at 0x1: f (/a/b.c:3)\n==7==  Address 0x4 is 0 bytes after a block of size 8 alloc'd\n==7==    at 0x2: malloc (vg_replace_malloc.c:381)\n==7==    by 0x3: g (/a/b.c:9)\nsaid by the program\n==7== \n==7== Conditional jump or move depends on uninitialised value(s)\n==7==    at 0x5: h (/a/b.c:12)\n==7== \n==7== ERROR SUMMARY: 2 errors from 2 contexts\n";
    let kinds: Vec<String> = errors(log).into_iter().map(|one| one.kind).collect();
    assert_eq!(
        kinds,
        ["heap-buffer-overflow", "use-of-uninitialized-value"]
    );
    assert_eq!(quoted("a 'b'\n"), "'a '\\''b'\\''\n'");
}
