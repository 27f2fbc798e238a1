package patchwright;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.internal.org.objectweb.asm.ClassReader;
import jdk.internal.org.objectweb.asm.ClassVisitor;
import jdk.internal.org.objectweb.asm.ClassWriter;
import jdk.internal.org.objectweb.asm.MethodVisitor;
import jdk.internal.org.objectweb.asm.Opcodes;

/**
 * The part of the agent that takes the place of the program's `main` and runs the harness on many inputs in one JVM. Each input gets
 * classes of its own, so no static state goes from one to the next. A harness is a `main` that is given the input's path,
 * or a `fuzzerTestOneInput` of Jazzer. What it cannot run it leaves to the program: then it writes nothing.
 */
public final class ManyInputs {
    private static final int LONGEST_OUTPUT = 4 << 20;
    private static final int JAZZER_FINDING = 77;

    private static volatile Run current;

    private ManyInputs() {}

    static void start(Instrumentation instrumentation) {
        String command = System.getProperty("sun.java.command");
        String each = System.getenv("EACH_MILLISECONDS");
        if (command == null || each == null) {
            return;
        }
        try {
            instrumentation.addTransformer(new Exits());
            new Harness(command.split(" ")).runAll(Paths.get(System.getenv("NOTES")), Long.parseLong(each));
        } catch (Throwable e) {
            // Then the inputs are run one by one, as the program is started.
        }
        Runtime.getRuntime().halt(0);
    }

    /** Takes the place of the calls that end the JVM. */
    public static void exit(int status) {
        throw current.exited(status);
    }

    /** Takes the place of the same calls of the runtime. */
    public static void exit(Runtime runtime, int status) {
        throw current.exited(status);
    }

    /** The end of a program by its own wish. */
    private static final class Exit extends ThreadDeath {
        private static final long serialVersionUID = 1;
    }

    /** The run of one input. */
    private static final class Run {
        private final ByteArrayOutputStream output = new ByteArrayOutputStream();
        private Integer status;

        synchronized Exit exited(int with) {
            if (status == null) {
                status = with & 255;
            }
            return new Exit();
        }

        synchronized void write(byte[] bytes, int from, int count) {
            if (status == null && output.size() < LONGEST_OUTPUT) {
                output.write(bytes, from, count);
            }
        }

        synchronized void ended(Throwable thrown, String lead, int with) {
            if (status == null && !(thrown instanceof Exit)) {
                if (thrown != null) {
                    PrintStream print = new PrintStream(output);
                    print.print(lead);
                    trimmed(thrown).printStackTrace(print);
                    print.flush();
                }
                status = with;
            }
        }

        /** Cuts the frames of this driver off. */
        private static Throwable trimmed(Throwable thrown) {
            for (Throwable at = thrown; at != null; at = at.getCause()) {
                List<StackTraceElement> frames = new ArrayList<>(Arrays.asList(at.getStackTrace()));
                while (!frames.isEmpty() && isDriver(frames.get(frames.size() - 1).getClassName())) {
                    frames.remove(frames.size() - 1);
                }
                at.setStackTrace(frames.toArray(new StackTraceElement[0]));
            }
            return thrown;
        }

        private static boolean isDriver(String name) {
            return name.startsWith("patchwright.") || name.startsWith("java.lang.reflect.")
                    || name.startsWith("jdk.internal.reflect.") || name.equals("java.lang.Thread");
        }
    }

    /** Output of the program, which belongs to the run at hand. */
    private static final class Output extends java.io.OutputStream {
        @Override
        public void write(int one) {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int count) {
            Run run = current;
            if (run != null) {
                run.write(bytes, from, count);
            }
        }
    }

    /** The harness that a command names. */
    private static final class Harness {
        private final String main;
        private final String[] arguments;
        private final boolean fuzzes;
        private final List<URL> places = new ArrayList<>();

        Harness(String[] words) throws Exception {
            String path = System.getProperty("java.class.path");
            String first = words[0];
            String[] rest = Arrays.copyOfRange(words, 1, words.length);
            if (first.endsWith(".jar")) {
                try (JarFile jar = new JarFile(first)) {
                    first = jar.getManifest().getMainAttributes().getValue("Main-Class");
                }
            }
            fuzzes = first.endsWith("jazzer.Jazzer");
            String target = first;
            for (String word : rest) {
                if (fuzzes && word.replaceFirst("^-+", "").startsWith("target_class=")) {
                    target = word.substring(word.indexOf('=') + 1);
                }
                if (fuzzes && word.replaceFirst("^-+", "").startsWith("cp=")) {
                    path += File.pathSeparator + word.substring(word.indexOf('=') + 1);
                }
            }
            main = target;
            arguments = rest;
            for (String place : path.split(File.pathSeparator)) {
                places.add(Paths.get(place).toUri().toURL());
            }
        }

