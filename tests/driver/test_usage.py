"""What a driver takes is measured with the processes below it."""

import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from jobs.driver.usage import UsageMeter, memory_there
from tests.servers.waiting import wait_until

BUSY = "import sys, threading\nthreading.Thread(target=lambda: sys.stdin.read(), daemon=True).start()\nwhile True: pass"


@pytest.fixture
def busy_child() -> Iterator[psutil.Process]:
    child = subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE)
    try:
        yield psutil.Process(child.pid)
    finally:
        child.kill()
        child.communicate()


def test_a_child_that_computes_is_counted(busy_child: psutil.Process) -> None:
    meter = UsageMeter()
    wait_until(lambda: busy_child.num_threads() == 2, seconds=30, what="a second thread of the child")
    begun, seconds = meter.read(), busy_child.cpu_times().user
    wait_until(lambda: busy_child.cpu_times().user > seconds + 0.2, seconds=60, what="a child that computes")
    found = meter.read()
    assert found.cpu_usage > 0
    assert found.thread_count >= psutil.Process().num_threads() + 2
    assert found.memory_usage >= (busy_child.memory_info().rss + psutil.Process().memory_info().rss) * 0.5 / memory_there()
    assert begun.memory_usage > 0


def test_what_ended_makes_no_figure_less_than_nothing(busy_child: psutil.Process) -> None:
    meter = UsageMeter()
    wait_until(lambda: busy_child.cpu_times().user > 0.3, seconds=60, what="a child that computes")
    assert meter.read().cpu_usage > 0
    busy_child.kill()
    busy_child.wait(30)
    assert meter.read().cpu_usage >= 0
