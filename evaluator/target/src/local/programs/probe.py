"""Runs one PoV under gdb and writes down what expressions hold at lines.

Expressions come from a model. They were read by a grammar that knows neither
calls nor assignments; here they are only evaluated, never handed to gdb's
command line, and gdb is told to call no function of the program.
What is written holds no address: two runs of one program give the same text.
"""

import collections
import json
import os
import re
import signal
import threading
import time

import gdb

# Different values in a row that are kept from the beginning and from the end.
FIRST, LAST = 6, 4
# How much of a value is shown.
ELEMENTS, FIELDS, LONGEST_TEXT = 16, 24, 80
# Lines around one at which the compiler kept no value that are looked at instead.
NEAR = 40
# What is shown of a value that the compiler did not keep.
LOST = "optimised out"
# Seconds between two looks at the clock's verdict while nothing is hit.
TICK = 0.2
# Seconds that gdb gets to stop a program.
GRACE = 3

notes = os.environ["NOTES"]
tree = os.environ["TREE"]
until = time.monotonic() + float(os.environ["PROBE_SECONDS"])
ended = "unknown"
# What a shell is told that waits for the program.
status = 0
# How the program ended, once that is known whatever comes after.
settled = None
probes = []


def is_address(number):
    """Numbers that would differ from run to run: they lie in mapped memory."""
    if not 1 << 32 < number < 1 << 47:
        return False
    try:
        gdb.selected_inferior().read_memory(number, 1)
    except gdb.error:
        return False
    return True


def read_text(pointer):
    """The text behind a pointer, as far as it goes."""
    address = int(pointer)
    raw = b""
    while len(raw) <= LONGEST_TEXT and b"\0" not in raw:
        try:
            raw += bytes(gdb.selected_inferior().read_memory(address + len(raw), 1))
        except gdb.error:
            break
    whole = raw.split(b"\0")[0]
    more = "" if b"\0" in raw and len(whole) <= LONGEST_TEXT else "..."
    return ascii(whole[:LONGEST_TEXT].decode("latin-1")) + more


def show_pointer(value, kind):
    if int(value.cast(gdb.lookup_type("unsigned long"))) == 0:
        return "null"
    target = kind.target().strip_typedefs()
    if target.code == gdb.TYPE_CODE_FUNC:
        symbol = gdb.decode_line("*%d" % int(value))[1]
        block = gdb.block_for_pc(int(value)) if symbol else None
        return f"a pointer to {block.function}" if block and block.function else "a pointer"
    if target.code == gdb.TYPE_CODE_INT and target.sizeof == 1:
        return f"a pointer to {read_text(value)}"
    return f"a pointer ({kind})"


def show_fields(value, kind, depth):
    parts = []
    for field in kind.fields()[:FIELDS]:
        if not hasattr(field, "bitpos") or (field.name or "").startswith("_vptr"):
            continue
        name = field.name or ("" if not field.is_base_class else str(field.type))
        try:
            parts.append(f"{name} = {show(value[field], depth + 1)}")
        except gdb.error as error:
            parts.append(f"{name} = ({plain(error)})")
    more = ", ..." if len(kind.fields()) > FIELDS else ""
    return "{" + ", ".join(parts) + more + "}"


def show_elements(value, kind, depth):
    low, high = kind.range()
    element = kind.target().strip_typedefs()
    if element.code == gdb.TYPE_CODE_INT and element.sizeof == 1:
        raw = bytes(int(value[i]) & 255 for i in range(low, min(high + 1, low + LONGEST_TEXT)))
        return ascii(raw.decode("latin-1")) + ("..." if high - low >= LONGEST_TEXT else "")
    shown = [show(value[i], depth + 1) for i in range(low, min(high + 1, low + ELEMENTS))]
    more = f", ... {high - low + 1} in all" if high - low >= ELEMENTS else ""
    return "{" + ", ".join(shown) + more + "}"


def show(value, depth=0):
    if value.is_optimized_out:
        return LOST
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return show(value.referenced_value(), depth)
    if kind.code == gdb.TYPE_CODE_PTR:
        return show_pointer(value, kind)
    if kind.code == gdb.TYPE_CODE_ARRAY:
        return show_elements(value, kind, depth) if depth < 2 else "an array"
    if kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        printer = gdb.default_visualizer(value)
        if printer is not None:
            return show_printed(printer, depth)
        return show_fields(value, kind, depth) if depth < 2 else "{...}"
    if kind.code in (gdb.TYPE_CODE_FUNC, gdb.TYPE_CODE_METHOD):
        return "a function"
    if kind.code == gdb.TYPE_CODE_INT and is_address(abs(int(value))):
        return "an address"
    return str(value)


