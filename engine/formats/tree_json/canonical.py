"""The canonical encoding of a queue tree: equal trees encode to the same bytes, whatever the order of their queues."""

import msgspec

from engine.model.placement_rules import Rule
from engine.model.quantities import Amounts
from engine.model.queue_tree import WEIGHT_ONE, Queue, QueueTree, Settings

FORM = 5
"""Version of the encoding, increased when older readers would misread a change.

A tree is written in the oldest version that can express it: 2 adds placement rules and templates, 3 percentages, 4
lending and preemption settings, 5 former paths.
"""


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    form: int
    queues: tuple[Queue, ...]
    placement: tuple[Rule, ...] = ()
    capacity: Amounts = {}


_decoder = msgspec.json.Decoder(_Document)


def encode_tree(tree: QueueTree) -> bytes:
    """Encode a tree as canonical JSON: queues ordered by path, keys sorted, defaults left out."""
    queues = sorted(tree.queues.values(), key=lambda queue: queue.path.split("."))
    return msgspec.json.encode(_Document(_form(tree), tuple(queues), tree.placement, tree.capacity), order="sorted")


def _form(tree: QueueTree) -> int:
    queues = tree.queues.values()
    templates = [queue.template for queue in queues if queue.template is not None]
    if any(queue.former_paths for queue in queues):
        return 5
    if any(_has_sharing(one) for one in (*queues, *templates)):
        return 4
    if any(_has_shares(one) for one in (*queues, *templates)):
        return 3
    return 2 if tree.placement or templates else 1


def _has_sharing(settings: Settings) -> bool:
    return bool(
        settings.weight != WEIGHT_ONE
        or settings.lendable
        or settings.take_within
        or settings.take_reclaim
        or settings.take_borrowing is not None
        or settings.take_threshold is not None
    )


def _has_shares(settings: Settings) -> bool:
    return bool(settings.guaranteed_share or settings.max_share)


def decode_tree(data: bytes) -> QueueTree:
    """Decode a tree that ``encode_tree`` wrote.

    Raise msgspec.DecodeError for other bytes, ValueError for a version that is newer than this one, and TreeError if
    the queues form no tree.
    """
    document = _decoder.decode(data)
    if not 1 <= document.form <= FORM:
        raise ValueError(f"the tree is in form {document.form}, this version reads forms up to {FORM}")
    return QueueTree(document.queues, document.placement, document.capacity)
