import com.sun.jdi.*;
import com.sun.jdi.connect.*;
import com.sun.jdi.event.*;
import com.sun.jdi.request.*;
import java.nio.file.*;
import java.util.*;

/**
 * Runs one PoV under the debugger of the JDK and writes down, as a JVM would, the exceptions that no frame of their thread
 * catches: a program may have another answer to these than to end, and it is no less a crash.
 */
public final class Uncaught {
    static final int MOST_FRAMES = 64;

    static final StringBuffer told = new StringBuffer();
    /** Classes of those exceptions that a caller has to handle or to declare. */
    static final StringBuffer checked = new StringBuffer();
    static volatile boolean watched;

    static void serve(VirtualMachine vm) {
        try {
            ExceptionRequest request = vm.eventRequestManager().createExceptionRequest(null, false, true);
            request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
            request.enable();
            watched = true;
            while (true) {
                EventSet events = vm.eventQueue().remove();
                for (Event event : events) {
                    if (event instanceof ExceptionEvent thrown) note(thrown);
                    if (event instanceof VMDisconnectEvent) return;
                }
                events.resume();
            }
        } catch (VMDisconnectedException | InterruptedException e) {
            // The program has ended.
        }
    }

    static void note(ExceptionEvent thrown) {
        try {
            List<StackFrame> frames = thrown.thread().frames();
            if (thrown.catchLocation() != null || !isWhole(frames)) return;
            ObjectReference exception = thrown.exception();
            Field field = exception.referenceType().fieldByName("detailMessage");
            Value message = field == null ? null : exception.getValue(field);
            StringBuilder text = new StringBuilder("Exception in thread \"" + thrown.thread().name() + "\" ");
            text.append(exception.referenceType().name());
            if (message instanceof StringReference given) text.append(": ").append(given.value().replace('\n', ' '));
            for (StackFrame frame : frames.subList(0, Math.min(frames.size(), MOST_FRAMES))) {
                Location at = frame.location();
                String source = at.lineNumber() > 0 ? at.sourceName() + ":" + at.lineNumber() : "Unknown Source";
                text.append("\n\tat ").append(at.declaringType().name()).append('.').append(at.method().name());
                text.append('(').append(source).append(')');
            }
            told.append(text).append('\n');
            if (isChecked(exception.referenceType())) checked.append(exception.referenceType().name()).append('\n');
        } catch (AbsentInformationException | IncompatibleThreadStateException e) {
            // A class without lines is none of the project.
        }
    }

    /** Whether the compiler makes each caller handle or declare it (Java Language Specification, 11.1.1). */
    static boolean isChecked(ReferenceType thrown) {
        for (ClassType type = (ClassType) thrown; type != null; type = type.superclass()) {
            if (Set.of("java.lang.RuntimeException", "java.lang.Error").contains(type.name())) return false;
        }
        return true;
    }

    /** Whether no frame was called by the JVM itself: beyond such a frame the JVM does not look for who catches. */
    static boolean isWhole(List<StackFrame> frames) {
        for (int i = 0; i < frames.size(); i++) {
            Method method = frames.get(i).location().method();
            boolean called = i > 0 && method.isNative() || method.isStaticInitializer() || method.name().equals("loadClass");
            if (called) return false;
        }
        return true;
    }

    public static void main(String[] arguments) throws Exception {
        long limit = Math.round(1000 * Double.parseDouble(System.getenv("PROBE_SECONDS")));
        String end = Listening.run(arguments[0], limit, Uncaught::serve);
        String why = end == null ? "it cannot listen here" : "no JVM came to it";
        Files.writeString(Path.of(System.getenv("NOTES"), "checked"), checked);
        Files.writeString(Path.of(System.getenv("NOTES"), watched ? "uncaught" : "unwatched"), watched ? told : why);
        Runtime.getRuntime().halt(0);
    }
}
