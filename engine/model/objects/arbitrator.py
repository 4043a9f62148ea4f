"""What a cluster says of its Consumers, and of what they were told last: Consumer and Allocation of kube-arbitrator."""

from typing import NamedTuple

import msgspec


class Consumer(msgspec.Struct, frozen=True, kw_only=True):
    """That a namespace has one; what it says becomes the tree's when somebody takes it over."""

    namespace: str
    name: str


class AllocationCondition(NamedTuple):
    """A condition on an Allocation."""

    type: str
    status: str
    reason: str
    message: str
    since: str
    """When its status became what it is, as the API server writes times."""


class Allocation(msgspec.Struct, frozen=True, kw_only=True):
    """What a namespace deserves, as it was written there; amounts as the API server has them."""

    namespace: str
    name: str
    deserved: dict[str, str] = {}
    hard: dict[str, str] = {}
    reserved: dict[str, str] = {}
    conditions: tuple[AllocationCondition, ...] = ()
