//! C and C++, broken trees among them.

use super::{calls, check, facts, uses};
use patchwright_source::Language;

#[test]
fn c_definitions() {
    check(
        Language::C,
        "#define LIMIT 10\n#define MAX(a, b) \\\n  ((a) > (b) ? (a) : (b))\nint counter, *other = 0;\n\
         struct point { int x, *y; union { int u; }; };\nenum color { RED, GREEN = 2 };\n\
         typedef struct { int a; } pair;\ntypedef struct node_st NODE;\ntypedef int (*callback)(int);\n\
         int proto(int a);\nstatic struct { int deep; } table[2];\n",
        &[
            "macro LIMIT 1-1",
            "macro MAX 2-3",
            "variable counter 4-4",
            "variable other 4-4",
            "struct point 5-5",
            "field point|x 5-5",
            "field point|y 5-5",
            "field point|u 5-5",
            "enum color 6-6",
            "enumerator color|RED 6-6",
            "enumerator color|GREEN 6-6",
            "struct pair 7-7",
            "field pair|a 7-7",
            "typedef NODE 8-8",
            "typedef callback 9-9",
            "prototype proto 10-10",
            "variable table 11-11",
            "field table|deep 11-11",
        ],
    );
}

#[test]
fn c_functions() {
    check(
        Language::C,
        "static int\nf(int a)\n{\n  int local;\n  return a;\n}\nint (*g(void))(int) { return 0; }\n\
         int old(a, b)\n  int a;\n  char *b;\n{\n  return a;\n}\nextern \"C\" {\nvoid h(void) {}\n}\n",
        &[
            "function f 1-6",
            "function g 7-7",
            "function old 8-13",
            "function h 15-15",
        ],
    );
}

#[test]
fn c_functions_in_broken_trees() {
    check(
        Language::C,
        "u_char * MACRO\nname(int a,\n     int b)\n{\n  int local = a;\n  return helper(local);\n}\n\
         int f(int x) {\n#if A\n  if (x) {\n#else\n  if (!x) {\n#endif\n    x++;\n  }\n  return x;\n}\n\
         int after(void)\n{\n  return 1;\n}\n",
        &[
            "function name 1-7",
            "function f 8-17",
            "function after 18-21",
        ],
    );
    let found = facts(
        Language::C,
        "u_char * MACRO\nname(int a,\n     int b)\n{\n  return helper(a, );\n}\n",
    );
    assert!(
        calls(&found).contains(&"name>helper@5".to_owned()),
        "{:?}",
        calls(&found)
    );
}

#[test]
fn c_macros_in_functions_are_no_functions() {
    check(
        Language::C,
        "void run(int i) {\n  DISPATCH (GET(i)) {\n    CASE(ONE) {\n      go(i);\n    }\n  }\n}\n",
        &["function run 1-7"],
    );
}

#[test]
fn c_uses() {
    let found = facts(
        Language::C,
        "#define DO(x) run(x, LIMIT)\nint total;\nint f(struct s *p, int n) {\n  p->len = n;\n  \
         total += p->size;\n  p->ops->read(n);\n  return g(total) + n;\n}\n",
    );
    assert_eq!(calls(&found), ["DO>run@1", "f>[*]read@6", "f>g@7"]);
    assert_eq!(
        uses(&found),
        [
            "LIMIT:read@1",
            "len:write@4",
            "ops:read@6",
            "s:type@3",
            "size:read@5",
            "total:read@7",
            "total:write@5",
        ]
    );
}

#[test]
fn cpp_definitions() {
    check(
        Language::Cpp,
        "namespace ns {\nclass A : public Base, private x::Other<int> {\npublic:\n  A(int a);\n  ~A() {}\n  \
         virtual int m(int) const = 0;\n  bool operator==(const A &o) const { return true; }\n  int field_;\n  \
         enum class E { One };\n};\ntemplate <typename T>\nT pick(T a) { return a; }\n}\n\
         ns::A::A(int a) : field_(a) {}\nint ns::A::m(int x) const {\n  return x;\n}\n\
         template <class T> struct Box { T get() { return v; } T v; };\nusing Name = ns::A;\n\
         A::operator bool() const { return true; }\n",
        &[
            "namespace ns 1-13",
            "class ns|A 2-10",
            "prototype ns::A|A 4-4",
            "method ns::A|~A 5-5",
            "prototype ns::A|m 6-6",
            "method ns::A|operator== 7-7",
            "field ns::A|field_ 8-8",
            "enum ns::A|E 9-9",
            "enumerator ns::A::E|One 9-9",
            "function ns|pick 11-12",
            "constructor ns::A|A 14-14",
            "method ns::A|m 15-17",
            "struct Box 18-18",
            "method Box|get 18-18",
            "field Box|v 18-18",
            "typedef Name 19-19",
            "method A|operator bool 20-20",
        ],
    );
    let found = facts(
        Language::Cpp,
        "class A : public Base, private x::Other<int> {};\n",
    );
    let bases: Vec<&str> = found
        .inherits
        .iter()
        .map(|one| found.name(one.base))
        .collect();
    assert_eq!(bases, ["Base", "Other"]);
}

#[test]
fn cpp_calls() {
    let found = facts(
        Language::Cpp,
        "void A::f(B &b) {\n  ns::g<int>(1);\n  b.h().i();\n  auto *p = new C(2);\n  auto l = [&](int x) { return k(x); };\n  this->m();\n}\n",
    );
    assert_eq!(
        calls(&found),
        [
            "f>C@4",
            "f>[:ns]g@2",
            "f>[=B]h@3",
            "f>[?]i@3",
            "f>k@5",
            "f>m@6"
        ]
    );
}
