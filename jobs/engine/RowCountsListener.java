package pipeline_web;

import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import scala.jdk.javaapi.CollectionConverters;

/** Hands counters what passes in tasks at work elsewhere: Spark tells it with each heartbeat, and merges only what ended. */
public class RowCountsListener extends SparkListener {
    @Override
    public void onExecutorMetricsUpdate(SparkListenerExecutorMetricsUpdate update) {
        for (var task : CollectionConverters.asJava(update.accumUpdates())) {
            CollectionConverters.asJava(task._4()).forEach(RowCountsListener::hand);
        }
    }

    private static void hand(AccumulableInfo told) {
        if (told.name().isEmpty() && told.update().isDefined()) {
            RowCounts.hand(told.id(), told.update().get());
        }
    }
}
