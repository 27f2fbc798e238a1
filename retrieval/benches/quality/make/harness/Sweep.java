import harvest.Harvest;
import java.lang.reflect.*;
import java.nio.file.*;
import java.util.*;

/**
 * Sweep CLASS reach SEEDS CORPUS SECONDS: prints the checks that inputs reach, and keeps inputs that reached another.
 * Sweep CLASS crash CORPUS FOUND SECONDS CHECK...: keeps, for each check, an input that throws only when it is off.
 */
public class Sweep {
    static Method run;
    static volatile long since = 0;

    public static void main(String[] a) throws Throwable {
        run = Class.forName(a[0]).getMethod("run", byte[].class);
        List<byte[]> corpus = new ArrayList<>();
        List<Path> all = new ArrayList<>();
        try (DirectoryStream<Path> seeds = Files.newDirectoryStream(Paths.get(a[2]))) {
            for (Path p : seeds) all.add(p);
        }
        Collections.sort(all);
        for (Path p : all) corpus.add(Files.readAllBytes(p));
        Thread guard = new Thread(Sweep::guard);
        guard.setDaemon(true);
        guard.start();
        double seconds = Double.parseDouble(a[4]);
        if (a[1].equals("reach")) reach(corpus, Paths.get(a[3]), seconds);
        else for (int i = 5; i < a.length; i++) {
            System.out.println(a[i]);
            System.out.flush();
            crash(corpus, Paths.get(a[3]), seconds, Integer.parseInt(a[i]));
        }
        System.exit(0);
    }

    static void guard() {
        while (true) {
            try {
                Thread.sleep(500);
            } catch (InterruptedException e) {
            }
            if (since != 0 && System.nanoTime() - since > 5_000_000_000L) Runtime.getRuntime().halt(3);
        }
    }

    static Throwable one(byte[] in) throws Throwable {
        since = System.nanoTime();
        try {
            run.invoke(null, (Object) in.clone());
            return null;
        } catch (InvocationTargetException e) {
            return e.getCause();
        } finally {
            since = 0;
        }
    }

    static void reach(List<byte[]> corpus, Path kept, double seconds) throws Throwable {
        Random random = new Random(1);
        Set<String> flaws = new TreeSet<>();
        BitSet reached = new BitSet();
        List<byte[]> good = new ArrayList<>();
        long end = System.nanoTime() + (long) (seconds * 1e9);
        for (long n = 0; n < corpus.size() || System.nanoTime() < end; n++) {
            byte[] in = n < corpus.size() ? corpus.get((int) n) : Drive.mutate(random, good.isEmpty() ? corpus : good);
            if (in.length > 4000) continue;
            Harvest.hit.clear();
            Throwable thrown = one(in);
            if (thrown != null) {
                flaws.add(thrown.getClass().getName());
                continue;
            }
            BitSet now = (BitSet) Harvest.hit.clone();
            now.andNot(reached);
            if (n >= corpus.size() && now.isEmpty()) continue;
            reached.or(now);
            good.add(in);
            Files.write(kept.resolve(String.format("%05d", good.size())), in);
        }
        System.err.println("flaws of its own: " + flaws);
        for (int i = reached.nextSetBit(0); i >= 0; i = reached.nextSetBit(i + 1)) System.out.println(i);
    }

    static void crash(List<byte[]> corpus, Path found, double seconds, int number) throws Throwable {
        Random random = new Random(1);
        long end = System.nanoTime() + (long) (seconds * 1e9);
        for (long n = 0; n < corpus.size() || System.nanoTime() < end; n++) {
            byte[] in = n < corpus.size() ? corpus.get((int) n) : Drive.mutate(random, corpus);
            Harvest.off = number;
            Throwable thrown = one(in);
            Harvest.off = -1;
            if (thrown == null || one(in) != null) continue;
            Files.write(found.resolve(Integer.toString(number)), in);
            return;
        }
    }
}
