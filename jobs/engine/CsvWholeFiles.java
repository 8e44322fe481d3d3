package pipeline_web;

import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.nio.charset.Charset;
import org.apache.hadoop.fs.Path;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.csv.CSVOptions;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.execution.datasources.CodecStreams$;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.SerializableConfiguration;
import scala.Function1;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/** Records over several lines as rows, by Spark; but the last one of a file is a misfit where its quote is never closed. */
class CsvWholeFiles extends AbstractFunction1<PartitionedFile, Iterator<InternalRow>> implements Serializable {
    private final Function1<PartitionedFile, Iterator<InternalRow>> sparks;
    private final Broadcast<SerializableConfiguration> hadoop;
    private final CSVOptions csv;
    private final StructType required;

    CsvWholeFiles(Function1<PartitionedFile, Iterator<InternalRow>> sparks, Broadcast<SerializableConfiguration> hadoop, CSVOptions csv,
            StructType required) {
        this.sparks = sparks;
        this.hadoop = hadoop;
        this.csv = csv;
        this.required = required;
    }

    /** In a task. */
    @Override
    public Iterator<InternalRow> apply(PartitionedFile file) {
        String open = null;
        try {
            open = CsvOpenQuote.in(() -> opened(file), Charset.forName(csv.charset()), csv.delimiter());
        } catch (IOException error) {
            Platform.throwException(error);  // as it is: Spark tells by its class a file that is gone
        }
        Iterator<InternalRow> rows = sparks.apply(file);
        return open == null ? rows : new ButTheLast(rows, misfit(open));
    }

    private InputStream opened(PartitionedFile file) {
        return CodecStreams$.MODULE$.createInputStream(hadoop.value().value(), new Path(file.toPath().toUri()));
    }

    private InternalRow misfit(String text) {
        InternalRow row = new GenericInternalRow(required.length());
        scala.Option<Object> place = required.getFieldIndex(csv.columnNameOfCorruptRecord());
        if (place.isDefined()) {
            row.update((Integer) place.get(), UTF8String.fromString(text));
        }
        return row;
    }

    /** `rows`, of which each is good until the next one is asked for, with another in place of the last. */
    private static class ButTheLast extends AbstractIterator<InternalRow> {
        private final Iterator<InternalRow> rows;
        private final InternalRow last;
        private InternalRow ahead;
        private boolean isOver;

        ButTheLast(Iterator<InternalRow> rows, InternalRow last) {
            this.rows = rows;
            this.last = last;
            this.ahead = copied();
        }

        @Override
        public boolean hasNext() {
            return !isOver;
        }

        @Override
        public InternalRow next() {
            InternalRow now = ahead;
            ahead = copied();
            isOver = ahead == null;
            return isOver ? last : now;
        }

        private InternalRow copied() {
            return rows.hasNext() ? rows.next().copy() : null;
        }
    }
}
