"""`python -m jobs.driver`: reads the variables from its pipe, then serves until the pipe closes or it is told to stop."""

import faulthandler
import json
import os
import signal
import sys
import threading
import uuid
from pathlib import Path

from jobs.driver.mortality import die_with_parent
from pipeline_web import variables

#: Where web and drivers share a machine, pages answer although Spark takes all it can get.
_NICENESS = 10
#: Python's own 5 ms are long for a thread that waits for its lock each time a disk or a line has answered, beside one that computes.
SWITCH_SECONDS = 0.0005


def main() -> None:
    die_with_parent(signal.SIGTERM, parent=int(sys.argv[1]))
    os.nice(_NICENESS)
    sys.setswitchinterval(SWITCH_SECONDS)
    faulthandler.enable()
    variables.receive(sys.stdin)
    order = json.loads(sys.stdin.readline())
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeline_web.settings")
    import django

    django.setup()
    serve(order)


def serve(order: dict[str, str]) -> None:
    """`order`: driver_id, kind, worker, slots, memory, work_dir."""
    from django.conf import settings

    from jobs.driver.interactive import answer_for_ever
    from jobs.driver.process import DriverProcess
    from jobs.models import DriverKind
    from jobs.services.drivers import driver_announce

    driver = driver_announce(
        driver_id=uuid.UUID(order["driver_id"]),
        kind=order["kind"],
        worker=order["worker"],
        pid=os.getpid(),
        slots=int(order["slots"]),
    )
    process = DriverProcess(driver)

    def told(signum: int, frame: object) -> None:
        if not process.is_open:
            os._exit(0)  # it holds nothing yet, and Spark may take long to begin
        # In a thread: the one that the signal interrupted may hold the very lock that `stop` needs.
        threading.Thread(target=process.stop, args=("the worker stops",), daemon=True).start()

    signal.signal(signal.SIGTERM, told)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the worker too, which then tells us
    threading.Thread(target=_listen, args=(process,), name="pipe", daemon=True).start()
    process.open(Path(order["work_dir"]), memory=order["memory"])
    if order["kind"] == DriverKind.INTERACTIVE:
        answer_for_ever(process)
    else:
        process.serve()
    watchdog = threading.Timer(settings.STOP_GRACE_SECONDS + 10, lambda: os._exit(process.exit_code or 3))
    watchdog.daemon = True
    watchdog.start()
    process.close()
    sys.stdout.flush()
    sys.stderr.flush()
    # The JVM ends with its pipe; a thread that hangs in it must not keep us.
    os._exit(process.exit_code)


def _listen(process: object) -> None:
    from jobs.driver.process import DriverProcess

    assert isinstance(process, DriverProcess)
    for line in sys.stdin:
        if line.strip() == "wake":
            process.wake()
        elif line.strip() == "stop":
            process.stop("the worker stops")
    process.stop("the worker is gone")


if __name__ == "__main__":
    main()
