package pipeline_web;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.ArrayList;
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
import org.apache.spark.util.AccumulatorContext;
import org.apache.spark.util.AccumulatorV2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * How many rows pass at a place of a plan, counted for several measures by a call that Spark compiles together with what stands around
 * it: observing them parts Spark's compiled code in two. Also keeps two texts of some rows.
 *
 * What is computed again counts once. A counter may stand at several places, because a frame is read twice in one plan or in two: the
 * fullest place holds, of the several ways in which its rows were parted the fullest, and of each part the fullest task.
 */
public class RowCounts extends AccumulatorV2<Object, Object> {
    private static final int MOST_CHARACTERS = 2_000_000;

    private final String name;
    private final int measures;
    private final int mostKept;
    private transient int keptRows;
    private transient int keptCharacters;
    /** How often rows of another batch began: what is told late of those before is not wanted. */
    private int round;
    /** By place with the number of its parts, and by part: in a task one of these, on the driver those of tasks that ended well. */
    private final Map<String, Map<Integer, Passed>> passed = new HashMap<>();
    /** On the driver, and null elsewhere: the same of tasks at work, as it was a moment ago. */
    private final transient Map<String, Map<Integer, Passed>> underWay = new HashMap<>();

    /** What passed at one place in one task. */
    static class Passed implements Serializable {
        final long[] rows;
        final List<String> texts = new ArrayList<>();

        Passed(long[] rows) {
            this.rows = rows;
        }

        long total() {
            long total = 0;
            for (long some : rows) {
                total += some;
            }
            return total;
        }
    }

    /** What has passed in a task that is at work. */
    private static class SoFar implements Serializable {
        final int round;
        final Map<String, Map<Integer, Passed>> passed = new HashMap<>();

        SoFar(int round) {
            this.round = round;
        }
    }

    /** Where the counter stands in compiled code. */
    public static class Place implements Serializable {
        private final RowCounts counts;
        private final int number;
        private transient Passed here;

        Place(RowCounts counts, int number) {
            this.counts = counts;
            this.number = number;
        }

        /** Of a row, in a task: the measures for which it counts as bits, and two texts if it is to be kept. Always true. */
        public boolean count(long low, long high, UTF8String reason, UTF8String row) {
            if (here == null) {
                here = counts.begun(number);
            }
            add(low, 0);
            add(high, Long.SIZE);
            if (reason != null) {
                keep(reason.toString(), String.valueOf(row));
            }
            return true;
        }

        /** The same of a row that counts for the one measure there is, and is not kept. */
        public boolean countEach() {
            if (here == null) {
                here = counts.begun(number);
            }
            here.rows[0]++;
            return true;
        }

        private void add(long bits, int from) {
            for (long rest = bits; rest != 0; rest &= rest - 1) {
                here.rows[from + Long.numberOfTrailingZeros(rest)]++;
            }
        }

        private void keep(String reason, String row) {
            if (counts.hasRoom()) {
                counts.keptRows++;
                counts.keptCharacters += reason.length() + row.length();
                synchronized (counts) {
                    here.texts.add(reason);
                    here.texts.add(row);
                }
            }
        }
    }

    public RowCounts(String name, int measures, int mostKept) {
        this.name = name;
        this.measures = measures;
        this.mostKept = mostKept;
    }

    private synchronized Passed begun(int place) {
        TaskContext task = TaskContext.get();
        if (passed.isEmpty()) {
            RowCountsAtWork.add(this, task);
        }
        Map<Integer, Passed> parts = passed.computeIfAbsent(place + " " + task.numPartitions(), key -> new HashMap<>());
        return parts.computeIfAbsent(task.partitionId(), part -> new Passed(new long[measures]));
    }

    /** Whether a task may keep another row: else nobody need make its texts. */
    public boolean hasRoom() {
        return keptRows < mostKept && keptCharacters < MOST_CHARACTERS;
    }

    /** What was computed before: the same, and to Spark not to be merged with other filters. */
    public boolean pass(boolean counted) {
        return counted;
    }

    /**
     * Counts, always true. Not `deterministic`, Spark neither leaves it out nor moves what drops rows past it; else that is for the
     * operator to see to in which it stands.
     */
    public Column counted(Column low, Column high, Column reason, Column row, boolean deterministic) {
        return called(new RowCountsPlace(this), "count", deterministic, low, high, reason, row);
    }

    /** The same where each row counts for the one measure there is, and none is kept. */
    public Column eachCounted(boolean deterministic) {
        return called(new RowCountsPlace(this), "countEach", deterministic);
    }

    public Column passing(Column counted) {
        return called(Literal.fromObject(this), "pass", false, counted);
    }

    public Column roomLeft(boolean deterministic) {
        return called(Literal.fromObject(this), "hasRoom", deterministic);
    }

