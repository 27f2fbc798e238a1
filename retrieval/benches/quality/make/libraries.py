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

def marked(marks, make):
    """The seeds of another list, each behind every one of some first bytes."""
    return lambda: [bytes([mark]) + seed for mark in marks for seed in make()]


def samples():
    waves = [bytes((i * step) & 255 for i in range(400)) for step in (1, 3, 7, 31)]
    return [bytes([0, channels, bits, level, 40, 8, mode]) + b"\0" + wave for wave, channels, bits, level, mode in zip(waves, (0, 1, 2, 1), (4, 12, 20, 12), (0, 3, 5, 8), (0, 1, 2, 3))]


def flac():
    def block(kind, body, last=False):
        return bytes([kind | (0x80 if last else 0)]) + struct.pack(">I", len(body))[1:] + body

    info = struct.pack(">HH", 16, 16) + bytes(6) + bytes([0x0A, 0xC4, 0x42, 0xF0, 0, 0, 0, 16]) + bytes(16)
    comment = struct.pack("<I", 4) + b"test" + struct.pack("<I", 3) + b"".join(struct.pack("<I", len(c)) + c for c in (b"A=b", b"TITLE=x", b"A=c"))
    track = struct.pack(">QB", 0, 1) + bytes(12) + bytes(14) + b"\1" + struct.pack(">QB", 0, 1) + bytes(3)
    lead = struct.pack(">QB", 588, 170) + bytes(12) + bytes(14) + b"\0"
    cue = b"1234567890123".ljust(128, b"\0") + struct.pack(">Q", 88200) + b"\x80" + bytes(258) + b"\2" + track + lead
    picture = struct.pack(">II", 3, 9) + b"image/png" + struct.pack(">I", 3) + b"abc" + struct.pack(">IIIII", 1, 1, 8, 0, 4) + b"data"
    seek = struct.pack(">QQH", 0, 0, 16) * 2 + struct.pack(">QQH", 2**64 - 1, 0, 0)
    frame = bytes([0xFF, 0xF8, 0x60, 0x08, 0, 15, 0]) + b"\0\1\2" * 20
    blocks = [(4, comment), (5, cue), (6, picture), (3, seek), (2, b"abcdmore"), (1, bytes(8)), (9, b"unknown")]
    out = [b"\1fLaC" + block(0, info) + block(kind, body, True) + frame for kind, body in blocks]
    return samples() + out + [b"\1fLaC" + block(0, info) + b"".join(block(*one) for one in blocks[:5]) + block(1, b"", True) + frame, b"\1ID3\4\0\0\0\0\0\x04abcdfLaC" + block(0, info, True) + frame]


def mp3():
    def frames(second, third, fourth, length):
        body = bytes((i * 37 + 11) & 0x7F for i in range(length - 4))
        return (bytes([0xFF, second, third, fourth]) + body) * 4

    plain = [frames(0xFB, 0x50, 0x00, 208), frames(0xFB, 0x50, 0x40, 208), frames(0xF3, 0x40, 0xC0, 104), frames(0xFD, 0x40, 0x00, 156), frames(0xFA, 0x50, 0x60, 208), frames(0xFF, 0x40, 0x00, 104)]
    tag = b"ID3\4\0\0\0\0\0\x0a" + bytes(10)
    xing = bytearray(frames(0xFB, 0x50, 0x00, 208))
    xing[36:60] = b"Xing\0\0\0\x0f\0\0\0\3\0\0\2\x70" + bytes(8)
    return plain + [tag + plain[0], bytes(xing), plain[0] + b"TAG" + bytes(125), b"APETAGEX" + bytes(24) + plain[1]]


def images(*forms):
    def make():
        import io
        from PIL import Image
        out = []
        for mode in ("L", "RGB", "RGBA", "P", "1", "LA"):
            image = Image.new("RGBA", (9, 7))
            image.putdata([(x * 28, y * 36, (x * y) % 256, 255 if x % 3 else 40) for y in range(7) for x in range(9)])
            image = image.convert("RGB").convert(mode) if mode in ("P", "1") else image.convert(mode)
            for form, options in forms:
                try:
                    buffer = io.BytesIO()
                    image.save(buffer, form, **options)
                    out.append(buffer.getvalue())
                except (OSError, KeyError, ValueError, TypeError):
                    pass
        return out

    return make


def pictures():
    import io
    from PIL import Image
    out = images(("PNG", {}), ("GIF", {}), ("BMP", {}), ("TGA", {}), ("TGA", dict(compression="tga_rle")), ("PPM", {}), ("JPEG", dict(quality=30)), ("JPEG", dict(progressive=True)), ("PNG", dict(transparency=0)))()
    frames = [Image.new("P", (8, 8), n) for n in range(3)]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:], duration=30, transparency=1, disposal=2)
    hdr = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X 9\n" + (b"\2\2\0\x09" + (b"\x89\x50") * 4) * 2
    psd = b"8BPS\0\1" + bytes(6) + struct.pack(">HIIHH", 3, 4, 5, 8, 3) + bytes(12) + b"\0\1" + struct.pack(">H", 2) * 12 + b"\xfc\x33" * 12
    pic = b"\x53\x80\xf6\x34" + bytes(84) + b"PICT" + struct.pack(">HHIHH", 4, 3, 0x3F800000, 3, 0) + b"\0\x08\2\xe0" + b"\x83abc" * 3
    return out + [buffer.getvalue(), hdr, psd, pic]


def codestreams():
    forms = [("JPEG2000", dict(irreversible=flag, num_resolutions=levels, codeblock_size=(4, 4), no_jp2=bare, progression=order, tile_size=tile, quality_layers=layers))
             for flag, levels, bare, order, tile, layers in ((False, 2, True, "LRCP", (0, 0), [0]), (True, 3, False, "RPCL", (0, 0), [20, 1]), (False, 1, False, "CPRL", (4, 4), [0]), (False, 2, True, "PCRL", (5, 3), [9, 2]), (False, 3, True, "RLCP", (0, 0), [0]))]
    return images(*forms)()


def zipped():
    import io, zipfile
    out = []
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", method) as archive:
            archive.comment = b"all"
            for name in ("a.txt", "b/c.txt", "b/"):
                entry = zipfile.ZipInfo(name)
                entry.comment, entry.extra, entry.compress_type = b"one", b"\1\0\4\0abcd", method
                archive.writestr(entry, b"" if name.endswith("/") else b"the quick brown fox " * 9)
        out.append(buffer.getvalue())
    return out + [bytes([mark]) + seed[1:] for mark in (1, 9) for seed in deflated()[:4]] + [b"\0" + seed[1:] for seed in deflated()[4:7]] + [b"\7" + b"abcabcabc" * 20]


