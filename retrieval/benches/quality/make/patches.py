#!/usr/bin/env python3
"""patches.py MIRROR SUITE OUT [MOST]: requests from the patches of Debian's source packages.

MIRROR is the address of a Debian archive, SUITE one of its suites, as in `deb MIRROR SUITE main`. Of packages with a
security update those patches are taken that repair something in one or two files and up to four functions. The words
of such a patch are a request, the functions that it changes are the truth. OUT gets `requests.toml` and `trees`, for
`cargo bench -p patchwright-retrieval --bench quality -- --ours --trees OUT --requests OUT/requests.toml deb-`.
Needs curl, tar, patch and ctags (Universal Ctags). Patches are foreign: only their words, their hunks and the files of
their own tree are used, and nothing of them is run.
"""

import collections
import json
import lzma
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.request

SOURCES = (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".java", ".py")
ASIDE = re.compile(r"(^|/)(tests?|testing|docs?|examples?|fuzz|debian)/|_test\.|test_|Test\.java")
REPAIRS = re.compile(r"cve|fix|overflow|leak|crash|check|prevent|avoid|bound|null|valid|reject|limit|handle")
NOT_MEANT = re.compile(r"debian|hurd|build|compil|spelling|typo|reproduc|autoconf|cmake|\bdocs?\b|test|gcc|python3|warning")
NO_WORDS = re.compile(
    r"(From|Origin|Bug|Forwarded|Last-Update|Author|Date|Reviewed|Signed|Fixes|Closes|Reported|Cc|MIME|Content|Applied|"
    r"Backport|Acked|Link|Change-Id|\(cherry|https?:|---)",
    re.I,
)
SCRUBBED = re.compile(r"\(?\b(CVE-\d+-\d+|GHSA-\S+)\b[):,]*|https?://\S+|\((closes|fixes|#|cherry)[^)]*\)", re.I)


def packages(mirror, suite):
    """The source packages of a suite: name, folder, and the two archives."""
    with urllib.request.urlopen(f"{mirror}/dists/{suite}/main/source/Sources.xz") as answer:
        text = lzma.decompress(answer.read()).decode(errors="replace")
    for paragraph in text.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Version|Directory): (\S+)", paragraph, re.M))
        files = re.findall(r"^ [0-9a-f]{64} (\d+) (\S+)$", paragraph, re.M)
        debian = [name for _, name in files if ".debian.tar" in name]
        origin = [name for size, name in files if re.search(r"\.orig\.tar\.(gz|xz|bz2)$", name) and int(size) < 6_000_000]
        if len(debian) == len(origin) == 1 and re.search(r"deb\d+u", fields.get("Version", "")):
            yield fields["Package"], f"{mirror}/{fields['Directory']}", debian[0], origin[0]


def fetch(address, folder):
    target = folder / address.rsplit("/", 1)[1]
    if not target.exists():
        subprocess.run(["curl", "-sfL", "-o", target, address], check=True)
    return target


def words_of(head):
    """What a patch says of itself: its first line, and what follows when that is short."""
    found = re.search(r"^(Subject|Description): *([^\n]+(?:\n[ \t]+[^\n]+)*)(.*)", head, re.M | re.S)
    if not found:
        return ""
    lines = [line.strip() for line in found[2].split("\n") if line.strip() != "."]
    subject, body = (lines[0], lines[1:]) if found[1] == "Description" else (" ".join(lines), [])
    for paragraph in re.split(r"\n\s*\n", found[3]):
        if body:
            break
        for line in paragraph.strip().split("\n"):
            if NO_WORDS.match(line.strip()) or re.search(r"\|\s*\d+ [+-]", line):
                break
            body.append(line.strip())
    subject = re.sub(r"^(\[[^\]]*\]\s*)+", "", subject)
    subject, body = (" ".join(SCRUBBED.sub("", text).split()).strip(" :-,") for text in (subject, " ".join(body)))
    sentence = re.split(r"(?<=[.!?])\s", body)[0][:300]
    return f"{subject.rstrip('.')}. {sentence}" if sentence and len(subject.split()) < 8 else subject


def functions_of(path):
    """First line, last line and name of each function of a file."""
    kinds = ["--kinds-C=f", "--kinds-C++=f", "--kinds-Python=fm", "--kinds-Java=m"]
    tags = subprocess.run(["ctags", "--fields=+ne", *kinds, "-f", "-", path], capture_output=True, check=False)
    for tag in tags.stdout.decode(errors="replace").split("\n"):
        first, last = re.search(r"line:(\d+)", tag), re.search(r"end:(\d+)", tag)
        if first and last:
            yield int(first[1]), int(last[1]), tag.split("\t")[0]


