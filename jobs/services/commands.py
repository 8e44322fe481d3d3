"""Commands as the driver that holds an execution takes and settles them."""

from collections.abc import Iterator

from django.db.models import Q
from django.utils import timezone

from jobs.dag.storable import storable
from jobs.models import LEASED, Command, CommandKind, CommandStatus, Driver

_STOPS = (CommandKind.STOP, CommandKind.CANCEL, CommandKind.FORCE_CANCEL)


def commands_take(*, driver: Driver) -> Iterator[Command]:
    """What was asked since the last time of the executions that this driver holds, oldest first; each is taken as it is handed out.

    Each is handed out once, but a stop until it is settled: the database's answer that it was taken may have been lost on its way.
    """
    open_ones = Q(status=CommandStatus.PENDING) | Q(status=CommandStatus.TAKEN, kind__in=_STOPS)
    mine = Q(execution__driver=driver, execution__status__in=LEASED)
    for command in list(Command.objects.filter(open_ones, mine).order_by("id")):
        if command.status == CommandStatus.TAKEN or _taken(command):
            yield command


def _taken(command: Command) -> bool:
    waiting = Command.objects.filter(pk=command.pk, status=CommandStatus.PENDING)
    return bool(waiting.update(status=CommandStatus.TAKEN, take_time=timezone.now()))


def commands_again(*, execution_id: str) -> None:
    """A new attempt hears again what an earlier one took and did not settle."""
    Command.objects.filter(execution_id=execution_id, status=CommandStatus.TAKEN).update(status=CommandStatus.PENDING, take_time=None)


def command_settle(*, command: Command, done: bool, result: str) -> None:
    """It was done, or refused for the reason in `result`."""
    status = CommandStatus.DONE if done else CommandStatus.REFUSED
    Command.objects.filter(pk=command.pk, status=CommandStatus.TAKEN).update(
        status=status, done_time=timezone.now(), result=storable(result)
    )