def show_printed(printer, depth):
    """A type of a library that knows how it wants to be shown: std::string, std::vector."""
    head = printer.to_string()
    if isinstance(head, gdb.Value):
        return show(head, depth + 1)
    if hasattr(head, "address") and hasattr(head, "length"):
        size = min(max(head.length, 0), LONGEST_TEXT)
        raw = bytes(gdb.selected_inferior().read_memory(head.address, size)) if size else b""
        head = ascii(raw.decode("latin-1")) + ("..." if head.length > size else "")
    parts = []
    if hasattr(printer, "children") and depth < 2:
        for name, child in printer.children():
            if len(parts) == ELEMENTS:
                parts.append("...")
                break
            parts.append(show(child, depth + 1) if isinstance(child, gdb.Value) else str(child))
    inside = " {" + ", ".join(parts) + "}" if parts else ""
    return without_addresses(f"{head or ''}{inside}".strip())


def without_addresses(text):
    return re.sub(r"0x[0-9a-f]{5,}", "an address", text)


def plain(error):
    """gdb's own words, without what changes from run to run."""
    text = str(error)
    found = re.search(r"Cannot access memory at address (0x[0-9a-f]+)", text)
    if found:
        where = "null" if int(found.group(1), 16) < 1 << 16 else "memory that is not there"
        return f"cannot be read: it leads to {where}"
    if "may-call-functions" in text:
        return "would call a function of the program, which is not done"
    if "optimized out" in text:
        return LOST
    if text.startswith("No symbol "):
        return text.rstrip(".") + ": it is not in scope there, or a macro, and these are not expanded"
    return without_addresses(text).rstrip(".")


class Probe(gdb.Breakpoint):
    def __init__(self, path, line, expression, function=None):
        self.path, self.asked, self.wanted = path, line, expression
        self.function = function
        self.hits, self.lines = 0, set()
        self.around, self.near = set(), []
        self.first, self.last = [], collections.deque(maxlen=LAST)
        self.least = self.most = None
        super().__init__(source=place(path, line), line=line, internal=True)
        self.silent = True

    def stop(self):
        try:
            frame = gdb.newest_frame()
            frame.select()
            sal = frame.find_sal()
            if sal.symtab is not None and elsewhere(sal.symtab.fullname(), self.path):
                return False
            function = str(frame.function())
            if self.function not in (None, function):
                return False
            self.lines.add(sal.line)
            if not self.hits:
                self.function = function
                self.around = lines_of_function(frame, sal.symtab)
            self.note(self.value())
        except Exception as error:
            reason = plain(error)
            self.note(reason if reason == LOST else f"({reason})")
        return time.monotonic() > until

    def value(self):
        value = gdb.parse_and_eval(self.wanted)
        if not value.is_optimized_out and value.type.strip_typedefs().code == gdb.TYPE_CODE_INT:
            number = int(value)
            if not is_address(abs(number)):
                here = self.hits + 1
                if self.least is None or number < self.least[0]:
                    self.least = (number, here)
                if self.most is None or number > self.most[0]:
                    self.most = (number, here)
        return show(value)

    def note(self, text):
        self.hits += 1
        if self.last and self.last[-1][0] == text:
            self.last[-1][2] = self.hits
        else:
            self.last.append([text, self.hits, self.hits])
            if len(self.first) < FIRST:
                self.first.append(self.last[-1])

    def is_lost(self):
        """Whether the line was come to, and the compiler never kept a value there."""
        return self.hits > 0 and all(LOST in text for text in self.texts())

    def is_known(self):
        """Whether some value was read."""
        return any(LOST not in text and not text.startswith("(") for text in self.texts())

    def texts(self):
        return [text for text, _, _ in self.first + list(self.last)]

    def look_around(self):
        """Asks at the nearest lines of the function in place of this one."""
        lines = sorted(self.around - self.lines, key=lambda line: (abs(line - self.asked), line))
        self.near = [Probe(self.path, line, self.wanted, self.function) for line in lines[:NEAR]]

    def look_at_copies(self):
        """Stops at all places that the compiler made of the line; gdb takes the first of a block."""
        self.near = [Copy(self, pc) for pc in self.places()]

    def places(self):
        tables = [symtab.linetable().line(self.asked) or () for symtab in symtabs(self.path)]
        return [item.pc for items in tables for item in items]

    def told(self, may_ask):
        instead = [probe for probe in self.near if isinstance(probe, Probe) and probe.is_known()]
        with_code = sorted(lines_with_code(self.path)) if may_ask and not self.hits else []
        return {
            "hits": self.hits,
            "lines": sorted(self.lines),
            "first": self.first,
            "last": list(self.last),
            "least": self.least,
            "most": self.most,
            "code": with_code,
            "known": bool(self.hits or with_code),
            "lost": self.is_lost(),
            "near": instead[0].told(may_ask=False) if instead else None,
        }


