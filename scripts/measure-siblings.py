#!/usr/bin/env python3
"""Measures `patchwright siblings` on the history of projects.

  scripts/measure-siblings.py CLONE.. [--each N] [--program PATCHWRIGHT]

A commit that repairs alike in several places (a message of repair, hunks of at most ten added
lines whose words are at least half the same, in different functions) says which places are
siblings. One of its hunks is given as the fix, in the tree before the commit; a candidate is right
where it lies at another such hunk. N commits of each clone are taken (6), always the same ones.
"""
import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

REPAIRS = re.compile(r"overflow|out.of.bound|null|leak|use.after|double.free|crash|fuzz|cve-|bound|uninit|underflow|"
                     r"sanitiz|segfault|segv|infinite loop|over-?r(un|ead)", re.I)
SOURCES = ["*.c", "*.cc", "*.cpp", "*.cxx", "*.h", "*.hpp", "*.java"]
ASIDE = re.compile(r"test|fuzz|example", re.I)
COMMITS, HUNKS, ADDED, REMOVED, ALIKE = 6000, 8, 10, 8, 0.5
# Lines around a hunk at which a candidate lies at it.
NEAR = 3


def git(clone, *arguments):
    """What git prints, as far as the clone has the objects."""
    done = subprocess.run(["git", "-C", clone, *arguments], capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def hunks(patch):
    """The hunks of a commit's diff: file, first old line, function in the header, lines."""
    found, file, hunk = [], None, None
    for line in patch.split("\n"):
        head = re.match(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@ ?(.*)", line)
        if line.startswith("diff --git"):
            hunk = None
        elif line.startswith("+++ b/"):
            file = line[6:]
        elif head:
            hunk = {"file": file, "start": int(head[1]), "function": head[2], "lines": []}
            found.append(hunk)
        elif hunk is not None and line[:1] in ("+", "-", " "):
            hunk["lines"].append(line)
    return found


def side(hunk, mark):
    return [line[1:] for line in hunk["lines"] if line[0] == mark]


def words(hunk):
    return set(re.findall(r"\w+", " ".join(side(hunk, "+"))))


def changes_code(hunk):
    """Directives, comments and texts are no repairs."""
    added = re.sub(r"//.*|/\*.*|\".*?\"", "", "\n".join(side(hunk, "+")))
    return len({word for line in added.split("\n") if not line.lstrip().startswith(("#", "*"))
                for word in re.findall(r"\w+", line)}) >= 2


def alike(one, other):
    a, b = words(one), words(other)
    elsewhere = (one["file"], one["function"]) != (other["file"], other["function"])
    return elsewhere and len(a & b) >= ALIKE * len(a | b)


def changed(hunk):
    """The old lines that a hunk changes, with those near it."""
    before = next((at for at, line in enumerate(hunk["lines"]) if line[0] != " "), 0)
    first = hunk["start"] + before
    return hunk["file"], first - NEAR, first + len(side(hunk, "-")) + NEAR


def cases(clone, most):
    """Commits with siblings: the commit's parent, one hunk, the others."""
    log = git(clone, "log", "--no-merges", f"-n{COMMITS}", "--format=%x01%H%x02%s", "-p", "-U3",
              "--no-renames", "--diff-filter=M", "--", *SOURCES)
    found = []
    for entry in log.split("\x01")[1:]:
        head, _, patch = entry.partition("\n")
        commit, subject = head.split("\x02", 1)
        parts = hunks(patch) if REPAIRS.search(subject) else []
        if not 2 <= len(parts) <= HUNKS:
            continue
        small = [part for part in parts if 1 <= len(side(part, "+")) <= ADDED and len(side(part, "-")) <= REMOVED
                 and not ASIDE.search(part["file"]) and changes_code(part)]
        for part in small:
            others = [other for other in small if alike(part, other)]
            if others:
                found.append((commit, part, others))
                break
    found.sort(key=lambda case: hashlib.md5(case[0].encode()).hexdigest())
    return found[:most]


def lay_out(clone, commit, tree):
    """Writes the files of a commit, as far as the clone has them, without its work tree."""
    environment = {**os.environ, "GIT_INDEX_FILE": str(tree) + ".index"}
    for arguments in [["read-tree", commit], ["checkout-index", "--all", "--force", f"--prefix={tree}/"]]:
        subprocess.run(["git", "-C", clone, *arguments], env=environment, stderr=subprocess.DEVNULL)


def candidates(program, clone, commit, hunk):
    with tempfile.TemporaryDirectory() as folder:
        tree, diff = Path(folder, "tree"), Path(folder, "fix.diff")
        lay_out(clone, commit + "^", tree)
        counts = [sum(line[0] != mark for line in hunk["lines"]) for mark in "+-"]
        header = f"@@ -{hunk['start']},{counts[0]} +{hunk['start']},{counts[1]} @@"
        lines = [f"--- a/{hunk['file']}", f"+++ b/{hunk['file']}", header, *hunk["lines"], ""]
        diff.write_text("\n".join(lines))
        command = [program, "siblings", str(diff), "--repo", str(tree), "--format", "json"]
        told = subprocess.run(command, capture_output=True, check=True)
        return json.loads(told.stdout)["candidates"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("clones", nargs="+")
    arguments.add_argument("--each", type=int, default=6)
    arguments.add_argument("--program", default="patchwright")
    given = arguments.parse_args()
    fixes = recall = shown = right = 0
    for clone in given.clones:
        for commit, hunk, others in cases(clone, given.each):
            places = [changed(other) for other in others]
            found = candidates(given.program, clone, commit, hunk)
            hits = {place for place in places for one in found
                    if one["path"] == place[0] and one["first"] <= place[2] and one["last"] >= place[1]}
            good = [one for one in found if any(one["path"] == place[0] and one["first"] <= place[2]
                                                and one["last"] >= place[1] for place in places)]
            fixes, shown, right = fixes + 1, shown + len(found), right + len(good)
            recall += len(hits) / min(5, len(places))
            print(f"{Path(clone).name} {commit[:12]}: {len(hits)} of {len(places)} found, {len(found)} shown")
    if not fixes:
        sys.exit("no commit repairs alike in several places")
    print(f"{fixes} fixes: {100 * recall / fixes:.0f} % of the others found; "
          f"{right} of {shown} shown are right ({100 * right / max(1, shown):.0f} %)")


if __name__ == "__main__":
    main()
