package patchwright;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.PrintWriter;
import java.io.StringReader;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import jdk.internal.org.objectweb.asm.ClassReader;
import jdk.internal.org.objectweb.asm.ClassVisitor;
import jdk.internal.org.objectweb.asm.ClassWriter;
import jdk.internal.org.objectweb.asm.Label;
import jdk.internal.org.objectweb.asm.MethodVisitor;
import jdk.internal.org.objectweb.asm.Opcodes;
import jdk.internal.org.objectweb.asm.Type;
import jdk.internal.org.objectweb.asm.commons.AdviceAdapter;

/**
 * Writes down how methods of the project end: what they return or throw. Of a run of one input, these are the watched
 * methods where their caller is not watched, and those that the harness calls. Of a run of tests, these are the calls
 * from another folder of classes in which a watched method was called, by their arguments, because tests run in any
 * order. Objects are shown by what they hold as far as they tell it, so that two runs of one program write the same.
 */
public final class Values {
    private static final int MOST_EVENTS = 300;
    private static final int MOST_CALLS = 2000;
    private static final int MOST_ENDS = 8;
    private static final int MOST_INPUTS = 200;
    private static final int LARGEST_INPUT = 1 << 16;
    private static final int LONGEST = 160;
    private static final int FEW = 200;
    private static final int DEEPEST = 4096;
    /** Nanoseconds that showing values may take: tests have a time limit. */
    private static final long MOST_TIME = 10_000_000_000L;

    private static final Set<String> watched = new HashSet<>();
    private static final List<String> names = new ArrayList<>();
    private static final List<String> folders = new ArrayList<>();
    private static final List<Boolean> isWatched = new ArrayList<>();

    private static boolean tests;
    private static boolean on;
    private static List<String> events = new ArrayList<>();
    private static Map<String, Set<String>> calls = new LinkedHashMap<>();
    private static Set<String> inputs = new LinkedHashSet<>();
    private static long reached;
    private static long spent;
    private static Thread first;
    private static ThreadLocal<Calls> stacks = ThreadLocal.withInitial(Calls::new);

    private Values() {}

