import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.Reader;
import java.io.StringReader;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Hands a file to a method of a library, and prints what comes back: java Launcher CLASS METHOD FILE. The file goes to the method
 * or to what makes its object, as text, bytes, stream, reader, path or file, whichever it takes; what else they want is made as
 * plainly as it can be. What the library refuses by an exception of its own is told, with an exit status of its own; every other
 * one ends the program.
 */
public final class Launcher {
    /** A library that takes files or streams may take a string as the name of a file. */
    private static final List<Class<?>> KINDS = List.of(byte[].class, InputStream.class, Reader.class, Path.class, File.class,
            String.class, CharSequence.class);
    /** The exit status where the library refuses a file by an exception of its own. */
    private static final int REFUSED = 3;
    /** Objects that are made for the making of others. */
    private static final int DEEPEST = 3;
    /** Objects that are told of, and members of a collection. */
    private static final int MOST_SHOWN = 200;
    /** Collections within collections that are told of. */
    private static final int DEEPEST_SHOWN = 20;
    /** The depth of what is being told. */
    private static int within;

    private final Path file;
    /** The kind as which the file is handed over. */
    private Class<?> kind;

    private Launcher(Path file) {
        this.file = file;
    }

    private Object perform(Executable called, Object object, boolean withFile, int depth) throws Exception {
        Class<?>[] wanted = called.getParameterTypes();
        Object[] given = new Object[wanted.length];
        boolean waits = withFile;
        for (int at = 0; at < wanted.length; at++) {
            boolean here = waits && wanted[at] == kind;
            given[at] = here ? content() : any(wanted[at], depth + 1);
            waits &= !here;
        }
        if (object == null && called instanceof Method && !Modifier.isStatic(called.getModifiers())) {
            object = any(called.getDeclaringClass(), depth + 1);
        }
        called.setAccessible(true);
        return called instanceof Method ? ((Method) called).invoke(object, given) : ((Constructor<?>) called).newInstance(given);
    }

    /**
     * What makes an object of a class, first what is public, and of that the plainest: constructors, static methods of it and of the
     * class around it, and methods of its builder.
     */
    private static List<Executable> makers(Class<?> type) {
        List<Executable> makers = new ArrayList<>();
        if (!Modifier.isAbstract(type.getModifiers())) {
            makers.addAll(Arrays.asList(type.getDeclaredConstructors()));
        }
        for (Class<?> place = type; place != null; place = place.getEnclosingClass()) {
            for (Method method : place.getDeclaredMethods()) {
                if (Modifier.isStatic(method.getModifiers()) && type.isAssignableFrom(method.getReturnType())) {
                    makers.add(method);
                }
            }
        }
        for (Method method : type.getDeclaredMethods()) {
            boolean begins = Modifier.isStatic(method.getModifiers()) && method.getParameterCount() == 0;
            Class<?> builder = begins ? method.getReturnType() : type;
            for (Method last : builder.isInterface() || builder == type ? new Method[0] : builder.getMethods()) {
                if (last.getParameterCount() == 0 && last.getReturnType() == type) {
                    makers.add(last);
                }
            }
        }
        makers.sort(Comparator.comparing((Executable maker) -> !Modifier.isPublic(maker.getModifiers()))
                .thenComparing(Executable::getParameterCount).thenComparing(Executable::toString));
        return makers;
    }

