#!/usr/bin/env python3
"""harvest.py LIBRARY TREE OUT [WANTED] [SECONDS]: removes checks from a published library, one at a time, and keeps
those removals that really crash it somewhere else.

TREE is what fetch.sh fetched. A check is an `if` that only returns, throws, jumps or breaks. The library without it is
built with AddressSanitizer (C, C++) or compiled and run as it is (Java, Python), fed mutated inputs from libraries.py
for some seconds, and kept when it crashes and the function on top of the stack is not the one that lost its check.
What is kept: removed.diff, crash.log, the input, and case.toml with the truth.
"""
import difflib, json, os, random, re, shlex, shutil, subprocess, sys, tempfile
from pathlib import Path
from libraries import LIBRARIES

HERE = Path(__file__).resolve().parent
NICE = os.environ.get("RUN_WITH", "").split()
SANITIZE = "-g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -w -fsanitize=address,fuzzer-no-link".split()


def run(command, **options):
    return subprocess.run([*NICE, *map(str, command)], capture_output=True, text=True, errors="replace", **options)


def checks(text, language, longest=5):
    """Line ranges (first, last; from 0) of checks that can be left out, each of at most so many lines."""
    lines = text.split("\n")
    leave = r"(return|goto|break|continue|throw|raise|_throw\w*)\b"
    found = []
    for i, line in enumerate(lines):
        if language == "python":
            if re.match(r"\s*if .*:\s*$", line) and i + 2 < len(lines) and re.match(r"\s*" + leave, lines[i + 1]):
                indent = len(line) - len(line.lstrip())
                rest = lines[i + 2]
                after = len(rest) - len(rest.lstrip())
                if rest.strip() == "" or (after <= indent and not re.match(r"\s*(else|elif)\b", rest)):
                    found.append((i, i + 1))
            continue
        if re.match(r"\s*_throwif\w*\s*\(.*;\s*$", line) or re.match(r"\s*if\s*\(.*\)\s*" + leave + r".*;\s*$", line):
            found.append((i, i))
        elif re.match(r"\s*if\s*\(.*\)\s*$", line) and i + 1 < len(lines) and re.match(r"\s*" + leave + r".*;\s*$", lines[i + 1]):
            found.append((i, i + 1))
        elif re.match(r"\s*if\s*\(.*\)\s*$", line) and i + 1 < len(lines) and re.match(r"\s*\{\s*$", lines[i + 1]):
            found += block(lines, i, i + 1, leave, longest)
        elif re.match(r"\s*if\s*\(.*\)\s*\{\s*$", line):
            found += block(lines, i, i, leave, longest)
    return [(a, b) for a, b in found
            if not re.match(r"\s*else\b", lines[b + 1] if b + 1 < len(lines) else "")
            and re.search(r"[<>]|[!=]=|!|NULL|null|None|not |len", lines[a])]


def block(lines, first, opened, leave, longest):
    """The check whose braces open on a line, when it only leaves."""
    for last in range(opened + 2, min(opened + longest, len(lines))):
        if re.match(r"\s*\}\s*$", lines[last]):
            body = lines[opened + 1 : last]
            only_leaves = re.match(r"\s*" + leave, body[-1]) and not any(re.match(r"\s*((if|for|while|switch|do)\b|#)", one) for one in body)
            return [(first, last)] if only_leaves else []
    return []


def functions(path):
    """(first, last, name with its scope) of a file, as ctags tells."""
    out = subprocess.run(["ctags", "--output-format=json", "--fields=+neZ", "-o", "-", str(path)], capture_output=True, text=True).stdout
    rows = []
    for line in out.splitlines():
        tag = json.loads(line)
        if tag.get("kind") in ("function", "method", "member", "macro") and "end" in tag:
            scope = re.sub(r"__anon\w+", "", tag.get("scope", "")).strip(".:")
            scope = re.split(r"[.:]+", scope)[-1] if tag.get("scopeKind") in ("class", "struct", "enum", "interface") else ""
            separator = "::" if path.suffix in (".cc", ".cpp", ".cxx", ".hxx", ".hpp") else "."
            name = re.sub(r"^operator (?=\W)", "operator", tag["name"])
            rows.append((tag["line"], tag["end"], (scope + separator if scope else "") + name, name))
    return rows


def sanitizer_report(log):
    """The report of AddressSanitizer without its shadow bytes, and the frames (function, file, line) of its first stack."""
    start = log.find("=================")
    if start < 0 or "AddressSanitizer" not in log:
        return log, []
    log = log[start:].split("Shadow bytes around")[0].split("SUMMARY")[0] + "".join(re.findall("SUMMARY.*\n", log))
    stack = re.search(r"(#0 [\s\S]*?)\n\n", log)
    frames = re.findall(r"#\d+ 0x[0-9a-f]+ in (.+?) /src/([^ :]+):(\d+)", stack.group(1) if stack else "")
    return log, [(function, file, int(line)) for function, file, line in frames]


