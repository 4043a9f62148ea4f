"""What lint checks for one policy in one dialect. Each policy names its rules, as it names its reach."""

from collections.abc import Callable, Iterator

import msgspec

from engine.model.notes import Note
from engine.model.queue_tree import QueueTree


class LintRules(msgspec.Struct, frozen=True, kw_only=True):
    """What is checked under a policy, besides what is checked in every tree. No field has a default."""

    policy: str
    flavors: bool
    """Whether it can decide by amounts of a resource in one flavor of nodes."""
    lending: Callable[[QueueTree], Iterator[Note]] | None
    """Checks the settings about lending; None: nothing is lent."""
    amounts: bool
    """Whether guarantees and maxes decide about preemption, so that they must not contradict each other."""
    claims: bool
    """Whether the tree alone determines who may preempt whom, so that a guarantee can be out of reach for good."""
    quotas: bool
    """Whether what ResourceQuotas of namespaces leave is compared with the tree."""
    yunikorn_decides: bool
    """Whether YuniKorn itself decides by the tree: what it refuses is an error."""
    yunikorn_alike: bool
    """Whether YuniKorn could decide by the tree too: what it would refuse is a warning."""
