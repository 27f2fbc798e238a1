import com.fasterxml.jackson.core.*;
import com.fasterxml.jackson.core.json.async.NonBlockingJsonParser;
import java.io.*;

public class Jackson {
    public static void run(byte[] in) throws IOException {
        JsonFactory factory = new JsonFactory();
        for (JsonParser.Feature feature : JsonParser.Feature.values()) if (feature != JsonParser.Feature.AUTO_CLOSE_SOURCE) factory.enable(feature);
        try (JsonParser parser = in.length % 3 == 0 ? factory.createParser(in) : in.length % 3 == 1 ? factory.createParser(new StringReader(new String(in, "UTF-8"))) : factory.createNonBlockingByteArrayParser();
             JsonGenerator out = factory.createGenerator(new ByteArrayOutputStream())) {
            if (parser instanceof NonBlockingJsonParser) {
                ((NonBlockingJsonParser) parser).feedInput(in, 0, in.length);
                ((NonBlockingJsonParser) parser).endOfInput();
            }
            for (JsonToken token; (token = parser.nextToken()) != null; ) {
                if (token == JsonToken.NOT_AVAILABLE) break;
                if (token.isNumeric()) parser.getNumberValue();
                if (token == JsonToken.VALUE_STRING) parser.getTextCharacters();
                if (token == JsonToken.VALUE_EMBEDDED_OBJECT) parser.getBinaryValue();
                out.copyCurrentEvent(parser);
            }
        } catch (JsonProcessingException e) {
        }
    }
}
