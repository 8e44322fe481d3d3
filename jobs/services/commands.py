"""Commands as the driver that holds an execution takes and settles them."""

from django.db.models import Q
from django.utils import timezone

from jobs.dag.storable import storable
from jobs.models import LEASED, Command, CommandStatus, Driver


def commands_take(*, driver: Driver) -> list[Command]:
    """What was asked since the last time of the executions that this driver holds, oldest first; each is handed out once."""
    mine = Q(execution__driver=driver, execution__status__in=LEASED)
    waiting = Command.objects.filter(mine, status=CommandStatus.PENDING).order_by("id")
    return [
        command
        for command in waiting
        if Command.objects.filter(pk=command.pk, status=CommandStatus.PENDING).update(status=CommandStatus.TAKEN, take_time=timezone.now())
    ]


def commands_again(*, execution_id: str) -> None:
    """A new attempt hears again what an earlier one took and did not settle."""
    Command.objects.filter(execution_id=execution_id, status=CommandStatus.TAKEN).update(status=CommandStatus.PENDING, take_time=None)


def command_settle(*, command: Command, done: bool, result: str) -> None:
    """It was done, or refused for the reason in `result`."""
    status = CommandStatus.DONE if done else CommandStatus.REFUSED
    Command.objects.filter(pk=command.pk, status=CommandStatus.TAKEN).update(
        status=status, done_time=timezone.now(), result=storable(result)
    )
