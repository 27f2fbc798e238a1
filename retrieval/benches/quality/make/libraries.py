"""The libraries that checks are removed from: how each is built and what it is fed at first."""
import struct

def texts(*all):
    return lambda: [text.encode() for text in all]


def dns():
    def name(text):
        return b"".join(bytes([len(part)]) + part.encode() for part in text.split(".")) + b"\0"

    def reply(kind, data, count=2):
        head = struct.pack(">HHHHHH", 1, 0x8180, 1, count, 0, 0) + name("www.example.com") + struct.pack(">HH", kind, 1)
        record = b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 60, len(data)) + data
        return head + record * count

    soa = name("ns.a") + name("me.a") + struct.pack(">IIIII", 1, 2, 3, 4, 5)
    naptr = struct.pack(">HH", 1, 2) + b"\1u\3E2U\5!a!b!" + name("x.y")
    kinds = [(1, b"\1\2\3\4"), (28, bytes(16)), (15, struct.pack(">H", 5) + name("mx.a")), (33, struct.pack(">HHH", 1, 2, 3) + name("s.a")),
             (16, b"\5hello\3abc"), (6, soa), (35, naptr), (12, name("host.a")), (2, name("ns.b"))]
    return [bytes([i]) + reply(kind, data) for i, (kind, data) in enumerate(kinds)] + [bytes([7]) + reply(5, name("alias.a"), 1)]


def wasm():
    def section(number, body):
        return bytes([number, len(body)]) + body

    def code(*bodies):
        return section(10, bytes([len(bodies)]) + b"".join(bytes([len(b)]) + b for b in bodies))

    head = b"\0asm\1\0\0\0"
    types = section(1, b"\2\x60\1\x7f\1\x7f\x60\0\0")
    export = section(7, b"\1\1f\0\0")
    add = code(b"\0\x20\0\x41\1\x6a\x0b")
    blocks = code(b"\1\2\x7f\x02\x7f\x20\0\x0d\0\x41\7\x0b\x0b".replace(b"\x0d\0\x41\7", b"\x04\x7f\x41\2\x05\x41\3\x0b"))
    loop = code(b"\0\x03\x40\x20\0\x0d\0\x0b\x20\0\x0b")
    table = section(4, b"\1\x70\0\2") + section(5, b"\1\0\1") + section(6, b"\1\x7f\1\x41\5\x0b")
    element = section(9, b"\1\0\x41\0\x0b\1\0")
    data = section(11, b"\1\0\x41\0\x0b\3abc")
    call = code(b"\0\x20\0\x41\0\x11\0\0\x0b")
    memory = code(b"\0\x20\0\x28\2\4\x20\0\x36\2\0\x23\0\x0b")
    branch = code(b"\0\x02\x40\x20\0\x0e\1\0\0\x0b\x41\1\x0b")
    function = section(3, b"\1\0")
    imported = section(2, b"\1\3env\1g\0\1")
    return [head + types + function + export + body for body in (add, blocks, loop, branch)] + [
        head + types + function + table + export + element + call + data,
        head + types + function + table + export + memory,
        head + types + imported + function + section(7, b"\1\1f\0\1") + section(8, b"\0") + add,
    ]


def deflated():
    import gzip, zlib
    text = b"the quick brown fox jumps over the lazy dog " * 20 + bytes(range(256))
    out = [b"\0" + zlib.compress(text), b"\0" + zlib.compress(text, 1), b"\0" + zlib.compress(text, 0), b"\1" + gzip.compress(text)]
    for window in (-15, -9):
        c = zlib.compressobj(9, zlib.DEFLATED, window)
        out.append(b"\3" + c.compress(text) + c.flush())
    c = zlib.compressobj(9, zlib.DEFLATED, 9, 9, zlib.Z_FIXED)
    out.append(b"\5" + c.compress(text) + c.flush())
    head = b"\x1f\x8b\x08\x1c\0\0\0\0\0\3" + b"\4\0abcd" + b"name\0" + b"comment\0"
    c = zlib.compressobj(9, zlib.DEFLATED, -15)
    out.append(b"\1" + head + c.compress(text) + c.flush() + struct.pack("<II", zlib.crc32(text), len(text)))
    return out


