import java.nio.charset.StandardCharsets;

public class Jsoup {
    public static void run(byte[] in) {
        String text = new String(in, StandardCharsets.UTF_8);
        org.jsoup.nodes.Document page = org.jsoup.Jsoup.parse(text, "http://a/b");
        page.outerHtml();
        try {
            page.select(text.length() > 40 ? text.substring(0, 40) : text);
        } catch (IllegalArgumentException | IllegalStateException e) {
        }
    }
}
