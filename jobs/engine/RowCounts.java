package pipeline_web;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.AccumulatorV2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * How many rows pass at a place of a plan, counted for several measures by a call that Spark compiles together with what stands around
 * it: observing them parts Spark's compiled code in two. Also keeps some texts, such as rejected rows.
 *
 * What is computed again counts once: of each part the largest count holds, and of several ways to part the rows the largest sum.
 */
public class RowCounts extends AccumulatorV2<Object, Object> {
    private final String name;
    private final long[] rows;
    private final int mostKept;
    private final List<String> kept = Collections.synchronizedList(new ArrayList<>());
    private int part = -1;
    private int parts = -1;
    /** On the driver: number of parts → part → what the fullest task of it counted. */
    private final Map<Integer, Map<Integer, RowCounts>> tasks = new HashMap<>();

    public RowCounts(String name, int measures, int mostKept) {
        this.name = name;
        this.rows = new long[measures];
        this.mostKept = mostKept;
    }

    /** Of a row, in a task. Always true. */
    public boolean count(int measure, boolean counts) {
        if (counts) {
            if (part < 0) {
                TaskContext task = TaskContext.get();
                part = task.partitionId();
                parts = task.numPartitions();
            }
            rows[measure]++;
        }
        return true;
    }

    /** Whether there is room to keep another text in this task. */
    public boolean hasRoom() {
        return kept.size() < 2 * mostKept;
    }

    /** Of a row that was counted, in a task. Always true. */
    public boolean keep(UTF8String reason, UTF8String row) {
        kept.add(String.valueOf(reason));
        kept.add(String.valueOf(row));
        return true;
    }

    /** Of what was counted before: true, and to Spark not to be merged with other filters. */
    public boolean pass(boolean counted) {
        return counted;
    }

    public Column counted(int measure, Column counts) {
        return called("count", new Literal(measure, DataTypes.IntegerType), ExpressionUtils.expression(counts));
    }

    public Column passing(Column counted) {
        return called("pass", ExpressionUtils.expression(counted));
    }

    public Column roomLeft() {
        return called("hasRoom");
    }

    public Column keeping(Column reason, Column row) {
        return called("keep", ExpressionUtils.expression(reason), ExpressionUtils.expression(row));
    }

    /** Not deterministic to Spark, which neither leaves it out nor moves what drops rows past it. */
    private Column called(String method, Expression... arguments) {
        return ExpressionUtils.column(new Invoke(Literal.fromObject(this), method, DataTypes.BooleanType,
            CollectionConverters.asScala(List.of(arguments)).toSeq(),
            CollectionConverters.asScala(List.<AbstractDataType>of()).toSeq(), false, false, false));
    }

    /** Forget what was counted: another batch begins. */
    public synchronized void begin() {
        tasks.clear();
    }

    /** The rows of each measure so far, parted by blanks. */
    public synchronized String told() {
        StringBuilder told = new StringBuilder();
        for (long sum : sumsOf(fullest())) {
            told.append(sum).append(' ');
        }
        return told.toString();
    }

    /** Of the texts that tasks kept as many as are wanted, reason and row in turn. */
    public synchronized List<String> texts() {
        List<String> texts = new ArrayList<>();
        for (RowCounts task : fullest().values()) {
            texts.addAll(task.kept);
        }
        return texts.subList(0, Math.min(texts.size(), 2 * mostKept));
    }

    private Map<Integer, RowCounts> fullest() {
        Map<Integer, RowCounts> found = Map.of();
        for (Map<Integer, RowCounts> one : tasks.values()) {
            found = total(sumsOf(one)) > total(sumsOf(found)) ? one : found;
        }
        return found;
    }

    private long[] sumsOf(Map<Integer, RowCounts> some) {
        long[] sums = new long[rows.length];
        for (RowCounts task : some.values()) {
            for (int measure = 0; measure < sums.length; measure++) {
                sums[measure] += task.rows[measure];
            }
        }
        return sums;
    }

    private static long total(long[] rows) {
        long total = 0;
        for (long some : rows) {
            total += some;
        }
        return total;
    }

    @Override
    public synchronized void merge(AccumulatorV2<Object, Object> other) {
        RowCounts task = (RowCounts) other;
        if (task.part < 0) {
            return;
        }
        Map<Integer, RowCounts> others = tasks.computeIfAbsent(task.parts, parts -> new HashMap<>());
        RowCounts before = others.get(task.part);
        if (before == null || total(before.rows) < total(task.rows)) {
            int texts = 0;
            for (RowCounts one : others.values()) {
                texts += one.kept.size();
            }
            if (texts >= 2 * mostKept) {
                task.kept.clear();
            }
            others.put(task.part, task);
        }
    }

    @Override
    public synchronized boolean isZero() {
        return tasks.isEmpty() && total(rows) == 0;
    }

    @Override
    public AccumulatorV2<Object, Object> copy() {
        return new RowCounts(name, rows.length, mostKept);
    }

    @Override
    public void reset() {
        begin();
    }

    @Override
    public void add(Object row) {
        throw new UnsupportedOperationException("rows are counted by `count`");
    }

    @Override
    public Object value() {
        return told();
    }

    @Override
    public String toString() {
        return name;
    }
}