MARKDOWN = texts("# a\n\n* b\n  * c\n\n> d\n\n1. e\n\n```c\nf\n```\n", "| a | b |\n| --- | :-: |\n| `c|d` | **e** |\n\n[x]: /y 'z'\n\n[x] ![i](j \"k\") <http://l.m>\n",
                 "a[^1] ~~b~~ www.c.de f@g.hi\n\n[^1]: n\n    more\n\n<div>\nx\n</div>\n", "- [ ] a\n- [x] b\n\n***x** y*_z_\n\na\\\nb  \nc &amp; &#35; `d`\n===\n")
SASS = texts("$a: 1px !default;\n@mixin m($x, $y...) { b: $x + $a; @content; }\n.c { @include m(2px, 3) { d: e; } &:hover > f { g: rgba(#fff, .5); } }\n",
             "@function f($n) { @if $n < 2 { @return 1; } @else { @return $n * f($n - 1); } }\na { b: f(5); c: map-get((x: 1, y: 2), x); d: \"#{1 + 2}\"; }\n",
             "%p { a: b; }\n.q { @extend %p; c { @extend .q; } }\n@media screen and (min-width: 1px) { .q { e: url(f.png); } }\n@each $k, $v in (a: 1, b: 2) { .#{$k} { w: $v; } }\n",
             "@for $i from 1 through 3 { .x-#{$i} { w: percentage($i / 3); } }\n@while false {}\na { b: selector-append('.a', '.b'); c: nth(1 2 3, 2); d: str-slice('abc', 2); }\n@supports (a: b) { c { d: e !important } }\n")
JSONNET = texts("local f(x, y=2) = x + y; { a: f(1), b:: [i * 2 for i in [1, 2, 3] if i > 1], c: self.a, ['d' + 'e']: $.a, assert true : 'x' }",
                "std.join(',', ['a', std.toString({ b: 1 } + { b+: 2, c: super.b })]) + |||\n  text\n|||", "local a = import 'x'; a { b: error 'c' }",
                "std.format('%d %s', [1, 'x']) + std.substr('abc', 1, 2) + std.char(65) + @'raw' + std.md5('a')", "[std.makeArray(3, function(i) i), std.filter(function(x) x != null, [1, null]), -1 ^ ~2 << 3, !false, 'a' in { a: 1 }]",
                "std.manifestJsonEx({ a: [1, 2.5e3, 'x\\u0041\\n'] }, ' ') + std.parseJson('{\"a\": [1]}').a[0]")
HUNSPELL = texts("SET UTF-8\nTRY aeiou\nMAXNGRAMSUGS 4\nREP 1\nREP f ph\nMAP 1\nMAP aä\nSFX A Y 2\nSFX A 0 s [^s]\nSFX A y ies y\nPFX B Y 1\nPFX B 0 un .\n%%\n4\nwork/AB\nphone/A\nhappy/B\nbaby/A\n%%\nworks\nunhappy\nfone\nbabies\nwrok\n",
                 "COMPOUNDFLAG C\nCOMPOUNDMIN 2\nCHECKCOMPOUNDDUP\nCOMPOUNDRULE 1\nCOMPOUNDRULE XY*\nBREAK 1\nBREAK -\nPHONE 2\nPHONE AH A\nPHONE K C\nKEY qwerty|asdf\nICONV 1\nICONV a b\n%%\n3\nfoo/C\nbar/C\nbaz/XY\n%%\nfoobar\nfoofoo\nfoo-bar\nbazz\nFOO\n",
                 "FLAG num\nAF 1\nAF 1,2\nAM 1\nAM st:a\nCOMPLEXPREFIXES\nCIRCUMFIX 9\nFULLSTRIP\nSFX 1 Y 1\nSFX 1 0 ed/2 .\nSFX 2 Y 1\nSFX 2 0 ly .\nNOSUGGEST 5\nFORBIDDENWORD 6\nOCONV 1\nOCONV x y\n%%\n3\nwalk/1 st:walk\nsee ph:sea\nbad/5,6\n%%\nwalkedly\nbad\nsea\nwalkd\n")
XML = texts("<?xml version='1.0' encoding='UTF-8'?><!DOCTYPE a [<!ENTITY b 'c'><!ENTITY % p '<!ENTITY q \"r\">'>%p;<!ATTLIST a x CDATA 'y' z ID #IMPLIED><!ELEMENT a (b|c)*>]><a d='&b;'>&b;&#65;&q;<![CDATA[e]]><!-- f --><?g h?></a>",
            "<a:b xmlns:a='u' xmlns='v' a:c='d' e='f'><g/><a:h i='j'>k</a:h></a:b>", "<?xml version='1.0' encoding='ISO-8859-1' standalone='yes'?><r>\xe9<s t=\"u\"/></r>",
            "<!DOCTYPE a SYSTEM 'x' [<!NOTATION n PUBLIC 'p'><!ENTITY e SYSTEM 'f' NDATA n><!ATTLIST a b (c|d) 'c' e NMTOKENS #REQUIRED>]><a b='d' e='f g'/>")
