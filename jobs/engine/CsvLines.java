package pipeline_web;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.hadoop.io.Text;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.csv.CSVOptions;
import org.apache.spark.sql.catalyst.csv.UnivocityParser;
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow;
import org.apache.spark.sql.catalyst.util.FailureSafeParser;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function1;
import scala.Option$;
import scala.collection.AbstractIterator;
import scala.collection.Iterable;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/**
 * Lines of a CSV file as rows: what Spark's parser makes of them, at half the cost where a line in UTF-8 has no quotes within values,
 * and these fit. One with a quote that is never closed, of which that parser takes all the rest for the value, is a misfit.
 *
 * A row is good until the next one is asked for.
 */
class CsvLines extends AbstractIterator<InternalRow> {
    static final char QUOTE = '"';
    /** A number of so many digits is below 2^63. */
    private static final int MOST_DIGITS = 18;
    private static final long NO_NUMBER = Long.MIN_VALUE;

    private final Iterator<Text> lines;
    private final Charset charset;
    private final String delimiter;
    private final byte[] nullValue;
    private final boolean isPartedByBytes;
    private final FailureSafeParser<String> sparks;
    /** Of each column of a row but that of misfits: its type, how its text is read, and which value of a line it is. */
    private final DataType[] types;
    private final Function1<String, Object>[] read;
    private final int[] values;
    private final int misfits;
    private final SpecificInternalRow row;
    /** Where each value of the line stands, without the quotes around it. */
    private final int[] begins;
    private final int[] ends;
    private final boolean[] areQuoted;
    private byte[] line;
    private int length;
    private boolean isFound;

    /** `columns` are those of the file, `required` those of the rows, among which may be that of misfits. */
    @SuppressWarnings("unchecked")
    CsvLines(Iterator<Text> lines, UnivocityParser parser, StructType columns, StructType required) {
        CSVOptions csv = parser.options();
        this.lines = lines;
        charset = Charset.forName(csv.charset());
        delimiter = csv.delimiter();
        nullValue = csv.nullValue().getBytes(charset);
        isPartedByBytes = charset.equals(StandardCharsets.UTF_8) && delimiter.length() == 1 && delimiter.charAt(0) < 0x80;
        sparks = new FailureSafeParser<>(new Parsed(parser), csv.parseMode(), required, csv.columnNameOfCorruptRecord());
        types = new DataType[required.length()];
        read = new Function1[types.length];
        values = new int[types.length];
        misfits = List.of(required.fieldNames()).indexOf(csv.columnNameOfCorruptRecord());
        for (int at = 0; at < types.length; at++) {
            StructField field = required.apply(at);
            types[at] = field.dataType();
            if (at != misfits) {
                read[at] = parser.makeConverter(field.name(), field.dataType(), field.nullable());
                values[at] = columns.fieldIndex(field.name());
            }
        }
        row = new SpecificInternalRow(required);
        begins = new int[columns.length()];
        ends = new int[columns.length()];
        areQuoted = new boolean[columns.length()];
    }

    /** Lines of blanks are none. */
    @Override
    public boolean hasNext() {
        while (!isFound && lines.hasNext()) {
            Text next = lines.next();
            line = next.getBytes();
            length = next.getLength();
            isFound = !isBlank();
        }
        return isFound;
    }

    private boolean isBlank() {
        for (int at = 0; at < length; at++) {
            if (line[at] > ' ' || line[at] < 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public InternalRow next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        isFound = false;
        return isPartedByBytes && isParted((byte) delimiter.charAt(0)) && isRead() ? row : sparksRow(text(0, length));
    }

    private InternalRow sparksRow(String text) {
        InternalRow found = sparks.parse(text).next();
        if (misfits >= 0 && found.isNullAt(misfits) && isOpen(text)) {
            found.update(misfits, UTF8String.fromString(text));
        }
        return found;
    }

    /** Whether a value begins with a quote that is never closed. Within quotes, two stand for one. */
    private boolean isOpen(String text) {
        int from = 0;
        while (from >= 0 && from < text.length()) {
            int end = from;
            while (end < text.length() && text.charAt(end) == QUOTE) {
                end = text.indexOf(QUOTE, end + 1) + 1;
                if (end == 0) {
                    return true;
                }
            }
            int next = text.indexOf(delimiter, end);
            from = next < 0 ? next : next + delimiter.length();
        }
        return false;
    }

    /** Whether the line has as many values as the file has columns, and no sign in them that means more than itself. */
    private boolean isParted(byte delimiter) {
        int at = 0;
        int signs = 0;
        for (int value = 0; value < ends.length; value++) {
            areQuoted[value] = at < length && line[at] == QUOTE;
            byte end = areQuoted[value] ? (byte) QUOTE : delimiter;
            at += areQuoted[value] ? 1 : 0;
            begins[value] = at;
            for (; at < length && line[at] != end; at++) {
                if (line[at] == QUOTE || line[at] >= 0 && line[at] < ' ') {
                    return false;
                }
                signs |= line[at];
            }
            ends[value] = at;
            at += areQuoted[value] ? 1 : 0;
            boolean isLast = value == ends.length - 1;
            if (isLast ? at != length : at >= length || line[at] != delimiter) {
                return false;
            }
            at++;
        }
        return signs >= 0 || UTF8String.fromBytes(line, 0, length).isValid();
    }

    /** Whether all values fit; then they are in the row. */
    private boolean isRead() {
        for (int at = 0; at < types.length; at++) {
            if (at == misfits) {
                continue;
            }
            int value = values[at];
            int from = begins[value];
            int to = ends[value];
            if (from == to && !areQuoted[value] || Arrays.equals(line, from, to, nullValue, 0, nullValue.length)) {
                row.setNullAt(at);
            } else if (!isRead(at, from, to)) {
                return false;
            }
        }
        return true;
    }

    private boolean isRead(int at, int from, int to) {
        if (types[at] == DataTypes.StringType) {
            row.update(at, UTF8String.fromBytes(line, from, to - from));
            return true;
        }
        long number = types[at] == DataTypes.LongType || types[at] == DataTypes.IntegerType ? number(from, to) : NO_NUMBER;
        if (number != NO_NUMBER && types[at] == DataTypes.LongType) {
            row.setLong(at, number);
        } else if (number == (int) number) {
            row.setInt(at, (int) number);
        } else {
            return isReadBySpark(at, text(from, to - from));
        }
        return true;
    }

    private boolean isReadBySpark(int at, String text) {
        try {
            row.update(at, read[at].apply(text));
            return true;
        } catch (Exception misfit) { // some of Scala are no RuntimeException
            return false;
        }
    }

    /** NO_NUMBER for what has more to it than a few digits. */
    private long number(int from, int to) {
        int first = from < to && line[from] == '-' ? from + 1 : from;
        if (first >= to || to - first > MOST_DIGITS) {
            return NO_NUMBER;
        }
        long number = 0;
        for (int at = first; at < to; at++) {
            int digit = line[at] - '0';
            if (digit < 0 || digit > 9) {
                return NO_NUMBER;
            }
            number = 10 * number + digit;
        }
        return first == from ? number : -number;
    }

    private String text(int from, int bytes) {
        return new String(line, from, bytes, charset);
    }

    private static class Parsed extends AbstractFunction1<String, Iterable<InternalRow>> {
        private final UnivocityParser parser;

        Parsed(UnivocityParser parser) {
            this.parser = parser;
        }

        @Override
        public Iterable<InternalRow> apply(String line) {
            return Option$.MODULE$.option2Iterable(parser.parse().apply(line));
        }
    }
}
