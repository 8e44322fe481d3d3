package pipeline_web;

import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryListenerBus;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * Spark tells whatever happens to each session that ever had streams, for as long as a driver lives. Those to which nobody listens any
 * more are left out.
 */
public class LeftListeners {
    private static final Map<StreamingQueryListenerBus, Long> ALONE_SINCE = new WeakHashMap<>();

    /** `seconds`: for which nobody has listened. The first one stays, or else Spark would begin another thread with the next. */
    public static synchronized void leave(SparkContext context, double seconds) {
        List<StreamingQueryListenerBus> sessions = CollectionConverters.asJava(
            context.listenerBus().findListenersByClass(ClassTag$.MODULE$.<StreamingQueryListenerBus>apply(StreamingQueryListenerBus.class)));
        sessions.stream().skip(1).filter(session -> aloneSeconds(session) >= seconds).forEach(context.listenerBus()::removeListener);
    }

    private static double aloneSeconds(StreamingQueryListenerBus session) {
        if (!session.listeners().isEmpty()) {
            ALONE_SINCE.remove(session);
            return -1;
        }
        long now = System.nanoTime();
        return (now - ALONE_SINCE.computeIfAbsent(session, one -> now)) / (double) TimeUnit.SECONDS.toNanos(1);
    }
}
