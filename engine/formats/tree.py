"""A queue tree in its canonical form: the same tree gives the same bytes, in whatever order its queues were given."""

import msgspec

from engine.placement_rules import Rule
from engine.queues import Queue, QueueTree

FORM = 2
"""Counted up when the form changes in a way that older readers would misread. A tree is written in the first that can
say it: 2 has placement rules and templates."""


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    form: int
    queues: tuple[Queue, ...]
    placement: tuple[Rule, ...] = ()


_decoder = msgspec.json.Decoder(_Document)


def encode_tree(tree: QueueTree) -> bytes:
    """Canonical JSON: queues by path, keys sorted, defaults left out."""
    queues = sorted(tree.queues.values(), key=lambda queue: queue.path.split("."))
    form = 2 if tree.placement or any(queue.template is not None for queue in queues) else 1
    return msgspec.json.encode(_Document(form, tuple(queues), tree.placement), order="sorted")


def decode_tree(data: bytes) -> QueueTree:
    """Read what ``encode_tree`` wrote.

    Raises msgspec.DecodeError for other bytes, ValueError for a form of a later version, TreeError for no tree.
    """
    document = _decoder.decode(data)
    if not 1 <= document.form <= FORM:
        raise ValueError(f"the tree is in form {document.form}, this version reads forms up to {FORM}")
    return QueueTree(document.queues, document.placement)
