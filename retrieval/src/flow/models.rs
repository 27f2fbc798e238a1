//! Models of well-known functions of the C library and their arguments; trees
//! call them and do not contain them.

/// Functions whose result is a new thing, whatever they are given.
const ALLOCATES: &str = "malloc calloc realloc reallocarray alloca aligned_alloc fopen open mmap";

/// Returns whether the result of a function that the tree does not hold is made of
/// its arguments, as far as anybody can tell from the name.
pub(crate) fn computes(function: &str) -> bool {
    ALLOCATES.split(' ').all(|name| name != function)
}

/// The argument that a function copies to, and the first that it copies from.
fn copied(function: &str) -> Option<(usize, usize)> {
    Some(match function {
        "memcpy" | "memmove" | "mempcpy" | "memset" | "__builtin_memcpy" | "strcpy" | "strncpy"
        | "strlcpy" | "strcat" | "strncat" | "strlcat" => (0, 1),
        "sprintf" => (0, 2),
        "snprintf" => (0, 3),
        "bcopy" => (1, 0),
        _ => return None,
    })
}

/// The argument that a function fills from outside of the program.
fn filled(function: &str) -> Option<usize> {
    Some(match function {
        "fread" | "fgets" | "gets" | "getline" => 0,
        "read" | "pread" | "recv" | "recvfrom" => 1,
        "fscanf" => 2,
        _ => return None,
    })
}

/// Returns whether a function writes through an argument.
pub(crate) fn writes(function: &str, argument: usize) -> bool {
    let to = copied(function).map(|(to, _)| to);
    to.or_else(|| filled(function)) == Some(argument)
}

/// Returns whether a function copies one argument into another.
pub(crate) fn copies(function: &str, from: usize, into: usize) -> bool {
    copied(function).is_some_and(|(to, first)| {
        let takes_more = function.ends_with("printf") && from > first;
        to == into && (from == first || takes_more)
    })
}
