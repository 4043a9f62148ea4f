"""Decoders for the documents of YuniKorn's REST API.

Source: getEvents and getPartitionQueues in yunikorn-core's pkg/webservice/handlers.go, EventRecordDAO and
PartitionQueueDAOInfo in its pkg/webservice/dao, and EventRecord in yunikorn-scheduler-interface's si.proto.
"""

import msgspec

from engine.formats.tree_json.durations import DurationError, parse_duration
from engine.formats.undecodable import UNDECODABLE
from engine.formats.yunikorn.fields import our_resource
from engine.formats.yunikorn.preemption_message import PreemptionMessage, parse_message
from engine.model.quantities import Amounts

_REQUEST = 1
"""EventRecord_REQUEST: the event is about a request, or about the allocation made for it."""
_NS_PER_MS = 1_000_000
_DEEPEST = 100
"""Number of levels of queues that are read; paths are limited to 500 characters anyway."""


class ForeignAnswerError(ValueError):
    """A response that does not come from YuniKorn. Its ``str()`` is a sentence without the final period."""

    def __init__(self) -> None:
        super().__init__("the response is not from YuniKorn")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """An event that reports a preemption."""

    uid: str
    """Uid of the victim."""
    at_ms: int
    preemption: PreemptionMessage


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the events that YuniKorn stores, in order; their ids are consecutive."""

    instance: str
    """Identifier of YuniKorn's process; after a restart it differs, and event ids start again."""
    lowest: int
    highest: int
    count: int
    """Number of events in the batch, whatever they are about."""
    preempted: tuple[Record, ...]


class TheirQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A queue as YuniKorn reports it, in our resource names and units."""

    path: str
    allocated: Amounts
    guaranteed: Amounts
    max: Amounts
    preempting: Amounts
    leaf: bool
    fence: bool
    disabled: bool
    """Whether preemption is disabled for the queue, by itself or by a queue above it."""
    delay_ms: int | None
    """Preemption delay; None if it is missing or can't be read."""


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


class _ReportedQueue(msgspec.Struct, frozen=True, rename="camel"):
    name: str = msgspec.field(name="queuename")
    allocated_resource: dict[str, int] | None = None
    guaranteed_resource: dict[str, int] | None = None
    max_resource: dict[str, int] | None = None
    preempting_resource: dict[str, int] | None = None
    is_leaf: bool | str = False
    is_preemption_fence: bool = False
    preemption_enabled: bool = True
    preemption_delay: str = ""
    children: list["_ReportedQueue"] | None = None


def read_batch(data: bytes) -> Batch:
    """Decode the response of ``/ws/v1/events/batch``. Raise ForeignAnswerError."""
    try:
        batch = msgspec.json.decode(data, type=_Batch)
    except UNDECODABLE:
        raise ForeignAnswerError from None
    records = batch.event_records or []
    messages = (
        (record, parse_message(record.message)) for record in records if record.type == _REQUEST and record.object_id
    )
    return Batch(
        instance=batch.instance,
        lowest=batch.lowest_id,
        highest=batch.highest_id,
        count=len(records),
        preempted=tuple(
            Record(uid=record.object_id, at_ms=record.timestamp_nano // _NS_PER_MS, preemption=message)
            for record, message in messages
            if message is not None
        ),
    )


def read_queues(data: bytes) -> tuple[TheirQueue, ...]:
    """Decode the response of ``/ws/v1/partition/default/queues``, the root first. Raise ForeignAnswerError.

    The response is a queue that contains all others or, as YuniKorn's documentation describes it, a list of that queue.
    """
    try:
        answer = msgspec.json.decode(data, type=_ReportedQueue | list[_ReportedQueue])
    except UNDECODABLE:
        raise ForeignAnswerError from None
    level = answer if isinstance(answer, list) else [answer]
    queues: list[TheirQueue] = []
    for _ in range(_DEEPEST):
        queues += [_queue(queue) for queue in level]
        level = [child for queue in level for child in queue.children or []]
    return tuple(queues)


def _queue(queue: _ReportedQueue) -> TheirQueue:
    try:
        delay_ms = parse_duration(queue.preemption_delay)
    except DurationError:
        delay_ms = None
    return TheirQueue(
        path=queue.name,
        allocated=_amounts(queue.allocated_resource),
        guaranteed=_amounts(queue.guaranteed_resource),
        max=_amounts(queue.max_resource),
        preempting=_amounts(queue.preempting_resource),
        leaf=str(queue.is_leaf).lower() == "true",
        fence=queue.is_preemption_fence,
        disabled=not queue.preemption_enabled,
        delay_ms=delay_ms,
    )


def _amounts(amounts: dict[str, int] | None) -> Amounts:
    return {our_resource(name): amount for name, amount in (amounts or {}).items()}
