"""Placement rules of a tree as data: how pods find their leaf, and which leaves are created along with their pods."""

from enum import StrEnum
from typing import Optional

import msgspec


class RuleName(StrEnum):
    """Where a rule takes the name of a queue from."""

    PROVIDED = "provided"
    """The pod's queue label."""
    USER = "user"
    TAG = "tag"
    """A value of the pod's namespace: see ``TAGS``."""
    FIXED = "fixed"
    """The rule itself."""


NAMESPACE_TAG = "namespace"
"""The tag whose value is the name of the pod's namespace."""
PARENT_QUEUE_TAG = "namespace.parentqueue"
"""The tag whose value is the annotation ``yunikorn.apache.org/parentqueue`` of the pod's namespace."""
TAGS = (NAMESPACE_TAG, PARENT_QUEUE_TAG)
"""The tags that pods have here; a rule with any other tag never places a pod."""

DEEPEST_RULE = 10
"""How many rules may be nested as parents of each other."""


class Filter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whose pods a rule applies to. Users and groups are names; a single entry may be an expression instead."""

    deny: bool = False
    """Whether the rule applies to all users except those that are listed."""
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class Rule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A placement rule. Of several rules, the first that gives a leaf counts."""

    name: RuleName
    value: str = ""
    """For ``tag`` the tag; for ``fixed`` the queue: below the parent, or from the root on if it begins with root."""
    create: bool = False
    """Whether the queue is created if the tree lacks it; otherwise the rule then gives nothing."""
    filter: Filter = Filter()
    parent: Optional["Rule"] = None
    """The rule that gives the queue above; None: the root."""
