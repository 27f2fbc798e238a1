import java.io.*;
import org.w3c.tidy.Tidy;

public class Jtidy {
    public static void run(byte[] in) {
        if (in.length < 2) return;
        Tidy tidy = new Tidy();
        tidy.setErrout(new PrintWriter(new StringWriter()));
        tidy.setQuiet(true);
        tidy.setXHTML((in[0] & 1) != 0);
        tidy.setXmlTags((in[0] & 6) == 6);
        tidy.setMakeClean((in[0] & 8) != 0);
        tidy.setWord2000((in[0] & 16) != 0);
        tidy.setForceOutput(true);
        tidy.setInputEncoding("UTF-8");
        org.w3c.dom.Document document = tidy.parseDOM(new ByteArrayInputStream(in, 1, in.length - 1), new ByteArrayOutputStream());
        if (document != null) document.getElementsByTagName("a").getLength();
    }
}
