"""Runs each input of a batch under gdb and writes down what functions return.

For every call of a watched function its own result and its caller's are
recorded, in order: numbers as they are, pointers only as null or not, so that
two runs of one program are the same text.
"""

import os

import gdb

# Calls that are followed in one run; a hot function would take for ever.
MOST_CALLS = 60
LONGEST_TEXT = 80

work = os.environ["WORK"]
direct = False
events = []
calls = 0


def show(value):
    if value is None:
        return "nothing"
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF):
        if int(value.cast(gdb.lookup_type("unsigned long"))) == 0:
            return "null"
        target = kind.target().strip_typedefs()
        if target.code == gdb.TYPE_CODE_INT and target.sizeof == 1:
            try:
                text = value.string("latin-1", "replace", LONGEST_TEXT)
                return ascii(text)
            except (gdb.error, UnicodeError, MemoryError):
                pass
        return "a pointer"
    scalars = (
        gdb.TYPE_CODE_INT,
        gdb.TYPE_CODE_BOOL,
        gdb.TYPE_CODE_CHAR,
        gdb.TYPE_CODE_ENUM,
        gdb.TYPE_CODE_FLT,
    )
    return str(value) if kind.code in scalars else "an object"


class Return(gdb.FinishBreakpoint):
    def __init__(self, frame, name):
        super().__init__(frame, internal=True)
        self.silent = True
        self.name = name

    def stop(self):
        try:
            events.append(f"{self.name} returns {show(self.return_value)}")
        except Exception:
            events.append(f"{self.name} returns")
        return False

    def out_of_scope(self):
        events.append(f"{self.name} is left")


def follow(frame):
    name = frame.name() or "??"
    try:
        Return(frame, name)
    except (ValueError, RuntimeError, gdb.error):
        events.append(f"{name} is entered")


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


def trace(path):
    global calls
    events.clear()
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
    gdb.execute("run", to_string=True)
    while alive():
        calls += 1
        if calls > MOST_CALLS:
            events.append("and so on")
            break
        try:
            frame = gdb.newest_frame()
            older = frame.older()
            follow(frame)
            if older is not None and calls == 1:
                follow(older)
        except gdb.error:
            pass
        gdb.execute("continue", to_string=True)
    if alive():
        gdb.execute("kill", to_string=True)
    for point in gdb.breakpoints() or ():
        if isinstance(point, Return):
            point.delete()


def main():
    global direct
    for setting in (
        "confirm off",
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
    # LeakSanitizer gives up under a debugger.
    old = os.environ.get("ASAN_OPTIONS", "")
    gdb.execute(f"set environment ASAN_OPTIONS {old}:detect_leaks=0".replace(" :", " "))
    try:
        direct = load()
    except (OSError, gdb.error):
        direct = False
    for name in os.environ["WATCHED"].split("\n"):
        point = gdb.Breakpoint(function=name, internal=True)
        point.silent = True
    for name in sorted(os.listdir(f"{work}/in")):
        try:
            trace(f"{work}/in/{name}")
        except gdb.error as error:
            events.append(f"gdb: {error}")
            if alive():
                gdb.execute("kill", to_string=True)
        with open(f"{work}/out/{name}", "w", encoding="utf-8") as file:
            file.write("\n".join([f"{calls} calls", *events]) + "\n")


main()