def lz4_frames():
    import lz4.block, lz4.frame
    text = b"the quick brown fox jumps over the lazy dog " * 8 + bytes(range(90))
    frames = [lz4.frame.compress(text, content_checksum=check, block_linked=linked, block_checksum=check, store_size=size, compression_level=level)
              for check, linked, size, level in ((False, True, False, 0), (True, False, True, 0), (False, False, True, 9), (True, True, False, 12))]
    skippable = struct.pack("<II", 0x184D2A50, 5) + b"abcde" + frames[0]
    block = lz4.block.compress(text, store_size=False)
    return [b"\0" + bytes([n * 11]) + frame for n, frame in enumerate(frames + [skippable])] + [bytes([kind, room]) + block for kind in (1, 2) for room in (200, 20)] + [bytes([3 + 8 * n, n]) + text for n in range(0, 13, 3)]


def brotlied():
    import brotli
    texts = [b"the quick brown fox jumps over the lazy dog " * 6, bytes(range(256)), b"<html><body>time of life</body></html> information" * 2, b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaab" * 9]
    return [brotli.compress(text, quality=quality, lgwin=window) for text in texts for quality, window in ((0, 16), (5, 10), (11, 22))]


def brotli_both():
    return [b"\1\x09" + seed for seed in brotlied()] + [bytes([mark, 5]) + b"the quick brown fox, the quick brown fox jumps " * 4 for mark in (0, 2, 16, 18, 32)]


def databases():
    from pathlib import Path
    folder = Path(__file__).resolve().parents[4] / "target/tmp/quality/trees/maxminddb-2.6.3/tests/data"
    return [path.read_bytes() for path in sorted(folder.glob("*-data/**/*.mmdb")) if path.stat().st_size < 9000]


def xzed():
    import lzma
    text = b"the quick brown fox jumps over the lazy dog " * 9 + bytes(range(60))
    small = {"id": lzma.FILTER_LZMA2, "dict_size": 4096}
    filters = [[small], [{"id": lzma.FILTER_DELTA, "dist": 3}, small], [{"id": lzma.FILTER_X86}, small], [{"id": lzma.FILTER_ARM}, small], [{"id": lzma.FILTER_POWERPC}, small], [{"id": lzma.FILTER_IA64}, small]]
    whole = [lzma.compress(text, check=check, filters=chain) for chain in filters for check in (lzma.CHECK_NONE, lzma.CHECK_CRC32)]
    alone = lzma.compress(text, lzma.FORMAT_ALONE, filters=[{"id": lzma.FILTER_LZMA1, "dict_size": 4096}])
    raw = lzma.compress(text, lzma.FORMAT_RAW, filters=[small])
    return [b"\0" + one for one in whole] + [b"\2" + one for one in whole[:4]] + [b"\1" + alone, b"\3" + raw, b"\0" + whole[0] + whole[1], b"\2" + whole[0] + bytes(4) + whole[1], b"\0" + lzma.compress(text, check=lzma.CHECK_SHA256, filters=[small])]


WREN = texts('class A {\n construct new(x) { _x = x }\n x { _x }\n x=(v) { _x = v }\n +(o) { A.new(_x + o.x) }\n [i] { _x }\n static s() { "s" }\n toString { "%(_x) y" }\n}\nclass B is A {\n construct new() { super(3) }\n x { super.x + 1 }\n}\nvar b = B.new()\nb.x = 4\nSystem.print(b.x + (b + A.new(2)).x)\n',
             'var m = {"a": 1, 2: [3, 4]}\nm["b"] = m["a"] | 6\nSystem.print(m.keys.map {|k| k.toString + "!" }.join(","))\nm.remove("a")\nvar l = [1, 2, 3].where {|i| i > 1 }.toList\nl.insert(0, "x")\nl.removeAt(-1)\nl[0..1]\nl.add(null)\n',
             'var f = Fiber.new {|x|\n Fiber.yield(x * 2)\n Fiber.abort("e")\n}\nSystem.print(f.call(3))\nSystem.print(f.try())\nf.error\nf.isDone\nFn.new {|a, b| a - b }.call(5, 2)\nvar g = Fn.new { g }\ng.arity\n',
             'var s = "h\\u00e9llo \\x41 %(1 + 2) w"\ns.codePoints.toList\ns.bytes[1]\ns[1..3]\ns.indexOf("w")\ns.contains("l")\ns.replace("l", "L")\ns.split(" ")\ns.trim()\ns * 2\ns.iterate(null)\n',
             '1.5.floor + 0xff % 3 << 2 & ~1\n(1..5).reduce {|a, b| a + b }\ntrue ? 1 : 2\n!false && null == null || 3 is Num\nif (1 < 2) {\n System.print("y")\n} else return 3\n[1, 2, [3]].toString\nNum.fromString("12")\n-3.abs.sqrt.round\n',
             'foreign class X {}\n', 'import "random" for Random\n', 'import "meta" for Meta\nMeta.eval("var q = 1")\nMeta.compileExpression("1 + 2").call()\n', 'var r = 1..10\nr.min + r.max + r.step\nList.filled(3, 0).count\nMap.new().isEmpty\n"a".compareTo("b")\nObject.same(1, 1)\n{ "a": { "b": [] } }.values.toList\n/* c /* d */ */\n')
PAGES = texts("<!DOCTYPE html><html><head><title>a</title><meta http-equiv='Content-Type' content='text/html; charset=utf-8'><style>b{c:d}</style></head><body bgcolor=red><p>e<p>f<b><i>g</b>h</i><ul><li>i<li>j<ol><li>k</ol></ul></body></html>",
              "<table border=1 summary=x><caption>a</caption><tr><td>b<th scope=row>c<tr><td colspan=2><table><tr><td>d</table></table><form><select><option>e<optgroup label=f><option selected>g</select><input type=text><textarea>h</textarea><button>i</form>",
              "<center><font size=2 color='#ff0000'>a</font></center><a name=b id=b href='c d'>e</a><img src=f><hr><br/><pre> g\n h</pre><dl><dt>i<dd>j<dt>k</dl><script>var l='</m>';</script><!-- n --><?php o ?><% p %><![CDATA[q]]>",
              "<?xml version='1.0' encoding='utf-8'?><!DOCTYPE a [<!ENTITY b 'c'>]><a x='1' y=\"2\"><b xml:space='preserve'> d </b>&b;&amp;&#65;&eacute;&nbsp;<e/></a>", "<frameset cols='50%,*'><frame src=a><frame src=b><noframes><body>c</body></noframes></frameset>",
              "<html xmlns:o='urn:schemas-microsoft-com:office:office'><body><p class=MsoNormal style='a:b;a:c'><o:p></o:p><span lang=EN-US>d</span><![if !supportLists]>e<![endif]></p><h1>f<h2>g</h1><svg><path d='h'/></svg><ruby>i<rt>j</ruby><map name=k><area alt=l></map><object><param name=m><embed></object>")


RESP = texts("\x05+OK\r\n", "\x03-ERR x\r\n:12\r\n", "\x1f*3\r\n$3\r\nfoo\r\n$-1\r\n*2\r\n:1\r\n+a\r\n", "\x09%2\r\n+a\r\n:1\r\n+b\r\n,1.5\r\n", "\x07~2\r\n#t\r\n_\r\n", "\x02>2\r\n+p\r\n=7\r\ntxt:abc\r\n", "\x11(12345678901234567890\r\n|1\r\n+k\r\n+v\r\n", "\x08*-1\r\n*0\r\n$0\r\n\r\n",
             "%s SET %s\n 'a b' \"c\\x41\\n\" d", "% GET x%sy %%%s", "%s \"\\\"q\\\"\" 'r\\'s' t")


XPATH = texts("//a[@x='1' and position()<last()]/b | /r/*[2]\0<r><a x='1'><b>1</b><b/></a><a x='2'/><c>d</c></r>", "count(//b) + sum(//@x) * 2 div 3 mod 2 - -1\0<r><a x='1'/><b/><b x='4'>5</b></r>", "concat(substring('abcdef', 2, 3), translate(name(/*), 'r', 'R'), normalize-space(' a  b '))\0<?xml version='1.0'?><!DOCTYPE r [<!ELEMENT r ANY>]><r><!-- c --><![CDATA[d]]><?p q?>&lt;&#65;&#x42;</r>",
              "//node()/ancestor-or-self::*[following-sibling::b][preceding::a]/descendant::text()\0<r><a>t</a><b>u<c>v</c></b><b/></r>", "string-length(string(//a)) > 3 or not(contains(., 'x')) or starts-with(/r, 'y')\0<r xmlns:n='u'><n:a>abcd</n:a>\r\n</r>", "(//a)[1]/@*[local-name()='x']/..\0<r><a x=\"&quot;\" y='&apos;'/></r>", "id('a') | $v\0<a/>", "substring-before('a-b', '-') = substring-after(., 'z') != round(1.5) >= floor(-.5)\0\xff\xfe<\0a\0/\0>\0", "namespace-uri(//n:a) | lang('en') | self::node()/parent::*/child::comment()\0<r xml:lang='en'><!--k--></r>")
POINTERS = texts('/a/0/b~1c\0{"a":[{"b/c":1.5e3,"d":"\\u00e9\\ud83d\\ude00"}],"e":[true,false,null],"f":-0}', '#/a%20b\0{"a b":{"c":[[],[1,2]]},"g":12345678901234567890}', '/x/-\0{"x":[1],"schema":{"type":"object","properties":{"x":{"type":"array","items":{"type":"integer","minimum":0},"minItems":1,"uniqueItems":true},"y":{"type":"string","pattern":"^a+$","maxLength":3}},"required":["x"],"additionalProperties":true,"patternProperties":{"^s":{}}}}',
                 '/new\0{"a":1,"schema":{"oneOf":[{"required":["a"]},{"not":{}}],"anyOf":[{"type":"null"},{"enum":[1,"b",{"c":2}]}],"allOf":[{"$ref":"#/definitions/d"}],"definitions":{"d":{"maxProperties":5,"dependencies":{"a":["schema"]}}}}}', '\0[1,"x",/*c*/2.5,] // d\n', '/0\0[NaN,Infinity,-1e-7,0.1234567890123456789]')
MUSTACHE = texts("{{a}} {{{a}}} {{&a}} {{#b}}<{{.}}>{{/b}}{{^e}}n{{/e}}", "{{=<% %>=}}<% a %><%={{ }}=%>{{! c }}{{c.d}}", "{{#c}}{{d}}{{/c}}\n{{#f}}\n y\n{{/f}}\n{{>p}}\n", "{{#h}} x {{a}} {{/h}}{{#b}}{{-index}}{{-first}}{{-last}}{{/b}}{{this}}{{g}}", "{{#f}}{{#b}}{{^g}}{{.}}{{/g}}{{/b}}{{/f}}{{ a }}{{c.x.y}}{{{ c.d }}}")

def http2():
    def frame(kind, flags, stream, body):
        return struct.pack(">I", len(body))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + body

    answer, ask = b"\x88\x0f\x0d\x013\x40\x01a\x01b", b"\x82\x84\x86\x41\x01a\x7a\x01x"
    settings = frame(4, 0, 0, struct.pack(">HIHI", 3, 100, 4, 65535)) + frame(4, 1, 0, b"")
    client = [frame(1, 4, 1, answer) + frame(0, 1, 1, b"abc"), frame(1, 0x2C, 1, b"\1" + struct.pack(">IB", 0, 15) + answer + b"\0") + frame(8, 0, 0, b"\0\0\1\0"), frame(5, 4, 1, struct.pack(">I", 2) + ask) + frame(1, 4, 2, answer),
              frame(1, 0, 1, answer[:1]) + frame(9, 4, 1, answer[1:]) + frame(3, 0, 1, b"\0\0\0\x08"), frame(6, 0, 0, bytes(8)) + frame(7, 0, 0, struct.pack(">II", 1, 0) + b"bye"), frame(10, 0, 0, b"\0\1ah3=x") + frame(12, 0, 0, b"\0\1a\0\2bc")]
    server = [frame(1, 5, 1, ask) + frame(2, 0, 1, struct.pack(">IB", 3, 7)), frame(1, 4, 1, ask) + frame(0, 9, 1, b"\2ab\0\0") + frame(16, 0, 0, struct.pack(">I", 1) + b"u=3, i"), frame(1, 5, 3, ask + b"\x40\x08priority\x03u=1") + frame(8, 0, 3, b"\0\0\0\5") + frame(4, 0, 0, struct.pack(">HIHI", 1, 0, 5, 20000))]
    return [b"\0\x3b" + settings + one for one in client] + [b"\1\x3b" + settings + one for one in server] + [b"\1\7" + settings + one for one in server]


def pngs():
    import zlib

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    profile = struct.pack(">I", 132) + bytes(8) + b"mntrRGB XYZ " + bytes(12) + b"acsp" + bytes(28) + b"\0\0\xf6\xd6\0\1\0\0\0\0\xd3\x2d" + bytes(48) + struct.pack(">I", 0)
    extras = [(b"gAMA", struct.pack(">I", 45455)), (b"cHRM", struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)), (b"sRGB", b"\0"), (b"iCCP", b"n\0\0" + zlib.compress(profile)), (b"tEXt", b"Key\0value"), (b"zTXt", b"Key\0\0" + zlib.compress(b"v" * 90)),
              (b"iTXt", b"Key\0\1\0en\0k\0" + zlib.compress(b"w" * 50)), (b"pHYs", struct.pack(">IIB", 1, 1, 1)), (b"oFFs", struct.pack(">IIB", 1, 1, 1)), (b"tIME", b"\7\xe0\1\1\1\1\1"), (b"sCAL", b"\1" + b"1.5\x002.5"), (b"pCAL", b"p\0" + struct.pack(">IIBB", 0, 9, 0, 2) + b"u\x001\x002"), (b"eXIf", b"MM\0*abcd"), (b"sPLT", b"s\0\x08" + bytes(12)), (b"vpAg", b"xyz")]
    out = []
    for n, (kind, depth, channels) in enumerate([(0, 1, 1), (0, 16, 1), (2, 8, 3), (2, 16, 3), (3, 4, 1), (3, 8, 1), (4, 8, 2), (6, 8, 4), (6, 16, 4)]):
        row = bytes((i * 5) & 255 if kind != 3 else 0x10 for i in range((9 * channels * depth + 7) // 8))
        data = b"".join(bytes([y % 5]) + row for y in range(30))
        palette = [(b"PLTE", bytes(range(48))), (b"tRNS", b"\1\2\3"), (b"hIST", bytes(32)), (b"bKGD", b"\1")] if kind == 3 else [(b"tRNS", bytes(2 * channels)), (b"bKGD", bytes(2 * channels)), (b"sBIT", bytes([depth] * channels))] if kind < 4 else [(b"sBIT", bytes([depth] * channels))]
        head = chunk(b"IHDR", struct.pack(">IIBBBBB", 9, 7, depth, kind, 0, 0, n & 1))
        body = b"".join(chunk(*one) for one in extras[n * 2 : n * 2 + 2] + palette)
        out += [bytes([mark]) + b"\x89PNG\r\n\x1a\n" + head + body + chunk(b"IDAT", zlib.compress(data)) + chunk(*extras[n + 4]) + chunk(b"IEND", b"") for mark in (0, 1 << (n % 8), 0x1D)]
    return out


DECIMALS = texts("123.456E+7 -0.00089", "1E999 9E-999", "NaN123 Infinity", "-sNaN77 -Inf", "99999999999999999999999999999999999999 3", "1010101 110011", "0E-50 -0", "2.5 0.5", "123456789012345678901234567890 12", "1e1000000000 5", "7 -300")


def chunks():
    body = bytes(i % 7 for i in range(200))

    def packed(flags, size, split=64, kind=4):
        return b"\1" + bytes([2, 1, flags, kind]) + struct.pack("<III", len(body), split, size + 16)

    stored = packed(2, len(body)) + body
    streams = b"".join(struct.pack("<I", 64) + body[i : i + 64] for i in range(0, 192, 64)) + struct.pack("<I", 8) + body[:8]
    blocks = struct.pack("<IIII", 32, 100, 168, 236) + streams
    return [stored, packed(0x10, len(blocks)) + blocks, packed(0x11, len(blocks)) + blocks] + [bytes([mark, kind, 1 + kind]) + body * 2 for mark in (2, 18, 34) for kind in (3, 7)]


def lzma_all():
    import lzma
    own = lzma.compress(b"the quick brown fox " * 9, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 4096}])
    mine = [{0: b"\0\0", 1: b"\1\0", 2: b"\0\x08", 3: b"\1\1"}[seed[0]] + seed[1:] for seed in xzed()]
    foot = struct.unpack("<I", own[-8:-4])[0]
    index = own[-12 - 4 * (foot + 1) : -12]
    return mine + [bytes([2, mark]) + b"\5" + bytes([mark & 3]) + b"the quick brown fox, the quick brown fox jumps \xe8\0\0\0\0" * 4 for mark in range(0, 40, 7)] + [b"\3\1" + index, b"\3\x09" + index, b"\4\4" + own[12:]]


