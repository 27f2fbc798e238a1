//! The cases: title, file, question, and code with its marks.

pub(super) const CASES: &[(&str, &str, &str, &str)] = &[
    (
        "field, set and read",
        "a.c",
        "p->len",
        "
struct s { int len; };
void set(struct s *p, int n) {
  p->len = n; // @<
}
int get(struct s *q) {
  return q->len; // @>
}
",
    ),
    (
        "field through a parameter",
        "a.c",
        "p->len",
        "
struct s { int len; };
static void set(struct s *p, int n) {
  p->len = n; // @<
}
void run(struct s *p) {
  int size = 12; // @<
  set(p, size); // @<
}
",
    ),
    (
        "field through a result",
        "a.c",
        "ctx->size",
        "
struct c { int size; };
static int measure(int k) {
  return k * 2; // @<
}
void open(struct c *ctx) {
  ctx->size = measure(7); // @<
}
void use(struct c *ctx) {
  int n = ctx->size; // @>
  fill(n); // @>
}
",
    ),
    (
        "another field is not meant",
        "a.c",
        "p->len",
        "
struct s { int len; int cap; };
void set(struct s *p, int a, int b) {
  p->len = a; // @<
  p->cap = b;
}
int cap(struct s *p) {
  return p->cap;
}
",
    ),
    (
        "field used as index",
        "a.c",
        "s->pos",
        "
struct s { int pos; char buf[8]; };
void step(struct s *s) {
  s->pos++; // @<
}
char at(struct s *s) {
  return s->buf[s->pos]; // @>
}
",
    ),
    (
        "field checked and passed",
        "a.c",
        "h->count",
        "
struct h { unsigned count; };
void read_header(struct h *h, const unsigned char *in) {
  h->count = in[0] << 8 | in[1]; // @<
}
void process(struct h *h) {
  if (h->count > 10) // @>
    return;
  table(h->count); // @>
}
",
    ),
    (
        "nested field",
        "a.c",
        "p->inner.size",
        "
struct i { int size; };
struct s { struct i inner; };
void f(struct s *p, int n) {
  p->inner.size = n; // @<
}
int g(struct s *p) {
  struct i *q = &p->inner;
  return q->size; // @>
}
",
    ),
    (
        "designated initialiser",
        "a.c",
        "o.limit",
        "
struct o { int limit; int other; };
int f(int n) {
  struct o o = {
    .limit = n, // @<
    .other = 2
  };
  return o.limit; // @>
}
",
    ),
    (
        "struct field copied on",
        "a.c",
        "a->v",
        "
struct t { int v; int w; };
void load(struct t *a, int n) {
  a->v = n; // @<
}
void copy(struct t *a) {
  a->w = a->v; // @>
}
int out(struct t *a) {
  return a->w; // @>
}
",
    ),
    (
        "local, straight line",
        "a.c",
        "f: b",
        "
int f(int a) {
  int b = a + 1; // @<
  int c = b; // @>
  return c; // @>
}
",
    ),
    (
        "local, overwritten",
        "a.c",
        "f: c",
        "
int f(int a, int d) {
  int b = d;
  b = a; // @<
  int c = b; // @<
  return c; // @>
}
",
    ),
    (
        "local, two branches",
        "a.c",
        "f: r",
        "
int f(int a, int b) {
  int r;
  int x = 1; // @<
  if (a)
    x = b; // @<
  r = x; // @<
  return r; // @>
}
",
    ),
    (
        "local, overwritten before the branch",
        "a.c",
        "f: r",
        "
int f(int a, int b) {
  int x = a;
  x = 5; // @<
  if (b)
    x = b; // @<
  int r = x; // @<
  return r; // @>
}
",
    ),
    (
        "loop carries values",
        "a.c",
        "f: last",
        "
int f(const int *in, int n) {
  int cur = 0; // @<
  int last = 0; // @<
  for (int i = 0; i < n; i++) {
    last = cur; // @<
    cur = in[i]; // @<
  }
  return last; // @>
}
",
    ),
    (
        "compound assignment",
        "a.c",
        "f: sum",
        "
int f(int a, int b) {
  int sum = a; // @<
  sum += b; // @<
  return sum; // @>
}
",
    ),
    (
        "conditional expression",
        "a.c",
        "f: m",
        "
int f(int a, int b) {
  int lo = 1; // @<
  int hi = 9; // @<
  int m = a > b ? lo : hi; // @<
  return m; // @>
}
",
    ),
    (
        "comparison gives no value",
        "a.c",
        "f: ok",
        "
int f(int a) {
  int big = a;
  int ok = big > 3;
  return ok; // @>
}
",
    ),
    (
        "cast keeps the value",
        "a.c",
        "f: n",
        "
int f(long total) {
  long t = total; // @<
  unsigned short n = (unsigned short)t; // @<
  char *p = malloc(n); // @>
  return p != 0;
}
",
    ),
    (
        "out argument",
        "a.c",
        "f: len",
        "
static int read_length(const char *in, int *out) {
  *out = in[0]; // @<
  return 1;
}
int f(const char *in) {
  int len;
  if (!read_length(in, &len)) // @<
    return 0;
  return len; // @>
}
",
    ),
    (
        "out argument, two levels",
        "a.c",
        "f: v",
        "
static void inner(int *o, int x) {
  *o = x; // @<
}
static void outer(int *o) {
  inner(o, 4); // @<
}
int f(void) {
  int v;
  outer(&v); // @<
  return v; // @>
}
",
    ),
    (
        "argument only read",
        "a.c",
        "f: v",
        "
static int look(const int *o) {
  return *o; // @>
}
int f(void) {
  int v = 3; // @<
  look(&v); // @>
  return 0;
}
",
    ),
    (
        "memcpy",
        "a.c",
        "f: buf",
        "
void f(const char *src, int n) {
  char buf[16];
  const char *from = src; // @<
  memcpy(buf, from, n); // @<
  use(buf); // @>
}
",
    ),
    (
        "pointer to a local",
        "a.c",
        "f: x",
        "
int f(int n) {
  int x = 0; // @<
  int *p = &x; // @>
  *p = n; // @<
  return x; // @>
}
",
    ),
    (
        "returned through two functions",
        "a.c",
        "f: n",
        "
static int base(void) {
  return 40; // @<
}
static int next(void) {
  return base() + 2; // @<
}
int f(void) {
  int n = next(); // @<
  return n; // @>
}
",
    ),
    (
        "parameter from two callers",
        "a.c",
        "work: n",
        "
static int work(int n) {
  return n * 2; // @>
}
int one(int a) {
  return work(a); // @<>
}
int two(void) {
  int k = 8; // @<
  return work(k); // @<>
}
",
    ),
    (
        "only the asked parameter",
        "a.c",
        "work: b",
        "
static int work(int a, int b) {
  use(a);
  return b; // @>
}
void run(int x, int y) {
  int p = x;
  int q = y; // @<
  keep(work(p, q)); // @<>
}
",
    ),
    (
        "into a callee and on",
        "a.c",
        "f: n",
        "
static void sink(int size) {
  char *p = malloc(size); // @>
  free(p);
}
void f(int k) {
  int n = k; // @<
  sink(n); // @>
}
",
    ),
    (
        "global",
        "a.c",
        "limit",
        "
static int limit = 5; // @<
void set_limit(int n) {
  limit = n; // @<
}
int check(int n) {
  return clamp(n, limit); // @>
}
",
    ),
    (
        "global hidden by a local",
        "a.c",
        "limit",
        "
int limit;
void set_limit(int n) {
  limit = n; // @<
}
int other(int n) {
  int limit = n;
  return limit;
}
",
    ),
    (
        "array element",
        "a.c",
        "f: a",
        "
int f(int n, int i) {
  int a[4];
  a[i] = n; // @<
  return a[0]; // @>
}
",
    ),
    (
        "macro with a value",
        "a.c",
        "f: n",
        "
#define TWICE(x) ((x) * 2) /* @< */
int f(int k) {
  int j = k; // @<
  int n = TWICE(j); // @<
  return n; // @>
}
",
    ),
    (
        "macro that assigns",
        "a.c",
        "f: n",
        "
#define SET(a, b) do { (a) = (b); } while (0) /* @< */
int f(int k) {
  int n;
  int j = k; // @<
  SET(n, j); // @<
  return n; // @>
}
",
    ),
    (
        "macro as a constant",
        "a.c",
        "f: n",
        "
#define SIZE 64
int f(void) {
  int n = SIZE; // @<
  return n; // @>
}
",
    ),
    (
        "macro that reads a field",
        "a.c",
        "p->len",
        "
struct s { int len; };
#define LEN(p) ((p)->len) /* @> */
void set(struct s *p, int n) {
  p->len = n; // @<
}
int get(struct s *p) {
  return LEN(p); // @>
}
",
    ),
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
        "early return does not stop a value",
        "a.c",
        "f: n",
        "
int f(int a) {
  int n = a; // @<
  if (n < 0) { // @>
    n = 0; // @<
    return n; // @>
  }
  return n + 1; // @>
}
",
    ),
    (
        "switch",
        "a.c",
        "f: n",
        "
int f(int a, int b) {
  int n = 0; // @<
  switch (a) {
  case 1:
    n = b; // @<
    break;
  default:
    n = 2; // @<
  }
  return n; // @>
}
",
    ),
    (
        "two pointers to one object",
        "a.c",
        "f: n",
        "
struct s { int len; };
int f(struct s *p, int k) {
  struct s *q = p;
  q->len = k; // @<
  int n = p->len; // @<
  return n; // @>
}
",
    ),
    (
        "call through a pointer in a struct",
        "a.c",
        "f: n",
        "
struct ops { int (*get)(int); };
static int real_get(int k) {
  return k + 1; // @<
}
static const struct ops ops = { .get = real_get };
int f(int k) {
  int j = 2; // @<
  int n = ops.get(j); // @<
  return n; // @>
}
",
    ),
    (
        "recursion",
        "a.c",
        "f: n",
        "
int f(int n) {
  if (n == 0) // @>
    return n; // @>
  return f(n - 1); // @<>
}
int main(void) {
  return f(5); // @<>
}
",
    ),
    (
        "pointer that moves",
        "a.c",
        "f: c",
        "
int f(const char *in, int n) {
  const char *p = in; // @<
  p += 2; // @<
  char c = *p++; // @<
  return c; // @>
}
",
    ),
    (
        "list of objects",
        "a.c",
        "sum: total",
        "
struct n { int v; struct n *next; };
void push(struct n *l, int k) {
  l->v = k; // @<
}
int sum(struct n *l) {
  int total = 0; // @<
  while (l) {
    total += l->v; // @<
    l = l->next;
  }
  return total; // @>
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
    (
        "length read from input reaches copy",
        "a.c",
        "parse: len",
        "
struct in { const unsigned char *data; };
static unsigned get16(const unsigned char *p) {
  return p[0] << 8 | p[1]; // @<
}
int parse(struct in *in, char *dst) {
  unsigned len = get16(in->data); // @<
  if (len == 0) // @>
    return 0;
  memcpy(dst, in->data + 2, len); // @>
  return 1;
}
",
    ),
];
