"""Runs in PyFlink's own environment: does the jobs that it reads as lines of JSON, and answers each with a line.

{"jar", "parallelism"} first; then {"sql": [statement, …]}, of which the last inserts and is waited for, each with tables of its own.
"""

import json
import os
import sys

from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]


def environment(mode: str, jar: str, parallelism: int) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
    made = TableEnvironment.create(settings)
    made.get_config().set("pipeline.jars", jar)
    made.get_config().set("parallelism.default", str(parallelism))
    made.get_config().set("table.local-time-zone", "UTC")
    return made


def answer(text: str) -> None:
    print(text, file=ANSWERS, flush=True)


def work() -> None:
    begun = json.loads(sys.stdin.readline())
    answer("ready")
    for line in sys.stdin:
        job = json.loads(line)
        tables = environment(job["mode"], begun["jar"], begun["parallelism"])
        for statement in job["sql"][:-1]:
            tables.execute_sql(statement)
        tables.execute_sql(job["sql"][-1]).wait()
        answer("done")


if __name__ == "__main__":
    ANSWERS = os.fdopen(int(sys.argv[1]), "w")  # Flink's own lines go to the usual output
    work()
