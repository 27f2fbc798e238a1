import com.eclipsesource.json.*;
import java.io.*;
import java.nio.charset.StandardCharsets;

public class MinimalJson {
    public static void run(byte[] in) throws IOException {
        try {
            JsonValue value = Json.parse(new InputStreamReader(new ByteArrayInputStream(in), StandardCharsets.UTF_8));
            value.toString(PrettyPrint.indentWithSpaces(2));
            value.equals(Json.parse(value.toString()));
            if (value.isObject()) {
                JsonObject object = value.asObject();
                object.getInt("a", 1);
                object.getString("b", "x");
                object.set("c", 2).remove("d");
                object.merge(Json.parse("{\"e\":1}").asObject());
            }
            if (value.isArray() && value.asArray().size() > 1) value.asArray().set(1, "x").remove(0);
        } catch (ParseException | UnsupportedOperationException | NumberFormatException e) {
        }
    }
}
