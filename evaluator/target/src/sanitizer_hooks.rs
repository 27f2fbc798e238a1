//! Sanitizer hooks of a build: symbols by which a program changes what its
//! sanitizer does or reports.
//!
//! A sanitizer asks the program for its options, its suppressions and for what
//! to do at an error by functions with agreed names, and lends it functions that
//! switch checks off. However the source spells them, they stand in the symbol
//! tables of what was linked. A build is compared with the unpatched one, so
//! what a project does by itself is no finding.

use crate::workspace::programs::{Program, programs};
use object::{Object, ObjectSymbol};
use patchwright_sandbox::contained_path::ContainedFolder;
use patchwright_source::regex;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The largest program that is read.
const LARGEST: u64 = 512 << 20;
/// Programs that are read at most.
const MOST: usize = 64;

/// A symbol of a sanitizer, and how a program holds it.
type Hook = (String, Held);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    /// Defined by the program, or by a runtime that is linked into it.
    Defined,
    /// Defined by the runtime that is linked into the program, and given up for
    /// another definition.
    Weak,
    /// Called, and defined by a library.
    Called,
}

/// Symbols that a patched build has and the unpatched one lacks, each in a few words.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Gained {
    /// Those by which the program changes what the sanitizer does.
    pub hooks: Vec<String>,
    /// Functions of the C library that write memory and that no sanitizer sees do it.
    pub unseen: Vec<String>,
}

/// Compares a patched workspace with the unpatched one.
pub(crate) fn gained(unpatched: &Path, patched: &Path) -> Gained {
    let before = hooks_of(unpatched);
    let mut gained = Gained::default();
    for hook in hooks_of(patched) {
        if before.contains(&hook) {
            continue;
        }
        let (name, held) = hook;
        match held {
            Held::Defined | Held::Weak => gained.hooks.push(format!("it defines {name}")),
            Held::Called if is_unseen(&name) => gained.unseen.push(name),
            Held::Called => gained.hooks.push(format!("it calls {name}")),
        }
    }
    gained
}

/// Tells whether a program of a workspace holds the runtime of a sanitizer, or calls it.
pub(crate) fn is_sanitized(workspace: &Path) -> bool {
    contents(workspace).any(|bytes| {
        let file = object::File::parse(bytes.as_slice()).ok();
        file.is_some_and(|file| {
            let mut symbols = file.symbols().chain(file.dynamic_symbols());
            // A program may define a hook without a runtime that asks for it.
            let of_runtime = |name: &str| is_runtime(name) && !is_hook(name);
            symbols.any(|symbol| symbol.name().is_ok_and(of_runtime))
        })
    })
}

/// The hooks of every program and shared library of a workspace.
fn hooks_of(workspace: &Path) -> BTreeSet<Hook> {
    contents(workspace).flat_map(|bytes| read(&bytes)).collect()
}

/// The first programs and shared libraries of a workspace, byte for byte.
fn contents(workspace: &Path) -> impl Iterator<Item = Vec<u8>> {
    let read_all = move |program: &Program| {
        let contained = ContainedFolder::open(&workspace.join(program.part)).ok()?;
        contained.read(&program.path, LARGEST).ok()
    };
    let programs = programs(workspace).into_iter();
    programs
        .filter_map(move |program| read_all(&program))
        .take(MOST)
}

/// The hooks in the symbol tables of one file.
fn read(bytes: &[u8]) -> BTreeSet<Hook> {
    let Ok(file) = object::File::parse(bytes) else {
        return BTreeSet::new();
    };
    let all = file.symbols().chain(file.dynamic_symbols());
    let symbols: Vec<Symbol<'_>> = all.filter_map(|symbol| Symbol::read(&symbol)).collect();
    // Each place in the code with a name that tells whose it is.
    let owners: BTreeMap<u64, bool> = symbols
        .iter()
        .filter(|symbol| symbol.held == Held::Defined)
        .map(|symbol| (symbol.address, is_runtime(symbol.name)))
        .collect();
    let sanitized = symbols.iter().any(|symbol| is_runtime(symbol.name));
    let unseen =
        |symbol: &Symbol<'_>| sanitized && symbol.held == Held::Called && is_unseen(symbol.name);
    let hooks = symbols.into_iter();
    hooks
        .filter(|symbol| is_hook(symbol.name) || unseen(symbol))
        .map(|symbol| (symbol.name.to_owned(), symbol.held_among(&owners)))
        .collect()
}

/// A symbol with a name.
struct Symbol<'a> {
    name: &'a str,
    address: u64,
    held: Held,
}

impl<'a> Symbol<'a> {
    fn read(symbol: &impl ObjectSymbol<'a>) -> Option<Self> {
        let name = symbol.name().ok().filter(|name| !name.is_empty())?;
        Some(Self {
            // The linker adds the version of a library's symbol.
            name: name.split('@').next().unwrap_or(name),
            address: symbol.address(),
            held: match (symbol.is_undefined(), symbol.is_weak()) {
                (true, _) => Held::Called,
                (false, true) => Held::Weak,
                (false, false) => Held::Defined,
            },
        })
    }