def java_frames(log, sources):
    """The frames (function, file, line) of an exception that lie in one of the sources; a file is told by its package."""
    frames = []
    for function, file, line in re.findall(r"\tat ([\w.$<>]+)\((\w+\.java):(\d+)\)", log):
        folder = "/".join(function.split("$")[0].split(".")[:-1])
        for p in sources:
            if p.name == file and (str(p.parent).endswith(folder) or str(p.parent).endswith(folder.rpartition("/")[0] or "?")):
                frames.append((function, str(p), int(line)))
                break
    return frames


def around(rows, line):
    inside = [row for row in rows if row[0] <= line <= row[1]]
    return max(inside, default=None)


class Native:
    def __init__(self, name, library, tree, work):
        self.package, self.tree, self.work, self.name = library, tree, work, name
        self.sources = sorted(p for pattern in library["sources"] for p in tree.glob(pattern) if not re.search(library.get("without", "^$"), p.name))
        self.flags = [*SANITIZE, *[f.replace("$T", str(tree)).replace("$H", str(HERE / "harness")).replace("$E", str(HERE.parents[3] / "examples")) for f in library["flags"]]]
        self.harness = HERE / "harness" / library["harness"]

    def compiler(self, path):
        return "clang" if path.suffix == ".c" else "clang++"

    def object(self, path):
        return self.work / (str(path.relative_to(self.tree)).replace("/", "_") + ".o")

    def build(self):
        jobs = [(p, self.object(p)) for p in self.sources] + [(self.harness, self.work / "harness.o")]
        lines = []
        for path, output in jobs:
            options = [*self.flags, *self.package.get("cxx" if path.suffix != ".c" else "cc", [])]
            lines.append(shlex.join(map(str, [self.compiler(path), *options, "-c", path, "-o", output])))
        (self.work / "build.sh").write_text("set -e\n" + "\n".join(lines) + "\n")
        done = run(["sh", self.work / "build.sh"])
        if done.returncode:
            sys.exit(done.stderr[-2000:])

    def crash(self, path, seconds, out):
        objects = [self.object(p) for p in self.sources] + [self.work / "harness.o"]
        if path is not None:
            mine = self.work / "mutant.o"
            done = run([self.compiler(path), *self.flags, *self.package.get("cxx" if path.suffix != ".c" else "cc", []), "-c", path, "-o", mine], timeout=300)
            if done.returncode:
                return None
            objects = [mine if o == self.object(path) else o for o in objects]
        program = self.work / "program"
        done = run(["clang++", "-fsanitize=address,fuzzer", "-g", *objects, *self.package.get("link", []), "-o", program], timeout=300)
        if done.returncode:
            sys.exit(done.stderr[-2000:])
        if path is None:
            shutil.copy(program, self.work / "sound")
        seeds = self.work / "seeds"
        if not seeds.exists():
            seeds.mkdir()
            for i, seed in enumerate(self.package["seeds"]()):
                (seeds / f"{i:03}").write_bytes(seed)
        artifacts = self.work / "artifacts"
        shutil.rmtree(artifacts, ignore_errors=True)
        artifacts.mkdir()
        corpus = self.work / "corpus"
        shutil.rmtree(corpus, ignore_errors=True)
        corpus.mkdir()
        environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:symbolize=0")
        run([program, corpus, seeds, f"-max_total_time={seconds}", "-seed=1", "-timeout=5", "-rss_limit_mb=3000", "-max_len=600",
             f"-artifact_prefix={artifacts}/"], timeout=seconds * 4 + 30, env=environment)
        inputs = [p for p in sorted(artifacts.iterdir()) if p.name.startswith("crash-")]
        if not inputs:
            return None
        environment["ASAN_OPTIONS"] = "detect_leaks=0:allocator_may_return_null=1"
        if path is not None and run([self.work / "sound", inputs[0]], timeout=120, env=environment).returncode:
            return None  # a flaw of the library itself
        done = run([program, inputs[0]], timeout=120, env=environment)
        log = done.stderr
        for folder, short in ((str(self.tree), "/src"), (str(HERE), "/case"), (str(self.work), "/out")):
            log = log.replace(folder, short)
        log, frames = sanitizer_report(log)
        if not frames:
            return None
        return log, frames[0][1:], inputs[0].read_bytes()

    def crashes_anyway(self, data):
        return False  # looked at before


