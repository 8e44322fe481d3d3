package pipeline_web;

import java.lang.reflect.Field;
import org.apache.spark.SparkContext$;
import org.apache.spark.api.python.PythonWorkerFactory;
import org.apache.spark.scheduler.DAGScheduler;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent;

/** Lets go of what Spark itself would hold for the life of a driver, which runs thousands of executions. */
public class EndedWork extends SparkListener {
    /**
     * What becomes of the jobs of a query Spark forgets as the query ends; those that it begins later, as `toLocalIterator` does for each
     * part of the rows, would stay with all their plans.
     */
    @Override
    public void onJobEnd(SparkListenerJobEnd ended) {
        SparkContext$.MODULE$.getActive().foreach(context -> {
            DAGScheduler scheduler = context.dagScheduler();
            if (scheduler != null) { // none once Spark is being stopped
                clean(scheduler);
            }
            return null;
        });
    }

    private static void clean(DAGScheduler scheduler) {
        for (Object query : scheduler.activeQueryToJobs().keySet()) {
            if (SQLExecution.getQueryExecution((Long) query) == null) {
                scheduler.cleanupQueryJobs((Long) query);
            }
        }
    }

    @Override
    public void onOtherEvent(SparkListenerEvent event) {
        if (event instanceof QueryTerminatedEvent) {
            Thread.getAllStackTraces().keySet().forEach(EndedWork::endIfIdle);
        }
    }

    /**
     * A stream's source in Python has a process of its own, and for it a thread that looks for ever after processes that others of them
     * would reuse; there are none. The thread holds the session of the stream that began it.
     */
    private static void endIfIdle(Thread thread) {
        try {
            if (thread.getName().startsWith("Idle Worker Monitor") && !usesDaemon(thread)) {
                thread.setUncaughtExceptionHandler((ended, interrupted) -> { });
                thread.interrupt();
            }
        } catch (ReflectiveOperationException changed) {
            throw new IllegalStateException("this Spark keeps its Python workers in another way", changed);
        }
    }

    private static boolean usesDaemon(Thread monitor) throws ReflectiveOperationException {
        Field daemon = PythonWorkerFactory.class.getDeclaredField("useDaemon");
        daemon.setAccessible(true);
        return daemon.getBoolean(monitor.getClass().getField("$outer").get(monitor));
    }
}
