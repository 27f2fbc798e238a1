#!/usr/bin/env python3
"""sweep.py LIBRARY TREE OUT [WANTED] [SECONDS]: as harvest.py, many checks with one build (C, C++, Java).

Each check of the library becomes a switch that an environment variable turns off, so that one program stands for the
library without any one of its checks. Inputs found with all checks on are fed to it, and mutations of them, with one
check off at a time; only checks that some input reaches are tried. What crashes is confirmed: the check is really
removed, the library rebuilt as it is, and the crash must happen there and must not happen with the check. Kept are the
same files as harvest.py keeps, at most WANTED of a library, of different functions and places, and at most two whose
crash is in the function that lost its check. TREE is not changed.
"""
import difflib, os, random, re, shlex, shutil, subprocess, sys, tempfile
from pathlib import Path
from harvest import around, checks, functions, java_frames, sanitizer_report
from libraries import LIBRARIES

HERE = Path(__file__).resolve().parent
NICE = os.environ.get("RUN_WITH", "").split()
PLAIN = "-g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -w -fsanitize=address".split()
SAME = 2
ASAN = "detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=0"


def run(command, **options):
    """Runs a command; a time limit that is reached counts as a failure."""
    try:
        return subprocess.run([*NICE, *map(str, command)], capture_output=True, text=True, errors="replace", **options)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", "")


def read(path):
    return path.read_bytes().decode("utf-8", "surrogateescape")


def write(path, text):
    path.write_bytes(text.encode("utf-8", "surrogateescape"))


def condition(line):
    """Where the condition of a line's `if` begins and ends."""
    start = re.search(r"\bif\s*\(", line)
    depth, quote, at = 0, "", start.end() - 1
    while at < len(line):
        c = line[at]
        if quote:
            at += c == "\\"
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "()":
            depth += 1 if c == "(" else -1
            if depth == 0:
                return start.end(), at
        at += 1
    return None


class Check:
    def __init__(self, path, first, last, home):
        self.path, self.first, self.last, self.home = path, first, last, home


class Library:
    """A library with its checks, in a working folder: `plain` as it is and `switched`."""

    def __init__(self, name, tree, work):
        self.name, self.package, self.work = name, LIBRARIES[name], work
        self.java = self.package["language"] == "java"
        self.plain, self.switched = work / "plain", work / "switched"
        for copy in (self.plain, self.switched):
            shutil.copytree(tree, copy, symlinks=True)
        without = self.package.get("without", "^$")
        self.sources = sorted(p.relative_to(self.plain) for pattern in self.package["sources"] for p in self.plain.glob(pattern) if not re.search(without, p.name))
        self.seeds = work / "seeds"
        self.seeds.mkdir()
        for i, seed in enumerate(self.package["seeds"]()):
            (self.seeds / f"{i:03}").write_bytes(seed)
        self.checks = []
        for path in self.sources:
            rows = functions(self.plain / path)
            for first, last in checks(read(self.plain / path), self.package["language"], 9):
                home = around(rows, first + 1)
                if home is not None and condition(read(self.plain / path).split("\n")[first]):
                    self.checks.append(Check(path, first, last, home))
        self.dropped = set()

    def switch(self, path):
        """Writes the file with its checks as switches."""
        lines = read(self.plain / path).split("\n")
        for number, check in enumerate(self.checks):
            if check.path == path and number not in self.dropped and re.search(r"\bif\s*\(", lines[check.first]):
                line = lines[check.first]
                begin, end = condition(line)
                call = f"harvest.Harvest.check({number}, ({line[begin:end]}))" if self.java else f"harvest_check({number}, !!({line[begin:end]}))"
                lines[check.first] = line[:begin] + call + line[end:]
        write(self.switched / path, "\n".join(lines))

    def drop(self, errors):
        """Leaves the checks alone at which the compiler took offence."""
        before = len(self.dropped)
        for file, line in re.findall(r"^(/\S+?):(\d+)(?::\d+)?: (?:fatal )?error", errors, re.M):
            for number, check in enumerate(self.checks):
                if str(self.switched / check.path) == file and check.first <= int(line) - 1 <= check.last:
                    self.dropped.add(number)
        return len(self.dropped) > before

    def remove(self, check):
        """Writes the file without the check into `plain`, and gives the old and the new text."""
        old = read(self.plain / check.path)
        lines = old.split("\n")
        new = "\n".join(lines[: check.first] + lines[check.last + 1 :])
        write(self.plain / check.path, new)
        return old, new

    def tidy_log(self, log):
        for folder, short in ((self.plain, "/src"), (self.switched, "/src"), (HERE, "/case"), (self.work, "/out")):
            log = log.replace(str(folder), short)
        return log


