//! Java.

use super::{calls, check, facts, uses};
use patchwright_source::Language;

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
    assert_eq!(
        calls(&found),
        ["f>String@6", "f>[=B]go@5", "f>f@7", "f>use@8"]
    );
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
