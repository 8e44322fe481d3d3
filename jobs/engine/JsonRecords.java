package pipeline_web;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.util.JsonParserDelegate;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.catalyst.json.JSONOptions;
import org.apache.spark.sql.catalyst.json.JacksonParser;
import org.apache.spark.sql.catalyst.util.BadRecordException;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.Iterator;
import scala.collection.immutable.Map$;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractFunction2;

/**
 * JSON texts as records: what Spark's `from_json` makes of them in its permissive mode with a column of what does not fit, by the same
 * parser; but a number in a column of texts is as it stands. The parser is given bytes instead of characters, which costs half, and
 * asked where the object ended, for `from_json` passes over what stands behind it.
 */
public class JsonRecords implements Serializable {
    /** What the last field holds of a record behind which more stands: no text that does not fit is empty. */
    private static final UTF8String GOES_ON = UTF8String.EMPTY_UTF8;

    private final StructType schema;
    private final String timeZone;
    private transient volatile JacksonParser parser;

    private JsonRecords(StructType schema, String timeZone) {
        this.schema = schema;
        this.timeZone = timeZone;
    }

    /**
     * The text in `json` as a struct of the columns of `schema`, which is JSON too, and of the text `misfit`: null where it fits, and
     * empty where more stands behind it. Null for a text of blanks.
     */
    public static Column parsed(Column json, String schema, String misfit, String timeZone) {
        StructType fields = (StructType) ((StructType) DataType.fromJson(schema)).asNullable();
        Expression target = Literal.fromObject(new JsonRecords(fields, timeZone));
        List<Expression> given = List.of(ExpressionUtils.expression(json));
        return ExpressionUtils.column(new Invoke(target, "parse", fields.add(misfit, DataTypes.StringType),
            CollectionConverters.asScala(given).toSeq(), CollectionConverters.asScala(List.<AbstractDataType>of()).toSeq(), true, true, true));
    }

    /** In a task. */
    public InternalRow parse(UTF8String json) {
        InternalRow record = isPlain(json) ? parsedFromBytes(json) : null;
        return record == null ? parsedFromText(json) : record;
    }

    /** Whether Jackson takes the bytes for UTF-8, and no sign in them stands for one that is not. */
    private static boolean isPlain(UTF8String json) {
        if (json.numBytes() < 2 || json.getByte(1) == 0) {
            return false;
        }
        byte first = json.getByte(0);
        return (first == '{' || isBlank(first)) && (json.isFullAscii() || json.isValid());
    }

    private static boolean isBlank(int sign) {
        return sign == ' ' || sign == '\n' || sign == '\r' || sign == '\t';
    }

    /** Null where anything is wrong with it, nothing but blanks is in it, or more stands behind it. */
    private InternalRow parsedFromBytes(UTF8String json) {
        Bytes reading = new Bytes();
        try {
            Iterator<InternalRow> found = found(json, reading);
            return found.hasNext() && reading.endedAt() == lastSign(json) ? record(found.next(), null) : null;
        } catch (BadRecordException wrong) {
            return null;
        }
    }

    private static int lastSign(UTF8String json) {
        int last = json.numBytes() - 1;
        while (isBlank(json.getByte(last))) {
            last--;
        }
        return last;
    }

    /** As `from_json` does it, with what stands for bytes that are no UTF-8. */
    private InternalRow parsedFromText(UTF8String json) {
        Text reading = new Text();
        try {
            Iterator<InternalRow> found = found(json, reading);
            return found.hasNext() ? record(found.next(), reading.isWhole() ? null : GOES_ON) : null;
        } catch (BadRecordException wrong) {
            InternalRow[] partial = wrong.partialResults().apply();
            return record(partial.length > 0 ? partial[0] : null, json);
        }
    }

    private Iterator<InternalRow> found(UTF8String json, Reading reading) throws BadRecordException {
        return parser().parse(json, reading, new Itself<>()).iterator();
    }

    private InternalRow record(InternalRow fields, UTF8String misfit) {
        Object[] values = new Object[schema.length() + 1];
        for (int at = 0; fields != null && at < schema.length(); at++) {
            values[at] = fields.get(at, schema.apply(at).dataType());
        }
        values[schema.length()] = misfit;
        return new GenericInternalRow(values);
    }

    private JacksonParser parser() {
        if (parser == null) {
            JSONOptions options = new JSONOptions(Map$.MODULE$.<String, String>empty(), timeZone, "");
            parser = new JacksonParser(schema, options, false, CollectionConverters.asScala(List.<Filter>of()).toSeq());
        }
        return parser;
    }

    /** How a record becomes tokens, and where its last one stood. */
    private abstract static class Reading extends AbstractFunction2<JsonFactory, UTF8String, JsonParser> {
        protected JsonParser tokens;

        abstract JsonParser opened(JsonFactory factory, UTF8String json) throws IOException;

        @Override
        public JsonParser apply(JsonFactory factory, UTF8String json) {
            try {
                tokens = opened(factory, json);
                return tokens;
            } catch (IOException wrong) {
                throw new UncheckedIOException(wrong);
            }
        }
    }

    private static class Bytes extends Reading {
        @Override
        JsonParser opened(JsonFactory factory, UTF8String json) throws IOException {
            return new NumbersAsTheyStand(factory.createParser(json.getBytes()));
        }

        long endedAt() {
            return tokens.currentTokenLocation().getByteOffset();
        }
    }

    /**
     * Of what is no text, Spark's parser takes for one what stands at its place in the bytes, and where it finds no bytes, writes it anew:
     * 1.50 as 1.5. An object or a list is written anew no less, so that blanks in it do not tell two apart.
     */
    private static class NumbersAsTheyStand extends JsonParserDelegate {
        NumbersAsTheyStand(JsonParser tokens) {
            super(tokens);
        }

        @Override
        public JsonLocation currentTokenLocation() {
            return isExpectedStartObjectToken() || isExpectedStartArrayToken() ? JsonLocation.NA : super.currentTokenLocation();
        }
    }

    private static class Text extends Reading {
        private String text;

        @Override
        JsonParser opened(JsonFactory factory, UTF8String json) throws IOException {
            text = json.toString();
            return factory.createParser(text);
        }

        /** Whether nothing stands behind the object. */
        boolean isWhole() {
            int last = text.length() - 1;
            while (isBlank(text.charAt(last))) {
                last--;
            }
            return tokens.currentTokenLocation().getCharOffset() == last;
        }
    }

    private static class Itself<T> extends AbstractFunction1<T, T> {
        @Override
        public T apply(T given) {
            return given;
        }
    }
}