class Native(Library):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.harness = HERE / "harness" / self.package["harness"]
        self.is_header = lambda path: path.suffix in (".h", ".hpp") or "included" in self.package

    def command(self, root, path, output, more):
        compiler = "clang" if path.suffix == ".c" else "clang++"
        flags = [f.replace("$T", str(root)).replace("$H", str(HERE / "harness")) for f in self.package["flags"]]
        own = self.package.get("cc" if path.suffix == ".c" else "cxx", [])
        return [compiler, *PLAIN, *flags, *own, *more, "-c", path, "-o", output]

    def objects(self, root):
        folder = self.work / f"objects-{root.name}"
        folder.mkdir(exist_ok=True)
        pairs = [(root / p, folder / (str(p).replace("/", "_") + ".o")) for p in self.sources if not self.is_header(p)]
        return pairs + [(self.harness, folder / "harness.o")]

    def build(self):
        """Builds the library with switches, and as it is."""
        (self.work / "switch.h").write_text('#ifdef __cplusplus\nextern "C"\n#endif\nint harvest_check(int, int);\n')
        switched = ["-g0", "-include", self.work / "switch.h", "-fsanitize=fuzzer-no-link"]
        for path in self.sources:
            self.switch(path)
        for path, output in self.objects(self.switched):
            for _ in range(6):
                done = run(self.command(self.switched, path, output, switched), timeout=900)
                if done.returncode == 0 or not self.drop(done.stderr):
                    break
                for source in self.sources if path == self.harness else [path.relative_to(self.switched)]:
                    self.switch(source)
            if done.returncode:
                sys.exit(f"{self.name}: {path}: {done.stderr[-3000:]}")
        for path, output in self.objects(self.plain):
            done = run(self.command(self.plain, path, output, []), timeout=900)
            if done.returncode:
                sys.exit(f"{self.name}: {path}: {done.stderr[-3000:]}")
        for one in ("switches.c", "run_one.c"):
            run(["clang", "-g", "-c", HERE / "harness" / one, "-o", self.work / (one + ".o")])
        objects = [output for _, output in self.objects(self.switched)] + [self.work / "switches.c.o"]
        self.program = self.link(objects, "program", ["-fsanitize=address,fuzzer"])
        self.sound = self.link([output for _, output in self.objects(self.plain)] + [self.work / "run_one.c.o"], "sound", ["-fsanitize=address"])

    def link(self, objects, name, flags):
        done = run(["clang++", "-g", *flags, *objects, *self.package.get("link", []), "-o", self.work / name], timeout=600)
        if done.returncode:
            sys.exit(f"{self.name}: {done.stderr[-3000:]}")
        return self.work / name

    def feed(self, folders, seconds, off=-1, hits=None):
        """Fuzzes the switched program; the first folder takes new inputs. The input that crashed it, if any."""
        artifacts = self.work / "artifacts"
        shutil.rmtree(artifacts, ignore_errors=True)
        artifacts.mkdir()
        environment = dict(os.environ, ASAN_OPTIONS=ASAN + ":symbolize=0", HARVEST_OFF=str(off))
        if hits:
            environment["HARVEST_HITS"] = str(hits)
        length = self.package.get("length", 600)
        limit = ["-runs=0"] if seconds == 0 else [f"-max_total_time={seconds}"]
        run([self.program, *folders, *limit, "-seed=1", "-timeout=5", "-rss_limit_mb=2500", f"-max_len={length}", f"-artifact_prefix={artifacts}/"],
            timeout=seconds * 4 + 60, env=environment)
        found = [p for p in sorted(artifacts.iterdir()) if p.name.startswith("crash-")]
        return found[0].read_bytes() if found else None

    def reached(self, seconds):
        corpus = self.work / "corpus"
        corpus.mkdir()
        if self.feed([corpus, self.seeds], seconds) is not None:
            print(self.name, "crashes with every check on", flush=True)
        hits = self.work / "hits"
        self.feed([corpus, self.seeds], 0, hits=hits)
        return [int(n) for n in hits.read_text().split()] if hits.exists() else []

    def crashing(self, numbers, seconds):
        """Gives each check's number with the input that crashes the library when it is off."""
        for number in numbers:
            aside = self.work / "aside"
            shutil.rmtree(aside, ignore_errors=True)
            aside.mkdir()
            data = self.feed([aside, self.work / "corpus", self.seeds], seconds, off=number)
            if data is not None:
                yield number, data

    def confirm(self, check, data):
        """The report of the library without the check, where it crashes, and the removal itself."""
        given = self.work / "given"
        given.write_bytes(data)
        environment = dict(os.environ, ASAN_OPTIONS=ASAN)
        if run([self.sound, given], timeout=60, env=environment).returncode:
            return None
        old, new = self.remove(check)
        try:
            mine = self.work / "mutant.o"
            path = self.harness if self.is_header(check.path) else self.plain / check.path
            done = run(self.command(self.plain, path, mine, []), timeout=900)
        finally:
            write(self.plain / check.path, old)
        if done.returncode:
            return None
        objects = [mine if source == path else output for source, output in self.objects(self.plain)] + [self.work / "run_one.c.o"]
        log = self.tidy_log(run([self.link(objects, "removed", ["-fsanitize=address"]), given], timeout=60, env=environment).stderr)
        log, frames = sanitizer_report(log)
        return (log, frames, old, new) if frames else None