CODE = lambda: [bytes([mark]) + bytes.fromhex(code) for mark in (0, 1, 2, 0x16) for code in ("5589e583ec108b4508f7d8c9c3", "f0480fc10c2566480f6ec0f30f10440a10c5f877c5fc580501000000", "64a1300000006626678b4002eb05e8000000000f84100000007402ff1500102030", "f3a4f2ae660f3a0fc1080f0fc1bfd9c0dc4510dfe0d80d01020304", "9a785634121000ea00100010c8100001cd80ccf466900f0b0f01c10f01d00f01d1",
        "c4e37d18c101c4e2f1f2c2c5e9d4c2c4e37149c2308fe97892c0c4e27192048d", "674889440bfc418b84c810203040458d1c2448b88877665544332211", "0fc7080fae380fae4510f30fb8c10f38f0070f20c00f22d80f21f8")]
IT8 = texts('\2IT8.7/2\nORIGINATOR "a"\nDESCRIPTOR "b"\nKEYWORD "SAMPLE_ID"\nNUMBER_OF_FIELDS 4\nBEGIN_DATA_FORMAT\nSAMPLE_ID RGB_R RGB_G RGB_B\nEND_DATA_FORMAT\nNUMBER_OF_SETS 2\nBEGIN_DATA\nA1 1 2.5 0x1F\nA2 1e-3 0b101 -4\nEND_DATA\n',
            '\2CGATS.17\n# c\nTEST "x,y;z,w"\nLABEL "L F T"\nBEGIN_DATA_FORMAT\nSAMPLE_NAME CMYK_C\nEND_DATA_FORMAT\nBEGIN_DATA\nq 1\nEND_DATA\nCAL\nNUMBER_OF_FIELDS 1\nBEGIN_DATA_FORMAT\nXYZ_X\nEND_DATA_FORMAT\nNUMBER_OF_SETS 1\nBEGIN_DATA\n1\nEND_DATA\n')


