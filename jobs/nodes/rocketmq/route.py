"""Where a topic's queues are, and which brokers there are, as a name server tells it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_READ, _WRITE = 4, 2
_MASTER = "0"
#: Name servers before 5.0 write broker numbers as keys without quotes.
_BARE_KEY = re.compile(rb"([{,])(\d+):")


@dataclass(frozen=True, order=True)
class Queue:
    """One queue of a topic; its text is how offsets name it."""

    broker: str
    number: int

    def __str__(self) -> str:
        return f"{self.broker}/{self.number}"

    @classmethod
    def of_text(cls, text: str) -> Queue:
        """ValueError where `text` names no queue."""
        broker, slash, number = text.rpartition("/")
        if not slash or not broker or not number.isdecimal():
            raise ValueError(f'"{text[:100]}" is no queue: write broker/number, such as broker-a/0')
        return cls(broker, int(number))


@dataclass(frozen=True)
class Route:
    """`addresses`: broker → address of its master, of those that are there now."""

    addresses: Mapping[str, str]
    readable: tuple[Queue, ...] = ()
    writable: tuple[Queue, ...] = ()


def told_json(body: bytes) -> Any:
    """What a name server wrote; ValueError where it is no JSON even when its bare keys are quoted."""
    try:
        return json.loads(body)
    except ValueError:
        return json.loads(_BARE_KEY.sub(rb'\1"\2":', body))


def route_of(body: bytes) -> Route:
    """Queues of brokers whose master is not there are left out."""
    told = told_json(body)
    addresses = {broker["brokerName"]: broker["brokerAddrs"][_MASTER] for broker in told["brokerDatas"] if _MASTER in broker["brokerAddrs"]}

    def queues(permission: int, count: str) -> tuple[Queue, ...]:
        there = [data for data in told["queueDatas"] if data["brokerName"] in addresses and int(data["perm"]) & permission]
        return tuple(sorted(Queue(data["brokerName"], number) for data in there for number in range(int(data[count]))))

    return Route(addresses, queues(_READ, "readQueueNums"), queues(_WRITE, "writeQueueNums"))


def masters_of(body: bytes) -> dict[str, str]:
    """Broker → address of its master, of a whole cluster."""
    told = told_json(body)
    table = told.get("brokerAddrTable") or {}
    return {name: data["brokerAddrs"][_MASTER] for name, data in sorted(table.items()) if _MASTER in data["brokerAddrs"]}
