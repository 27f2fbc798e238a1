//! Models of well-known functions of the C library and their arguments; trees
//! call them and do not contain them.

/// Functions that copy: name, index written, first index read.
const COPIES: [(&str, usize, usize); 14] = [
    ("memcpy", 0, 1),
    ("memmove", 0, 1),
    ("mempcpy", 0, 1),
    ("strcpy", 0, 1),
    ("strncpy", 0, 1),
    ("strlcpy", 0, 1),
    ("strcat", 0, 1),
    ("strncat", 0, 1),
    ("strlcat", 0, 1),
    ("memset", 0, 1),
    ("sprintf", 0, 2),
    ("snprintf", 0, 3),
    ("__builtin_memcpy", 0, 1),
    ("bcopy", 1, 0),
];

/// Functions that fill a buffer from outside of the program.
const READS: [(&str, usize); 9] = [
    ("read", 1),
    ("pread", 1),
    ("recv", 1),
    ("recvfrom", 1),
    ("fread", 0),
    ("fgets", 0),
    ("gets", 0),
    ("getline", 0),
    ("fscanf", 2),
];

/// Functions whose result is a new thing, whatever they are given.
const ALLOCATES: &str = "malloc calloc realloc reallocarray alloca aligned_alloc fopen open mmap";

/// Returns whether the result of a function that the tree does not hold is made of
/// its arguments, as far as anybody can tell from the name.
pub(crate) fn computes(function: &str) -> bool {
    ALLOCATES.split(' ').all(|name| name != function)
}

/// Returns whether a function writes through an argument.
pub(crate) fn writes(function: &str, argument: usize) -> bool {
    COPIES
        .iter()
        .any(|(name, to, _)| *name == function && *to == argument)
        || READS
            .iter()
            .any(|(name, to)| *name == function && *to == argument)
}

/// Returns whether a function copies one argument into another.
pub(crate) fn copies(function: &str, from: usize, into: usize) -> bool {
    COPIES.iter().any(|(name, to, first)| {
        let all = function.ends_with("printf") && from >= *first;
        *name == function && *to == into && (from == *first || all)
    })
}