def profiles():
    def tag(kind, body):
        return kind + bytes(4) + body

    def fixed(*numbers):
        return struct.pack(f">{len(numbers)}i", *(round(n * 65536) for n in numbers))

    def profile(kind, space, link, tags, version=0x04200000):
        at, table, body = 132 + 12 * len(tags), b"", b""
        for name, one in tags:
            one += bytes(-len(one) % 4)
            table += name + struct.pack(">II", at + len(body), len(one))
            body += one
        head = struct.pack(">I4sI4s4s4s", at + len(body), b"lcms", version, kind, space, link) + struct.pack(">6H", 2020, 1, 1, 0, 0, 0) + b"acspAPPL" + bytes(24) + fixed(0.9642, 1, 0.8249) + bytes(48)
        return head + struct.pack(">I", len(tags)) + table + body

    white = (b"wtpt", tag(b"XYZ ", fixed(0.9642, 1, 0.8249)))
    text = [(b"desc", tag(b"mluc", struct.pack(">II", 1, 12) + b"enUS" + struct.pack(">II", 4, 28) + "ab".encode("utf-16-be"))), (b"cprt", tag(b"text", b"free\0"))]
    old = [(b"desc", tag(b"desc", struct.pack(">I", 3) + b"ab\0" + bytes(78)))]
    colours = [(name, tag(b"XYZ ", fixed(*xyz))) for name, xyz in ((b"rXYZ", (0.436, 0.222, 0.014)), (b"gXYZ", (0.385, 0.717, 0.097)), (b"bXYZ", (0.143, 0.061, 0.714)))]
    gamma, shape = tag(b"curv", struct.pack(">IH", 1, 0x0233)), tag(b"para", struct.pack(">HH", 3, 0) + fixed(2.4, 0.95, 0.05, 0.08, 0.04))
    ramp = tag(b"curv", struct.pack(">I5H", 5, 0, 9000, 20000, 40000, 65535))
    matrix = fixed(1, 0, 0, 0, 1, 0, 0, 0, 1)
    grid = bytes((i * 31) & 255 for i in range(8 * 3))
    lut8 = tag(b"mft1", bytes([3, 3, 2, 0]) + matrix + bytes(range(256)) * 3 + grid + bytes(range(256)) * 3)
    lut16 = tag(b"mft2", bytes([3, 3, 2, 0]) + matrix + struct.pack(">HH", 2, 2) + struct.pack(">2H", 0, 65535) * 3 + grid * 2 + struct.pack(">2H", 0, 65535) * 3)
    curves = shape + shape + shape
    clut = bytes([2, 2, 2] + [0] * 13) + bytes([1, 0, 0, 0]) + grid
    both = lambda kind: tag(kind, bytes([3, 3, 0, 0]) + struct.pack(">5I", 32, 32 + len(curves), 32 + len(curves) + 48, 32 + 2 * len(curves) + 48, 32 + 2 * len(curves) + 48 + len(clut)) + curves + matrix + bytes(12) + curves + clut + curves)
    named = tag(b"ncl2", struct.pack(">III", 0, 1, 3) + b"pre".ljust(32, b"\0") + b"suf".ljust(32, b"\0") + b"red".ljust(32, b"\0") + bytes(12))
    extra = [(b"chad", tag(b"sf32", matrix)), (b"meas", tag(b"meas", bytes(28))), (b"view", tag(b"view", bytes(28))), (b"tech", tag(b"sig ", b"CRT ")), (b"chrm", tag(b"chrm", struct.pack(">HH", 3, 0) + fixed(0.6, 0.3, 0.3, 0.6, 0.1, 0.1))), (b"targ", tag(b"text", b"t\0")), (b"calt", tag(b"dtim", bytes(12)))]
    all = [profile(b"mntr", b"RGB ", b"XYZ ", text + [white] + colours + [(name, curve) for name in (b"rTRC", b"gTRC", b"bTRC")] + extra) for curve in (gamma, shape, ramp)]
    all += [profile(b"mntr", b"GRAY", b"XYZ ", old + [white, (b"kTRC", ramp)], 0x02100000), profile(b"prtr", b"RGB ", b"Lab ", text + [white, (b"A2B0", lut8), (b"B2A0", lut8)]), profile(b"prtr", b"RGB ", b"Lab ", old + [white, (b"A2B0", lut16), (b"B2A0", lut16)], 0x02100000),
            profile(b"scnr", b"RGB ", b"Lab ", text + [white, (b"A2B0", both(b"mAB ")), (b"B2A0", both(b"mBA "))]), profile(b"nmcl", b"RGB ", b"Lab ", text + [white, (b"ncl2", named)])]
    return [bytes([mark]) + one for mark in (0, 1, 3, 0x24) for one in all] + IT8()


