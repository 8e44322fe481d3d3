"""A process whose Spark sleeps for a while, as with a machine that is suspended: what is told of a task at work after that.

`python -m tests.engine.asleep_run FOLDER`
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
IMPATIENT = {"spark.network.timeout": "3s", "spark.network.timeoutInterval": "50ms"}
_ASLEEP_SECONDS = 6.0


def main(folder: Path) -> None:
    prepared = Path(__file__).resolve().parents[2] / ".venv" / "spark-jars"
    options = SessionOptions("local[2]", memory="1g", local_dir=folder / "spark", java_options="-XX:TieredStopAtLevel=1", prepared=prepared)
    with mock.patch.object(session, "session_conf", lambda given: session_conf(given) | IMPATIENT):
        spark: Any = session_build(options)
    java = spark._jvm.java.lang.ProcessHandle.current().pid()
    os.kill(java, signal.SIGSTOP)
    time.sleep(_ASLEEP_SECONDS)
    os.kill(java, signal.SIGCONT)
    slow = {"gen": numbers(150, 150), "slow": ("flow.rate_limit", {"rows_per_second": 30}), "out": files("out")}
    heard = Bench(spark, folder).completed(document(slow, "gen>slow, slow>out"))
    print("told", max((event.nodes["slow"].rows_out or 0 for event in heard.of(BatchUnderWay) if event.done == 0), default=0))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
