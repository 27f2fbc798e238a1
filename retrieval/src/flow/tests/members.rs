//! Values in fields and globals of C.

use super::Case;

pub(super) const CASES: &[Case] = &[
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
];
