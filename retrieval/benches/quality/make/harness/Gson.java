import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import com.google.gson.*;
import com.google.gson.stream.*;

public class Gson {
    static class Shape { int[] a; Map<String, List<Double>> b; Shape c; String d; Long e; Thread.State f; }
    public static void run(byte[] in) {
        String text = new String(in, StandardCharsets.UTF_8);
        try {
            JsonElement tree = JsonParser.parseString(text);
            tree.toString();
            new com.google.gson.Gson().fromJson(tree, Object.class);
        } catch (JsonParseException e) {
        }
        try {
            new com.google.gson.Gson().fromJson(text, Shape.class);
        } catch (JsonParseException e) {
        }
        try {
            JsonReader reader = new JsonReader(new StringReader(text));
            reader.setLenient(true);
            for (int i = 0; i < 200 && reader.peek() != JsonToken.END_DOCUMENT; i++) {
                switch (reader.peek()) {
                    case BEGIN_ARRAY: reader.beginArray(); break;
                    case END_ARRAY: reader.endArray(); break;
                    case BEGIN_OBJECT: reader.beginObject(); break;
                    case END_OBJECT: reader.endObject(); break;
                    case NAME: reader.nextName(); break;
                    default: reader.skipValue();
                }
            }
        } catch (IOException e) {
        }
    }
}