def changed(patch, tree):
    """The files of a tree and their functions that a patch changes."""
    files, functions = set(), set()
    for part in re.split(r"^\+\+\+ ", patch, flags=re.M)[1:]:
        name = re.sub(r"^[^/]*/", "", part.split("\n", 1)[0].split("\t")[0].strip())
        path = (tree / name).resolve()
        if not name.endswith(SOURCES) or ASIDE.search(name) or not path.is_relative_to(tree) or not path.is_file():
            continue
        spans = list(functions_of(path))
        number = None
        for line in re.split(r"^--- \S", part, maxsplit=1, flags=re.M)[0].split("\n")[1:]:
            if hunk := re.match(r"@@ -(\d+)", line):
                number = int(hunk[1])
            elif number is not None:
                inside = [span for span in spans if span[0] <= number <= span[1]]
                if line[:1] in "+-" and line and inside:
                    functions.add(max(inside)[2])
                    files.add(name)
                number += not line.startswith("+")
    return sorted(files), sorted(functions)


def apply(patch, tree):
    run = ["patch", "-d", tree, "-p1", "-s", "-f", "--no-backup-if-mismatch", "-i", patch]
    return subprocess.run(run, capture_output=True, check=False).returncode == 0


def requests_of(package, address, debian, origin, out):
    """The first repairs of one package that make a request; its tree is left as it was before the first."""
    kept, tree, after = out / "kept", (out / "trees" / f"deb-{package}").resolve(), out / "after"
    with tarfile.open(fetch(f"{address}/{debian}", kept)) as archive:
        archive.extractall(out / "debian" / package, filter="data")
    folder = out / "debian" / package / "debian" / "patches"
    if not (folder / "series").exists():
        return []
    lines = (folder / "series").read_text(errors="replace").split("\n")
    series = [folder / line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
    texts = {patch: patch.read_text(errors="replace") for patch in series if patch.is_file()}
    heads = {patch: words_of(re.split(r"^(?:--- |diff |Index: )", text, maxsplit=1, flags=re.M)[0]) for patch, text in texts.items()}
    named = {patch: f"{patch.name} {head}".lower() for patch, head in heads.items()}
    chosen = [p for p, head in heads.items() if len(head.split()) > 4 and REPAIRS.search(named[p]) and not NOT_MEANT.search(named[p])]
    if not chosen:
        return []
    whole = fetch(f"{address}/{origin}", kept)
    tree.mkdir(parents=True)
    subprocess.run(["tar", "xf", whole, "-C", tree, "--strip-components=1"], check=True)
    found = []
    for number, patch in enumerate(series):
        if patch == chosen[0]:
            shutil.copytree(tree, after, symlinks=True)
        now = after.resolve() if after.exists() else tree
        if patch in chosen[:3]:
            files, functions = changed(texts[patch], now)
            if 1 <= len(functions) <= 4 and len(files) <= 2 and not any("anon" in name for name in functions):
                found.append((heads[patch], files, functions))
        if not apply(patch.resolve(), now):
            break
    shutil.rmtree(after, ignore_errors=True)
    if not found:
        shutil.rmtree(tree)
    return [(f"deb-{package}", *request) for request in found]


def main(mirror, suite, out, most="150"):
    out = pathlib.Path(out)
    (out / "kept").mkdir(parents=True, exist_ok=True)
    count = collections.Counter()
    with open(out / "requests.toml", "w") as written:
        for package, *places in packages(mirror.rstrip("/"), suite):
            try:
                found = requests_of(package, *places, out)
            except (subprocess.CalledProcessError, tarfile.TarError, OSError) as problem:
                print(f"{package} is left out: {problem}", file=sys.stderr)
                continue
            for tree, text, files, functions in found:
                written.write(
                    f'[[request]]\nhalf = "fit"\ntree = {json.dumps(tree)}\ntext = {json.dumps(text, ensure_ascii=False)}\n'
                    f"files = {json.dumps(files)}\nfunctions = {json.dumps(functions)}\n\n"
                )
            count["packages"] += bool(found)
            count["requests"] += len(found)
            if count["packages"] >= int(most):
                break
    print(f"{count['requests']} requests of {count['packages']} packages")


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
