package pipeline_web;

import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;

/** Spark's context, which does less for each plan. */
public final class LeanContext extends SparkContext {
    public LeanContext(SparkConf conf) throws ReflectiveOperationException {
        super(withKnownClasses(conf));
        RuleTimes.leaveOut();
        HadoopSettings.lighten(hadoopConfiguration(), master().startsWith("yarn"));
    }

    /** Before there is a context, whose executor takes on the loader of this thread. */
    private static SparkConf withKnownClasses(SparkConf conf) {
        KnownClasses.remember();
        return conf;
    }

    /**
     * A function as Spark takes it for its tasks: as it is. Spark searches it for what only lines typed into a shell leave behind,
     * and writes it out whole to see that it can; here all of them are Spark's own, and its scheduler writes them out again in any case.
     */
    @Override
    public <F> F clean(F function, boolean checkSerializable) {
        return function;
    }
}
