import java.nio.charset.StandardCharsets;
import org.hjson.*;

public class HumanJson {
    public static void run(byte[] in) {
        try {
            JsonValue value = JsonValue.readHjson(new String(in, StandardCharsets.UTF_8));
            value.toString(Stringify.HJSON);
            value.toString(Stringify.FORMATTED);
        } catch (ParseException | UnsupportedOperationException e) {
        }
    }
}