    /** An object of a type that says as little as it can. */
    private Object any(Class<?> type, int depth) throws Exception {
        if (type.isPrimitive()) {
            return Array.get(Array.newInstance(type, 1), 0);
        } else if (type == Charset.class) {
            return StandardCharsets.UTF_8;
        } else if (type == String.class || type == CharSequence.class) {
            // The name of a charset is asked for in this way, too, and no other word is one.
            return StandardCharsets.UTF_8.name();
        }
        for (Object empty : List.of(new ArrayList<>(), new HashMap<>(), new HashSet<>(), Optional.empty())) {
            if (type != Object.class && type.isInstance(empty)) {
                return empty;
            }
        }
        if (type.isArray()) {
            return Array.newInstance(type.getComponentType(), 0);
        } else if (type.isEnum()) {
            return type.getEnumConstants()[0];
        } else if (type.isInterface() && !type.getName().startsWith("java")) {
            return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> {
                if (method.getDeclaringClass() != Object.class) {
                    System.out.println(method.getName() + inWords(given));
                }
                return method.getReturnType() == void.class ? null : any(method.getReturnType(), DEEPEST);
            });
        }
        List<Executable> makers = depth < DEEPEST && !type.getName().startsWith("java.lang.") ? makers(type) : List.of();
        for (Executable maker : makers) {
            Object made = null;
            try {
                made = perform(maker, null, false, depth);
            } catch (ReflectiveOperationException | RuntimeException e) {
                continue;
            }
            if (made != null) {
                return made;
            }
        }
        return null;
    }

    private Object content() throws java.io.IOException {
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

    private static void tell(Object result) throws IllegalAccessException {
        List<Object> shown = new ArrayList<>();
        if (result instanceof Iterable<?>) {
            for (Object one : (Iterable<?>) result) {
                System.out.println(inWords(one));
                value(one, shown);
            }
        } else {
            System.out.println(inWords(result));
        }
        value(result, shown);
        for (int at = 0; at < Math.min(shown.size(), MOST_SHOWN); at++) {
            String name = shown.get(at).getClass().getName();
            System.out.println("#" + at + ' ' + name.split("\\$\\$")[0] + values(shown.get(at), shown));
        }
    }

    /** What the public methods of an object tell of it, since its own words may say nothing. */
    private static String values(Object object, List<Object> shown) throws IllegalAccessException {
        List<Method> getters = new ArrayList<>();
        try {
            getters.addAll(Arrays.asList(object.getClass().getMethods()));
        } catch (LinkageError e) {
            return " " + e.getClass().getName();
        }
        getters.removeIf(method -> method.getParameterCount() > 0 || method.isSynthetic() || Modifier.isStatic(method.getModifiers())
                || !isOwn(method.getDeclaringClass()) || !method.getName().matches("(?:get|is|has)\\p{Lu}.*"));
        getters.sort(Comparator.comparing(Method::getName).thenComparing(Method::toString));
        StringBuilder values = new StringBuilder();
        for (Method getter : getters) {
            values.append(' ').append(getter.getName()).append('=');
            try {
                getter.setAccessible(true);
                values.append(value(getter.invoke(object), shown));
            } catch (InvocationTargetException e) {
                values.append(e.getCause().getClass().getName());
            }
        }
        return values.toString();
    }

    /** A value in words; an object of the library is a number, and told of later. */
    private static String value(Object object, List<Object> shown) {
        within++;
        try {
            return shown.size() < MOST_SHOWN && within < DEEPEST_SHOWN ? words(object, shown) : "..";
        } catch (RuntimeException | LinkageError e) {
            return e.getClass().getName();
        } finally {
            within--;
        }
    }

    private static String words(Object object, List<Object> shown) {
        if (object instanceof Optional<?>) {
            return value(((Optional<?>) object).orElse(null), shown);
        } else if (object instanceof Map<?, ?>) {
            Map<?, ?> map = (Map<?, ?>) object;
            return map instanceof HashMap<?, ?> && isUnordered(map.keySet()) ? map.size() + "[..]"
                    : value(new ArrayList<>(map.entrySet()), shown);
        } else if (object instanceof HashSet<?> && isUnordered((HashSet<?>) object)) {
            return ((HashSet<?>) object).size() + "[..]";
        } else if (object instanceof Map.Entry<?, ?>) {
            return value(((Map.Entry<?, ?>) object).getKey(), shown) + ':' + value(((Map.Entry<?, ?>) object).getValue(), shown);
        } else if (object instanceof Collection<?> || object instanceof Object[]) {
            Collection<?> all = object instanceof Object[] ? Arrays.asList((Object[]) object) : (Collection<?>) object;
            List<String> words = new ArrayList<>();
            all.stream().limit(MOST_SHOWN).forEach(one -> words.add(value(one, shown)));
            return all.size() + words.toString();
        } else if (object == null || object instanceof Enum<?> || !isOwn(object.getClass())) {
            return inWords(object);
        }
        for (int at = 0; at < shown.size(); at++) {
            if (shown.get(at) == object) {
                return "#" + at;
            }
        }
        shown.add(object);
        return "#" + (shown.size() - 1);
    }

    /** Tells whether the order of members differs from run to run, as their hashes do. */
    private static boolean isUnordered(Collection<?> members) {
        return members.stream().anyMatch(one -> one instanceof Enum<?> || one != null && isOwn(one.getClass()));
    }

    /** Tells whether a class is of the library, or of what it brings along. */
    private static boolean isOwn(Class<?> type) {
        return type.getClassLoader() == Launcher.class.getClassLoader();
    }

    /** An object's own words: those that every object has show where it lies in memory. */
    private static String inWords(Object object) {
        if (object != null && object.getClass().isArray()) {
            List<String> words = new ArrayList<>();
            for (int at = 0; at < Array.getLength(object); at++) {
                words.add(inWords(Array.get(object, at)));
            }
            return words.toString();
        }
        try {
            boolean own = object == null || object.getClass().getMethod("toString").getDeclaringClass() != Object.class;
            return own ? String.valueOf(object) : object.getClass().getName();
        } catch (NoSuchMethodException e) {
            return object.getClass().getName();
        }
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

    private boolean takes(Executable called) {
        return Arrays.asList(called.getParameterTypes()).contains(kind);
    }

    /** Calls a method on an object that this maker makes of the file; without one the method itself takes the file. */
    private void call(Executable method, Executable maker) throws Throwable {
        Executable throwing = maker;
        PrintStream errors = System.err;
        ByteArrayOutputStream told = new ByteArrayOutputStream();
        System.setErr(new PrintStream(told, true));
        try {
            Object object = null;
            if (maker != null) {
                object = perform(maker, null, true, 0);
            } else if (method instanceof Method && !Modifier.isStatic(method.getModifiers())) {
                object = any(method.getDeclaringClass(), 0);
            }
            throwing = method;
            tell(perform(method, object, maker == null, 0));
        } catch (InvocationTargetException e) {
            Throwable thrown = e.getCause();
            if (throwing == null || !isAnswer(throwing, thrown)) {
                throw thrown;
            }
            // What the library wrote of what it refuses is no report of a crash.
            told.reset();
            System.out.println("refused: " + thrown);
            System.exit(REFUSED);
        } finally {
            System.setErr(errors);
            errors.write(told.toByteArray());
            errors.flush();
        }
    }

    /** CLASS METHOD FILE: hands the file to the method, or to what makes its object, and prints what comes back. */
    public static void main(String[] words) throws Throwable {
        Class<?> type = find(words[0]);
        List<Executable> methods = new ArrayList<>(Arrays.asList(type.getDeclaredMethods()));
        methods.removeIf(method -> !method.getName().equals(words[1]) || method.isSynthetic());
        if (words[1].equals("<init>")) {
            methods.addAll(Arrays.asList(type.getDeclaredConstructors()));
        }
        methods.sort(Comparator.comparingInt(Executable::getParameterCount));
        Launcher launcher = new Launcher(Paths.get(words[2]));
        for (Class<?> kind : KINDS) {
            launcher.kind = kind;
            for (Executable method : methods) {
                if (launcher.takes(method)) {
                    launcher.call(method, null);
                    return;
                }
            }
            for (Executable maker : makers(type)) {
                if (launcher.takes(maker) && !methods.isEmpty()) {
                    launcher.call(methods.get(0), maker);
                    return;
                }
            }
        }
        System.err.println(words[1] + " takes no file, and no object of its class is made of one");
        System.exit(2);
    }
}
