//! Values in variables, arguments, results and macros of C.

use super::Case;

pub(super) const CASES: &[Case] = &[
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
