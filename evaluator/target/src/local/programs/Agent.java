package patchwright;

import java.lang.instrument.Instrumentation;
import java.net.URL;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import jdk.internal.org.objectweb.asm.Opcodes;

/** The agent's beginning: starts the parts that the environment asks for. */
public final class Agent {
    /** The newest version of the class reader's interface that this JDK has. */
    static final int API = newest();

    private static final Path[] ROOTS = roots();

    private Agent() {}

    /** Called by the JVM before the program's own `main`. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        if (System.getenv("NOTES") == null || ROOTS.length == 0) {
            return;
        }
        Coverage.start(instrumentation);
        Values.start(instrumentation);
        ManyInputs.start(instrumentation);
    }

    private static int newest() {
        for (String name : new String[] {"ASM9", "ASM8", "ASM7"}) {
            try {
                return Opcodes.class.getField(name).getInt(null);
            } catch (ReflectiveOperationException e) {
                // An older JDK.
            }
        }
        return Opcodes.ASM6;
    }

    private static Path[] roots() {
        String tree = System.getenv("TREE");
        String out = System.getenv("OUT");
        return tree == null || out == null ? new Path[0] : new Path[] {Paths.get(tree), Paths.get(out)};
    }

    /**
     * The folder that a class of the project comes from; null for a class of a library, the fuzzer or the JDK, and for one
     * that would not find what it is made to call here.
     */
    static String folderOf(ClassLoader loader, ProtectionDomain domain) {
        try {
            if (loader == null || loader.loadClass(Agent.class.getName()) != Agent.class) {
                return null;
            }
            CodeSource source = domain == null ? null : domain.getCodeSource();
            URL place = source == null ? null : source.getLocation();
            if (place == null || !"file".equals(place.getProtocol())) {
                return null;
            }
            Path path = Paths.get(place.toURI());
            // Jars below the tree are libraries, or the fuzzer itself.
            boolean ours = !path.toString().endsWith(".jar") && (path.startsWith(ROOTS[0]) || path.startsWith(ROOTS[1]));
            return ours ? path.toString() : null;
        } catch (Exception e) {
            return null;
        }
    }

    /** The file for what was seen: named by the input, or by the process where the tests run. */
    static Path file(String kind) {
        String input = System.getenv("POV");
        String name = input == null ? ProcessHandle.current().pid() + "" : Paths.get(input).getFileName().toString();
        return Paths.get(System.getenv("NOTES"), kind, name);
    }
}
