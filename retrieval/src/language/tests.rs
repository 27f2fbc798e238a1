//! What each language's extractor finds, as tables of code and outlines.

use super::extract;
use super::facts::{Facts, decode_site};
use patchwright_source::Language;
use proptest::prelude::*;

fn facts(language: Language, code: &str) -> Facts {
    extract(language, code.as_bytes()).unwrap().facts
}

/// `kind scope|name lines` per symbol, parents by indentation.
fn outline(facts: &Facts) -> Vec<String> {
    facts
        .symbols
        .iter()
        .filter(|symbol| symbol.name != 0)
        .map(|symbol| {
            let scope = match facts.name(symbol.scope) {
                "" => String::new(),
                scope => format!("{scope}|"),
            };
            format!(
                "{} {scope}{} {}-{}",
                symbol.kind,
                facts.name(symbol.name),
                symbol.line,
                symbol.end_line
            )
        })
        .collect()
}

#[track_caller]
fn check(language: Language, code: &str, expected: &[&str]) {
    let found = facts(language, code);
    assert_eq!(outline(&found), expected, "{code}");
}

/// `caller>callee@lines`, sorted.
fn calls(facts: &Facts) -> Vec<String> {
    let mut calls: Vec<String> = facts
        .calls
        .iter()
        .map(|(owner, callee, lines)| {
            let caller = owner
                .checked_sub(1)
                .map_or("", |index| facts.name(facts.symbols[index as usize].name));
            format!("{caller}>{}@{}", facts.name(*callee), facts.text(lines))
        })
        .collect();
    calls.sort();
    calls
}

/// `name:kind@line`, sorted.
fn uses(facts: &Facts) -> Vec<String> {
    let mut uses = Vec::new();
    for (name, sites) in &facts.postings {
        for site in facts.text(sites).split(',') {
            let (line, kind) = decode_site(site.parse().unwrap());
            uses.push(format!("{}:{}@{line}", facts.name(*name), kind.as_str()));
        }
    }
    uses.sort();
    uses
}

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
    assert_eq!(calls(&found), ["DO>run@1", "f>g@7", "f>read@6"]);
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
        ["f>C@4", "f>g@2", "f>h@3", "f>i@3", "f>k@5", "f>m@6"]
    );
}

#[test]
fn java_definitions() {
    let code = "package a.b;\n\nimport java.util.List;\nimport static x.Y.*;\n\n\
        public class Outer<T> extends Base<T> implements One, x.Two {\n  private int count, total;\n  \
        static { init(); }\n  Outer(int c) { this.count = c; }\n  @Override\n  public List<T> run() {\n    \
        Runnable r = new Runnable() {\n      public void run() { count++; }\n    };\n    return null;\n  }\n  \
        enum Color { RED { int f() { return 1; } }, BLUE; }\n  interface In extends Up { int MAX = 3; void go(); }\n  \
        record Point(int x, int y) { Point { check(x); } }\n  @interface Mark { String value() default \"\"; }\n}\n";
    check(
        Language::Java,
        code,
        &[
            "class a.b|Outer 6-21",
            "field a.b.Outer|count 7-7",
            "field a.b.Outer|total 7-7",
            "initializer a.b.Outer|<clinit> 8-8",
            "constructor a.b.Outer|Outer 9-9",
            "method a.b.Outer|run 10-16",
            "class a.b.Outer|1 12-14",
            "method a.b.Outer.1|run 13-13",
            "enum a.b.Outer|Color 17-17",
            "enumerator a.b.Outer.Color|RED 17-17",
            "method a.b.Outer.Color.RED|f 17-17",
            "enumerator a.b.Outer.Color|BLUE 17-17",
            "interface a.b.Outer|In 18-18",
            "field a.b.Outer.In|MAX 18-18",
            "method a.b.Outer.In|go 18-18",
            "record a.b.Outer|Point 19-19",
            "constructor a.b.Outer.Point|Point 19-19",
            "annotation a.b.Outer|Mark 20-20",
            "method a.b.Outer.Mark|value 20-20",
        ],
    );
    let found = facts(Language::Java, code);
    let bases: Vec<&str> = found
        .inherits
        .iter()
        .map(|one| found.name(one.base))
        .collect();
    assert_eq!(bases, ["Base", "One", "Two", "Runnable", "Up"]);
    let imports: Vec<&str> = found.imports.iter().map(|one| found.name(one.1)).collect();
    assert_eq!(imports, ["java.util.List", "x.Y.*"]);
}

#[test]
fn java_uses() {
    let found = facts(
        Language::Java,
        "class A {\n  int count;\n  void f(int n, B b) {\n    count = n;\n    b.go(n).count += 1;\n    \
         String s = new String(b.name);\n    f(n, null);\n    for (int i : list) use(i);\n  }\n}\n",
    );
    assert_eq!(calls(&found), ["f>String@6", "f>f@7", "f>go@5", "f>use@8"]);
    let found = uses(&found);
    for expected in [
        "count:write@4",
        "count:write@5",
        "name:read@6",
        "list:read@8",
        "B:type@3",
    ] {
        assert!(
            found.contains(&expected.to_owned()),
            "{expected} in {found:?}"
        );
    }
    assert!(!found.iter().any(|one| one.starts_with("n:")), "{found:?}");
}

