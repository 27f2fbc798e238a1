package patchwright;

import java.io.PrintWriter;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import jdk.internal.org.objectweb.asm.ClassReader;
import jdk.internal.org.objectweb.asm.ClassVisitor;
import jdk.internal.org.objectweb.asm.ClassWriter;
import jdk.internal.org.objectweb.asm.Handle;
import jdk.internal.org.objectweb.asm.Label;
import jdk.internal.org.objectweb.asm.MethodVisitor;
import jdk.internal.org.objectweb.asm.Opcodes;

/**
 * Counts how often chosen lines and methods are run, and each way out of a branch on such a line. A branch is counted by
 * its operands before it jumps, so that no code has to be placed at its target.
 */
public final class Coverage {
    private static final int MOST = 1 << 16;

    private static final List<String> paths = new ArrayList<>();
    private static final List<int[]> ranges = new ArrayList<>();
    private static final Set<String> functions = new HashSet<>();
    private static final Map<String, Integer> numbers = new HashMap<>();
    private static final long[] counts = new long[MOST];
    private static boolean on;

    private Coverage() {}

    static void start(Instrumentation instrumentation) {
        String lines = System.getenv("COUNTED_LINES");
        String names = System.getenv("COUNTED_FUNCTIONS");
        if (lines == null || names == null) {
            return;
        }
        for (String row : lines.split("\n")) {
            String[] part = row.split("\t");
            if (part.length == 3) {
                paths.add(part[0]);
                ranges.add(new int[] {Integer.parseInt(part[1]), Integer.parseInt(part[2])});
            }
        }
        functions.addAll(Arrays.asList(names.split("\n")));
        on = true;
        instrumentation.addTransformer(new Transformer());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> write(Agent.file("coverage"))));
    }

    static synchronized void reset() {
        Arrays.fill(counts, 0);
    }

    static synchronized void write(Path file) {
        if (!on) {
            return;
        }
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(file))) {
            for (Map.Entry<String, Integer> place : numbers.entrySet()) {
                if (place.getValue() < MOST - 100) {
                    out.print(place.getKey() + "\t" + counts[place.getValue()] + "\n");
                }
            }
        } catch (Exception e) {
            // Then nothing is known of this run.
        }
    }

    private static synchronized int number(String place) {
        Integer known = numbers.get(place);
        if (known == null) {
            // What does not fit is counted nowhere that is read.
            known = Math.min(numbers.size(), MOST - 100);
            numbers.put(place, known);
        }
        return known;
    }

    /** A line or a method is run. */
    public static void run(int number) {
        counts[number]++;
    }

    /** A branch on one number. */
    public static void branch(int value, int code, int not) {
        boolean taken;
        switch (code) {
            case Opcodes.IFEQ: taken = value == 0; break;
            case Opcodes.IFNE: taken = value != 0; break;
            case Opcodes.IFLT: taken = value < 0; break;
            case Opcodes.IFGE: taken = value >= 0; break;
            case Opcodes.IFGT: taken = value > 0; break;
            default: taken = value <= 0; break;
        }
        counts[taken ? not + 1 : not]++;
    }

    /** A branch on two numbers. */
    public static void branch(int one, int other, int code, int not) {
        boolean taken;
        switch (code) {
            case Opcodes.IF_ICMPEQ: taken = one == other; break;
            case Opcodes.IF_ICMPNE: taken = one != other; break;
            case Opcodes.IF_ICMPLT: taken = one < other; break;
            case Opcodes.IF_ICMPGE: taken = one >= other; break;
            case Opcodes.IF_ICMPGT: taken = one > other; break;
            default: taken = one <= other; break;
        }
        counts[taken ? not + 1 : not]++;
    }

    /** A branch on an object. */
    public static void branch(Object one, int code, int not) {
        counts[(one == null) == (code == Opcodes.IFNULL) ? not + 1 : not]++;
    }

    /** A branch on two objects. */
    public static void branch(Object one, Object other, int code, int not) {
        counts[(one == other) == (code == Opcodes.IF_ACMPEQ) ? not + 1 : not]++;
    }

    /** A switch: the ways are numbered from `first` on, the default is the last. */
    public static void branch(int value, int[] keys, int first) {
        int at = Arrays.binarySearch(keys, value);
        counts[first + (at < 0 ? keys.length : at)]++;
    }

    private static final class Transformer implements ClassFileTransformer {
        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
            try {
                if (old != null || name == null || Agent.folderOf(loader, domain) == null) {
                    return null;
                }
                ClassReader reader = new ClassReader(bytes);
                ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
                Counting counting = new Counting(writer, name);
                reader.accept(counting, 0);
                return counting.found ? writer.toByteArray() : null;
            } catch (Throwable e) {
                return null;
            }
        }
    }

    private static final class Counting extends ClassVisitor {
        private final String folder;
        private String path;
        private boolean found;

        Counting(ClassVisitor next, String name) {
            super(Agent.API, next);
            this.folder = name.substring(0, name.lastIndexOf('/') + 1);
        }

        @Override
        public void visitSource(String source, String debug) {
            super.visitSource(source, debug);
            for (String one : paths) {
                if (source != null && ("/" + one).endsWith("/" + folder + source)) {
                    path = one;
                }
            }
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String type, String generic, String[] thrown) {
            MethodVisitor next = super.visitMethod(access, name, type, generic, thrown);
            if (next == null || path == null || (access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) != 0) {
                return next;
            }
            found = true;
            return new Lines(next, path, name);
        }
    }

    private static final class Lines extends MethodVisitor {
        private final String path;
        private final String name;
        private int line = -1;
        private boolean begins;
        private int way;

        Lines(MethodVisitor next, String path, String name) {
            super(Agent.API, next);
            this.path = path;
            this.name = name;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            if (functions.contains(name)) {
                call(number("F\t" + name), "run", "(I)V");
            }
        }

        @Override
        public void visitLineNumber(int number, Label start) {
            super.visitLineNumber(number, start);
            line = -1;
            way = 0;
            for (int i = 0; i < paths.size(); i++) {
                if (paths.get(i).equals(path) && ranges.get(i)[0] <= number && number <= ranges.get(i)[1]) {
                    line = number;
                }
            }
            begins = line >= 0;
        }

        /** Counts the line before its first instruction, behind the frame that may stand there. */
        private void instruction() {
            if (begins) {
                begins = false;
                call(number("L\t" + path + "\t" + line), "run", "(I)V");
            }
        }

        @Override
        public void visitJumpInsn(int code, Label target) {
            instruction();
            boolean always = code == Opcodes.GOTO || code == Opcodes.JSR;
            if (line >= 0 && !always) {
                boolean two = code >= Opcodes.IF_ICMPEQ && code <= Opcodes.IF_ACMPNE;
                boolean objects = code >= Opcodes.IF_ACMPEQ;
                String kind = objects ? "Ljava/lang/Object;" : "I";
                mv.visitInsn(two ? Opcodes.DUP2 : Opcodes.DUP);
                mv.visitLdcInsn(code);
                call(ways(2), "branch", "(" + kind + (two ? kind : "") + "II)V");
            }
            super.visitJumpInsn(code, target);
        }

        @Override
        public void visitLookupSwitchInsn(Label other, int[] keys, Label[] labels) {
            choose(keys);
            super.visitLookupSwitchInsn(other, keys, labels);
        }

        @Override
        public void visitTableSwitchInsn(int least, int most, Label other, Label... labels) {
            int[] keys = new int[labels.length];
            for (int i = 0; i < keys.length; i++) {
                keys[i] = least + i;
            }
            choose(keys);
            super.visitTableSwitchInsn(least, most, other, labels);
        }

        private void choose(int[] keys) {
            instruction();
            if (line < 0 || keys.length > 64) {
                return;
            }
            mv.visitInsn(Opcodes.DUP);
            mv.visitLdcInsn(keys.length);
            mv.visitIntInsn(Opcodes.NEWARRAY, Opcodes.T_INT);
            for (int i = 0; i < keys.length; i++) {
                mv.visitInsn(Opcodes.DUP);
                mv.visitLdcInsn(i);
                mv.visitLdcInsn(keys[i]);
                mv.visitInsn(Opcodes.IASTORE);
            }
            call(ways(keys.length + 1), "branch", "(I[II)V");
        }

        @Override
        public void visitInsn(int code) {
            instruction();
            super.visitInsn(code);
        }

        @Override
        public void visitIntInsn(int code, int operand) {
            instruction();
            super.visitIntInsn(code, operand);
        }

        @Override
        public void visitVarInsn(int code, int local) {
            instruction();
            super.visitVarInsn(code, local);
        }

        @Override
        public void visitTypeInsn(int code, String type) {
            instruction();
            super.visitTypeInsn(code, type);
        }

        @Override
        public void visitFieldInsn(int code, String owner, String name, String type) {
            instruction();
            super.visitFieldInsn(code, owner, name, type);
        }

        @Override
        public void visitMethodInsn(int code, String owner, String name, String type, boolean isInterface) {
            instruction();
            super.visitMethodInsn(code, owner, name, type, isInterface);
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String type, Handle bootstrap, Object... arguments) {
            instruction();
            super.visitInvokeDynamicInsn(name, type, bootstrap, arguments);
        }

        @Override
        public void visitLdcInsn(Object value) {
            instruction();
            super.visitLdcInsn(value);
        }

        @Override
        public void visitIincInsn(int local, int by) {
            instruction();
            super.visitIincInsn(local, by);
        }

        @Override
        public void visitMultiANewArrayInsn(String type, int dimensions) {
            instruction();
            super.visitMultiANewArrayInsn(type, dimensions);
        }

        /** Numbers of so many ways in a row; a copy of the same code, as of a `finally`, has the same. */
        private int ways(int count) {
            int branch = (count * 1000 + way++ % 1000) * 100;
            synchronized (Coverage.class) {
                int first = number("B\t" + path + "\t" + line + "\t" + branch);
                for (int i = 1; i < count; i++) {
                    number("B\t" + path + "\t" + line + "\t" + (branch + i));
                }
                return first;
            }
        }

        private void call(int number, String name, String type) {
            mv.visitLdcInsn(number);
            mv.visitMethodInsn(Opcodes.INVOKESTATIC, "patchwright/Coverage", name, type, false);
        }
    }
}
