package pipeline_web;

import java.lang.reflect.Field;
import java.util.Deque;
import java.util.concurrent.locks.Lock;
import py4j.CallbackClient;
import py4j.ClientServerConnection;
import py4j.Py4JClientConnection;

/** Connections over which threads of Spark call Python: Py4J keeps those of threads that ended, each with one of Python that waits. */
public class IdleConnections {
    /** Close those over which nothing is said at this moment; a thread that needs its own again gets another. */
    public static void close(CallbackClient client) throws ReflectiveOperationException {
        Lock lock = (Lock) field("lock", client);
        lock.lock();
        try {
            ((Deque<?>) field("connections", client)).removeIf(one -> {
                boolean callsPython = one instanceof ClientServerConnection && ((ClientServerConnection) one).isInitiatedFromClient();
                if (callsPython) {
                    ((Py4JClientConnection) one).shutdown();
                }
                return callsPython;
            });
        } finally {
            lock.unlock();
        }
    }

    private static Object field(String name, CallbackClient client) throws ReflectiveOperationException {
        Field field = CallbackClient.class.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(client);
    }
}
