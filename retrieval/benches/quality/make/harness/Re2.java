import com.google.re2j.*;
import java.nio.charset.StandardCharsets;

public class Re2 {
    public static void run(byte[] in) {
        String[] parts = new String(in, StandardCharsets.ISO_8859_1).split("\0", 2);
        try {
            Pattern pattern = Pattern.compile(parts[0], parts[0].length() % 8);
            Matcher matcher = pattern.matcher(parts.length > 1 ? parts[1] : parts[0]);
            while (matcher.find()) matcher.group(matcher.groupCount());
            matcher.reset();
            matcher.replaceAll("x");
        } catch (PatternSyntaxException e) {
        }
    }
}
