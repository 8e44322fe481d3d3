package pipeline_web;

import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.util.Collections;
import java.util.Deque;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.locks.Lock;
import py4j.CallbackClient;
import py4j.ClientServerConnection;
import py4j.PythonClient;

/** Connections over which threads of Spark call Python: Py4J keeps those of threads that ended, each with one of Python that waits. */
public class LeftConnections {
    private static final Map<ClientServerConnection, WeakReference<Thread>> CALLING = Collections.synchronizedMap(new WeakHashMap<>());

    /** From Python, amid the first call of a thread: whose connection it is that it came over. Those of threads that ended are closed. */
    public static void remember(PythonClient client) throws ReflectiveOperationException {
        ClientServerConnection own = client.getPerThreadConnection();
        if (own != null) {
            CALLING.put(own, new WeakReference<>(Thread.currentThread()));
        }
        close(client);
    }

    /** Close those of threads that ended since. */
    public static void close(PythonClient client) throws ReflectiveOperationException {
        Lock lock = (Lock) field("lock", client);
        lock.lock();
        try {
            ((Deque<?>) field("connections", client)).removeIf(one -> {
                boolean isLeft = isLeft(CALLING.get(one));
                if (isLeft) {
                    ((ClientServerConnection) one).shutdown();
                }
                return isLeft;
            });
        } finally {
            lock.unlock();
        }
    }

    private static boolean isLeft(WeakReference<Thread> by) {
        Thread caller = by == null ? null : by.get();
        return by != null && (caller == null || !caller.isAlive());
    }

    private static Object field(String name, CallbackClient client) throws ReflectiveOperationException {
        Field field = CallbackClient.class.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(client);
    }
}
