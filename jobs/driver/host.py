"""What an attempt asks of the driver process around it."""

from typing import TYPE_CHECKING, Protocol

from pyspark.sql import SparkSession

from jobs.reporting import Writer

if TYPE_CHECKING:
    from jobs.driver.attempt import Attempt


class Host(Protocol):
    """The driver process around an attempt."""

    spark: SparkSession
    writer: Writer
    name: str

    def attempt_ended(self, attempt: "Attempt") -> None: ...

    def give_up(self, reason: str) -> None:
        """Let the other executions go, then end the process."""

    def spark_died(self) -> bool: ...
