import java.io.*;

public class BrotliDec {
    public static void run(byte[] in) {
        try (InputStream stream = new org.brotli.dec.BrotliInputStream(new ByteArrayInputStream(in), 64, null)) {
            byte[] out = new byte[100];
            for (int i = 0; i < 300 && stream.read(out, i % 7, 50) >= 0; i++) {}
        } catch (IOException e) {
        }
    }
}
