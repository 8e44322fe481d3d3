"""The one Spark session of a process, and the session of its own that every execution gets."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from jobs.engine.java_names import java_names_keep
from jobs.engine.plan import Plan, Settings
from jobs.engine.prepared import class_archive_in, java_classes_in, spark_home_in
from jobs.engine.readers_folder import readers_folder_make

_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_PYTHON_CONF = {
    "spark.python.worker.reuse": "true",
    "spark.python.daemon.module": "jobs.engine.python_daemon",
    # A worker that crashes says in which line.
    "spark.python.worker.faulthandler.enabled": "true",
    # Twenty streams that start at once would leave forty idle Python workers of 60 MB behind.
    "spark.python.factory.idleWorkerMaxPoolSize": "2",
    # Where in our code a column was made is of no use to a person, and finding it costs more than making it.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
_FILE_MANAGER = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
_MEMORY = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"

#: Fixed from a job's first batch on: Spark pins or checks these in a query's folder.
STREAMING_CONF: Mapping[str, str] = {
    "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
    # Version 1 lists offsets by position: a query whose sources changed places would then read each from the other's offset.
    "spark.sql.streaming.offsetLog.formatVersion": "2",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.streaming.minBatchesToRetain": "100",
    "spark.sql.streaming.stopActiveRunOnRestart": "false",
    "spark.sql.streaming.stopTimeout": "10s",
    "spark.sql.streaming.numRecentProgressUpdates": "5",
    # Rows that are kept are read two or three times and let go: to pack them took an eighth of a run with two sinks.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # What Spark notes of the numbers that it keeps leaves out NaN: rows with it were passed over where x = NaN, or x > 5, was looked for.
    "spark.sql.inMemoryColumnarStorage.partitionPruning": "false",
}

#: What Spark does to plans so that rows go uncounted: it leaves out all that stands before a filter that nothing can pass, such as
#: '${env}' = 'prod', and computes rows that are at hand while it plans, outside of any task.
_UNCOUNTABLE = (
    "org.apache.spark.sql.catalyst.optimizer.PruneFilters",
    "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation",
)

#: What files and expressions may hold, and how a bad record is told.
READING_CONF: Mapping[str, str] = {
    # A text keeps its ${…}: Spark would put its own conf there, or nothing, and make words out of what was checked as others.
    "spark.sql.variable.substitute": "false",
    # Encodings beyond the seven that Spark names itself: windows-1252.
    "spark.sql.legacy.javaCharsets": "true",
    # This parser goes on behind a record it cannot read and hands over its text; the other gives up the file and hands over all of it.
    "spark.sql.legacy.useLegacyXMLParser": "true",
}

#: Delta Lake, where its jar is at hand. Its catalog is left out: tables are folders, and no query may name one by its path.
DELTA_CONF: Mapping[str, str] = {
    # Without it rows that a table's deletion vectors hide would be read as if they were there.
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.databricks.delta.requiredSparkConfsCheck.enabled": "false",
    # Parts in which a table's list of files is computed: fifty are for tables of millions of files.
    "spark.databricks.delta.snapshotPartitions": "2",
}

#: What passes in a task at work in another process Spark tells with each heartbeat.
_LISTENING_ELSEWHERE = {
    "spark.extraListeners": "pipeline_web.EndedWork,pipeline_web.RowCountsListener",
    "spark.executor.heartbeatInterval": "2s",
    # An executor whose driver does not answer gives up after ten minutes, as it would with ten seconds between them.
    "spark.executor.heartbeat.maxFailures": "300",
}

#: Spark keeps for its pages, which nobody sees, what it did: a thousand plans in words took 150 MB of each driver's heap.
_REMEMBERED = {
    "spark.sql.ui.retainedExecutions": "50",
    "spark.sql.ui.explainMode": "simple",
    "spark.ui.retainedJobs": "100",
    "spark.ui.retainedStages": "200",
    "spark.ui.retainedTasks": "5000",
}

#: What computes in this very process is not lost while that lives. Where the machine slept for two minutes Spark took it for that, and
#: every heartbeat failed.
_NEVER_LOST = {"spark.storage.blockManagerHeartbeatTimeoutMs": "3650d"}

_LOOPBACK = "127.0.0.1"
_FEW_PROCESSORS = 4
_LOGGING = Path(__file__).with_name("log4j2.properties")
_building = threading.Lock()


@dataclass(frozen=True)
class SessionOptions:
    """What differs between processes. `jars` are Spark's extra jars; `memory` the driver's heap as Spark writes it ("2g");

    `java_options`: further ones for the driver's JVM.
    """

    master: str = "local[*]"
    jars: tuple[Path, ...] = ()
    memory: str = "2g"
    app_name: str = "pipeline-web"
    local_dir: Path | None = None
    java_options: str = ""
    #: The folder in which stands what lets Spark start and work faster (`jobs.engine.prepared`).
    prepared: Path | None = None

    @property
    def is_local(self) -> bool:
        """On one machine."""
        return self.master.startswith("local")

    @property
    def is_one_process(self) -> bool:
        """Its tasks run in the driver's own JVM."""
        return self.is_local and not self.master.startswith("local-cluster")