    private static Column called(Expression target, String method, boolean deterministic, Column... arguments) {
        List<Expression> given = new ArrayList<>();
        for (Column argument : arguments) {
            given.add(ExpressionUtils.expression(argument));
        }
        return ExpressionUtils.column(new Invoke(target, method, DataTypes.BooleanType, CollectionConverters.asScala(given).toSeq(),
            CollectionConverters.asScala(List.<AbstractDataType>of()).toSeq(), false, false, deterministic));
    }

    /** Forget what was counted: another batch begins. */
    public synchronized void begin() {
        round++;
        passed.clear();
        underWay.clear();
    }

    /** The rows of each measure, parted by blanks; `soFar`: with those of tasks that are still at work. */
    public synchronized String told(boolean soFar) {
        if (soFar) {
            RowCountsAtWork.of(id()).forEach(copy -> hear((SoFar) copy.value()));
        }
        StringBuilder told = new StringBuilder();
        for (long sum : sumsOf(fullest(soFar ? withUnderWay() : passed))) {
            told.append(sum).append(' ');
        }
        return told.toString();
    }

    /** Of the texts that tasks kept as many as are wanted, reason and row in turn. */
    public synchronized List<String> texts() {
        List<String> texts = new ArrayList<>();
        for (Passed task : fullest(passed).values()) {
            texts.addAll(task.texts);
        }
        return texts.subList(0, Math.min(texts.size(), 2 * mostKept));
    }

    /** What a counter holds in a task, to that counter, where it is in this Java; other values to nobody. */
    static void hand(long counter, Object value) {
        if (value instanceof SoFar soFar) {
            AccumulatorContext.get(counter).foreach(found -> {
                ((RowCounts) found).hear(soFar);
                return null;
            });
        }
    }

    private synchronized void hear(SoFar soFar) {
        if (soFar.round == round) {
            mergeInto(underWay, soFar.passed);
        }
    }

    private Map<String, Map<Integer, Passed>> withUnderWay() {
        Map<String, Map<Integer, Passed>> found = new HashMap<>();
        mergeInto(found, underWay);
        mergeInto(found, passed);
        return found;
    }

    private static void mergeInto(Map<String, Map<Integer, Passed>> places, Map<String, Map<Integer, Passed>> further) {
        further.forEach((place, parts) -> parts.forEach(
            (part, task) -> places.computeIfAbsent(place, key -> new HashMap<>()).merge(part, task, RowCounts::fuller)));
    }

    private static Passed fuller(Passed one, Passed other) {
        return one.total() > other.total() ? one : other;
    }

    private static Map<Integer, Passed> fullest(Map<String, Map<Integer, Passed>> places) {
        Map<Integer, Passed> found = Map.of();
        for (Map<Integer, Passed> one : places.values()) {
            found = totalOf(one) > totalOf(found) ? one : found;
        }
        return found;
    }

    private static long totalOf(Map<Integer, Passed> parts) {
        return parts.values().stream().mapToLong(Passed::total).sum();
    }

    private long[] sumsOf(Map<Integer, Passed> parts) {
        long[] sums = new long[measures];
        for (Passed task : parts.values()) {
            for (int measure = 0; measure < measures; measure++) {
                sums[measure] += task.rows[measure];
            }
        }
        return sums;
    }

    @Override
    public synchronized void merge(AccumulatorV2<Object, Object> other) {
        ((RowCounts) other).passed.forEach((place, parts) -> parts.forEach((part, task) -> mergeTask(place, part, task)));
    }

    private void mergeTask(String place, int part, Passed task) {
        Map<Integer, Passed> parts = passed.computeIfAbsent(place, key -> new HashMap<>());
        Passed before = parts.get(part);
        if (before != null && before.total() >= task.total()) {
            return;
        }
        parts.remove(part);
        if (!task.texts.isEmpty() && parts.values().stream().mapToInt(one -> one.texts.size()).sum() >= 2 * mostKept) {
            task.texts.clear();
        }
        parts.put(part, task);
    }

    @Override
    public synchronized boolean isZero() {
        return passed.isEmpty();
    }

    @Override
    public AccumulatorV2<Object, Object> copy() {
        RowCounts copy = new RowCounts(name, measures, mostKept);
        copy.round = round;
        return copy;
    }

    @Override
    public synchronized void reset() {
        passed.clear();
    }

    @Override
    public void add(Object row) {
        throw new UnsupportedOperationException("rows are counted at a place");
    }

    /** In a task: what has passed there. Of one in another Java, Spark tells the driver of it while it is at work (`RowCountsListener`). */
    @Override
    public synchronized Object value() {
        SoFar soFar = new SoFar(round);
        passed.forEach((place, parts) -> parts.forEach((part, task) ->
            soFar.passed.computeIfAbsent(place, key -> new HashMap<>()).put(part, new Passed(task.rows.clone()))));
        return soFar;
    }

    /** Whole, although a task goes on meanwhile. */
    private synchronized void writeObject(ObjectOutputStream out) throws IOException {
        out.defaultWriteObject();
    }

    @Override
    public String toString() {
        return name;
    }
}
