"""A process of its own in which a task takes seconds: what is told of its rows while it is at work.

`python -m tests.engine.slow_run FOLDER MASTER [SECONDS]`: Spark first sleeps for so long, as with a machine that is suspended.
"""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

from jobs.engine import session
from jobs.engine.events import BatchUnderWay
from jobs.engine.session import SessionOptions, session_build, session_conf
from tests.engine.graphs import Bench, document, files, numbers

#: Spark's own patience, which is two minutes, and how often it looks.
IMPATIENT = {"spark.network.timeout": "3s", "spark.network.timeoutInterval": "50ms", "spark.executor.heartbeatInterval": "2s"}


def main(folder: Path, master: str, asleep_seconds: float = 0.0) -> None:
    prepared = Path(__file__).resolve().parents[2] / ".venv" / "spark-jars"
    options = SessionOptions(master, memory="1g", local_dir=folder / "spark", java_options="-XX:TieredStopAtLevel=1", prepared=prepared)
    patience = IMPATIENT if asleep_seconds else {}
    with mock.patch.object(session, "session_conf", lambda given: session_conf(given) | patience):
        spark: Any = session_build(options)
    if asleep_seconds:
        java = spark._jvm.java.lang.ProcessHandle.current().pid()
        os.kill(java, signal.SIGSTOP)
        time.sleep(asleep_seconds)
        os.kill(java, signal.SIGCONT)
    slow = {"gen": numbers(150, 150), "slow": ("flow.rate_limit", {"rows_per_second": 30}), "out": files("out")}
    heard = Bench(spark, folder).completed(document(slow, "gen>slow, slow>out"))
    print("told", max((event.nodes["slow"].rows_out or 0 for event in heard.of(BatchUnderWay) if event.done == 0), default=0))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], *map(float, sys.argv[3:]))
