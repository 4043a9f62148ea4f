"""A queue tree in its canonical form: the same tree gives the same bytes, in whatever order its queues were given."""

import msgspec

from engine.model.placement_rules import Rule
from engine.model.quantities import Amounts
from engine.model.queue_tree import WEIGHT_ONE, Queue, QueueTree, Settings

FORM = 5
"""Counted up when the form changes in a way that older readers would misread. A tree is written in the first that can
say it: 2 has placement rules and templates, 3 shares, 4 how queues lend and take, 5 former paths."""


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    form: int
    queues: tuple[Queue, ...]
    placement: tuple[Rule, ...] = ()
    capacity: Amounts = {}


_decoder = msgspec.json.Decoder(_Document)


def encode_tree(tree: QueueTree) -> bytes:
    """Canonical JSON: queues by path, keys sorted, defaults left out."""
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
    """Read what ``encode_tree`` wrote.

    Raises msgspec.DecodeError for other bytes, ValueError for a form of a later version, TreeError for no tree.
    """
    document = _decoder.decode(data)
    if not 1 <= document.form <= FORM:
        raise ValueError(f"the tree is in form {document.form}, this version reads forms up to {FORM}")
    return QueueTree(document.queues, document.placement, document.capacity)
