"""Conversion between the Queues of KAI, the scheduler of Run:ai, and a QueueTree.

Fields without a counterpart here are kept. ``quota`` is guaranteed and ``limit`` is max, in thousandths of a core, in
millions of bytes and in devices. A limit of -1 means no limit; a missing limit is 0. A quota of -1 means that the
resource does not count, as for a queue without a guarantee here. ``overQuotaWeight`` is the weight: the weight of
devices if present, else of cpu, else of memory.

Source: QueueSpec of NVIDIA/KAI-Scheduler, pkg/apis/scheduling/v2, and its plugin proportion.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from ruamel.yaml.comments import CommentedMap

from engine.formats import parented_objects
from engine.formats.import_result import Imported
from engine.formats.tree_json.amounts import AmountError, read_amount
from engine.formats.tree_json.weights import read_weight
from engine.formats.written_document import Written
from engine.formats.yaml.documents import line_of, mapping_at, note_others
from engine.formats.yaml.object_list import Fields, Object
from engine.model.message import gettext_noop
from engine.model.notes import NoteCollector, Severity
from engine.model.quantities import Amounts
from engine.model.queue_tree import WEIGHT_ONE, Queue, QueueTree

GROUP, QUEUE = "scheduling.run.ai", "Queue"
GPU = "nvidia.com/gpu"
_PARENT, _RESOURCES = "parentQueue", "resources"
_QUOTA, _LIMIT, _WEIGHT = "quota", "limit", "overQuotaWeight"
_UNITS = {"gpu": (GPU, ""), "cpu": ("cpu", "m"), "memory": ("memory", "M")}
"""KAI's name of a resource -> the name here, and the unit of KAI's numbers."""
_SIZES = {"gpu": 1, "cpu": 1, "memory": 10**6}
"""KAI's name of a resource -> the number of our units in one of KAI's units."""
_KNOWN = ("displayName", "priority", "preemptMinRuntime", "reclaimMinRuntime")
_ENDLESS = -1


def read(text: str) -> Imported:
    """Return the tree of the Queues in a text.

    Raise ImportFailure, with every error in it, for a text without Queues or with errors.
    """
    return parented_objects.read(_SYSTEM, text)


def write(text: str, tree: QueueTree) -> Written:
    """Write a tree into a text of Queues; see engine.formats.parented_objects.write."""
    return parented_objects.write(_SYSTEM, text, tree)


def _read_queue(obj: Object, path: str, holds: bool, book: NoteCollector) -> Queue:
    note_others(obj.spec, (_PARENT, _RESOURCES), path, book, known=_KNOWN)
    note_others(mapping_at(obj.spec, _RESOURCES, path, book), _UNITS, path, book)
    for _name, fields in _resource_fields(obj, path, book):
        note_others(fields, (_QUOTA, _LIMIT, _WEIGHT), path, book)
    most = _limits(obj, path, book)
    if shut := sorted(name for name, amount in most.items() if amount == 0):
        message = gettext_noop(
            "Pods that request %(names)s can't run in this queue. In KAI, a missing limit means 0, and -1 "
            "means no limit."
        )
        book.add(Severity.WARNING, path, line_of(obj.spec, _RESOURCES) or obj.line, message, names=", ".join(shut))
    return Queue(
        path=path,
        parent_declared=holds,
        guaranteed=_quotas(obj, path, book),
        max=most,
        weight=_weight(obj, path, book),
    )


def _resource_fields(obj: Object, path: str, book: NoteCollector) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return every resource that KAI knows with the fields that a queue sets for it."""
    resources = mapping_at(obj.spec, _RESOURCES, path, book)
    return ((name, mapping_at(resources, name, path, book)) for name in _UNITS)


def _quotas(obj: Object, path: str, book: NoteCollector) -> Amounts:
    quotas = {
        _UNITS[name][0]: _amount(name, fields, _QUOTA, path, book) for name, fields in _resource_fields(obj, path, book)
    }
    return {name: amount for name, amount in quotas.items() if amount is not None}


