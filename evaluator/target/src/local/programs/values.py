"""Runs each input of a batch under gdb and writes down the values that leave
the watched functions.

These are what a watched function returns to a caller that is not watched, and
from its first call on what the harness gets from the project: results, and what
is behind the pointers that it passed. Numbers are written as they are, pointers
only as null or not, so that two runs of one program are the same text. Of a
watched function that the compiler put into its caller, the caller's result is
taken. Each line is a kind, a function with its file, and what happened, between
tabs; names that a compiler gives to parts of functions are left out.
"""

import os
import re
import zlib

import gdb

# Calls that are followed in one run; a hot function would take for ever.
MOST_CALLS = 60
# Lines that are written for one run.
MOST_EVENTS = 300
# Text that is shown, and text that is read at most.
LONGEST_TEXT = 80
MOST_TEXT = 1 << 16
# Functions of the harness that call one another before the project is called.
HARNESS_DEPTH = 4
# Where arguments are passed that are integers or pointers.
REGISTERS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
PART = re.compile(r"\.(part|isra|constprop|cold)\b")
CALL = re.compile(r"^call\w*\s+(0x[0-9a-f]+)")
SCALARS = (
    gdb.TYPE_CODE_INT,
    gdb.TYPE_CODE_BOOL,
    gdb.TYPE_CODE_CHAR,
    gdb.TYPE_CODE_ENUM,
    gdb.TYPE_CODE_FLT,
)

notes = os.environ["NOTES"]
tree = os.environ["TREE"].rstrip("/") + "/"
direct = False
events = []
calls = 0
followed = set()
watched_names = {name.rsplit("::", 1)[-1] for name in os.environ["WATCHED"].split("\n")}


def tell(event):
    if len(events) < MOST_EVENTS:
        events.append(event)


def shorten(text):
    if len(text) <= LONGEST_TEXT:
        return ascii(text)
    digest = zlib.crc32(text.encode("latin-1", "replace"))
    return f"{ascii(text[:LONGEST_TEXT])}.. ({len(text)} bytes, {digest:08x})"


def string(pointer):
    """The text at a pointer; a name where there is none."""
    for most in (MOST_TEXT, 4096, 256, 16):
        try:
            memory = gdb.selected_inferior().read_memory(pointer, most)
            return shorten(bytes(memory).split(b"\0")[0].decode("latin-1"))
        except gdb.MemoryError:
            continue
    return "a pointer"


def is_text(kind):
    return kind.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR) and kind.sizeof == 1


def show(value):
    if value is None:
        return "nothing"
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF):
        pointer = int(value.cast(gdb.lookup_type("unsigned long")))
        if pointer == 0:
            return "null"
        return string(pointer) if is_text(kind.target().strip_typedefs()) else "a pointer"
    return str(value) if kind.code in SCALARS else "an object"


class Return(gdb.FinishBreakpoint):
    def __init__(self, frame, name):
        super().__init__(frame, internal=True)
        self.silent = True
        self.name = name

    def stop(self):
        try:
            tell(f"returned\t{self.name}\treturns {show(self.return_value)}")
        except Exception:
            pass
        return False

    def out_of_scope(self):
        tell(f"returned\t{self.name}\tis left")


class Given(gdb.Breakpoint):
    """A call of the project by the harness is about to happen."""

    def __init__(self, address, result):
        super().__init__(f"*{address}", internal=True)
        self.silent = True
        self.result = result

    def stop(self):
        try:
            self.result.arguments = [
                int(gdb.parse_and_eval(f"(unsigned long)${register}"))
                for register in REGISTERS
            ]
        except gdb.error:
            self.result.arguments = []
        return False


class Result(gdb.Breakpoint):
    """Such a call is over."""

    def __init__(self, address, function):
        super().__init__(f"*{address}", internal=True)
        self.silent = True
        self.name = function.print_name
        self.signature = function.type
        self.arguments = []

    def stop(self):
        if calls == 0:
            # What was not touched yet cannot differ.
            return False
        try:
            tell(f"harness\t{self.name}\treturns {self.value()}{self.written()}")
        except (gdb.error, RuntimeError, ValueError):
            pass
        return False

    def value(self):
        kind = self.signature.target().strip_typedefs()
        if kind.code == gdb.TYPE_CODE_VOID:
            return "nothing"
        if kind.code in SCALARS and kind.code != gdb.TYPE_CODE_FLT or kind.code == gdb.TYPE_CODE_PTR:
            return show(gdb.parse_and_eval("$rax").cast(kind))
        return "an object"

    def written(self):
        """The text behind pointers to text that may be written. Numbers are
        left out: how much room was used is told by some repairs only."""
        found = []
        for field, pointer in zip(self.signature.fields(), self.arguments):
            kind = field.type.strip_typedefs()
            if kind.code != gdb.TYPE_CODE_PTR or pointer == 0:
                continue
            target = kind.target()
            constant = str(target).startswith("const ") or " const" in str(target)
            target = target.strip_typedefs()
            if not constant and is_text(target):
                found.append(string(pointer))
        return f", written: {', '.join(found)}" if found else ""


class Harness(gdb.Breakpoint):
    """The harness begins: from here its calls of the project are seen."""

    def __init__(self, name):
        super().__init__(function=name, internal=True)
        self.silent = True


def function_at(address):
    block = gdb.block_for_pc(address)
    while block is not None and block.function is None:
        block = block.superblock
    return None if block is None else block.function


def is_project(symbol):
    return symbol.symtab is not None and symbol.symtab.fullname().startswith(tree)


