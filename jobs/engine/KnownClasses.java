package pipeline_web;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Finds what the loader behind it finds, and remembers what that does not: for each piece of code that Spark compiles, the compiler asks
 * for dozens of classes there are not, which takes a look into each of some 300 jars. What that loader finds must not change.
 */
final class KnownClasses extends ClassLoader {
    private static final int MOST_REMEMBERED = 10_000;

    private final Set<String> missing = ConcurrentHashMap.newKeySet();

    private KnownClasses(ClassLoader behind) {
        super(behind);
    }

    /** The threads there are, and those that they begin, find classes by it. */
    static void remember() {
        ClassLoader behind = Thread.currentThread().getContextClassLoader();
        if (behind instanceof KnownClasses) {
            return;
        }
        ClassLoader known = new KnownClasses(behind);
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getContextClassLoader() == behind) {
                thread.setContextClassLoader(known);
            }
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (missing.contains(name)) {
            throw new Missing(name);
        }
        try {
            return getParent().loadClass(name);
        } catch (ClassNotFoundException notFound) {
            if (missing.size() < MOST_REMEMBERED) {
                missing.add(name);
            }
            throw notFound;
        }
    }

    /** Without the calls that led to it, which take longer to note than the look that is spared. */
    private static final class Missing extends ClassNotFoundException {
        Missing(String name) {
            super(name);
        }

        @Override
        public Throwable fillInStackTrace() {
            return this;
        }
    }
}
