"""Watches under gdb how a program ends, and writes down what it saw.

Recorded are the system call that ends the process with the stack that led to
it, every exec and fork, deadly signals, the stack at chosen moments, and how
many checks of a sanitizer the watched functions hold. What is written holds no address: two runs of one
program give the same text.
"""

import json
import os
import re
import signal
import threading
import time

import gdb

# Frames of one stack and events of one process that are written down.
MOST_FRAMES, MOST_EVENTS = 40, 32
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
# An access to memory that is not the stack frame, in x86-64 code.
ACCESS = re.compile(r"\(%r(?!sp|bp|ip)\w+")

work = os.environ["WORK"]
tree = os.environ["TREE"].rstrip("/") + "/"
until = time.monotonic() + float(os.environ["WATCH_SECONDS"])
# Moments at which a program that goes on is asked for its stack.
samples = [time.monotonic() + float(text) for text in os.environ.get("SAMPLES", "").split()]
events = []
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


def count_checks(name):
    """Counts the sanitizer's checks and the accesses to memory in a function."""
    symbol = gdb.lookup_global_symbol(name) or gdb.lookup_static_symbol(name)
    if symbol is None or not symbol.is_function:
        return
    block = gdb.block_for_pc(int(symbol.value().address))
    code = gdb.selected_frame().architecture().disassemble(block.start, block.end - 1)
    lines = [line["asm"] for line in code]
    functions[name] = {
        "checks": sum(bool(CHECK.search(line)) for line in lines),
        "accesses": sum(bool(ACCESS.search(line)) and not line.startswith(("lea", "nop")) for line in lines),
    }


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
        if what is not None:
            tell(what)
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


def watch():
    """Stops a program that does not come to an end by itself; and gdb, should
    that not be enough."""
    global ended
    while time.monotonic() < until:
        time.sleep(0.2)
        if samples and time.monotonic() >= samples[0] and gdb.selected_inferior().pid:
            del samples[0]
            os.kill(gdb.selected_inferior().pid, signal.SIGINT)
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
    name = f"{work}/exits/{os.getpid()}.json"
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
    ):
        try:
            gdb.execute(f"set {setting}")
        except gdb.error:
            pass
    gdb.execute("handle all nostop noprint pass", to_string=True)
    gdb.execute(f"handle {' '.join(DEADLY)} stop print pass", to_string=True)
    if samples:
        gdb.execute("handle SIGINT stop print nopass", to_string=True)
    # LeakSanitizer gives up under a debugger, and names in a report take long.
    for tool, more in (("ASAN", "detect_leaks=0:"), ("UBSAN", ""), ("MSAN", ""), ("TSAN", "")):
        old = os.environ.get(f"{tool}_OPTIONS", "")
        gdb.execute(f"set environment {tool}_OPTIONS {old + ':' if old else ''}{more}symbolize=0")


def main():
    try:
        settings()
        gdb.events.stop.connect(on_stop)
        gdb.events.exited.connect(on_exit)
        threading.Thread(target=watch, daemon=True).start()
        # Set before the program begins, so that nothing of it is missed.
        gdb.execute("starti", to_string=True)
        catches = {catch(kind): what for what, kind in CATCHES}
        for name in filter(None, os.environ["WATCHED"].split("\n")):
            try:
                count_checks(name)
            except gdb.error:
                pass
        follow(catches)
        write()
    except (OSError, gdb.error, ValueError) as error:
        write(str(error))
    os._exit(status)


main()