def watch_harness(address, seen, depth):
    """Finds the calls of the project in a function of the harness."""
    function = function_at(address)
    if function is None or depth > HARNESS_DEPTH or function.name in seen or is_project(function):
        return
    seen.add(function.name)
    block = gdb.block_for_pc(address)
    while block.function is None:
        block = block.superblock
    architecture = gdb.selected_frame().architecture()
    code = architecture.disassemble(block.start, block.end - 1)
    for line, following in zip(code, code[1:]):
        call = CALL.match(line["asm"])
        if call is None:
            continue
        called = function_at(int(call.group(1), 16))
        if called is None:
            continue
        if is_project(called):
            Given(line["addr"], Result(following["addr"], called))
        else:
            watch_harness(int(call.group(1), 16), seen, depth + 1)


def is_watched(frame):
    name = re.split(r"[(<]", frame.name() or "??")[0]
    return name.rsplit("::", 1)[-1] in watched_names


def is_part(frame):
    """Whether the compiler made the code of a part of a function."""
    symbol = gdb.execute(f"info symbol {frame.pc()}", to_string=True)
    return PART.search(symbol) is not None


def follow(frame):
    """Waits for the result of a call, or of the call that it was put into, where
    that goes to a caller that is not watched."""
    name = frame.name()
    while frame is not None and frame.type() == gdb.INLINE_FRAME:
        frame = frame.older()
    if frame is None or frame.older() is None or is_watched(frame.older()) or is_part(frame):
        return
    key = (frame.name(), int(frame.older().read_register("rsp")))
    if key in followed and frame.name() != name:
        return
    followed.add(key)
    symbol = frame.function()
    file = symbol.symtab.filename.rsplit("/", 1)[-1] if symbol is not None else "??"
    try:
        Return(frame, f"{frame.name()} ({file})")
    except (ValueError, RuntimeError, gdb.error):
        pass


def load():
    """Loads the program itself where the command line is one program of the
    build, else leaves it to a shell that is followed."""
    program = os.environ.get("PROGRAM", "")
    if not program:
        return False
    path = f"{os.environ['OUT']}/{program}"
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return False
    gdb.execute(f"file {path}", to_string=True)
    gdb.execute(f"set args {os.environ['ARGUMENTS']}")
    return True


def alive():
    return gdb.selected_inferior().pid != 0


def begin(path):
    global calls
    events.clear()
    followed.clear()
    calls = 0
    if not direct:
        # The last run may have left another process, and another program, selected.
        gdb.execute("inferior 1", to_string=True)
        for other in gdb.inferiors():
            if other.num != 1:
                gdb.execute(f"remove-inferiors {other.num}", to_string=True)
        gdb.execute("file /bin/sh", to_string=True)
        gdb.execute("set args -eu -c 'eval \"$POV_COMMAND\"'")
    gdb.execute(f"set environment POV {path}")


def at_harness(harness):
    """Whether the program stands at the begin of its harness."""
    here = gdb.newest_frame().name()
    if here not in [point.location.rsplit(" ", 1)[-1] for point in harness]:
        return False
    for point in harness:
        point.enabled = False
    try:
        watch_harness(gdb.newest_frame().pc(), set(), 0)
    except (gdb.error, RuntimeError, ValueError, AttributeError) as error:
        tell(f"note\t\tthe harness cannot be seen: {error}")
    return True


def trace(path, watched, harness):
    global calls
    begin(path)
    for point in [*watched, *harness]:
        point.enabled = True
    gdb.execute("run", to_string=True)
    while alive():
        try:
            if any(point.enabled for point in harness) and at_harness(harness):
                gdb.execute("continue", to_string=True)
                continue
            calls += 1
            follow(gdb.newest_frame())
        except gdb.error:
            pass
        if calls > MOST_CALLS:
            tell("and so on")
            for point in watched:
                point.enabled = False
        gdb.execute("continue", to_string=True)
    for point in gdb.breakpoints() or ():
        if isinstance(point, (Return, Given, Result)):
            point.delete()


def settings():
    for setting in (
        "confirm off",
        # What the system keeps of its own libraries is read anew for each run,
        # and takes most of the time; of the project nothing lies there.
        "debug-file-directory /nonexistent",
        "pagination off",
        "breakpoint pending on",
        "follow-fork-mode child",
        "print thread-events off",
        "print inferior-events off",
    ):
        try:
            gdb.execute(f"set {setting}")
        except gdb.error:
            pass
    gdb.execute("handle all nostop noprint pass", to_string=True)
    # What is written here must not be in the program's reach.
    gdb.execute(f"set exec-wrapper {os.environ['JUDGED']}")
    # LeakSanitizer gives up under a debugger.
    old = os.environ.get("ASAN_OPTIONS", "")
    gdb.execute(f"set environment ASAN_OPTIONS {old}:detect_leaks=0".replace(" :", " "))


def main():
    global direct
    settings()
    try:
        direct = load()
    except (OSError, gdb.error):
        direct = False
    watched = []
    for name in os.environ["WATCHED"].split("\n"):
        point = gdb.Breakpoint(function=name, internal=True)
        point.silent = True
        watched.append(point)
    harness = [Harness("LLVMFuzzerTestOneInput")]
    if direct and gdb.lookup_global_symbol("LLVMFuzzerTestOneInput") is None:
        harness = [Harness("main")]
    for name in sorted(os.listdir(f"{notes}/in")):
        try:
            trace(f"{notes}/in/{name}", watched, harness)
        except gdb.error as error:
            tell(f"note\t\tgdb: {error}")
        if alive():
            gdb.execute("kill", to_string=True)
        with open(f"{notes}/out/{name}", "w", encoding="utf-8") as file:
            file.write("\n".join([f"{calls} calls", *events]) + "\n")


main()
