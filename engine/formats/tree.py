"""A queue tree in its canonical form: the same tree gives the same bytes, in whatever order its queues were given."""

import msgspec

from engine.queues import Queue, QueueTree

FORM = 1
"""Counted up when the form changes in a way that older readers would misread."""


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    form: int
    queues: tuple[Queue, ...]


_decoder = msgspec.json.Decoder(_Document)


def encode_tree(tree: QueueTree) -> bytes:
    """Canonical JSON: queues by path, keys sorted, defaults left out."""
    queues = sorted(tree.queues.values(), key=lambda queue: queue.path.split("."))
    return msgspec.json.encode(_Document(FORM, tuple(queues)), order="sorted")


def decode_tree(data: bytes) -> QueueTree:
    """Read what ``encode_tree`` wrote.

    Raises msgspec.DecodeError for other bytes, ValueError for a form of a later version, TreeError for no tree.
    """
    document = _decoder.decode(data)
    if document.form != FORM:
        raise ValueError(f"the tree is in form {document.form}, this version reads form {FORM}")
    return QueueTree(document.queues)
