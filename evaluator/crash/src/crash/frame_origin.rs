//! Frame origin: the code that a frame belongs to, judged by its names and paths.

use super::phrases;
use patchwright_source::{Frame, UNKNOWN_FUNCTION, regex};

/// The code that a frame belongs to, judged by its names and paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameOrigin {
    /// The program under repair.
    Project,
    /// The harness around it: a fuzz target, a test runner.
    Harness,
    /// The runtime below both: the C and C++ libraries, the JDK, a sanitizer, a fuzzer.
    Runtime,
}

impl FrameOrigin {
    /// Classifies a frame. A caller that has the tree knows better and decides first.
    pub fn of(frame: &Frame) -> Self {
        let file = frame.file.as_deref().unwrap_or_default();
        let is_java = regex!(r"\.(?:java|kt|scala|groovy|clj)$").is_match(file);
        if is_java || (frame.file.is_none() && is_java_name(&frame.function)) {
            return Self::of_java(&frame.function);
        }
        if is_runtime(frame, file) {
            Self::Runtime
        } else if frame.function.starts_with("LLVMFuzzer") || is_harness_file(file) {
            Self::Harness
        } else {
            Self::Project
        }
    }

    /// Tells whether a frame is that of a named function in a library of the system which is
    /// not part of a runtime: where no frame is of a project, the crash is in it.
    pub(crate) fn is_installed_library(frame: &Frame) -> bool {
        let module = frame.module.as_deref().unwrap_or_default();
        let name = module.rsplit('/').next().unwrap_or(module);
        let own = Frame {
            module: None,
            ..frame.clone()
        };
        begins(module, "folders of systems")
            && !begins(name, "modules of systems")
            && Self::of(&own) == Self::Project
    }

    /// Tells whether a frame is of a library that many programs bring along, or that a
    /// distribution built: its builders have a folder for each package.
    pub(crate) fn is_library(frame: &Frame) -> bool {
        let file = frame.file.as_deref().unwrap_or_default();
        begins(&frame.function, "packages of libraries")
            || regex!(r"^/build/[\w.+-]+-\w{6}/[\w.+]+-\d|^/usr/src/debug/").is_match(file)
    }

    fn of_java(function: &str) -> Self {
        let of_tool = begins(function, "packages of harnesses");
        let of_fuzzer = regex!(
            r"\.fuzzer(?:TestOneInput|Initialize)$|(?:^|\.)[^.$]*Fuzz(?:er|Test)?(?:\$[^.]*)?\.[^.]*$"
        );
        let of_runtime = begins(function, "packages of runtimes");
        if of_runtime || of_tool && !function.ends_with("OneInput") {
            Self::Runtime
        } else if of_tool || of_fuzzer.is_match(function) {
            Self::Harness
        } else {
            Self::Project
        }
    }
}

/// Tells whether a name begins with a phrase of a table.
pub(super) fn begins(name: &str, table: &str) -> bool {
    phrases::find(table, |phrase| name.starts_with(phrase)).is_some()
}

fn is_runtime(frame: &Frame, file: &str) -> bool {
    let function = frame.function.as_str();
    let bare = function.split('(').next().unwrap_or(function);
    // `void std::swap<..>` begins with its return type.
    let named = bare.split(['<', ' ']).next_back().unwrap_or(bare);
    begins(function, "functions of runtimes")
        || is_standard_library(bare)
        || is_go_library(function, file)
        || regex!(r"/lib(?:64)?/python\d[\d.]*/.*\.py$").is_match(file)
            && !file.contains("-packages/")
        || phrases::find("paths of runtimes", |path| file.contains(path)).is_some()
        || !file.contains('/')
            && (begins(function, "internals of glibc")
                || begins(file, "headers of libstdc++")
                || is_file_of_libc(file, function))
        || (file.is_empty() && is_bare_runtime(frame, named))
}

/// Tells whether a frame is of Go's own packages, whose paths have no host: `os/exec` below
/// `GOROOT/src`.
fn is_go_library(function: &str, file: &str) -> bool {
    let package = regex!("^(?:.*/)?[^.]*").find(function);
    let package = package.map_or(function, |package| package.as_str());
    let hosted = regex!(r"^[^/]*\.").is_match(package);
    file.rsplit('.').next() == Some("go") && !hosted && file.contains(&format!("/src/{package}/"))
}

/// Tells whether a file without its folder is that of a function of the C library: glibc has
/// a file for each, such as `strdup.c` and `iofclose.c`.
fn is_file_of_libc(file: &str, function: &str) -> bool {
    let name = function.trim_start_matches('_');
    file.contains(name) && phrases::has("functions of libc", name)
}

