"""Conversion between how Kueue's objects lend and preempt and the settings of a queue.

The fields are fairSharing, and a ClusterQueue's preemption; a preemption field that a ClusterQueue omits is Never.
Source: ClusterQueuePreemption and FairSharing of Kueue's API.
"""

import re
from collections.abc import Mapping
from typing import Any

from ruamel.yaml.comments import CommentedMap

from engine.formats.kueue.queue_names import CLUSTER_QUEUE
from engine.formats.tree_json.amounts import AmountError
from engine.formats.tree_json.weights import as_quantity, read_weight
from engine.formats.yaml.documents import line_of, mapping_at, note_others
from engine.formats.yaml.object_list import Fields, Object
from engine.model.message import gettext_noop
from engine.model.notes import NoteCollector, Severity
from engine.model.queue_tree import TAKES_RECLAIM, TAKES_WITHIN, WEIGHT_ONE, Queue, Take

FAIR_SHARING, PREEMPTION = "fairSharing", "preemption"
_WEIGHT, _WITHIN, _RECLAIM = "weight", "withinClusterQueue", "reclaimWithinCohort"
_BORROW, _POLICY, _THRESHOLD = "borrowWithinCohort", "policy", "maxPriorityThreshold"
_BORROWS = (Take.NEVER, Take.LOWER_PRIORITY)
REMOVABLE_FIELD = (PREEMPTION, _BORROW, _THRESHOLD)
"""Path of field names to the only nested field that is removed by itself."""
_INTEGER = re.compile(r"[+-]?[0-9]{1,10}")


def rule_fields(kind: str) -> set[str]:
    """Return the spec fields of a kind that hold its lending and preemption rules."""
    return {FAIR_SHARING, PREEMPTION} if kind == CLUSTER_QUEUE else {FAIR_SHARING}


def read_rules(obj: Object, path: str, book: NoteCollector) -> dict[str, Any]:
    """Return the rules of an object as fields of a queue's Settings; an unreadable value is an error at its line."""
    sharing = mapping_at(obj.spec, FAIR_SHARING, path, book)
    note_others(sharing, {_WEIGHT}, path, book)
    weight = {"weight": _weight(sharing, path, book)}
    return weight | _preemption(obj.spec, path, book) if obj.kind == CLUSTER_QUEUE else weight


def _preemption(spec: Mapping[str, Any], path: str, book: NoteCollector) -> dict[str, Any]:
    fields = mapping_at(spec, PREEMPTION, path, book)
    borrow = mapping_at(fields, _BORROW, path, book)
    note_others(fields, {_WITHIN, _RECLAIM, _BORROW}, path, book)
    note_others(borrow, {_POLICY, _THRESHOLD}, path, book)
    return {
        "take_within": _take(fields, _WITHIN, TAKES_WITHIN, path, book),
        "take_reclaim": _take(fields, _RECLAIM, TAKES_RECLAIM, path, book),
        "take_borrowing": _take(borrow, _POLICY, _BORROWS, path, book) is not Take.NEVER,
        "take_threshold": _threshold(borrow, path, book),
    }


def _weight(sharing: Mapping[str, Any], path: str, book: NoteCollector) -> int:
    value = sharing.get(_WEIGHT)
    if value is None:
        return WEIGHT_ONE
    try:
        return read_weight(str(value))
    except AmountError as error:
        book.add(Severity.ERROR, path, line_of(sharing, _WEIGHT), error.sentence)
        return WEIGHT_ONE


def _take(fields: Mapping[str, Any], field: str, known: tuple[Take, ...], path: str, book: NoteCollector) -> Take:
    value = fields.get(field) or Take.NEVER
    if value not in known:
        message = gettext_noop("%(value)s is not allowed. Allowed values: %(known)s.")
        book.add(Severity.ERROR, path, line_of(fields, field), message, value=str(value), known=", ".join(known))
        return Take.NEVER
    return Take(value)


def _threshold(borrow: Mapping[str, Any], path: str, book: NoteCollector) -> int | None:
    value = borrow.get(_THRESHOLD)
    if value is None:
        return None
    text = str(value)
    if isinstance(value, bool) or not _INTEGER.fullmatch(text) or not -(2**31) <= int(text) < 2**31:
        message = gettext_noop("%(value)s is not a 32-bit integer.")
        book.add(Severity.ERROR, path, line_of(borrow, _THRESHOLD), message, value=text)
        return None
    return int(text)


# Writing


def write_rules(obj: Object, queue: Queue) -> None:
    """Set the rules of an object to those of a queue, as far as the object can express them.

    Values that already agree are left as they are, and a missing field stays missing if its default agrees.
    """
    current = read_rules(obj, "", NoteCollector())
    if current["weight"] != queue.weight:
        _at(obj.own_spec(), FAIR_SHARING)[_WEIGHT] = as_quantity(queue.weight)
    if obj.kind == CLUSTER_QUEUE:
        _write_preemption(obj, current, queue)


def _write_preemption(obj: Object, current: Mapping[str, Any], queue: Queue) -> None:
    within, reclaim = queue.take_within or Take.NEVER, queue.take_reclaim or Take.NEVER
    borrowing = queue.take_borrowing or False
    if current["take_within"] is not within:
        _at(obj.own_spec(), PREEMPTION)[_WITHIN] = str(within)
    if current["take_reclaim"] is not reclaim:
        _at(obj.own_spec(), PREEMPTION)[_RECLAIM] = str(reclaim)
    if current["take_borrowing"] is not borrowing:
        policy = Take.LOWER_PRIORITY if borrowing else Take.NEVER
        _at(_at(obj.own_spec(), PREEMPTION), _BORROW)[_POLICY] = str(policy)
    if current["take_threshold"] != queue.take_threshold:
        borrow = _at(_at(obj.own_spec(), PREEMPTION), _BORROW)
        if queue.take_threshold is None:
            del borrow[_THRESHOLD]
        else:
            borrow[_THRESHOLD] = queue.take_threshold


def _at(fields: Fields, name: str) -> Fields:
    """Return the mapping under a key, creating it if it is missing."""
    mapping: Fields | None = fields.get(name)
    if mapping is None:
        mapping = fields[name] = CommentedMap()
    return mapping
