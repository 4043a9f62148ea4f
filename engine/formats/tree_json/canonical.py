"""The canonical encoding of a queue tree: equal trees encode to the same bytes, whatever the order of their queues."""

from collections.abc import Iterable

import msgspec

from engine.formats.tree_json.percentages import FIELDS, shares_of
from engine.model.placement_rules import Rule
from engine.model.quantities import Amounts
from engine.model.queue_settings import SETTINGS, TEMPLATE_SETTINGS, QueueSetting
from engine.model.queue_tree import Queue, QueueTree, Settings

FORM = max(setting.form for setting in SETTINGS)
"""Version of the encoding, increased when older readers would misread a change.

A tree is written in the oldest version that can express it: 2 adds placement rules and templates, 3 percentages, and a
setting says itself which version has it.
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
    form = 2 if tree.placement or templates else 1
    for settings in queues:
        form = max(form, _form_of(settings, SETTINGS))
    for template in templates:
        form = max(form, _form_of(template, TEMPLATE_SETTINGS))
    return form


def _form_of(settings: Settings, known: Iterable[QueueSetting]) -> int:
    """Return the oldest version that can express these settings."""
    forms = (setting.form for setting in known if setting.form > 1 and setting.is_set(settings))
    return max(forms, default=3 if any(shares_of(settings, field) for field in FIELDS) else 1)


def decode_tree(data: bytes) -> QueueTree:
    """Decode a tree that ``encode_tree`` wrote.

    Raise msgspec.DecodeError for other bytes, ValueError for a version that is newer than this one, and TreeError if
    the queues form no tree.
    """
    document = _decoder.decode(data)
    if not 1 <= document.form <= FORM:
        raise ValueError(f"the tree is in form {document.form}, this version reads forms up to {FORM}")
    return QueueTree(document.queues, document.placement, document.capacity)