REGEX = texts("(a|b)*c{2,5}?\0aabccc", "(?<n>x+)\\k<n>(?i:Y)[^a-z\\d&&[b]]\0xxxxy9", "^(?=a)(?!b)(?<=c)\\w+\\b$\0abc", "(?:\\p{Alpha}|\\x{41}|\\u0042)+?\\G\\R\\X\0ABc", "(?<a>\\((?:[^()]|\\g<a>)*\\))\0((x)y)", "(?~abc)(?(1)d|e)|(f)\\1\0fff",
              "[[:alpha:]-\\]]{,3}+\\Qx\\E\0abc", "(?m)a.*?b(?#c)\\K(?>d+)(*FAIL)?\0a\nbdd")
YAML = texts("a: &x [1, 2.5, ~, true]\nb: *x\nc:\n  - d: |\n      text\n    e: >-\n      folded\n  - ? f\n    : g\n", "%YAML 1.1\n%TAG ! tag:a,2000:\n---\n!!map {a: 'b''c', \"d\\u0041\\n\": !!int 0x1F}\n...\n---\n- !!set {x, y}\n- !!omap [a: 1]\n- !!binary aGVsbG8=\n",
             "<<: &m {a: 1}\nb: {<<: *m, c: 2001-12-14t21:59:43.10-05:00}\nd: 0b101\ne: 1_000\nf: 190:20:30\n", "- [a, [b, {c: d}]]\n- 'x'\n- \"\\x41\\L\"\n- # comment\n- |+2\n    k\n")
CSV = texts('a,b,c\n1,"x ""y"" z",3\n\n#c\n4,\\,5,6\n', "h1\th2\r\n\\N\tb\r\n", '"a\nb",c\n"d" ,e\nf,"g"h\n')
JSON = texts('{"a":[1,2],"b":{"x":[1.5,-2e3]},"c":{"d":"e\\u0041\\n"},"e":9007199254740993,"f":"NEW"}', "[null,true,{'k':\"v\",n:0x1}] // c\n", '{"a":null,"b":{},"c":null,"d":1,"e":"5"}', ")]}'\n{\"a\":[[[]]]}", "{a=1;b:[,]} /* x */ # y\n")
HTML = texts("<html><head><title>a</title><base href=x></head><body><table><tr><td>b<form><select><option>c</select></table><p><b><i>d</b></i><a href='e'>f<a>g", "<!doctype html><script>x</script><style>y</style><textarea>z</textarea><svg><desc>q</svg><frameset><frame></frameset>",
             "div > p.a#b:nth-child(2n+1):not(.c) ~ [d^=e], :has(> f):contains(g)", "<ul><li>a<li>b<dl><dt>c<dd>d</dl></ul><button><h1><h2></h1><ruby><rb>x<rt>y</ruby>&amp;&#x41;&notin;<![CDATA[x]]><!-- y --><?z?>")
SQL = texts("select a.b as c, count(*) d from e.f g left join h on g.i = h.j where k in (1, 2) and l like 'm%' group by 1 order by n desc limit 5;", "create or replace function f(x int) returns int as $$ begin return case when x > 1 then x else 2 end; end $$ language sql; -- c\n",
            "insert into a (b, c) values (1, 'x''y'), (2, null); update t set a = 1 where b = @v /* z */", "with q as (select 1 union all select * from r) select array[1]::int[], x->>'y', extract(day from z), cast(a as numeric(1,2)) over (partition by b) from q;", "declare @a int; if x begin end; for i in 1..2 loop end loop; grant select on a to b")
JINJA = texts("{% for a in [1, 2] if a > 1 recursive %}{{ loop.index }}{{ a|upper|default('x', true) }}{% else %}y{% endfor %}", "{% macro m(a, b=2, *c) %}{{ caller() if caller }}{% endmacro %}{% call m(1) %}z{% endcall %}{{ m(3, **{}) }}", "{% set x = namespace(a=1) %}{% set x.a = x.a + 1 %}{% if x.a is odd and not false %}{{ 'a' ~ x.a // 2 }}{% elif 1 in [1] %}b{% endif %}",
              "{% block b scoped %}{{ super() }}{% endblock %}{% filter title %}q{% endfilter %}{# c #}{% raw %}{{ r }}{% endraw %}", "{{ {'a': 1, 'b': [1, 2, 3][0:2]}|tojson }}{{ range(3)|map('string')|join(',') }}{% trans n=2 %}{{ n }} x{% pluralize %}y{% endtrans %}{% do [].append(1) %}")
