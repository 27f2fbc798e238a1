#!/usr/bin/env python3
"""compare-reports.py DIR [PROGRAM]: reads each report.txt below DIR, and compares the top frame.

The frame that has to be found is the first of summary.txt beside it, where there is one (the form of PatchAgent's tests).
Frames without a place, of sanitizers and of the C library are passed over, as such summaries do, and a line 0 is no line.
"""
import json
import pathlib
import re
import subprocess
import sys

RUNTIME = re.compile(r"compiler-rt|sysdeps|libstdc\+\+|InstrProfiling|^\?\?")
FRAME = re.compile(r"\s+- .+? (\S+?):(\d+)(?::\d+)?$")


def wanted(summary):
    """The file's name and the line of the first frame of a summary; none where it names none."""
    for line in summary.read_text(errors="replace").splitlines():
        if found := FRAME.match(line):
            return found[1].rsplit("/", 1)[-1], int(found[2])
    return None


def top_frames(read):
    """The first frame, the first with a place, and the first of these that is not of the run time."""
    stacks = [stack for stack in read["stacks"] if stack["role"] == "crash"] or read["stacks"]
    frames = [frame for stack in stacks for frame in stack["frames"]]
    placed = [one for one in frames if one["file"]]
    own = [one for one in placed if not RUNTIME.search(one["file"] + one["function"])]
    return [((one["file"] or "").rsplit("/", 1)[-1], one["line"] or 0) for one in frames[:1] + placed[:1] + own[:1]]


def main():
    program = sys.argv[2] if len(sys.argv) > 2 else "patchwright"
    reports, unread, named, other = 0, [], 0, []
    for report in sorted(pathlib.Path(sys.argv[1]).rglob("report.txt")):
        reports += 1
        told = subprocess.run([program, "crash", str(report), "--format", "json"], capture_output=True)
        read = json.loads(told.stdout) if told.returncode == 0 else {}
        if not read.get("tool"):
            unread.append(report)
            continue
        summary = report.with_name("summary.txt")
        frame = wanted(summary) if summary.exists() else None
        if frame is not None:
            named += 1
            if frame not in top_frames(read):
                other.append(report)
    for what, paths in [("not read", unread), ("another top frame", other)]:
        for path in paths:
            print(f"{what}: {path}")
    print(f"{reports - len(unread)} of {reports} read; the top frame of {named - len(other)} of {named}")


main()
