"""What `spark-submit` runs for tests: scripts one after the other, each as the main program with a Spark of its own in the same Java.

`spark-submit submitted.py ADDRESS`: asked over a local socket; answers what a script failed of, "" where it ended well.
"""

import os
import runpy
import sys
import traceback
from multiprocessing.connection import Connection, Listener
from unittest import mock

from pyspark import SparkContext


def main(address: str) -> None:
    with Listener(address, "AF_UNIX") as listener, listener.accept() as line:
        answer(line)


def answer(line: "Connection[str, tuple[str, str, dict[str, str]]]") -> None:
    while True:
        try:
            folder, script, environment = line.recv()
        except EOFError:
            return
        line.send(failure(folder, script, environment))


def failure(folder: str, script: str, environment: dict[str, str]) -> str:
    os.chdir(folder)
    try:
        with mock.patch.dict(os.environ, environment), mock.patch.object(sys, "argv", [script, "--until-drained"]):
            runpy.run_path(script, run_name="__main__")
    except BaseException:  # as the interpreter tells it: exits, too
        return traceback.format_exc()
    finally:
        if SparkContext._active_spark_context:
            SparkContext._active_spark_context.stop()
    return ""


if __name__ == "__main__":
    main(sys.argv[1])