def session_build(options: SessionOptions) -> SparkSession:
    """This process's session, built on the first call (5 to 8 s) and handed out again after that, whatever the options."""
    with _building:
        _environment_set(options)
        conf: dict[str, Any] = {"spark.master": options.master, "spark.app.name": options.app_name, **session_conf(options)}
        _quiet()
        java_names_keep()
        if SparkContext._active_spark_context is None and options.prepared and java_classes_in(options.prepared):
            _LeanContext(conf=SparkConf().setAll(list(conf.items())))
        session = SparkSession.builder.config(map=conf).getOrCreate()
        _ = session.streams  # the first that hears of streams: it stays, and with it Spark's thread that tells them
        return session


class _LeanContext(SparkContext):
    def _initialize_context(self, jconf: Any) -> Any:
        java: Any = self._jvm
        return java.JavaSparkContext(java.pipeline_web.LeanContext(jconf))


def session_conf(options: SessionOptions) -> dict[str, str]:
    """Spark's conf for a process: nothing listens beyond loopback on one machine, and Python workers find our modules."""
    conf = {
        "spark.driver.memory": options.memory,
        "spark.driver.extraJavaOptions": " ".join([*_java_options(options.prepared), options.java_options]).strip(),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **_REMEMBERED,
        "spark.eventLog.enabled": "false",
        "spark.scheduler.mode": "FAIR",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(_python_path()),
        **_PYTHON_CONF,
        "spark.sql.adaptive.enabled": "true",
        # What was compiled for a batch serves the next: of twenty streams in a driver, each batch was compiled anew with Spark's hundred.
        "spark.sql.codegen.cache.maxEntries": "500",
        # What is left undone because no row came so far would have counted rows on its way.
        "spark.sql.adaptive.optimizer.excludedRules": "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation",
        # The other one asks a program, `readlink`, about both names of each file it renames, a dozen times a batch.
        "spark.sql.streaming.checkpointFileManagerClass": _FILE_MANAGER,
        # A query names what its node is connected to, never a file: select * from csv.`/etc/passwd`.
        "spark.sql.runSQLOnFiles": "false",
        # Options of a reader or writer that Spark shows in plans and logs: its own words, and those in which Kafka's client keeps secrets.
        "spark.redaction.regex": "(?i)secret|password|token|access[.]?key|jaas|keystore|truststore",
        **READING_CONF,
        **STREAMING_CONF,
    }
    if any(jar.name.startswith("delta-spark_") for jar in options.jars):
        conf |= DELTA_CONF
    if options.local_dir:
        conf |= {"spark.local.dir": str(options.local_dir), "spark.sql.warehouse.dir": str(options.local_dir / "warehouse")}
    return conf | _own_classes_conf(options) | _place_conf(options)


def _own_classes_conf(options: SessionOptions) -> dict[str, str]:
    """Where our classes and the jars are found: executors elsewhere get ours as one of the jars."""
    classes = java_classes_in(options.prepared) if options.prepared else None
    conf: dict[str, str] = {}
    jars = options.jars
    if classes and options.is_one_process:
        conf |= {"spark.extraListeners": "pipeline_web.EndedWork", "spark.hadoop.fs.file.impl": "pipeline_web.LocalFiles"}
        conf["spark.driver.extraClassPath"] = str(classes)
    elif classes:
        conf |= _LISTENING_ELSEWHERE
        jars += (classes,)
    if jars:
        conf["spark.jars"] = ",".join(str(jar) for jar in jars)
    return conf


