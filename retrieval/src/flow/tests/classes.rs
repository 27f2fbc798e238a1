//! Values in Java and C++.

use super::Case;

pub(super) const CASES: &[Case] = &[
    (
        "Java field",
        "A.java",
        "A.count",
        "
class A {
  private int count = 1; // @<
  void set(int count) {
    this.count = count; // @<
  }
  int get() {
    return count; // @>
  }
}
",
    ),
    (
        "Java field set by a caller",
        "A.java",
        "A.size",
        "
class A {
  int size;
  A(int n) {
    size = n; // @<
  }
  static A make() {
    int k = 4; // @<
    return new A(k); // @<
  }
}
",
    ),
    (
        "Java getter",
        "A.java",
        "B.run: n",
        "
class A {
  int size;
  int getSize() {
    return size; // @<
  }
  void grow(int by) {
    size = by; // @<
  }
}
class B {
  int run(A a) {
    int n = a.getSize(); // @<
    return n; // @>
  }
}
",
    ),
    (
        "Java local",
        "A.java",
        "A.f: b",
        "
class A {
  int f(String s) {
    int a = s.length(); // @<
    int b = a - 1; // @<
    char c = s.charAt(b); // @>
    return c; // @>
  }
}
",
    ),
    (
        "Java index and check",
        "A.java",
        "A.f: i",
        "
class A {
  int f(int[] data, int start) {
    int i = start; // @<
    while (i < 10) { // @>
      i++; // @<
    }
    return data[i]; // @>
  }
}
",
    ),
    (
        "Java loop over a collection",
        "A.java",
        "A.f: item",
        "
class A {
  void f(java.util.List<String> all) {
    java.util.List<String> items = all; // @<
    for (String item : items) { // @<
      use(item); // @>
    }
  }
}
",
    ),
    (
        "C++ method and member",
        "a.cpp",
        "A::size_",
        "
class A {
  int size_;
public:
  A(int n) : size_(n) {} // @<
  void grow(int by) {
    size_ = by; // @<
  }
  int size() const {
    return size_; // @>
  }
};
",
    ),
    (
        "C++ reference parameter",
        "a.cpp",
        "f: v",
        "
static void fill(int &out, int k) {
  out = k; // @<
}
int f() {
  int v;
  int j = 3; // @<
  fill(v, j); // @<
  return v; // @>
}
",
    ),
    (
        "C++ out of class",
        "a.cpp",
        "f: n",
        "
struct B { int get(); int x; };
int B::get() {
  return x; // @<
}
void set(B &b, int k) {
  b.x = k; // @<
}
int f(B &b) {
  int n = b.get(); // @<
  return n; // @>
}
",
    ),
    (
        "Java builder",
        "A.java",
        "A.name",
        "
class A {
  private String name;
  A withName(String value) {
    this.name = value; // @<
    return this;
  }
  static A make(String s) {
    String t = s.trim(); // @<
    return new A().withName(t); // @<
  }
  String show() {
    return name; // @>
  }
}
",
    ),
];