        void runAll(Path work, long each) throws Exception {
            PrintStream stream = new PrintStream(new Output(), true);
            System.setOut(stream);
            System.setErr(stream);
            List<Path> inputs;
            try (Stream<Path> files = Files.list(work.resolve("in"))) {
                inputs = files.sorted().collect(Collectors.toList());
            }
            for (Path input : inputs) {
                Method entry = entry();
                Run run = new Run();
                Values.reset();
                Coverage.reset();
                current = run;
                Thread thread = new Thread(null, () -> one(entry, input, run), "main");
                thread.setContextClassLoader(entry.getDeclaringClass().getClassLoader());
                thread.setDaemon(true);
                thread.start();
                thread.join(each);
                current = null;
                boolean hangs = thread.isAlive() && run.status == null;
                Files.write(work.resolve("out").resolve(input.getFileName()), run.output.toByteArray());
                Values.write(work.resolve("values").resolve(input.getFileName()));
                Coverage.write(work.resolve("coverage").resolve(input.getFileName()));
                String line = input.getFileName() + " " + (hangs ? "hang" : run.status) + "\n";
                Files.write(work.resolve("statuses"), line.getBytes(StandardCharsets.UTF_8),
                        StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                if (thread.isAlive()) {
                    return;
                }
            }
        }

        private Method entry() throws Exception {
            Class<?> harness = Class.forName(main, true, new Fresh(places.toArray(new URL[0])));
            for (Method method : harness.getDeclaredMethods()) {
                boolean named = method.getName().equals(fuzzes ? "fuzzerTestOneInput" : "main");
                if (named && Modifier.isStatic(method.getModifiers()) && method.getParameterCount() == 1) {
                    method.setAccessible(true);
                    return method;
                }
            }
            throw new NoSuchMethodException(main);
        }

        private void one(Method entry, Path input, Run run) {
            try {
                byte[] bytes = Files.readAllBytes(input);
                System.setIn(new ByteArrayInputStream(bytes));
                entry.invoke(null, fuzzes ? data(entry.getParameterTypes()[0], bytes) : with(input));
                run.ended(null, "", 0);
            } catch (InvocationTargetException e) {
                String lead = fuzzes ? "\n== Java Exception: " : "Exception in thread \"main\" ";
                run.ended(e.getCause(), lead, fuzzes ? JAZZER_FINDING : 1);
            } catch (Exception e) {
                // The harness was not run: without a status the input counts as not run.
                Runtime.getRuntime().halt(1);
            }
        }

        /** The arguments, with this input in place of the one that the command was given. */
        private String[] with(Path input) {
            String given = System.getenv("POV");
            Stream<String> words = Arrays.stream(arguments);
            return words.map(word -> word.equals(given) ? input.toString() : word).toArray(String[]::new);
        }

        private static Object data(Class<?> type, byte[] bytes) throws Exception {
            if (type == byte[].class) {
                return bytes;
            }
            Class<?> provider = ClassLoader.getSystemClassLoader()
                .loadClass("com.code_intelligence.jazzer.driver.FuzzedDataProviderImpl");
            return provider.getMethod("withJavaData", byte[].class).invoke(null, (Object) bytes);
        }
    }

    /** Loads the program's classes anew. The fuzzer's own and this driver are the same for all. */
    private static final class Fresh extends URLClassLoader {
        Fresh(URL[] places) {
            super(places, ClassLoader.getPlatformClassLoader());
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (name.startsWith("patchwright.") || name.startsWith("com.code_intelligence.")) {
                return ClassLoader.getSystemClassLoader().loadClass(name);
            }
            return super.findClass(name);
        }
    }

    /** Has the program's calls that end the JVM end its run instead. */
    private static final class Exits implements ClassFileTransformer {
        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
            if (!(loader instanceof Fresh)) {
                return null;
            }
            try {
                ClassReader reader = new ClassReader(bytes);
                ClassWriter writer = new ClassWriter(reader, 0);
                reader.accept(new ClassVisitor(Agent.API, writer) {
                    @Override
                    public MethodVisitor visitMethod(int access, String name, String type, String generic, String[] thrown) {
                        return new Calls(super.visitMethod(access, name, type, generic, thrown));
                    }
                }, 0);
                return writer.toByteArray();
            } catch (Throwable e) {
                return null;
            }
        }
    }

    private static final class Calls extends MethodVisitor {
        Calls(MethodVisitor next) {
            super(Agent.API, next);
        }

        @Override
        public void visitMethodInsn(int code, String owner, String name, String type, boolean isInterface) {
            boolean ends = type.equals("(I)V") && (name.equals("exit") || name.equals("halt"));
            if (ends && owner.equals("java/lang/System")) {
                super.visitMethodInsn(Opcodes.INVOKESTATIC, "patchwright/ManyInputs", "exit", type, false);
            } else if (ends && owner.equals("java/lang/Runtime")) {
                super.visitMethodInsn(
                        Opcodes.INVOKESTATIC, "patchwright/ManyInputs", "exit", "(Ljava/lang/Runtime;I)V", false);
            } else {
                super.visitMethodInsn(code, owner, name, type, isInterface);
            }
        }
    }
}
