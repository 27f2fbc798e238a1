import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.InputStream;
import java.io.Reader;
import java.io.StringReader;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

/**
 * Hands a file to a method of a library, and prints what comes back: java Launcher CLASS METHOD FILE. The file goes to the method
 * or to the constructor of its object, as text, bytes, stream, reader, path or file, whichever it takes. What the library refuses
 * by an exception of its own is an answer, too; every other exception ends the program.
 */
public final class Launcher {
    private Launcher() {}

    public static void main(String[] words) throws Throwable {
        Class<?> type = find(words[0]);
        Path file = Paths.get(words[2]);
        for (Class<?> kind : List.of(String.class, CharSequence.class, byte[].class, InputStream.class, Reader.class, Path.class,
                File.class)) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.getName().equals(words[1]) && call(type, method, kind, file)) {
                    return;
                }
            }
        }
        throw new NoSuchMethodException(words[1] + " of " + words[0] + " takes no file, and no object that is made of one");
    }

    /** Finds a class by a name in which a dot may stand before the name of a nested class. */
    private static Class<?> find(String name) throws ClassNotFoundException {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            int dot = name.lastIndexOf('.');
            if (dot < 0) {
                throw e;
            }
            return find(name.substring(0, dot) + '$' + name.substring(dot + 1));
        }
    }

    /** Calls a method with the file as this kind; false where it cannot be called so. */
    private static boolean call(Class<?> type, Method method, Class<?> kind, Path file) throws Throwable {
        Class<?>[] wants = method.getParameterTypes();
        boolean takes = wants.length == 1 && wants[0] == kind;
        if (!takes && (wants.length > 0 || Modifier.isStatic(method.getModifiers()))) {
            return false;
        }
        Executable throwing = method;
        try {
            Object object = null;
            if (!Modifier.isStatic(method.getModifiers())) {
                Executable maker = takes ? maker(type) : constructor(type, kind);
                if (maker == null) {
                    return false;
                }
                throwing = maker;
                object = made(maker, takes ? null : content(kind, file));
                throwing = method;
            }
            method.setAccessible(true);
            tell(takes ? method.invoke(object, content(kind, file)) : method.invoke(object));
        } catch (InvocationTargetException e) {
            Throwable thrown = e.getCause();
            if (!isAnswer(throwing, thrown)) {
                throw thrown;
            }
            System.out.println("refused: " + thrown);
        }
        return true;
    }

    /** What makes an object without an input: its constructor, or a static method of its class or of the one around it. */
    private static Executable maker(Class<?> type) {
        Constructor<?> plain = constructor(type, null);
        if (plain != null) {
            return plain;
        }
        for (Class<?> place = type; place != null; place = place.getEnclosingClass()) {
            for (Method method : place.getDeclaredMethods()) {
                boolean makes = Modifier.isStatic(method.getModifiers()) && method.getParameterCount() == 0;
                if (makes && type.isAssignableFrom(method.getReturnType())) {
                    return method;
                }
            }
        }
        return null;
    }

    private static Constructor<?> constructor(Class<?> type, Class<?> kind) {
        if (Modifier.isAbstract(type.getModifiers())) {
            return null;
        }
        try {
            return kind == null ? type.getDeclaredConstructor() : type.getDeclaredConstructor(kind);
        } catch (NoSuchMethodException e) {
            return null;
        }
    }

    private static Object made(Executable maker, Object content) throws ReflectiveOperationException {
        maker.setAccessible(true);
        if (maker instanceof Constructor<?>) {
            return content == null ? ((Constructor<?>) maker).newInstance() : ((Constructor<?>) maker).newInstance(content);
        }
        return ((Method) maker).invoke(null);
    }

    private static Object content(Class<?> kind, Path file) throws java.io.IOException {
        byte[] bytes = Files.readAllBytes(file);
        String text = new String(bytes, StandardCharsets.UTF_8);
        if (kind == byte[].class) {
            return bytes;
        } else if (kind == InputStream.class) {
            return new ByteArrayInputStream(bytes);
        } else if (kind == Reader.class) {
            return new StringReader(text);
        } else if (kind == Path.class) {
            return file;
        }
        return kind == File.class ? file.toFile() : text;
    }

    /** An exception that is declared, or that the library itself throws to say that an input or a state is wrong. */
    private static boolean isAnswer(Executable called, Throwable thrown) {
        for (Class<?> declared : called.getExceptionTypes()) {
            if (declared.isInstance(thrown) && !(declared == Exception.class && thrown instanceof RuntimeException)) {
                return true;
            }
        }
        boolean refuses = thrown instanceof IllegalArgumentException || thrown instanceof IllegalStateException
                || thrown instanceof UnsupportedOperationException || !thrown.getClass().getName().startsWith("java");
        StackTraceElement[] frames = thrown.getStackTrace();
        return refuses && thrown instanceof RuntimeException && frames.length > 0 && !frames[0].getClassName().startsWith("java");
    }

    private static void tell(Object result) throws ReflectiveOperationException {
        List<String> told = new ArrayList<>();
        if (result instanceof Iterable<?>) {
            ((Iterable<?>) result).forEach(one -> told.add(inWords(one)));
        } else {
            told.add(inWords(result));
        }
        told.forEach(System.out::println);
    }

    /** An object's own words: those that every object has show where it lies in memory. */
    private static String inWords(Object object) {
        if (object instanceof Object[]) {
            return java.util.Arrays.deepToString((Object[]) object);
        } else if (object instanceof byte[]) {
            return java.util.Arrays.toString((byte[]) object);
        }
        try {
            boolean own = object == null || object.getClass().getMethod("toString").getDeclaringClass() != Object.class;
            return own ? String.valueOf(object) : object.getClass().getName();
        } catch (NoSuchMethodException e) {
            return object.getClass().getName();
        }
    }
}
