"""Placement rules of a tree, as data: how pods find their leaf, and which leaves come into being with their pods."""

from enum import StrEnum
from typing import Optional

import msgspec


class RuleName(StrEnum):
    """What a rule takes a queue's name from."""

    PROVIDED = "provided"
    """The pod's queue label."""
    USER = "user"
    TAG = "tag"
    """What a pod's namespace says: see ``TAGS``."""
    FIXED = "fixed"
    """The rule itself."""


NAMESPACE_TAG = "namespace"
"""The name of the pod's namespace."""
PARENT_QUEUE_TAG = "namespace.parentqueue"
"""What the annotation ``yunikorn.apache.org/parentqueue`` of the pod's namespace says."""
TAGS = (NAMESPACE_TAG, PARENT_QUEUE_TAG)
"""The tags that pods have here; a rule on another one never places anything."""

DEEPEST_RULE = 10
"""So many rules may be each other's parents."""


class Filter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whose pods a rule is for. Users and groups are names; a single one may be an expression instead."""

    deny: bool = False
    """Whether it is for all but those that are listed."""
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class Rule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One rule; of several the first that gives a leaf counts."""

    name: RuleName
    value: str = ""
    """Of ``tag`` the tag, of ``fixed`` the queue: below the parent, or from the root on where it begins with root."""
    create: bool = False
    """Whether the queue comes into being where the tree does not have it; else the rule gives nothing then."""
    filter: Filter = Filter()
    parent: Optional["Rule"] = None
    """The rule that gives the queue above; none: the root."""