class Java(Library):
    def build(self):
        for path in self.sources:
            self.switch(path)
        own = self.switched / "harvest" / "Harvest.java"
        own.parent.mkdir()
        shutil.copy(HERE / "harness" / "Harvest.java", own)
        self.switched_classes, self.plain_classes = self.work / "switched-classes", self.work / "plain-classes"
        for _ in range(6):
            done = self.compile([self.switched / p for p in self.sources] + [own], self.switched_classes)
            if done.returncode == 0 or not self.drop(done.stderr):
                break
            for path in self.sources:
                self.switch(path)
        if done.returncode:
            sys.exit(f"{self.name}: {done.stderr[-3000:]}")
        done = self.compile([self.plain / p for p in self.sources], self.plain_classes)
        if done.returncode:
            sys.exit(f"{self.name}: {done.stderr[-3000:]}")
        for root, classes, drivers in ((self.switched, self.switched_classes, ["Sweep.java"]), (self.plain, self.plain_classes, ["Drive.java"])):
            done = self.compile([HERE / "harness" / one for one in [self.package["harness"], "Drive.java", *drivers]], classes, classes)
            if done.returncode:
                sys.exit(f"{self.name}: {done.stderr[-3000:]}")
            for resource in root.glob("src/main/java/**/*"):
                if resource.is_file() and resource.suffix != ".java":
                    target = classes / resource.relative_to(root / "src/main/java")
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(resource, target)

    def compile(self, sources, output, path=None):
        output.mkdir(exist_ok=True)
        listed = self.work / "listed"
        listed.write_text("\n".join(map(str, sources)))
        return run(["javac", "-nowarn", "-Xmaxerrs", "2000", "--release", "8", "-g", "-encoding", "UTF-8", *(["-cp", path] if path else []), "-d", output, f"@{listed}"], timeout=600)

    def sweep(self, *arguments):
        name = Path(self.package["harness"]).stem
        return run(["java", "-Xmx600m", "-XX:+UseSerialGC", "-cp", self.switched_classes, "Sweep", name, *arguments], timeout=1500)

    def reached(self, seconds):
        corpus = self.work / "corpus"
        corpus.mkdir()
        done = self.sweep("reach", self.seeds, corpus, seconds)
        print(done.stderr[-600:], end="")
        return [int(n) for n in done.stdout.split()]

    def crashing(self, numbers, seconds):
        left = list(numbers)
        while left:
            found = self.work / "found"
            shutil.rmtree(found, ignore_errors=True)
            found.mkdir()
            now, left = left[:12], left[12:]
            done = self.sweep("crash", self.work / "corpus", found, seconds, *now)
            tried = [int(n) for n in done.stdout.split()]
            left = [n for n in now if n not in tried] + left if tried else left
            for one in sorted(found.iterdir()):
                yield int(one.name), one.read_bytes()

    def one(self, path, data):
        seeds, found = self.work / "one", self.work / "one-found"
        shutil.rmtree(seeds, ignore_errors=True)
        found.unlink(missing_ok=True)
        seeds.mkdir()
        (seeds / "000").write_bytes(data)
        done = run(["java", "-Xmx600m", "-cp", path, "Drive", Path(self.package["harness"]).stem, seeds, "0", found], timeout=60)
        return done.stderr if found.exists() else None

    def confirm(self, check, data):
        if self.one(self.plain_classes, data) is not None:
            return None
        mine = self.work / "mutant"
        shutil.rmtree(mine, ignore_errors=True)
        old, new = self.remove(check)
        try:
            done = self.compile([self.plain / check.path], mine, self.plain_classes)
        finally:
            write(self.plain / check.path, old)
        log = self.one(f"{mine}:{self.plain_classes}", data) if done.returncode == 0 else None
        if log is None:
            return None
        log = self.tidy_log("\n".join(log.split("\n")[:200]) + "\n" if log.count("\n") > 200 else log)
        frames = java_frames(log, self.sources)
        return (log, frames, old, new) if frames else None


