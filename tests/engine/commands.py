"""Commands of `manage.py` one after the other in a process of its own, whose Java goes on: its start takes longer than most of them.

`python -m tests.engine.commands REPLIES`: each line of stdin is a command, whose exit code is written to the file descriptor REPLIES.
"""

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import django
from django.core.management import execute_from_command_line
from django.test import override_settings

ROOT = Path(__file__).resolve().parents[2]


class Commands:
    """A process that runs commands; entered, it is there."""

    def __init__(self, folder: Path) -> None:
        self._printed = {name: folder / name for name in ("stdout", "stderr")}
        self._environment = {**os.environ, "DATA_DIR": str(folder), "SPARK_MASTER": "local[2]", "SPARK_DRIVER_MEMORY": "1g"}
        self._environment.pop("DJANGO_SETTINGS_MODULE", None)

    def __enter__(self) -> Self:
        replies, told = os.pipe()
        with self._printed["stdout"].open("w") as stdout, self._printed["stderr"].open("w") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.engine.commands", str(told)],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                pass_fds=[told],
                text=True,
            )
        os.close(told)
        self._replies = os.fdopen(replies)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.communicate(timeout=60)
        self._replies.close()

    def run(self, data_dir: Path, *arguments: str, allowed_hosts: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        """As `manage.py` with these arguments in an installation of this folder."""
        begun = {name: file.stat().st_size for name, file in self._printed.items()}
        assert self._process.stdin
        print(json.dumps([str(data_dir), arguments, allowed_hosts]), file=self._process.stdin, flush=True)
        code = self._replies.readline()
        printed = {name: file.read_bytes()[begun[name] :].decode() for name, file in self._printed.items()}
        assert code, f"the process that runs commands ended: {printed['stderr']}"
        return subprocess.CompletedProcess(arguments, int(code), **printed)


def main(replies: int) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeline_web.settings")
    django.setup()
    with os.fdopen(replies, "w") as told:
        for line in sys.stdin:
            data_dir, arguments, allowed_hosts = json.loads(line)
            print(_exit_code(Path(data_dir), arguments, allowed_hosts), file=told, flush=True)


def _exit_code(data_dir: Path, arguments: list[str], allowed_hosts: list[str]) -> Any:
    try:
        with override_settings(DATA_DIR=data_dir, FILE_ROOTS=[data_dir / "files"], HTTP_ALLOWED_HOSTS=allowed_hosts):
            execute_from_command_line([str(ROOT / "manage.py"), *arguments])
    except SystemExit as ended:
        return ended.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    main(int(sys.argv[1]))
