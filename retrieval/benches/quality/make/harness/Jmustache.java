import com.samskivert.mustache.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

public class Jmustache {
    public static void run(byte[] in) {
        Map<String, Object> context = new HashMap<>();
        context.put("a", "x<y>");
        context.put("b", Arrays.asList("1", "2", null));
        context.put("c", Collections.singletonMap("d", 5));
        context.put("e", null);
        context.put("f", true);
        context.put("g", new String[0]);
        context.put("h", (Mustache.Lambda) (fragment, out) -> out.write(fragment.execute().trim()));
        String text = new String(in, StandardCharsets.UTF_8);
        for (int i = 0; i < 3; i++) {
            Mustache.Compiler compiler = Mustache.compiler().withLoader(name -> new java.io.StringReader("[{{a}}]"));
            if (i == 1) compiler = compiler.standardsMode(true).nullValue("-");
            if (i == 2) compiler = compiler.strictSections(true).defaultValue("?").emptyStringIsFalse(true).zeroIsFalse(true);
            try {
                compiler.compile(text).execute(context);
            } catch (MustacheException e) {
            }
        }
    }
}
