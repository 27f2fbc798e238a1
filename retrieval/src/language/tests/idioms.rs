//! Idioms of real C and C++ that hide definitions from a grammar: each with the
//! library that is written so.

use super::{calls, check, facts, uses};
use patchwright_source::Language;

/// FreeType, libjpeg, libpng.
#[test]
fn macros_around_a_head_hide_no_function() {
    check(
        Language::C,
        "FT_LOCAL_DEF( FT_Error )\n  ft_open( FT_Stream  stream )\n  {\n    return use( stream );\n  }\n\n\
         GLOBAL(void)\njpeg_start (j_ptr cinfo)\n{\n}\nMETHODDEF(const char *)\nnext (void)\n{\n}\n\
         void PNGAPI\npng_set (png_structrp png_ptr, int num)\n{\n}\n\
         png_voidp PNGAPI png_get PNGARG((png_structp png_ptr))\n{\n}\n\
         static PNG_FUNCTION(png_voidp,PNGCBAPI\npng_zalloc,(voidpf ptr, uInt items),PNG_ALLOCATED)\n{\n}\n\
         void MY_CDECL(plain)(int a)\n{\n}\nstatic STACK_OF(X509) *load(int a)\n{\n}\n\
         extern void * my_attribute((__malloc__)) my_size(1)\nmy_alloc(size_t size)\n{\n}\n",
        &[
            "function ft_open 1-5",
            "function jpeg_start 7-10",
            "function next 11-14",
            "function png_set 15-18",
            "function png_get 19-21",
            "function png_zalloc 22-25",
            "function plain 26-28",
            "function load 29-31",
            "function my_alloc 32-35",
        ],
    );
}

#[test]
fn what_stands_in_a_head_is_used() {
    let found = facts(
        Language::C,
        "FT_LOCAL_DEF( FT_Error )\nft_open( FT_Stream stream )\n{\n  return use( stream, total );\n}\n",
    );
    assert_eq!(calls(&found), [">FT_LOCAL_DEF@1", "ft_open>use@4"]);
    let names = uses(&found);
    assert!(names.contains(&"FT_Error:type@1".to_owned()), "{names:?}");
    assert!(names.contains(&"FT_Stream:type@2".to_owned()), "{names:?}");
    assert!(names.contains(&"total:read@4".to_owned()), "{names:?}");
    assert!(
        !names.iter().any(|name| name.starts_with("stream:")),
        "{names:?}"
    );
}

/// SQLite, decNumber.
#[test]
fn comments_between_a_head_and_its_body_hide_nothing() {
    check(
        Language::C,
        "static int f(\n  int a,  /* the first */\n  int b   /* the second */\n) /* { */\n\
         /* what it does: { */\n{ // {\n  return a;\n}\nint g(void) {}\n",
        &["function f 1-8", "function g 9-9"],
    );
}

/// zlib.
#[test]
fn functions_in_the_style_before_c89() {
    check(
        Language::C,
        "int ZEXPORT inflate(strm, flush)\nz_streamp strm;\nint flush;\n{\n  return flush;\n}\n\
         local int updatewindow(strm, out)\nz_streamp strm;\nunsigned out, (*next)();\n{\n}\n\
         int declared(void);\nint after;\n",
        &[
            "function inflate 1-6",
            "function updatewindow 7-11",
            "prototype declared 12-12",
            "variable after 13-13",
        ],
    );
}

/// Qt, protobuf, ICU, RocksDB.
#[test]
fn macros_in_the_head_of_a_class_hide_no_type() {
    check(
        Language::Cpp,
        "class Q_CORE_EXPORT QThing final : public QObject\n{\n  Q_OBJECT\n  Q_PROPERTY(int a READ a)\n\
         public:\n  explicit QThing(int a);\n  int size() const { return n; }\nsignals:\n  void changed();\n\
         private slots:\n  void run();\nprivate:\n  int n;\n};\n\
         struct PROTOBUF_EXPORT ALIGNED(8) Part { int x; };\nU_EXPORT enum class Level : int { kLow };\n\
         struct A *make(int a) { return 0; }\n",
        &[
            "class QThing 1-14",
            "prototype QThing|QThing 6-6",
            "method QThing|size 7-7",
            "prototype QThing|changed 9-9",
            "prototype QThing|run 11-11",
            "field QThing|n 13-13",
            "struct Part 15-15",
            "field Part|x 15-15",
            "enum Level 16-16",
            "enumerator Level|kLow 16-16",
            "function make 17-17",
        ],
    );
    let found = facts(Language::Cpp, "class EXPORT A final : public Base {};\n");
    let bases: Vec<&str> = found
        .inherits
        .iter()
        .map(|one| found.name(one.base))
        .collect();
    assert_eq!(bases, ["Base"]);
}

