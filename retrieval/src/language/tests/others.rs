//! The languages whose definitions alone are told.

use super::check;
use patchwright_source::Language;

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