HOCON = texts('a : 1, b { c = ["x", ${a}, 2.5] }\nb.d += 5\nd = ${?b.c} [3]\n// k\n', '{"a":"10 ms","b":{"c":[1,2]},"d":null}', 'include "x"\na = ${b} {c : 3}\nb : { c : """t"u""" } # e\nd = 5 k${a.c}B\n', 'a.b=1\na.c=x\\u0041\n! d\nd : 2', 'a = [ {x : 1} {y : 2} ]\ninclude required(file("q"))\n"b.c".d = true false\nb.c = ${z.y}ms\nd = ${d} [1]\n', 'a = {q : ${b.c}}, a = {r : 2}, b.c = 512MiB\nd = ["1", 2, [3],]\n')


def jpegs():
    import io
    from PIL import Image
    pictures = images(("JPEG", dict(quality=30)), ("JPEG", dict(progressive=True, quality=60)), ("JPEG", dict(optimize=True, subsampling=0, restart_marker_blocks=1, comment=b"c")))()
    buffer = io.BytesIO()
    Image.new("CMYK", (9, 7), (1, 90, 200, 9)).save(buffer, "JPEG", icc_profile=b"x" * 40, dpi=(9, 9))
    return [bytes([mark]) + one for mark in (0, 1, 0x93, 7, 0x4E) for one in pictures[:9:2] + [buffer.getvalue()]]


def zstds():
    words = b"the quick brown fox jumps over the lazy dog " * 5 + bytes(range(99))
    block = lambda kind, body, last=1, size=None: struct.pack("<I", last | kind << 1 | (len(body) if size is None else size) << 3)[:3] + body
    head = b"\x28\xb5\x2f\xfd"
    raw = head + b"\x20" + bytes([120]) + block(0, words[:120])
    run = head + b"\x00\x08" + block(1, b"a", 0, 50) + block(0, b"bcd")
    literals = bytes([5 << 3]) + b"abcde"
    packed = head + b"\x20\x09" + block(2, literals + b"\1\0\3\3\1")
    plain = head + b"\x20\x05" + block(2, literals + b"\0")
    same = head + b"\x20\x05" + block(2, bytes([1 | 5 << 3]) + b"z" + b"\0")
    tree = bytes([2 | 0 << 2 | (9 & 15) << 4, 9 >> 4 | (5 & 3) << 6, 5 >> 2]) + b"\x81\x10\xaa\xaa\x01"
    weighed = head + b"\x20\x09" + block(2, tree + b"\0")
    skip = struct.pack("<II", 0x184D2A50, 3) + b"abc"
    return [bytes([kind, how]) + one for kind, how in ((0, 9), (1, 0x4F), (1, 2), (2, 0), (2, 30)) for one in (raw, run, packed, plain, same, weighed, skip + raw)] + [bytes([3, how]) + words for how in (0, 1, 2, 3, 4, 5, 6, 7, 8, 0x95, 0x24, 0x58, 0xB7)]