RST = texts("Title\n=====\n\n* a\n\n  1. b\n\n:field: c\n\n.. note:: d\n   :class: e\n\n.. [1] f\n.. _g: http://h\n\ni [1]_ `g`_ |s| ``l``\n\n.. |s| replace:: t\n", "+---+---+\n| a | b |\n+===+===+\n| c     |\n+---+---+\n\n=== ===\nx   y\n=== ===\n1   2\n=== ===\n\nterm : cls\n    def\n\n-o, --opt=X  text\n\n>>> doctest\n",
            ".. image:: a.png\n   :scale: 50\n\n.. table:: T\n\n   == ==\n   a  b\n   == ==\n\n.. role:: r(emphasis)\n\n:r:`x` :math:`y` `z <http://q>`__\n\n| line\n|   block\n\n.. contents::\n.. sectnum::\n\nA\n-\n\nB\n~\n", ".. csv-table:: c\n   :header: a, b\n\n   1, \"2\"\n\n.. list-table::\n\n   * - x\n     - y\n\n.. figure:: f\n\n   caption\n\n.. footer:: z\n\n----\n\n[#n]_ [*]_ [CIT]_\n\n.. [#n] n\n.. [*] s\n.. [CIT] c\n")
C = texts("typedef struct s { int a : 3; union { float b; char c[4]; }; } t; enum e { X = 1, Y }; static const t *f(int n, ...) { for (int i = 0; i < n; i++) { switch (i) { case X: goto l; default: break; } } l: return (t *)0; }", "int a[] = { [1] = 2, 3 }, *b = &a[0], (*g)(int, char **); extern unsigned long long h(void); void k(x, y) int x; char y; { do { x = y ? sizeof(int) : -x; } while (!x && y); }",
          "_Static_assert(1, \"m\"); _Atomic(int) q; #pragma once\nstruct p { struct p *n; } v = { .n = &v }; int w = 'c' + \"s\"[0] + 0x1f + 1.5e3; inline int z(int a[static 3]) { return a[1]++, *a--; }".replace("#pragma once\n", ""))

PYTHON = texts("@a\ndef f(x, *y, z=1, **w) -> int:\n    global g\n    return [i for i in x if i] + {**w}\n\nclass C(B, m=1):\n    pass\n", "async def f():\n    await x\n    async with a as b, c: yield\n    try:\n        raise E from e\n    except (A, B) as e:\n        nonlocal x\n    finally: del x[1:2, ...]\n", "f'{a!r:>{b}} {c=}' 'x\\u0041' b'\\xff' r'\\'\nx: int = lambda *a, k: (yield)\nwhile 1:\n\tbreak\nelse:\n\tcontinue\nif (n := 1): ...\n", "from . import (a as b, c)\nimport d.e\nassert a, b\nx = y = *z, 1 if 2 else 3\nprint(*a, **b)\nwith a: pass\nfor x, in y: pass\n")


def certificates():
    import subprocess, tempfile
    from pathlib import Path
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], cwd=at, check=True, capture_output=True)
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "k.pem")
        names = ["-addext", "subjectAltName=DNS:a.b,DNS:c", "-addext", "keyUsage=digitalSignature", "-addext", "extendedKeyUsage=serverAuth", "-addext", "certificatePolicies=1.2.3.4"]
        openssl("req", "-x509", "-key", "k.pem", "-subj", "/CN=a/O=b", "-days", "2", "-outform", "DER", "-out", "c.der", *names)
        openssl("req", "-new", "-key", "k.pem", "-subj", "/CN=a", "-outform", "DER", "-out", "r.der")
        openssl("ec", "-in", "k.pem", "-outform", "DER", "-out", "k.der")
        openssl("pkcs8", "-topk8", "-nocrypt", "-in", "k.pem", "-outform", "DER", "-out", "k8.der")
        openssl("x509", "-inform", "DER", "-in", "c.der", "-out", "c.pem")
        (at / "db").write_text("R\t300101000000Z\t200101000000Z,keyCompromise\t01\tunknown\t/CN=x\n")
        (at / "n").write_text("01\n")
        (at / "o.cnf").write_text("[ca]\ndefault_ca=d\n[d]\ndatabase=db\ncrlnumber=n\ndefault_md=sha256\ndefault_crl_days=2\n")
        openssl("ca", "-config", "o.cnf", "-gencrl", "-keyfile", "k.pem", "-cert", "c.pem", "-out", "l.pem")
        openssl("crl", "-in", "l.pem", "-outform", "DER", "-out", "l.der")
        return [(at / name).read_bytes() for name in ("c.der", "r.der", "k.der", "k8.der", "l.der", "k.pem", "c.pem")]