def _limits(obj: Object, path: str, book: NoteCollector) -> Amounts:
    limits: Amounts = {}
    for name, fields in _resource_fields(obj, path, book):
        amount = _amount(name, fields, _LIMIT, path, book) if _LIMIT in fields else 0
        if amount is not None:
            limits[_UNITS[name][0]] = amount
    return limits


def _amount(name: str, fields: Mapping[str, Any], field: str, path: str, book: NoteCollector) -> int | None:
    """Return the amount in a field, in our unit; None if the field is missing or -1."""
    value = fields.get(field)
    if value is None or str(value) in ("-1", "-1.0"):
        return None
    resource, unit = _UNITS[name]
    try:
        return read_amount(resource, f"{value}{unit}")
    except AmountError as error:
        book.add(Severity.ERROR, path, line_of(fields, field), error.sentence)
        return None


def _weight(obj: Object, path: str, book: NoteCollector) -> int:
    weights: dict[int, Mapping[str, Any]] = {}
    for _name, fields in _resource_fields(obj, path, book):
        if _WEIGHT in fields:
            try:
                weights.setdefault(read_weight(str(fields[_WEIGHT])), fields)
            except AmountError as error:
                book.add(Severity.ERROR, path, line_of(fields, _WEIGHT), error.sentence)
    if len(weights) > 1:
        message = gettext_noop("A queue has only one weight here. The first %(field)s among its resources is used.")
        book.add(Severity.WARNING, path, line_of(obj.spec, _RESOURCES), message, field=_WEIGHT)
    return next(iter(weights), WEIGHT_ONE)


# Writing


def _new(name: str) -> Mapping[str, Any]:
    return {"apiVersion": f"{GROUP}/v2", "kind": QUEUE, "metadata": {"name": name}, "spec": {}}


def _write_queue(obj: Object, queue: Queue) -> None:
    book = NoteCollector()
    quotas, limits = _quotas(obj, "", book), _limits(obj, "", book)
    for name, (resource, _unit) in _UNITS.items():
        if queue.guaranteed.get(resource) != quotas.get(resource):
            _put(obj, name, _QUOTA, queue.guaranteed.get(resource))
        if queue.max.get(resource) != limits.get(resource):
            _put(obj, name, _LIMIT, queue.max.get(resource))
    if _weight(obj, "", book) != queue.weight and queue.weight % WEIGHT_ONE == 0:
        for name in _UNITS:
            _fields(obj, name)[_WEIGHT] = queue.weight // WEIGHT_ONE


def _put(obj: Object, name: str, field: str, amount: int | None) -> None:
    """Set a field to an amount, rounded up to whole units of KAI; an annotation keeps the exact amount."""
    if amount is not None:
        _fields(obj, name)[field] = -(-amount // _SIZES[name])
    elif field == _LIMIT:
        _fields(obj, name)[field] = _ENDLESS
    else:
        del _fields(obj, name)[field]


def _fields(obj: Object, name: str) -> Fields:
    """Return the writable fields of a queue for a resource, creating them if they are missing."""
    holder: Fields = obj.own_spec()
    for key in (_RESOURCES, name):
        if not isinstance(holder.get(key), MutableMapping):
            holder[key] = CommentedMap()
        holder = holder[key]
    return holder


_SYSTEM = parented_objects.System(
    form="kai",
    parent=_PARENT,
    is_queue=lambda obj: obj.kind == QUEUE and obj.group == GROUP,
    read_queue=_read_queue,
    write_queue=_write_queue,
    new=_new,
    messages=parented_objects.FormatMessages(
        none=gettext_noop("The document contains no KAI Queue."),
        orphan=gettext_noop("Parent Queue %(parent)s does not exist."),
        unsaid=gettext_noop(
            "KAI’s Queues do not support %(settings)s. An annotation keeps it for Scheduler Admin only."
        ),
        unplaced=gettext_noop("Placement rules are left out: in KAI, each pod names its Queue."),
    ),
)