def webms():
    def element(name, body):
        return bytes.fromhex(name) + bytes([0x40 | len(body) >> 8, len(body) & 255]) + body

    def number(name, value):
        return element(name, bytes([value]) if value < 256 else struct.pack(">I", value))

    head = element("1A45DFA3", number("4286", 1) + number("42F7", 1) + number("42F2", 4) + number("42F3", 8) + element("4282", b"webm") + number("4287", 2) + number("4285", 2))
    info = element("1549A966", number("2AD7B1", 1000000) + element("4489", struct.pack(">d", 100)) + element("4D80", b"m") + element("5741", b"w") + element("7BA9", b"t"))
    colour = element("55B0", number("55B1", 1) + number("55B9", 2) + element("55D0", element("55D1", struct.pack(">f", 0.5)) + element("55D2", struct.pack(">f", 0.3))))
    view = element("7670", number("7671", 0) + element("7672", b"ab") + element("7673", struct.pack(">f", 1)))
    encoding = element("6D80", element("6240", number("5031", 0) + number("5032", 1) + number("5033", 1) + element("5035", number("47E1", 5) + element("47E2", b"key") + element("47E7", number("47E8", 1)))) + element("6240", number("5031", 1) + number("5033", 0) + element("5034", number("4254", 3) + element("4255", b"h"))))
    video = element("AE", number("D7", 1) + number("73C5", 1) + number("83", 1) + element("86", b"V_VP8") + element("536E", b"n") + element("22B59C", b"eng") + element("63A2", b"priv") + element("E0", number("B0", 16) + number("BA", 9) + element("2383E3", struct.pack(">f", 30)) + colour + view) + encoding)
    audio = element("AE", number("D7", 2) + number("73C5", 2) + number("83", 2) + element("86", b"A_OPUS") + number("56AA", 1) + element("E1", element("B5", struct.pack(">d", 48000)) + number("9F", 2) + number("6264", 16)))
    tracks = element("1654AE6B", video + audio)
    block = lambda track, time, flags, body: bytes([0x80 | track]) + struct.pack(">hB", time, flags) + body
    simple = [element("A3", block(1, 0, 0x80, b"abcd")), element("A3", block(2, 1, 2, b"\1\2abcd" )), element("A3", block(1, 2, 4, b"\1abcd")), element("A3", block(2, 3, 6, b"\2\x81\xc0abcdef"))]
    group = element("A0", element("A1", block(1, 5, 0, b"xyz")) + number("9B", 2) + element("FB", b"\xff") + number("75A2", 3))
    cluster = element("1F43B675", number("E7", 0) + b"".join(simple) + group)
    second = element("1F43B675", number("E7", 20) + simple[0] + number("A7", 1) + number("AB", 9))
    cues = element("1C53BB6B", element("BB", number("B3", 0) + element("B7", number("F7", 1) + number("F1", 90) + number("5378", 1))) + element("BB", number("B3", 20) + element("B7", number("F7", 1) + number("F1", 99))))
    chapters = element("1043A770", element("45B9", element("B6", number("73C4", 1) + element("5654", b"id") + number("91", 0) + number("92", 9) + element("80", element("85", b"title") + element("437C", b"eng") + element("437E", b"us")))))
    tags = element("1254C367", element("7373", element("67C8", element("45A3", b"NAME") + element("4487", b"value"))))
    seek = element("114D9B74", element("4DBB", element("53AB", bytes.fromhex("1C53BB6B")) + number("53AC", 60)) + element("EC", b"ab"))
    return [head + element("18538067", body) for body in (info + tracks + cluster + second + cues, seek + info + tracks + chapters + tags + cluster, info + tracks + cues + cluster + element("EC", b""), info + element("1654AE6B", audio) + second)]


SAMS = texts("@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:a\tLN:100\tM5:0123\n@SQ\tSN:b\tLN:50\n@RG\tID:a\tSM:s\tPL:x\n@PG\tID:p\tPN:q\tPP:r\n@CO\tc\nr1\t99\ta\t7\t30\t3S4M1I2D\t=\t17\t39\tACGTTTAA\t********\tNM:i:1\tXX:Z:ab\tRG:Z:a\nr2\t147\tb\t9\t0\t*\t*\t0\t0\t*\t*\tBB:B:c,1,-2\tFF:f:1.5\tHH:H:1AE3\tAA:A:x\n",
             "##fileformat=VCFv4.3\n##contig=<ID=1,length=100>\n##FILTER=<ID=q,Description=\"x\">\n##INFO=<ID=DP,Number=1,Type=Integer,Description=\"d\">\n##INFO=<ID=AF,Number=A,Type=Float,Description=\"f\">\n##INFO=<ID=FL,Number=0,Type=Flag,Description=\"g\">\n##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">\n##FORMAT=<ID=AD,Number=R,Type=Integer,Description=\"a\">\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts1\ts2\n1\t7\trs1\tA\tC,<DEL>\t29.5\tPASS\tDP=14;AF=0.5,.;FL\tGT:AD\t0|1:3,4,5\t./.:1\n1\t9\t.\tGTC\tG\t.\tq\t.\tGT\t1/2\t0\n2\t10\tx\tN\t.\t3\t.\tDP=5;NEW=ab;END=20\tGT:AD\t0:.\t.\n",
             ">s1 d\nACGT\nAC\n>s2\nGG\n", "@r1/1 c BC:Z:a\nACGT\n+\nIIII\n@r2\nAC\n+r2\n!!\n")


