package harvest;

/** The switches of sweep.py: the check whose number is `off` counts as false. */
public class Harvest {
    public static volatile int off = -1;
    public static final java.util.BitSet hit = new java.util.BitSet();

    public static boolean check(int number, boolean isTrue) {
        if (!isTrue) return false;
        hit.set(number);
        return number != off;
    }
}
