import com.sun.jdi.*;
import com.sun.jdi.connect.*;
import com.sun.jdi.event.*;
import com.sun.jdi.request.*;
import java.nio.file.*;
import java.util.*;

/**
 * Runs one PoV under the debugger of the JDK and writes down what expressions
 * hold at lines. Expressions were read before by a grammar that knows neither
 * calls nor assignments, and nothing is shown by calling toString. What is written holds no identity of
 * an object: two runs of one program give the same text.
 */
public final class Probe {
    /** Different values in a row that are kept from the beginning and from the end. */
    static final int FIRST = 6, LAST = 4;
    /** How much of a value is shown. */
    static final int ELEMENTS = 16, FIELDS = 16, LONGEST_TEXT = 80;

    static final List<Asked> asked = new ArrayList<>();
    static volatile String ended = "unknown";

    record Run(String value, long from, long to) {}

    static final class Asked {
        final String path, expression;
        final int line;
        long hits;
        Expression.Part part;
        final List<Run> runs = new ArrayList<>();
        final Deque<Run> last = new ArrayDeque<>();
        long[] least, most;
        final SortedSet<Integer> code = new TreeSet<>();

        Asked(String row) {
            String[] parts = row.split("\t", 3);
            path = parts[0];
            line = Integer.parseInt(parts[1]);
            expression = parts[2];
        }

        String file() {
            return path.substring(path.lastIndexOf('/') + 1);
        }

        synchronized void note(String value) {
            hits++;
            Run before = last.peekLast();
            if (before != null && before.value.equals(value)) {
                last.pollLast();
                last.addLast(new Run(value, before.from, hits));
                if (!runs.isEmpty() && runs.get(runs.size() - 1).from == before.from) {
                    runs.set(runs.size() - 1, last.peekLast());
                }
                return;
            }
            Run run = new Run(value, hits, hits);
            last.addLast(run);
            if (last.size() > LAST) last.pollFirst();
            if (runs.size() < FIRST) runs.add(run);
        }

        synchronized void range(long number) {
            if (least == null || number < least[0]) least = new long[] {number, hits + 1};
            if (most == null || number > most[0]) most = new long[] {number, hits + 1};
        }

        synchronized String told() {
            return "{\"hits\":" + hits + ",\"lines\":[" + (hits > 0 ? String.valueOf(line) : "") + "],\"first\":" + rows(runs)
                + ",\"last\":" + rows(last) + ",\"least\":" + pair(least) + ",\"most\":" + pair(most) + ",\"code\":"
                + (hits > 0 ? "[]" : code.toString()) + ",\"known\":" + (hits > 0 || !code.isEmpty()) + "}";
        }
    }

    static String rows(Collection<Run> runs) {
        StringJoiner rows = new StringJoiner(",", "[", "]");
        for (Run run : runs) rows.add("[" + quoted(run.value) + "," + run.from + "," + run.to + "]");
        return rows.toString();
    }

