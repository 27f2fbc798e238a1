#!/usr/bin/env python3
"""Measures how `patchwright backport` carries fixes, on the patches of Debian's source packages.

  scripts/measure-backports.py ARCHIVE KEPT OWNER/NAME=CLONE.. --suites DISTRIBUTION/SUITE.. [--each N] [--commits COMMIT..]
      [--program PATCHWRIGHT]

ARCHIVE is the address of a Debian archive, DISTRIBUTION/SUITE one of its suites (`debian/bookworm`), KEPT a folder for
what is downloaded, each CLONE a bare clone of the public repository OWNER/NAME. A patch counts whose header
names one commit of such a repository and which changes code. The tree that it is for (the package with the
patches before it) becomes a commit beside the repository's, and the named commit is carried onto it. A program that
always crashes stands for the PoV, so what is measured is the carrying alone, not the verdict. N patches of each
repository are taken (6), always the same ones, no commit twice.

Plain: the commit's own diff applies to the tree by `patch --fuzz=0`, with offsets. Else it needs adaptation. Same: the
files of code are, without blanks, those that Debian's patch makes.
"""
import argparse
import hashlib
import json
import lzma
import os
import re
import shutil
import subprocess
import tarfile
import zlib
from pathlib import Path

CODE = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".hxx", ".java")
ASIDE = re.compile(r"(^|/)(tests?|testing|docs?|examples?|fuzz(ing|ers?)?|debian)/|_test\.|Test\.java")
COMMIT = re.compile(r"^(?:Origin|Bug|Forwarded|[\w-]*Upstream[\w-]*):[^\n]*/([\w.-]+/[\w.-]+?)(?:/pull/\d+)?/commits?/([0-9a-f]{12,40})",
                    re.I | re.M)
LARGEST_DEBIAN, LARGEST_ORIGIN = 1_500_000, 15_000_000
ALWAYS = """id = "{id}"
language = "c"
[source]
path = "tree"
[commands]
build = 'cp "$TASK"/crash.c "$OUT" && cc -fsanitize=address -g -o "$OUT"/crash "$OUT"/crash.c'
pov = '"$OUT"/crash "$POV"'
[[pov]]
file = "pov"
"""
CRASH = "#include <stdlib.h>\nint main(int count, char **words) { char *room = malloc(count); return room[8 * count]; }\n"


def fetch(address, target):
    """Downloads a file once; none where it is no longer there."""
    if not target.exists():
        part = target.with_name(target.name + ".part")
        if subprocess.run(["curl", "-sfL", "--max-time", "300", "-o", part, address]).returncode:
            return None
        part.rename(target)
    return target


def kept_as(address, kept):
    return fetch(address, kept / address.rsplit("/", 1)[1])


def packages(archive, suite, kept):
    """The source packages of a suite with updates: name, version, the addresses of both archives."""
    distribution, name = suite.split("/")
    index = fetch(f"{archive}/{distribution}/dists/{name}/main/source/Sources.xz", kept / f"{distribution}-{name}.xz")
    if index is None:
        raise SystemExit(f"there is no index of {suite} at {archive}")
    for paragraph in lzma.decompress(index.read_bytes()).decode(errors="replace").split("\n\n"):
        fields = dict(re.findall(r"^(Package|Version|Directory): (\S+)", paragraph, re.M))
        files = re.findall(r"^ [0-9a-f]{64} (\d+) (\S+)$", paragraph, re.M)
        debian = [file for size, file in files if ".debian.tar" in file and int(size) < LARGEST_DEBIAN]
        origin = [file for size, file in files if re.search(r"\.orig\.tar\.(gz|xz|bz2)$", file) and int(size) < LARGEST_ORIGIN]
        if len(debian) == len(origin) == 1 and re.search(r"deb\d+u", fields.get("Version", "")):
            folder = f"{archive}/{distribution}/{fields['Directory']}"
            yield fields["Package"], fields["Version"], f"{folder}/{debian[0]}", f"{folder}/{origin[0]}"


