"""Watches under gdb how a program ends, and writes down what it saw.

Recorded are the system call that ends the process with the stack that led to
it, every exec and fork, deadly signals, the stack at chosen moments, calls of the
project by which it changes what its sanitizer sees, and how many checks of a
sanitizer the watched functions hold. What is written holds no address: two runs
of one program give the same text.
"""

import json
import os
import re
import signal
import threading
import time

import gdb

# Frames of one stack and events of one process that are written down, and lines of a
# range whose functions are looked up.
MOST_FRAMES, MOST_EVENTS, MOST_LINES = 40, 32, 400
# Seconds that gdb gets to stop a program.
GRACE = 3
# Signals by which a program dies of its own mistake.
DEADLY = ("SIGILL", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGSYS")
# What the kernel is asked for, by the name of the event.
CATCHES = (
    ("exit", "syscall exit_group"),
    ("exec", "syscall execve"),
    ("exec", "syscall execveat"),
    ("fork", "fork"),
    ("fork", "vfork"),
)

# Code of a sanitizer in a function: calls of its runtime, and reads of its
# shadow memory (where x86-64 keeps AddressSanitizer's).
CHECK = re.compile(r"__(?:asan|hwasan|msan|tsan)_(?!handle_no_return)|0x7fff8000")
# A check of UndefinedBehaviorSanitizer, by its kind.
UNDEFINED = re.compile(r"__ubsan_handle_\w+")
# A jump by a table, whose entry is read by no check.
TABLE = re.compile(r"jmp +\*")
# Instructions from the read of an entry to the jump.
NEAR = 4
# An access to memory that is not the stack frame, in x86-64 code.
ACCESS = re.compile(r"\(%r(?!sp|bp|ip)\w+")

# Functions of a sanitizer that change what it checks or reports, whoever finds their
# addresses; and those by which a program finds an address or does without the C
# library that the sanitizer watches.
CONTROLS = (
    "__asan_poison_memory_region __asan_unpoison_memory_region __asan_set_death_callback"
    " __asan_set_error_report_callback __lsan_disable __lsan_ignore_object"
    " __lsan_register_root_region __msan_unpoison __msan_unpoison_string __msan_set_keep_going"
    " __sanitizer_set_death_callback __sanitizer_set_report_fd __sanitizer_set_report_path"
    " clone dlopen dlmopen dlsym dlvsym process_vm_readv process_vm_writev syscall"
).split()
# Functions that matter only for some addresses: the first argument is one.
SHADOW = (0x7FFF8000, 0x10007FFF8000)
HEAP = (0x600000000000, 0x640000000000)
SHADOW_OF_HEAP = tuple((at >> 3) + SHADOW[0] for at in HEAP)
ADDRESSED = {
    **dict.fromkeys("madvise mmap mmap64 mprotect mremap munmap".split(), SHADOW),
    **dict.fromkeys("__asan_unpoison_stack_memory __asan_alloca_unpoison".split(), HEAP),
    **dict.fromkeys((f"__asan_set_shadow_{value}" for value in ("00", "01", "04")), SHADOW_OF_HEAP),
}
# A function of a sanitizer's runtime, by its name.
RUNTIME = re.compile(r"_*(?:(?:asan|hwasan|lsan|msan|tsan|ubsan|sanitizer)(?:_|::)|interception::|interceptor_|interceptor_trampoline)")

notes = os.environ["NOTES"]
tree = os.environ["TREE"].rstrip("/") + "/"
started = time.monotonic()
until = started + float(os.environ["WATCH_SECONDS"])
# Seconds after which a program that goes on is asked for its stack.
samples = [float(text) for text in os.environ.get("SAMPLES", "").split()]
# Seconds that a program has after the last look.
LAST = 1
events = []
# Breakpoints in the program, which another one that takes its place does not have.
placed = []
called = set()
functions = {}
stopped = None
ended = "unknown"
status = 0
# The status that the process asked to leave with.
asked = None


def frames():
    """The stack, innermost frame first."""
    found = []
    frame = gdb.newest_frame()
    while frame is not None and len(found) < MOST_FRAMES:
        try:
            found.append(describe(frame))
            frame = frame.older()
        except gdb.error:
            break
    return found


def describe(frame):
    place = frame.find_sal()
    path = place.symtab.fullname() if place.symtab is not None else None
    inside = path is not None and path.startswith(tree)
    return {
        "function": frame.name() or "??",
        "file": path[len(tree) :] if inside else None,
        "line": place.line if inside else 0,
        "named": path is not None,
        "in_library": gdb.solib_name(frame.pc()) is not None,
        "handler": frame.type() == gdb.SIGTRAMP_FRAME,
    }


def tell(what, name=""):
    if len(events) < MOST_EVENTS:
        events.append({"what": what, "name": name, "stack": frames()})


class Call(gdb.Breakpoint):
    """Notes calls of a function by the project, and never stops."""

    def __init__(self, name, among=None):
        # The whole name: a method `clone` of some class is not the system call.
        super().__init__(f"-qualified -function {name}", internal=True)
        placed.append(self)
        self.name, self.among = name, among

    def stop(self):
        # The project's own function of that name is none of the C library or sanitizer.
        if describe(gdb.newest_frame())["file"] is not None:
            return False
        if self.among is not None:
            at = int(gdb.parse_and_eval("(unsigned long)$rdi"))
            if not self.among[0] <= at < self.among[1]:
                return False
        caller = by_project(gdb.newest_frame().older())
        if caller is not None and (self.name, caller) not in called:
            called.add((self.name, caller))
            tell("control", self.name)
        return False


def by_project(frame):
    """The line of the project that calls; None where a library or a sanitizer does."""
    while frame is not None:
        told = describe(frame)
        if told["in_library"] or RUNTIME.match(told["function"]):
            return None
        if told["named"]:
            return (told["file"], told["line"]) if told["file"] is not None else None
        frame = frame.older()
    return None


def note_calls():
    """Notes the calls that can blind a sanitizer."""
    for name in CONTROLS:
        Call(name)
    if gdb.selected_frame().architecture().name().startswith("i386:x86-64"):
        for name, among in ADDRESSED.items():
            Call(name, among)


def entry():
    """Stops where the program begins, with its libraries in place: each breakpoint on a
    name would else be looked up again for every library."""
    vector = gdb.execute("info auxv", to_string=True)
    address = re.search(r"AT_ENTRY.*?(0x[0-9a-f]+)", vector).group(1)
    placed.append(gdb.Breakpoint(f"*{address}", internal=True))
    return placed[-1].number


def outermost(block):
    """The function, with all that was inlined in it, that a block is part of."""
    found = None
    while block is not None and not block.is_global and not block.is_static:
        found = block if block.function is not None else found
        block = block.superblock
    return found


def count_lines(path, lines):
    """Counts in the functions that some lines of a file became part of."""
    done = set()
    for line in lines:
        try:
            _, places = gdb.decode_line(f"{path}:{line}")
        except gdb.error:
            return
        for place in places or ():
            block = outermost(gdb.block_for_pc(place.pc)) if place.line in lines else None
            if block is not None and block.start not in done:
                done.add(block.start)
                count_block(block.function.name, block)


def count_checks(name):
    """Counts in a function with a name."""
    symbol = gdb.lookup_global_symbol(name) or gdb.lookup_static_symbol(name)
    if symbol is not None and symbol.is_function:
        count_block(name, gdb.block_for_pc(int(symbol.value().address)))


def count_block(name, block):
    """Counts the sanitizer's checks and the accesses to memory in a function."""
    code = gdb.selected_frame().architecture().disassemble(block.start, block.end - 1)
    lines = [line["asm"] for line in code]
    functions[name] = {
        "checks": sum(bool(CHECK.search(line)) for line in lines),
        "accesses": sum(is_access(lines, at) for at in range(len(lines))),
        "undefined": len({kind for line in lines for kind in UNDEFINED.findall(line)}),
    }


def is_access(lines, at):
    """Tells whether an instruction reads or writes what a check would precede."""
    if not ACCESS.search(lines[at]) or lines[at].startswith(("lea", "nop")):
        return False
    return not any(TABLE.search(line) for line in lines[at : at + NEAR])


def on_stop(event):
    global stopped
    stopped = event


def on_exit(event):
    global ended, status
    code = getattr(event, "exit_code", None)
    ended = "a signal" if code is None else f"exit status {code}"
    status = 1 if code is None else int(code)


def look(catches):
    """Writes down the reason of a stop."""
    global asked
    if isinstance(stopped, gdb.SignalEvent):
        if stopped.stop_signal in DEADLY:
            tell("signal", stopped.stop_signal)
        elif stopped.stop_signal == "SIGINT":
            tell("sample")
        return
    for point in getattr(stopped, "breakpoints", ()):
        what = catches.get(point.number)
        if what == "entry":
            note_calls()
            # In a program that takes this one's place the address means nothing.
            point.delete()
            return
        if what is not None:
            tell(what)
        if what == "exec":
            while placed:
                point = placed.pop()
            # A temporary one is gone once it was met.
            if point.is_valid():
                point.delete()
        if what == "exit":
            asked = asked_status()


def asked_status():
    """The status that a process asks the kernel to leave with."""
    for register in ("$rdi", "$x0"):
        try:
            return int(gdb.parse_and_eval(f"(int){register}")) & 255
        except (gdb.error, ValueError):
            continue
    return None


def follow(catches):
    """Goes from stop to stop until the process is gone."""
    global ended, status
    while gdb.selected_inferior().pid:
        try:
            gdb.execute("continue", to_string=True)
            if gdb.selected_inferior().pid:
                look(catches)
        except gdb.error:
            # Of a process with threads gdb may lose the last ones as they go.
            if not events or events[-1]["what"] != "exit":
                raise
            break
    if ended == "unknown" and events and events[-1]["what"] == "exit" and asked is not None:
        ended, status = f"exit status {asked}", asked


def catch(kind):
    """Sets a catchpoint and returns its number."""
    text = gdb.execute(f"catch {kind}", to_string=True)
    return int(text.split()[1])


def due(process):
    """Tells whether it is time for the next look: by the processor time of the process, so that
    a busy machine shows the same place later; by the clock where the process waits."""
    clock = time.monotonic() - started
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            state, *rest = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return clock >= samples[0]
    used = (int(rest[10]) + int(rest[11])) / os.sysconf("SC_CLK_TCK")
    return used >= samples[0] or state in "SD" and clock >= samples[0]


def watch():
    """Stops a program that does not come to an end by itself; and gdb, should
    that not be enough."""
    global ended, until
    while time.monotonic() < until:
        time.sleep(0.2)
        process = gdb.selected_inferior().pid
        if samples and process and due(process):
            del samples[0]
            if not samples:
                until = min(until, time.monotonic() + LAST)
            os.kill(process, signal.SIGINT)
    process = gdb.selected_inferior().pid
    if process:
        try:
            os.kill(process, signal.SIGKILL)
        except OSError:
            pass
    time.sleep(GRACE)
    ended = "time"
    write()
    os._exit(1)


def write(problem=None):
    told = {"ended": ended, "problem": problem, "events": events, "functions": functions}
    name = f"{notes}/exits/{os.getpid()}.json"
    with open(f"{name}.new", "w", encoding="utf-8") as file:
        json.dump(told, file)
    os.rename(f"{name}.new", name)


def settings():
    for setting in (
        "confirm off",
        "debug-file-directory /nonexistent",
        "disable-randomization off",
        "pagination off",
        "breakpoint pending on",
        "follow-fork-mode parent",
        "detach-on-fork on",
        "print thread-events off",
        "print inferior-events off",
        # It reads structures of the C library, which fails where a process is about to
        # go; only thread-local variables need it.
        "libthread-db-search-path /nonexistent",
    ):
        try:
            gdb.execute(f"set {setting}")
        except gdb.error:
            pass
    gdb.execute("handle all nostop noprint pass", to_string=True)
    gdb.execute(f"handle {' '.join(DEADLY)} stop print pass", to_string=True)
    if samples:
        gdb.execute("handle SIGINT stop print nopass", to_string=True)
    # What is written here must not be in the program's reach.
    gdb.execute(f"set exec-wrapper {os.environ['JUDGED']}")
    # LeakSanitizer gives up under a debugger, and names in a report take long.
    for tool, more in (("ASAN", "detect_leaks=0:"), ("UBSAN", ""), ("MSAN", ""), ("TSAN", "")):
        old = os.environ.get(f"{tool}_OPTIONS", "")
        gdb.execute(f"set environment {tool}_OPTIONS {old + ':' if old else ''}{more}symbolize=0")


def main():
    global started, until
    try:
        settings()
        gdb.events.stop.connect(on_stop)
        gdb.events.exited.connect(on_exit)
        threading.Thread(target=watch, daemon=True).start()
        # Set before the program begins, so that nothing of it is missed.
        gdb.execute("starti", to_string=True)
        if samples:
            # gdb itself may take long to begin.
            later = time.monotonic() - started
            started += later
            until += later
        catches = {catch(kind): what for what, kind in CATCHES}
        for name in filter(None, os.environ["WATCHED"].split("\n")):
            try:
                count_checks(name)
            except gdb.error:
                pass
        for touched in filter(None, os.environ["TOUCHED"].split("\n")):
            path, first, last = touched.rsplit(":", 2)
            count_lines(path, range(int(first), min(int(last), int(first) + MOST_LINES) + 1))
        catches[entry()] = "entry"
        follow(catches)
        write()
    except (OSError, RuntimeError, ValueError) as error:
        write(str(error))
    os._exit(status)


main()
