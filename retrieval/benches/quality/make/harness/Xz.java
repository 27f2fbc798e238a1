import java.io.*;
import org.tukaani.xz.*;

public class Xz {
    public static void run(byte[] in) {
        if (in.length < 2) return;
        InputStream bytes = new ByteArrayInputStream(in, 1, in.length - 1);
        try {
            InputStream stream;
            switch (in[0] & 3) {
                case 0: stream = new XZInputStream(bytes, 4000); break;
                case 1: stream = new LZMAInputStream(bytes, 4000); break;
                case 2: stream = new SeekableXZInputStream(new Whole(in), 4000); break;
                default: stream = new LZMA2InputStream(bytes, 4096);
            }
            byte[] out = new byte[200];
            for (int i = 0; i < 100 && stream.read(out, i % 5, 150) >= 0; i++) {}
            if (stream instanceof SeekableXZInputStream) ((SeekableXZInputStream) stream).seek(10);
        } catch (IOException e) {
        }
    }

    static class Whole extends SeekableInputStream {
        private final byte[] in;
        private int at = 1;
        Whole(byte[] in) { this.in = in; }
        public int read() { return at < in.length ? in[at++] & 255 : -1; }
        public long length() { return in.length - 1; }
        public long position() { return at - 1; }
        public void seek(long to) throws IOException {
            if (to < 0) throw new IOException("before the start");
            at = (int) Math.min(in.length, to + 1);
        }
    }
}
