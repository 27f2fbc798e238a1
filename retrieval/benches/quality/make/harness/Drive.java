import java.lang.reflect.*;
import java.nio.file.*;
import java.util.*;

/** Drive CLASS SEEDS SECONDS FOUND: mutates the seeds until CLASS.run throws; keeps that input and dies of it. */
public class Drive {
    static final String MARKS = "{}[]()<>\"',:;&|*-+!?#%@\\/=. \n\t0";

    public static void main(String[] a) throws Throwable {
        Method run = Class.forName(a[0]).getMethod("run", byte[].class);
        List<byte[]> corpus = new ArrayList<>();
        try (DirectoryStream<Path> seeds = Files.newDirectoryStream(Paths.get(a[1]))) {
            List<Path> all = new ArrayList<>();
            for (Path p : seeds) all.add(p);
            Collections.sort(all);
            for (Path p : all) corpus.add(Files.readAllBytes(p));
        }
        Random random = new Random(1);
        long end = System.nanoTime() + (long) (Double.parseDouble(a[2]) * 1e9);
        for (long n = 0; n < corpus.size() || System.nanoTime() < end; n++) {
            byte[] in = n < corpus.size() ? corpus.get((int) n) : mutate(random, corpus);
            try {
                run.invoke(null, (Object) in);
            } catch (InvocationTargetException e) {
                Files.write(Paths.get(a[3]), in);
                throw e.getCause();
            }
        }
    }

    static byte[] mutate(Random r, List<byte[]> corpus) {
        byte[] b = corpus.get(r.nextInt(corpus.size())).clone();
        for (int k = 1 + r.nextInt(4); k > 0 && b.length > 0; k--) {
            int at = r.nextInt(b.length), n = 1 + r.nextInt(Math.min(8, b.length - at));
            switch (r.nextInt(5)) {
                case 0: b[at] = (byte) r.nextInt(256); break;
                case 1: b[at] = (byte) MARKS.charAt(r.nextInt(MARKS.length())); break;
                case 2: b = join(Arrays.copyOf(b, at), Arrays.copyOfRange(b, at + n, b.length)); break;
                case 3: b = join(Arrays.copyOf(b, at + n), Arrays.copyOfRange(b, at, b.length)); break;
                default:
                    byte[] c = corpus.get(r.nextInt(corpus.size()));
                    int from = r.nextInt(c.length), m = Math.min(c.length - from, 1 + r.nextInt(20));
                    b = join(join(Arrays.copyOf(b, at), Arrays.copyOfRange(c, from, from + m)), Arrays.copyOfRange(b, at, b.length));
            }
        }
        return b;
    }

    static byte[] join(byte[] a, byte[] b) {
        byte[] c = Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, c, a.length, b.length);
        return c;
    }
}