class Script:
    """Java and Python: a driver mutates the seeds until something comes out that is not documented."""

    def __init__(self, name, library, tree, work):
        self.package, self.tree, self.work, self.name = library, tree, work, name
        self.sources = sorted(p for pattern in library["sources"] for p in tree.glob(pattern) if not re.search(library.get("without", "^$"), p.name))
        self.java = library["language"] == "java"

    def build(self):
        seeds = self.work / "seeds"
        seeds.mkdir()
        for i, seed in enumerate(self.package["seeds"]()):
            (seeds / f"{i:03}").write_bytes(seed)
        if self.java:
            (self.work / "classes").mkdir()
            done = run(["javac", "-nowarn", "-g", "-encoding", "UTF-8", "-d", self.work / "classes", *self.sources])
            if done.returncode:
                sys.exit(done.stderr[-2000:])
            done = run(["javac", "-nowarn", "-cp", self.work / "classes", "-d", self.work / "classes", HERE / "harness" / self.package["harness"], HERE / "harness" / "Drive.java"])
            if done.returncode:
                sys.exit(done.stderr[-2000:])

    def crash(self, path, seconds, out, seeds="seeds"):
        found = self.work / "found"
        found.unlink(missing_ok=True)
        if self.java:
            mine = self.work / "mutant"
            shutil.rmtree(mine, ignore_errors=True)
            mine.mkdir()
            if path is not None:
                done = run(["javac", "-nowarn", "-g", "-encoding", "UTF-8", "-cp", self.work / "classes", "-d", mine, path])
                if done.returncode:
                    return None
            command = ["java", "-Xmx700m", "-cp", f"{mine}:{self.work / 'classes'}", "Drive", Path(self.package["harness"]).stem, self.work / seeds, seconds, found]
        else:
            command = ["python3", "-B", HERE / "harness" / "drive.py", HERE / "harness" / self.package["harness"], self.tree, self.work / seeds, seconds, found]
        try:
            done = run(command, timeout=seconds * 4 + 30)
        except subprocess.TimeoutExpired:
            return None
        log = done.stderr.replace(str(self.tree), "/src").replace(str(HERE), "/case")
        if not found.exists():
            return None
        data = found.read_bytes()
        if self.java:
            frames = java_frames(log, [p.relative_to(self.tree) for p in self.sources])
            if frames:
                return log, frames[0][1:], data
            return None
        frames = re.findall(r'File "/src/([^"]+)", line (\d+)', log)
        if not frames:
            return None
        return log, (frames[-1][0], int(frames[-1][1])), data

    def crashes_anyway(self, data):
        """Whether the library as it was published dies of this input too."""
        folder = self.work / "one"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "000").write_bytes(data)
        return self.crash(None, 0.05, None, "one") is not None


def main():
    name, tree, out = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
    wanted = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    seconds = int(sys.argv[5]) if len(sys.argv) > 5 else 12
    library = LIBRARIES[name]
    kept, tried, seen = 0, 0, set()
    with tempfile.TemporaryDirectory() as work:
        maker = (Native if library["language"] in ("c", "c++") else Script)(name, library, tree, Path(work))
        maker.build()
        sound = maker.crash(None, 2 * seconds, out)
        known = sound and sound[1]
        print(name, "without any removal:", known, flush=True)
        if sound and library["language"] not in ("c", "c++"):
            print(sound[0][:1500])
        places = [(p, a, b) for p in maker.sources for a, b in checks(p.read_text(errors="replace"), library["language"])]
        random.Random(int(os.environ.get("SEED", "7"))).shuffle(places)
        print(name, len(places), "checks", flush=True)
        for path, first, last in places:
            if kept >= wanted or tried >= library.get("tries", 60):
                break
            rows = functions(path)
            home = around(rows, first + 1)
            if home is None or (path, home[2]) in seen:
                continue
            tried += 1
            text = path.read_bytes().decode("utf-8", "surrogateescape")
            lines = text.split("\n")
            path.write_bytes("\n".join(lines[:first] + lines[last + 1:]).encode("utf-8", "surrogateescape"))
            try:
                crashed = maker.crash(path, seconds, out)
                broken = path.read_bytes().decode("utf-8", "surrogateescape")
            except subprocess.TimeoutExpired:
                crashed = None
            finally:
                path.write_bytes(text.encode("utf-8", "surrogateescape"))
            if not crashed:
                continue
            log, (file, line), data = crashed
            if maker.crashes_anyway(data):
                continue
            if known == (file, line):
                continue
            shown = line if file != str(path.relative_to(tree)) or line <= first else line + last - first + 1
            top = around(functions(tree / file), shown)
            same = top is not None and file == str(path.relative_to(tree)) and top[2] == home[2]
            print(name, path.name, home[2], "->", file, top and top[2], "SAME" if same else "", flush=True)
            if same or (file, line) in seen:
                continue
            kept += 1
            seen.add((path, home[2]))
            seen.add((file, line))
            folder = out / f"{name}-{re.sub('[^a-z0-9]+', '-', home[3].lower()).strip('-')}"
            folder.mkdir(parents=True, exist_ok=True)
            relative = path.relative_to(tree)
            diff = difflib.unified_diff(text.split("\n"), broken.split("\n"), f"a/{relative}", f"b/{relative}", lineterm="")
            (folder / "removed.diff").write_bytes(("\n".join(diff) + "\n").encode("utf-8", "surrogateescape"))
            (folder / "crash.log").write_text(log)
            (folder / "input").write_bytes(data)
            (folder / "case.toml").write_text(
                f'tree = "{library["tree"]}"\nlanguage = "{library["language"]}"\ncrashes_in = "{top[2] if top else ""}"\n'
                f'files = ["{relative}"]\nfunctions = ["{home[2]}"]\n'
                f'how = "removed: a check of {home[2]} was left out (removed.diff), the library rebuilt and really crashed (harvest.py {name})"\n')
    print(name, "kept", kept, "of", tried, flush=True)


if __name__ == "__main__":
    main()
