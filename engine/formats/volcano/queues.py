"""Conversion between Volcano's Queues and a QueueTree.

Fields without a counterpart here are kept. ``deserved`` is what a queue may reclaim, so it is guaranteed here; for
resources that it does not name, ``guarantee`` is used. ``capability`` is max, and ``weight`` is a whole number. Pods of
a leaf that is not ``reclaimable`` may not be evicted. A Queue without ``parent`` is below the Queue named root.

Source: QueueSpec of volcano.sh/apis, scheduling/v1beta1, and the plugins capacity and proportion.
"""

from collections.abc import Mapping
from typing import Any

from ruamel.yaml.comments import CommentedMap

from engine.formats import parented_objects
from engine.formats.import_result import Imported
from engine.formats.resource_lists import read_quantities, write_quantities
from engine.formats.tree_json.amounts import AmountError
from engine.formats.tree_json.weights import read_weight
from engine.formats.tree_objects import Family
from engine.formats.written_document import Written
from engine.formats.yaml.documents import line_of, mapping_at, note_others
from engine.formats.yaml.object_list import Object
from engine.model.message import gettext_noop
from engine.model.notes import NoteCollector, Severity
from engine.model.quantities import Amounts
from engine.model.queue_tree import ROOT, WEIGHT_ONE, PreemptionPolicy, Queue, QueueTree

GROUP, QUEUE = "scheduling.volcano.sh", "Queue"
_DESERVED, _GUARANTEE, _RESOURCE, _CAPABILITY = "deserved", "guarantee", "resource", "capability"
_WEIGHT, _PARENT, _RECLAIMABLE = "weight", "parent", "reclaimable"
_READ = (_DESERVED, _GUARANTEE, _CAPABILITY, _WEIGHT, _PARENT, _RECLAIMABLE)
_KNOWN = ("extendClusters", "affinity", "type", "priority", "dequeueStrategy")
_HEAVIEST = 65_535
FAMILY = Family(
    group=GROUP,
    versions=("v1beta1",),
    resources={QUEUE: "queues"},
    anchor=QUEUE,
    decided=lambda _obj: _READ,
    by_key=(_DESERVED, _CAPABILITY),
)
"""The kind of objects in which a cluster keeps a tree of Volcano's Queues. These objects are only read."""


def read(text: str) -> Imported:
    """Return the tree of the Queues in a text.

    Raise ImportFailure, with every error in it, for a text without Queues or with errors.
    """
    return parented_objects.read(_SYSTEM, text)


def write(text: str, tree: QueueTree) -> Written:
    """Write a tree into a text of Queues; see engine.formats.parented_objects.write."""
    return parented_objects.write(_SYSTEM, text, tree)


def _read_queue(obj: Object, path: str, holds: bool, book: NoteCollector) -> Queue:
    note_others(obj.spec, _READ, path, book, known=_KNOWN)
    deserved, guarantee = _deserved(obj, path, book), _guarantee(obj, path, book)
    beside = sorted(name for name, amount in guarantee.items() if deserved.get(name, amount) != amount)
    if beside:
        message = gettext_noop(
            "The queue’s deserved share is used as its guarantee here. Volcano reserves its guarantee of "
            "%(names)s, which has no counterpart here. It is kept and written back unchanged."
        )
        book.add(Severity.INFO, path, line_of(obj.spec, _GUARANTEE), message, names=", ".join(beside))
    return Queue(
        path=path,
        parent_declared=holds,
        guaranteed=guarantee | deserved,
        max=read_quantities(obj.spec, _CAPABILITY, path, book),
        weight=_weight(obj, path, book),
        preemption_policy=PreemptionPolicy.DISABLED if _is_unreclaimable(obj, holds) else PreemptionPolicy.DEFAULT,
    )


def _deserved(obj: Object, path: str, book: NoteCollector) -> Amounts:
    return read_quantities(obj.spec, _DESERVED, path, book)


def _guarantee(obj: Object, path: str, book: NoteCollector) -> Amounts:
    holder = mapping_at(obj.spec, _GUARANTEE, path, book)
    note_others(holder, (_RESOURCE,), path, book)
    return read_quantities(holder, _RESOURCE, path, book)


def _is_unreclaimable(obj: Object, holds: bool) -> bool:
    """Return whether the pods of a queue may not be evicted.

    Volcano checks only the queue of the pods, not the queues above it.
    """
    return obj.spec.get(_RECLAIMABLE) is False and not holds


def _weight(obj: Object, path: str, book: NoteCollector) -> int:
    value = obj.spec.get(_WEIGHT)
    if value is None:
        return WEIGHT_ONE
    try:
        weight = read_weight(str(value))
    except AmountError as error:
        book.add(Severity.ERROR, path, line_of(obj.spec, _WEIGHT), error.sentence)
        return WEIGHT_ONE
    if weight % WEIGHT_ONE or not 1 <= weight // WEIGHT_ONE <= _HEAVIEST:
        message = gettext_noop("%(value)s is not a whole number from 1 to %(most)s.")
        book.add(Severity.ERROR, path, line_of(obj.spec, _WEIGHT), message, value=str(value), most=str(_HEAVIEST))
    return weight


# Writing


def _new(name: str) -> Mapping[str, Any]:
    return {"apiVersion": f"{GROUP}/v1beta1", "kind": QUEUE, "metadata": {"name": name}, "spec": {}}


def _write_queue(obj: Object, queue: Queue) -> None:
    spec, book = obj.own_spec(), NoteCollector()
    deserved, free_guarantee = _deserved(obj, "", book), _guarantee(obj, "", book)
    if queue.guaranteed != free_guarantee | deserved:
        guaranteed = queue.guaranteed
        guarantee = {
            name: min(amount, guaranteed[name]) for name, amount in free_guarantee.items() if name in guaranteed
        }
        deserved_amounts = {
            name: amount for name, amount in guaranteed.items() if name in deserved or amount != guarantee.get(name)
        }
        write_quantities(spec, _DESERVED, deserved_amounts)
        if guarantee != free_guarantee:
            write_quantities(spec.setdefault(_GUARANTEE, CommentedMap()), _RESOURCE, guarantee)
            if not spec[_GUARANTEE]:
                del spec[_GUARANTEE]
    write_quantities(spec, _CAPABILITY, queue.max)
    weight = queue.weight // WEIGHT_ONE
    if queue.weight % WEIGHT_ONE == 0 and 1 <= weight <= _HEAVIEST and _weight(obj, "", book) != queue.weight:
        spec[_WEIGHT] = weight
    is_unreclaimable = queue.preemption_policy is PreemptionPolicy.DISABLED
    if is_unreclaimable != (spec.get(_RECLAIMABLE) is False):
        spec[_RECLAIMABLE] = not is_unreclaimable


_SYSTEM = parented_objects.System(
    form="volcano",
    parent=_PARENT,
    above=ROOT,
    is_queue=lambda obj: obj.kind == QUEUE and obj.group == GROUP,
    read_queue=_read_queue,
    write_queue=_write_queue,
    new=_new,
    messages=parented_objects.FormatMessages(
        none=gettext_noop("The document contains no Volcano Queue."),
        orphan=gettext_noop("Parent Queue %(parent)s does not exist."),
        unsaid=gettext_noop(
            "Volcano’s Queues do not support %(settings)s. An annotation keeps it for Scheduler Admin only."
        ),
        unplaced=gettext_noop("Placement rules are left out: in Volcano, each PodGroup names its Queue."),
    ),
)