    /// Tells whose a weak definition is: the linker takes the first, which may be one of the
    /// program: the runtime's lies among code of the runtime.
    fn held_among(&self, owners: &BTreeMap<u64, bool>) -> Held {
        if self.held != Held::Weak {
            return self.held;
        }
        let below = owners.range(..self.address).next_back();
        let above = owners.range(self.address + 1..).next();
        let of_runtime = [below, above].into_iter().flatten().any(|(_, own)| *own);
        if of_runtime {
            Held::Weak
        } else {
            Held::Defined
        }
    }
}

/// Tells whether a name is one of a sanitizer's runtime, also mangled.
fn is_runtime(name: &str) -> bool {
    regex!(
        r"^_*(?:(?:a|hwa|l|m|t|ub|df)san_|sanitizer_|interceptor_|interception|ZN?K?N?\d+__(?:asan|hwasan|lsan|msan|tsan|ubsan|dfsan|sanitizer|interception))"
    )
    .is_match(name)
}

/// Tells whether a name is of a function that writes as much memory as it is told to, or as
/// its input has, and that GCC's AddressSanitizer (12) does not check: each was tried.
fn is_unseen(name: &str) -> bool {
    regex!(concat!(
        r"^(?:_IO_)?_{0,2}(?:memccpy|mempcpy|bcopy|swab|memfrob|strfry|stpn?cpy|strxfrm",
        r"|explicit_bzero|wmem(?:set|p?cpy|move)|wcsn?cpy|wcpn?cpy|fgets|fread_unlocked",
        r"|gets|gethostname|getentropy|arc4random_buf)(?:_chk|_unlocked)?$",
    ))
    .is_match(name)
}

/// Tells whether a name is a sanitizer's and none that a compiler refers to by
/// itself in code that it instruments.
fn is_hook(name: &str) -> bool {
    let ours = regex!(r"^_{1,3}(?:(?:a|hwa|l|m|t|ub|df)san|sanitizer)_");
    let of_compiler = regex!(concat!(
        r"^_{1,3}(?:",
        r"asan_(?:report_)?(?:exp_)?(?:load|store)\w*|asan_(?:memcpy|memmove|memset)",
        r"|asan_stack_(?:malloc|free)_\w+|asan_set_shadow_\w+|asan_(?:un)?poison_stack_memory",
        r"|asan_handle_no_return|asan_allocas?_(?:un)?poison|asan_(?:un)?register_\w*globals",
        r"|asan_(?:before|after)_dynamic_init|asan_init\w*|asan_version_mismatch_check_\w+",
        r"|asan_option_detect_stack_use_after_return|asan_shadow_memory_dynamic_address|asan_gen_\w*",
        r"|hwasan_(?:load|store|tag|init|generate|memcpy|memmove|memset|handle)\w*",
        r"|msan_(?:warning|param|retval|va_arg|origin|maybe|get_|chain|poison_alloca|set_alloca|init|track|keep|memcpy|memmove|memset|poison_stack|metadata)\w*",
        r"|tsan_(?:read|write|unaligned|func|atomic|init|vptr|mem|volatile|range)\w*",
        r"|ubsan_handle_\w+|ubsan_vptr_type_cache",
        r"|sanitizer_(?:cov|ptr)_\w+",
        r")$",
    ));
    ours.is_match(name) && !of_compiler.is_match(name)
}

#[cfg(test)]
mod tests {
    use super::{is_hook, is_unseen};

    #[test]
    fn what_is_checked_is_not_unseen() {
        for name in [
            "memccpy",
            "__mempcpy_chk",
            "bcopy",
            "stpncpy",
            "fgets_unlocked",
        ] {
            assert!(is_unseen(name), "{name}");
        }
        for name in [
            "memcpy",
            "strncpy",
            "__memcpy_chk",
            "read",
            "snprintf",
            "my_memccpy",
        ] {
            assert!(!is_unseen(name), "{name}");
        }
    }

    #[test]
    fn what_a_compiler_refers_to_is_no_hook() {
        for (name, expected) in [
            ("__asan_default_options", true),
            ("__asan_on_error", true),
            ("__asan_set_error_exit_code", true),
            ("__asan_unpoison_memory_region", true),
            ("__lsan_is_turned_off", true),
            ("__lsan_disable", true),
            ("__ubsan_on_report", true),
            ("__ubsan_default_options", true),
            ("__msan_unpoison", true),
            ("__sanitizer_set_death_callback", true),
            ("___asan_default_options", true),
            ("__asan_report_load8", false),
            ("__asan_report_store_n_noabort", false),
            ("__asan_storeN", false),
            ("__asan_stack_malloc_3", false),
            ("__asan_handle_no_return", false),
            ("__ubsan_handle_add_overflow_abort", false),
            ("__sanitizer_cov_trace_pc_guard", false),
            ("__msan_warning_with_origin_noreturn", false),
            ("parse", false),
            ("asan_default_options", false),
        ] {
            assert_eq!(is_hook(name), expected, "{name}");
        }
    }
}