    static void start(Instrumentation instrumentation) {
        String names = System.getenv("WATCHED");
        if (names == null) {
            return;
        }
        on = true;
        tests = System.getenv("WATCHED_TESTS") != null;
        watched.addAll(Arrays.asList(names.split("\n")));
        instrumentation.addTransformer(new Transformer());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> write(Agent.file("values"))));
    }

    static synchronized void reset() {
        events = new ArrayList<>();
        reached = 0;
        first = null;
        stacks = ThreadLocal.withInitial(Calls::new);
    }

    static synchronized void write(Path file) {
        if (!on) {
            return;
        }
        try (PrintWriter lines = new PrintWriter(Files.newBufferedWriter(file))) {
            lines.print(reached + " calls\n");
            for (String event : events) {
                lines.print(event + "\n");
            }
            for (Map.Entry<String, Set<String>> call : calls.entrySet()) {
                for (String end : call.getValue()) {
                    lines.print("call\t" + call.getKey() + "\t" + end + "\n");
                }
            }
            for (String input : inputs) {
                lines.print("input\t" + input + "\n");
            }
        } catch (Exception e) {
            // Then nothing is known of this run.
        }
    }

    static synchronized int number(String name, String folder, boolean watch) {
        names.add(name);
        folders.add(folder);
        isWatched.add(watch);
        return names.size() - 1;
    }

    /** The methods that a thread is in. */
    private static final class Calls {
        final int[] stack = new int[DEEPEST];
        /** Those in which a watched method was called. */
        final boolean[] marked = new boolean[DEEPEST];
        /** Receiver and arguments of those whose end is written down with them, before and now. */
        final String[] given = new String[DEEPEST];
        final Object[][] arguments = new Object[DEEPEST][];
        final List<List<byte[]>> inputs = new ArrayList<>();
        int depth;
        boolean showing;
    }

    private static Calls calls() {
        if (!tests) {
            // Threads take turns as they like, so one of them has to do.
            if (first == null) {
                first = Thread.currentThread();
            }
            if (first != Thread.currentThread()) {
                return null;
            }
        }
        Calls own = stacks.get();
        return own.showing ? null : own;
    }

    /** A method of the project begins. */
    public static void enter(int method, Object[] arguments) {
        Calls own = calls();
        if (own == null) {
            return;
        }
        int at = own.depth;
        if (at < DEEPEST) {
            own.stack[at] = method;
            own.marked[at] = false;
            own.given[at] = null;
            if (tests && spent < MOST_TIME && isEntry(own, at)) {
                keep(own, at, arguments);
            }
        }
        own.depth++;
        if (isWatched.get(method)) {
            synchronized (Values.class) {
                reached++;
            }
            for (int i = Math.min(own.depth, DEEPEST) - 1; i >= 0 && !own.marked[i]; i--) {
                own.marked[i] = true;
            }
        }
    }

    private static boolean isEntry(Calls own, int at) {
        return at > 0 && !folders.get(own.stack[at]).equals(folders.get(own.stack[at - 1]));
    }

    private static void keep(Calls own, int at, Object[] arguments) {
        own.arguments[at] = arguments;
        own.given[at] = shownAll(own, arguments);
        while (own.inputs.size() <= at) {
            own.inputs.add(null);
        }
        List<byte[]> contents = new ArrayList<>();
        for (Object argument : arguments) {
            byte[] bytes = content(argument);
            if (bytes != null && bytes.length > 0 && bytes.length <= LARGEST_INPUT) {
                contents.add(bytes);
            }
        }
        own.inputs.set(at, contents);
    }

    /** A method of the project returns. */
    public static void leave(int method, Object value) {
        Calls own = calls();
        if (own != null) {
            ended(own, method, "returns ", value);
        }
    }

    /** A method of the project ends with an exception. */
    public static void threw(int method, Throwable thrown) {
        Calls own = calls();
        if (own != null && !(thrown instanceof ThreadDeath)) {
            ended(own, method, "throws ", thrown.getClass().getName());
        }
    }

    private static void ended(Calls own, int method, String how, Object value) {
        if (own.depth > DEEPEST) {
            own.depth--;
            return;
        }
        // Methods that were not seen to end are still on the stack.
        int at = own.depth - 1;
        while (at >= 0 && own.stack[at] != method) {
            at--;
        }
        if (at < 0) {
            return;
        }
        own.depth = at;
        if (tests) {
            if (own.marked[at] && own.given[at] != null) {
                called(own, at, how + shown(own, value));
            }
        } else if (at <= 1 || isWatched.get(method) && !isWatched.get(own.stack[at - 1])) {
            // The outermost is the harness, and what it calls is what the project is asked for.
            record((at <= 1 ? "harness\t" : "returned\t") + names.get(method) + "\t" + how + shown(own, value));
        }
        own.arguments[at] = null;
    }

    private static synchronized void record(String event) {
        if (events.size() < MOST_EVENTS) {
            events.add(event);
        } else if (events.size() == MOST_EVENTS) {
            events.add("and so on");
        }
    }

    private static void called(Calls own, int at, String end) {
        int method = own.stack[at];
        String left = shownAll(own, own.arguments[at]);
        String whole = left.equals(own.given[at]) ? end : end + " and leaves " + left;
        String key = names.get(method) + "\t" + own.given[at];
        synchronized (Values.class) {
            Set<String> ends = calls.get(key);
            if (ends == null && calls.size() < MOST_CALLS) {
                calls.put(key, ends = new LinkedHashSet<>());
            }
            if (ends != null && ends.size() <= MOST_ENDS) {
                ends.add(ends.size() < MOST_ENDS ? whole : "and so on");
            }
            for (byte[] input : own.inputs.get(at)) {
                if (inputs.size() < MOST_INPUTS) {
                    inputs.add(hex(input).replace(" ", ""));
                }
            }
        }
    }

    private static String shownAll(Calls own, Object[] values) {
        StringBuilder text = new StringBuilder();
        for (Object value : values) {
            text.append(text.length() == 0 ? "" : ", ").append(shown(own, value));
        }
        return text.toString();
    }

    private static String shown(Calls own, Object value) {
        own.showing = true;
        long began = System.nanoTime();
        try {
            return shorten(show(value, 0));
        } catch (Throwable e) {
            return "an object that cannot be shown";
        } finally {
            own.showing = false;
            spent += System.nanoTime() - began;
        }
    }

    private static String shorten(String text) {
        String line = text.replaceAll("[\\t\\n\\r]", " ").replaceAll("[0-9]{6,}", "#");
        if (line.length() <= LONGEST) {
            return line;
        }
        CRC32 sum = new CRC32();
        sum.update(line.getBytes(StandardCharsets.UTF_8));
        return line.substring(0, LONGEST) + ".. (" + line.length() + " characters, " + Long.toHexString(sum.getValue()) + ")";
    }

    private static String show(Object value, int level) throws Exception {
        if (value == null || value instanceof Number || value instanceof Boolean || value instanceof Character
                || value instanceof Enum || value instanceof CharSequence && !(value instanceof CharBuffer)) {
            return String.valueOf(value);
        }
        if (value instanceof char[]) {
            return new String((char[]) value);
        }
        byte[] bytes = content(value);
        if (bytes != null) {
            return "bytes " + hex(bytes);
        }
        File place = file(value);
        if (place != null && place.isDirectory()) {
            return "a folder of " + listed(place.toPath());
        }
        if (value instanceof Object[]) {
            return show(Arrays.asList((Object[]) value), level);
        }
        if (level < 6 && value instanceof Collection) {
            StringBuilder text = new StringBuilder("[");
            int count = 0;
            for (Object element : (Collection<?>) value) {
                text.append(count == 0 ? "" : ", ").append(count < FEW ? show(element, level + 1) : "..");
                if (count++ >= FEW) {
                    break;
                }
            }
            return text.append(']').toString();
        }
        if (level < 6 && value instanceof Map) {
            StringBuilder text = new StringBuilder("{");
            int count = 0;
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                text.append(count == 0 ? "" : ", ").append(show(entry.getKey(), level + 1)).append(": ")
                    .append(show(entry.getValue(), level + 1));
                if (count++ >= FEW) {
                    break;
                }
            }
            return text.append('}').toString();
        }
        return told(value);
    }

    /** What an argument holds as a text or as bytes; null where it is neither, or is not to be read from outside. */
    private static byte[] content(Object value) {
        try {
            if (value instanceof byte[]) {
                return (byte[]) value;
            }
            if (value instanceof CharSequence && !(value instanceof CharBuffer)) {
                return tests ? value.toString().getBytes(StandardCharsets.UTF_8) : null;
            }
            if (value instanceof ByteBuffer) {
                ByteBuffer copy = ((ByteBuffer) value).duplicate();
                byte[] bytes = new byte[copy.remaining()];
                copy.get(bytes);
                return bytes;
            }
            if (tests && value != null && value.getClass() == ByteArrayInputStream.class) {
                ByteArrayInputStream in = (ByteArrayInputStream) value;
                in.mark(0);
                byte[] bytes = new byte[in.available()];
                int count = Math.max(in.read(bytes, 0, bytes.length), 0);
                in.reset();
                return Arrays.copyOf(bytes, count);
            }
            if (tests && value != null && value.getClass() == StringReader.class) {
                StringReader in = (StringReader) value;
                in.mark(0);
                char[] text = new char[LARGEST_INPUT];
                int count = Math.max(in.read(text, 0, text.length), 0);
                in.reset();
                return new String(text, 0, count).getBytes(StandardCharsets.UTF_8);
            }
            File place = file(value);
            if (place != null && place.isFile() && place.length() <= LARGEST_INPUT) {
                return Files.readAllBytes(place.toPath());
            }
        } catch (Exception e) {
            // Then it is shown by its kind.
        }
        return null;
    }

    private static File file(Object value) {
        if (!tests) {
            return null;
        }
        if (value instanceof Path) {
            return ((Path) value).toFile();
        }
        return value instanceof File ? (File) value : null;
    }

    /** The files of a folder with their sizes. */
    private static String listed(Path folder) throws Exception {
        try (Stream<Path> all = Files.walk(folder, 6)) {
            return all.limit(FEW).filter(Files::isRegularFile)
                .map(path -> folder.relativize(path) + " " + path.toFile().length())
                .sorted().collect(Collectors.joining(", "));
        }
    }

    private static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte b : bytes) {
            text.append(Character.forDigit((b >> 4) & 15, 16)).append(Character.forDigit(b & 15, 16)).append(' ');
        }
        return text.toString();
    }

    /** What an object of the project says of itself, if it says more than its address. */
    private static String told(Object value) {
        Class<?> kind = value.getClass();
        try {
            Class<?> teller = kind.getMethod("toString").getDeclaringClass();
            CodeSource source = teller.getProtectionDomain().getCodeSource();
            if (teller != Object.class && source != null && source.getLocation() != null) {
                return String.valueOf(value);
            }
        } catch (ReflectiveOperationException e) {
            // It has none that may be called.
        }
        return "a " + kind.getSimpleName();
    }

    private static final class Transformer implements ClassFileTransformer {
        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
            try {
                String folder = Agent.folderOf(loader, domain);
                if (old != null || name == null || folder == null) {
                    return null;
                }
                ClassReader reader = new ClassReader(bytes);
                ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
                reader.accept(new Watching(writer, name, folder), ClassReader.EXPAND_FRAMES);
                return writer.toByteArray();
            } catch (Throwable e) {
                return null;
            }
        }
    }

    private static final class Watching extends ClassVisitor {
        private final String plain;
        private final String folder;

        Watching(ClassVisitor next, String name, String folder) {
            super(Agent.API, next);
            String last = name.substring(name.lastIndexOf('/') + 1);
            this.plain = last.replace('$', '.');
            this.folder = folder;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] thrown) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, thrown);
            boolean skipped = (access & (Opcodes.ACC_SYNTHETIC | Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) != 0;
            if (next == null || skipped || name.startsWith("<")) {
                return next;
            }
            int outer = plain.indexOf('.');
            String file = outer < 0 ? plain : plain.substring(0, outer);
            boolean watch = watched.contains(file + "." + name);
            int number = number(plain + "." + name, folder, watch);
            return new Method(next, access, name, descriptor, number);
        }
    }

    private static final class Method extends AdviceAdapter {
        private static final String OWNER = "patchwright/Values";

        private final int number;
        private final Type result;
        private final Label begin = new Label();

        Method(MethodVisitor next, int access, String name, String descriptor, int number) {
            super(Agent.API, next, access, name, descriptor);
            this.number = number;
            this.result = Type.getReturnType(descriptor);
        }

        @Override
        protected void onMethodEnter() {
            push(number);
            if (tests) {
                receiverAndArguments();
            } else {
                visitInsn(Opcodes.ACONST_NULL);
            }
            visitMethodInsn(Opcodes.INVOKESTATIC, OWNER, "enter", "(I[Ljava/lang/Object;)V", false);
            mark(begin);
        }

        private void receiverAndArguments() {
            boolean isStatic = (methodAccess & Opcodes.ACC_STATIC) != 0;
            Type object = Type.getType(Object.class);
            Type[] types = getArgumentTypes();
            push(types.length + (isStatic ? 0 : 1));
            newArray(object);
            if (!isStatic) {
                dup();
                push(0);
                loadThis();
                arrayStore(object);
            }
            for (int i = 0; i < types.length; i++) {
                dup();
                push(i + (isStatic ? 0 : 1));
                loadArg(i);
                box(types[i]);
                arrayStore(object);
            }
        }

        @Override
        protected void onMethodExit(int opcode) {
            if (opcode == Opcodes.ATHROW) {
                // Caught below, with what was thrown further down.
                return;
            }
            if (opcode == Opcodes.RETURN) {
                push("nothing");
            } else {
                if (result.getSize() == 2) {
                    dup2();
                } else {
                    dup();
                }
                box(result);
            }
            push(number);
            swap();
            visitMethodInsn(Opcodes.INVOKESTATIC, OWNER, "leave", "(ILjava/lang/Object;)V", false);
        }

        @Override
        public void visitMaxs(int stack, int locals) {
            Label end = mark();
            visitTryCatchBlock(begin, end, end, null);
            // No local is used below, so none has to be known.
            visitFrame(Opcodes.F_NEW, 0, new Object[0], 1, new Object[] {"java/lang/Throwable"});
            mv.visitInsn(Opcodes.DUP);
            mv.visitLdcInsn(number);
            mv.visitInsn(Opcodes.SWAP);
            mv.visitMethodInsn(Opcodes.INVOKESTATIC, OWNER, "threw", "(ILjava/lang/Throwable;)V", false);
            mv.visitInsn(Opcodes.ATHROW);
            super.visitMaxs(stack, locals);
        }
    }
}
