package pipeline_web;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.charset.Charset;
import java.util.function.Supplier;

/**
 * The record of a CSV file that begins a value with a quote and never closes it: whoever reads records over several lines takes all the
 * rest of the file for that value, and says nothing.
 */
final class CsvOpenQuote {
    private enum Within { BEGINNING, VALUE, QUOTES, CLOSED }

    private static final int MARK = '\ufeff', END = -1;
    private static final int BUFFER = 1 << 16;

    private final String delimiter;
    private final StringBuilder before = new StringBuilder();
    private Within within = Within.BEGINNING;
    private boolean knowsLineEnd;
    private boolean endsWithReturn;
    private char last;
    private long record;

    private CsvOpenQuote(String delimiter) {
        this.delimiter = delimiter;
    }

    /** Its text, to the file's end; null where every quote is closed. `opened` gives the file's bytes anew. */
    static String in(Supplier<InputStream> opened, Charset charset, String delimiter) throws IOException {
        long begin;
        try (Reader text = reader(opened, charset)) {
            begin = new CsvOpenQuote(delimiter).beginning(text);
        }
        return begin < 0 ? null : from(opened, charset, begin);
    }

    private static String from(Supplier<InputStream> opened, Charset charset, long begin) throws IOException {
        StringWriter rest = new StringWriter();
        try (Reader text = reader(opened, charset)) {
            long passed = 1;  // nothing is, where the file is shorter by now
            for (long left = begin; left > 0 && passed > 0; left -= passed) {
                passed = text.skip(left);
            }
            text.transferTo(rest);
        }
        return rest.toString();
    }

    private static Reader reader(Supplier<InputStream> opened, Charset charset) {
        return new InputStreamReader(opened.get(), charset);
    }

    /** How many characters stand before the record; -1 where there is none. */
    private long beginning(Reader text) throws IOException {
        char[] some = new char[BUFFER];
        long at = 0;
        for (int count = text.read(some); count != END; count = text.read(some)) {
            for (int place = 0; place < count; place++, at++) {
                if (at > 0 || some[place] != MARK) {
                    take(some[place], at);
                }
            }
        }
        return within == Within.QUOTES ? record : -1;
    }

    private void take(char now, long at) {
        if (!knowsLineEnd) {
            learnLineEnd(now, at);
        }
        if (within == Within.QUOTES) {
            within = now == CsvLines.QUOTE ? Within.CLOSED : Within.QUOTES;
        } else if (now == CsvLines.QUOTE && within != Within.VALUE) {
            within = Within.QUOTES;
        } else if (now == '\n' || now == '\r' && endsWithReturn) {
            begin(at + 1);
        } else {
            within = endsDelimiter(now) ? Within.BEGINNING : Within.VALUE;
        }
        last = now;
    }

    /** A return alone ends lines where it ends the first one: so Spark's parser has it. */
    private void learnLineEnd(char now, long at) {
        endsWithReturn = last == '\r' && now != '\n';
        knowsLineEnd = last == '\r' || now == '\n';
        if (endsWithReturn && within != Within.QUOTES) {
            begin(at);
        }
    }

    private void begin(long at) {
        within = Within.BEGINNING;
        record = at;
    }

    private boolean endsDelimiter(char now) {
        if (delimiter.length() == 1) {
            return now == delimiter.charAt(0);
        }
        if (within != Within.VALUE) {
            before.setLength(0);
        }
        before.append(now);
        if (before.length() > delimiter.length()) {
            before.deleteCharAt(0);
        }
        return before.indexOf(delimiter) == 0;
    }
}
