package pipeline_web;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;

/**
 * Hadoop's settings, made light. Spark copies them for each plan, and writes them out whole for what reads or writes files, for each
 * such task anew: 1,170 of them, most about servers that are not there, each with a compressed note of the file where it was found.
 */
public final class HadoopSettings {
    private static final String BY_DEFAULT = "-default.xml";
    /** Beginnings of names of what servers of Hadoop, and stores that no file here lies in, are told. */
    private static final List<String> OF_SERVERS = List.of(
        "yarn.", "mapreduce.jobhistory.", "mapreduce.shuffle.", "mapreduce.map.", "mapreduce.reduce.", "hadoop.http.", "hadoop.registry.",
        "hadoop.zk.", "hadoop.security.group.mapping.ldap.", "ha.", "ipc.server.", "ipc.[port_number].",
        "fs.s3a.", "fs.azure.", "fs.gs.", "fs.viewfs."
    );

    private HadoopSettings() { }

    /** Those of a session, of which Spark copies all others: what somebody set stays; `onYarn`, all values do. */
    public static void lighten(Configuration settings, boolean onYarn) throws ReflectiveOperationException {
        new JobConf();  // it names further files; named later, they would have all of them read again
        if (!onYarn) {
            defaultsOfServers(settings).forEach(settings::unset);
        }
        foundPlaces(settings).clear();
    }

    private static List<String> defaultsOfServers(Configuration settings) {
        List<String> names = new ArrayList<>();
        for (Map.Entry<String, String> setting : settings) {
            String name = setting.getKey();
            String[] places = settings.getPropertySources(name);
            if (places != null && places[0].endsWith(BY_DEFAULT) && OF_SERVERS.stream().anyMatch(name::startsWith)) {
                names.add(name);
            }
        }
        return names;
    }

    /** By setting; nobody but a warning asks for them. */
    private static Map<?, ?> foundPlaces(Configuration settings) throws ReflectiveOperationException {
        Field places = Configuration.class.getDeclaredField("updatingResource");
        places.setAccessible(true);
        return (Map<?, ?>) places.get(settings);
    }
}