TOML = texts('a = 1\nb = "x\\u0041"\n[c.d]\ne = [1, 2.5, true]\nf = 1979-05-27T07:32:00Z # g\n', '[[h]]\ni = {j = 1, k.l = "m"}\n[[h]]\nn = \'\'\'o\np\'\'\'\n', 'q = """r\\\n  s"""\nt = 0x1F\nu = [ [1], ["v"], ]\n"w x".y = inf\n', '# c\n\n[z]\na.b = 07:32:00\n[z.q]\n\n[[z.w]]\n[z.w.e]\nr = -1_000\n')

LIBRARIES = {
    "cares": dict(language="c", tree="cares-1.13", sources=["c-ares/*.c"], without=r"^(adig|ahost|acountry|ares_getopt|windows_port)\.c$", harness="cares.c", seeds=dns,
                  flags=["-DHAVE_CONFIG_H", "-DCARES_STATICLIB", "-D_GNU_SOURCE", "-I$E/cares-naptr", "-I$T/c-ares"]),
    "wasm3": dict(language="c", tree="wasm3-0.4.9", sources=["m3/*.c"], harness="wasm3.c", seeds=wasm, flags=["-I$T/m3"]),
    "cmark": dict(language="c", tree="cmark-0.29.2", sources=["third_party/cmark/src/*.c", "third_party/cmark/extensions/*.c"], without=r"^main\.c$", harness="cmark.c", seeds=MARKDOWN,
                  flags=["-DCMARK_GFM_STATIC_DEFINE", "-DCMARK_GFM_EXTENSIONS_STATIC_DEFINE", "-I$T/generated/unix", "-I$T/third_party/cmark/src", "-I$T/third_party/cmark/extensions"]),
    "onig": dict(language="c", tree="onig-6.9.8", sources=["oniguruma/src/*.c"], without=r"mktable|_data\.c|^unicode_(egcb|wb|property|fold_data|unfold)|^(big5|cp1251|euc|gb18030|iso|koi8|sjis|utf16|utf32).*\.c$|regposi|regposerr", harness="onig.c", seeds=REGEX,
                 flags=["-DHAVE_CONFIG_H", "-I$H/onig", "-I$T/oniguruma/src"]),
    "expat": dict(language="c", tree="expat-2.1", sources=["expat/lib/xml*.c"], without=r"_(impl|ns)\.c$", harness="expat.c", seeds=XML, flags=["-DHAVE_MEMMOVE", "-DXML_NS", "-DXML_DTD", "-DXML_CONTEXT_BYTES=1024", "-DBYTEORDER=1234", "-I$T/expat/lib"]),
    "zlib": dict(language="c", tree="zlib-1.2.11", sources=["src/zlib/*.c"], without=r"^gz", harness="zlib.c", seeds=deflated, flags=["-I$T/src/zlib"]),
    "hunspell": dict(language="c++", tree="hunspell-1.7.0", sources=["vendor/src/hunspell/*.cxx"], harness="hunspell.cc", seeds=HUNSPELL,
                     flags=["-std=c++14", "-DBUILDING_LIBHUNSPELL", "-DHUNSPELL_STATIC", "-I$T/vendor/src/hunspell"]),
    "jsonnet": dict(language="c++", tree="jsonnet-0.20", sources=["core/*.cpp", "third_party/md5/*.cpp"], without=r"_test\.cpp$", harness="jsonnet.cc", seeds=JSONNET,
                    flags=["-I$T/include", "-I$T/third_party/md5", "-I$T/third_party/json", "-I$T/third_party/rapidyaml", "-I$T/core"], cxx=["-std=c++17"]),
    "libsass": dict(language="c++", tree="libsass-3.5.4", sources=["libsass/src/*.cpp", "libsass/src/memory/*.cpp", "libsass/src/*.c"], harness="libsass.cc", seeds=SASS,
                    flags=['-DLIBSASS_VERSION="3.5"', "-I$T/libsass/src", "-I$T/libsass/include"], cxx=["-std=c++11"]),
    "libyaml": dict(language="c", tree="libyaml-0.2.7", sources=["[a-z]*.c"], harness="libyaml.c", seeds=YAML, flags=["-DHAVE_CONFIG_H", "-I$T"]),
    "snakeyaml": dict(language="java", tree="snakeyaml-1.30", sources=["src/main/java/**/*.java"], harness="Yaml.java", seeds=YAML),
    "csv": dict(language="java", tree="commons-csv-1.9", sources=["src/main/java/**/*.java"], harness="Csv.java", seeds=CSV),
    "gson": dict(language="java", tree="gson-2.8.8", sources=["src/main/java/**/*.java"], harness="Gson.java", seeds=JSON),
    "jsoup": dict(language="java", tree="jsoup-1.14.1", sources=["src/main/java/**/*.java"], harness="Jsoup.java", seeds=HTML),
    "sqlparse": dict(language="python", tree="sqlparse-0.4.3", sources=["sqlparse/**/*.py"], harness="run_sqlparse.py", seeds=SQL),
    "markdown": dict(language="python", tree="markdown-3.3.7", sources=["markdown/**/*.py"], harness="run_markdown.py", seeds=MARKDOWN),
    "jinja2": dict(language="python", tree="jinja2-3.1.2", sources=["jinja2/*.py"], harness="run_jinja.py", seeds=JINJA),
    "tomlkit": dict(language="python", tree="tomlkit-0.11.6", sources=["tomlkit/*.py"], harness="run_tomlkit.py", seeds=TOML),
    "mistune": dict(language="python", tree="mistune-2.0.4", sources=["mistune/**/*.py"], harness="run_mistune.py", seeds=MARKDOWN),
    "docutils": dict(language="python", tree="docutils-0.19", sources=["docutils/**/*.py"], without=r"^(latex2mathml|mathml|tex2|punctuation)", harness="run_docutils.py", seeds=RST),
    "pycparser": dict(language="python", tree="pycparser-2.21", sources=["pycparser/c_*.py", "pycparser/plyparser.py"], harness="run_pycparser.py", seeds=C),
    "hoedown": dict(language="c", tree="misaka-2.1.1", sources=["misaka/hoedown/*.c"], harness="hoedown.c", seeds=MARKDOWN, flags=["-I$T/misaka/hoedown"]),
    "lre": dict(language="c", tree="quickjs-1.19.2", sources=["upstream-quickjs/libregexp.c", "upstream-quickjs/libunicode.c", "upstream-quickjs/cutils.c"], harness="lre.c", seeds=REGEX, flags=["-D_GNU_SOURCE", "-I$T/upstream-quickjs"]),
    "gumbo": dict(language="c", tree="html5-parser-0.4.10", sources=["gumbo/*.c"], harness="gumbo.c", seeds=HTML, flags=["-I$T/gumbo"]),
    "mbedtls": dict(language="c", tree="mbedtls-2.28.0", sources=["vendor/library/*.c"], without=r"^(psa_|net_|memory_buffer)", harness="mbedtls.c", seeds=certificates, flags=["-I$T/vendor/include", "-I$T/vendor/library"]),
    "jackson": dict(language="java", tree="jackson-core-2.13.2", sources=["src/main/java/**/*.java"], without=r"^module-info", harness="Jackson.java", seeds=JSON),
    "commonmark": dict(language="java", tree="commonmark-0.18.1", sources=["src/main/java/**/*.java"], without=r"^module-info", harness="Commonmark.java", seeds=MARKDOWN),
    "re2j": dict(language="java", tree="re2j-1.6", sources=["src/main/java/com/google/re2j/*.java"], harness="Re2.java", seeds=REGEX),
    "html5lib": dict(language="python", tree="html5lib-1.1", sources=["html5lib/**/*.py"], harness="run_html5lib.py", seeds=HTML),
    "mistletoe": dict(language="python", tree="mistletoe-0.9.0", sources=["mistletoe/*.py"], harness="run_mistletoe.py", seeds=MARKDOWN),
    "parso": dict(language="python", tree="parso-0.8.3", sources=["parso/**/*.py"], harness="run_parso.py", seeds=PYTHON),
}