def _place_conf(options: SessionOptions) -> dict[str, str]:
    """What follows from where tasks run."""
    conf = {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK} if options.is_local else {}
    return conf | _NEVER_LOST if options.is_one_process else conf


def few_processors() -> bool:
    """Whether what Java does on the side, such as collecting garbage and compiling, takes them from those who wait."""
    return (os.cpu_count() or 1) <= _FEW_PROCESSORS


def _java_options(prepared: Path | None) -> list[str]:
    """On few processors the serial collector: a heap of some GiB pauses it for moments only, and it holds a third of the memory.

    An archive of another Java is left aside in silence.
    """
    collector = ["-XX:+UseSerialGC", "-XX:MinHeapFreeRatio=10", "-XX:MaxHeapFreeRatio=30"] if few_processors() else []
    classes = class_archive_in(prepared) if prepared else None
    archive = [f'"-XX:SharedArchiveFile={classes}"', "-Xlog:cds=off", "-Xlog:cds+dynamic=off"] if classes else []
    # Spark's classes take so much in any case: the heap is not looked through for the sake of room for them.
    return [f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}", "-XX:MetaspaceSize=192m", *collector, *archive]


def execution_session(spark: SparkSession, plan: Plan) -> SparkSession:
    """A session of its own for one execution: own conf, temporary views, streams and listeners on the shared Spark."""
    session = spark.newSession()
    for key, value in execution_conf(plan.settings).items():
        session.conf.set(key, value)
    return session


def execution_conf(settings: Settings) -> dict[str, str]:
    """What decides how an execution computes."""
    conf = {
        **STREAMING_CONF,
        "spark.sql.optimizer.excludedRules": ",".join(_UNCOUNTABLE),
        "spark.sql.session.timeZone": settings.time_zone,
        "spark.sql.shuffle.partitions": str(settings.parallelism),
        "spark.sql.streaming.stateStore.providerClass": _MEMORY if settings.state_store == "memory" else _ROCKSDB,
    }
    if settings.state_store == "memory":
        conf["spark.sql.streaming.stateStore.checkpointFormatVersion"] = "1"
    return conf


def session_enter(session: SparkSession, plan: Plan) -> None:
    """This thread now works for the execution: its session is the active one, what it starts runs in its job's scheduler pool.

    Spark never forgets a pool, and looks at all of them for each task: one for each execution made tasks wait after some thousands.
    """
    java: Any = session
    # By its whole name: Java looks for each part of a dotted one among all jars, which takes a millisecond.
    getattr(java._jvm, "org.apache.spark.sql.classic.SparkSession").setActiveSession(java._jsparkSession)
    session.sparkContext.setLocalProperty("spark.scheduler.pool", plan.job_name)


def _environment_set(options: SessionOptions) -> None:
    # Executors of a cluster know nothing of this process's environment, in which the launcher finds what it starts.
    os.environ["PYSPARK_PYTHON"] = python_for_spark() if options.is_one_process else sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(_python_path())
    if options.is_local:
        os.environ["SPARK_LOCAL_IP"] = _LOOPBACK
    if options.prepared and (home := spark_home_in(options.prepared)):
        os.environ.setdefault("SPARK_HOME", str(home.absolute()))


def python_for_spark() -> str:
    """What Spark starts as its Python, with what that needs to know in the environment: this one, behind `python.sh` where that can run."""
    launcher = Path(__file__).with_name("python.sh")
    if sys.platform != "linux" or not os.access(launcher, os.X_OK):
        return sys.executable
    if os.environ.get("PIPELINE_WEB_DRIVER") != str(os.getpid()):
        folder = readers_folder_make()
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["PIPELINE_WEB_READERS"] = f"{folder}/readers"
        os.environ["PIPELINE_WEB_DRIVER"] = str(os.getpid())
    os.environ["PIPELINE_WEB_PYTHON"] = sys.executable
    return str(launcher)


def _quiet() -> None:
    """PySpark logs each exception that passes through it as an error, a requested stop too: the run tells what became of them."""
    for name in ("py4j.clientserver", "py4j.java_gateway", "SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _python_path() -> list[str]:
    """Where Python workers look first: the folder that holds `jobs`, then what this process was given."""
    home = str(Path(__file__).resolve().parents[2])
    return [home, *(part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part != home)]
