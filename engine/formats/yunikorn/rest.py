"""The documents of YuniKorn's REST interface that are read here.

Source: getEvents and getPartitionQueues in yunikorn-core's pkg/webservice/handlers.go, EventRecordDAO and
PartitionQueueDAOInfo in its pkg/webservice/dao, and EventRecord in yunikorn-scheduler-interface's si.proto.
"""

import msgspec

from engine.formats.tree_json.durations import DurationError, parse_duration
from engine.formats.undecodable import UNDECODABLE
from engine.formats.yunikorn.fields import our_resource
from engine.formats.yunikorn.preemption_message import PreemptedFor, told
from engine.model.quantities import Amounts

_REQUEST = 1
"""EventRecord_REQUEST: what the event is about is a request, or what was allocated to one."""
_NS_PER_MS = 1_000_000
_DEEPEST = 100
"""So many queues one below the other are read; paths are bounded to 500 characters anyway."""


class ForeignAnswerError(ValueError):
    """An answer that is none of YuniKorn's. ``str()`` is a sentence without its stop."""

    def __init__(self) -> None:
        super().__init__("what answers there does not answer as YuniKorn does")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One event that tells of a preemption."""

    uid: str
    """The victim's."""
    at_ms: int
    told: PreemptedFor


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the events that YuniKorn keeps, in order; their ids have no gaps."""

    instance: str
    """Another one after each start, and with it ids begin anew."""
    lowest: int
    highest: int
    count: int
    """How many there were, whatever they are about."""
    preempted: tuple[Record, ...]


class TheirQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A queue as YuniKorn has it, in our resource names and units."""

    path: str
    allocated: Amounts
    guaranteed: Amounts
    max: Amounts
    preempting: Amounts
    leaf: bool
    fence: bool
    disabled: bool
    """Also where a queue above says so."""
    delay_ms: int | None
    """None where it says nothing that can be read."""


class _EventRecord(msgspec.Struct, frozen=True, rename="camel"):
    type: int = 0
    object_id: str = msgspec.field(name="objectID", default="")
    message: str = ""
    timestamp_nano: int = 0


class _Batch(msgspec.Struct, frozen=True, rename="pascal"):
    lowest_id: int = msgspec.field(name="LowestID")
    highest_id: int = msgspec.field(name="HighestID")
    instance: str = msgspec.field(name="InstanceUUID", default="")
    event_records: list[_EventRecord] | None = None


class _Queue(msgspec.Struct, frozen=True, rename="camel"):
    name: str = msgspec.field(name="queuename")
    allocated_resource: dict[str, int] | None = None
    guaranteed_resource: dict[str, int] | None = None
    max_resource: dict[str, int] | None = None
    preempting_resource: dict[str, int] | None = None
    is_leaf: bool | str = False
    is_preemption_fence: bool = False
    preemption_enabled: bool = True
    preemption_delay: str = ""
    children: list["_Queue"] | None = None


def read_batch(data: bytes) -> Batch:
    """What ``/ws/v1/events/batch`` answers. Raises ForeignAnswerError."""
    try:
        found = msgspec.json.decode(data, type=_Batch)
    except UNDECODABLE:
        raise ForeignAnswerError from None
    records = found.event_records or []
    told_of = ((one, told(one.message)) for one in records if one.type == _REQUEST and one.object_id)
    return Batch(
        instance=found.instance,
        lowest=found.lowest_id,
        highest=found.highest_id,
        count=len(records),
        preempted=tuple(
            Record(uid=one.object_id, at_ms=one.timestamp_nano // _NS_PER_MS, told=says)
            for one, says in told_of
            if says is not None
        ),
    )


def read_queues(data: bytes) -> tuple[TheirQueue, ...]:
    """What ``/ws/v1/partition/default/queues`` answers, the root first. Raises ForeignAnswerError.

    One queue that holds all others, or as its documentation has it a list of that one.
    """
    try:
        found = msgspec.json.decode(data, type=_Queue | list[_Queue])
    except UNDECODABLE:
        raise ForeignAnswerError from None
    level = found if isinstance(found, list) else [found]
    queues: list[TheirQueue] = []
    for _ in range(_DEEPEST):
        queues += [_queue(one) for one in level]
        level = [child for one in level for child in one.children or []]
    return tuple(queues)


def _queue(found: _Queue) -> TheirQueue:
    try:
        delay_ms = parse_duration(found.preemption_delay)
    except DurationError:
        delay_ms = None
    return TheirQueue(
        path=found.name,
        allocated=_amounts(found.allocated_resource),
        guaranteed=_amounts(found.guaranteed_resource),
        max=_amounts(found.max_resource),
        preempting=_amounts(found.preempting_resource),
        leaf=str(found.is_leaf).lower() == "true",
        fence=found.is_preemption_fence,
        disabled=not found.preemption_enabled,
        delay_ms=delay_ms,
    )


def _amounts(given: dict[str, int] | None) -> Amounts:
    return {our_resource(name): amount for name, amount in (given or {}).items()}