def head_of(text):
    return re.split(r"^(?:--- |diff |Index: )", text, maxsplit=1, flags=re.M)[0]


def changed_files(text):
    return re.findall(r"^\+\+\+ [^/\s]*/(\S+)", text, re.M)


def is_code(path):
    return path.endswith(CODE) and not ASIDE.search(path)


def patches(debian, repositories):
    """The patches of a package up to those that name a commit of one of the repositories."""
    try:
        with tarfile.open(debian) as archive:
            members = {member.name.removeprefix("./"): member for member in archive.getmembers() if member.isfile()}
            read = {name: archive.extractfile(member).read().decode(errors="replace")
                    for name, member in members.items() if name.startswith("debian/patches/")}
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError):
        return
    lines = read.get("debian/patches/series", "").split("\n")
    series = [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
    texts = [read.get(f"debian/patches/{name}", "") for name in series]
    for number, text in enumerate(texts):
        named = set(COMMIT.findall(head_of(text)))
        if len(named) == 1 and next(iter(named))[0] in repositories and any(map(is_code, changed_files(text))):
            yield texts[:number], text, *next(iter(named))


def cases(given, kept):
    repositories = {name: Path(clone) for name, clone in (one.split("=", 1) for one in given.clones)}
    found = {}
    for suite in given.suites:
        for package, version, debian, origin in packages(given.archive, suite, kept):
            archive = kept_as(debian, kept)
            for before, text, repository, commit in patches(archive, repositories) if archive else ():
                case = (package, version, origin, before, text, repositories[repository], commit)
                found.setdefault((repository, commit[:12]), case)
    taken = {}
    for key in sorted(found, key=lambda key: hashlib.md5(repr(key).encode()).hexdigest()):
        of_repository = taken.setdefault(key[0], [])
        if len(of_repository) < given.each:
            of_repository.append(found[key])
    return [case for of_repository in taken.values() for case in of_repository]


def git(clone, *arguments, **more):
    done = subprocess.run(["git", "-C", clone, *arguments], capture_output=True, check=True, **more)
    return done.stdout.decode(errors="replace")


def apply(text, tree, *options):
    command = ["patch", "-d", tree, "-p1", "-s", "-f", "--no-backup-if-mismatch", *options]
    return subprocess.run(command, input=text.encode(), capture_output=True).returncode == 0


def lay_out(tree, origin, before):
    subprocess.run(["tar", "xf", origin, "-C", tree, "--strip-components=1"], check=True)
    if not all(apply(text, tree) for text in before if text.strip()):
        raise ValueError("the patches before it do not apply")


def commit_of(clone, tree, parent):
    """The files of a folder as a commit of a clone."""
    environment = {**os.environ, "GIT_INDEX_FILE": str(tree) + ".index"}
    git(clone, "--work-tree", tree, "add", "--all", "--force", env=environment)
    written = git(clone, "write-tree", env=environment).strip()
    who = ["-c", "user.name=measure", "-c", "user.email=measure@localhost"]
    return git(clone, *who, "commit-tree", written, "-p", parent, "-m", "package", env=environment).strip()


def without_blanks(path):
    return re.sub(rb"\s+", b"", path.read_bytes()) if path.is_file() else b""


def prefix_of(path, tree):
    """The folder of the repository that the package is made of, as its files are in the package."""
    parts = path.split("/")
    depth = next((depth for depth in range(len(parts)) if (tree / "/".join(parts[depth:])).is_file()), 0)
    return "".join(part + "/" for part in parts[:depth])


def measure(case, folder, program):
    package, version, origin, before, text, bare, commit = case
    clone, tree, theirs = folder / "clone", folder / "tree", folder / "theirs"
    for path in (tree, theirs):
        path.mkdir(parents=True)
    git(folder, "clone", "--shared", "--quiet", "--no-checkout", bare.resolve(), clone)
    commit = git(clone, "rev-parse", "--verify", commit + "^{commit}").strip()
    changed = [path for path in git(clone, "diff-tree", "-r", "--name-only", "--no-renames", commit + "^1", commit).split("\n")
               if is_code(path)]
    if not changed:
        raise ValueError("the commit changes no code")
    upstream = git(clone, "diff", commit + "^1", commit, "--", *changed)
    lay_out(tree, origin, before)
    prefix = prefix_of(changed[0], tree)
    if prefix:
        tree.rename(folder / "package")
        (tree / prefix).parent.mkdir(parents=True)
        (folder / "package").rename(tree / prefix)
    git(clone, "branch", "package", commit_of(clone, tree, commit + "^1"))
    shutil.copytree(tree, theirs, symlinks=True, dirs_exist_ok=True)
    if not apply(text, theirs / prefix):
        raise ValueError("the package's own patch does not apply")
    plain = apply(upstream, tree, "--dry-run", "--fuzz=0")
    (folder / "task.toml").write_text(ALWAYS.format(id=re.sub(r"\W+", "-", package)))
    (folder / "crash.c").write_text(CRASH)
    (folder / "pov").write_text("x")
    command = [program, "backport", commit, "--task", folder, "--upstream", clone, "--onto", "package",
               "--out", folder / "out", "--format", "json"]
    done = subprocess.run(command, capture_output=True)
    if done.returncode not in (0, 1) or not done.stdout:
        return plain, "failed", done.stderr.decode(errors="replace").strip()[-300:]
    branch = json.loads(done.stdout)["branches"][0]
    if not branch["carried"]:
        return plain, "not carried", branch["detail"] or branch["evidence"]
    ours = (folder / "out" / "package" / "patch.diff").read_text(errors="replace")
    if not apply(ours, tree):
        return plain, "failed", "the result does not apply"
    files = {path for path in changed_files(ours) if is_code(path)} | {f"{prefix}{path}" for path in changed_files(text) if is_code(path)}
    other = sorted(path for path in files if without_blanks(tree / path) != without_blanks(theirs / path))
    return plain, "other" if other else "same", f"{branch['carried']} {' '.join(other)}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("archive")
    arguments.add_argument("kept", type=Path)
    arguments.add_argument("clones", nargs="+", metavar="OWNER/NAME=CLONE")
    arguments.add_argument("--suites", nargs="+", required=True)
    arguments.add_argument("--each", type=int, default=6)
    arguments.add_argument("--commits", nargs="+", default=[], help="the first digits of those to run")
    arguments.add_argument("--program", default="patchwright")
    given = arguments.parse_args()
    given.kept.mkdir(parents=True, exist_ok=True)
    counts, left_out = {}, 0
    for number, case in enumerate(cases(given, given.kept)):
        if given.commits and not case[6].startswith(tuple(given.commits)):
            continue
        folder = given.kept / f"case-{os.getpid()}"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            origin = kept_as(case[2], given.kept)
            if origin is None:
                raise ValueError("its sources are no longer there")
            case = (*case[:2], origin.resolve(), *case[3:])
            plain, result, told = measure(case, folder, given.program)
        except (ValueError, subprocess.CalledProcessError, tarfile.TarError) as error:
            print(f"{case[0]} {case[6][:12]}: left out, {error}", flush=True)
            left_out += 1
            continue
        counts.setdefault(plain, {}).setdefault(result, []).append(number)
        print(f"{case[0]} {case[6][:12]}: {'plain' if plain else 'adaptation'}, {result}: {told}", flush=True)
    print(f"left out: {left_out}, whose packages or commits could not be had or are of another form")
    for plain, results in sorted(counts.items(), reverse=True):
        total = sum(map(len, results.values()))
        told = ", ".join(f"{len(found)} {result}" for result, found in sorted(results.items()))
        print(f"{'plain' if plain else 'adaptation'}: {total} patches, {told}")


if __name__ == "__main__":
    main()
