//! Makes a constant of each section of the list of system calls: their numbers here.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

const LIST: &str = "src/isolation/system_calls.txt";
/// End of the name of a section whose calls no other processor has.
const ONE_PROCESSOR: &str = "X86_64";

#[expect(
    clippy::disallowed_methods,
    reason = "how Cargo and a build script speak to each other"
)]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={LIST}");
    let has_all = env::var("CARGO_CFG_TARGET_ARCH")? == "x86_64";
    let mut code = String::new();
    for section in fs::read_to_string(LIST)?.split("\n[").skip(1) {
        let (name, lines) = section.split_once(']').ok_or("a section has no name")?;
        let known = has_all || !name.ends_with(ONE_PROCESSOR);
        let calls = lines.lines().filter(|line| known && !line.is_empty());
        let calls = calls.filter(|line| !line.starts_with('#'));
        let numbers: String = calls.map(|call| format!("libc::SYS_{call},")).collect();
        writeln!(code, "const {name}: &[i64] = &[{numbers}];")?;
    }
    fs::write(
        Path::new(&env::var("OUT_DIR")?).join("system_calls.rs"),
        code,
    )?;
    Ok(())
}