/// Classifies a frame without a source file by its module and name.
fn is_bare_runtime(frame: &Frame, name: &str) -> bool {
    let name = name.trim_start_matches('_');
    let name = name.split('@').next().unwrap_or(name);
    let stem = ["_sse2", "_avx", "_evex", "_unaligned", "_erms", "_chk"]
        .iter()
        .find_map(|suffix| name.find(suffix))
        .and_then(|at| name.get(..at))
        .unwrap_or(name);
    phrases::find("functions of libc", |known| [stem, name].contains(&known)).is_some()
        || stem == "start"
        || begins(&frame.function, "namespaces of .NET")
        || frame.function == UNKNOWN_FUNCTION
        || frame.module.as_deref().is_some_and(is_system_module)
}

fn is_java_name(function: &str) -> bool {
    begins(function, "packages of runtimes")
        || begins(function, "packages of harnesses")
        || function.ends_with(".fuzzerTestOneInput")
}

/// `std::vector<..>::push_back(..)`, `void std::sort<..>(..)`, `core::panic..`.
fn is_standard_library(bare: &str) -> bool {
    let own = "standard libraries";
    // `<core::A as core::B>::c` of Rust.
    if let Some(pair) = bare.strip_prefix('<') {
        return pair.split(" as ").all(|part| begins(part, own));
    }
    let head = bare.split('<').next().unwrap_or(bare);
    begins(head.rsplit(' ').next().unwrap_or(head), own)
}

fn is_harness_file(file: &str) -> bool {
    regex!(r"(?i)(?:^|/)(?:harness|[^/.]*fuzzer|[^/.]*_fuzz|fuzz_[^/.]*)(?:\.[^/]*)?$")
        .is_match(file)
}

fn is_system_module(module: &str) -> bool {
    let name = module.rsplit('/').next().unwrap_or(module);
    begins(module, "folders of systems") || begins(name, "modules of systems")
}

#[cfg(test)]
mod tests {
    use super::FrameOrigin;
    use patchwright_source::Frame;

    /// Rows of `place | function | file | module`.
    #[test]
    fn tells_whose_code_it_is() {
        for row in [
            "project | parse | /src/a/parse.c | ",
            "project | main | /src/a/tool.c | ",
            "runtime | malloc_printerr | malloc.c | ",
            "runtime | strdup | strdup.c | ",
            "project | read | reader/read.c | ",
            "runtime | start |  | dyld",
            "runtime | read_line |  | libsystem_c.dylib",
            "harness | main | /case/harness.c | ",
            "harness | LLVMFuzzerTestOneInput | /src/x.c | ",
            "runtime | __interceptor_malloc | ../../src/libsanitizer/asan/x.cpp | ",
            "runtime | malloc |  | ",
            "project | malloc | /src/jemalloc/src/malloc.c | ",
            "runtime | __memcpy_avx_unaligned_erms |  | ",
            "runtime | foo |  | /usr/lib/x86_64-linux-gnu/libxml2.so.2",
            "project | foo |  | /out/fuzzer",
            "runtime | std::vector<A>::push_back(A const&) | /usr/include/c++/12/bits/x.h | ",
            "runtime | void std::sort<int*>(int*, int*) |  | ",
            "project | ns::read(std::string const&) | /src/a.cc | ",
            "runtime | fuzzer::Fuzzer::ExecuteCallback(unsigned char*) |  | /out/f",
            "runtime | __libc_start_main_impl | ../csu/libc-start.c | ",
            "runtime | core::panicking::panic_fmt | /rustc/abc/library/core/src/x.rs | ",
            "runtime | <std::io::A as core::fmt::Display>::fmt |  | ",
            "project | <tap::A as core::fmt::Display>::fmt |  | ",
            "runtime | java.util.ArrayList.add | java/util/ArrayList.java | ",
            "project | org.jsoup.Jsoup.parse | org/jsoup/Jsoup.java | ",
            "harness | HtmlFuzzer.fuzzerTestOneInput | HtmlFuzzer.java | ",
            "harness | UnzipFuzzer.unpack | UnzipFuzzer.java | ",
            "runtime | com.code_intelligence.jazzer.Jazzer.main | x/Jazzer.java | ",
            "runtime | jdk.internal.misc.Unsafe.park |  | ",
            "runtime | android.os.Looper.loop | android/os/Looper.java | ",
            "runtime | org.assertj.core.api.Fail.fail | org/assertj/core/api/Fail.java | ",
            "runtime | System.Windows.Forms.Form.OnLoad |  | ",
            "runtime | BaseThreadInitThunk |  | ",
            "runtime | ?? |  | ",
            "runtime | os/exec.(*Cmd).Wait | /usr/local/go/src/os/exec/exec.go | ",
            "project | main.fill | /home/u/src/tap/main.go | ",
            "project | example.com/tap.fill | /go/src/example.com/tap/tap.go | ",
        ] {
            let fields: Vec<&str> = row.split(" | ").collect();
            let given = |at: usize| Some(fields[at].to_owned()).filter(|text| !text.is_empty());
            let frame = Frame {
                file: given(2),
                module: given(3),
                ..Frame::named(fields[1])
            };
            let place = format!("{:?}", FrameOrigin::of(&frame)).to_lowercase();
            assert_eq!(place, fields[0], "{row}");
        }
    }
}
