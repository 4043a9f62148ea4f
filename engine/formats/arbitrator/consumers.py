"""Conversion between kube-arbitrator's Consumers and a QueueTree.

Fields without a counterpart here are kept. A Consumer is the leaf of its namespace: the namespace that it is in, else
the namespace that it is named after. ``hard`` is max, ``reserved`` is guaranteed, and ``weight`` is a whole number;
``cpu`` and ``requests.cpu`` are the same resource. A Consumer that others name in ``spec.parent`` is a parent.

Source: the proposal of k8s-arbitrator; the hierarchy is from its list of planned features.
"""

import re
from collections.abc import Mapping
from typing import Any

from engine.formats import parented_objects
from engine.formats.import_result import Imported
from engine.formats.resource_lists import read_quantities, write_quantities
from engine.formats.tree_json.amounts import AmountError
from engine.formats.tree_json.weights import read_weight
from engine.formats.tree_objects import Family
from engine.formats.written_document import Written
from engine.formats.yaml.documents import line_of, note_others
from engine.formats.yaml.object_list import Object
from engine.model.message import gettext_noop
from engine.model.notes import NoteCollector, Severity
from engine.model.quantities import PODS
from engine.model.queue_tree import WEIGHT_ONE, Queue, QueueTree, is_namespace

CONSUMER = "Consumer"
GROUP = "arbitrator.incubator.k8s.io"
"""End of the API group: the proposal writes kuabe-arbitrator, its code kube-arbitrator."""
VERSION = "kube-arbitrator.incubator.k8s.io/v1"
HARD, RESERVED, PARENT, WEIGHT = "hard", "reserved", "parent", "weight"
FAMILY = Family(
    group=VERSION.partition("/")[0],
    versions=(VERSION.partition("/")[2],),
    resources={CONSUMER: "consumers"},
    anchor=CONSUMER,
    decided=lambda _obj: (HARD, RESERVED, PARENT, WEIGHT),
    by_key=(HARD, RESERVED),
)
"""The kinds of objects in which a cluster keeps a tree of Consumers."""
_DEFAULTS = "defaults"
_REQUESTS = "requests."
_NOT_DIVIDED = re.compile(r"limits\..*|requests\.storage|count/.*")
"""Resources that are kept but decide nothing here."""


def read(text: str) -> Imported:
    """Return the tree of the Consumers in a text.

    Raise ImportFailure, with every error in it, for a text without Consumers or with errors.
    """
    return parented_objects.read(_SYSTEM, text)


def write(text: str, tree: QueueTree) -> Written:
    """Write a tree into a text of Consumers; see engine.formats.parented_objects.write."""
    return parented_objects.write(_SYSTEM, text, tree)


def _read_queue(obj: Object, path: str, holds: bool, book: NoteCollector) -> Queue:
    note_others(obj.spec, {HARD, RESERVED, PARENT, WEIGHT}, path, book)
    if obj.name == _DEFAULTS and not obj.namespace:
        message = gettext_noop(
            "Consumer %(name)s has no namespace, so it is read as the Consumer of namespace %(name)s. In "
            "the kube-arbitrator proposal, every namespace has a Consumer with this name. Set the "
            "namespace of this one."
        )
        book.add(Severity.WARNING, path, obj.line, message, name=_DEFAULTS)
    return Queue(
        path=path,
        parent_declared=holds,
        namespaces=() if holds or not is_namespace(obj.called) else (obj.called,),
        guaranteed=read_quantities(obj.spec, RESERVED, path, book, _our),
        max=read_quantities(obj.spec, HARD, path, book, _our),
        weight=_weight(obj.spec, path, book),
    )


def _weight(spec: Mapping[str, Any], path: str, book: NoteCollector) -> int:
    value = spec.get(WEIGHT)
    if value is None:
        return WEIGHT_ONE
    try:
        return read_weight(str(value))
    except AmountError as error:
        book.add(Severity.ERROR, path, line_of(spec, WEIGHT), error.sentence)
        return WEIGHT_ONE


def consumer_resource(resource: str) -> str:
    """Return the name of a resource in a Consumer, for example ``requests.cpu``."""
    return resource if resource in (PODS, "storage") else f"{_REQUESTS}{resource}"


def _our(name: str) -> str | None:
    return None if _NOT_DIVIDED.fullmatch(name) else name.removeprefix(_REQUESTS)


# Writing


def _new(name: str) -> dict[str, Any]:
    """Return a new Consumer in the namespace of the same name."""
    return {"apiVersion": VERSION, "kind": CONSUMER, "metadata": {"name": name, "namespace": name}, "spec": {}}


def _write_queue(obj: Object, queue: Queue) -> None:
    for field, amounts in ((RESERVED, queue.guaranteed), (HARD, queue.max)):
        if amounts or field in obj.spec:
            write_quantities(obj.own_spec(), field, amounts, _our, consumer_resource)
    if queue.weight % WEIGHT_ONE == 0 and _weight(obj.spec, "", NoteCollector()) != queue.weight:
        obj.own_spec()[WEIGHT] = queue.weight // WEIGHT_ONE


_SYSTEM = parented_objects.System(
    form="consumers",
    parent=PARENT,
    is_queue=lambda obj: obj.kind == CONSUMER and obj.group.endswith(GROUP),
    called=lambda obj: obj.namespace or obj.name,
    read_queue=_read_queue,
    write_queue=_write_queue,
    new=_new,
    messages=parented_objects.FormatMessages(
        none=gettext_noop("The document contains no kube-arbitrator Consumer."),
        orphan=gettext_noop("Parent Consumer %(parent)s does not exist."),
        unsaid=gettext_noop("Consumers do not support %(settings)s. An annotation keeps it for Scheduler Admin only."),
        unplaced=gettext_noop("Placement rules are left out: a Consumer applies only to its own namespace."),
    ),
)