class Copy(gdb.Breakpoint):
    """One of several places of a line."""

    def __init__(self, probe, pc):
        self.probe = probe
        super().__init__(f"*{pc}", internal=True)
        self.silent = True

    def stop(self):
        return self.probe.stop()


def elsewhere(full, path):
    """Whether a file of the tree was met that only ends like the one that was asked for."""
    return full.startswith(f"{tree}/") and full != f"{tree}/{path}"


def place(path, line):
    """How the program's own notes call the file."""
    for name in (f"{tree}/{path}", path, os.path.basename(path)):
        try:
            gdb.decode_line(f"{name}:{line}")
            return name
        except gdb.error:
            continue
    return path


def lines_of_function(frame, symtab):
    """The lines with code of the function that a frame is in, which may be an inlined one."""
    block = frame.block()
    while block is not None and block.function is None:
        block = block.superblock
    if block is None or symtab is None:
        return set()
    return {item.line for item in symtab.linetable() if block.start <= item.pc < block.end and item.line > 0}


def symtabs(path):
    """The tables of the file's code, each once: one for each unit that holds some of it."""
    found = {}
    for name in (f"{tree}/{path}", path):
        for line in (1, 1 << 20):
            try:
                sals = gdb.decode_line(f"{name}:{line}")[1] or ()
            except gdb.error:
                continue
            for sal in sals:
                if sal.symtab is not None and not elsewhere(sal.symtab.fullname(), path):
                    found[sal.symtab.fullname(), str(sal.symtab.objfile)] = sal.symtab
    return found.values()


def lines_with_code(path):
    lines = set()
    for symtab in symtabs(path):
        lines.update(symtab.linetable().source_lines())
    return {line for line in lines if line > 0}


def watch():
    """Stops a program that does not come to an end by itself; and gdb, should
    that not be enough."""
    global ended
    while time.monotonic() < until:
        time.sleep(TICK)
    process = gdb.selected_inferior().pid
    if process:
        try:
            os.kill(process, signal.SIGINT)
        except OSError:
            pass
    time.sleep(GRACE)
    ended = settled or "time"
    write(may_ask=False)
    os._exit(0)


def on_exit(event):
    global ended, status
    code = getattr(event, "exit_code", None)
    ended = "a signal" if code is None else f"exit status {code}"
    status = 1 if code is None else int(code)


def run(prepare=None):
    global ended
    gdb.execute("starti" if prepare else "run", to_string=True)
    if prepare:
        # Only now it is known where the program lies.
        prepare()
    while gdb.selected_inferior().pid:
        if time.monotonic() > until:
            ended = "time"
            return
        gdb.execute("continue", to_string=True)


def write(problem=None, may_ask=True):
    told = [probe.told(may_ask) for probe in probes]
    # Of several programs that a command runs the one that was asked about tells.
    if os.path.exists(f"{notes}/answer.json") and not any(probe["known"] for probe in told):
        return
    answer = {"ended": ended, "problem": problem, "probes": told}
    with open(f"{notes}/answer.new", "w", encoding="utf-8") as file:
        json.dump(answer, file)
    os.replace(f"{notes}/answer.new", f"{notes}/answer.json")


def main():
    global ended, settled
    for setting in (
        "confirm off",
        "pagination off",
        "breakpoint pending on",
        "may-call-functions off",
        "print thread-events off",
        "print inferior-events off",
        "debuginfod enabled off",
    ):
        try:
            gdb.execute(f"set {setting}", to_string=True)
        except gdb.error:
            pass
    gdb.execute("handle all nostop noprint pass", to_string=True)
    # LeakSanitizer gives up under a debugger; a fake stack hides locals from it.
    for name in ("ASAN_OPTIONS", "LSAN_OPTIONS"):
        old = os.environ.get(name, "")
        more = "detect_leaks=0" + (":detect_stack_use_after_return=0" if name[0] == "A" else "")
        gdb.execute(f"set environment {name} {old + ':' if old else ''}{more}")
    try:
        for row in os.environ["PROBES"].split("\n"):
            path, line, expression = row.split("\t")
            probes.append(Probe(path, int(line), expression))
        gdb.events.exited.connect(on_exit)
        threading.Thread(target=watch, daemon=True).start()
        run()
        lost = [probe for probe in probes if probe.is_lost()]
        missed = [probe for probe in probes if not probe.hits and len(probe.places()) > 1]
        if (lost or missed) and ended != "time":
            settled = ended
            for probe in probes:
                probe.enabled = False
            for probe in lost:
                probe.look_around()
            run(lambda: [probe.look_at_copies() for probe in missed])
            ended = settled
        write()
    except (OSError, gdb.error, ValueError) as error:
        write(plain(error))
    # What still runs ends with the sandbox.
    os._exit(status)


main()