def place(library, check, frame):
    """The function of a frame, in the library as it was published."""
    _, file, line = frame
    if file == str(check.path) and line > check.first:
        line += check.last - check.first + 1
    return around(functions(library.plain / file), line)


def keep(library, check, data, confirmed, top, out, group):
    log, frames, old, new = confirmed
    name = re.sub("[^a-z0-9]+", "-", check.home[3].lower()).strip("-")
    folder = out / f"{library.name}-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    diff = difflib.unified_diff(old.split("\n"), new.split("\n"), f"a/{check.path}", f"b/{check.path}", lineterm="")
    write(folder / "removed.diff", "\n".join(diff) + "\n")
    (folder / "crash.log").write_text(log)
    (folder / "input").write_bytes(data)
    (folder / "case.toml").write_text(
        f'half = "{group}"\ntree = "{library.package["tree"]}"\nlanguage = "{library.package["language"]}"\ncrashes_in = "{top[2] if top else ""}"\n'
        f'files = ["{check.path}"]\nfunctions = ["{check.home[2]}"]\n'
        f'how = "removed: a check of {check.home[2]} was left out (removed.diff), the library rebuilt and really crashed (sweep.py {library.name})"\n')


def main():
    name, tree, out = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
    wanted = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    seconds = int(sys.argv[5]) if len(sys.argv) > 5 else 4
    groups = (HERE / "groups.toml").read_text()
    group = next(one for one in ("harvested", "measured-once") if re.search(rf'^{one} = .*"{name}"', groups, re.M))
    with tempfile.TemporaryDirectory() as work:
        library = (Java if LIBRARIES[name]["language"] == "java" else Native)(name, tree, Path(work))
        library.build()
        reached = library.reached(LIBRARIES[name].get("first", 20))
        print(name, len(library.checks), "checks,", len(library.dropped), "dropped,", len(reached), "reached", flush=True)
        random.Random(7).shuffle(reached)
        kept, same, seen, tried, unsure, again = 0, 0, set(), 0, 0, 0
        turns = sorted(reached, key=lambda n: [m for m in reached if library.checks[m].home == library.checks[n].home].index(n))
        for number, data in library.crashing(turns, seconds):
            check = library.checks[number]
            tried += 1
            if ("home", check.path, check.home[2]) in seen:
                continue
            confirmed = library.confirm(check, data)
            if not confirmed:
                unsure += 1
                continue
            top = place(library, check, confirmed[1][0])
            at = confirmed[1][0][1:]
            inside = top is not None and at[0] == str(check.path) and top[2] == check.home[2]
            if ("at", *at) in seen or (inside and same >= SAME):
                again += 1
                continue
            on = any((place(library, check, frame) or ("",) * 4)[2] == check.home[2] for frame in confirmed[1])
            keep(library, check, data, confirmed, top, out, group)
            print(name, "kept:", "same function" if inside else "on the stack" if on else "off the stack", flush=True)
            seen |= {("home", check.path, check.home[2]), ("at", *at)}
            kept, same = kept + 1, same + inside
            if kept >= wanted:
                break
        print(name, "kept", kept, "of", tried, "that crashed;", unsure, "not confirmed,", again, "like others", flush=True)


main()