#[test]
fn python_definitions() {
    check(
        Language::Python,
        "import os.path\nLIMIT = 3\nclass A(Base, x.Other):\n    size = 1\n    def run(self, n=1):\n        x = n\n        return go(x)\n\n@wrap\ndef f(): pass\n",
        &[
            "variable LIMIT 2-2",
            "class A 3-7",
            "field A|size 4-4",
            "method A|run 5-7",
            "function f 10-10",
        ],
    );
}

#[test]
fn go_definitions() {
    check(
        Language::Go,
        "package p\nimport \"fmt\"\nconst A, B = 1, 2\ntype T struct { x, y int }\ntype I interface { M() }\n\
         func (t *T) Run(n int) { a := n; fmt.Println(a) }\nfunc f() {}\n",
        &[
            "variable p|A 3-3",
            "variable p|B 3-3",
            "struct p|T 4-4",
            "field p.T|x 4-4",
            "interface p|I 5-5",
            "prototype p.I|M 5-5",
            "method p.T|Run 6-6",
            "function p|f 7-7",
        ],
    );
}

#[test]
fn rust_definitions() {
    check(
        Language::Rust,
        "use std::fmt;\nmod m { const A: u8 = 1; }\nstruct S { x: u8 }\nenum E { V(u8) }\ntrait T { fn t(&self); }\n\
         impl T for S {\n    fn t(&self) { go(self.x) }\n}\nfn f() {}\nmacro_rules! mac { () => {} }\n",
        &[
            "namespace m 2-2",
            "variable m|A 2-2",
            "struct S 3-3",
            "field S|x 3-3",
            "enum E 4-4",
            "enumerator E|V 4-4",
            "interface T 5-5",
            "prototype T|t 5-5",
            "method S|t 7-7",
            "function f 9-9",
            "macro mac 10-10",
        ],
    );
}

#[test]
fn javascript_and_typescript_definitions() {
    check(
        Language::JavaScript,
        "import x from 'y';\nconst LIMIT = 1;\nconst f = (a) => a;\nfunction g(b) { const c = b; return h(c); }\n\
         class A extends B { field = 1; run() {} }\n",
        &[
            "variable LIMIT 2-2",
            "function f 3-3",
            "function g 4-4",
            "class A 5-5",
            "field A|field 5-5",
            "method A|run 5-5",
        ],
    );
    check(
        Language::TypeScript,
        "interface I { x: number; m(): void }\nenum E { A = 1 }\ntype T = string;\nabstract class C implements I { y = 1; }\n",
        &[
            "interface I 1-1",
            "field I|x 1-1",
            "prototype I|m 1-1",
            "enum E 2-2",
            "enumerator E|A 2-2",
            "typedef T 3-3",
            "class C 4-4",
            "field C|y 4-4",
        ],
    );
}

#[test]
fn deep_nesting_costs_no_stack() {
    for language in Language::ALL {
        let depth = 5_000;
        let code = format!("int x = {}1{};\n", "(".repeat(depth), ")".repeat(depth));
        assert!(extract(language, code.as_bytes()).is_some(), "{language}");
        let code = format!("void f() {}{}\n", "{".repeat(depth), "}".repeat(depth));
        assert!(extract(language, code.as_bytes()).is_some(), "{language}");
    }
}

fn alike() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "int ",
        "f",
        "(",
        ")",
        "{",
        "}",
        ";",
        "struct ",
        "typedef ",
        "class ",
        "A",
        "::",
        "*",
        "&",
        "=",
        ",",
        "#define ",
        "#if 1\n",
        "#endif\n",
        "\n",
        "\r\n",
        "\t",
        "operator",
        "<",
        ">",
        "~",
        "template",
        "namespace ",
        "enum ",
        "return ",
        "\"",
        "'",
        "/*",
        "*/",
        "//",
        "->",
        ".",
        "new ",
        "import ",
        "package ",
        "def ",
        ":",
        "func ",
        "impl ",
        "for ",
        "fn ",
        "let ",
        "\u{e9}",
        "\0",
        "0x1",
        "[",
        "]",
        "@",
        "if",
        "else",
        "extern \"C\" ",
        "\\\n",
    ]);
    prop::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn no_text_breaks_an_extractor(code in alike()) {
        let lines = code.lines().count().max(1) + 1;
        for language in Language::ALL {
            let found = extract(language, code.as_bytes()).unwrap().facts;
            prop_assert!(found.symbols.is_sorted_by_key(|symbol| symbol.line));
            for (index, symbol) in found.symbols.iter().enumerate() {
                prop_assert!(symbol.line >= 1 && symbol.line <= symbol.end_line);
                prop_assert!(symbol.end_line as usize <= lines);
                prop_assert!(symbol.parent as usize <= index);
            }
            for (owner, _, _) in &found.calls {
                prop_assert!(*owner as usize <= found.symbols.len());
            }
        }
    }

    #[test]
    fn no_bytes_break_an_extractor(code in prop::collection::vec(any::<u8>(), 0..200)) {
        for language in Language::ALL {
            prop_assert!(extract(language, &code).is_some());
        }
    }
}
