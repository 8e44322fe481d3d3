package pipeline_web;

import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import org.apache.spark.util.AccumulatorContext;
import scala.jdk.javaapi.CollectionConverters;

/** Hands counters what passes in tasks that are at work: Spark tells it with each heartbeat, and merges only what ended. */
public class RowCountsListener extends SparkListener {
    @Override
    public void onExecutorMetricsUpdate(SparkListenerExecutorMetricsUpdate update) {
        for (var task : CollectionConverters.asJava(update.accumUpdates())) {
            CollectionConverters.asJava(task._4()).forEach(RowCountsListener::hand);
        }
    }

    private static void hand(AccumulableInfo told) {
        if (told.name().isEmpty() && told.update().isDefined() && RowCounts.isTold(told.update().get())) {
            var counter = AccumulatorContext.get(told.id());
            if (counter.isDefined()) {
                ((RowCounts) counter.get()).hear(told.update().get());
            }
        }
    }
}