/// Abseil, OpenSSL.
#[test]
fn macros_on_lines_of_their_own_hide_nothing() {
    check(
        Language::Cpp,
        "namespace absl {\nABSL_NAMESPACE_BEGIN\nnamespace {\nconst int k = 1;\n}\n\
         void f() {}\nABSL_NAMESPACE_END\n}\n",
        &[
            "namespace absl 1-8",
            "variable absl|k 4-4",
            "function absl|f 6-6",
        ],
    );
    check(
        Language::C,
        "ASN1_SEQUENCE(ALGOR) = {\n  ASN1_SIMPLE(ALGOR, a, OBJECT),\n} ASN1_SEQUENCE_END(ALGOR)\n\n\
         ASN1_ITEM_TEMPLATE(ALGORS) = TEMPLATE(SEQUENCE, ALGOR)\nASN1_ITEM_TEMPLATE_END(ALGORS)\n\
         IMPLEMENT_FUNCTIONS(ALGOR)\n\nint cmp(int a)\n{\n}\ntypedef STACK_OF(A) LIST;\n",
        &["function cmp 9-11", "typedef LIST 12-12"],
    );
}

/// libgit2, OpenSSL: a conditional cuts statements in pieces.
#[test]
fn a_function_ends_at_its_brace() {
    check(
        Language::C,
        "static int first(int a)\n{\n#ifdef A\n  if (a) {\n#else\n  if (!a) {\n#endif\n    a++;\n  }\n  return a;\n}\n\
         int second(void)\n{\n  return 1;\n}\n#if 0\nint never(void)\n{\n}\n#endif\n\
         #ifdef B\nint third(int a, int b)\n#else\nint third(int a)\n#endif\n{\n}\n",
        &[
            "function first 1-11",
            "function second 12-15",
            "function third 22-27",
        ],
    );
}

/// A brace that a macro hides.
#[test]
fn a_missing_brace_ends_with_its_function() {
    check(
        Language::C,
        "int first(int a)\n{\n  if (a) {\n    a++;\n}\nint second(int b)\n{\n  return b;\n}\n",
        &["function first 1-5", "function second 6-9"],
    );
}

/// curl, libgit2, Expat.
#[test]
fn macros_in_declarations_hide_no_name() {
    check(
        Language::C,
        "typedef LONG (WINAPI *FN)(int a);\ntypedef int CALLBACK(git_cb)(void *payload);\n\
         typedef struct { int a; } ALIGN pair_t;\nstatic unsigned char MODE_RW table[2] = { 1, 2 };\n\
         const rec PRIV(records)[] = { 1 };\nid_t empty = INIT(SHA1, { 1, 2 });\n\
         uint32 APICALL (*obtain)(int a);\ntypedef signed __int8 int8_t;\nstruct s x MARK = { 1 };\n\
         struct bits { unsigned a : 1,\n b : 2; };\n",
        &[
            "typedef FN 1-1",
            "typedef git_cb 2-2",
            "struct pair_t 3-3",
            "field pair_t|a 3-3",
            "variable table 4-4",
            "variable records 5-5",
            "variable empty 6-6",
            "variable obtain 7-7",
            "typedef int8_t 8-8",
            "variable x 9-9",
            "struct bits 10-11",
            "field bits|a 10-10",
            "field bits|b 10-11",
        ],
    );
}

#[test]
fn words_of_the_language_are_no_names() {
    check(
        Language::Cpp,
        "#define inline __inline\nDEFINE_CHECK(float);\nstruct A { DEFINE_SIZE (2 * sizeof (int));\n\
         explicit operator unsigned char() const { return 1; }\n~A() {} };\nif (x) {\n}\n",
        &[
            "struct A 3-5",
            "method A|operator unsigned char 4-4",
            "method A|~A 5-5",
        ],
    );
}
