import java.nio.charset.StandardCharsets;
import org.commonmark.parser.*;
import org.commonmark.renderer.html.HtmlRenderer;
import org.commonmark.renderer.text.TextContentRenderer;

public class Commonmark {
    public static void run(byte[] in) {
        org.commonmark.node.Node node = Parser.builder().includeSourceSpans(IncludeSourceSpans.BLOCKS_AND_INLINES).build().parse(new String(in, StandardCharsets.UTF_8));
        HtmlRenderer.builder().sanitizeUrls(true).build().render(node);
        TextContentRenderer.builder().build().render(node);
    }
}