    static String pair(long[] pair) {
        return pair == null ? "null" : Arrays.toString(pair);
    }

    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') quoted.append('\\').append(c);
            else if (c < ' ' || c > '~') quoted.append(String.format("\\u%04x", (int) c));
            else quoted.append(c);
        }
        return quoted.append('"').toString();
    }

    /** Text of the program as a Java constant. */
    static String constant(String text) {
        StringBuilder shown = new StringBuilder("\"");
        for (char c : text.substring(0, Math.min(text.length(), LONGEST_TEXT)).toCharArray()) {
            if (c == '\n') shown.append("\\n");
            else if (c == '"' || c == '\\') shown.append('\\').append(c);
            else if (c < ' ' || c > '~') shown.append(String.format("\\u%04x", (int) c));
            else shown.append(c);
        }
        return shown.append('"').append(text.length() > LONGEST_TEXT ? "... " + text.length() + " characters" : "").toString();
    }

    static String show(Object found, int depth) {
        Object value = found instanceof PrimitiveValue primitive ? Expression.plain(primitive) : found;
        if (value == null) return "null";
        if (value instanceof Character c) {
            String shown = constant(String.valueOf(c));
            String inside = shown.substring(1, shown.length() - 1);
            return (int) c + " '" + (c == '"' ? "\"" : c == '\'' ? "\\'" : inside) + "'";
        }
        if (!(value instanceof Value)) return value.toString();
        if (value instanceof StringReference s) return constant(s.value());
        if (value instanceof ArrayReference array) return elements(array, depth);
        ObjectReference object = (ObjectReference) value;
        return depth < 2 ? fields(object, depth) : brief(object.referenceType());
    }

    static String brief(ReferenceType type) {
        return type.name().substring(type.name().lastIndexOf('.') + 1);
    }

    static String elements(ArrayReference array, int depth) {
        String head = brief(array.referenceType()).replaceFirst("\\[\\]", "[" + array.length() + "]");
        if (depth > 1) return head;
        StringJoiner shown = new StringJoiner(", ", head + " {", "}");
        int count = Math.min(array.length(), ELEMENTS);
        if (count > 0) for (Value value : array.getValues(0, count)) shown.add(show(value, depth + 1));
        if (array.length() > count) shown.add("...");
        return shown.toString();
    }

    static String fields(ObjectReference object, int depth) {
        StringJoiner shown = new StringJoiner(", ", brief(object.referenceType()) + " {", "}");
        int count = 0;
        for (Field field : object.referenceType().allFields()) {
            if (field.isStatic() || field.isSynthetic()) continue;
            if (++count > FIELDS) {
                shown.add("...");
                break;
            }
            shown.add(field.name() + " = " + show(object.getValue(field), depth + 1));
        }
        return shown.toString();
    }

    static void evaluate(Asked asked, ThreadReference thread) {
        String shown;
        try {
            if (asked.part == null) asked.part = Expression.read(asked.expression);
            Object value = asked.part.in(thread.frame(0));
            boolean number = value instanceof Number it && !Expression.real(it);
            if (number || value instanceof Character) asked.range(Expression.number(value).longValue());
            shown = show(value, 0);
        } catch (Expression.Unanswered e) {
            shown = "(" + unanswered(e, thread) + ")";
        } catch (Exception e) {
            shown = "(" + (e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage()) + ")";
        }
        asked.note(shown);
    }

    static String unanswered(Expression.Unanswered problem, ThreadReference thread) {
        String text = problem.getMessage();
        if (!text.startsWith(Expression.UNKNOWN)) return text;
        try {
            thread.frame(0).visibleVariables();
        } catch (AbsentInformationException e) {
            return text + "; the class was compiled without the names of local variables";
        } catch (Exception e) {
            return text;
        }
        return text;
    }

    /** Sets the breakpoints that lie in a class. */
    static void meet(VirtualMachine vm, ReferenceType type) {
        for (Asked one : asked) {
            try {
                if (!type.sourceName().equals(one.file()) || !lies(type, one.path)) continue;
                for (Location location : type.allLineLocations()) {
                    synchronized (one) {
                        one.code.add(location.lineNumber());
                    }
                }
                List<Location> there = type.locationsOfLine(one.line);
                if (there.isEmpty()) continue;
                // One line may begin several times in a method; its first place is where it is come to.
                Map<Method, Location> firsts = new LinkedHashMap<>();
                for (Location location : there) {
                    firsts.merge(location.method(), location, (a, b) -> a.codeIndex() <= b.codeIndex() ? a : b);
                }
                for (Location location : firsts.values()) {
                    BreakpointRequest request = vm.eventRequestManager().createBreakpointRequest(location);
                    request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
                    request.putProperty("asked", one);
                    request.enable();
                }
            } catch (AbsentInformationException | ClassNotPreparedException e) {
                // A class without lines, or not yet ready: nothing can be asked in it.
            }
        }
    }

    static boolean lies(ReferenceType type, String path) throws AbsentInformationException {
        for (String source : type.sourcePaths(null)) {
            if (path.equals(source) || path.endsWith("/" + source)) return true;
        }
        return false;
    }

    static void serve(VirtualMachine vm) {
        try {
            Set<String> files = new HashSet<>();
            for (Asked one : asked) files.add(one.file());
            for (String file : files) {
                ClassPrepareRequest request = vm.eventRequestManager().createClassPrepareRequest();
                request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
                if (vm.canUseSourceNameFilters()) request.addSourceNameFilter(file);
                request.enable();
            }
            for (ReferenceType type : vm.allClasses()) if (type.isPrepared()) meet(vm, type);
            // The program waits until the event of its start is resumed below. Resumed here as well, that event would
            // later set free a thread that waits for its breakpoints.
            while (true) {
                EventSet events = vm.eventQueue().remove();
                for (Event event : events) {
                    if (event instanceof ClassPrepareEvent prepared) meet(vm, prepared.referenceType());
                    if (event instanceof BreakpointEvent hit) {
                        evaluate((Asked) hit.request().getProperty("asked"), hit.thread());
                    }
                    if (event instanceof VMDisconnectEvent) return;
                }
                events.resume();
            }
        } catch (VMDisconnectedException | InterruptedException e) {
            // The program has ended.
        }
    }

    static void write(String problem) throws Exception {
        StringJoiner probes = new StringJoiner(",", "[", "]");
        for (Asked one : asked) probes.add(one.told());
        String text = "{\"ended\":" + quoted(ended) + ",\"problem\":" + (problem == null ? "null" : quoted(problem))
            + ",\"probes\":" + probes + "}";
        Path notes = Path.of(System.getenv("NOTES"));
        Files.writeString(notes.resolve("answer.new"), text);
        Files.move(notes.resolve("answer.new"), notes.resolve("answer.json"), StandardCopyOption.ATOMIC_MOVE);
    }

    public static void main(String[] arguments) throws Exception {
        for (String row : System.getenv("PROBES").split("\n")) asked.add(new Asked(row));
        long limit = Math.round(1000 * Double.parseDouble(System.getenv("PROBE_SECONDS")));
        String end = Listening.run(arguments[0], limit, Probe::serve);
        if (end == null) {
            write("the sandbox lets no debugger connect to the program");
            return;
        }
        ended = end;
        write(null);
        Runtime.getRuntime().halt(0);
    }
}
