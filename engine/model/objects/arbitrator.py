"""Objects of kube-arbitrator: Consumers, and the Allocations that were last written for them."""

from typing import NamedTuple

import msgspec


class Consumer(msgspec.Struct, frozen=True, kw_only=True):
    """A Consumer of a namespace. Its settings become part of the queue tree only once somebody takes them over."""

    namespace: str
    name: str


class AllocationCondition(NamedTuple):
    """A condition on an Allocation."""

    type: str
    status: str
    reason: str
    message: str
    since: str
    """When the status last changed, as the API server writes times."""


class Allocation(msgspec.Struct, frozen=True, kw_only=True):
    """What a namespace deserves, as last written to the cluster. Amounts are in the API server's notation."""

    namespace: str
    name: str
    deserved: dict[str, str] = {}
    hard: dict[str, str] = {}
    reserved: dict[str, str] = {}
    conditions: tuple[AllocationCondition, ...] = ()
