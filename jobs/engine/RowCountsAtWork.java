package pipeline_web;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/** Counters in tasks that are at work in this very Java: what they hold need not be waited for. */
final class RowCountsAtWork {
    /** By the number of the counter on the driver. */
    private static final Map<Long, Set<RowCounts>> COPIES = new ConcurrentHashMap<>();

    private RowCountsAtWork() { }

    /** Until the task is over: from then until Spark has merged what it counted, that stands as of one at work. */
    static void add(RowCounts copy, TaskContext task) {
        COPIES.compute(copy.id(), (counter, copies) -> {
            Set<RowCounts> all = copies == null ? ConcurrentHashMap.newKeySet() : copies;
            all.add(copy);
            return all;
        });
        task.addTaskCompletionListener((TaskCompletionListener) ended -> {
            RowCounts.hand(copy.id(), copy.value());
            COPIES.computeIfPresent(copy.id(), (counter, copies) -> copies.remove(copy) && copies.isEmpty() ? null : copies);
        });
    }

    static Set<RowCounts> of(long counter) {
        return COPIES.getOrDefault(counter, Set.of());
    }
}
