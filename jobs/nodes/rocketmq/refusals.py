"""What a broker's no means, in words. Codes: org.apache.rocketmq.remoting.protocol.ResponseCode."""

from __future__ import annotations

import re
from collections.abc import Iterable

from jobs.nodes.base import NodeError
from jobs.nodes.going_on import JOB_GOES_ON

TOPIC_NOT_THERE = 17
_SYSTEM_ERROR = 1
_BUSY = {2, 14, 215}
_NOT_ALLOWED = 16
_NO_GROUP = 26
_LONGEST = 300
_NAMED = 20
#: Topics that RocketMQ makes for itself.
_OWN = re.compile(
    r"(%RETRY%|%DLQ%|rmq_sys_|RMQ_SYS_|TRANS_CHECK_|SCHEDULE_TOPIC|SELF_TEST|OFFSET_MOVED|BenchmarkTest|TBW102).*|.*(_REPLY_TOPIC|Cluster)"
)


def refusal_words(act: str, code: int, remark: str) -> NodeError:
    """`act` begins the sentence."""
    told = shortened(remark)
    if code == _NOT_ALLOWED:
        remedy = "correct access key and secret of the connection, or have the right granted"
        return NodeError(f"{act}: this is not allowed ({told}); {remedy}", permanent=True, kind="user")
    if code == TOPIC_NOT_THERE:
        return NodeError(f"{act}: the topic does not exist ({told}); create it, or correct its name", kind="user", field="topic")
    if code == _NO_GROUP:
        remedy = "create it on the brokers, or name another"
        return NodeError(f"{act}: the consumer group does not exist ({told}); {remedy}", permanent=True, kind="user", field="group_id")
    if code in _BUSY:
        return NodeError(f"{act}: the broker is too busy ({told}){JOB_GOES_ON}")
    return NodeError(f"{act}: the broker refused ({code}: {told})")


def is_passing(code: int) -> bool:
    """Whether the same request may be taken later."""
    return code in _BUSY or code == _SYSTEM_ERROR


def shortened(remark: str) -> str:
    """The first line, without where to read more."""
    return re.split(r"\n|\s*See https?://|\s*BROKER: ", remark, maxsplit=1)[0].strip().rstrip(".,")[:_LONGEST] or "no reason given"


def topics_words(topics: Iterable[str]) -> str:
    """Those that people made, as far as can be told by their names."""
    named = sorted(topic for topic in topics if not _OWN.fullmatch(topic))
    return (", ".join(named[:_NAMED]) + (", …" if len(named) > _NAMED else "")) if named else "there is none"