def bams():
    import gzip
    bam = b"BAM\1" + struct.pack("<i", 26) + b"@HD\tVN:1.6\n@SQ\tSN:a\tLN:9\n" + struct.pack("<ii", 1, 2) + b"a\0" + struct.pack("<i", 9)
    body = struct.pack("<iiBBHHHiiii", 0, 3, 2, 9, 4680, 1, 0, 4, -1, -1, 0) + b"r\0" + struct.pack("<I", 4 << 4) + b"\x12\x48" + b"\x1e" * 4 + b"NMC\1XXZab\0BBBc\2\0\0\0\1\2"
    return [bytes([mark]) + (gzip.compress(bam + struct.pack("<i", len(body)) + body)) for mark in (0, 1, 0x42)] + [bytes([mark]) + seed for mark in (0, 1, 2, 0x70) for seed in SAMS()]


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
    # The second harvest (sweep.py, groups.toml).
    "brotli": dict(language="c", tree="brotli-0.3.2", sources=["brotli/*/*.c"], harness="brotli.c", seeds=brotli_both, flags=["-I$T/brotli/include"]),
    "flac": dict(language="c", tree="flac-0.3.4", sources=["flac/src/libFLAC/*.c"], without=r"_intrin_|^ogg|^metadata_iterators", harness="flac.c", seeds=flac,
                 flags=["-I$T/flac/include", "-I$T/flac/src/libFLAC/include", "-DFLAC__NO_ASM", "-DFLAC__HAS_OGG=0", "-DENABLE_64_BIT_WORDS=1", '-DPACKAGE_VERSION="1.4"', "-DHAVE_LROUND", "-DHAVE_STDINT_H", "-DHAVE_INTTYPES_H", "-DHAVE_STDBOOL_H", "-DFLAC__NO_DLL", "-DNDEBUG"]),
    "minimp3": dict(language="c", tree="minimp3-0.6.0", sources=["minimp3/minimp3*.h"], harness="minimp3.c", seeds=mp3, flags=["-I$T/minimp3"], length=1500),
    "openjpeg": dict(language="c", tree="openjpeg-1.0.12", sources=["vendor/src/lib/openjp2/*.c"], without=r"_manager\.c$|^t1_generate|^bench_|^test_|^opj_malloc_x|^t1_ht_generate", harness="openjpeg.c", seeds=codestreams, flags=["-I$T/vendor/src/lib/openjp2", "-I$T/config", "-DOPJ_STATIC", "-DMUTEX_stub", "-DOPJ_HAVE_POSIX_MEMALIGN"], length=1500),
    "pcre2": dict(language="c", tree="pcre2-0.2.10", sources=["upstream/src/pcre2_*.c"], without=r"_jit_(match|misc)|_ucptables|_fuzz|_dftables|pcre2_printint|pcre2test|pcre2_ucptables|pcre2_jit_test", harness="pcre2.c", seeds=marked((0, 1, 2, 4), REGEX),
                  flags=["-DPCRE2_CODE_UNIT_WIDTH=8", "-DPCRE2_STATIC", "-DHAVE_CONFIG_H", "-DSUPPORT_UNICODE=1", "-DSUPPORT_PCRE2_8=1", "-I$T/upstream/include", "-I$T/upstream/src"]),
    "pugixml": dict(language="c++", tree="pugixml-0.7.0", sources=["src/third_party/pugixml/src/pugixml.cpp"], harness="pugixml.cc", seeds=marked((0, 1, 6), XPATH), flags=["-I$T/src/third_party/pugixml/src"]),
    "rapidjson": dict(language="c++", tree="rapidjson-1.20", sources=["rapidjson/include/rapidjson/**/*.h"], harness="rapidjson.cc", seeds=marked((0, 1), POINTERS), flags=["-I$T/rapidjson/include", "-DNDEBUG"]),
    "tre": dict(language="c", tree="tre-0.5.5", sources=["tre/lib/*.c"], harness="tre.c", seeds=marked((1, 3, 0x40), REGEX), flags=["-DHAVE_CONFIG_H", "-I$H/tre/lib", "-I$H/tre/local_includes", "-I$T/tre/local_includes", "-I$T/tre/lib"]),
    "yajl": dict(language="c", tree="yajl-0.3.5", sources=["yajl/src/*.c"], harness="yajl.c", seeds=marked((7, 2), marked((9,), JSON)), flags=["-I$H/yajl", "-I$T/yajl/src/api", "-I$T/yajl/src"]),
    "hiredis": dict(language="c", tree="hiredis-3.2.1", sources=["vendor/hiredis/*.c"], without=r"^(test|ssl|sockcompat|dict)\.c$", harness="hiredis.c", seeds=RESP, flags=["-I$T/vendor/hiredis"]),
    "lz4": dict(language="c", tree="lz4-1.10.0", sources=["liblz4/lib/lz4*.c", "liblz4/lib/xxhash.c"], without=r"^lz4file", harness="lz4.c", seeds=lz4_frames, flags=["-I$T/liblz4/lib"]),
    "maxminddb": dict(language="c", tree="maxminddb-2.6.3", sources=["extension/libmaxminddb/src/*.c"], harness="maxminddb.c", seeds=databases, flags=["-I$T/extension/libmaxminddb/include", "-I$T/extension", "-I$T/extension/libmaxminddb/src", '-DPACKAGE_VERSION="1.12"', "-DMMDB_LITTLE_ENDIAN=1", "-DMMDB_UINT128_USING_MODE=0", "-DMMDB_UINT128_IS_BYTE_ARRAY=1", "-D_GNU_SOURCE"], length=9000),
    "miniz": dict(language="c", included=True, tree="miniz-0.1.12", sources=["miniz.c"], harness="miniz_zip.c", seeds=zipped, flags=["-I$T"]),
    "stb-image": dict(language="c", tree="stb-image-0.3.0", sources=["src/stb_image.c"], harness="stb_image.c", seeds=pictures, flags=["-DSTB_IMAGE_IMPLEMENTATION", "-DSTBI_NO_SIMD"], link=["-lm"], length=900),
    "tidy": dict(language="c", tree="tidy-0.8.5", sources=["vendor/tidy.5.8.0/src/*.c"], harness="tidy.c", seeds=marked((1, 6, 0x18, 0x60), PAGES), flags=["-I$T/vendor/tidy.5.8.0/include", "-I$T/vendor/tidy.5.8.0/src", '-DLIBTIDY_VERSION="5.8.0"', '-DRELEASE_DATE="2021"', '-DTIDY_CONFIG_FILE=""']),
    "wren": dict(language="c", tree="wren-0.2.5", sources=["wren/src/vm/*.c", "wren/src/optional/*.c"], harness="wren.c", seeds=WREN, flags=[f"-I$T/wren/src/{one}" for one in ("include", "vm", "optional")], cc=["-std=gnu99"], link=["-lm"]),
    "univocity": dict(language="java", tree="univocity-2.9.1", sources=["src/main/java/**/*.java"], harness="Univocity.java", seeds=marked((0, 0x17, 0x6B), CSV)),
    "brotli-dec": dict(language="java", tree="brotli-dec-0.1.2", sources=["src/main/java/**/*.java"], harness="BrotliDec.java", seeds=brotlied),
    "jtidy": dict(language="java", tree="jtidy-r938", sources=["src/main/java/org/w3c/tidy/*.java"], harness="Jtidy.java", seeds=marked((1, 6, 0x18), PAGES)),
    "jmustache": dict(language="java", tree="jmustache-1.15", sources=["src/main/java/com/samskivert/mustache/*.java"], harness="Jmustache.java", seeds=MUSTACHE),
    "minimal-json": dict(language="java", tree="minimal-json-0.9.5", sources=["src/main/java/**/*.java"], harness="MinimalJson.java", seeds=JSON),
    "xz": dict(language="java", tree="xz-1.9", sources=["src/main/java/org/**/*.java"], harness="Xz.java", seeds=xzed),
    "nghttp2": dict(language="c", tree="nghttp2-1.68.1", sources=["nghttp2/lib/*.c"], harness="nghttp2.c", seeds=http2, flags=["-I$H/nghttp2", "-I$T/nghttp2/lib/includes", "-I$T/nghttp2/lib", "-DNGHTTP2_STATICLIB", "-DHAVE_NETINET_IN_H", "-DHAVE_TIME_H", "-DHAVE_ARPA_INET_H", "-DHAVE_CLOCK_GETTIME", "-DHAVE_DECL_CLOCK_MONOTONIC=1"]),
    "libpng": dict(language="c", tree="libpng-1.1.11", sources=["vendor/png*.c"], without=r"^pngtest", harness="libpng.c", seeds=pngs, flags=["-I$H/libpng", "-I$T/vendor", "-DPNG_INTEL_SSE_OPT=0"], link=["-lz", "-lm"], length=900),
    "decnumber": dict(language="c", tree="decnumber-0.1.6", sources=["decnumber/dec*.c"], without=r"^(decBasic|decCommon|decSingle|decDouble|decQuad)\.c", harness="decnumber.c", seeds=marked((9, 33, 0x92), DECIMALS), flags=["-I$T/decnumber", "-DDECLITEND=1"]),
    "blosc": dict(language="c", tree="blosc-0.3.8", sources=["c-blosc/blosc/*.c"], without=r"avx2|sse2", harness="blosc.c", seeds=chunks, flags=["-I$T/c-blosc/blosc"], link=["-lpthread"]),
    "liblzma": dict(language="c", tree="liblzma-0.1.20", sources=[f"xz-5.2/src/liblzma/{one}/*.c" for one in ("common", "lzma", "lz", "check", "delta", "rangecoder", "simple")] + ["xz-5.2/src/common/tuklib_*.c"], without=r"tablegen|_small\.c$|tuklib_(exit|mbstr|open|progname)", harness="liblzma.c", seeds=lzma_all,
                    flags=["-DHAVE_CONFIG_H", "-I$T"] + [f"-I$T/xz-5.2/src/liblzma/{one}" for one in ("api", "lzma", "lz", "check", "simple", "delta", "common", "rangecoder")] + ["-I$T/xz-5.2/src/common"], link=["-lpthread"], length=900),
    "rxp": dict(language="c", tree="rxp-3.0.1", sources=["src/rxp/*.c"], without=r"^(rxp|catalog|catalog_dtd|catutil|entityopener|resolve|infoset-print)\.c$", harness="rxp.c", seeds=marked((0xFF, 0x0F), marked((0x1E, 0x33), XML)), flags=["-DCHAR_SIZE=16", "-I$T/src/rxp"]),
    "distorm3": dict(language="c", tree="distorm3-3.5.2", sources=["src/*.c"], harness="distorm3.c", seeds=CODE, flags=["-DSUPPORT_64BIT_OFFSET", "-I$T/include", "-I$T/src"]),
    "lcms2": dict(language="c", tree="lcms2-4.0.7", sources=["vendor/src/*.c"], harness="lcms2.c", seeds=profiles, flags=["-I$T/vendor/include", "-I$T/vendor/src"], link=["-lm", "-lpthread"], length=2500),
    "typesafe-config": dict(language="java", tree="typesafe-config-1.4.3", sources=["src/main/java/**/*.java"], harness="TypesafeConfig.java", seeds=HOCON),
    "mozjpeg": dict(language="c", tree="mozjpeg-2.2.3", sources=[f"vendor/{one}.c" for one in "jcapimin jcapistd jccoefct jccolor jcdctmgr jcext jchuff jcinit jcmainct jcmarker jcmaster jcomapi jcparam jcphuff jcprepct jcsample jctrans jdapimin jdapistd jdatadst jdatasrc jdcoefct jdcolor jddctmgr jdhuff jdinput jdmainct jdmarker jdmaster jdmerge jdphuff jdpostct jdsample jdtrans jerror jfdctflt jfdctfst jfdctint jidctflt jidctfst jidctint jidctred jmemmgr jmemnobs jquant1 jquant2 jutils jcicc jdicc jcarith jdarith jaricom jsimd_none".split()],
                    harness="mozjpeg.c", seeds=jpegs, flags=["-I$H/mozjpeg", "-I$T/vendor"], link=["-lm"], length=1500),
    "zstd": dict(language="c", tree="zstd-1.5.7", sources=[f"zstd/lib/{one}/*.c" for one in ("common", "compress", "decompress")], harness="zstd.c", seeds=zstds, flags=["-DZSTD_DISABLE_ASM", "-DZSTD_LEGACY_SUPPORT=0", "-I$T/zstd/lib", "-I$T/zstd/lib/common"]),
    "webm": dict(language="c++", tree="webm-2.2.1", sources=["libwebm/mkvparser/mkvparser.cc"], harness="webm.cc", seeds=webms, flags=["-I$T/libwebm"], cxx=["-std=gnu++11"], length=1500),
    "htslib": dict(language="c", tree="htslib-2.2.1", sources=["htslib/*.c", "htslib/cram/*.c", "htslib/htscodecs/htscodecs/*.c"], without=r"^(annot-tsv|bgzip|htsfile|tabix|plugin|hfile_(gcs|libcurl|s3|s3_write))\.c$|_(avx2|avx512|neon|sse4)\.c$", harness="htslib.c", seeds=bams,
                   flags=["-I$H/htslib", "-I$T/htslib", "-I$T/htslib/htscodecs", "-D_GNU_SOURCE"], link=["-lz", "-lm", "-lpthread"], length=1500),
}
