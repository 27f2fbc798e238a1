import com.univocity.parsers.common.*;
import com.univocity.parsers.csv.*;
import com.univocity.parsers.fixed.*;
import com.univocity.parsers.tsv.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

public class Univocity {
    public static void run(byte[] in) {
        if (in.length < 2) return;
        String text = new String(in, 1, in.length - 1, StandardCharsets.UTF_8);
        try {
            CsvParserSettings settings = new CsvParserSettings();
            settings.setReadInputOnSeparateThread(false);
            settings.setMaxColumns(20);
            settings.setMaxCharsPerColumn(200);
            settings.setInputBufferSize(16 + (in[0] & 31));
            if ((in[0] & 1) != 0) settings.detectFormatAutomatically();
            settings.setHeaderExtractionEnabled((in[0] & 2) != 0);
            settings.setKeepQuotes((in[0] & 4) != 0);
            settings.setEscapeUnquotedValues((in[0] & 8) != 0);
            settings.setNormalizeLineEndingsWithinQuotes((in[0] & 16) != 0);
            if ((in[0] & 32) != 0) settings.selectIndexes(1, 0);
            List<String[]> rows = new CsvParser(settings).parseAll(new StringReader(text));
            CsvWriterSettings out = new CsvWriterSettings();
            out.setQuoteAllFields((in[0] & 64) != 0);
            out.setMaxColumns(20);
            StringWriter written = new StringWriter();
            CsvWriter writer = new CsvWriter(written, out);
            for (String[] row : rows) writer.writeRow(row);
            writer.close();
        } catch (TextParsingException | TextWritingException e) {
        }
        try {
            TsvParserSettings settings = new TsvParserSettings();
            settings.setReadInputOnSeparateThread(false);
            settings.setMaxColumns(20);
            settings.setMaxCharsPerColumn(200);
            settings.setLineJoiningEnabled((in[0] & 1) != 0);
            new TsvParser(settings).parseAll(new StringReader(text));
        } catch (TextParsingException e) {
        }
        try {
            FixedWidthParserSettings settings = new FixedWidthParserSettings(new FixedWidthFields(3, 4, 2));
            settings.setReadInputOnSeparateThread(false);
            settings.setSkipTrailingCharsUntilNewline((in[0] & 1) != 0);
            settings.setRecordEndsOnNewline((in[0] & 2) != 0);
            new FixedWidthParser(settings).parseAll(new StringReader(text));
        } catch (TextParsingException e) {
        }
    }
}
