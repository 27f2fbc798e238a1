//! schemathesis reads the OpenAPI document and sends requests that it allows and
//! many that it does not: no answer may be an internal error, and none may be
//! undocumented.
//!
//! It is installed once from PyPI into a virtual environment below `target`. A
//! machine that cannot do that skips this test and says so.

use patchwright_tests::command::Patchwright;
use patchwright_tests::daemon::Daemon;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Pinned: what it checks grows with every release.
const PACKAGE: &str = "schemathesis==4.32.5";
/// Requests that are tried for every operation, and seconds for all of them.
const EXAMPLES: (&str, &str) = if option_env!("PATCHWRIGHT_SOAK").is_some() {
    ("400", "600")
} else {
    ("12", "25")
};
/// Not checked: that everything is taken that fits the document. What a task
/// names must also be there, which no document can say.
const NOT_CHECKED: &str = "positive_data_acceptance";

fn skip(reason: &str) {
    let _ = writeln!(
        std::io::stderr(),
        "SKIPPED: schemathesis was not tried: {reason}"
    );
}

fn done(command: &mut Command) -> Result<(), String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}

fn installed() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schemathesis");
    let (program, mark) = (folder.join("bin/schemathesis"), folder.join(PACKAGE));
    if mark.is_file() {
        return Ok(program);
    }
    done(
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&folder),
    )?;
    let mut pip = Command::new(folder.join("bin/pip"));
    pip.args([
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        PACKAGE,
    ]);
    done(&mut pip)?;
    std::fs::write(&mark, "").map_err(|error| error.to_string())?;
    Ok(program)
}

#[test]
fn every_answer_is_one_that_the_document_tells_of() {
    let program = match installed() {
        Ok(program) => program,
        Err(reason) => return skip(&reason),
    };
    let patchwright = Patchwright::new().unwrap();
    let made = patchwright
        .run(&["token", "create", "fuzz", "--role", "admin"])
        .unwrap();
    let token = made.stdout.trim();
    let daemon = Daemon::start(
        &patchwright,
        &[
            "--workers",
            "0",
            "--set",
            "http.rate=100000",
            "--set",
            "http.timeout=5s",
        ],
    )
    .unwrap();
    let (examples, seconds) = EXAMPLES;
    let output = Command::new(program)
        .arg("run")
        .arg(format!("http://{}/api/v1/openapi.json", daemon.address()))
        .args(["--header", &format!("Authorization: Bearer {token}")])
        .args([
            "--exclude-checks",
            NOT_CHECKED,
            "--max-examples",
            examples,
            "--max-time",
            seconds,
        ])
        .args([
            "--phases",
            "examples,coverage,fuzzing,stateful",
            "--seed",
            "1",
            "--no-color",
            "--no-shrink",
        ])
        .args(["--suppress-health-check", "all", "--warnings", "off"])
        .current_dir(patchwright.scratch(""))
        .env("HOME", patchwright.scratch(""))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{told}\n{}\n{}",
        String::from_utf8_lossy(&output.stderr),
        daemon.told()
    );
    assert!(!daemon.told().contains("panicked"), "{}", daemon.told());
}
