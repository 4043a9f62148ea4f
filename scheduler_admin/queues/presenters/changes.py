"""What changes between two trees, in lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from engine.explain import Message
from engine.formats.tree_json.diff import QueueChange, Setting, describe_change
from scheduler_admin.queues.presenters.setting_words import beside

MOST = 50
"""The most lines of a list; the rest is counted."""
T = TypeVar("T")


@dataclass(frozen=True)
class Lines(Generic[T]):
    """The lines of a list, and how many more there are."""

    shown: Sequence[T]
    more: int


def changed(changes: Sequence[QueueChange], others: Sequence[Setting] = ()) -> Lines[Message]:
    """Return the changes in words: first those of the tree as a whole, then those of its queues."""
    found = [message for setting in others for message in beside(setting)]
    found += [message for change in changes[:MOST] for message in describe_change(change)]
    return Lines(found, max(0, len(changes) - MOST))
