import java.io.*;
import java.nio.charset.StandardCharsets;
import org.apache.commons.csv.*;

public class Csv {
    public static void run(byte[] in) {
        CSVFormat[] formats = {CSVFormat.DEFAULT, CSVFormat.MYSQL, CSVFormat.EXCEL, CSVFormat.DEFAULT.builder().setHeader().setCommentMarker('#').setEscape('\\').build()};
        String text = new String(in, StandardCharsets.ISO_8859_1);
        try (CSVParser parser = CSVParser.parse(text, formats[in.length % 4])) {
            for (CSVRecord record : parser) {
                record.toMap();
                record.isConsistent();
            }
        } catch (IOException | IllegalArgumentException | IllegalStateException | UncheckedIOException e) {
        }
    }
}
