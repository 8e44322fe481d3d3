package pipeline_web;

import java.io.Serializable;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.spark.TaskContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.csv.CSVHeaderChecker;
import org.apache.spark.sql.catalyst.csv.CSVOptions;
import org.apache.spark.sql.catalyst.csv.UnivocityParser;
import org.apache.spark.sql.catalyst.util.PermissiveMode$;
import org.apache.spark.sql.execution.datasources.HadoopFileLinesReader;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.csv.CSVFileFormat;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import org.apache.spark.util.SerializableConfiguration$;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.Utils$;
import scala.Function1;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction1;

/**
 * Spark's format `csv`, but lines become rows by `CsvLines`, and of records over several lines one that is never closed is a misfit
 * (`CsvWholeFiles`). What is read in another way than in permissive mode and with a column of misfits is left to Spark.
 */
public class CsvFiles extends CSVFileFormat {
    @Override
    public Function1<PartitionedFile, Iterator<InternalRow>> buildReader(SparkSession session, StructType dataSchema,
            StructType partitionSchema, StructType requiredSchema, Seq<Filter> filters, Map<String, String> options, Configuration hadoop) {
        SQLConf conf = getSqlConf(session);
        CSVOptions csv = new CSVOptions(options, conf.csvColumnPruning(), conf.sessionLocalTimeZone(), conf.columnNameOfCorruptRecord());
        if (!isOurs(csv, dataSchema)) {
            return super.buildReader(session, dataSchema, partitionSchema, requiredSchema, filters, options, hadoop);
        }
        Broadcast<SerializableConfiguration> sent = SerializableConfiguration$.MODULE$.broadcast(session.sparkContext(), hadoop);
        if (csv.multiLine()) {
            Function1<PartitionedFile, Iterator<InternalRow>> sparks =
                super.buildReader(session, dataSchema, partitionSchema, requiredSchema, filters, options, hadoop);
            return new CsvWholeFiles(sparks, sent, csv, requiredSchema);
        }
        return new Reader(sent, csv, dataSchema, requiredSchema);
    }

    private static boolean isOurs(CSVOptions csv, StructType columns) {
        return csv.parseMode() == PermissiveMode$.MODULE$ && csv.quote() == CsvLines.QUOTE
            && csv.escape() == CsvLines.QUOTE && !csv.isCommentSet() && !csv.ignoreLeadingWhiteSpaceInRead()
            && !csv.ignoreTrailingWhiteSpaceInRead() && !csv.isColumnPruningEnabled(columns)
            && List.of(columns.fieldNames()).contains(csv.columnNameOfCorruptRecord());
    }

    private static class Reader extends AbstractFunction1<PartitionedFile, Iterator<InternalRow>> implements Serializable {
        private final Broadcast<SerializableConfiguration> hadoop;
        private final CSVOptions csv;
        private final StructType columns;
        private final StructType required;

        Reader(Broadcast<SerializableConfiguration> hadoop, CSVOptions csv, StructType columns, StructType required) {
            this.hadoop = hadoop;
            this.csv = csv;
            this.columns = columns;
            this.required = required;
        }

        /** In a task. */
        @Override
        public Iterator<InternalRow> apply(PartitionedFile file) {
            HadoopFileLinesReader lines = opened(file);
            TaskContext.get().addTaskCompletionListener((TaskCompletionListener) context -> lines.close());
            StructType inFile = inFile(columns);
            UnivocityParser parser = new UnivocityParser(inFile, inFile(required), csv);
            String named = "CSV file: " + file.urlEncodedPath();
            CSVHeaderChecker header = new CSVHeaderChecker(inFile, csv, named, file.start() == 0);
            header.checkHeaderColumnNames(lines.map(new Decoded(csv.charset())), parser.tokenizer());
            return new CsvLines(lines, parser, inFile, required);
        }

        private HadoopFileLinesReader opened(PartitionedFile file) {
            return Utils$.MODULE$.createResourceUninterruptiblyIfInTaskThread(new AbstractFunction0<HadoopFileLinesReader>() {
                @Override
                public HadoopFileLinesReader apply() {
                    return new HadoopFileLinesReader(file, csv.lineSeparatorInRead(), hadoop.value().value());
                }
            });
        }

        /** Those of `all` but the one of misfits. */
        private StructType inFile(StructType all) {
            List<StructField> fields = new ArrayList<>(List.of(all.fields()));
            fields.removeIf(field -> field.name().equals(csv.columnNameOfCorruptRecord()));
            return new StructType(fields.toArray(new StructField[0]));
        }
    }

    private static class Decoded extends AbstractFunction1<Text, String> {
        private final Charset charset;

        Decoded(String charset) {
            this.charset = Charset.forName(charset);
        }

        @Override
        public String apply(Text line) {
            return new String(line.getBytes(), 0, line.getLength(), charset);
        }
    }
}
