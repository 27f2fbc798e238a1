//! The helper of the sandbox by itself, for programs that use this crate
//! without a `main` of their own that could call it.

fn main() -> std::process::ExitCode {
    patchwright_sandbox::enter_from_arguments()
}
