package pipeline_web;

import java.lang.reflect.Field;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.apache.spark.sql.catalyst.rules.QueryExecutionMetering;
import org.apache.spark.sql.catalyst.rules.RuleExecutor$;
import org.sparkproject.guava.util.concurrent.AtomicLongMap;

/** How often each rule of Spark's planner was tried, and for how long: Spark counts that, and adds all of it up twice for each plan. */
final class RuleTimes {
    private RuleTimes() { }

    /** From now on it is not counted: nobody asks. */
    static void leaveOut() throws ReflectiveOperationException {
        Field counts = AtomicLongMap.class.getDeclaredField("map");
        counts.setAccessible(true);
        for (Field kept : QueryExecutionMetering.class.getDeclaredFields()) {
            if (kept.getType() == AtomicLongMap.class) {
                kept.setAccessible(true);
                counts.set(kept.get(RuleExecutor$.MODULE$.queryExecutionMeter()), new Empty());
            }
        }
    }

    /** Stays empty. */
    private static final class Empty extends ConcurrentHashMap<String, Long> {
        @Override
        public Long compute(String rule, BiFunction<? super String, ? super Long, ? extends Long> add) {
            return 0L;
        }
    }
}
