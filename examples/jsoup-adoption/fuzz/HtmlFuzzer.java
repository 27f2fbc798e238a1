import java.nio.charset.StandardCharsets;
import org.jsoup.Jsoup;

/** Parses a page and prints it again: any text is a page, so nothing may be thrown. */
public class HtmlFuzzer {
    public static void fuzzerTestOneInput(byte[] data) {
        if (data.length > 4096) {
            return;
        }
        String page = new String(data, StandardCharsets.UTF_8);
        System.out.println(Jsoup.parse(page, "http://localhost/").outerHtml());
    }
}
