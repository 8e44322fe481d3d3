"""The process that a driver's Python workers are forked from: it has imported what each of them needs, so that they begin at once.

Spark's own one forks first and lets each worker import the same half second's worth, lest an import begins threads, which no fork takes
along. What is imported here begins none, as it is told.
"""

import gc
import importlib
import os

from pyspark.daemon import manager

#: A worker needs these, whatever it runs.
_PRELOADED = ("numpy", "pyarrow", "pyspark.worker", "pyspark.sql.datasource", "jobs.nodes.base", "jobs.nodes.worker_errors")
#: Else the linear algebra of numpy would begin threads, and Arrow one that gives memory back.
_WITHOUT_THREADS = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}


def preload() -> None:
    """Afterwards this process has one thread, as before, and looks for garbage among what comes from now on only.

    A worker looks for it after each task.
    """
    os.environ.update(_WITHOUT_THREADS)
    for name in _PRELOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    preload()
    manager()
