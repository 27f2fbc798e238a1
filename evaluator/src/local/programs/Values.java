package patchwright;

import java.io.PrintWriter;
import java.io.Writer;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32;
import jdk.internal.org.objectweb.asm.ClassReader;
import jdk.internal.org.objectweb.asm.ClassVisitor;
import jdk.internal.org.objectweb.asm.ClassWriter;
import jdk.internal.org.objectweb.asm.MethodVisitor;
import jdk.internal.org.objectweb.asm.Opcodes;
import jdk.internal.org.objectweb.asm.Type;
import jdk.internal.org.objectweb.asm.commons.AdviceAdapter;

/**
 * An agent that writes down what methods of the project return: the watched ones, those that called them, and those that
 * the harness calls. Objects are shown by what they hold as far as they tell it, so that two runs of one program write
 * the same.
 */
public final class Values {
    private static final int MOST_EVENTS = 300;
    private static final int LONGEST = 160;
    private static final int FEW = 200;

    private static final Set<String> watched = new HashSet<>();
    private static final List<String> names = new ArrayList<>();
    private static final List<Boolean> isWatched = new ArrayList<>();
    private static final List<String> events = new ArrayList<>();
    private static final int[] stack = new int[4096];
    private static final boolean[] marked = new boolean[4096];
    private static int depth;
    private static long reached;
    private static Thread thread;
    private static boolean showing;

    private Values() {}

    /** Called by the JVM before the program's own `main`. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        String names = System.getenv("WATCHED");
        String input = System.getenv("POV");
        String work = System.getenv("WORK");
        if (names == null || input == null || work == null) {
            return;
        }
        watched.addAll(Arrays.asList(names.split("\n")));
        Path file = Paths.get(work, "values", Paths.get(input).getFileName().toString());
        Path[] roots = {Paths.get(System.getenv("TREE")), Paths.get(System.getenv("OUT"))};
        instrumentation.addTransformer(new Transformer(roots));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> write(file)));
    }

    private static synchronized void write(Path file) {
        try (Writer out = Files.newBufferedWriter(file); PrintWriter lines = new PrintWriter(out)) {
            lines.print(reached + " calls\n");
            for (String event : events) {
                lines.print(event + "\n");
            }
        } catch (Exception e) {
            // Then nothing is known of this input.
        }
    }

    static synchronized int number(String name, boolean watch) {
        names.add(name);
        isWatched.add(watch);
        return names.size() - 1;
    }

    /** A method of the project begins. */
    public static void enter(int method) {
        if (thread == null) {
            thread = Thread.currentThread();
        }
        if (thread != Thread.currentThread() || showing) {
            return;
        }
        if (depth < stack.length) {
            stack[depth] = method;
            marked[depth] = false;
        }
        depth++;
        if (isWatched.get(method)) {
            reached++;
            for (int i = Math.min(depth, stack.length) - 1; i >= 0 && !marked[i]; i--) {
                marked[i] = true;
            }
        }
    }

    /** A method of the project returns. */
    public static void leave(int method, Object value) {
        if (thread != Thread.currentThread() || showing) {
            return;
        }
        // Methods that an exception ended are still on the stack.
        int at = Math.min(depth, stack.length) - 1;
        while (at >= 0 && stack[at] != method) {
            at--;
        }
        if (at < 0) {
            return;
        }
        depth = at;
        // The outermost is the harness, and what it calls is what the project is asked for.
        if (at <= 1 || marked[at]) {
            record(names.get(method) + " returns " + shown(value));
        }
    }

    private static void record(String event) {
        if (events.size() < MOST_EVENTS) {
            events.add(event);
        } else if (events.size() == MOST_EVENTS) {
            events.add("and so on");
        }
    }

    private static String shown(Object value) {
        showing = true;
        try {
            return shorten(show(value, 0));
        } catch (Throwable e) {
            return "an object that cannot be shown";
        } finally {
            showing = false;
        }
    }

    private static String shorten(String text) {
        String line = text.replace('\n', ' ').replace('\r', ' ').replaceAll("[0-9]{6,}", "#");
        if (line.length() <= LONGEST) {
            return line;
        }
        CRC32 sum = new CRC32();
        sum.update(line.getBytes());
        return line.substring(0, LONGEST) + ".. (" + line.length() + " characters, " + Long.toHexString(sum.getValue()) + ")";
    }

    private static String show(Object value, int level) {
        if (value == null || value instanceof Number || value instanceof Boolean || value instanceof Character
                || value instanceof Enum || value instanceof CharSequence && !(value instanceof CharBuffer)) {
            return String.valueOf(value);
        }
        if (value instanceof byte[]) {
            return "bytes " + hex((byte[]) value);
        }
        if (value instanceof ByteBuffer) {
            ByteBuffer copy = ((ByteBuffer) value).duplicate();
            byte[] bytes = new byte[copy.remaining()];
            copy.get(bytes);
            return "bytes " + hex(bytes);
        }
        if (value instanceof char[]) {
            return new String((char[]) value);
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
        private final Path[] roots;

        Transformer(Path[] roots) {
            this.roots = roots;
        }

        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
            try {
                if (old != null || !ours(domain) || !sees(loader)) {
                    return null;
                }
                ClassReader reader = new ClassReader(bytes);
                ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
                reader.accept(new Watching(writer, name), ClassReader.EXPAND_FRAMES);
                return writer.toByteArray();
            } catch (Throwable e) {
                return null;
            }
        }

        private boolean ours(ProtectionDomain domain) throws Exception {
            CodeSource source = domain == null ? null : domain.getCodeSource();
            URL place = source == null ? null : source.getLocation();
            if (place == null || !"file".equals(place.getProtocol())) {
                return false;
            }
            Path path = Paths.get(place.toURI());
            // Jars below the tree are libraries, or the fuzzer itself.
            return !path.toString().endsWith(".jar") && (path.startsWith(roots[0]) || path.startsWith(roots[1]));
        }

        private static boolean sees(ClassLoader loader) {
            try {
                return loader != null && loader.loadClass(Values.class.getName()) == Values.class;
            } catch (ClassNotFoundException e) {
                return false;
            }
        }
    }

    private static final class Watching extends ClassVisitor {
        private final String plain;

        Watching(ClassVisitor next, String name) {
            super(Opcodes.ASM8, next);
            String last = name.substring(name.lastIndexOf('/') + 1);
            this.plain = last.replace('$', '.');
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
            int number = number(plain + "." + name, watch);
            return new Method(next, access, name, descriptor, number);
        }
    }

    private static final class Method extends AdviceAdapter {
        private final int number;
        private final Type result;

        Method(MethodVisitor next, int access, String name, String descriptor, int number) {
            super(Opcodes.ASM8, next, access, name, descriptor);
            this.number = number;
            this.result = Type.getReturnType(descriptor);
        }

        @Override
        protected void onMethodEnter() {
            push(number);
            visitMethodInsn(Opcodes.INVOKESTATIC, "patchwright/Values", "enter", "(I)V", false);
        }

        @Override
        protected void onMethodExit(int opcode) {
            if (opcode == Opcodes.ATHROW) {
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
            visitMethodInsn(Opcodes.INVOKESTATIC, "patchwright/Values", "leave", "(ILjava/lang/Object;)V", false);
        }
    }
}
