"""Decoders of Consumers and Allocations in JSON, as a watch delivers them; the only error they raise is DecodeError.

Source: the kinds Consumer and Allocation of the proposal of k8s-arbitrator.
"""

from engine.formats.kubernetes.reader import Reader
from engine.formats.kubernetes.wire import ObjectMeta, Quantities, Wire
from engine.model.objects import Allocation, AllocationCondition, Consumer


class _ConditionObject(Wire, frozen=True):
    type: str
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str = ""


class _Status(Wire, frozen=True):
    conditions: tuple[_ConditionObject, ...] | None = None


class _Amounts(Wire, frozen=True):
    deserved: Quantities | None = None
    hard: Quantities | None = None
    reserved: Quantities | None = None


class _ConsumerObject(Wire, frozen=True):
    metadata: ObjectMeta


class _AllocationObject(Wire, frozen=True):
    metadata: ObjectMeta
    spec: _Amounts | None = None
    status: _Status | None = None


def _to_consumer(obj: _ConsumerObject) -> Consumer:
    return Consumer(namespace=obj.metadata.namespace or "default", name=obj.metadata.name or "")


def _to_allocation(obj: _AllocationObject) -> Allocation:
    spec, meta = obj.spec or _Amounts(), obj.metadata
    conditions = (obj.status.conditions if obj.status else None) or ()
    return Allocation(
        namespace=meta.namespace or "default",
        name=meta.name or "",
        deserved=_texts(spec.deserved),
        hard=_texts(spec.hard),
        reserved=_texts(spec.reserved),
        conditions=tuple(
            AllocationCondition(
                condition.type, condition.status, condition.reason, condition.message, condition.last_transition_time
            )
            for condition in conditions
        ),
    )


def _texts(amounts: Quantities | None) -> dict[str, str]:
    return {name: str(amount) for name, amount in (amounts or {}).items()}


CONSUMER_READER = Reader("Consumer", _ConsumerObject, _to_consumer)
ALLOCATION_READER = Reader("Allocation", _AllocationObject, _to_allocation)
