"""What Volcano divides a cluster by: its Queues, what their pods ask and hold, and how it is configured.

Source of the names and rules: Volcano's API, scheduling.volcano.sh/v1beta1, and its scheduler's configuration.
"""

from enum import StrEnum

import msgspec

from engine.resources import Amounts


class SharePlugin(StrEnum):
    """By which plugin of Volcano's queues get their shares."""

    PROPORTION = "proportion"
    CAPACITY = "capacity"


class VolcanoQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A Queue as its spec has it; a resource that is missing in ``capability`` is not limited."""

    name: str
    parent: str = ""
    weight: int = 1
    capability: Amounts = {}
    guarantee: Amounts = {}
    deserved: Amounts = {}


class VolcanoCluster(msgspec.Struct, frozen=True, kw_only=True):
    """A session of Volcano's scheduler, as far as shares go."""

    plugin: SharePlugin
    hierarchical: bool = False
    """Whether the queues are a tree; only the plugin ``capacity`` can have it so."""
    queues: dict[str, VolcanoQueue]
    total: Amounts
    """Of all nodes that are ready, whoever uses them."""
    requests: dict[str, Amounts]
    """Queue -> what its pods ask, running and pending together; a queue without a PodGroup is missing."""
    allocated: dict[str, Amounts]
    """Queue -> what its pods hold of that."""
